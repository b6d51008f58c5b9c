"""§17 without any input or output: lines, messages, revisions, methods, calls in flight, and what no input may do."""

from __future__ import annotations

import itertools
import json
import os
import random

import pytest
from conftest import LEGACY, MODERN

import protoyard
from protoyard import Cancel, Fault, Framer, Send, Session, Start

LIMIT = 327_680
TOO_LONG = None
BOM = b"\xef\xbb\xbf"
INFO = {"name": "test", "title": "Test", "version": "1"}
TOOLS = [{"name": "echo", "inputSchema": {"type": "object"}}]
VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
CLIENT = "io.modelcontextprotocol/clientInfo"


@pytest.fixture(autouse=True, scope="module")
def digit_limit():
    protoyard.set_digit_limit()


def new_session(*, greeted: bool = False) -> Session:
    session = Session(TOOLS, INFO, "Use it.")
    if greeted:
        session.receive(line(request(0, "initialize", protocolVersion=LEGACY)))
    return session


def request(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def named(revision, **more):
    return {VERSION: revision, **more}


def line(message) -> bytes:
    return (message if isinstance(message, bytes) else json.dumps(message).encode()) + b"\n"


def answers(effects) -> list:
    return [json.loads(effect.line) for effect in effects if isinstance(effect, Send)]


def ask(session, message):
    found = answers(session.receive(line(message)))
    assert len(found) == 1, found
    assert found[0]["jsonrpc"] == "2.0"
    return found[0]


def started(session, number, name="echo", **params) -> protoyard.ToolCall:
    params = {"name": name, "_meta": named(MODERN, **params.pop("meta", {})), **params}
    effects = session.receive(line(request(number, "tools/call", **params)))
    assert [type(effect) for effect in effects] == [Start]
    return effects[0].call


# --- framing ----------------------------------------------------------

FRAMES = {
    "one line": (b"{}\n", [b"{}"]),
    "two lines in one piece": (b"1\n2\n", [b"1", b"2"]),
    "a line that ends in CR LF": (b"1\r\n", [b"1\r"]),
    "the last line without its newline": (b"1\n2", [b"1", b"2"]),
    "nothing at all": (b"", []),
    "blank lines of JSON's white space": (b"\n \t\r\n\r\n1\n \n", [b"1"]),
    "a form feed is no white space": (b"\f\n", [b"\f"]),
    "characters that other readers take for line ends": (
        "\u2028\u2029\x85\x0b\x1c".encode() + b"\r1\n",
        ["\u2028\u2029\x85\x0b\x1c".encode() + b"\r1"],
    ),
    "a byte order mark at the start": (BOM + b"1\n", [b"1"]),
    "a byte order mark and nothing else": (BOM, []),
    "a second byte order mark": (BOM + BOM + b"1\n", [BOM + b"1"]),
    "a byte order mark on the second line": (b"1\n" + BOM + b"2\n", [b"1", BOM + b"2"]),
    "half a byte order mark": (BOM[:2] + b"\n", [BOM[:2]]),
    "half a byte order mark at the end": (BOM[:2], [BOM[:2]]),
    "as long as allowed": (b"x" * LIMIT + b"\n2\n", [b"x" * LIMIT, b"2"]),
    "as long as allowed with CR LF": (b"x" * LIMIT + b"\r\n2\n", [b"x" * LIMIT + b"\r", b"2"]),
    "as long as allowed after a byte order mark": (BOM + b"x" * LIMIT + b"\n", [b"x" * LIMIT]),
    "as long as allowed without a newline": (b"x" * LIMIT, [b"x" * LIMIT]),
    "one byte longer": (b"x" * (LIMIT + 1) + b"\n2\n", [TOO_LONG, b"2"]),
    "one byte longer with CR LF": (b"x" * (LIMIT + 1) + b"\r\n2\n", [TOO_LONG, b"2"]),
    "one byte longer, a CR": (b"x" * LIMIT + b"\r\r\n2\n", [TOO_LONG, b"2"]),
    "one byte longer without a newline": (b"x" * (LIMIT + 1), [TOO_LONG]),
    "a CR without its LF counts": (b"x" * LIMIT + b"\r", [TOO_LONG]),
    "a CR that something else follows counts": (b"x" * LIMIT + b"\rx\n2", [TOO_LONG, b"2"]),
    "blanks that are too many": (b" " * (LIMIT + 1) + b"\n2", [TOO_LONG, b"2"]),
    "two in a row that are too long": ((b"x" * (LIMIT + 1) + b"\n") * 2 + b"2\n", [TOO_LONG, TOO_LONG, b"2"]),
}


def frame(pieces) -> list:
    framer = Framer()
    return [found for piece in pieces for found in framer.feed(piece)] + framer.end()


def places_to_cut(data: bytes) -> list[int]:
    """All of a short stream; of a long one those near its ends and near the limit."""
    near = {0, LIMIT, len(data)}
    return [
        cut for cut in range(len(data) + 1) if len(data) < 512 or any(abs(cut - place) < 64 for place in near)
    ]


@pytest.mark.parametrize("name", FRAMES)
def test_bytes_become_the_same_lines_in_any_split(name):
    data, lines = FRAMES[name]
    assert frame([data]) == lines
    assert frame(data[place : place + 1] for place in range(len(data))) == lines
    for cut in places_to_cut(data):
        assert frame([data[:cut], data[cut:]]) == lines, f"cut at {cut}"


def test_a_short_line_is_not_held_back_for_a_mark_that_it_cannot_be():
    assert Framer().feed(b"1\n") == [b"1"]


def test_an_endless_line_is_told_once_and_not_kept():
    framer = Framer()
    told = [found for _ in range(1000) for found in framer.feed(b"x" * 65536)]
    assert told == [TOO_LONG]
    assert len(framer._line) <= LIMIT + 65537
    assert framer.feed(b"\n1\n") == [b"1"]


# --- the message: WIRE §2-3 -------------------------------------------

OK = "result"
BROKEN = {
    "an array": (b"[]", -32600, None),
    "a batch": (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
    "a number": (b"42", -32600, None),
    "a string": (b'"x"', -32600, None),
    "true": (b"true", -32600, None),
    "null": (b"null", -32600, None),
    "an empty object": (b"{}", -32600, None),
    "no JSON": (b"{]", -32700, None),
    "half an object": (b'{"jsonrpc":"2.0","id":7,"method":"ping"', -32700, None),
    "two values": (b"{}{}", -32700, None),
    "a byte that is no UTF-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', -32700, None),
    "UTF-16": ('{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16"), -32700, None),
    "NaN": (b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', -32700, None),
    "a number that is too large": (b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}', -32700, None),
    "a name twice": (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32600, None),
    "brackets only": (b"[" * LIMIT, -32600, None),
    "no jsonrpc": ({"id": 1, "method": "ping"}, -32600, 1),
    "another jsonrpc": ({"jsonrpc": "1.0", "id": "a", "method": "ping"}, -32600, "a"),
    "jsonrpc as a number": ({"jsonrpc": 2.0, "id": 1, "method": "ping"}, -32600, 1),
    "another jsonrpc and a bad id": ({"jsonrpc": "1.0", "id": 1.5, "method": "ping"}, -32600, None),
    "another jsonrpc and no id": ({"jsonrpc": "1.0", "method": "ping"}, -32600, None),
    "a null id": ({"jsonrpc": "2.0", "id": None, "method": "ping"}, -32600, None),
    "a boolean id": ({"jsonrpc": "2.0", "id": True, "method": "ping"}, -32600, None),
    "a fractional id": ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, -32600, None),
    "an integer with an exponent": (b'{"jsonrpc":"2.0","id":1e2,"method":"ping"}', -32600, None),
    "an integer with a fraction": (b'{"jsonrpc":"2.0","id":1.0,"method":"ping"}', -32600, None),
    "an array as id": ({"jsonrpc": "2.0", "id": [], "method": "ping"}, -32600, None),
    "an object as id": ({"jsonrpc": "2.0", "id": {}, "method": "ping"}, -32600, None),
    "a bad id before a bad method": ({"jsonrpc": "2.0", "id": {}, "method": 1}, -32600, None),
    "no method": ({"jsonrpc": "2.0", "id": 1}, -32600, 1),
    "a method that is no string": ({"jsonrpc": "2.0", "id": 1, "method": 5}, -32600, 1),
    "a method that is null, beside a result": (
        {"jsonrpc": "2.0", "id": 1, "method": None, "result": 1},
        -32600,
        1,
    ),
    "no method and no id": ({"jsonrpc": "2.0"}, -32600, None),
    "params as an array": ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}, -32602, 1),
    "params as null": ({"jsonrpc": "2.0", "id": 1, "method": "nope", "params": None}, -32602, 1),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("greeted", [False, True], ids=["first of all", "after a handshake"])
def test_a_broken_message_gets_its_error_and_the_next_is_served(name, greeted):
    message, code, number = BROKEN[name]
    session = new_session(greeted=greeted)
    found = ask(session, message)
    assert (found["error"]["code"], found["id"], type(found["id"])) == (code, number, type(number))
    assert len(found["error"]["message"]) > 8
    assert ask(session, request(2, "ping")) == {"jsonrpc": "2.0", "id": 2, "result": {}}


SILENT = {
    "a response": {"jsonrpc": "2.0", "id": 1, "result": {}},
    "an error from the client": {"id": 1, "error": {}},
    "a response without anything else": {"result": None},
    "initialized": {"jsonrpc": "2.0", "method": "notifications/initialized"},
    "an unknown notification": {"jsonrpc": "2.0", "method": "notifications/nope", "params": 5},
    "a request without an id": {"jsonrpc": "2.0", "method": "tools/list"},
    "a call without an id": {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "echo"}},
    "a handshake without an id": {"jsonrpc": "2.0", "method": "initialize", "params": {}},
    "a cancellation of nothing": {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 1},
    },
    "a cancellation without parameters": {"jsonrpc": "2.0", "method": "notifications/cancelled"},
    "a cancellation of an object": {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": {}},
    },
}


