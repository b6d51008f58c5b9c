"""§16, §20: the command line as a person uses it, on the oldest and the newest Python."""

from __future__ import annotations

import json

import pytest
from conftest import run_cli

BRIEF = "A fictional field service team schedules equipment inspections and tracks visits."


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A workspace with one prototype of two variants."""
    workspace = tmp_path_factory.mktemp("made")
    done = run_cli(
        "quick", BRIEF, "--seed", "42", "--variants", "2", "--slug", "visits", "--json", cwd=workspace
    )
    assert done.status == 0, done.err
    return workspace


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_quick_writes_every_file_of_the_contract(made):
    found = files(made / "prototypes")
    assert "index.html" in found
    for name in ("prototype.json", "index.html"):
        assert f"visits/{name}" in found
    for letter in "ab":
        for name in ("blueprint.json", "index.html", "history/0001.json"):
            assert f"visits/{letter}/{name}" in found
    assert not (made / ".protoyard" / "staging").exists() or files(made / ".protoyard" / "staging") == []


def test_the_same_brief_gives_the_same_bytes_in_another_folder_on_every_python(python, made, tmp_path):
    done = run_cli("quick", BRIEF, "--seed=42", "--variants=2", "--slug=visits", python=python, cwd=tmp_path)
    assert done.status == 0, done.err
    for letter in "ab":
        for name in ("blueprint.json", "index.html", "history/0001.json"):
            path = f"prototypes/visits/{letter}/{name}"
            assert (tmp_path / path).read_bytes() == (made / path).read_bytes(), path


def test_quick_says_where_to_look(tmp_path):
    done = run_cli("quick", BRIEF, cwd=tmp_path)
    assert done.status == 0
    assert done.err == ""
    assert "prototypes/" in done.out
    assert "in a browser" in done.out
    assert "\x1b" not in done.out


def test_quick_reads_the_brief_from_standard_input(tmp_path):
    done = run_cli("quick", "-", "--json", cwd=tmp_path, stdin="\ufeffTrack lost umbrellas.\n".encode())
    assert done.status == 0
    manifest = json.loads((tmp_path / done.envelope["data"]["folder"] / "prototype.json").read_text("utf-8"))
    assert manifest["brief"] == "Track lost umbrellas."


def test_a_taken_slug_gets_a_number(tmp_path):
    slugs = [
        run_cli("quick", "Track kites.", "--json", cwd=tmp_path).envelope["data"]["slug"] for _ in range(3)
    ]
    assert slugs == [slugs[0], f"{slugs[0]}-2", f"{slugs[0]}-3"]


def test_a_secret_in_the_brief_is_never_stored(tmp_path):
    secret = "ghp_" + "a1B2" * 9
    done = run_cli("quick", f"Track kites with token {secret} daily.", "--json", cwd=tmp_path)
    assert done.envelope["data"]["warnings"]
    assert secret not in done.out
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or secret not in path.read_text("utf-8")


def test_list_show_and_validate_agree(made):
    listed = run_cli("list", "--json", cwd=made).envelope["data"]["prototypes"]
    assert [item["slug"] for item in listed] == ["visits"]
    shown = run_cli("show", "visits", "--json", cwd=made).envelope["data"]
    assert [variant["id"] for variant in shown["variants"]] == ["a", "b"]
    for folder in ("prototypes/visits", "prototypes/visits/a", "prototypes/visits/b/blueprint.json"):
        done = run_cli("validate", folder, "--json", cwd=made)
        assert done.status == 0
        assert done.envelope["data"]["valid"] is True, done.out


def test_show_cuts_the_records_unless_they_are_asked_for(made):
    cut = run_cli("show", "visits", "--variant=a", "--json", cwd=made)
    entities = cut.envelope["data"]["blueprint"]["entities"]
    assert all(len(entity["records"]) <= 3 < entity["recordCount"] for entity in entities)
    assert len(cut.out) < 40_000
    whole = run_cli("show", "visits", "--variant=a", "--records", "--json", cwd=made).envelope["data"]
    counts = [len(entity["records"]) for entity in whole["blueprint"]["entities"]]
    assert counts == [entity["recordCount"] for entity in entities]


def test_validate_ends_with_1_when_something_is_wrong(made, tmp_path):
    blueprint = json.loads((made / "prototypes/visits/a/blueprint.json").read_text("utf-8"))
    blueprint["navigation"][0] = "nowhere"
    (tmp_path / "mine.json").write_text(json.dumps(blueprint), "utf-8")
    done = run_cli("validate", "mine.json", "--json", cwd=tmp_path)
    assert done.status == 1
    assert done.envelope["ok"] is True
    assert done.envelope["data"]["valid"] is False
    assert [problem["pointer"] for problem in done.envelope["data"]["problems"]] == ["/navigation/0"]
    people = run_cli("validate", "mine.json", cwd=tmp_path)
    assert "mine.json /navigation/0" in people.out
    assert "not valid" in people.out


WRONG = {
    "an unknown command": (["quik"], 2, "unknown_tool", "protoyard quick"),
    "an unknown option": (["list", "--limitt=3"], 2, "invalid_arguments", "--limitt=3"),
    "an abbreviated option": (["list", "--lim=3"], 2, "invalid_arguments", "--lim=3"),
    "an option without its value": (["list", "--limit"], 2, "invalid_arguments", "--limit"),
    "an unquoted brief": (["quick", "track", "kites"], 2, "invalid_arguments", "kites"),
    "no brief": (["quick"], 2, "invalid_arguments", "brief: is required"),
    "an empty brief": (["quick", ""], 2, "invalid_arguments", "brief: must not be empty"),
    "4,001 characters": (["quick", "x" * 4001], 2, "invalid_arguments", "has 4001 characters"),
    "seven variants": (["quick", "x", "--variants=7"], 2, "invalid_arguments", "variants: must be at most 6"),
    "a seed in words": (["quick", "x", "--seed=many"], 2, "invalid_arguments", "seed: must be an integer"),
    "all problems at once": (
        ["quick", "", "--seed=-1", "--nope"],
        2,
        "invalid_arguments",
        "seed: must be at least 0",
    ),
    "a prototype that is not there": (["show", "nothing"], 1, "not_found", "nothing"),
    "a folder that is not there": (["validate", "nothing"], 1, "not_found", "nothing"),
    "a path that leads outside": (["validate", "../x"], 1, "unsafe_path", ""),
    "a workspace that is not there": (["list", "--workspace=nowhere"], 1, "no_workspace", "nowhere"),
    "a workspace that no host has expanded": (["list", "--workspace=${here}"], 1, "no_workspace", "${here}"),
}


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_and_nothing_is_written(case, tmp_path):
    arguments, status, code, part = case
    done = run_cli(*arguments, "--json", cwd=tmp_path)
    assert done.status == status
    assert done.envelope["ok"] is False
    assert done.envelope["error"]["code"] == code
    assert part in done.envelope["error"]["message"] + done.envelope["error"].get("hint", "")
    assert done.err == ""
    people = run_cli(*arguments, cwd=tmp_path)
    assert (people.status, people.out) == (status, "")
    assert people.err.startswith(f"{code}: ")
    assert list(tmp_path.iterdir()) == []


def test_reading_commands_write_nothing(tmp_path):
    for arguments in (["list"], ["blueprint-schema"], ["show", "x"], ["validate", "."]):
        run_cli(*arguments, cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments", [["--help"], ["help"], ["quick", "--help"], ["mcp", "--help"], ["--version"]]
)
def test_help_and_version_go_to_standard_output(arguments, tmp_path):
    done = run_cli(*arguments, cwd=tmp_path)
    assert (done.status, done.err) == (0, "")
    assert "protoyard" in done.out


def test_no_command_at_all_shows_the_help_and_is_wrong_usage(tmp_path):
    done = run_cli(cwd=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert "usage: protoyard" in done.err


def test_the_workspace_may_come_from_the_environment(made, tmp_path):
    from conftest import inherited_environment

    env = inherited_environment(PROTOYARD_WORKSPACE=str(made))
    assert "visits" in run_cli("list", cwd=tmp_path, env=env).out


def test_an_ascii_terminal_gets_question_marks_and_no_traceback(python, tmp_path):
    from conftest import inherited_environment

    env = inherited_environment(
        PYTHONIOENCODING="ascii", LC_ALL="POSIX", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"
    )
    brief = "Café: réservations de tables et clients fidèles."
    done = run_cli("quick", brief, python=python, cwd=tmp_path, env=env)
    assert (done.status, done.err) == (0, "")
    assert run_cli("quick", brief, "--json", python=python, cwd=tmp_path, env=env).envelope["ok"] is True


def test_a_reader_that_goes_away_is_no_traceback(made):
    import subprocess
    import sys

    from conftest import MODULE

    process = subprocess.Popen(
        [sys.executable, str(MODULE), "show", "visits", "--variant=a", "--records"],
        cwd=made,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    process.wait()
