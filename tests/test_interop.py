"""Other people's judges: a JSON Schema validator on what is published, a property tester on the framing."""

from __future__ import annotations

import json

import pytest

from protoyard import (
    BLUEPRINT_FILE_MAX_BYTES,
    OPERATIONS,
    Framer,
    blueprint_schema,
    check_blueprint,
    check_schema,
    draft_blueprints,
    fill_records,
    render_blueprint,
    render_input_schema,
)

BRIEFS = [
    "A fictional field service team schedules equipment inspections and tracks visits.",
    "Volunteers lend tools to members. No fines.",
    "Una clínica agenda citas y lleva el historial de cada paciente.",
    "社内備品の貸出管理アプリ。社員は備品を予約する。",
    "todo",
]


@pytest.fixture(scope="module")
def validator():
    """The validator of the dialect that the schemas name."""
    jsonschema = pytest.importorskip("jsonschema", reason="needs the interop group")
    return jsonschema.Draft202012Validator


def test_every_published_schema_is_a_schema_of_its_dialect(validator):
    validator.check_schema(blueprint_schema())
    for row in OPERATIONS:
        validator.check_schema(render_input_schema(row))


@pytest.mark.parametrize("brief", BRIEFS)
def test_what_quick_makes_is_valid_for_another_validator_too(brief, validator):
    for blueprint in draft_blueprints(brief, seed=1, variants=6).blueprints:
        filled = fill_records(blueprint)[0]
        assert check_blueprint(filled) == []
        assert [error.message for error in validator(blueprint_schema()).iter_errors(filled)] == []
        assert len(render_blueprint(filled).encode("utf-8")) < BLUEPRINT_FILE_MAX_BYTES


VALUES = [None, True, 0, 1, -1, 7, 1.5, "", "a", "A", "a-b", "x" * 49, [], {}, ["a"], 10**9]


def test_both_validators_agree_on_arguments_where_json_schema_and_the_contract_do(validator):
    for row in OPERATIONS:
        schema = render_input_schema(row)
        for name in [*schema["properties"], "unknown"]:
            for value in VALUES:
                arguments = {**dict.fromkeys(schema["required"], "a"), name: value}
                theirs = not list(validator(schema).iter_errors(arguments))
                assert theirs == (not check_schema(arguments, schema)), (row.name, name, value)


def test_any_split_of_any_bytes_gives_the_same_lines():
    hypothesis = pytest.importorskip("hypothesis", reason="needs the interop group")
    strategies = pytest.importorskip("hypothesis.strategies", reason="needs the interop group")
    piece = strategies.sampled_from(
        [b"\n", b"\r\n", b"{}", b"\xef\xbb\xbf", b" ", json.dumps("é").encode(), b"\x00"]
    )

    @hypothesis.settings(max_examples=300, deadline=None)
    @hypothesis.given(
        strategies.lists(strategies.one_of(piece, strategies.binary(max_size=9))), strategies.data()
    )
    def check(pieces, draw):
        stream = b"".join(pieces)
        whole = Framer()
        expected = [*whole.feed(stream), *whole.end()]
        cut = draw.draw(strategies.lists(strategies.integers(0, len(stream)), max_size=4).map(sorted))
        framer, found, start = Framer(), [], 0
        for end in [*cut, len(stream)]:
            found += framer.feed(stream[start:end])
            start = end
        assert [*found, *framer.end()] == expected

    check()
