"""Strict JSON in, safe JSON out, and small helpers (§03, WIRE §2)."""

from __future__ import annotations

import json
import math
import pathlib
import random
import subprocess
import sys

import pytest

import protoyard
from protoyard import (
    INTEGER_MAX_DIGITS,
    INVALID_REQUEST,
    JSON_DEPTH_MAX,
    LINE_MAX_BYTES,
    PARSE_ERROR,
    JsonError,
    decode_message,
    json_bytes,
    nearest,
    once,
    parse_json,
    render_document,
    render_json,
    render_wire,
    set_digit_limit,
)

MODULE = pathlib.Path(protoyard.__file__).resolve()


def nested(levels: int, opening: bytes = b"[", closing: bytes = b"]") -> bytes:
    return opening * levels + closing * levels


VALID = [
    ("an object", b'{"a":1,"b":[true,false,null]}', {"a": 1, "b": [True, False, None]}),
    ("a bare string", b'"x"', "x"),
    ("white space of JSON", b' \t\n\r{"a" : 1}\r', {"a": 1}),
    ("an escaped pair", rb'"\ud83d\ude00"', "\U0001f600"),
    ("a lone surrogate", rb'"\ud800"', "\ud800"),
    ("an escaped NUL", rb'"\u0000"', "\0"),
    ("real characters", '"é\u2028鍵"'.encode(), "é\u2028鍵"),
    ("an integer of any size", b"123456789012345678901234567890", 123456789012345678901234567890),
    ("as many digits as allowed", b"-" + b"9" * INTEGER_MAX_DIGITS, -(10**INTEGER_MAX_DIGITS - 1)),
    ("a float", b"-1.5e3", -1500.0),
    ("a number that vanishes", b"1e-999", 0.0),
    ("as deep as allowed", nested(JSON_DEPTH_MAX), None),
    ("as deep as allowed with members", b'{"a":' * JSON_DEPTH_MAX + b"1" + b"}" * JSON_DEPTH_MAX, None),
    ("brackets in a string", b'"' + b"[{" * 200 + b'"', "[{" * 200),
    ("brackets after an escaped quote", b'["\\"' + b"[" * 100 + b'"]', ['"' + "[" * 100]),
    ("brackets after an escaped backslash", b'["\\\\",' + b"[]," * 100 + b"1]", ["\\"] + [[]] * 100 + [1]),
    ("many brackets side by side", b"[" + b"[]," * 200 + b"{}]", [[]] * 200 + [{}]),
    ("one name in two objects", b'[{"a":1},{"a":{"a":2}}]', [{"a": 1}, {"a": {"a": 2}}]),
]

