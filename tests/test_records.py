"""§10: fictional records: whole, consistent, independent of each other, the same everywhere."""

from __future__ import annotations

import copy
import re
import sys
import unicodedata
from datetime import date, timedelta
from typing import Any

import pytest
from conftest import ALL_PYTHONS, MODULE, run_process
from samples import small_blueprint

from protoyard import RECORDS_MAX, RECORDS_PER_ENTITY_MAX, check_blueprint, draft_blueprints, fill_records

TODAY = "2026-06-15"
SEEDS = (0, 1, 7, 42, 2026, 2**31 - 1)

# A field is "name:type", with values after a "=" or a target after a ">"; "!" makes it required.
# fmt: off
ENTITIES = {
    "customer":
        "name:text! status:status=new,active,inactive,blocked email:email phone:phone "
        "address:address since:date lifetime_value:money vip:boolean notes:longtext",
    "technician":
        "name:text! status:status=active,on leave,left email:email phone:phone skills:tags "
        "start_date:date",
    "site":
        "name:text! address:address opened:date access_notes:longtext",
    "equipment":
        "name:text! serial_no:text site:ref>site installed_on:date next_service:date "
        "runtime:duration",
    "inspection":
        "reference:text! status:status=planned,in progress,passed,failed,overdue,cancelled "
        "equipment:ref>equipment site:ref>site inspector:person planned_for:datetime "
        "done_at:datetime result:choice=pass,fail score:percent remarks:longtext",
    "finding":
        "title:text! status:status=open,agreed,fixed,closed inspection:ref>inspection "
        "found_on:date owner:person due_date:date done_on:date photo:url severity:rating",
    "visit":
        "title:text! status:status=planned,on site,completed,cancelled site:ref>site "
        "technician:person starts_at:datetime ends_at:datetime duration:duration outcome:longtext",
    "order":
        "number:text! status:status=placed,confirmed,shipped,delivered,cancelled "
        "customer:ref>customer ordered_at:datetime deliver_by:date delivered_on:date lines:number "
        "total:money",
    "order_line":
        "order:ref>order product:ref>product quantity:number unit_price:money discount:percent "
        "line_total:money",
    "product":
        "name:text! sku:text price:money in_stock:number reorder_at:number "
        "status:status=live,out of stock,retired",
    "invoice":
        "number:text! status:status=draft,sent,paid,overdue,void customer:ref>customer "
        "issue_date:date due_date:date net:money tax:percent total:money paid_on:date",
    "payment":
        "reference:text! invoice:ref>invoice amount:money paid_at:datetime",
    "budget":
        "name:text! status:status=open,at risk,closed planned:money spent:money used:percent "
        "owner:person",
    "lease":
        "reference:text! status:status=draft,active,ended starts_on:date ends_on:date rent:money "
        "deposit:money",
    "leave_request":
        "reference:text! status:status=requested,approved,declined,taken employee:person "
        "from:date to:date days:number",
    "message":
        "subject:text! status:status=unread,read,archived from:person to:person sent_at:datetime "
        "body:longtext unread:boolean",
    "category":
        "name:text!",
    "gizmo":
        "name:text! status:status=new,active,done owner:person created_on:date notes:longtext",
}
# fmt: on


def field(spec: str) -> dict[str, Any]:
    name, kind, values, target = re.fullmatch(r"(\w+):(\w+)!?(?:=(.*))?(?:>(\w+))?", spec).groups()
    made: dict[str, Any] = {"id": name, "label": name.replace("_", " ").capitalize(), "type": kind}
    if spec.endswith("!"):
        made["required"] = True
    if values:
        made["values"] = values.split(",")
    if target:
        made["entity"] = target
    return made


def entity(name: str, specs: str, **more: Any) -> dict[str, Any]:
    fields = [field(spec) for spec in re.split(r" (?=\w+:)", specs)]
    label = name.replace("_", " ").capitalize()
    made = {"id": name, "label": label, "plural": f"{label}s", "fields": fields, "display": fields[0]["id"]}
    return {**made, **more}


