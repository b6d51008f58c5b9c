"""§11 in a real Chromium: as a person uses it, as axe reads it, as an attacker fills it."""

from __future__ import annotations

import itertools
import pathlib
from collections.abc import Iterator
from typing import Any

import page_samples
import pytest
from browser_helpers import ARGUMENTS, FULL, Tab, find_axe, find_browser, screen_ids, write_page

import protoyard

playwright_api = pytest.importorskip("playwright.sync_api", reason="playwright is in the interop group")
BROWSER = find_browser()
pytestmark = pytest.mark.skipif(not BROWSER, reason="no Chromium is installed")

LETTERS = page_samples.LETTERS
SCREENS = screen_ids()
HOSTILE = '</script><img src=x onerror="document.title=1"><b>{{7*7}}</b> javascript:alert(1) \u202e'


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with playwright_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pathlib.Path]:
    folder = tmp_path_factory.mktemp("pages")
    written = {letter: write_page(folder, page_samples.rich_blueprint(letter), letter) for letter in LETTERS}
    written["rtl"] = write_page(folder, page_samples.rich_blueprint("a", rtl=True, lang="ar"), "rtl")
    return written


@pytest.fixture
def visit(chromium: Any, pages: dict[str, pathlib.Path]) -> Iterator[Any]:
    """Opens a page in a context of its own; at the end nothing may have been said or asked for."""
    opened: list[tuple[Any, Tab]] = []

    def open_page(
        which: Any = "a", fragment: str = "", *, width: int = 1280, height: int = 900, **options: Any
    ) -> Tab:
        context = chromium.new_context(viewport={"width": width, "height": height}, **options)
        tab = Tab(context, pages.get(which, which))
        opened.append((context, tab))
        return tab.open(fragment)

    yield open_page
    for context, tab in opened:
        noise = tab.noise
        context.close()
        assert noise == []


@pytest.fixture(scope="module")
def axe() -> str:
    path = find_axe()
    if path is None:
        pytest.skip("axe-core is not installed")
    return path.read_text("utf-8")


# --- every screen: it draws, it is quiet, axe is content, nothing scrolls sideways


def axe_cases() -> list[tuple[str, str, int]]:
    """All combinations behind the switch; else every variant and screen once, modes and widths in turn."""
    modes, widths = ("light", "dark"), (1280, 390, 768, 320)
    if FULL:
        return list(itertools.product(LETTERS, modes, widths))
    return [(letter, modes[n % 2], widths[n % 4]) for n, letter in enumerate(LETTERS)]


@pytest.mark.parametrize(("letter", "mode", "width"), axe_cases(), ids=lambda value: str(value))
def test_axe_finds_nothing_on_any_screen(visit, axe, letter, mode, width):
    tab = visit(letter, width=width)
    found = []
    for screen in SCREENS:
        tab.go(f"#/{screen}?mode={mode}")
        assert tab.heading()
        found += [f"{screen}: {problem}" for problem in tab.axe(axe)]
        assert tab.overflow() <= 0, screen
    assert found == []


@pytest.mark.parametrize("state", ["empty", "loading", "error", "many"])
def test_every_state_of_every_screen_is_drawn_and_axe_is_content(visit, axe, state):
    tab = visit("a")
    found = []
    for screen in SCREENS:
        tab.go(f"#/{screen}?state={state}")
        assert tab.heading()
        found += [f"{screen}: {problem}" for problem in tab.axe(axe)]
    assert found == []


@pytest.mark.parametrize("width", [320, 390, 768, 1024, 1280, 1920, 2560])
def test_no_screen_scrolls_sideways_at_any_width(visit, width):
    for letter in LETTERS if FULL else "abd":
        tab = visit(letter, width=width)
        assert [screen for screen in SCREENS if tab.go(f"#/{screen}").overflow() > 0] == [], letter


def test_right_to_left_is_turned_around_and_as_sound(visit, axe):
    tab = visit("rtl")
    bar = tab.page.locator("header.top").bounding_box()
    assert bar["x"] > 600
    for screen in SCREENS:
        tab.go(f"#/{screen}")
        assert tab.axe(axe) == []
        assert tab.overflow() <= 0, screen


