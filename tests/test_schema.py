"""§04: the checker of the published JSON Schema subset."""

from __future__ import annotations

import pytest

from protoyard import Problem, check_schema, describe_problems, render_pointer, type_name

CLOSED = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 3},
        "count": {"type": "integer", "minimum": 1, "maximum": 6},
    },
}

FITS = {
    "a closed object with all its members": ({"name": "abc", "count": 6}, CLOSED),
    "an optional member left out": ({"name": "a"}, CLOSED),
    "an emoji is one character": ("🙂🙂🙂", {"type": "string", "maxLength": 3}),
    "an integer is a number": (3, {"type": "number"}),
    "a fraction is a number": (3.5, {"type": "number"}),
    "no type means any value": ([1, "x", None], {}),
    "null has a type of its own": (None, {"type": "null"}),
    "a boolean const": (True, {"const": True}),
    "an open object with typed extras": (
        {"a": 1},
        {"type": "object", "additionalProperties": {"type": "integer"}},
    ),
    "as many items as allowed": ([1, 2], {"type": "array", "minItems": 1, "maxItems": 2}),
}

BREAKS = {
    "a boolean is no integer": (True, {"type": "integer"}, "", "must be an integer, not boolean"),
    "a boolean is no number": (False, {"type": "number"}, "", "must be a number, not boolean"),
    "2.0 is no integer": (2.0, {"type": "integer"}, "", "must be an integer, not number"),
    "null is no string": (None, {"type": "string"}, "", "must be a string, not null"),
    "an array is no object": ([], {"type": "object"}, "", "must be an object, not array"),
    "1 is not the const true": (1, {"const": True}, "", "must be true"),
    "an empty string where one character is needed": (
        "",
        {"type": "string", "minLength": 1},
        "",
        "must not be empty",
    ),
    "a string too short": ("a", {"type": "string", "minLength": 2}, "", "at least 2 characters"),
    "a string too long": ("abcd", {"type": "string", "maxLength": 3}, "", "has 4 characters; at most 3"),
    "a pattern is matched whole, newline included": (
        "ab\n",
        {"type": "string", "pattern": "^[a-z]+$"},
        "",
        "must match",
    ),
    "a number too small": (0, {"type": "integer", "minimum": 1}, "", "at least 1"),
    "a number too large": (7, {"type": "integer", "maximum": 6}, "", "at most 6"),
    "an unknown enum value": ("lst", {"enum": ["list", "board"]}, "", 'did you mean "list"?'),
    "a missing member": ({}, CLOSED, "/name", "is required"),
    "an unknown member with a near name": (
        {"name": "a", "cuont": 1},
        CLOSED,
        "/cuont",
        'did you mean "count"?',
    ),
    "an unknown member with no near name": (
        {"name": "a", "zzz": 1},
        CLOSED,
        "/zzz",
        "known are: name, count",
    ),
    "a member name with slash and tilde": (
        {"name": "a", "x/y~z": 1},
        CLOSED,
        "/x~1y~0z",
        "is not a known field",
    ),
    "too few items": ([], {"type": "array", "minItems": 1}, "", "at least 1 items"),
    "too many items": ([1, 2], {"type": "array", "maxItems": 1}, "", "has 2 items; at most 1"),
    "a wrong item deep inside": (
        {"a": [1, "x"]},
        {"properties": {"a": {"items": {"type": "integer"}}}},
        "/a/1",
        "integer",
    ),
}


@pytest.mark.parametrize("case", FITS.values(), ids=FITS)
def test_fits(case):
    value, schema = case
    assert check_schema(value, schema) == []


@pytest.mark.parametrize("case", BREAKS.values(), ids=BREAKS)
def test_breaks_once_and_says_where(case):
    value, schema, pointer, message = case
    problems = check_schema(value, schema)
    assert [problem.pointer for problem in problems] == [pointer]
    assert message in problems[0].message


def test_every_problem_is_reported_at_once():
    problems = check_schema({"count": 9, "extra": 1}, CLOSED)
    assert {problem.pointer for problem in problems} == {"/name", "/count", "/extra"}


def test_a_long_list_of_problems_is_counted_not_dropped():
    text = describe_problems([Problem(f"/{number}", "is wrong") for number in range(23)])
    assert text.endswith("and 3 more")
    assert "/19: is wrong" in text
    assert "/20" not in text


def test_of_a_problem_without_end_the_beginning_and_the_end_are_shown():
    problems = check_schema({"name": "a", "x" * 100_000: 1}, CLOSED)
    text = describe_problems(problems)
    assert text.startswith("/xxx")
    assert text.endswith("known are: name, count")
    assert len(text) < 3000


def test_pointer_escapes():
    assert render_pointer("/a", "b/c~d") == "/a/b~1c~0d"
    assert render_pointer("", 0) == "/0"


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (True, "boolean"),
        (1, "integer"),
        (1.0, "number"),
        ("", "string"),
        ([], "array"),
        ({}, "object"),
        (None, "null"),
    ],
)
def test_type_names_are_those_of_json_schema(value, name):
    assert type_name(value) == name