def blueprint(*names: str, seed: int = 7, **more: Any) -> dict[str, Any]:
    made = small_blueprint()
    made["entities"] = [entity(name, ENTITIES[name]) for name in names or ENTITIES]
    home = {"id": "home", "title": "Home", "type": "list", "entity": made["entities"][0]["id"]}
    return {**made, "seed": seed, "roles": [], "screens": [home], "navigation": ["home"], "flows": [], **more}


def filled(given: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    done, _ = fill_records(given)
    assert check_blueprint(done) == []
    return {kind["id"]: kind["records"] for kind in done["entities"]}


@pytest.fixture(scope="module", params=SEEDS, ids=lambda seed: f"seed {seed}")
def records(request: pytest.FixtureRequest) -> dict[str, list[dict[str, Any]]]:
    return filled(blueprint(seed=request.param))


def day(value: str) -> str:
    return value[: len(TODAY)]


# --- what is there --------------------------------------------------------------------------------


def test_a_filled_blueprint_is_valid_and_whole(records):
    for name, rows in records.items():
        wanted = {"id", *(part["id"] for part in entity(name, ENTITIES[name])["fields"])}
        assert {frozenset(row) for row in rows} == {frozenset(wanted)}, name


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        pytest.param("customer", 8, 14, id="people are a dozen"),
        pytest.param("inspection", 18, 28, id="the main work is a few pages"),
        pytest.param("order_line", 25, 48, id="child rows are many"),
        pytest.param("category", 3, 9, id="what settings hold is little"),
    ],
)
def test_the_number_of_rows_fits_what_the_records_are(records, name, least, most):
    assert least <= len(records[name]) <= most


def test_filling_counts_what_it_adds_and_leaves_its_argument_alone():
    given = blueprint("customer", "order")
    before = copy.deepcopy(given)
    done, count = fill_records(given)
    assert given == before
    assert count == sum(len(row) - 1 for kind in done["entities"] for row in kind["records"])


def test_filling_twice_adds_nothing_and_changes_nothing():
    once, _ = fill_records(blueprint())
    again, count = fill_records(once)
    assert count == 0
    assert again == once
    assert [list(row) for kind in again["entities"] for row in kind["records"]] == [
        list(row) for kind in once["entities"] for row in kind["records"]
    ]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        pytest.param("customer", {"id": "c", "name": "Given Name"}, id="a name"),
        pytest.param("customer", {"id": "c", "email": ""}, id="an explicit empty"),
        pytest.param(
            "inspection", {"id": "inspection-1", "status": "passed", "done_at": ""}, id="a status and no date"
        ),
        pytest.param(
            "order_line", {"id": "l", "quantity": 3, "unit_price": 2.5, "discount": 0}, id="numbers"
        ),
        pytest.param("technician", {"id": "t", "skills": []}, id="an empty list"),
    ],
)
def test_what_is_given_stays(name, given):
    bp = blueprint(
        "customer", "technician", "site", "equipment", "inspection", "order", "product", "order_line"
    )
    next(kind for kind in bp["entities"] if kind["id"] == name)["records"] = [given]
    row = filled(bp)[name][0]
    assert {key: row[key] for key in given} == given
    if "quantity" in given:
        assert row["line_total"] == 7.5
    if "name" in given:
        assert row["email"].startswith("given.name@")


@pytest.mark.parametrize(
    ("name", "given", "order"),
    [
        pytest.param("visit", {"starts_at": "2027-02-03T21:10"}, "starts_at ends_at", id="a start far away"),
        pytest.param("visit", {"ends_at": "2026-05-04T09:00"}, "starts_at ends_at", id="an end"),
        pytest.param("lease", {"starts_on": "2020-01-31"}, "starts_on ends_on", id="the start of a span"),
        pytest.param("lease", {"ends_on": "2031-12-31"}, "starts_on ends_on", id="the end of a span"),
        pytest.param("order", {"deliver_by": "2026-03-01"}, "ordered_at deliver_by", id="a day it was due"),
        pytest.param(
            "invoice", {"issue_date": "2019-03-01"}, "issue_date due_date", id="the day it was made"
        ),
        pytest.param("lease", {"starts_on": "0001-01-01"}, "starts_on ends_on", id="the first day there is"),
        pytest.param("lease", {"ends_on": "9999-12-31"}, "starts_on ends_on", id="the last day there is"),
    ],
)
def test_dates_that_are_missing_go_with_one_that_is_given(name, given, order):
    bp = blueprint(*{"customer": 0, "site": 0, "technician": 0, name: 0})
    bp["entities"][-1]["records"] = [{"id": f"r-{number}", **given} for number in range(1, 13)]
    first, last = order.split()
    for row in filled(bp)[name]:
        assert day(row[first]) <= day(row[last])
        assert "visit" not in name or row[first] < row[last]


