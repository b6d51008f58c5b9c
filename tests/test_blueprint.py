"""§07: the blueprint's schema and the checks beyond it."""

from __future__ import annotations

import json

import pytest
from samples import at, put, small_blueprint

from protoyard import (
    DATE_TYPES,
    FIELD_TYPES,
    ICONS,
    NUMERIC_TYPES,
    RECORDS_MAX,
    SCREEN_TYPES,
    blueprint_schema,
    check_blueprint,
    check_value,
    digest,
    render_blueprint,
)

MEMBERS = {  # the order of the members is part of the contract
    "": "blueprint title brief lang dir seed asOf variant roles entities screens navigation flows settings theme",
    "/properties/variant": "id question rationale cost axes",
    "/properties/roles/items": "id label because screens rights",
    "/properties/entities/items": "id label plural icon because fields display records",
    "/properties/entities/items/properties/fields/items": (
        "id label type required hint min max values entity unit default"
    ),
    "/properties/screens/items": (
        "id title type because entity columns groupBy dateField endField measure steps filters widgets"
    ),
    "/properties/screens/items/properties/widgets/items": "kind entity title filter measure",
    "/properties/flows/items": "id label role steps",
    "/properties/flows/items/properties/steps/items": "screen record hint",
    "/properties/settings/items": "id label type value unit because",
    "/properties/theme": "palette layout density mode corners",
}


def _objects(schema, pointer=""):
    if schema.get("type") == "object":
        yield pointer, schema
    for name, member in schema.get("properties", {}).items():
        yield from _objects(member, f"{pointer}/properties/{name}")
    if "items" in schema:
        yield from _objects(schema["items"], f"{pointer}/items")


@pytest.mark.parametrize("pointer", MEMBERS)
def test_an_object_has_its_members_in_order(pointer):
    assert list(at(blueprint_schema(), pointer)["properties"]) == MEMBERS[pointer].split()


def test_the_schema_names_its_dialect():
    assert blueprint_schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_every_object_is_closed_but_for_a_records_own_fields():
    open_ones = [
        p for p, schema in _objects(blueprint_schema()) if schema["additionalProperties"] is not False
    ]
    assert open_ones == ["/properties/entities/items/properties/records/items"]


def test_every_member_has_a_title_and_a_description():
    for pointer, schema in _objects(blueprint_schema()):
        for name, member in schema["properties"].items():
            assert member.get("title"), f"{pointer} {name}"
            assert len(member.get("description", "")) > 5, f"{pointer} {name}"


def test_the_types_are_those_of_the_contract():
    fields = "text longtext number money percent date datetime duration status choice boolean email phone url address"
    assert list(FIELD_TYPES) == [*fields.split(), "person", "tags", "rating", "ref"]
    screens = "dashboard list cards detail form board calendar timeline inbox report settings"
    assert list(SCREEN_TYPES) == screens.split()
    assert len(set(ICONS)) == len(ICONS)


def test_the_sample_is_valid():
    assert check_blueprint(small_blueprint()) == []


def test_a_blueprint_without_records_is_valid():
    blueprint = small_blueprint()
    for entity in blueprint["entities"]:
        entity.pop("records")
    blueprint["flows"] = []
    assert check_blueprint(blueprint) == []