@pytest.mark.parametrize("name", SILENT)
def test_what_is_no_request_is_never_answered(name):
    session = new_session()
    assert session.receive(line(SILENT[name])) == []
    assert ask(session, request(1, "tools/list"))["error"]["code"] == -32602  # it was no handshake either


IDS = [
    0,
    -5,
    1,
    "1",
    "",
    "é🙂",
    9007199254740993,
    10**4299,
    -(10**4299),
    "\ud800",
    "x" * 300_000,
    "a\nb\u2028",
]


@pytest.mark.parametrize("number", IDS, ids=range(len(IDS)))
def test_an_id_comes_back_as_it_was(number):
    effect = new_session().receive(line(request(number, "ping")))[0]
    assert effect.line.isascii()
    assert effect.line.count(b"\n") == 1
    found = json.loads(effect.line)["id"]
    assert (found, type(found)) == (number, type(number))


# --- revisions: WIRE §4 -----------------------------------------------

BOTH = {"supported": [MODERN, LEGACY]}
REVISIONS = {
    "initialize without a version": ("initialize", {}, -32602, None),
    "initialize with a number": ("initialize", {"protocolVersion": 1}, -32602, None),
    "initialize with capabilities that are null": (
        "initialize",
        {"protocolVersion": LEGACY, "capabilities": None},
        -32602,
        None,
    ),
    "initialize with a clientInfo that is a string": (
        "initialize",
        {"protocolVersion": "nope", "clientInfo": "x"},
        -32602,
        None,
    ),
    "initialize naming another": (
        "initialize",
        {"protocolVersion": "2024-11-05"},
        -32022,
        {**BOTH, "requested": "2024-11-05"},
    ),
    "a trailing newline is another": (
        "initialize",
        {"protocolVersion": LEGACY + "\n"},
        -32022,
        {**BOTH, "requested": LEGACY + "\n"},
    ),
    "initialize naming the legacy one": ("initialize", {"protocolVersion": LEGACY}, OK, LEGACY),
    "initialize naming the modern one": ("initialize", {"protocolVersion": MODERN}, OK, LEGACY),
    "initialize whatever its _meta is": ("initialize", {"protocolVersion": LEGACY, "_meta": 5}, OK, LEGACY),
    "initialize whatever its _meta names": (
        "initialize",
        {"protocolVersion": LEGACY, "_meta": named(MODERN)},
        OK,
        LEGACY,
    ),
    "_meta null": ("tools/list", {"_meta": None}, -32602, None),
    "_meta an array": ("nope", {"_meta": []}, -32602, None),
    "a version that is null": ("tools/list", {"_meta": named(None)}, -32602, None),
    "a version that is a number": ("nope", {"_meta": named(1)}, -32602, None),
    "an unsupported version, before the method is looked at": (
        "nope",
        {"_meta": named("2025-06-18")},
        -32022,
        {**BOTH, "requested": "2025-06-18"},
    ),
    "an unsupported version before bad capabilities": (
        "ping",
        {"_meta": named("x", **{CAPABILITIES: 1})},
        -32022,
        {**BOTH, "requested": "x"},
    ),
    "capabilities that are null": (
        "tools/list",
        {"_meta": named(MODERN, **{CAPABILITIES: None})},
        -32602,
        None,
    ),
    "client information that is a list": ("nope", {"_meta": named(LEGACY, **{CLIENT: []})}, -32602, None),
    "capabilities without a version": ("ping", {"_meta": {CAPABILITIES: 1}}, -32602, None),
    "the modern one": ("ping", {"_meta": named(MODERN)}, OK, MODERN),
    "the legacy one without a handshake": ("ping", {"_meta": named(LEGACY)}, OK, LEGACY),
    "the modern one with all it may say": (
        "ping",
        {"_meta": named(MODERN, **{CAPABILITIES: {}, CLIENT: {}, "x": None})},
        OK,
        MODERN,
    ),
}