def test_an_empty_list_of_records_stays_empty_and_refs_to_it_are_empty():
    bp = blueprint("customer", "order")
    bp["entities"][0]["records"] = []
    rows = filled(bp)
    assert rows["customer"] == []
    assert {row["customer"] for row in rows["order"]} == {""}


def test_many_given_records_leave_less_room_for_new_ones():
    bp = blueprint(*list(ENTITIES)[:8])
    for kind in bp["entities"][:5]:
        kind["records"] = [{"id": f"r-{n}"} for n in range(RECORDS_PER_ENTITY_MAX - 4)]
    rows = filled(bp)
    assert RECORDS_MAX - 8 <= sum(map(len, rows.values())) <= RECORDS_MAX


# --- what depends on what -------------------------------------------------------------------------


ADDED = "extra_note:longtext nickname:text budget_left:money checked_on:date keeper:person level:choice=a,b,c"


@pytest.mark.parametrize("spec", ADDED.split(), ids=lambda spec: f"adding {spec}")
def test_a_new_field_changes_no_other_value(spec):
    bp = blueprint()
    for kind in bp["entities"]:
        kind["records"] = [{"id": f"{kind['id']}-{number}"} for number in range(1, 31)]
    before = filled(bp)
    for kind in bp["entities"]:
        kind["fields"].append(field(spec))
    after = filled(bp)
    name = spec.partition(":")[0]
    assert {kind: [{**row, name: None} for row in rows] for kind, rows in before.items()} == {
        kind: [{**row, name: None} for row in rows] for kind, rows in after.items()
    }


@pytest.mark.parametrize("place", [0, len(ENTITIES)], ids=["at the front", "at the end"])
def test_a_new_entity_changes_no_other_value(place):
    bp = blueprint()
    before = filled(bp)
    bp["entities"].insert(
        place, entity("parking_space", "name:text! site:ref>site covered:boolean rate:money")
    )
    after = filled(bp)
    assert {name: after[name] for name in before} == before


def test_a_new_row_changes_no_value_of_its_neighbours():
    bp = blueprint("customer", "site")
    stubs = [[{"id": f"{name}-{n}"} for n in range(1, 13)] for name in ("customer", "site")]
    bp["entities"][0]["records"], bp["entities"][1]["records"] = stubs
    before = filled(bp)
    stubs[0].append({"id": "customer-13"})
    stubs[1].append({"id": "north-wing"})
    after = filled(bp)
    assert {name: rows[:12] for name, rows in after.items()} == before


def test_another_seed_makes_other_records():
    first, second = filled(blueprint(seed=1)), filled(blueprint(seed=2))
    assert all(first[name] != second[name] for name in ENTITIES)


def test_circles_and_references_to_oneself_end():
    bp = blueprint("customer")
    bp["entities"] = [
        entity("alpha", "name:text! beta:ref>beta"),
        entity("beta", "name:text! alpha:ref>alpha started:date status:status=new,done"),
        entity("employee", "name:text! manager:ref>employee email:email"),
    ]
    bp["screens"][0]["entity"] = "alpha"
    rows = filled(bp)
    place = {row["id"]: n for n, row in enumerate(rows["employee"])}
    assert all(not row["manager"] or place[row["manager"]] < n for n, row in enumerate(rows["employee"]))
    assert rows["employee"][0]["manager"] == ""
    assert all(row["beta"] for row in rows["alpha"])


# --- consistency ----------------------------------------------------------------------------------


