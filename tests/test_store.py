"""§12: prototypes appear whole, are read as they lie on disk, and `verify` tells what is wrong with them."""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from conftest import mounted, where_disks_can_be_mounted
from samples import small_blueprint
from store_samples import CREATED, blueprints, create, retitle

import protoyard
from protoyard import Call, Failure, Stopped, Workspace

MODULE = pathlib.Path(protoyard.__file__).resolve()


def failure(act, *arguments, **options) -> Failure:
    with pytest.raises(Failure) as caught:
        act(*arguments, **options)
    return caught.value


def tree(directory: pathlib.Path) -> dict[str, bytes | None]:
    """Every path below a directory, files with their bytes."""
    paths = sorted(directory.rglob("*"))
    return {str(path.relative_to(directory)): path.read_bytes() if path.is_file() else None for path in paths}


def page_of(blueprint: dict) -> str:
    """The page that belongs to a blueprint: rendered from its file, whatever the order of the members was."""
    return protoyard.render_page(json.loads(protoyard.render_blueprint(blueprint)))


def staged(place: pathlib.Path) -> list[str]:
    return sorted(os.listdir(place / ".protoyard/staging"))


def manifest_of(place: pathlib.Path, slug: str = "demo") -> dict:
    return json.loads((place / "prototypes" / slug / "prototype.json").read_text("utf-8"))


# --- create -----------------------------------------------------------


def test_a_prototype_lies_on_disk_as_the_contract_says(workspace, place, call):
    answer = create(workspace, call)
    names = list(tree(place))
    assert names == [
        ".protoyard", ".protoyard/lock", ".protoyard/staging",
        "prototypes", "prototypes/demo",
        "prototypes/demo/a", "prototypes/demo/a/blueprint.json", "prototypes/demo/a/history",
        "prototypes/demo/a/history/0001.json", "prototypes/demo/a/index.html",
        "prototypes/demo/b", "prototypes/demo/b/blueprint.json", "prototypes/demo/b/history",
        "prototypes/demo/b/history/0001.json", "prototypes/demo/b/index.html",
        "prototypes/demo/index.html", "prototypes/demo/prototype.json",
        "prototypes/index.html",
    ]  # fmt: skip
    first, second = blueprints()
    assert manifest_of(place) == {
        "prototype": 1,
        "title": "Tool library",
        "brief": "Volunteers lend tools.",
        "seed": 7,
        "version": protoyard.__version__,
        "created": CREATED,
        "variants": [
            {
                "id": blueprint["variant"]["id"],
                "question": blueprint["variant"]["question"],
                "revisions": [
                    {"revision": 1, "digest": protoyard.digest(blueprint), "summary": "First draft."}
                ],
            }
            for blueprint in (first, second)
        ],
        "promotions": [],
    }
    demo = place / "prototypes/demo"
    assert (demo / "b/blueprint.json").read_text("utf-8") == protoyard.render_blueprint(second)
    assert (demo / "b/history/0001.json").read_bytes() == (demo / "b/blueprint.json").read_bytes()
    assert (demo / "b/index.html").read_text("utf-8") == page_of(second)
    assert answer == {
        "slug": "demo",
        "folder": "prototypes/demo",
        "page": "prototypes/demo/index.html",
        "created": CREATED,
        "variants": [
            {
                "id": letter,
                "question": f"Question of {letter}?",
                "page": f"prototypes/demo/{letter}/index.html",
                "revision": 1,
                "digest": protoyard.digest(blueprint),
            }
            for letter, blueprint in (("a", first), ("b", second))
        ],
    }


def test_the_same_blueprints_give_the_same_bytes_but_for_the_time(tmp_path, call):
    trees = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        create(Workspace(str(tmp_path / name)), call, created=CREATED if name == "one" else "")
        files = tree(tmp_path / name / "prototypes")
        del files["index.html"]  # the gallery shows the day
        manifest = json.loads(files.pop("demo/prototype.json"))
        created = manifest.pop("created")
        assert time.strptime(created, "%Y-%m-%dT%H:%M:%SZ")
        trees.append((files, manifest))
    assert trees[0] == trees[1]


def test_a_taken_slug_that_was_derived_gets_a_number(workspace, place, call):
    made = [create(workspace, call)["slug"] for _ in range(3)]
    assert made == ["demo", "demo-2", "demo-3"]
    assert sorted(os.listdir(place / "prototypes")) == ["demo", "demo-2", "demo-3", "index.html"]


def test_a_numbered_slug_stays_a_slug(workspace, call):
    slug = "-".join(["abcdefgh"] * 5) + "-x-yz"  # a cut at 46 characters would leave a dash at the end
    slug = slug[:46] + "yz" if len(slug) < 48 else slug[:48]
    made = [create(workspace, call, slug=slug)["slug"] for _ in range(3)]
    assert len(set(made)) == 3
    for one in made:
        assert len(one) <= protoyard.SLUG_MAX_CHARS and protoyard.re.fullmatch(protoyard.SLUG_PATTERN, one)