REFUSED = [
    ("nothing", b"", PARSE_ERROR),
    ("white space of another kind", b"\x0c1", PARSE_ERROR),
    ("a no-break space", "\u00a01".encode(), PARSE_ERROR),
    ("a BOM", b"\xef\xbb\xbf{}", PARSE_ERROR),
    ("a second value", b"{} {}", PARSE_ERROR),
    ("a trailing comma in an object", b'{"a":1,}', PARSE_ERROR),
    ("a trailing comma in an array", b"[1,]", PARSE_ERROR),
    ("a comment", b"{} // x", PARSE_ERROR),
    ("single quotes", b"{'a':1}", PARSE_ERROR),
    ("no quotes", b"{a:1}", PARSE_ERROR),
    ("a control character in a string", b'"a\tb"', PARSE_ERROR),
    ("an unknown escape", rb'"\x41"', PARSE_ERROR),
    ("a leading zero", b"01", PARSE_ERROR),
    ("a plus sign", b"+1", PARSE_ERROR),
    ("a missing fraction", b"1.", PARSE_ERROR),
    ("digits of another script", "٣".encode(), PARSE_ERROR),
    ("NaN", b"[NaN]", PARSE_ERROR),
    ("Infinity", b"Infinity", PARSE_ERROR),
    ("minus Infinity", b'{"a":-Infinity}', PARSE_ERROR),
    ("an overflow", b"1e999", PARSE_ERROR),
    ("a negative overflow", b"[-1e999]", PARSE_ERROR),
    ("an overflow without exponent", b"1" * 400 + b".0", PARSE_ERROR),
    ("a digit too many", b"1" * (INTEGER_MAX_DIGITS + 1), PARSE_ERROR),
    ("a digit too many after a sign", b"-" + b"1" * (INTEGER_MAX_DIGITS + 1), PARSE_ERROR),
    ("a digit too many deep inside", b'{"id":[' + b"1" * (INTEGER_MAX_DIGITS + 1) + b"]}", PARSE_ERROR),
    ("invalid UTF-8", b'"\xff"', PARSE_ERROR),
    ("an overlong form", b'"\xc0\xaf"', PARSE_ERROR),
    ("an encoded surrogate", b'"\xed\xa0\x80"', PARSE_ERROR),
    ("beyond Unicode", b'"\xf4\x90\x80\x80"', PARSE_ERROR),
    ("UTF-16", '{"a":1}'.encode("utf-16"), PARSE_ERROR),
    ("UTF-32", '{"a":1}'.encode("utf-32-le"), PARSE_ERROR),
    ("a string without its end", b'{"a":"b', PARSE_ERROR),
    ("too deep", nested(JSON_DEPTH_MAX + 1), INVALID_REQUEST),
    ("too deep with members", b'{"a":' * 65 + b"1" + b"}" * 65, INVALID_REQUEST),
    ("too deep and not closed", b"[" * (JSON_DEPTH_MAX + 1), INVALID_REQUEST),
    ("a line of brackets", b"[" * LINE_MAX_BYTES, INVALID_REQUEST),
    ("a line of braces", b"{" * LINE_MAX_BYTES, INVALID_REQUEST),
    ("too deep before invalid UTF-8", b"\xff" + b"[" * 65, INVALID_REQUEST),
    ("too deep after a syntax error", b"x" + nested(65), INVALID_REQUEST),
    ("too deep after a string with escapes", b'["a\\"]\\\\",' + nested(64) + b"]", INVALID_REQUEST),
    ("brackets in a string without its end", b'["' + b"[" * 200, PARSE_ERROR),
    ("only closing brackets", b"]" * 200 + b"[" * 60, PARSE_ERROR),
    ("a name twice", b'{"a":1,"a":1}', INVALID_REQUEST),
    ("a name twice in two spellings", rb'{"a":1,"\u0061":1}', INVALID_REQUEST),
    ("a name twice deep inside", b'[{"b":{"a":1,"c":2,"a":3}}]', INVALID_REQUEST),
    ("a name twice, then a syntax error", b'[{"a":1,"a":1},]', PARSE_ERROR),
    ("a name twice, then an overflow", b'[{"a":1,"a":1},1e999]', PARSE_ERROR),
    ("a name twice, then a second value", b'{"a":1,"a":1} 2', PARSE_ERROR),
    ("an empty name twice", b'{"":1,"":1}', INVALID_REQUEST),
]


@pytest.mark.parametrize(("_", "line", "value"), VALID, ids=[row[0] for row in VALID])
def test_valid_json_is_read_exactly(_, line, value):
    found = decode_message(line)
    if value is None:
        value = json.loads(line)
    assert found == value
    assert type(found) is type(value)
    assert parse_json(line.decode()) == parse_json(line) == value


@pytest.mark.parametrize(("_", "line", "code"), REFUSED, ids=[row[0] for row in REFUSED])
def test_everything_else_is_refused_with_its_code(_, line, code):
    with pytest.raises(JsonError) as caught:
        decode_message(line)
    assert caught.value.code == code
    assert str(caught.value) == caught.value.message
    assert len(caught.value.message) < 100
    assert caught.value.message.isascii()


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (b'{"a":1,}', "line 1, column 8"),
        (b"[1,\n ]", "line 2, column 2"),
        (b"[1 2]", "line 1, column 4"),
        (b"[1,,2]", "line 1, column 4"),
        (b'{\n"a" 1}', "line 2, column 5"),
        (b"", "line 1, column 1"),
        (b"[\n\n", "line 3, column 1"),
        ('["é" x'.encode(), "line 1, column 6"),
    ],
)
def test_the_place_of_a_syntax_error_is_the_same_on_every_python(line, place):
    with pytest.raises(JsonError, match=f"not valid JSON at {place}$"):
        decode_message(line)