def statuses(name: str) -> list[str]:
    return next(part for part in entity(name, ENTITIES[name])["fields"] if part["type"] == "status")["values"]


@pytest.mark.parametrize("name", [name for name, specs in ENTITIES.items() if ":status" in specs])
def test_every_status_occurs(records, name):
    assert {row["status"] for row in records[name]} == set(statuses(name))


@pytest.mark.parametrize(
    ("name", "first", "then"),
    [
        ("inspection", "planned_for", "done_at"),
        ("finding", "found_on", "due_date"),
        ("finding", "found_on", "done_on"),
        ("visit", "starts_at", "ends_at"),
        ("order", "ordered_at", "deliver_by"),
        ("order", "ordered_at", "delivered_on"),
        ("invoice", "issue_date", "due_date"),
        ("invoice", "issue_date", "paid_on"),
        ("lease", "starts_on", "ends_on"),
        ("leave_request", "from", "to"),
    ],
    ids=lambda text: text.replace("_", " "),
)
def test_dates_are_in_order(records, name, first, then):
    wrong = [
        row for row in records[name] if row[first] and row[then] and not day(row[first]) <= day(row[then])
    ]
    assert wrong == []
    both = [row for row in records[name] if len(row[first]) == len(row[then]) > len(TODAY)]
    assert [row for row in both if row[first] >= row[then]] == []


@pytest.mark.parametrize(
    ("name", "when", "closed"),
    [
        ("inspection", "done_at", {"passed", "failed"}),
        ("finding", "done_on", {"closed", "fixed"}),
        ("order", "delivered_on", {"delivered"}),
        ("invoice", "paid_on", {"paid"}),
    ],
    ids=lambda text: text if isinstance(text, str) else "",
)
def test_only_what_is_closed_has_a_closing_date_and_it_is_past(records, name, when, closed):
    for row in records[name]:
        assert bool(row[when]) == (row["status"] in closed), row
        assert day(row[when]) <= TODAY


def test_planned_things_lie_around_today_in_working_hours(records):
    first, last = (str(date.fromisoformat(TODAY) + timedelta(days)) for days in (-60, 48))
    for row in records["inspection"] + records["visit"]:
        start = row.get("planned_for") or row["starts_at"]
        assert first <= day(start) <= last
        assert "07:00" <= start[-5:] <= "18:00"
        assert start[-2:] in ("00", "15", "30", "45")
        if row["status"] == "planned":
            assert day(start) > TODAY
        if row["status"] in ("passed", "completed"):
            assert day(start) < TODAY
        if row["status"] == "on site":
            assert day(start) == TODAY


def test_an_active_span_holds_today_and_an_ended_one_is_over(records):
    for row in records["lease"]:
        if row["status"] == "active":
            assert row["starts_on"] <= TODAY <= row["ends_on"]
        if row["status"] == "ended":
            assert row["ends_on"] < TODAY


def test_days_are_counted_from_their_dates(records):
    for row in records["leave_request"]:
        spent = date.fromisoformat(row["to"]) - date.fromisoformat(row["from"])
        assert row["days"] == spent.days + 1


def test_a_visit_ends_after_its_duration(records):
    for row in records["visit"]:
        minutes = [int(row[name][11:13]) * 60 + int(row[name][14:]) for name in ("starts_at", "ends_at")]
        assert minutes[1] - minutes[0] == row["duration"]


def test_outcomes_wait_for_the_end(records):
    for row in records["inspection"]:
        if row["status"] in ("planned", "in progress", "overdue", "cancelled"):
            assert (row["result"], row["score"]) == ("", "")
        if row["status"] in ("passed", "failed"):
            assert row["result"] == row["status"][:4]


def cents(value: float) -> int:
    return round(value * 100)


