"""`iterate` and `show --against`: a variant reshaped, its history kept, hand edits taken up or refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Server, build_call

from protoyard import OPERATIONS, Call, execute

BRIEF = "Volunteers lend tools to members."
FOLDER = "prototypes/tools/a"


def run(workspace: Path, *argv: str, stdin: bytes | None = None) -> dict:
    """The envelope of one command in a workspace."""
    source = None if stdin is None else lambda: stdin
    return execute(argv, rows=OPERATIONS, call=Call(), directory=str(workspace), stdin=source)


def iterate(workspace: Path, *argv: str, **options) -> dict:
    """The data of an `iterate` that works."""
    envelope = run(workspace, "iterate", *argv, "--", FOLDER, **options)
    assert envelope["ok"], envelope
    return envelope["data"]


def refused(workspace: Path, *argv: str, **options) -> dict:
    """The error of an `iterate` that does not, after which nothing has changed."""
    before = snapshot(workspace)
    envelope = run(workspace, "iterate", *argv, "--", FOLDER, **options)
    assert envelope["ok"] is False, envelope
    assert snapshot(workspace) == before
    return envelope["error"]


def snapshot(workspace: Path) -> dict[str, bytes]:
    """Every file below prototypes/."""
    files = (path for path in (workspace / "prototypes").rglob("*") if path.is_file())
    return {path.relative_to(workspace).as_posix(): path.read_bytes() for path in files}


def blueprint(workspace: Path) -> dict:
    return json.loads((workspace / FOLDER / "blueprint.json").read_text("utf-8"))


def patch(*operations: tuple) -> str:
    """The option with a JSON Patch of (op, path, value) rows."""
    steps = [
        {"op": op, "path": path, **({"value": rest[0]} if rest else {})} for op, path, *rest in operations
    ]
    return "--patch=" + json.dumps(steps)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    envelope = run(tmp_path, "quick", "--slug=tools", "--variants=1", "--seed=7", "--", BRIEF)
    assert envelope["ok"], envelope
    return tmp_path


def valid(workspace: Path) -> bool:
    return run(workspace, "validate", "--", "prototypes/tools")["data"]["valid"]


def test_a_json_patch_is_a_revision_with_words_and_an_inverse(workspace):
    first = blueprint(workspace)
    done = iterate(workspace, patch(("replace", "/title", "Tool shed")))
    assert (done["revision"], done["filled"], done["dryRun"], done["takenUp"]) == (2, 0, False, False)
    assert done["summary"]["changed"] == ["title"]
    assert done["inverse"] == [{"op": "replace", "path": "/title", "value": first["title"]}]
    assert "blueprint" not in done
    assert blueprint(workspace)["title"] == "Tool shed"
    assert "Tool shed" in (workspace / FOLDER / "index.html").read_text("utf-8")
    assert valid(workspace)


def test_a_merge_patch_from_standard_input_and_from_a_file(workspace):
    assert iterate(workspace, "--patch-file=-", stdin=b'{"title": "Shed"}')["revision"] == 2
    (workspace / "mine.json").write_text('{"title": "Barn"}', "utf-8")
    assert iterate(workspace, "--patch-file=mine.json")["revision"] == 3
    assert blueprint(workspace)["title"] == "Barn"


def test_a_new_field_is_filled_and_nothing_else_changes(workspace):
    first = blueprint(workspace)
    field = {"id": "shelf_mark", "label": "Shelf mark", "type": "text"}
    done = iterate(workspace, patch(("add", "/entities/0/fields/-", field)))
    after = blueprint(workspace)
    assert done["filled"] == len(after["entities"][0]["records"]) > 3
    for old, new in zip(first["entities"][0]["records"], after["entities"][0]["records"]):
        assert new["shelf_mark"] and {**new, **old} == new
    assert first["entities"][1:] == after["entities"][1:]
    back = iterate(workspace, "--patch=" + json.dumps(done["inverse"]))
    assert back["revision"] == 3
    assert blueprint(workspace) == first


def test_undo_goes_back_and_undo_of_undo_redoes_and_history_only_grows(workspace):
    first = blueprint(workspace)
    iterate(workspace, patch(("replace", "/title", "Tool shed")))
    second = blueprint(workspace)
    assert iterate(workspace, "--undo")["revision"] == 3
    assert blueprint(workspace) == first
    assert iterate(workspace, "--undo")["revision"] == 4
    assert blueprint(workspace) == second
    names = sorted(path.name for path in (workspace / FOLDER / "history").iterdir())
    assert names == ["0001.json", "0002.json", "0003.json", "0004.json"]
    assert valid(workspace)


def test_there_is_nothing_to_undo_at_first(workspace):
    assert refused(workspace, "--undo")["code"] == "not_found"


def test_a_dry_run_says_the_same_and_writes_nothing(workspace):
    before = snapshot(workspace)
    option = patch(("replace", "/title", "Tool shed"))
    dry = iterate(workspace, option, "--dry-run")
    assert snapshot(workspace) == before
    wet = iterate(workspace, option)
    assert {**dry, "dryRun": False} == wet


def test_base_refuses_another_revision_and_names_the_current_one(workspace):
    iterate(workspace, patch(("replace", "/title", "Tool shed")), "--base=1")
    error = refused(workspace, patch(("replace", "/title", "Barn")), "--base=1")
    assert error["code"] == "conflict"
    assert "2" in error["message"]


REFUSED = {
    "no JSON": ("--patch={", "invalid_patch", "no JSON"),
    "a patch that does not apply": (patch(("remove", "/titel")), "invalid_patch", 'did you mean "title"?'),
    "a test that fails": (patch(("test", "/title", "x")), "invalid_patch", "test failed"),
    "a result that is no blueprint": (patch(("remove", "/screens")), "invalid_blueprint", "/screens"),
    "an entity renamed without its references": (
        patch(("replace", "/entities/0/id", "helper")),
        "invalid_blueprint",
        "/entity: there is no entity",
    ),
    "a field renamed without its references": (
        patch(("replace", "/entities/0/fields/0/id", "full_name")),
        "invalid_blueprint",
        "/entities/0/display",
    ),
    "a file that is not there": ("--patch-file=nothing.json", "not_found", "nothing.json"),
    "a file outside": ("--patch-file=../x.json", "unsafe_path", "patchFile"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_what_is_wrong_is_said_with_its_place_and_changes_nothing(case, workspace):
    option, code, part = case
    error = refused(workspace, option)
    assert error["code"] == code
    assert part in error["message"]


def test_all_problems_of_a_result_come_at_once(workspace):
    error = refused(
        workspace, patch(("replace", "/navigation/0", "nowhere"), ("replace", "/entities/0/display", "x"))
    )
    assert "/navigation/0" in error["message"]
    assert "/entities/0/display" in error["message"]


def test_a_blueprint_that_could_not_be_read_again_is_not_written(workspace):
    entity = blueprint(workspace)["entities"][0]
    count = len(entity["records"])
    operations = []
    for name in "pqrst":
        field = {"id": name, "label": name.upper(), "type": "longtext"}
        operations.append({"op": "add", "path": "/entities/0/fields/-", "value": field})
        operations.append({"op": "add", "path": f"/entities/0/records/0/{name}", "value": "é" * 3000})
    for number in range(count, count + 90):
        operations.append({"op": "copy", "from": "/entities/0/records/0", "path": "/entities/0/records/-"})
        path = f"/entities/0/records/{number}/id"
        operations.append({"op": "replace", "path": path, "value": f"copy-{number}"})
    error = refused(workspace, "--patch=" + json.dumps(operations, ensure_ascii=False))
    assert error["code"] == "invalid_blueprint"
    assert "2,097,152" in error["message"]
    assert valid(workspace)


@pytest.mark.parametrize(
    "pair", [("--undo", patch()), ("--undo", "--patch-file=x"), (patch(), "--patch-file=x")]
)
def test_only_one_of_patch_file_and_undo(pair, workspace):
    assert refused(workspace, *pair)["code"] == "invalid_arguments"


@pytest.mark.parametrize(
    "folder", ["prototypes/tools", "prototypes", ".", "prototypes/tools/a/history", "src"]
)
def test_only_a_variants_folder_can_be_reshaped(folder, workspace):
    envelope = run(workspace, "iterate", "--", folder)
    assert envelope["error"]["code"] == "not_found"


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["line feeds", "carriage returns"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "with a byte order mark"])
def test_a_valid_hand_edit_is_taken_up_as_a_revision_of_its_own(ending, mark, workspace):
    edited = {**blueprint(workspace), "title": "By hand"}
    text = mark + json.dumps(edited, indent=4).replace("\n", ending)
    (workspace / FOLDER / "blueprint.json").write_bytes(text.encode("utf-8"))
    assert valid(workspace)
    done = iterate(workspace, patch(("replace", "/theme/palette", "plum")))
    assert (done["revision"], done["takenUp"]) == (3, True)
    assert blueprint(workspace)["title"] == "By hand"
    assert blueprint(workspace)["theme"]["palette"] == "plum"
    assert valid(workspace)


def test_a_hand_edit_alone_is_rendered_by_a_bare_iterate_and_conflicts_with_base(workspace):
    edited = {**blueprint(workspace), "title": "By hand"}
    (workspace / FOLDER / "blueprint.json").write_text(json.dumps(edited), "utf-8")
    assert refused(workspace, "--base=1")["code"] == "conflict"
    assert iterate(workspace)["revision"] == 2
    assert "By hand" in (workspace / FOLDER / "index.html").read_text("utf-8")


def test_an_invalid_hand_edit_is_refused_with_its_problems_and_kept(workspace):
    edited = {**blueprint(workspace), "navigation": ["nowhere"]}
    (workspace / FOLDER / "blueprint.json").write_text(json.dumps(edited), "utf-8")
    error = refused(workspace, patch(("replace", "/title", "x")))
    assert error["code"] == "invalid_blueprint"
    assert "/navigation/0" in error["message"]


def test_a_page_that_was_deleted_comes_back(workspace):
    page = workspace / FOLDER / "index.html"
    text = page.read_bytes()
    page.unlink()
    assert iterate(workspace)["revision"] == 1
    assert page.read_bytes() == text


def test_a_round_trip_of_what_was_shown_redacted_is_refused(workspace):
    secret = "ghp_" + "a1B2" * 9
    iterate(workspace, patch(("replace", "/entities/0/records/0/name", f"key {secret}")))
    shown = run(workspace, "show", "--variant=a", "--", "tools")
    from protoyard import clean

    name = clean(shown)["data"]["blueprint"]["entities"][0]["records"][0]["name"]
    assert secret not in name
    error = refused(workspace, patch(("replace", "/entities/0/records/0/name", name)))
    assert error["code"] == "invalid_patch"
    assert "/entities/0/records/0/name" in error["message"]


def test_every_earlier_revision_can_be_compared_and_brought_back(workspace):
    from protoyard import apply_patch

    states = [blueprint(workspace)]
    for title in ("One", "Two", "Three"):
        iterate(workspace, patch(("replace", "/title", title), ("remove", "/entities/0/records/0")))
        states.append(blueprint(workspace))
    for number, then in enumerate(states, 1):
        shown = run(workspace, "show", "--variant=a", f"--against={number}", "--", "tools")["data"]
        assert apply_patch(then, shown["patch"]) == states[-1]
        assert apply_patch(states[-1], shown["inverse"]) == then
    inverse = run(workspace, "show", "--variant=a", "--against=1", "--", "tools")["data"]["inverse"]
    iterate(workspace, "--patch=" + json.dumps(inverse))
    assert blueprint(workspace) == states[0]


def test_a_revision_that_is_not_there_is_said(workspace):
    envelope = run(workspace, "show", "--variant=a", "--against=2", "--", "tools")
    assert envelope["error"]["code"] == "not_found"


def test_against_needs_a_variant(workspace):
    assert run(workspace, "show", "--against=1", "--", "tools")["error"]["code"] == "invalid_arguments"


def test_an_agent_reshapes_over_mcp(workspace):
    steps = json.dumps([{"op": "replace", "path": "/title", "value": "Tool shed"}])
    with Server(cwd=workspace) as server:
        call = build_call(1, "iterate", {"folder": FOLDER, "patch": steps, "base": 1})
        found = json.loads(server.ask(call)["result"]["content"][0]["text"])
        assert (found["ok"], found["data"]["revision"]) == (True, 2)
        dash = build_call(2, "iterate", {"folder": FOLDER, "patchFile": "-"})
        found = json.loads(server.ask(dash)["result"]["content"][0]["text"])
        assert found["error"]["code"] == "invalid_arguments"
