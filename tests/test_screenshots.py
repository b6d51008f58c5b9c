"""§14: screenshots by a real browser, and by programs that only claim to be one."""

from __future__ import annotations

import json
import os
import shutil
import struct
import sys
import time
from pathlib import Path

import pytest
from conftest import Server, build_call, build_request, inherited_environment, run_cli

from protoyard import Call, Failure, Shot, Workspace, find_browser, write_screenshots

BRIEF = "Ward nurses request bed transfers and the bed manager approves them."
CHROMIUM = next((path for name in ("chromium", "google-chrome") for path in [shutil.which(name)] if path), "")
needs_browser = pytest.mark.skipif(not CHROMIUM, reason="needs Chromium")
posix_only = pytest.mark.skipif(os.name == "nt", reason="a shell script as the browser")


def write_program(folder: Path, text: str) -> str:
    """An executable script that stands for a browser."""
    path = folder / "browser"
    path.write_text(text, "utf-8")
    path.chmod(0o755)
    return str(path)


def size_of(picture: bytes) -> tuple[int, int]:
    """Width and height of a PNG, from its header."""
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", picture[16:24])


def alive(marker: str) -> list[str]:
    """The command lines of live processes that hold a text (Linux)."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if marker in line and state != "Z":
            found.append(line)
    return found


@needs_browser
def test_each_screen_of_each_navigation_has_its_picture(tmp_path):
    env = inherited_environment(PROTOYARD_BROWSER=CHROMIUM)
    done = run_cli(
        "quick", BRIEF, "--variants=2", "--slug=beds", "--screenshots", "--json", cwd=tmp_path, env=env
    )
    assert done.status == 0, done.err
    taken = done.envelope["data"]["screenshots"]
    wanted = []
    for letter in "ab":
        folder = tmp_path / "prototypes" / "beds" / letter
        navigation = json.loads((folder / "blueprint.json").read_text("utf-8"))["navigation"]
        wanted += [f"prototypes/beds/{letter}/screenshots/{screen}.png" for screen in navigation]
    assert taken == wanted
    pictures = [(tmp_path / name).read_bytes() for name in taken]
    assert {size_of(picture) for picture in pictures} == {(1280, 800)}
    assert len(set(pictures)) == len(pictures)
    assert list((tmp_path / ".protoyard" / "browser").iterdir()) == []
    assert run_cli("validate", "prototypes/beds", cwd=tmp_path).status == 0
    assert "screenshot" in done.err and done.err.count("\n") <= len(taken)


@needs_browser
def test_one_process_a_picture_where_there_are_no_pipes(tmp_path):
    assert run_cli("quick", BRIEF, "--variants=1", "--slug=beds", cwd=tmp_path).status == 0
    shot = Shot("prototypes/beds/a/index.html", "home", "prototypes/beds/a/screenshots/home.png")
    taken = write_screenshots(Workspace(str(tmp_path)), Call(), CHROMIUM, [shot], piped=False)
    assert size_of((tmp_path / taken[0]).read_bytes()) == (1280, 800)


@needs_browser
def test_progress_is_told_for_each_picture(tmp_path):
    env = inherited_environment(PROTOYARD_BROWSER=CHROMIUM)
    call = build_call(
        1, "quick", {"brief": BRIEF, "variants": 1, "screenshots": True}, _meta={"progressToken": "p"}
    )
    with Server(cwd=tmp_path, env=env) as server:
        server.send(call)
        messages = [server.read()]
        while "id" not in messages[-1]:
            messages.append(server.read())
    told = [message["params"] for message in messages[:-1]]
    assert [one["progressToken"] for one in told] == ["p"] * len(told)
    steps = [one["progress"] for one in told]
    assert steps == sorted(set(steps))
    assert any("screenshot" in one["message"] for one in told)
    assert messages[-1]["result"]["isError"] is False


MISSING = {
    "no browser on PATH": {"PATH": "/nonexistent"},
    "a name that is no program": {"PROTOYARD_BROWSER": "/nonexistent/browser"},
    "a folder": {"PROTOYARD_BROWSER": "/"},
}


@pytest.mark.parametrize("name", MISSING)
def test_without_a_browser_nothing_is_written(name, tmp_path):
    if sys.platform != "linux":
        pytest.skip("a browser may lie in its usual place")
    env = inherited_environment(**MISSING[name])
    done = run_cli("quick", BRIEF, "--screenshots", "--json", cwd=tmp_path, env=env)
    assert done.envelope["error"]["code"] == "missing_dependency"
    assert "PROTOYARD_BROWSER" in done.envelope["error"]["hint"]
    assert list(tmp_path.iterdir()) == []


PLACES = {
    "a Mac's applications": ("darwin", {"PATH": ""}),
    "Windows' program files": ("win32", {"PATH": "", "PROGRAMFILES": "C:\\Program Files"}),
    "a relative folder on PATH": ("linux", {"PATH": "bin"}),
}


@pytest.mark.parametrize("name", PLACES)
def test_the_usual_places_of_other_platforms_are_looked_at_without_finding_one_here(name):
    platform, environ = PLACES[name]
    with pytest.raises(Failure) as raised:
        find_browser(environ, platform)
    assert raised.value.code == "missing_dependency"


@posix_only
def test_a_browser_that_ends_at_once_is_told_with_its_last_words_and_the_prototype_stands(tmp_path):
    program = write_program(tmp_path, "#!/bin/sh\necho cannot open display >&2\nexit 3\n")
    env = inherited_environment(PROTOYARD_BROWSER=program)
    done = run_cli("quick", BRIEF, "--slug=beds", "--screenshots", "--json", cwd=tmp_path, env=env)
    error = done.envelope["error"]
    assert error["code"] == "dependency_failed"
    assert "cannot open display" in error["message"]
    assert "prototypes/beds" in error["message"]
    assert run_cli("validate", "prototypes/beds", cwd=tmp_path).status == 0


STUBBORN = """#!/bin/sh
trap '' TERM HUP INT
(trap '' TERM; exec sleep 987.25) &
setsid sleep 987.25 &
sleep 987.25
"""


@posix_only
def test_a_browser_that_never_answers_is_cancelled_with_all_that_it_started(tmp_path):
    env = inherited_environment(PROTOYARD_BROWSER=write_program(tmp_path, STUBBORN))
    call = build_call(1, "quick", {"brief": BRIEF, "variants": 1, "slug": "beds", "screenshots": True})
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    with Server(cwd=tmp_path, env=env) as server:
        server.send(call)
        for _ in range(200):
            if len(alive("sleep 987.25")) == 3:
                break
            time.sleep(0.05)
        assert len(alive("sleep 987.25")) == 3
        server.send(cancel)
        assert server.ask(build_request(2, "ping"))["result"]
        for _ in range(100):
            if not alive("sleep 987.25"):
                break
            time.sleep(0.05)
        assert alive("sleep 987.25") == []
        assert server.ask(build_call(3, "list"))["result"]["isError"] is False
        assert server.end() == 0
        assert server.answers.get(timeout=5) == b""


# Answers in time, each time, but so slowly that only the call's own bound can end it.
SLOW = """#!{python}
import json, os, subprocess, time
subprocess.Popen(["sleep", "987.5"])
data = b""
while True:
    data += os.read(3, 65536)
    while b"\\0" in data:
        line, _, data = data.partition(b"\\0")
        message = json.loads(line)
        if message["method"] in ("Page.navigate", "Runtime.evaluate"):
            time.sleep(14)
        result = {{"targetId": "t", "sessionId": "s", "result": {{}}}}
        os.write(4, json.dumps({{"id": message["id"], "result": result}}).encode() + b"\\0")
"""


@posix_only
def test_the_real_bound_stops_a_browser_that_never_answers_and_names_the_step(tmp_path):
    env = inherited_environment(PROTOYARD_BROWSER=write_program(tmp_path, SLOW.format(python=sys.executable)))
    call = build_call(1, "quick", {"brief": BRIEF, "variants": 1, "slug": "beds", "screenshots": True})
    began = time.monotonic()
    with Server(cwd=tmp_path, env=env) as server:
        answer = server.ask(call, timeout=40)
        assert 27 < time.monotonic() - began < 30
        error = json.loads(answer["result"]["content"][0]["text"])["error"]
        assert error["code"] == "timeout"
        assert "screenshot 1 of" in error["message"]
        assert alive("987.5") == []
        assert server.ask(build_request(2, "ping"))["result"]
        assert server.end() == 0
    assert not list((tmp_path / "prototypes" / "beds" / "a").glob("screenshots/*"))
    assert run_cli("validate", "prototypes/beds", cwd=tmp_path).status == 0