def test_the_place_of_bytes_that_are_no_utf8_is_named():
    with pytest.raises(JsonError, match=r"not valid UTF-8 at byte 3$"):
        decode_message(b'"a\xff"')


def test_only_files_may_begin_with_a_byte_order_mark():
    assert parse_json(b"\xef\xbb\xbf[1]") == parse_json("\ufeff[1]") == [1]
    for text in (b"\xef\xbb\xbf\xef\xbb\xbf1", "\ufeff\ufeff1", "\xef\xbb\xbf1", "1\ufeff"):
        with pytest.raises(JsonError):
            parse_json(text)


def test_text_with_lone_surrogates_is_read():
    assert parse_json('["\udc80"]') == ["\udc80"]
    with pytest.raises(JsonError):
        parse_json("\udc80")


@pytest.mark.parametrize("limit", ["640", "0", "100000"])
def test_the_digit_limit_is_ours_whatever_the_interpreters_setting(limit):
    code = (
        "import protoyard as p; p.set_digit_limit(); d = b'7' * p.INTEGER_MAX_DIGITS\n"
        "assert p.render_wire(p.decode_message(d)) == d + b'\\n'\n"
        "try: p.decode_message(d + b'7')\n"
        "except p.JsonError as error: print(error.code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONINTMAXSTRDIGITS": limit, "PYTHONPATH": str(MODULE.parent)},
        check=True,
    )
    assert done.stdout == f"{PARSE_ERROR}\n"


def test_setting_the_digit_limit_again_changes_nothing():
    set_digit_limit()
    set_digit_limit()
    assert str(10**4000) == "1" + "0" * 4000


OUT = {"é": ["\ud800", "\u2028", "\U0001f600", 1, 2.5, 1e22, True, None], "a": '"\\\n\t/'}


def test_a_line_for_the_wire_is_ascii_and_comes_back_as_it_was():
    line = render_wire(OUT)
    assert line.isascii()
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert b" " not in line
    assert decode_message(line[:-1]) == OUT


def test_compact_json_has_real_characters_and_its_size_counts_a_lone_surrogate_as_three():
    assert render_json({"é": ["\u2028", "\U0001f600"]}) == '{"é":["\u2028","\U0001f600"]}'
    assert parse_json(render_json(OUT)) == OUT
    assert json_bytes({"é": 1}) == len('{"é":1}'.encode())
    assert json_bytes("\ud800") == 2 + 3
    assert json_bytes("\U0001f600") == 2 + 4


def test_a_document_is_indented_ends_with_a_newline_and_can_be_encoded():
    assert render_document({"é": [1], "b": {}}) == '{\n  "é": [\n    1\n  ],\n  "b": {}\n}\n'
    assert parse_json(render_document(OUT).encode()) == {**OUT, "é": ["\ufffd", *OUT["é"][1:]]}


@pytest.mark.parametrize("render", [render_wire, render_json, render_document, json_bytes])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_json_is_never_written(render, number):
    with pytest.raises(ValueError):
        render({"n": number})


def test_once_computes_on_first_use_and_then_remembers():
    calls = []

    @once
    def table():
        """A table."""
        calls.append(1)
        return {"a": len(calls)}

    assert calls == []
    assert table() is table()
    assert calls == [1]
    assert (table.__name__, table.__doc__) == ("table", "A table.")


def test_once_remembers_nothing_too():
    calls = []
    nothing = once(lambda: calls.append(1))
    assert nothing() is nothing() is None
    assert calls == [1]


@pytest.mark.parametrize(
    ("name", "choices", "guess"),
    [
        ("breif", ["brief", "seed", "variants"], "brief"),
        ("Variants", ["brief", "seed", "variants"], "variants"),
        ("variant_count", {"variantCount": 1, "seed": 2}, "variantCount"),
        ("xyz", ["brief", "seed"], None),
        ("", ["brief"], None),
        ("brief", [], None),
        ("text", ["longtext", 3, None, "text"], "text"),
        ("a" * 100_000, ["brief", "a"], None),
    ],
)
def test_the_nearest_name_is_offered_when_one_is_near(name, choices, guess):
    assert nearest(name, choices) == guess


