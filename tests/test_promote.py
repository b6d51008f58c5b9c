"""`promote`: checks before anything is written, steps, install with a pnpm of our own making, the record."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from pathlib import Path

import pytest
from conftest import Server, build_call, build_request, inherited_environment, run_cli
from test_screenshots import alive

from protoyard import OPERATIONS, Call, Stopped, execute

BRIEF = "A small library lends books to members. Members reserve books."
posix_only = pytest.mark.skipif(os.name == "nt", reason="a script stands for pnpm")


@pytest.fixture(scope="session")
def prototypes(tmp_path_factory):
    """A workspace with one prototype of two variants, to be copied."""
    folder = tmp_path_factory.mktemp("promote") / "ws"
    folder.mkdir()
    assert run_cli("quick", BRIEF, "--slug=library", "--variants=2", cwd=folder).status == 0
    return folder


@pytest.fixture
def ws(prototypes, tmp_path):
    """A workspace of its own with that prototype."""
    return Path(shutil.copytree(prototypes, tmp_path / "ws"))


def run(ws, *words, call=None):
    """The envelope of a command in the workspace, run in this process."""
    return execute(["promote", *words], rows=OPERATIONS, call=call or Call(), directory=str(ws))


def promote(ws, *words, call=None):
    """The data of a promotion that must succeed."""
    envelope = run(ws, *words, call=call)
    assert envelope["ok"], envelope
    return envelope["data"]


def snapshot(ws):
    """Every path under the workspace with its content and the time of its last change."""
    return {
        str(path.relative_to(ws)): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
        for path in ws.rglob("*")
    }


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def promotions(ws):
    return json.loads((ws / "prototypes/library/prototype.json").read_text("utf-8"))["promotions"]


def edit(ws, change):
    """A change of variant a's blueprint.json by hand."""
    path = ws / "prototypes/library/a/blueprint.json"
    blueprint = json.loads(path.read_text("utf-8"))
    change(blueprint)
    path.write_text(json.dumps(blueprint), "utf-8")


# --- what it answers and leaves -------------------------------------------------------------------


def test_the_answer_says_what_is_where_how_to_run_it_and_where_it_came_from(ws):
    data = promote(ws, "library", "--variant=b")
    shown = json.loads(run_cli("show", "library", "--variant=b", "--json", cwd=ws).stdout)["data"]
    source = {"slug": "library", "variant": "b", "revision": 1, "digest": shown["digest"]}
    assert data["source"] == source
    assert (data["target"], data["stack"], data["installed"]) == ("apps/library", "static", False)
    assert data["run"] == "cd apps/library && python3 -m http.server"
    assert (data["dryRun"], data["warnings"]) == (False, [])
    assert files_in(ws / "apps/library") == sorted(data["files"])
    assert json.loads((ws / "apps/library/.protoyard.json").read_text("utf-8"))["source"] == source
    readme = (ws / "apps/library/README.md").read_text("utf-8")
    for part in ("`library`", "variant `b`", "revision 1.", shown["digest"], "python3 -m http.server", BRIEF):
        assert part in readme


def test_a_promotion_is_recorded_and_the_prototype_stays_valid(ws):
    before = snapshot(ws / "prototypes/library/a")
    data = promote(ws, "library")
    promote(ws, "library", "--stack=vite", "--target=apps/other place")
    first, second = promotions(ws)
    assert first["digest"] == data["source"]["digest"]
    assert [first[name] for name in ("variant", "revision", "target", "stack")] == [
        "a", 1, "apps/library", "static",
    ]  # fmt: skip
    assert (second["target"], second["stack"], second["installed"]) == ("apps/other place", "vite", False)
    assert snapshot(ws / "prototypes/library/a") == before
    done = run_cli("validate", "prototypes/library", "--json", cwd=ws)
    assert done.envelope["data"]["valid"] and done.envelope["data"]["notes"] == []
    assert list((ws / ".protoyard/staging").iterdir()) == []


def test_for_people_it_says_how_to_go_on(ws):
    done = run_cli("promote", "library", "--stack=vite", "--target=apps/my app", cwd=ws)
    assert (done.status, done.err) == (0, "")
    assert "apps/my app/README.md says what is where" in done.out
    assert done.out.endswith('Run:  cd "apps/my app" && pnpm install && pnpm dev\n')


