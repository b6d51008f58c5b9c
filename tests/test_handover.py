"""§13: the project's files, its schema.sql in a real SQLite, and both stacks in a real Chromium."""

from __future__ import annotations

import contextlib
import copy
import functools
import hashlib
import http.server
import json
import os
import re
import shutil
import sqlite3
import threading
from pathlib import Path

import pytest
from conftest import PYTHONS, ROOT, inherited_environment, run_cli, run_process
from page_samples import rich_blueprint
from samples import small_blueprint

from protoyard import (
    PAGE_JS_PARTS,
    check_blueprint,
    digest,
    draft_blueprints,
    fill_records,
    parse_json,
    render_page,
    render_project,
    render_sql,
)

try:
    from playwright.sync_api import sync_playwright
except ImportError:
    sync_playwright = None

CHROMIUM = next((path for name in ("chromium", "google-chrome") for path in [shutil.which(name)] if path), "")
NODE_MODULES = ROOT / ".ci" / "node_modules"
AXE = NODE_MODULES / "axe-core" / "axe.min.js"
HAS_BROWSER = bool(CHROMIUM) and sync_playwright is not None and AXE.exists()
needs_browser = pytest.mark.skipif(
    not HAS_BROWSER, reason="needs Chromium, playwright and `npm install` in .ci"
)
SAFE_STEPS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
STATIC_FILES = """
    README.md index.html styles.css blueprint.json schema.sql .gitignore .protoyard.json
    src/app.js src/data.js src/main.js src/files.js src/words.js src/icons.js
""".split()

BRIEFS = [
    "A fictional field service team schedules equipment inspections and tracks visits.",
    "A small library lends books to members. Members reserve books. No fines.",
    "Ward nurses request bed transfers and the bed manager approves them.",
    "Teams report hours per project; the office reviews invoices. Budget limit of 5000 EUR.",
    "مكتبة صغيرة تعير الكتب للأعضاء",
    "x",
]


def drafts():
    """A filled blueprint of each brief, and two that hold every type of field and of screen."""
    found = [fill_records(draft_blueprints(b, seed=5, variants=1).blueprints[0])[0] for b in BRIEFS]
    return [*found, rich_blueprint("c"), fill_records(small_blueprint())[0]]


DRAFTS = dict(zip([*BRIEFS, "all types of field", "a small one by hand"], drafts()))


def project(blueprint, stack="static", **more):
    source = {"slug": "demo", "variant": "a", "revision": 2, "digest": digest(blueprint), **more}
    return render_project(blueprint, stack=stack, source=source)