class Oracle:
    """What WIRE §2 says, written down once more and slowly: depth by characters, the rest over json.loads."""

    @staticmethod
    def depth(line: bytes) -> int:
        deepest = depth = 0
        inside = escaped = False
        for byte in line:
            if inside:
                inside = escaped or byte != 0x22
                escaped = byte == 0x5C and not escaped
            elif byte == 0x22:
                inside = True
            else:
                depth += (byte in b"[{") - (byte in b"]}")
                deepest = max(deepest, depth)
        return deepest

    @classmethod
    def read(cls, line: bytes):
        """(code, None) or (0, value)."""
        if cls.depth(line) > JSON_DEPTH_MAX:
            return INVALID_REQUEST, None
        repeated = []

        def members(pairs):
            repeated.extend([1] * (len(pairs) != len(dict(pairs))))
            return dict(pairs)

        try:
            value = json.loads(line.decode("utf-8"), object_pairs_hook=members)
        except ValueError:
            return PARSE_ERROR, None
        stack = [value]
        while stack:
            item = stack.pop()
            stack += item if isinstance(item, list) else item.values() if isinstance(item, dict) else []
            if isinstance(item, float) and not math.isfinite(item):
                return PARSE_ERROR, None
        return (INVALID_REQUEST, None) if repeated else (0, value)


PIECES = [
    b"[",
    b"]",
    b"{",
    b"}",
    b'"',
    b"\\",
    b",",
    b":",
    b" ",
    b"\n",
    b"1",
    b"-",
    b".",
    b"e9",
    b"e999",
    b"null",
    b"true",
    b"NaN",
    b"Infinity",
    b'"a"',
    b'"a":',
    b'{"a":1}',
    b'{"a":1,"a":2}',
    b"[" * 64,
    b"]" * 64,
    b"\\u",
    b"\\ud800",
    b'\\"',
    b"\xc3\xa9",
    b"\xff",
    b"\x00",
    b"0",
]


def random_value(source: random.Random, depth: int = 0):
    kind = source.randrange(8 if depth < 6 else 6)
    if kind == 6:
        return [random_value(source, depth + 1) for _ in range(source.randrange(4))]
    if kind == 7:
        return {
            random_value(source, 9)
            if False
            else source.choice("abcdé\ud800") * source.randint(0, 2): random_value(source, depth + 1)
            for _ in range(source.randrange(4))
        }
    return [
        None,
        True,
        source.randint(-(10**30), 10**30),
        source.uniform(-1e9, 1e9),
        'x\u2028\\"\ud800',
        source.choice("[{é\U0001f600") * 3,
    ][kind]


def check_against_the_oracle(line: bytes) -> None:
    code, value = Oracle.read(line)
    try:
        found = decode_message(line)
    except JsonError as error:
        assert error.code == code, line
    else:
        assert (code, render_json(value)) == (0, render_json(found)), line


@pytest.mark.parametrize("seed", range(10))
def test_any_bytes_give_a_value_or_a_json_error_as_a_plain_reading_of_the_rules_does(seed):
    source = random.Random(seed)
    for _ in range(300):
        check_against_the_oracle(b"".join(source.choices(PIECES, k=source.randint(0, 12))))
        check_against_the_oracle(
            source.choice([b"[", b'"', b"{"]) + bytes(source.choices(range(256), k=source.randint(0, 8)))
        )


@pytest.mark.parametrize("seed", range(10))
def test_valid_json_agrees_with_the_standard_reader_also_after_a_few_changes(seed):
    source = random.Random(seed)
    for _ in range(200):
        value = random_value(source)
        line = bytearray(
            json.dumps(value, ensure_ascii=source.random() < 0.5, indent=source.choice([None, 1])).encode(
                "utf-8", "surrogatepass"
            )
        )
        if b"\xed\xa0\x80" not in line:
            assert render_json(decode_message(bytes(line))) == render_json(value)
        for _ in range(source.randint(1, 3)):
            at = source.randrange(len(line) + 1)
            line[at : at + source.randrange(3)] = source.choice(PIECES)
        check_against_the_oracle(bytes(line))