def revision_of(result) -> str:
    if "protocolVersion" in result:
        return LEGACY
    return MODERN if result.get("resultType") == "complete" else LEGACY


@pytest.mark.parametrize("greeted", [False, True], ids=["first of all", "after a handshake"])
@pytest.mark.parametrize("name", REVISIONS)
def test_what_a_request_names_decides_who_serves_it(name, greeted):
    method, params, code, data = REVISIONS[name]
    found = ask(new_session(greeted=greeted), request("x", method, **params))
    assert found["id"] == "x"
    if code is OK:
        assert revision_of(found["result"]) == data
        return
    assert found["error"]["code"] == code
    assert found["error"].get("data") == data
    if code == -32022:
        assert found["error"]["message"] == "Unsupported protocol version"


@pytest.mark.parametrize("method", ["tools/list", "tools/call", "server/discover", "nope", ""])
def test_without_a_version_and_a_handshake_only_ping_is_served(method):
    session = new_session()
    error = ask(session, request(1, method))["error"]
    assert (error["code"], error["data"]) == (-32602, BOTH)
    assert "_meta" in error["message"]
    assert "initialize" in error["message"]
    assert ask(session, request(2, "ping"))["result"] == {}


def test_a_refused_handshake_is_none():
    session = new_session()
    ask(session, request(1, "initialize", protocolVersion="2024-11-05"))
    assert ask(session, request(2, "tools/list"))["error"]["code"] == -32602