# what is changed -> where the problem is said to be, and in which words
SPOILED = {
    "a blueprint of another format": ("/blueprint", 2, "/blueprint", "must be 1"),
    "a member of the root that nobody knows": ("/colour", "red", "/colour", "is not a known field"),
    "no title": ("/title", ..., "/title", "is required"),
    "an empty title": ("/title", "", "/title", "must not be empty"),
    "a seed that is a boolean": ("/seed", True, "/seed", "must be an integer"),
    "a date that does not exist as today": ("/asOf", "2026-02-30", "/asOf", "no real date"),
    "a direction that is none": ("/dir", "up", "/dir", "must be one of"),
    "no screen at all": ("/screens", [], "/screens", "at least 1"),
    "an empty navigation": ("/navigation", [], "/navigation", "at least 1"),
    "a navigation to nowhere": ("/navigation/0", "hom", "/navigation/0", 'did you mean "home"?'),
    "a screen twice in the navigation": ("/navigation/1", "home", "/navigation/1", "there twice"),
    "two roles with one id": ("/roles/1/id", "volunteer", "/roles/1", "there twice"),
    "two entities with one id": ("/entities/1/id", "tool", "/entities/1", "there twice"),
    "two fields with one id": ("/entities/1/fields/4/id", "marks", "/entities/1/fields/5", "there twice"),
    "two records with one id": ("/entities/0/records/1/id", "tool-1", "/entities/0/records/1", "there twice"),
    "two screens with one id": ("/screens/7/id", "worth", "/screens/7", "there twice"),
    "a field called id": ("/entities/0/fields/2/id", "id", "/entities/0/fields/2/id", "cannot be called"),
    "an id with a capital": ("/roles/0/id", "Volunteer", "/roles/0/id", "must match"),
    "a role that sees an unknown screen": ("/roles/1/screens/0", "tool", "/roles/1/screens/0", "no screen"),
    "a role that can reach nothing": ("/roles/1/screens", ["tool_detail"], "/roles/1/screens", "reach nothing"),
    "a right that is none": ("/roles/1/rights", ["fly"], "/roles/1/rights/0", "must be one of"),
    "a display that is no field": ("/entities/0/display", "nam", "/entities/0/display", 'did you mean "name"?'),
    "a status without values": ("/entities/0/fields/1/values", ..., "/entities/0/fields/1/values", "is required"),
    "values on a text": ("/entities/0/fields/0/values", ["a"], "/entities/0/fields/0/values", "only, not text"),
    "a value twice": ("/entities/0/fields/1/values/2", "on loan", "/entities/0/fields/1/values/2", "there twice"),
    "a ref without entity": ("/entities/1/fields/1/entity", ..., "/entities/1/fields/1/entity", "is required"),
    "a ref to an unknown entity": ("/entities/1/fields/1/entity", "tol", "/entities/1/fields/1/entity", '"tool"?'),
    "max below min": ("/entities/0/fields/2/max", -1, "/entities/0/fields/2/max", "smaller than min"),
    "min on a text": ("/entities/0/fields/0/min", 1, "/entities/0/fields/0/min", "only, not text"),
    "a default that does not fit": ("/entities/0/fields/1/default", "gone", "/entities/0/fields/1/default", "one of"),
    "a record with an unknown member": ("/entities/0/records/0/nme", "x", "/entities/0/records/0/nme", '"name"?'),
    "a status outside its values": ("/entities/0/records/0/state", "lost", "/entities/0/records/0/state", "one of"),
    "a number as text": ("/entities/0/records/0/worth", "80", "/entities/0/records/0/worth", "must be a number"),
    "a boolean as a number": ("/entities/0/records/0/worth", True, "/entities/0/records/0/worth", "must be a number"),
    "a day that does not exist": ("/entities/1/records/0/due_back", "2026-06-31", None, "no real date"),
    "a date where a time is due": ("/entities/1/records/0/handed_out", "2026-06-12", None, "YYYY-MM-DDTHH:MM"),
    "an hour that does not exist": ("/entities/1/records/0/handed_out", "2026-06-12T24:00", None, "no real date"),
    "a rating of six": ("/entities/1/records/0/care", 6, None, "at most 5"),
    "tags that are no list": ("/entities/1/records/0/marks", "first", None, "must be an array"),
    "a ref to an unknown record": ("/entities/1/records/0/tool", "tool-9", None, "no tool record"),
    "a list without entity": ("/screens/1/entity", ..., "/screens/1/entity", "is required"),
    "an entity on a settings screen": ("/screens/7/entity", "tool", "/screens/7/entity", "does not belong"),
    "steps on a list": ("/screens/1/steps", [["name"]], "/screens/1/steps", "does not belong"),
    "a screen of an unknown entity": ("/screens/1/entity", "tols", "/screens/1/entity", 'did you mean "tool"?'),
    "an unknown column": ("/screens/1/columns/0", "title", "/screens/1/columns/0", "no field"),
    "an unknown filter": ("/screens/1/filters/0", "stat", "/screens/1/filters/0", '"state"?'),
    "an unknown field in a step": ("/screens/3/steps/1/0", "stte", "/screens/3/steps/1/0", '"state"?'),
    "a board without groupBy": ("/screens/4/groupBy", ..., "/screens/4/groupBy", "is required"),
    "a board grouped by a text": ("/screens/4/groupBy", "name", "/screens/4/groupBy", "must be status or choice"),
    "a calendar by a text": ("/screens/5/dateField", "reference", "/screens/5/dateField", "must be date or datetime"),
    "a report that adds up words": ("/screens/6/measure", "name", "/screens/6/measure", "must be number"),
    "a widget of an unknown entity": ("/screens/0/widgets/0/entity", "tools", "/screens/0/widgets/0/entity", "no entity"),
    "a sum of nothing": ("/screens/0/widgets/2/measure", ..., "/screens/0/widgets/2/measure", "is required"),
    "a filter by an unknown value": (
        "/screens/0/widgets/0/filter/values/0",
        "lent",
        "/screens/0/widgets/0/filter/values/0",
        "no value",
    ),
    "a filter with both": ("/screens/0/widgets/1/filter/values", ["x"], "/screens/0/widgets/1/filter", "either"),
    "a time filter on a status": ("/screens/0/widgets/1/filter/field", "reference", None, "must be date or datetime"),
    "a flow of an unknown role": ("/flows/0/role", "volunter", "/flows/0/role", '"volunteer"?'),
    "a flow to an unknown screen": ("/flows/0/steps/0/screen", "tolls", "/flows/0/steps/0/screen", '"tools"?'),
    "a flow with an unknown record": ("/flows/0/steps/1/record", "tool-9", "/flows/0/steps/1/record", "no tool record"),
    "a flow beyond the role's screens": ("/flows/0", {"id": "x", "label": "X", "role": "member",
                                                     "steps": [{"screen": "home"}]}, "/flows/0/steps/0/screen", "may not"),
    "a setting that does not fit": ("/settings/0/value", "many", "/settings/0/value", "must be a number"),
    "an axis that is none": ("/variant/axes/home", "hall", "/variant/axes/home", "must be one of"),
}  # fmt: skip