def test_a_dry_run_lists_the_files_and_writes_nothing(ws):
    before = snapshot(ws)
    plan = promote(ws, "library", "--dry-run", "--stack=vite")
    done = run_cli("promote", "library", "--dry-run", cwd=ws)
    assert snapshot(ws) == before
    assert "Nothing was written" in done.out and "  schema.sql\n" in done.out
    real = promote(ws, "library", "--stack=vite")
    assert {**plan, "dryRun": False} == real
    assert files_in(ws / "apps/library") == sorted(plan["files"])


def test_an_empty_folder_is_a_target(ws):
    (ws / "given/here").mkdir(parents=True)
    assert promote(ws, "library", "--target=given/here/")["target"] == "given/here"
    assert (ws / "given/here/index.html").is_file()


def test_a_valid_edit_by_hand_is_promoted_with_a_warning_and_stays_an_edit(ws):
    def change(blueprint):
        blueprint["title"] = "Edited"
        del blueprint["entities"][0]["records"]

    edit(ws, change)
    before = (ws / "prototypes/library/a/blueprint.json").read_bytes()
    data = promote(ws, "library")
    assert data["source"]["edited"] is True and promotions(ws)[0]["edited"] is True
    assert "prototypes/library/a/blueprint.json was edited by hand" in data["warnings"][0]
    blueprint = json.loads((ws / "apps/library/blueprint.json").read_text("utf-8"))
    assert blueprint["title"] == "Edited" and blueprint["entities"][0]["records"]
    assert "revision 1, edited by hand since." in (ws / "apps/library/README.md").read_text("utf-8")
    assert (ws / "prototypes/library/a/blueprint.json").read_bytes() == before
    assert "Warning:" in run_cli("promote", "library", "--dry-run", "--target=x", cwd=ws).out


# --- what is refused, before anything is written --------------------------------------------------


def put(name, text="mine"):
    def act(ws):
        (ws / name).parent.mkdir(parents=True, exist_ok=True)
        (ws / name).write_text(text, "utf-8")

    return act


def nothing(ws):
    """No preparation."""


def break_blueprint(ws):
    edit(ws, lambda blueprint: blueprint.update(navigation=["nowhere"]))


