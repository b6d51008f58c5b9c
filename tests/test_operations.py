"""§15: the rows, and what is made of them: schemas, argument vectors, checks."""

from __future__ import annotations

import re

import pytest

from protoyard import (
    DESCRIPTION_MAX_CHARS,
    ITERATE_STEPS,
    OPERATIONS,
    PROMOTE_STEPS,
    QUICK_STEPS,
    Call,
    Failure,
    build_argv,
    check_arguments,
    execute,
    parse_command_line,
    render_tool,
)

ROWS = {row.name: row for row in OPERATIONS}
TOOLS = [render_tool(row) for row in OPERATIONS]
KEYWORDS = {
    "type",
    "description",
    "enum",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "default",
}


def test_the_rows_stand_in_the_order_of_the_contract():
    order = ["quick", "iterate", "promote", "list", "show", "validate", "blueprint_schema"]
    assert list(ROWS) == [name for name in order if name in ROWS]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool["name"])
def test_a_tool_has_a_shape_that_every_host_accepts(tool):
    assert list(tool) == ["name", "title", "description", "inputSchema", "annotations"]
    assert re.fullmatch(r"[a-z][a-z0-9_]{0,23}", tool["name"])
    assert 40 < len(tool["description"]) <= DESCRIPTION_MAX_CHARS
    schema = tool["inputSchema"]
    assert list(schema) == ["type", "properties", "required", "additionalProperties"]
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    assert set(schema["required"]) <= set(schema["properties"])
    for name, member in schema["properties"].items():
        assert re.fullmatch(r"[a-zA-Z][A-Za-z0-9]{0,63}", name)
        assert member["type"] in ("string", "integer", "boolean")
        assert member["description"]
        assert set(member) <= KEYWORDS


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool["name"])
def test_all_hints_are_explicit_and_honest(tool):
    hints = tool["annotations"]
    writes = tool["name"] in ("quick", "iterate", "promote")
    assert hints == {
        "title": tool["title"],
        "readOnlyHint": not writes,
        "destructiveHint": False,
        "idempotentHint": not writes,
        "openWorldHint": False,
    }


VALUES = {
    "a flag that is true is bare": ("show", {"slug": "a", "records": True}, ["show", "--records", "--", "a"]),
    "a flag that is false is left out": ("show", {"slug": "a", "records": False}, ["show", "--", "a"]),
    "options come before the mark, positionals after": (
        "quick",
        {"brief": "x", "seed": 0, "variants": 2},
        ["quick", "--seed=0", "--variants=2", "--", "x"],
    ),
    "a brief that looks like an option is data": ("quick", {"brief": "--json"}, ["quick", "--", "--json"]),
    "a brief that looks like the mark is data": ("quick", {"brief": "--"}, ["quick", "--", "--"]),
    "no argument at all": ("blueprint_schema", {}, ["blueprint-schema", "--"]),
}


@pytest.mark.parametrize("case", VALUES.values(), ids=VALUES)
def test_an_argument_vector_reads_back_as_the_same_values(case):
    name, values, argv = case
    row = ROWS[name]
    assert build_argv(row, values) == argv
    invocation = parse_command_line(argv, OPERATIONS)
    assert invocation.row is row
    assert invocation.values == {key: value for key, value in values.items() if value is not False}


REFUSED = {
    "an unknown field": ("list", {"limitt": 3}, ["limitt: is not a known field", 'did you mean "limit"?']),
    "a missing field": ("show", {}, ["slug: is required"]),
    "a boolean as an integer": (
        "quick",
        {"brief": "x", "seed": True},
        ["seed: must be an integer, not boolean"],
    ),
    "a fraction as an integer": (
        "quick",
        {"brief": "x", "seed": 2.0},
        ["seed: must be an integer, not number"],
    ),
    "null for an optional field": (
        "quick",
        {"brief": "x", "seed": None},
        ["seed: must be an integer, not null"],
    ),
    "too many variants": ("quick", {"brief": "x", "variants": 7}, ["variants: must be at most 6"]),
    "an empty brief": ("quick", {"brief": ""}, ["brief: must not be empty"]),
    "a brief of white space": ("quick", {"brief": " \n\t\u2003"}, ["brief: holds white space only"]),
    "a brief of 4,001 characters": (
        "quick",
        {"brief": "x" * 4001},
        ["brief: has 4001 characters; at most 4000"],
    ),
    "a dash for standard input": ("quick", {"brief": "-"}, ["brief: standard input"]),
    "a slug with a capital": ("show", {"slug": "Abc"}, ["slug: must match"]),
    "a slug with a newline at its end": ("show", {"slug": "abc\n"}, ["slug: must match"]),
    "a slug of 49 characters": ("show", {"slug": "a" * 49}, ["slug: has 49 characters; at most 48"]),
    "records without a variant": ("show", {"slug": "a", "records": True}, ["records: needs variant"]),
    "everything wrong at once": (
        "quick",
        {"brief": "", "seed": -1, "variants": 0, "slug": "A", "colour": "red"},
        ["brief:", "seed: must be at least 0", "variants: must be at least 1", "slug: must match", "colour:"],
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_bad_arguments_are_refused_with_every_problem_and_its_field(case):
    name, values, parts = case
    with pytest.raises(Failure) as raised:
        check_arguments(ROWS[name], values)
    assert raised.value.code == "invalid_arguments"
    assert raised.value.hint
    for part in parts:
        assert part in raised.value.message


def test_defaults_are_filled_in():
    assert check_arguments(ROWS["list"], {}) == {"limit": 50}
    filled = check_arguments(ROWS["quick"], {"brief": "x"})
    assert filled == {"brief": "x", "variants": 3, "screenshots": False}


STEPS = {
    "quick": (QUICK_STEPS, ["quick", "--variants=1", "--slug=kites", "--", "Track kites."]),
    "iterate": (ITERATE_STEPS, ["iterate", '--patch={"title":"Kites!"}', "--", "prototypes/kites/a"]),
    "promote": (PROMOTE_STEPS, ["promote", "--", "kites"]),
}


def test_the_longer_operations_tell_their_steps_with_a_total(tmp_path):
    for steps, argv in STEPS.values():
        told = []
        call = Call(on_progress=lambda *one, told=told: told.append(one))
        done = execute(argv, rows=OPERATIONS, call=call, directory=str(tmp_path))
        assert done["ok"], done
        assert [message for _, _, message in told] == [name for name in steps if name != "install"]
        assert {total for _, total, _ in told} == {len(steps)}
        assert [number for number, _, _ in told] == list(range(1, len(told) + 1))