def test_a_taken_slug_of_the_callers_own_is_in_the_way(workspace, place, call):
    create(workspace, call)
    before = tree(place)
    problem = failure(create, workspace, call, derived=False, title="Other")
    assert (problem.code, problem.message) == ("already_exists", "prototypes/demo is there already")
    assert "another slug" in problem.hint
    assert tree(place) == before


def test_an_empty_folder_is_not_in_the_way_of_the_callers_own_slug(workspace, place, call):
    (place / "prototypes/demo").mkdir(parents=True)
    assert create(workspace, call, derived=False)["slug"] == "demo"


def test_a_file_or_link_at_the_slug_is_stepped_over_or_in_the_way(workspace, place, call):
    (place / "prototypes").mkdir()
    (place / "prototypes/demo").write_text("mine")
    (place / "prototypes/demo-2").symlink_to("/etc")
    assert create(workspace, call)["slug"] == "demo-3"
    assert failure(create, workspace, call, derived=False).code == "already_exists"
    assert failure(create, workspace, call, slug="demo-2", derived=False).code == "unsafe_path"
    assert (place / "prototypes/demo").read_text() == "mine"


def test_what_a_killed_writer_left_is_swept_first(workspace, place, call):
    left = place / ".protoyard/staging/1-dead/a"
    left.mkdir(parents=True)
    (left / "blueprint.json").write_text("half")
    create(workspace, call)
    assert staged(place) == []


class StopsAt(Call):
    """A call that is stopped at its n-th cancellation point."""

    left = 0

    def check(self) -> None:
        self.left -= 1
        if self.left == 0:
            self.stop("timeout")
        super().check()


def test_a_create_stopped_anywhere_leaves_all_or_nothing(tmp_path):
    stopped, number = 0, 0
    while True:
        number += 1
        place = tmp_path / str(number)
        place.mkdir()
        workspace, call = Workspace(str(place)), StopsAt()
        call.left = number
        try:
            create(workspace, call)
        except Stopped:
            stopped += 1
        else:
            break
        if (place / "prototypes/demo").exists():
            assert protoyard.verify(workspace, "prototypes/demo")["valid"]
        assert not (place / ".protoyard/staging").exists() or staged(place) == []
        assert workspace.lock_is_free()
        assert create(workspace, Call())["slug"] in ("demo", "demo-2")
    assert stopped > 10


FOREVER = f"""
import sys; sys.path[:0] = [{str(MODULE.parent)!r}, {str(MODULE.parent / "tests")!r}]
import protoyard, store_samples
workspace, call = protoyard.Workspace(sys.argv[1]), protoyard.Call()
print("ready", flush=True)
for _ in range(int(sys.argv[2])):
    store_samples.create(workspace, call)
"""