def test_open_panels_dialogs_and_menus_are_sound_too(visit, axe):
    tab = visit("b", "#/inspections?open=inspection/inspection-3")
    assert tab.page.locator("aside.side h2").first.inner_text().startswith("Brake pads")
    assert tab.axe(axe) == []
    tab.go("#/inspections?edit=inspection/inspection-3")
    assert tab.page.locator("dialog[open] h2").is_visible()
    assert tab.axe(axe) == []
    tab.go("#/inspections")
    tab.page.locator("tbody tr").first.get_by_role("button").click()
    assert tab.page.get_by_role("menu").is_visible()
    assert tab.axe(axe) == []


@pytest.mark.parametrize("letter", LETTERS)
def test_a_brief_becomes_a_page_that_draws_every_screen(visit, tmp_path, letter):
    brief = "A clinic books appointments for patients and tracks invoices. Nurses answer messages."
    drafts = protoyard.draft_blueprints(brief, seed=7, variants=len(LETTERS)).blueprints
    blueprint, _ = protoyard.fill_records(drafts[LETTERS.index(letter)])
    tab = visit(write_page(tmp_path, blueprint))
    for screen in blueprint["screens"]:
        tab.go(f"#/{screen['id']}")
        assert tab.heading()
        assert tab.overflow() <= 0, screen["id"]


# --- as a person uses it


def test_a_record_is_entered_wrongly_then_rightly_and_then_found(visit):
    tab = visit("a", "#/inspections")
    tab.link("New inspection").click()
    tab.wait_for_hash("inspection_form")
    tab.button("Create inspection").click()
    summary = tab.page.locator(".error-summary")
    assert summary.evaluate("node => node === document.activeElement")
    assert summary.get_by_role("link").all_inner_texts() == [
        "Title is missing",
        "Site is missing",
        "Due is missing",
    ]
    summary.get_by_role("link", name="Site is missing").click()
    assert tab.page.evaluate("document.activeElement.id") == "field-site"
    tab.page.get_by_label("Title").fill("Crane with <b>rust</b>")
    tab.page.get_by_label("Site").select_option("site-4")
    tab.page.get_by_label("Due").fill("2026-06-17")
    tab.page.get_by_label("Cost").fill("99999")
    tab.button("Create inspection").click()
    assert "Cost must be at most" in summary.inner_text()
    tab.page.get_by_label("Cost").fill("1,250.50")
    tab.button("Create inspection").click()
    tab.wait_for_hash("inspection_detail")
    assert tab.heading() == "Crane with <b>rust</b>"
    assert tab.page.evaluate("document.activeElement.tagName") == "H1"
    assert tab.toast() == "Crane with <b>rust</b> created"
    assert "€1,250.50" in tab.page.locator("main").inner_text()
    tab.go("#/inspections")
    tab.page.get_by_role("searchbox").fill("rust")
    assert tab.page.locator("tbody tr").count() == 1
    assert tab.page.locator("main .note").inner_text() == "1 of 49 inspections"


def test_a_draft_is_still_there_after_leaving_and_gone_after_cancelling(visit):
    tab = visit("a", "#/site_form?part=0")
    tab.page.get_by_label("Name").fill("Half a name")
    tab.go("#/home").go("#/site_form")
    assert tab.page.get_by_label("Name").input_value() == "Half a name"
    tab.button("Cancel").click()
    tab.go("#/site_form")
    assert tab.page.get_by_label("Name").input_value() == ""


def test_a_guided_form_goes_step_by_step_to_a_review(visit):
    tab = visit("a", "#/site_form")
    tab.button("Continue").click()
    assert "Name is missing" in tab.page.locator(".error-summary").inner_text()
    tab.page.get_by_label("Name").fill("New Quay")
    tab.button("Continue").click()
    tab.page.get_by_label("E-mail").fill("no address")
    tab.button("Continue").click()
    assert "must look like" in tab.page.locator(".error-summary").inner_text()
    tab.page.get_by_label("E-mail").fill("quay@example.com")
    tab.button("Continue").click()
    tab.page.get_by_label("4").check()
    tab.button("Continue").click()
    assert tab.page.locator("#step").inner_text() == "Check and send"
    tab.button("Change name").click()
    tab.page.get_by_label("Name").fill("Newer Quay")
    for _ in range(3):
        tab.button("Continue").click()
    tab.button("Create site").click()
    tab.wait_for_hash("site_detail")
    assert tab.heading() == "Newer Quay"


def test_a_failing_server_keeps_what_was_entered(visit):
    tab = visit("a", "#/message_form?state=error")
    tab.page.get_by_label("Subject").fill("Kept")
    tab.button("Create message").click()
    assert "could not be saved" in tab.page.locator(".error-summary").inner_text()
    assert tab.page.get_by_label("Subject").input_value() == "Kept"