def test_both_eras_take_turns_on_one_stream():
    session = new_session()
    for _ in range(2):
        assert revision_of(ask(session, request(1, "tools/list", _meta=named(MODERN)))["result"]) == MODERN
        assert ask(session, request(2, "initialize", protocolVersion=LEGACY))["result"]["serverInfo"] == INFO
        assert revision_of(ask(session, request(3, "tools/list"))["result"]) == LEGACY
        assert (
            revision_of(ask(session, request(4, "server/discover", _meta=named(MODERN)))["result"]) == MODERN
        )


# --- methods: WIRE §5 -------------------------------------------------

MORE = {"resultType": "complete", "_meta": {"io.modelcontextprotocol/serverInfo": INFO}}
CACHE = {"ttlMs": 3_600_000, "cacheScope": "public"}
RESULTS = {
    ("server/discover", MODERN): {
        "supportedVersions": [MODERN, LEGACY],
        "capabilities": {"tools": {}},
        "instructions": "Use it.",
        **CACHE,
        **MORE,
    },
    ("ping", MODERN): MORE,
    ("ping", LEGACY): {},
    ("tools/list", MODERN): {"tools": TOOLS, **CACHE, **MORE},
    ("tools/list", LEGACY): {"tools": TOOLS},
}


@pytest.mark.parametrize(("method", "revision"), RESULTS)
def test_a_result_has_its_shape(method, revision):
    found = ask(new_session(), request(1, method, _meta=named(revision)))
    assert found == {"jsonrpc": "2.0", "id": 1, "result": RESULTS[method, revision]}