REFUSED = {
    "a target with a file in it": (put("apps/library/notes.txt"), ["library"], "already_exists"),
    "a target with a hidden file in it": (put("x/.env"), ["library", "--target=x"], "already_exists"),
    "a file where the target should be": (put("x"), ["library", "--target=x"], "already_exists"),
    "a file where a folder above it should be": (put("apps"), ["library"], "already_exists"),
    "a dry run on such a target": (put("x/y"), ["library", "--target=x", "--dry-run"], "already_exists"),
    "no such prototype": (nothing, ["museum"], "not_found"),
    "no such variant": (nothing, ["library", "--variant=f"], "not_found"),
    "a letter that is none": (nothing, ["library", "--variant=z"], "invalid_arguments"),
    "a stack that is none": (nothing, ["library", "--stack=react"], "invalid_arguments"),
    "install with static": (nothing, ["library", "--install", "--stack=static"], "invalid_arguments"),
    "install without a stack": (nothing, ["library", "--install"], "invalid_arguments"),
    "a target that is a dash": (nothing, ["library", "--target=-"], "invalid_arguments"),
    "install without pnpm": (nothing, ["library", "--install", "--stack=vite"], "missing_dependency"),
    "install without pnpm as a dry run": (
        nothing, ["library", "--install", "--stack=vite", "--dry-run"], "missing_dependency"),
    "git's own folder": (nothing, ["library", "--target=.git/hooks"], "unsafe_path"),
    "a hidden folder further down": (nothing, ["library", "--target=x/.vscode/y"], "unsafe_path"),
    "the folder of prototypes": (nothing, ["library", "--target=prototypes"], "unsafe_path"),
    "a place in it": (nothing, ["library", "--target=prototypes/library/c"], "unsafe_path"),
    "a place in it in capitals": (nothing, ["library", "--target=Prototypes/x"], "unsafe_path"),
    "the workspace itself": (nothing, ["library", "--target=."], "unsafe_path"),
    "a place outside": (nothing, ["library", "--target=../x"], "unsafe_path"),
    "an absolute place outside": (nothing, ["library", "--target=/tmp/x"], "unsafe_path"),
    "an empty target": (nothing, ["library", "--target="], "unsafe_path"),
    "an edit by hand that is not valid": (break_blueprint, ["library"], "invalid_blueprint"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_it_is_refused_before_anything_is_written(case, ws, monkeypatch):
    prepare, words, code = case
    monkeypatch.setenv("PATH", "relative:/nonexistent")
    prepare(ws)
    shutil.rmtree(ws / ".protoyard")  # so that even taking the lock would show
    before = snapshot(ws)
    envelope = run(ws, *words)
    assert envelope["error"]["code"] == code, envelope
    assert snapshot(ws) == before


@posix_only
def test_a_link_out_of_the_workspace_is_no_target(ws, tmp_path):
    (tmp_path / "outside").mkdir()
    (ws / "apps").symlink_to(tmp_path / "outside")
    assert run(ws, "library")["error"]["code"] == "unsafe_path"
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_second_promotion_to_the_same_place_changes_nothing(ws):
    promote(ws, "library")
    before = snapshot(ws)
    envelope = run(ws, "library", "--stack=vite")
    assert envelope["error"]["code"] == "already_exists"
    assert "--target" in envelope["error"]["hint"]
    assert snapshot(ws) == before


# --- steps ----------------------------------------------------------------------------------------

STEPS = ["check", "stage", "rename", "record"]


def stop_at(step):
    """A call that is cancelled as soon as it reaches a step, and the steps that it told of."""
    seen = []

    def on_progress(done, total, message):
        seen.append(message)
        if message == step:
            call.cancel("cancelled")

    call = Call(on_progress=on_progress)
    return call, seen


def test_the_steps_come_in_their_order(ws):
    call, seen = stop_at("")
    promote(ws, "library", call=call)
    assert seen == STEPS


@pytest.mark.parametrize("step", STEPS)
def test_a_call_that_is_stopped_at_a_step_leaves_the_project_whole_or_not_at_all(step, ws):
    call, seen = stop_at(step)
    with pytest.raises(Stopped) as raised:
        run(ws, "library", call=call)
    assert raised.value.step == step == seen[-1]
    assert promotions(ws) == []
    assert (ws / "apps/library").exists() == (step == "record")
    if step == "record":
        assert "schema.sql" in files_in(ws / "apps/library")
    staging = ws / ".protoyard/staging"
    assert not staging.exists() or list(staging.iterdir()) == []


# --- install --------------------------------------------------------------------------------------


def fake_pnpm(folder, text, monkeypatch=None):
    """A program called pnpm that comes first on PATH; the PATH to use."""
    folder.mkdir(exist_ok=True)
    (folder / "pnpm").write_text(text, "utf-8")
    (folder / "pnpm").chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    if monkeypatch:
        monkeypatch.setenv("PATH", path)
    return path


INSTALL = ("library", "--stack=vite", "--install")
WORKS = '#!/bin/sh\npwd > seen\necho "$@" >> seen\nls >> seen\nmkdir node_modules\n'


@posix_only
@pytest.mark.parametrize("first", ["#!/bin/sh\n", "# without a first line that says how to run it\n"])
def test_install_runs_in_the_target_and_is_recorded(first, ws, tmp_path, monkeypatch):
    fake_pnpm(tmp_path / "bin", first + WORKS.partition("\n")[2], monkeypatch)
    call, seen = stop_at("")
    data = promote(ws, *INSTALL, call=call)
    assert seen == ["check", "stage", "rename", "install", "record"]
    place, arguments, *names = (ws / "apps/library/seen").read_text().splitlines()
    assert place == str((ws / "apps/library").resolve())
    assert arguments.split()[0] == "install"
    assert "package.json" in names
    assert data["installed"] is True and promotions(ws)[0]["installed"] is True
    assert data["run"] == "cd apps/library && pnpm dev"


@posix_only
def test_a_dry_run_installs_nothing(ws, tmp_path, monkeypatch):
    fake_pnpm(tmp_path / "bin", WORKS, monkeypatch)
    before = snapshot(ws)
    assert promote(ws, *INSTALL, "--dry-run")["installed"] is False
    assert snapshot(ws) == before


@posix_only
def test_a_failing_install_says_its_last_words_without_secrets_and_leaves_the_project(
    ws, tmp_path, monkeypatch
):
    secret = "npm_" + "a1B2" * 9
    fake_pnpm(
        tmp_path / "bin",
        f"#!/bin/sh\nseq 1 90000\necho 'ERR_PNPM no such package, token {secret}'\necho why >&2\nexit 3\n",
        monkeypatch,
    )
    error = run(ws, *INSTALL)["error"]
    assert error["code"] == "dependency_failed"
    assert "ended with 3" in error["message"] and "apps/library" in error["message"]
    assert "ERR_PNPM no such package" in error["message"] and error["message"].endswith("why")
    assert secret not in error["message"] and len(error["message"]) < 2500
    assert promotions(ws) == []
    assert "package.json" in files_in(ws / "apps/library")


@posix_only
def test_a_pnpm_that_cannot_be_started_fails_and_one_that_is_no_program_is_none(ws, tmp_path, monkeypatch):
    fake_pnpm(tmp_path / "bin", "#!/nonexistent/interpreter\n", monkeypatch)
    error = run(ws, *INSTALL)["error"]
    assert error["code"] == "dependency_failed" and "apps/library" in error["message"]
    assert promotions(ws) == []
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin/pnpm").chmod(0o644)
    error = run(ws, *INSTALL, "--target=y")["error"]
    assert error["code"] == "missing_dependency" and "pnpm" in error["hint"]
    assert not (ws / "y").exists()


# Ignores what asks it to end, and starts a process in a session of its own that does so too.
STUBBORN = f"""#!{sys.executable}
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(["sh", "-c", "trap '' TERM; sleep 976.5; sleep 976.5"], start_new_session=True)
open("started", "w").close()
time.sleep(976)
"""


def wait_for(check, seconds=20):
    """Until `check` is true, at most so long."""
    until = time.monotonic() + seconds
    while not check() and time.monotonic() < until:
        time.sleep(0.05)
    assert check()


@posix_only
def test_an_install_that_takes_too_long_is_ended_with_all_that_it_started(ws, tmp_path, monkeypatch):
    fake_pnpm(tmp_path / "bin", STUBBORN, monkeypatch)
    call = Call(deadline=time.monotonic() + 3)
    with pytest.raises(Stopped) as raised:
        run(ws, *INSTALL, call=call)
    assert (raised.value.reason, raised.value.step) == ("timeout", "install")
    assert (ws / "apps/library/started").exists()
    assert alive("976.5") == []
    assert "schema.sql" in files_in(ws / "apps/library")
    assert promotions(ws) == []


@posix_only
def test_a_cancelled_install_answers_nothing_and_holds_up_no_other_writer(ws, tmp_path):
    path = fake_pnpm(tmp_path / "bin", STUBBORN)
    arguments = {"slug": "library", "stack": "vite", "install": True}
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    with Server(cwd=ws, env=inherited_environment(PATH=path)) as server:
        server.send(build_call(1, "promote", arguments))
        wait_for((ws / "apps/library/started").exists)
        other = server.ask(build_call(2, "quick", {"brief": BRIEF, "slug": "other", "variants": 1}))
        assert other["result"]["isError"] is False
        server.send(cancel)
        assert server.ask(build_request(3, "ping"))["result"]
        wait_for(lambda: alive("976.5") == [])
        assert server.end() == 0
        assert server.answers.get(timeout=5) == b""
    assert promotions(ws) == []
    assert "README.md" in files_in(ws / "apps/library")


def test_over_mcp_the_same_envelope_comes_back(ws):
    with Server(cwd=ws) as server:
        answer = server.ask(build_call(1, "promote", {"slug": "library", "target": "out"}))
        again = server.ask(build_call(2, "promote", {"slug": "library", "target": "out"}))
        wrong = server.ask(build_call(3, "promote", {"slug": "library", "install": True, "target": "out2"}))
        assert server.end() == 0
    envelopes = [json.loads(one["result"]["content"][0]["text"]) for one in (answer, again, wrong)]
    assert envelopes[0]["command"] == "promote" and envelopes[0]["data"]["target"] == "out"
    assert [one["error"]["code"] for one in envelopes[1:]] == ["already_exists", "invalid_arguments"]


def test_a_read_only_server_promotes_nothing(ws):
    before = snapshot(ws)
    with Server(cwd=ws, arguments=["--read-only"]) as server:
        answer = server.ask(build_call(1, "promote", {"slug": "library"}))
        assert server.end() == 0
    assert json.loads(answer["result"]["content"][0]["text"])["error"]["code"] == "read_only"
    assert snapshot(ws) == before