def test_an_edit_and_a_deletion_can_be_undone(visit):
    tab = visit("a", "#/inspection_detail/inspection-1")
    tab.link("Edit").click()
    tab.page.get_by_label("Title").fill("Another title")
    tab.button("Save inspection").click()
    tab.page.wait_for_function("() => document.querySelector('h1').textContent === 'Another title'")
    tab.page.locator(".toast").get_by_role("button", name="Undo").click()
    assert tab.heading() == "Worn hoist rope at North Quay"
    tab.button("Actions for Worn").click()
    tab.page.get_by_role("menuitem", name="Delete").click()
    tab.wait_for_hash("#/inspections")
    assert tab.page.locator("main .note").inner_text() == "47 inspections"
    tab.page.locator(".toast").get_by_role("button", name="Undo").click()
    assert tab.page.locator("main .note").inner_text() == "48 inspections"


def test_the_tiles_of_a_dashboard_equal_the_lists_that_they_lead_to(visit):
    tab = visit("a")
    for place in range(3):
        tile = tab.page.locator(".tile").nth(place)
        number = tile.locator("b").inner_text()
        tile.click()
        tab.wait_for_hash("#/inspections")
        assert tab.page.locator("main .note").inner_text().split()[0] == number
        tab.page.go_back()
        tab.page.wait_for_selector(".tile")


def test_a_list_is_filtered_sorted_and_paged(visit):
    tab = visit("a", "#/inspections")
    tab.page.locator("summary", has_text="Status").click()
    tab.page.get_by_label("Done", exact=True).check()
    tab.page.get_by_label("Cancelled", exact=True).check()
    assert tab.page.locator("main .note").inner_text() == "20 of 48 inspections"
    tab.wait_for_hash("f.status=done&f.status=cancelled")
    tab.page.keyboard.press("Escape")
    due = tab.page.get_by_role("columnheader", name="Due")
    due.get_by_role("button").click()
    assert due.get_attribute("aria-sort") == "ascending"
    days = tab.page.locator("tbody time").evaluate_all("all => all.map(one => one.dateTime)")
    assert days == sorted(days)
    due.get_by_role("button").press("Enter")
    assert due.get_attribute("aria-sort") == "descending"
    tab.go("#/inspections")
    tab.button("Next").click()
    assert "21–40 of 48" in tab.page.locator(".pager").inner_text()
    tab.page.get_by_role("searchbox").fill("no such thing")
    assert "Nothing matches" in tab.page.locator("main").inner_text()
    tab.button("Clear search and filters").click()
    assert tab.page.locator("main .note").inner_text() == "48 inspections"


def test_a_card_of_a_board_is_moved_by_keyboard_alone(visit):
    tab = visit("a", "#/inspection_board")
    card = tab.page.locator(".column").nth(0).locator(".ticket").first
    title = card.locator("h3").inner_text()
    card.get_by_role("button").focus()
    tab.page.keyboard.press("Enter")
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("Enter")
    done = tab.page.locator(".column", has_text="Done")
    assert title in done.inner_text()
    assert tab.page.evaluate("document.activeElement.getAttribute('aria-label')") == f"Move {title}"
    tab.page.wait_for_function(
        "() => document.querySelector('body > .sr-only[role=status]').textContent.includes('moved to Done')"
    )
    tab.page.keyboard.press("Enter")
    tab.page.keyboard.press("Escape")
    assert tab.page.get_by_role("menu").count() == 0


def test_a_card_is_moved_by_dragging(visit):
    tab = visit("a", "#/inspection_board")
    card = tab.page.locator(".column").nth(0).locator(".ticket").first
    title = card.locator("h3").inner_text()
    card.drag_to(tab.page.locator(".column").nth(1), target_position={"x": 60, "y": 20})
    assert title in tab.page.locator(".column").nth(1).inner_text()