def test_the_handshake_has_its_shape():
    assert ask(new_session(), request(1, "initialize", protocolVersion=MODERN))["result"] == {
        "protocolVersion": LEGACY,
        "capabilities": {"tools": {}},
        "serverInfo": INFO,
        "instructions": "Use it.",
    }


UNKNOWN = [
    "resources/list",
    "prompts/list",
    "logging/setLevel",
    "completion/complete",
    "subscriptions/listen",
    "x",
]


@pytest.mark.parametrize("revision", [MODERN, LEGACY])
@pytest.mark.parametrize("method", UNKNOWN)
def test_another_method_is_not_found(method, revision):
    error = ask(new_session(), request(1, method, _meta=named(revision)))["error"]
    assert error["code"] == -32601
    assert method in error["message"]
    assert "tools/list" in error["message"]


def test_discovery_belongs_to_the_modern_revision():
    assert ask(new_session(greeted=True), request(1, "server/discover"))["error"]["code"] == -32601


@pytest.mark.parametrize("cursor", [None, "", "x", 1])
@pytest.mark.parametrize("revision", [MODERN, LEGACY])
def test_no_cursor_is_accepted_because_none_is_issued(cursor, revision):
    found = ask(new_session(), request(1, "tools/list", cursor=cursor, _meta=named(revision)))
    assert found["error"]["code"] == -32602


CALLS = {
    "no name": {},
    "a name that is null": {"name": None},
    "a name that is a number": {"name": 1, "arguments": {}},
    "arguments that are null": {"name": "echo", "arguments": None},
    "arguments that are text": {"name": "echo", "arguments": "{}"},
    "arguments that are a list": {"name": "echo", "arguments": []},
}


@pytest.mark.parametrize("revision", [MODERN, LEGACY])
@pytest.mark.parametrize("name", CALLS)
def test_a_call_with_broken_parameters_is_refused(name, revision):
    session = new_session()
    found = ask(session, request(1, "tools/call", **CALLS[name], _meta=named(revision)))
    assert (found["error"]["code"], found["id"]) == (-32602, 1)


def test_a_call_without_arguments_has_none_and_unknown_members_are_ignored():
    call = started(new_session(), 1, task={}, requestState=None)
    assert (call.id, call.name, call.arguments, call.progress_token) == (1, "echo", {}, None)


# --- calls in flight: WIRE §7 -----------------------------------------


def cancel(session, number):
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
    return session.receive(line(message))


def test_an_id_in_flight_is_taken_whatever_asks_and_the_first_is_not_disturbed():
    session = new_session()
    call = started(session, 1)
    for method in ("ping", "tools/call", "nope", "initialize"):
        found = ask(session, request(1, method, name="echo", _meta=named(MODERN)))
        assert (found["id"], found["error"]["code"]) == (None, -32600)
        assert "the id 1 " in found["error"]["message"]
    assert answers(session.finish(call, b'{"it":1}\n')) == [{"it": 1}]
    assert "result" in ask(session, request(1, "ping"))


def test_one_as_number_and_as_text_are_two_ids():
    session = new_session()
    number, text = started(session, 1), started(session, "1")
    assert cancel(session, "1") == [Cancel(text)]
    assert cancel(session, "1") == []
    assert answers(session.finish(number, b"{}\n")) == [{}]


@pytest.mark.parametrize("other", [True, 1.0, "1", None, [1], {"id": 1}])
def test_a_cancellation_of_what_only_looks_like_the_id_is_ignored(other):
    session = new_session()
    call = started(session, 1)
    assert cancel(session, other) == []
    assert len(session.finish(call, b"{}\n")) == 1


def test_a_cancelled_call_is_never_answered_and_its_id_is_free_at_once():
    session = new_session()
    first = started(session, 0)
    assert cancel(session, 0) == [Cancel(first)]
    second = started(session, 0)
    assert session.finish(first, b'{"of":"first"}\n') == []
    assert answers(session.finish(second, b'{"of":"second"}\n')) == [{"of": "second"}]
    assert session.finish(second, b'{"of":"second"}\n') == []


def test_a_call_may_end_without_an_answer():
    session = new_session()
    assert session.finish(started(session, 1), None) == []
    assert "result" in ask(session, request(1, "ping"))