def test_money_adds_up(records):
    for row in records["order_line"]:
        exact = cents(row["unit_price"]) * row["quantity"] * (100 - row["discount"]) / 100
        assert abs(cents(row["line_total"]) - exact) < 1
    for row in records["order"]:
        lines = [line for line in records["order_line"] if line["order"] == row["id"]]
        assert cents(row["total"]) == sum(cents(line["line_total"]) for line in lines)
        assert row["lines"] == len(lines)
    for row in records["invoice"]:
        assert abs(cents(row["total"]) - cents(row["net"]) * (100 + row["tax"]) / 100) < 1
    totals = {row["id"]: row["total"] for row in records["invoice"]}
    assert all(row["amount"] == totals[row["invoice"]] for row in records["payment"])
    prices = {row["id"]: row["price"] for row in records["product"]}
    assert all(row["unit_price"] == prices[row["product"]] for row in records["order_line"])


def test_a_part_is_no_more_than_the_whole(records):
    for row in records["budget"]:
        assert 0 <= row["spent"] <= row["planned"]
        assert row["used"] == int(row["spent"] / row["planned"] * 100 + 1e-9)


def test_stock_fits_its_status(records):
    assert all(row["in_stock"] == 0 for row in records["product"] if row["status"] == "out of stock")


def test_percents_and_ratings_stay_in_their_bounds(records):
    for rows in records.values():
        for row in rows:
            assert all(
                0 <= row[name] <= 100 for name in ("score", "discount", "used") if row.get(name, "") != ""
            )
    assert len({row["severity"] for row in records["finding"]}) > 2


def test_a_reference_agrees_with_the_one_of_its_parent(records):
    sites = {row["id"]: row["site"] for row in records["equipment"]}
    assert all(row["site"] == sites[row["equipment"]] for row in records["inspection"])


def test_a_finding_comes_from_an_inspection_that_took_place(records):
    inspections = {row["id"]: row for row in records["inspection"]}
    for row in records["finding"]:
        parent = inspections[row["inspection"]]
        assert parent["status"] != "planned"
        assert row["found_on"] >= day(parent["planned_for"])


def test_some_parents_have_many_children_and_one_has_none(records):
    counts = [sum(line["order"] == row["id"] for line in records["order_line"]) for row in records["order"]]
    assert min(counts) == 0
    assert max(counts) >= 4


@pytest.mark.parametrize("name", [name for name, specs in ENTITIES.items() if "!" in specs])
def test_names_of_records_are_unlike_each_other(records, name):
    display = entity(name, ENTITIES[name])["display"]
    names = [row[display] for row in records[name]]
    assert len(set(names)) == len(names)
    assert all(names)


# --- people, addresses, words ---------------------------------------------------------------------


def plain(name: str) -> str:
    spread = unicodedata.normalize("NFKD", name.lower().translate({ord("ø"): "o", 0x131: "i", ord("ł"): "l"}))
    return "".join(char for char in spread if char.isascii())


def test_an_address_follows_the_name_and_leads_nowhere(records):
    for row in records["customer"] + records["technician"]:
        local, _, domain = row["email"].partition("@")
        assert domain in ("example.com", "example.org", "example.net")
        words = re.findall("[a-z0-9]+", plain(row["name"])) or ["layla", "haddad"]
        assert local == f"{words[0]}.{words[-1]}"
    for row in records["finding"]:
        assert row["photo"] == "" or row["photo"].startswith("https://example.com/")


def test_telephones_are_of_the_range_kept_for_fiction(records):
    phones = [row["phone"] for row in records["customer"] + records["technician"]]
    assert all(not phone or re.fullmatch(r"\(\d{3}\) 555-01\d\d", phone) for phone in phones)
    assert any(phones)


def test_person_fields_name_people_who_exist(records):
    names = {row["name"] for row in records["technician"]}
    assert {row["technician"] for row in records["visit"]} <= names
    assert len({row["technician"] for row in records["visit"]}) > 2
    assert all(row["from"] != row["to"] for row in records["message"])


def test_hard_values_are_there_but_few(records):
    names = [row["name"] for row in records["customer"]]
    assert any(55 <= len(name) <= 70 for name in names)
    strange = {unicodedata.bidirectional(name[0]) for name in names} & {"R", "AL"}
    everyone = [
        name for rows in records.values() for row in rows for name in row.values() if isinstance(name, str)
    ]
    right_to_left = {name for name in everyone if name and unicodedata.bidirectional(name[0]) in ("R", "AL")}
    assert len(right_to_left) <= 1
    assert len(strange) <= 1
    assert any(row["notes"] == "" for row in records["customer"] + records["gizmo"])


