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
    "": (
        "blueprint title brief lang dir seed asOf variant roles entities screens navigation flows settings "
        "theme"
    ),
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
    fields = "text longtext number money percent date datetime duration status choice boolean email phone url"
    assert list(FIELD_TYPES) == [*fields.split(), "address", "person", "tags", "rating", "ref"]
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


# what is changed, to what, the words of the problem, and its place when that is another one
TOOL, LOAN, FIELD = "/entities/0", "/entities/1", "/entities/0/fields"
SPOILED = {
    "a blueprint of another format": ("/blueprint", 2, "must be 1"),
    "a member of the root that nobody knows": ("/colour", "red", "is not a known field"),
    "no title": ("/title", ..., "is required"),
    "an empty title": ("/title", "", "must not be empty"),
    "a seed that is a boolean": ("/seed", True, "must be an integer"),
    "a date that does not exist as today": ("/asOf", "2026-02-30", "no real date"),
    "a direction that is none": ("/dir", "up", "must be one of"),
    "no screen at all": ("/screens", [], "at least 1"),
    "an empty navigation": ("/navigation", [], "at least 1"),
    "a navigation to nowhere": ("/navigation/0", "hom", 'did you mean "home"?'),
    "a screen twice in the navigation": ("/navigation/1", "home", "there twice"),
    "two roles with one id": ("/roles/1/id", "volunteer", "there twice", "/roles/1"),
    "two entities with one id": (LOAN + "/id", "tool", "there twice", "/entities/1"),
    "two fields with one id": (LOAN + "/fields/4/id", "marks", "there twice", LOAN + "/fields/5"),
    "two records with one id": (TOOL + "/records/1/id", "tool-1", "there twice", TOOL + "/records/1"),
    "two screens with one id": ("/screens/7/id", "worth", "there twice", "/screens/7"),
    "a field called id": (FIELD + "/2/id", "id", "cannot be called"),
    "an id with a capital": ("/roles/0/id", "Volunteer", "must match"),
    "a role that sees an unknown screen": ("/roles/1/screens/0", "tool", "no screen"),
    "a role that can reach nothing": ("/roles/1/screens", ["tool_detail"], "reach nothing"),
    "a right that is none": ("/roles/1/rights", ["fly"], "must be one of", "/roles/1/rights/0"),
    "a display that is no field": (TOOL + "/display", "nam", 'did you mean "name"?'),
    "a status without values": (FIELD + "/1/values", ..., "is required"),
    "values on a text": (FIELD + "/0/values", ["a"], "only, not text"),
    "a value twice": (FIELD + "/1/values/2", "on loan", "there twice"),
    "a ref without entity": (LOAN + "/fields/1/entity", ..., "is required"),
    "a ref to an unknown entity": (LOAN + "/fields/1/entity", "tol", '"tool"?'),
    "max below min": (FIELD + "/2/max", -1, "smaller than min"),
    "min on a text": (FIELD + "/0/min", 1, "only, not text"),
    "a default that does not fit": (FIELD + "/1/default", "gone", "one of"),
    "a record with an unknown member": (TOOL + "/records/0/nme", "x", '"name"?'),
    "a status outside its values": (TOOL + "/records/0/state", "lost", "one of"),
    "a number as text": (TOOL + "/records/0/worth", "80", "must be a number"),
    "a boolean as a number": (TOOL + "/records/0/worth", True, "must be a number"),
    "a day that does not exist": (LOAN + "/records/0/due_back", "2026-06-31", "no real date"),
    "a date where a time is due": (LOAN + "/records/0/handed_out", "2026-06-12", "YYYY-MM-DDTHH:MM"),
    "an hour that does not exist": (LOAN + "/records/0/handed_out", "2026-06-12T24:00", "no real date"),
    "a rating of six": (LOAN + "/records/0/care", 6, "at most 5"),
    "tags that are no list": (LOAN + "/records/0/marks", "first", "must be an array"),
    "a ref to an unknown record": (LOAN + "/records/0/tool", "tool-9", "no tool record"),
    "a list without entity": ("/screens/1/entity", ..., "is required"),
    "an entity on a settings screen": ("/screens/7/entity", "tool", "does not belong"),
    "steps on a list": ("/screens/1/steps", [["name"]], "does not belong"),
    "a screen of an unknown entity": ("/screens/1/entity", "tols", 'did you mean "tool"?'),
    "an unknown column": ("/screens/1/columns/0", "title", "no field"),
    "an unknown filter": ("/screens/1/filters/0", "stat", '"state"?'),
    "an unknown field in a step": ("/screens/3/steps/1/0", "stte", '"state"?'),
    "a board without groupBy": ("/screens/4/groupBy", ..., "is required"),
    "a board grouped by a text": ("/screens/4/groupBy", "name", "must be status or choice"),
    "a calendar by a text": ("/screens/5/dateField", "reference", "must be date or datetime"),
    "a report that adds up words": ("/screens/6/measure", "name", "must be number"),
    "a widget of an unknown entity": ("/screens/0/widgets/0/entity", "tools", "no entity"),
    "a sum of nothing": ("/screens/0/widgets/2/measure", ..., "is required"),
    "a filter by an unknown value": ("/screens/0/widgets/0/filter/values/0", "lent", "no value"),
    "a filter with both": (
        "/screens/0/widgets/1/filter/values",
        ["x"],
        "either",
        "/screens/0/widgets/1/filter",
    ),
    "a time filter on a status": (
        "/screens/0/widgets/1/filter/field",
        "reference",
        "must be date or datetime",
    ),
    "a flow of an unknown role": ("/flows/0/role", "volunter", '"volunteer"?'),
    "a flow to an unknown screen": ("/flows/0/steps/0/screen", "tolls", '"tools"?'),
    "a flow with an unknown record": ("/flows/0/steps/1/record", "tool-9", "no tool record"),
    "a flow beyond the role's screens": (
        "/flows/0",
        {"id": "x", "label": "X", "role": "member", "steps": [{"screen": "home"}]},
        "may not",
        "/flows/0/steps/0/screen",
    ),
    "a setting that does not fit": ("/settings/0/value", "many", "must be a number"),
    "an axis that is none": ("/variant/axes/home", "hall", "must be one of"),
}


@pytest.mark.parametrize("case", SPOILED.values(), ids=SPOILED)
def test_a_spoiled_blueprint_is_refused_with_a_pointer(case):
    place, value, message, *elsewhere = case
    blueprint = small_blueprint()
    put(blueprint, place, value)
    problems = {problem.pointer: problem.message for problem in check_blueprint(blueprint)}
    assert message in problems.get(elsewhere[0] if elsewhere else place, ""), problems


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