@pytest.mark.parametrize("revision", [MODERN, LEGACY])
@pytest.mark.parametrize("is_error", [True, False])
def test_the_answer_to_a_call_has_one_text_item(revision, is_error):
    session = new_session()
    call = started(session, "c", meta={VERSION: revision})
    text = 'é🙂\u2028"\n'
    found = answers(session.finish(call, session.render(call, text, is_error=is_error)))
    result = {"content": [{"type": "text", "text": text}], "isError": is_error}
    assert found == [
        {"jsonrpc": "2.0", "id": "c", "result": {**result, **(MORE if revision == MODERN else {})}}
    ]


TOKENS = {
    "a string": "t",
    "an empty string": "",
    "zero": 0,
    "an integer": 2**70,
    "a lone surrogate": "\ud800",
}


@pytest.mark.parametrize("name", TOKENS)
def test_progress_echoes_the_token_and_only_goes_up(name):
    session = new_session()
    call = started(session, 1, meta={"progressToken": TOKENS[name]})
    told = [(0, 5, "a"), (1, 5, "b"), (1, 5, "c"), (0.5, 5, "d"), (2.5, None, "e"), (3, 5, "f")]
    effects = [effect for now, one in enumerate(told) for effect in session.progress(call, *one, float(now))]
    found = answers(effects)
    assert all(message["method"] == "notifications/progress" and "id" not in message for message in found)
    params = [message["params"] for message in found]
    assert [one.pop("progressToken") for one in params] == [TOKENS[name]] * 4
    assert params[0] == {"progress": 0, "total": 5, "message": "a"}
    assert params[2] == {"progress": 2.5, "message": "e"}
    assert [one["progress"] for one in params] == [0, 1, 2.5, 3]


def test_progress_is_told_at_most_ten_times_a_second():
    session = new_session()
    call = started(session, 1, meta={"progressToken": 1})
    told = [session.progress(call, step, None, "x", step / 100) for step in range(101)]
    assert 10 <= sum(map(len, told)) <= 11


@pytest.mark.parametrize("token", [True, None, 1.5, [], {}])
def test_a_token_of_another_kind_is_ignored(token):
    session = new_session()
    call = started(session, 1, meta={"progressToken": token})
    assert call.progress_token is None
    assert session.progress(call, 1, None, "x", 0.0) == []


def test_no_progress_follows_the_answer_or_a_cancellation():
    session = new_session()
    answered, cancelled = (started(session, number, meta={"progressToken": 1}) for number in (1, 2))
    session.finish(answered, b"{}\n")
    cancel(session, 2)
    again = started(session, 2, meta={"progressToken": 1})
    assert session.progress(answered, 1, None, "x", 0.0) == []
    assert session.progress(cancelled, 1, None, "x", 0.0) == []
    assert len(session.progress(again, 1, None, "x", 0.0)) == 1


def test_the_last_line_counts_without_its_newline():
    session = new_session()
    assert session.receive(json.dumps(request(1, "ping")).encode()) == []
    assert answers(session.end_of_input())[0]["id"] == 1
    assert session.end_of_input() == []


# --- faults and strings -----------------------------------------------


def test_a_fault_of_the_server_is_said_to_both_sides_and_it_lives_on():
    session = Session([{"name": {"no": "JSON", "set": {1}}}], INFO, "")
    effects = session.receive(line(request(7, "tools/list", _meta=named(MODERN))))
    assert [type(effect) for effect in effects] == [Fault, Send]
    assert "Traceback" in effects[0].trace
    found = answers(effects)[0]
    assert (found["id"], found["error"]["code"]) == (7, -32603)
    assert "set" not in found["error"]["message"]
    assert "result" in ask(session, request(8, "ping"))


def test_errors_go_out_without_secrets_and_control_characters():
    secret = "ghp_" + "a1B2c3D4e5" * 4
    found = ask(new_session(), request(1, f"{secret}\x07", _meta=named(MODERN)))
    assert secret not in json.dumps(found)
    found = ask(new_session(), request(1, "initialize", protocolVersion=f"{secret}\x07\ud800"))
    assert found["error"]["data"]["requested"] == "[redacted]\ufffd"


def test_a_long_name_is_not_echoed_whole():
    found = ask(new_session(), request(1, "x" * 300_000, _meta=named(MODERN)))
    assert len(found["error"]["message"]) < 500