def test_a_calendar_is_turned_and_a_record_is_moved_to_another_day(visit):
    tab = visit("a", "#/plan")
    assert tab.page.locator("#range").inner_text() == "June 2026"
    tab.button("Later").click()
    assert tab.page.locator("#range").inner_text() == "July 2026"
    tab.button("Today").click()
    event = (
        tab.page.locator(".day", has=tab.page.locator("time[datetime='2026-06-15']")).locator(".event").first
    )
    key = event.get_attribute("data-key")
    event.drag_to(tab.page.locator(".day", has=tab.page.locator("time[datetime='2026-06-19']")))
    day = tab.page.locator(".day", has=tab.page.locator(f"[data-key='{key}']"))
    assert day.locator("time").get_attribute("datetime") == "2026-06-19"
    tab.page.get_by_label("Week").check()
    assert tab.page.locator(".month td").count() == 7
    tab.page.get_by_label("Agenda").check()
    assert tab.page.locator("main section").count() > 10


def test_a_message_is_read_and_counted_and_can_be_unread_again(visit):
    tab = visit("a", "#/desk")
    unread = tab.page.locator(".unread")
    before = unread.count()
    subject = unread.first.locator("strong").inner_text()
    unread.first.click()
    tab.page.wait_for_function("count => document.querySelectorAll('.unread').length < count", arg=before)
    assert tab.page.locator("#quick-title").inner_text() == subject
    assert tab.page.evaluate("document.activeElement.id") == "quick-title"
    tab.button("Mark as unread").click()
    tab.page.wait_for_function("count => document.querySelectorAll('.unread').length === count", arg=before)


def test_a_report_is_regrouped_and_exported(visit):
    tab = visit("a", "#/figures")
    assert tab.page.locator("tfoot td").first.inner_text() == "48"
    tab.page.get_by_label("Group by").select_option("priority")
    assert tab.page.locator("tbody th").all_inner_texts() == ["Low", "Normal", "Urgent"]
    tab.page.get_by_label("Measure").select_option("-")
    assert tab.page.locator("tbody td").nth(0).inner_text() == "16"
    tab.page.get_by_label("Over time").check()
    assert tab.page.locator(".trend svg").is_visible()
    with tab.page.expect_download() as download:
        tab.button("Export CSV").click()
    text = pathlib.Path(download.value.path()).read_text("utf-8-sig")
    assert text.splitlines()[0] == '"Month","Count","Share"'


def test_a_changed_threshold_changes_what_is_marked(visit):
    tab = visit("a", "#/options")
    assert "Marks 7 records" in tab.page.locator("main").inner_text()
    tab.page.get_by_label("Cost limit").fill("100")
    tab.page.keyboard.press("Tab")
    assert "Marks 48 records" in tab.page.locator("main").inner_text()
    assert "It was €2,000.00" in tab.page.locator("main").inner_text()
    tab.page.get_by_role("switch").uncheck()
    tab.page.locator(".toast").get_by_role("button", name="Undo").click()
    assert tab.page.get_by_role("switch").is_checked()


@pytest.mark.parametrize(
    ("letter", "where"), [("a", "#/inspection_detail"), ("b", "open=inspection"), ("c", "open=")]
)
def test_a_record_opens_as_the_variant_wants_it(visit, letter, where):
    tab = visit(letter, "#/inspections")
    tab.page.locator("tbody a.title").first.click()
    tab.wait_for_hash(where)
    shown = {"a": "h1", "b": "aside.side h2", "c": "dialog[open] h2"}[letter]
    assert tab.page.locator(shown).first.inner_text().startswith("Worn hoist rope")
    if letter != "a":
        assert tab.page.evaluate("document.activeElement.id") == "quick-title"
        tab.page.keyboard.press("Escape")
        tab.page.wait_for_function("() => !location.hash.includes('open=')")
        assert tab.page.evaluate("document.activeElement.dataset.key") == "open-inspection-1"


def test_an_entry_in_a_dialog_is_saved_and_leads_back(visit):
    tab = visit("b", "#/inspections")
    tab.link("New inspection").click()
    dialog = tab.page.locator("dialog[open]")
    dialog.get_by_label("Title").fill("From a dialog")
    dialog.get_by_label("Site").select_option("site-1")
    dialog.get_by_label("Due").fill("2026-06-20")
    dialog.get_by_role("button", name="Create inspection").click()
    tab.page.wait_for_selector("dialog", state="hidden")
    assert tab.page.locator("tbody th").first.inner_text() == "From a dialog"


# --- as a reviewer uses it