@pytest.mark.parametrize("case", SPOILED.values(), ids=SPOILED)
def test_a_spoiled_blueprint_is_refused_with_a_pointer(case):
    place, value, pointer, message = case
    blueprint = small_blueprint()
    put(blueprint, place, value)
    problems = {problem.pointer: problem.message for problem in check_blueprint(blueprint)}
    where = place if pointer is None else pointer
    found = [text for at_pointer, text in problems.items() if at_pointer.startswith(where.rpartition("/")[0])]
    assert where in problems or pointer is None, problems
    assert any(message in text for text in found), problems


def test_all_semantic_problems_come_at_once():
    blueprint = small_blueprint()
    for place in ("/navigation/0", "/screens/1/columns/0", "/entities/0/display", "/flows/0/role"):
        put(blueprint, place, "nowhere")
    pointers = {problem.pointer for problem in check_blueprint(blueprint)}
    assert {"/navigation/0", "/screens/1/columns/0", "/entities/0/display", "/flows/0/role"} <= pointers


def test_too_many_records_in_all_are_refused():
    blueprint = small_blueprint()
    field = {"id": "name", "label": "Name", "type": "text"}
    for number in range(6):
        records = [{"id": f"r-{row}", "name": "x"} for row in range(200)]
        blueprint["entities"].append(
            {
                "id": f"e{number}",
                "label": "E",
                "plural": "Es",
                "fields": [field],
                "display": "name",
                "records": records,
            }
        )
    assert any(str(RECORDS_MAX) in problem.message for problem in check_blueprint(blueprint))


def test_an_explicit_empty_string_is_a_value_of_any_type():
    for kind in FIELD_TYPES:
        assert check_value("", {"type": kind, "values": ["a"]}) == ""


@pytest.mark.parametrize("value", [None, [], {}, "x", 1, True, {"blueprint": 1}])
def test_anything_that_is_no_blueprint_is_a_problem_and_never_an_exception(value):
    assert check_blueprint(value)


def test_the_type_groups_are_types():
    assert set(NUMERIC_TYPES) | set(DATE_TYPES) <= set(FIELD_TYPES)


def test_the_text_has_the_schemas_order_and_reads_back():
    blueprint = small_blueprint()
    shuffled = json.loads(json.dumps(blueprint, sort_keys=True))
    text = render_blueprint(shuffled)
    assert list(json.loads(text)) == MEMBERS[""].split()
    assert json.loads(text) == blueprint
    assert text.endswith("}\n")


def test_the_digest_is_of_the_text_whatever_the_order_of_members():
    blueprint = small_blueprint()
    assert digest(blueprint) == digest(json.loads(json.dumps(blueprint, sort_keys=True)))
    assert digest(blueprint).startswith("sha256:")
    put(blueprint, "/title", "Other")
    assert digest(blueprint) != digest(small_blueprint())