# --- whatever comes ---------------------------------------------------

SEEDS = [
    request(1, "initialize", protocolVersion=LEGACY, capabilities={}, clientInfo={"name": "x"}),
    request("a", "tools/list", _meta=named(MODERN)),
    request(
        -7, "tools/call", name="echo", arguments={"text": "é🙂\ud800"}, _meta=named(MODERN, progressToken=1)
    ),
    request(10**30, "server/discover", _meta=named(MODERN, **{CAPABILITIES: {}, CLIENT: {"name": "y"}})),
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "reason": "r"}},
    request("", "ping", x=[1.5, None, True, {"a": [{}]}]),
]
PIECES = [
    b'"',
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"null",
    b"1e999",
    b"NaN",
    b"\xff",
    b"\x00",
    b'"id":1,',
]
PIECES += [
    b"-0",
    b"\\ud800",
    b"\xed\xa0\x80",
    b"true",
    b"1.0",
    b'"jsonrpc":"2.0",',
    b"\r",
    b" ",
    b"9" * 4301,
    BOM,
]


def mutated(chance: random.Random) -> bytes:
    data = bytearray(
        json.dumps(chance.choice(SEEDS), ensure_ascii=chance.random() < 0.5).encode("utf-8", "replace")
    )
    for _ in range(chance.choice([0, 1, 1, 2, 3, 8])):
        place = chance.randrange(len(data) + 1)
        kind = chance.randrange(4)
        if kind == 0:
            data[place:place] = chance.choice(PIECES)
        elif kind == 1:
            del data[place : place + chance.randrange(12)]
        elif kind == 2 and data:
            data[place % len(data)] = chance.randrange(256)
        else:
            data[place:place] = data[chance.randrange(len(data) + 1) :][:40]
    return bytes(data.replace(b"\n", b" "))


def is_identified(line_: bytes):
    """Whether a line is a request that must be answered under its own id, by another reader of JSON."""
    try:
        message = json.loads(line_.decode("utf-8"))
    except (ValueError, RecursionError):
        return False
    return (
        isinstance(message, dict)
        and type(message.get("id")) in (int, str)
        and isinstance(message.get("method"), str)
    )


def test_whatever_comes_each_identified_request_gets_one_answer_and_nothing_else_happens():
    count = 200_000 if os.environ.get("PROTOYARD_FULL") else 10_000
    chance = random.Random(20260615)
    session = new_session()
    kinds = set()
    for _ in range(count):
        one = mutated(chance)
        effects = session.receive(one + b"\n")
        assert not any(isinstance(effect, Fault) for effect in effects), one
        for effect in effects:
            if isinstance(effect, Start):
                effects = [
                    *effects,
                    *session.finish(effect.call, session.render(effect.call, "{}", is_error=False)),
                ]
        sent = [effect.line for effect in effects if isinstance(effect, Send)]
        assert len(sent) <= 1, one
        assert all(data.isascii() and data.endswith(b"\n") and data.count(b"\n") == 1 for data in sent), one
        found = [json.loads(data) for data in sent]
        if is_identified(one):
            assert len(found) == 1, one
        for answer in found:
            assert ("result" in answer) != ("error" in answer), one
            assert answer["id"] is not None or "error" in answer, one
            kinds.add(answer["error"]["code"] if "error" in answer else OK)
    assert kinds == {OK, -32700, -32600, -32601, -32602, -32022}


def test_two_calls_and_all_that_may_happen_to_them_in_any_order():
    """Every interleaving of two calls' starts, finishes and cancellations: one answer, or none after a cancel."""
    for order in set(
        itertools.permutations(["start 1", "start 2", "finish 1", "finish 2", "cancel 1", "cancel 2"])
    ):
        session, calls, sent, cancelled = new_session(), {}, [], set()
        for event in order:
            action, number = event.split()
            if action == "start":
                calls[number] = started(session, int(number))
            elif action == "finish" and number in calls:
                sent += [number] * len(session.finish(calls[number], b"{}\n"))
            elif action == "cancel" and cancel(session, int(number)):
                cancelled.add(number)
        for number in "12":
            was_finished = order.index(f"finish {number}") > order.index(f"start {number}")
            assert sent.count(number) == (1 if was_finished and number not in cancelled else 0), order