def test_there_are_many_names_in_groups_of_equal_size():
    import protoyard

    given, family = (text.split() for text in protoyard._GIVEN_AND_FAMILY)
    assert len(given) == len(family) >= 120
    assert len(given) % protoyard.NAME_GROUP == 0
    assert len(set(given)) == len(given)
    assert len(set(family)) == len(family)


@pytest.mark.parametrize(
    ("lang", "direction"), [("de", "ltr"), ("pt-BR", "ltr"), ("ja", "ltr"), ("ar", "rtl"), ("sw", "ltr")]
)
def test_other_languages_get_labels_and_no_english(lang, direction):
    rows = filled(blueprint(lang=lang, dir=direction))
    assert {re.sub("[0-9]+", "#", row["name"]) for row in rows["gizmo"]} == {"Gizmo #"}
    english = filled(blueprint())
    spoken = {row["notes"] for row in english["gizmo"]} - {""}
    assert not spoken & {row["notes"] for row in rows["gizmo"]}
    if direction == "rtl":
        letters = [unicodedata.bidirectional(row["name"][0]) for row in rows["customer"]]
        assert set(letters) <= {"R", "AL"}
        assert all(
            re.fullmatch(r"[a-z]+\.[a-z]+@example\.(com|org|net)", row["email"]) for row in rows["customer"]
        )


@pytest.mark.parametrize(
    ("spec", "least", "most"),
    [
        pytest.param({"min": 3, "max": 5}, 3, 5, id="inside the usual range"),
        pytest.param({"min": 10_000}, 10_000, 20_000, id="far above it"),
        pytest.param({"max": -5}, -5, -5, id="far below it"),
        pytest.param({"min": -1e308, "max": 1e308}, 0, 1000, id="limits without meaning"),
    ],
)
def test_numbers_keep_the_limits_of_their_field(spec, least, most):
    bp = blueprint("category")
    bp["entities"][0]["fields"].append({**field("amount_of_work:number"), **spec})
    assert all(least <= row["amount_of_work"] <= most for row in filled(bp)["category"])


@pytest.mark.parametrize("as_of", ["0001-01-01", "1900-02-28", "2024-02-29", "9999-12-31"])
def test_any_day_may_be_today(as_of):
    filled(blueprint(asOf=as_of))


# --- drafts, and the same everywhere --------------------------------------------------------------

BRIEFS = (
    "Lift engineers plan inspections, record defects and book return visits.",
    "CRM for a two-person agency: contacts, deals, calls.",
    "A food bank takes donations, packs parcels and rosters volunteers.",
    "Una clínica veterinaria necesita agendar citas y vacunas.",
    "Gizmos, widgets and whatsits.",
)


@pytest.mark.parametrize("brief", BRIEFS)
def test_what_is_drafted_from_a_brief_is_filled_and_valid(brief):
    for draft in draft_blueprints(brief, seed=None, variants=2).blueprints:
        rows = filled(draft)
        assert all(rows.values())


PRINT_DIGEST = """
import json, sys
sys.path.insert(0, sys.argv[1])
import protoyard
blueprints = json.load(sys.stdin)
print(*(protoyard.digest(protoyard.fill_records(blueprint)[0]) for blueprint in blueprints))
"""


def test_every_python_makes_the_same_records_whatever_its_hashes():
    import json

    drafts = [draft_blueprints(brief, seed=3, variants=1).blueprints[0] for brief in BRIEFS]
    given = json.dumps([blueprint(), blueprint(lang="ar", dir="rtl"), *drafts]).encode()
    outputs = set()
    for number, python in enumerate({sys.executable, *ALL_PYTHONS.values()}):
        env = {"PYTHONHASHSEED": str(number), "PYTHONDONTWRITEBYTECODE": "1"}
        ran = run_process([python, "-c", PRINT_DIGEST, MODULE.parent], stdin=given, env=env)
        assert ran.status == 0, ran.err
        outputs.add(ran.out)
    assert len(outputs) == 1