def write_tree(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
    return folder


# --- the files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DRAFTS)
def test_a_project_has_just_these_files_and_vite_one_more(name):
    blueprint = DRAFTS[name]
    wanted = {*STATIC_FILES, *(f"src/{part}.js" for part in PAGE_JS_PARTS)}
    wanted |= {f"data/{entity['id']}.json" for entity in blueprint["entities"]}
    static, vite = project(blueprint), project(blueprint, "vite")
    assert set(static) == wanted
    assert set(vite) == wanted | {"package.json"}
    differing = {path for path in static if static[path] != vite[path]}
    assert differing == {"README.md", "index.html", ".protoyard.json"}


@pytest.mark.parametrize("stack", ["static", "vite"])
def test_the_record_of_a_project_has_the_digest_of_every_other_file(stack):
    blueprint = DRAFTS[BRIEFS[0]]
    files = project(blueprint, stack)
    record = json.loads(files[".protoyard.json"])
    digests = {
        path: "sha256:" + hashlib.sha256(text.encode("utf-8")).hexdigest() for path, text in files.items()
    }
    del digests[".protoyard.json"]
    assert record["files"] == digests
    assert record["stack"] == stack
    assert record["source"] == {"slug": "demo", "variant": "a", "revision": 2, "digest": digest(blueprint)}
    assert digests["blueprint.json"] == digest(blueprint)


def test_the_records_are_there_once_an_entity_and_the_same_as_in_the_blueprint():
    blueprint = DRAFTS["all types of field"]
    files = project(blueprint)
    for entity in blueprint["entities"]:
        assert json.loads(files[f"data/{entity['id']}.json"]) == entity["records"]


def test_vite_is_all_that_a_project_depends_on_and_its_version_is_exact():
    package = json.loads(project(DRAFTS[BRIEFS[0]], "vite")["package.json"])
    assert set(package["scripts"]) == {"dev", "build", "preview"}
    assert [*package["devDependencies"]] == ["vite"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", package["devDependencies"]["vite"])
    assert "dependencies" not in package


# --- the modules ----------------------------------------------------------------------------------


def read_module(text):
    """A module's imports ({name: file}), its exports, and its text without import lines and comments."""
    imports = {}
    for names, file in re.findall(r'^import \{ (.*) \} from "\./(.*)";$', text, re.MULTILINE):
        imports.update(dict.fromkeys(names.split(", "), file))
    exports = re.findall(r"^export (?:async )?(?:function|const) (\w+)", text, re.MULTILINE)
    body = re.sub(r"^import .*|^ *//.*", "", text, flags=re.MULTILINE)
    return imports, exports, body


MODULES = {
    path[4:]: read_module(text)
    for path, text in project(DRAFTS[BRIEFS[0]]).items()
    if re.fullmatch(r"src/\w+\.js", path)
}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_what_it_uses_and_nothing_else(name):
    imports, _, body = MODULES[name]
    for imported, file in imports.items():
        assert imported in MODULES[file][1], f"{file} has no {imported}"
        assert re.search(rf"\b{imported}\b", body), f"{imported} is not used"
    everywhere = {one for _, given, _ in MODULES.values() for one in given}
    own = set(re.findall(r"(?:function|const) (\w+)", body))
    called = set(re.findall(r"(?:(?<![.\w])|(?<=\.\.\.))(\w+)\(", body)) & everywhere
    assert called - own - set(imports) == set()


def test_the_code_of_the_page_is_there_word_for_word():
    files = project(DRAFTS[BRIEFS[0]])
    for part, text in PAGE_JS_PARTS.items():
        module = files[f"src/{part}.js"]
        assert module.endswith(re.sub(r"^function ", "export function ", text, flags=re.M).strip("\n") + "\n")


HOSTILE = "<script>alert(1)</script> *A* & `B` $title [c](http://example.com) &lt; \ud800 'q' \"z\""


def test_no_text_of_a_blueprint_becomes_markup_or_code():
    blueprint = copy.deepcopy(DRAFTS["a small one by hand"])
    blueprint["title"] = blueprint["brief"] = blueprint["variant"]["question"] = HOSTILE
    blueprint["entities"][0]["label"] = blueprint["entities"][0]["records"][0]["name"] = HOSTILE
    blueprint["entities"][0]["fields"][1]["values"].append(HOSTILE)
    assert check_blueprint(blueprint) == []
    files = project(blueprint)
    for path, text in files.items():
        text.encode("utf-8")
        if path in ("index.html", "README.md") or path.startswith("src/"):
            assert "<script>alert" not in text, path
    assert r"\<script\>alert(1)\</script\> \*A\* & \`B\` \$title \[c\](http" in files["README.md"]
    assert load(files["schema.sql"]).execute('SELECT name FROM tool WHERE id = "tool-1"').fetchone()[
        0
    ] == HOSTILE.replace("\ud800", "\ufffd")


def test_names_of_devices_are_no_file_names():
    blueprint = copy.deepcopy(DRAFTS["a small one by hand"])
    text = json.dumps(blueprint).replace('"tool"', '"con"')
    files = project(parse_json(text))
    assert "data/con_.json" in files
    assert '["con", new URL("../data/con_.json", import.meta.url)]' in files["src/files.js"]


def test_every_python_makes_the_same_project(tmp_path):
    trees = []
    for number, python in enumerate(PYTHONS):
        folder = tmp_path / str(number)
        folder.mkdir()
        made = run_cli("quick", BRIEFS[0], "--slug=demo", "--variants=1", cwd=folder, python=python)
        assert made.status == 0, made.err
        assert run_cli("promote", "demo", cwd=folder, python=python).status == 0
        app = folder / "apps" / "demo"
        trees.append({str(p.relative_to(app)): p.read_bytes() for p in app.rglob("*") if p.is_file()})
    assert trees[0] == trees[-1]
    assert len(trees[0]) > len(STATIC_FILES)


# --- schema.sql -----------------------------------------------------------------------------------


def load(script):
    """The script in a database whose foreign keys are checked."""
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.execute("PRAGMA foreign_keys = ON")
    database.executescript(script)
    return database


def stored(value):
    """A blueprint's value as SQLite gives it back."""
    if value in ("", [], None):
        return None
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) if isinstance(value, list) else value


@pytest.mark.parametrize("name", DRAFTS)
def test_the_script_loads_with_every_row_and_value(name):
    blueprint = DRAFTS[name]
    database = load(render_sql(blueprint))
    assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert database.execute("PRAGMA foreign_key_check").fetchall() == []
    tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert tables == {entity["id"] for entity in blueprint["entities"]}
    for entity in blueprint["entities"]:
        names = ["id", *(field["id"] for field in entity["fields"])]
        columns = ", ".join(f'"{column}"' for column in names)
        rows = database.execute(f'SELECT {columns} FROM "{entity["id"]}" ORDER BY rowid').fetchall()
        assert rows == [tuple(stored(r.get(column)) for column in names) for r in entity["records"]]


# Changes of the row inspection-1, as SQL: each is refused by the constraint that the id speaks of.
BAD_ROWS = {
    "an unknown status": "status = 'lost'",
    "an unknown choice": "priority = 'high'",
    "a status in other letters": "status = 'Done'",
    "no title, which is required": "title = NULL",
    "no reference, which is required": "site = NULL",
    "a reference to nobody": "site = 'site-99'",
    "a date that does not exist": "due = '2026-02-30'",
    "a date that is a word": "due = 'soon'",
    "a date with a time": "due = '2026-06-15T10:00'",
    "a time without minutes": "starts = '2026-06-15'",
    "a time that does not exist": "starts = '2026-06-15T25:00'",
    "text for money": "cost = 'much'",
    "less than the least": "cost = -1",
    "more than the most": "progress = 101",
    "tags that are no list": "labels = 'crane'",
    "an id that is taken": "id = 'inspection-2'",
    "no id": "id = NULL",
}


@pytest.mark.parametrize("change", BAD_ROWS.values(), ids=BAD_ROWS)
def test_a_bad_row_is_refused(change):
    database = load(render_sql(DRAFTS["all types of field"]))
    with pytest.raises(sqlite3.IntegrityError):
        database.execute(f"UPDATE inspection SET {change} WHERE id = 'inspection-1'")


GOOD_ROWS = {
    "nothing where nothing is required": "starts = NULL, cost = NULL, labels = NULL, status = NULL",
    "the limits themselves": "cost = 5000, progress = 0, crew = 8",
    "a leap day": "due = '2028-02-29'",
    "an empty list": "labels = '[]'",
}


@pytest.mark.parametrize("change", GOOD_ROWS.values(), ids=GOOD_ROWS)
def test_a_good_row_is_taken(change):
    database = load(render_sql(DRAFTS["all types of field"]))
    assert database.execute(f"UPDATE inspection SET {change} WHERE id = 'inspection-1'").rowcount == 1


def test_ratings_booleans_and_references_are_checked_too():
    database = load(render_sql(DRAFTS["all types of field"]))
    for statement in (
        "UPDATE site SET rating = 6",
        "UPDATE site SET rating = 2.5",
        "UPDATE site SET indoor = 2",
        "DELETE FROM site WHERE id = 'site-1'",
        "INSERT INTO message (id, subject, inspection) VALUES ('m', 's', 'nothing')",
    ):
        with pytest.raises(sqlite3.IntegrityError):
            database.execute(statement)


def entity(name, *fields, records):
    label = {"id": "label", "label": "Label", "type": "text"}
    return {"id": name, "label": name, "plural": name, "fields": [label, *fields], "display": "label",
            "records": records}  # fmt: skip


def ref(name, target, **more):
    return {"id": name, "label": name, "type": "ref", "entity": target, **more}


def with_entities(*entities):
    return {**small_blueprint(), "entities": list(entities)}


ODD_ENTITIES = {
    "two that refer to each other": [
        entity("team", ref("lead", "member", required=True), records=[{"id": "t", "lead": "m"}]),
        entity("member", ref("team", "team", required=True), records=[{"id": "m", "team": "t"}]),
    ],
    "one that refers to itself, and later rows first": [
        entity("task", ref("parent", "task"), records=[{"id": "a", "parent": "b"}, {"id": "b"}]),
    ],
    "those that are referred to come last": [
        entity("z", ref("y", "y"), records=[{"id": "z", "y": "y"}]),
        entity("y", ref("x", "x"), records=[{"id": "y", "x": "x"}]),
        entity("x", records=[{"id": "x"}]),
    ],
    "words of SQL as names": [
        entity("order", ref("group", "select"), records=[{"id": "o", "group": "s"}]),
        entity("select", {"id": "where", "label": "w", "type": "number", "default": -5},
               records=[{"id": "s"}]),
    ],
    "names that SQLite keeps for itself, and its columns": [
        entity("sqlite_master", {"id": "rowid", "label": "r", "type": "text"}, records=[{"id": "s"}]),
    ],
    "no rows at all": [entity("nothing", records=[])],
    "required values that rows lack": [
        entity("gap", {"id": "need", "label": "n", "type": "number", "required": True, "min": 5},
               records=[{"id": "a"}, {"id": "b", "need": 3}]),
    ],
    "text with quotes, lines, a NUL and a picture": [
        entity("quote", {"id": "kind", "label": "k", "type": "choice", "values": ["it's", "a\0b"],
                         "default": "a\0b"},
               records=[{"id": "a", "label": "'; DROP TABLE quote; --\n\r\0\u2028 😀 \\", "kind": "a\0b"}]),
    ],
    "very large and very small numbers": [
        entity("figure", {"id": "n", "label": "n", "type": "number", "default": 0.5},
               records=[{"id": "a", "n": 1e30}, {"id": "b", "n": 1e-300}, {"id": "c", "n": -(2**62)}]),
    ],
    "a default of each kind": [
        entity("preset", {"id": "on", "label": "o", "type": "boolean", "default": False},
               {"id": "marks", "label": "m", "type": "tags", "default": ["a", "b"]},
               {"id": "day", "label": "d", "type": "date", "default": "2026-01-31"}, records=[{"id": "p"}]),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", ODD_ENTITIES)
def test_a_blueprint_loads_whatever_its_entities_are_like(name):
    entities = ODD_ENTITIES[name]
    database = load(render_sql(with_entities(*entities)))
    assert database.execute("PRAGMA foreign_key_check").fetchall() == []
    for one in entities:
        table = one["id"].replace("sqlite_", "_sqlite_")
        columns = ", ".join(f'"{field["id"]}"' for field in one["fields"])
        rows = database.execute(f'SELECT {columns} FROM "{table}"').fetchall()
        assert rows == [tuple(stored(r.get(f["id"])) for f in one["fields"]) for r in one["records"]]


def test_a_circle_of_references_is_checked_at_the_end_and_the_others_at_once():
    database = load(render_sql(with_entities(*ODD_ENTITIES["two that refer to each other"])))
    database.execute("BEGIN")
    database.execute("INSERT INTO team (id, lead) VALUES ('t2', 'm2')")
    with pytest.raises(sqlite3.IntegrityError):
        database.execute("INSERT INTO member (id, team) VALUES ('m2', 'nobody')")
    database.execute("INSERT INTO member (id, team) VALUES ('m2', 't2')")
    database.execute("COMMIT")
    with pytest.raises(sqlite3.IntegrityError):
        database.execute("INSERT INTO team (id, lead) VALUES ('t3', 'nobody')")


def test_the_command_line_of_sqlite_loads_it_as_well(tmp_path):
    shell = shutil.which("sqlite3")
    if shell is None:
        assert sqlite3.complete_statement(render_sql(DRAFTS[BRIEFS[0]]))
        return
    script = render_sql(DRAFTS["all types of field"]).encode("utf-8")
    loaded = run_process([shell, tmp_path / "app.db"], stdin=script)
    assert (loaded.status, loaded.err) == (0, "")
    count = run_process([shell, tmp_path / "app.db", "SELECT count(*) FROM inspection"])
    assert count.out.strip() == "48"


# --- in a browser ---------------------------------------------------------------------------------


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        """Nothing: the tests look at the browser's side."""


@contextlib.contextmanager
def served(folder):
    """The address of a folder that Python's own web server serves."""
    handler = functools.partial(QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def chromium():
    """One browser for all tests of this file."""
    with sync_playwright() as playwright:
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium):
    """A page in a profile of its own; what its console says is in `page.said`."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    opened = context.new_page()
    opened.said = []
    opened.on("console", lambda message: opened.said.append(message.text))
    opened.on("pageerror", lambda error: opened.said.append(str(error)))
    opened.on("requestfailed", lambda request: opened.said.append(request.url))
    yield opened
    context.close()


def open_screen(page, address, screen):
    page.goto(f"{address}#/{screen}")
    page.locator("html[data-ready]").wait_for()
    page.wait_for_function("screen => location.hash === '#/' + screen", arg=screen)
    page.locator(f"main .screen-{KINDS[screen]}").wait_for()


RICH = DRAFTS["all types of field"]
KINDS = {screen["id"]: screen["type"] for screen in RICH["screens"]}


def check_axe(page):
    rules = {"runOnly": SAFE_STEPS, "rules": {"target-size": {"enabled": True}}}
    found = page.evaluate("options => axe.run(options)", rules)
    assert [(one["id"], one["nodes"][0]["target"]) for one in found["violations"]] == []


def check_screens(page, address, prototype, mode):
    """Every screen says the same as the prototype's; axe finds nothing; the console is silent."""
    page.emulate_media(color_scheme=mode, reduced_motion="reduce")
    shown = {}
    for start in (prototype, address):
        for screen in KINDS:
            open_screen(page, start, screen)
            shown.setdefault(screen, []).append((page.title(), page.locator("body").inner_text()))
            if start == address:
                page.evaluate(AXE.read_text("utf-8"))  # past the policy, which lets no foreign script in
                check_axe(page)
    assert {screen: texts for screen, texts in shown.items() if texts[0] != texts[1]} == {}
    assert page.said == []


@needs_browser
def test_the_static_project_has_the_screens_of_the_prototype(page, tmp_path):
    prototype = tmp_path / "prototype.html"
    prototype.write_text(render_page(RICH), "utf-8")
    folder = write_tree(tmp_path / "app", project(RICH))
    with served(folder) as address:
        check_screens(page, address, prototype.as_uri(), "light")


@needs_browser
@pytest.mark.parametrize("brief", [BRIEFS[2], BRIEFS[4]], ids=["from left to right", "from right to left"])
def test_the_project_of_a_draft_starts_and_says_nothing(page, brief, tmp_path):
    folder = write_tree(tmp_path, project(DRAFTS[brief]))
    with served(folder) as address:
        page.goto(address)
        page.locator("html[data-ready]").wait_for()
        assert page.locator("#start-notice").count() == 0
        assert page.locator("html").get_attribute("dir") == DRAFTS[brief]["dir"]
        for screen in DRAFTS[brief]["screens"]:
            page.goto(f"{address}#/{screen['id']}")
            page.locator(f"main .screen-{screen['type']}").wait_for()
        page.evaluate(AXE.read_text("utf-8"))
        check_axe(page)
    assert page.said == []


@needs_browser
def test_what_is_changed_on_a_screen_goes_through_the_data_and_stays_until_reset(page, tmp_path):
    folder = write_tree(tmp_path, project(RICH))
    names = "async () => (await (await import('/src/data.js')).list('site')).map((one) => one.name)"
    with served(folder) as address:
        open_screen(page, address, "site_form")
        page.locator("#field-name").fill("New Pier")
        for _ in range(4):  # three steps and the review
            page.locator("[data-key=submit]").click()
        page.locator(".toast").wait_for()
        before = page.evaluate(names)
        assert before[0] == "New Pier" and len(before) == 8
        page.reload()
        page.locator("html[data-ready]").wait_for()
        assert page.evaluate(names) == before
        with page.expect_event("load"):
            page.get_by_role("button", name="Reset").click()
        page.locator("html[data-ready]").wait_for()
        assert len(page.evaluate(names)) == 7
    assert page.said == []


@needs_browser
def test_the_data_are_four_functions(page, tmp_path):
    folder = write_tree(tmp_path, project(RICH))
    script = """async () => {
      const { list, get, save, remove } = await import("/src/data.js");
      const first = await get("site", "site-1");
      const steps = [(await list("site")).length, first.name];
      await save("site", { ...first, name: "Other" });
      await save("site", { id: "site-new", name: "New" });
      await remove("site", "site-2");
      steps.push((await list("site")).map((one) => one.id), (await get("site", "site-1")).name);
      steps.push(await get("site", "site-2"), (await get("site", "site-new")).name);
      steps.push(await list("nothing").catch((error) => error.message));
      return steps;
    }"""
    with served(folder) as address:
        page.goto(address)
        page.locator("html[data-ready]").wait_for()
        steps = page.evaluate(script)
    ids = ["site-new", "site-1", *(f"site-{number}" for number in range(3, 8))]
    assert steps == [7, "North Quay", ids, "Other", None, "New", "there is no entity nothing"]


@needs_browser
def test_a_back_end_that_refuses_is_told_to_the_user(page, tmp_path):
    files = project(RICH)
    keep = "export async function save(entity, record) {\n"
    assert keep in files["src/data.js"]
    files["src/data.js"] = files["src/data.js"].replace(keep, keep + '  throw new Error("full");\n')
    with served(write_tree(tmp_path, files)) as address:
        open_screen(page, address, "inspection_board")
        page.locator("[data-key^=move-]").first.click()
        page.get_by_role("menuitemradio", checked=False).first.click()
        page.locator(".toast", has_text="It could not be saved").wait_for()


@needs_browser
def test_from_disk_the_page_says_how_to_start_it(page, tmp_path):
    for stack, command in (("static", "python3 -m http.server"), ("vite", "pnpm dev")):
        folder = write_tree(tmp_path / stack, project(RICH, stack))
        page.goto((folder / "index.html").as_uri())
        notice = page.locator("#start-notice")
        notice.wait_for()
        assert command in notice.inner_text()
        assert page.locator("h1").inner_text() == RICH["title"]
        page.evaluate(AXE.read_text("utf-8"))
        check_axe(page)


@needs_browser
def test_without_its_data_the_page_says_what_is_missing(page, tmp_path):
    folder = write_tree(tmp_path, project(RICH))
    (folder / "data" / "site.json").unlink()
    with served(folder) as address:
        page.goto(address)
        page.get_by_text("could not start: data of site: status 404").wait_for()


def pnpm_environment():
    return inherited_environment(PATH=f"{NODE_MODULES / '.bin'}{os.pathsep}{os.environ['PATH']}")


def is_registry_there():
    done = run_process(
        ["npm", "view", "vite", "version"], env=inherited_environment(npm_config_fetch_retries="0")
    )
    return done.status == 0


@needs_browser
@pytest.mark.skipif(not (NODE_MODULES / ".bin" / "pnpm").exists(), reason="needs pnpm: `npm install` in .ci")
def test_the_vite_project_is_installed_built_and_has_the_screens_of_the_prototype(page, tmp_path):
    if not is_registry_there():
        pytest.skip("needs the package registry")
    made = run_cli("quick", BRIEFS[0], "--slug=demo", "--variants=1", cwd=tmp_path)
    assert made.status == 0, made.err
    folder = tmp_path / "prototypes" / "demo" / "a"
    (folder / "blueprint.json").write_text(json.dumps(RICH), "utf-8")
    env = pnpm_environment()
    done = run_cli("promote", "demo", "--stack=vite", "--install", "--json", cwd=tmp_path, env=env)
    assert done.envelope["ok"], done.envelope
    assert done.envelope["data"]["installed"] is True
    app = tmp_path / "apps" / "demo"
    built = run_process(["sh", "-c", "pnpm build"], cwd=app, env=env)
    assert built.status == 0, built.out + built.err
    prototype = tmp_path / "prototype.html"
    prototype.write_text(render_page(parse_json((app / "blueprint.json").read_bytes())), "utf-8")
    with served(Path(app, "dist")) as address:
        check_screens(page, address, prototype.as_uri(), "dark")