def test_a_role_sees_its_own_menu_and_only_what_it_may_do(visit):
    tab = visit("a", "#/figures")
    tab.choose("role", "inspector")
    tab.wait_for_hash("role=inspector")
    assert tab.page.locator("header nav a").all_inner_texts()[:2] == ["Overview", "Inspections"]
    assert "Report" not in tab.page.locator("header nav").inner_text()
    assert tab.page.get_by_text("New inspection").count() == 0
    tab.go("#/inspections?role=inspector")
    tab.page.locator("tbody tr").first.get_by_role("button").click()
    items = tab.page.get_by_role("menuitem").all_inner_texts()
    assert "Edit" in items
    assert "Delete" not in items
    tab.go("#/figures?role=inspector")
    assert "Not for this role" in tab.page.locator("main").inner_text()


def test_a_role_without_rights_can_only_look(visit):
    tab = visit("a", "#/inspection_board?role=guest")
    assert tab.page.locator(".ticket button").count() == 0
    tab.go("#/inspection_detail/inspection-1?role=guest")
    assert tab.button("Edit").count() + tab.link("Edit").count() + tab.button("Mark as").count() == 0
    tab.go("#/options?role=guest")
    assert tab.page.get_by_label("Cost limit").is_disabled()


def test_states_are_switched_and_tried_again(visit):
    tab = visit("a", "#/inspections")
    tab.choose("state", "empty")
    assert "No inspections yet" in tab.page.locator("main").inner_text()
    tab.choose("state", "loading")
    assert tab.page.locator("[aria-busy=true]").count() == 1
    tab.choose("state", "many")
    assert tab.page.locator("main .note").inner_text() == "528 inspections"
    tab.choose("state", "error")
    tab.wait_for_hash("state=error")
    tab.button("Try again").click()
    assert tab.page.locator("main .note").inner_text() == "48 inspections"


def test_a_flow_is_walked_from_station_to_station(visit):
    tab = visit("a", "#/options")
    tab.choose("flow", "close_one")
    tab.wait_for_hash("#/inspections")
    bar = tab.page.locator(".flow")
    assert "Step 1 of 3 Find what is late" in bar.inner_text().replace("\n", " ")
    tab.page.locator("tbody a.title").first.click()
    tab.wait_for_hash("step=2")
    assert "Read the notes" in bar.inner_text()
    bar.get_by_role("button", name="Next").click()
    tab.wait_for_hash("#/inspection_board")
    bar.get_by_role("button", name="Finish").click()
    assert bar.is_hidden()
    tab.page.wait_for_function("() => !location.hash.includes('flow')")


def test_a_shared_link_shows_what_the_sender_saw(visit):
    tab = visit("a", "#/inspections?role=inspector&mode=dark&q=rope&f.status=done&sort=-due")
    again = visit("a", tab.page.evaluate("location.hash"))
    for one in (tab, again):
        assert one.page.evaluate("document.documentElement.dataset.mode") == "dark"
        assert one.page.get_by_role("searchbox").input_value() == "rope"
        assert one.page.locator("#review-role").input_value() == "inspector"
        assert one.page.get_by_role("columnheader", name="Due").get_attribute("aria-sort") == "descending"
    assert tab.page.locator("tbody").inner_text() == again.page.locator("tbody").inner_text()


def test_changes_outlive_a_reload_and_reset_takes_them_back(visit):
    tab = visit("a", "#/inspection_detail/inspection-1?mode=dark")
    tab.button("Mark as In progress").click()
    tab.page.reload()
    tab.page.wait_for_selector("html[data-ready]")
    assert tab.button("Mark as Waiting for parts").count() == 1
    tab.page.locator(".review").get_by_role("button", name="Reset").click()
    assert tab.button("Mark as In progress").count() == 1
    assert tab.page.evaluate("location.hash") == "#/inspection_detail"


def test_the_page_works_where_storage_is_forbidden(visit):
    tab = visit("a")
    tab.page.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new Error('no') } })"
    )
    tab.open("#/inspection_detail/inspection-1")
    tab.button("Mark as In progress").click()
    assert tab.button("Mark as Waiting for parts").count() == 1


def test_another_tab_sees_a_change(chromium, pages):
    context = chromium.new_context()
    first, second = (
        Tab(context, pages["a"]).open("#/sites"),
        Tab(context, pages["a"]).open("#/site_detail/site-1"),
    )
    second.button("Actions for North Quay").click()
    second.page.get_by_role("menuitem", name="Delete").click()
    first.page.wait_for_function("() => !document.querySelector('main').textContent.includes('North Quay')")
    context.close()