def creating(place: pathlib.Path, times: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", FOREVER, str(place), str(times)], stdout=subprocess.PIPE)


def kills(hits: list) -> Iterator[int]:
    """At least ten rounds, and as many as it takes for one of them to hit what it is meant to hit."""
    for number in itertools.count():
        if number >= 10 and hits:
            return
        assert number < 200, "no kill came in the middle of anything"
        yield number


def test_a_create_killed_at_any_moment_leaves_complete_prototypes_and_the_next_one_sweeps(place, call):
    workspace, hits, verified = Workspace(str(place)), [], {"index.html"}
    create(workspace, call)
    for number in kills(hits):
        with creating(place, 1000) as other:
            assert other.stdout.readline() == b"ready\n"
            time.sleep(0.01 + number % 10 * 0.007)
            os.kill(other.pid, signal.SIGKILL)
        for slug in set(os.listdir(place / "prototypes")) - verified:
            found = protoyard.verify(workspace, f"prototypes/{slug}")
            assert found["valid"], found
            verified.add(slug)
        hits += staged(place)
        create(workspace, call)
        assert staged(place) == []


def test_two_processes_create_at_once_and_neither_is_lost(place):
    with creating(place, 10) as one, creating(place, 10) as two:
        assert (one.wait(60), two.wait(60)) == (0, 0)
    listed = protoyard.read_list(Workspace(str(place)), limit=100)["prototypes"]
    assert len(listed) == 20 and staged(place) == []
    gallery = (place / "prototypes/index.html").read_text("utf-8")
    assert all(entry["slug"] in gallery for entry in listed)


@where_disks_can_be_mounted
def test_a_full_disk_leaves_nothing_of_the_new_and_all_of_the_old(place, call):
    with mounted(place, "2m"):
        workspace = Workspace(str(place))
        create(workspace, call)
        before = tree(place / "prototypes")
        with open(place / "ballast", "wb", buffering=0) as ballast, pytest.raises(OSError, match="space"):
            while True:
                ballast.write(b"x" * 4096)
        problem = failure(create, workspace, call, slug="other")
        assert problem.code == "io_error" and problem.message.endswith("the disk is full")
        (place / "ballast").unlink()
        assert tree(place / "prototypes") == before and staged(place) == []
        assert create(workspace, call, slug="other")["slug"] == "other"


def test_a_prototypes_folder_that_is_a_link_is_refused(workspace, place, call):
    outside = place.parent / "outside"
    outside.mkdir()
    (place / "prototypes").symlink_to(outside)
    assert failure(create, workspace, call).code == "unsafe_path"
    assert failure(protoyard.read_list, workspace, limit=5).code == "unsafe_path"
    assert list(outside.iterdir()) == []


def test_the_gallery_holds_the_newest(workspace, place, call, monkeypatch):
    monkeypatch.setattr(protoyard, "GALLERY_MAX_PROTOTYPES", 3)
    for number in range(5):
        create(workspace, call, slug=f"demo{number}", created=f"2026-01-0{5 - number}T00:00:00Z")
    (place / "prototypes/broken").mkdir()
    create(workspace, call, slug="last", created="2026-02-01T00:00:00Z")
    gallery = (place / "prototypes/index.html").read_text("utf-8")
    shown = [
        slug for slug in ("last", "demo0", "demo1", "demo2", "demo3", "demo4", "broken") if slug in gallery
    ]
    assert shown == ["last", "demo0", "demo1"]
    assert gallery.index("last") < gallery.index("demo0") < gallery.index("demo1")


# --- list and show ----------------------------------------------------


def test_an_empty_workspace_lists_nothing_and_stays_empty(workspace, place):
    assert protoyard.read_list(workspace, limit=5) == {"prototypes": []}
    assert list(place.iterdir()) == []


def test_a_list_comes_in_pages_by_slug(workspace, place, call):
    for slug in ("delta", "alpha", "charlie", "bravo", "echo"):
        create(workspace, call, slug=slug)
    pages, after = [], ""
    while True:
        page = protoyard.read_list(workspace, limit=2, after=after)
        pages.append([entry["slug"] for entry in page["prototypes"]])
        if "next" not in page:
            break
        after = page["next"]
    assert pages == [["alpha", "bravo"], ["charlie", "delta"], ["echo"]]
    between = protoyard.read_list(workspace, limit=1, after="bz")
    assert between == {
        "prototypes": [
            {"slug": "charlie", "title": "Tool library", "created": CREATED, "variants": ["a", "b"]}
        ],
        "next": "charlie",
    }
    assert protoyard.read_list(workspace, limit=5, after="zulu") == {"prototypes": []}
    exact = protoyard.read_list(workspace, limit=5)
    assert len(exact["prototypes"]) == 5 and "next" not in exact


def test_what_is_damaged_is_mentioned_and_what_is_no_prototype_is_not(workspace, place, call):
    for slug in ("good", "no-json", "no-schema", "odd", "other-number"):
        create(workspace, call, slug=slug)
    folder = place / "prototypes"
    (folder / "empty").mkdir()
    (folder / "a-file").write_text("x")
    (folder / "a-link").symlink_to("good")
    (folder / "Not a slug").mkdir()
    (folder / ".hidden").mkdir()
    (folder / "no-json/prototype.json").write_text("{")
    (folder / "no-schema/prototype.json").write_text("[]")
    os.unlink(folder / "odd/prototype.json")
    os.mkfifo(folder / "odd/prototype.json")
    manifest = manifest_of(place, "other-number")
    manifest["variants"][0]["revisions"][0]["revision"] = 2
    (folder / "other-number/prototype.json").write_text(json.dumps(manifest))
    listed = protoyard.read_list(workspace, limit=50)
    assert [entry["slug"] for entry in listed["prototypes"]] == ["good"]
    damaged = {entry["slug"]: entry["problem"] for entry in listed["damaged"]}
    assert set(damaged) == {"a-file", "a-link", "empty", "no-json", "no-schema", "odd", "other-number"}
    assert damaged["empty"] == "there is no prototype empty"
    assert damaged["odd"] == "prototypes/odd/prototype.json is not a regular file"
    assert "/variants/0/revisions" in damaged["other-number"]


def test_a_prototype_is_shown_with_an_outline_of_each_variant(workspace, call):
    create(workspace, call)
    shown = protoyard.read_prototype(workspace, "demo")
    assert {name: shown[name] for name in ("slug", "folder", "page", "brief", "seed", "created")} == {
        "slug": "demo",
        "folder": "prototypes/demo",
        "page": "prototypes/demo/index.html",
        "brief": "Volunteers lend tools.",
        "seed": 7,
        "created": CREATED,
    }
    sample = small_blueprint()
    first = shown["variants"][0]
    assert (first["id"], first["revision"], first["page"]) == ("a", 1, "prototypes/demo/a/index.html")
    assert [screen["id"] for screen in first["screens"]] == [screen["id"] for screen in sample["screens"]]
    assert [role["id"] for role in first["roles"]] == [role["id"] for role in sample["roles"]]
    assert {e["id"]: e["records"] for e in first["entities"]} == {
        e["id"]: len(e["records"]) for e in sample["entities"]
    }


def test_a_variant_is_shown_with_its_blueprint(workspace, call):
    create(workspace, call)
    blueprint = blueprints()[1]
    assert protoyard.read_variant(workspace, "demo", "b") == {
        "slug": "demo",
        "variant": "b",
        "folder": "prototypes/demo/b",
        "page": "prototypes/demo/b/index.html",
        "revision": 1,
        "digest": protoyard.digest(blueprint),
        "blueprint": blueprint,
    }


def test_what_is_not_there_is_not_found(workspace, place, call):
    create(workspace, call)
    assert failure(protoyard.read_prototype, workspace, "other").code == "not_found"
    assert failure(protoyard.read_prototype, workspace, "../demo").code == "not_found"
    assert failure(protoyard.read_prototype, workspace, "demo\n").code == "not_found"
    problem = failure(protoyard.read_variant, workspace, "demo", "c")
    assert (problem.code, problem.hint) == ("not_found", "its variants: a, b")


def edit(place: pathlib.Path, change, file: str = "a/blueprint.json") -> dict:
    path = place / "prototypes/demo" / file
    value = json.loads(path.read_text("utf-8"))
    change(value)
    path.write_text(json.dumps(value), "utf-8")
    return value


def test_a_valid_hand_edit_is_shown_as_one(workspace, place, call):
    create(workspace, call)
    edited = edit(place, lambda value: value.update(title="By hand"))
    shown = protoyard.read_variant(workspace, "demo", "a")
    assert shown["edited"] is True and shown["blueprint"] == edited and shown["revision"] == 1
    assert protoyard.read_prototype(workspace, "demo")["variants"][0]["edited"] is True


def test_an_invalid_hand_edit_is_refused_with_its_problems(workspace, place, call):
    create(workspace, call)
    edit(place, lambda value: value.update(navigation=["nowhere"]))
    problem = failure(protoyard.read_variant, workspace, "demo", "a")
    assert problem.code == "invalid_blueprint" and "/navigation/0" in problem.message
    shown = protoyard.read_prototype(workspace, "demo")["variants"]
    assert "/navigation/0" in shown[0]["problem"] and "problem" not in shown[1]


def test_a_blueprint_that_is_missing_is_read_from_the_history(workspace, place, call):
    create(workspace, call)
    (place / "prototypes/demo/a/blueprint.json").unlink()
    shown = protoyard.read_variant(workspace, "demo", "a")
    assert shown["blueprint"] == blueprints()[0] and "edited" not in shown


# --- verify -----------------------------------------------------------


def problems_of(found: dict) -> list[tuple[str, str, str]]:
    return [(problem["file"], problem["pointer"], problem["code"]) for problem in found["problems"]]


def rewrite_json(path: pathlib.Path, change) -> None:
    value = json.loads(path.read_text("utf-8"))
    change(value)
    path.write_text(json.dumps(value), "utf-8")


def in_json(file: str, change):
    return lambda demo: rewrite_json(demo / file, change)


def set_variant_b(value: dict) -> None:
    value["variant"]["id"] = "b"


def drop_variants(value: dict) -> None:
    del value["variants"]


D = "prototypes/demo"
TOO_LARGE = protoyard.BLUEPRINT_FILE_MAX_BYTES + 1
NO_DIGEST = "sha256:" + "0" * 64
# (sentence, what is done to prototypes/demo, problems as (file, pointer, code), words in the notes)
DAMAGES = [
    ("nothing", lambda demo: None, [], []),
    ("a page is deleted", lambda demo: (demo / "a/index.html").unlink(),
     [(f"{D}/a/index.html", "", "missing")], []),
    ("a page is edited", lambda demo: (demo / "a/index.html").write_text("<p>mine"),
     [(f"{D}/a/index.html", "", "page_differs")], []),
    ("the page of variants is edited", lambda demo: (demo / "index.html").write_text("<p>mine"),
     [(f"{D}/index.html", "", "page_differs")], []),
    ("the page of variants is deleted", lambda demo: (demo / "index.html").unlink(),
     [(f"{D}/index.html", "", "missing")], []),
    ("a page is a link", lambda demo: relink(demo / "a/index.html", "../b/index.html"),
     [(f"{D}/a/index.html", "", "unsafe_path")], []),
    ("a blueprint is edited and valid", in_json("a/blueprint.json", lambda v: v.update(title="By hand")),
     [], [f"{D}/a/blueprint.json was edited by hand since revision 1; it is valid"]),
    ("a blueprint is only formatted anew", in_json("a/blueprint.json", lambda v: None), [], []),
    ("a blueprint is edited and invalid", in_json("a/blueprint.json", lambda v: v.update(seed=-1)),
     [(f"{D}/a/blueprint.json", "/seed", "invalid_blueprint")], []),
    ("a blueprint is no JSON", lambda demo: (demo / "a/blueprint.json").write_text("{]"),
     [(f"{D}/a/blueprint.json", "", "invalid_blueprint")], []),
    ("a blueprint is no object", lambda demo: (demo / "a/blueprint.json").write_text("[]"),
     [(f"{D}/a/blueprint.json", "", "invalid_blueprint")], []),
    ("a blueprint is no text", lambda demo: (demo / "a/blueprint.json").write_bytes(b"\xff\xfe{}"),
     [(f"{D}/a/blueprint.json", "", "invalid_blueprint")], []),
    ("a blueprint is too large", lambda demo: (demo / "a/blueprint.json").write_bytes(b" " * TOO_LARGE),
     [(f"{D}/a/blueprint.json", "", "invalid_arguments")], []),
    ("a blueprint says it is another variant", in_json("a/blueprint.json", set_variant_b),
     [(f"{D}/a/blueprint.json", "/variant/id", "manifest_differs")], ["edited by hand"]),
    ("a blueprint is deleted", lambda demo: (demo / "a/blueprint.json").unlink(),
     [(f"{D}/a/blueprint.json", "", "missing")], []),
    ("a variant's folder is deleted", lambda demo: shutil.rmtree(demo / "b"),
     [(f"{D}/b/history/0001.json", "", "missing"), (f"{D}/b/blueprint.json", "", "missing")], []),
    ("history is deleted", lambda demo: (demo / "a/history/0001.json").unlink(),
     [(f"{D}/a/history/0001.json", "", "missing")], []),
    ("history is rewritten", in_json("a/history/0001.json", lambda v: v.update(title="Other")),
     [(f"{D}/a/history/0001.json", "", "history_differs")], []),
    ("a revision was not committed",
     lambda demo: shutil.copy(demo / "a/blueprint.json", demo / "a/history/0002.json"),
     [], [f"{D}/a/history/0002.json is not in the manifest"]),
    ("a folder of a variant that is not in the manifest", lambda demo: (demo / "c").mkdir(),
     [(f"{D}/prototype.json", "/variants", "manifest_differs")], []),
    ("the manifest is deleted", lambda demo: (demo / "prototype.json").unlink(),
     [(f"{D}/prototype.json", "", "missing")], []),
    ("the manifest is no JSON", lambda demo: (demo / "prototype.json").write_text("nonsense"),
     [(f"{D}/prototype.json", "", "invalid_manifest")], []),
    ("a manifest of a newer version", lambda demo: (demo / "prototype.json").write_text('{"prototype": 2}'),
     [(f"{D}/prototype.json", "/prototype", "invalid_manifest")], []),
    ("the manifest lacks a member", in_json("prototype.json", drop_variants),
     [(f"{D}/prototype.json", "/variants", "invalid_manifest")], []),
    ("the manifest has a made-up digest",
     in_json("prototype.json", lambda v: v["variants"][0]["revisions"][0].update(digest=NO_DIGEST)),
     [(f"{D}/a/history/0001.json", "", "history_differs")], ["edited by hand"]),
    ("the manifest names another version and the page differs",
     lambda demo: (rewrite_json(demo / "prototype.json", lambda v: v.update(version="0.0.1")),
                   (demo / "a/index.html").write_text("old")),
     [], [f"{D}/a/index.html is of version 0.0.1"]),
    ("something is left in staging", lambda demo: (demo.parent.parent / ".protoyard/staging/1-dead").mkdir(),
     [], [".protoyard/staging holds unfinished work; the next writing command clears it"]),
]  # fmt: skip


def relink(path: pathlib.Path, target: str) -> None:
    path.unlink()
    path.symlink_to(target)


@pytest.mark.parametrize(
    ("sentence", "damage", "problems", "notes"), DAMAGES, ids=[row[0] for row in DAMAGES]
)
def test_verify_says_what_is_wrong(workspace, place, call, sentence, damage, problems, notes):
    create(workspace, call)
    damage(place / D)
    before = tree(place) if sentence != "a page is a link" else None
    found = protoyard.verify(workspace, D)
    assert found["folder"] == D
    assert problems_of(found) == problems
    assert found["valid"] is (problems == [])
    assert len(found["notes"]) == len(notes)
    for note, words in zip(found["notes"], notes):
        assert words in note
    assert all(problem["message"] for problem in found["problems"])
    if before is not None:
        assert tree(place) == before


def test_verify_takes_a_variant_or_a_file_too(workspace, place, call):
    create(workspace, call)
    edit(place, lambda value: value.update(seed=-1), "b/blueprint.json")
    bad = [(f"{D}/b/blueprint.json", "/seed", "invalid_blueprint")]
    assert problems_of(protoyard.verify(workspace, f"{D}/a")) == []
    assert problems_of(protoyard.verify(workspace, f"{D}/b")) == bad
    assert problems_of(protoyard.verify(workspace, f"{D}/b/blueprint.json")) == bad
    shutil.copytree(place / D, place / "copies/demo")
    assert problems_of(protoyard.verify(workspace, "copies/demo")) == [
        ("copies/demo/b/blueprint.json", "/seed", "invalid_blueprint")
    ]
    (place / "mine.json").write_text(protoyard.render_blueprint(small_blueprint()))
    assert protoyard.verify(workspace, "mine.json") == {
        "folder": "mine.json", "valid": True, "problems": [], "notes": [],
    }  # fmt: skip


NOT_VERIFIABLE = [
    ("what is missing", "prototypes/other", "not_found"),
    ("a missing variant", "prototypes/demo/f", "not_found"),
    ("the workspace", "", "invalid_arguments"),
    ("the folder of all prototypes", "prototypes", "invalid_arguments"),
    ("a page", "prototypes/demo/a/index.html", "invalid_arguments"),
    ("a folder inside a variant", "prototypes/demo/a/history", "invalid_arguments"),
    ("a FIFO", "fifo.json", "unsafe_path"),
    ("a link", "link", "unsafe_path"),
    ("a file that is too large for a blueprint", "large.json", "invalid_arguments"),
]


@pytest.mark.parametrize(("sentence", "path", "code"), NOT_VERIFIABLE, ids=[row[0] for row in NOT_VERIFIABLE])
def test_verify_refuses_what_is_none_of_the_three(workspace, place, call, sentence, path, code):
    create(workspace, call)
    os.mkfifo(place / "fifo.json")
    (place / "link").symlink_to(D)
    (place / "large.json").write_bytes(b" " * TOO_LARGE)
    assert failure(protoyard.verify, workspace, path).code == code


def test_verify_hedges_while_somebody_writes(workspace, place, call):
    create(workspace, call)
    (place / ".protoyard/staging/1-x").mkdir()
    with workspace.lock(call):
        found = protoyard.verify(workspace, D)
    assert found["notes"] == [".protoyard/staging holds unfinished work (may be in progress)"]


# --- revisions --------------------------------------------------------


def undo(workspace: Workspace):
    return lambda variant: (protoyard.previous_revision(workspace, variant), "Undone.")


def titles(place: pathlib.Path, letter: str = "a") -> list[str]:
    """The title of each revision in the history."""
    folder = place / "prototypes/demo" / letter / "history"
    return [json.loads((folder / name).read_text("utf-8"))["title"] for name in sorted(os.listdir(folder))]


def assert_sound(workspace: Workspace) -> None:
    found = protoyard.verify(workspace, D)
    assert (found["problems"], found["notes"]) == ([], [])


def test_a_revision_is_recorded_and_everything_shows_it(workspace, place, call):
    create(workspace, call)
    done = protoyard.revise(workspace, call, "demo", "a", retitle("Second"))
    assert (done.revision, done.taken_up) == (2, False)
    assert (done.before["title"], done.after["title"]) == ("Tool library", "Second")
    revisions = manifest_of(place)["variants"][0]["revisions"]
    assert [(r["revision"], r["summary"]) for r in revisions] == [(1, "First draft."), (2, "Title: Second.")]
    assert revisions[1]["digest"] == protoyard.digest(done.after)
    assert titles(place) == ["Tool library", "Second"]
    assert (place / D / "a/index.html").read_text("utf-8") == page_of(done.after)
    assert manifest_of(place)["variants"][1]["revisions"][-1]["revision"] == 1
    assert_sound(workspace)


def test_an_undo_goes_back_as_a_new_revision_and_its_undo_redoes(workspace, place, call):
    create(workspace, call)
    protoyard.revise(workspace, call, "demo", "a", retitle("Second"))
    for _ in range(3):
        protoyard.revise(workspace, call, "demo", "a", undo(workspace))
    assert titles(place) == ["Tool library", "Second", "Tool library", "Second", "Tool library"]
    assert_sound(workspace)


def test_there_is_nothing_to_undo_in_a_first_draft(workspace, call):
    create(workspace, call)
    problem = failure(protoyard.revise, workspace, call, "demo", "a", undo(workspace))
    assert problem.code == "not_found"
    assert_sound(workspace)


def test_a_hand_edit_is_taken_up_first(workspace, place, call):
    create(workspace, call)
    edit(place, lambda value: value.update(title="By hand"))
    done = protoyard.revise(workspace, call, "demo", "a", retitle("Third"))
    assert (done.revision, done.taken_up, done.before["title"]) == (3, True, "By hand")
    assert titles(place) == ["Tool library", "By hand", "Third"]
    summaries = [r["summary"] for r in manifest_of(place)["variants"][0]["revisions"]]
    assert summaries == ["First draft.", "Edited by hand.", "Title: Third."]
    assert_sound(workspace)


def test_an_undo_takes_a_hand_edit_back(workspace, place, call):
    create(workspace, call)
    edit(place, lambda value: value.update(title="By hand"))
    protoyard.revise(workspace, call, "demo", "a", undo(workspace))
    assert titles(place) == ["Tool library", "By hand", "Tool library"]
    assert_sound(workspace)


def test_without_a_change_a_hand_edit_is_taken_up_and_all_is_rendered(workspace, place, call):
    create(workspace, call)
    edit(place, lambda value: value.update(title="By hand"))
    (place / D / "index.html").unlink()
    done = protoyard.revise(workspace, call, "demo", "a", None)
    assert (done.revision, done.taken_up) == (2, True)
    (place / D / "a/index.html").unlink()
    assert protoyard.revise(workspace, call, "demo", "a", None).revision == 2
    assert titles(place) == ["Tool library", "By hand"]
    assert_sound(workspace)


def test_a_change_that_changes_nothing_is_no_revision(workspace, place, call):
    create(workspace, call)
    assert protoyard.revise(workspace, call, "demo", "a", retitle("Tool library")).revision == 1
    assert titles(place) == ["Tool library"]


@pytest.mark.parametrize("edited", [False, True], ids=["as it was", "edited by hand"])
def test_base_names_the_current_revision_or_it_is_a_conflict(workspace, place, call, edited):
    create(workspace, call)
    protoyard.revise(workspace, call, "demo", "a", retitle("Second"), base=1)
    if edited:
        edit(place, lambda value: value.update(title="By hand"))
    before = tree(place)
    problem = failure(
        protoyard.revise, workspace, call, "demo", "a", retitle("Third"), base=2 if edited else 1
    )
    assert problem.code == "conflict"
    assert problem.message.endswith(" is 2, edited by hand since" if edited else " is 2")
    assert tree(place) == before


def test_nothing_is_written_when_the_change_fails_or_is_only_tried(workspace, place, call):
    create(workspace, call)
    edit(place, lambda value: value.update(title="By hand"))
    before = tree(place)

    def fail(variant: protoyard.Variant) -> tuple[dict, str]:
        raise Failure("invalid_patch", "no")

    assert failure(protoyard.revise, workspace, call, "demo", "a", fail).code == "invalid_patch"
    done = protoyard.revise(workspace, call, "demo", "a", retitle("Third"), dry_run=True)
    assert (done.revision, done.after["title"]) == (3, "Third")
    assert tree(place) == before
    edit(place, lambda value: value.update(seed=-1))
    before = tree(place)
    problem = failure(protoyard.revise, workspace, call, "demo", "a", retitle("Third"))
    assert problem.code == "invalid_blueprint" and "/seed" in problem.message
    assert failure(protoyard.revise, workspace, call, "demo", "f", retitle("Third")).code == "not_found"
    assert failure(protoyard.revise, workspace, call, "other", "a", retitle("Third")).code == "not_found"
    assert tree(place) == before


def test_damage_in_one_variant_does_not_stop_another(workspace, place, call):
    create(workspace, call)
    shutil.rmtree(place / D / "b")
    assert protoyard.revise(workspace, call, "demo", "a", retitle("Second")).revision == 2
    assert protoyard.read_variant(workspace, "demo", "a")["blueprint"]["title"] == "Second"


def test_a_revision_stopped_anywhere_is_whole_and_the_next_writer_finishes_it(tmp_path):
    """Whatever step a stop hits, manifest and history agree, and any later write brings all up to date."""
    ends, number = [], 0
    while "done" not in ends:
        number += 1
        place = tmp_path / str(number)
        place.mkdir()
        workspace, call = Workspace(str(place)), StopsAt()
        create(workspace, Call())
        edit(place, lambda value: value.update(title="By hand"))
        call.left = number
        try:
            protoyard.revise(workspace, call, "demo", "a", retitle("Third"))
            ends.append("done")
        except Stopped:
            ends.append(str(len(manifest_of(place)["variants"][0]["revisions"])))
        assert protoyard.verify(workspace, D)["valid"]
        create(workspace, Call(), slug="other")
        found = protoyard.verify(workspace, D)
        committed = ends[-1] != "1"
        assert found["valid"] and len(found["notes"]) == (0 if committed else 1), found
        assert titles(place) == (["Tool library", "By hand", "Third"] if committed else ["Tool library"])
        shown = protoyard.read_variant(workspace, "demo", "a")["blueprint"]["title"]
        assert shown == ("Third" if committed else "By hand")
    assert {"1", "3"} <= set(ends), "no stop came before, or none came after, the commit"


REVISING = FOREVER.replace(
    "    store_samples.create(workspace, call)",
    "    protoyard.revise(workspace, call, 'demo', 'ab'[_ % 2], store_samples.retitle(str(_)))",
)


def test_a_revision_killed_at_any_moment_is_rolled_forward_or_dropped(place, call):
    workspace, hits = Workspace(str(place)), []
    create(workspace, call)
    for number in kills(hits):
        with subprocess.Popen(
            [sys.executable, "-c", REVISING, str(place), "100000"], stdout=subprocess.PIPE
        ) as other:
            assert other.stdout.readline() == b"ready\n"
            time.sleep(0.01 + number % 10 * 0.007)
            os.kill(other.pid, signal.SIGKILL)
        found = protoyard.verify(workspace, D)
        hits += found["notes"]
        assert found["valid"], found
        create(workspace, call, slug="other")
        assert_sound(workspace)
        assert staged(place) == []


def test_two_processes_revise_at_once_and_no_revision_is_lost(workspace, place, call):
    create(workspace, call)
    command = [sys.executable, "-c", REVISING, str(place), "20"]
    both = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [one.wait(60) for one in both] == [0, 0]
    counts = [len(variant["revisions"]) for variant in manifest_of(place)["variants"]]
    assert sum(counts) <= 2 + 40 and min(counts) >= 11  # the same title twice in a row is no revision
    assert_sound(workspace)


def test_a_refresh_that_was_cut_off_is_noted_and_rolled_forward_by_the_next_revision(workspace, place, call):
    create(workspace, call)
    old = (place / D / "a/blueprint.json").read_bytes()
    protoyard.revise(workspace, call, "demo", "a", retitle("Second"))
    (place / D / "a/blueprint.json").write_bytes(old)
    found = protoyard.verify(workspace, D)
    assert found["valid"]
    assert found["notes"] == [f"{D}/a/blueprint.json is still revision 1 of 2; iterate refreshes it"]
    assert protoyard.read_variant(workspace, "demo", "a")["blueprint"]["title"] == "Second"
    done = protoyard.revise(workspace, call, "demo", "a", retitle("Third"))
    assert (done.before["title"], done.revision) == ("Second", 3)
    assert_sound(workspace)


def test_a_mark_of_what_is_gone_or_was_never_there_is_swept(workspace, place, call):
    create(workspace, call)
    for name in ("gone.a.revising", "demo.z.revising", "..a.revising", ".revising", "x.revising"):
        (place / ".protoyard/staging" / name).write_text("")
    create(workspace, call)
    assert staged(place) == []
    assert_sound(workspace)


def test_a_promotion_is_recorded(workspace, place, call):
    create(workspace, call)
    protoyard.record_promotion(workspace, call, "demo", {"variant": "a", "target": "apps/demo"})
    assert manifest_of(place)["promotions"] == [{"variant": "a", "target": "apps/demo"}]
    assert_sound(workspace)


def test_a_hand_edit_may_leave_values_out(workspace, place, call):
    def leave_out(value: dict) -> None:
        value["entities"][0]["records"] = [{"id": record["id"]} for record in value["entities"][0]["records"]]
        del value["entities"][1]["records"]

    create(workspace, call)
    edit(place, leave_out)
    found = protoyard.verify(workspace, D)
    assert found["valid"] and "edited by hand" in found["notes"][0]
    assert protoyard.read_prototype(workspace, "demo")["variants"][0]["edited"] is True
    done = protoyard.revise(workspace, call, "demo", "a", None)
    assert all(entity["records"] for entity in done.after["entities"])
    assert protoyard.read_variant(workspace, "demo", "a")["blueprint"] == done.after
    assert_sound(workspace)


def test_readers_see_no_half_of_a_revision(place, call):
    workspace = Workspace(str(place))
    create(workspace, call)
    stop = threading.Event()

    def work() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            protoyard.revise(workspace, Call(), "demo", "a", retitle(str(number)))
            time.sleep(0.2)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        for _ in range(60):
            shown = protoyard.read_variant(workspace, "demo", "a")
            assert "edited" not in shown
            assert shown["digest"] == protoyard.digest(shown["blueprint"])
            assert "edited" not in protoyard.read_prototype(workspace, "demo")["variants"][0]
            found = protoyard.verify(workspace, D)
            assert found["valid"], found["problems"]
            assert not any("by hand" in note for note in found["notes"])
    finally:
        stop.set()
        worker.join()
    assert_sound(workspace)


def test_a_file_in_the_place_of_all_prototypes_is_none(workspace, place, call):
    (place / "prototypes").write_text("mine")
    assert protoyard.read_list(workspace, limit=5) == {"prototypes": []}
    assert failure(create, workspace, call).code == "io_error"
    assert staged(place) == []


def test_half_a_surrogate_pair_in_a_file_breaks_nothing(workspace, place, call):
    create(workspace, call)
    half = json.dumps({"text": "\ud83d"})[10:-2]
    for file in ("prototype.json", "a/blueprint.json"):
        path = place / D / file
        path.write_text(path.read_text("utf-8").replace('"Tool library"', f'"{half}"'), "utf-8")
    assert protoyard.read_prototype(workspace, "demo")["variants"][0]["edited"] is True
    assert protoyard.revise(workspace, call, "demo", "a", None).revision == 2
    assert json.loads((place / D / "a/blueprint.json").read_text("utf-8"))["title"] == "\ufffd"
    create(workspace, call, slug="other")
    assert_sound(workspace)