@pytest.mark.parametrize(
    "fragment",
    [
        "#",
        "#/nowhere",
        "#/%zz",
        "#/inspection_detail/nothing",
        "#/plan?at=2026-99-99&view=constructor",
        "#/figures?by=x&sum=y&kind=z&period=constructor",
        "#/home?role=constructor&flow=toString&state=constructor&mode=__proto__",
        "#/inspections?f.nothing=1&sort=x&page=99",
        "#/inspections?open=constructor/x&edit=toString/y",
        "#/site_form?part=99",
    ],
)
def test_an_odd_address_still_shows_something_sensible(visit, fragment):
    tab = visit("a", fragment)
    assert tab.heading()


# --- text is text


def hostile_blueprint() -> dict[str, Any]:
    blueprint = page_samples.rich_blueprint("a", rows=12)
    blueprint["title"] = HOSTILE
    for group in ("roles", "flows", "settings", "screens"):
        for item in blueprint[group]:
            item["title" if group == "screens" else "label"] = HOSTILE
    for entity in blueprint["entities"]:
        entity["label"] = entity["plural"] = HOSTILE
        for field in entity["fields"]:
            field["label"] = field["hint"] = HOSTILE
            if field["type"] in ("text", "longtext", "person", "email", "url", "phone", "address"):
                for record in entity["records"]:
                    record[field["id"]] = HOSTILE
    return blueprint


def test_markup_in_every_text_is_shown_as_text(visit, tmp_path):
    tab = visit(write_page(tmp_path, hostile_blueprint()))
    for screen in SCREENS:
        tab.go(f"#/{screen}")
        assert tab.heading()
        assert HOSTILE in tab.page.locator("body").inner_text().replace("\n", " ") or screen == "message_form"
        assert tab.page.locator("main img, main script, main b b").count() == 0
        assert tab.page.evaluate("document.querySelectorAll('a[href^=\"javascript\"]').length") == 0
        assert tab.page.title() != "1"
        assert tab.overflow() <= 0, screen


def test_ids_that_javascript_knows_too_are_only_ids(visit, tmp_path):
    blueprint = page_samples.rich_blueprint("a", rows=12)
    blueprint["entities"][0]["id"] = "constructor"
    for screen in blueprint["screens"]:
        screen["id"] = {"site_detail": "to_string", "sites": "constructor"}.get(screen["id"], screen["id"])
        if screen.get("entity") == "site":
            screen["entity"] = "constructor"
    blueprint["entities"][1]["fields"][1]["entity"] = "constructor"
    blueprint["screens"][0]["widgets"][-1]["entity"] = "constructor"
    blueprint["navigation"] = ["constructor" if name == "sites" else name for name in blueprint["navigation"]]
    assert protoyard.check_blueprint(blueprint) == []
    tab = visit(write_page(tmp_path, blueprint), "#/constructor")
    assert tab.heading() == "Sites"
    tab.page.locator("a.title").first.click()
    tab.wait_for_hash("to_string")
    assert "Builder 1" in tab.page.locator("main").inner_text()


# --- paper, and the pages around


def test_the_mark_is_on_screen_and_on_paper_and_paper_is_light(visit):
    tab = visit("e", "#/inspections?mode=dark")
    assert tab.page.get_by_text("Prototype · fictional data").is_visible()
    tab.page.emulate_media(media="print")
    assert tab.page.get_by_text("Prototype · fictional data").is_visible()
    assert tab.page.locator("#review-role").is_hidden()
    ground = tab.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert all(int(part) > 230 for part in ground[4:-1].split(", "))


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_the_pages_around_are_quiet_and_sound(chromium, axe, tmp_path, mode, width):
    blueprints = [page_samples.rich_blueprint(letter) for letter in LETTERS]
    entry = {"title": "A long title for a prototype", "brief": "x " * 400, "variants": list("abcdef")}
    entries = [{**entry, "slug": f"one-{n}", "created": "2026-06-15T10:00:00Z"} for n in range(5)]
    shelf = {"variants": protoyard.render_variants_page({"title": HOSTILE, "brief": HOSTILE}, blueprints),
             "gallery": protoyard.render_gallery(entries)}  # fmt: skip
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=mode)
    for name, text in shelf.items():
        path = tmp_path / f"{name}.html"
        path.write_text(text, "utf-8")
        tab = Tab(context, path)
        tab.page.goto(path.as_uri())
        assert tab.axe(axe) == []
        assert tab.overflow() <= 0
        assert tab.noise == []
    context.close()
