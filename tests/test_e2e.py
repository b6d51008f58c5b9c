"""The real process over stdio, as module and as archive, on the oldest and the newest Python."""

from __future__ import annotations

import json
import sys

import pytest
from conftest import (
    LEGACY,
    MODERN,
    MODULE,
    Server,
    bare_environment,
    build_call,
    build_request,
    inherited_environment,
    serve_lines,
)

BRIEF = "A fictional field service team schedules equipment inspections and tracks visits."
LIST = (
    '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":'
    '{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}'
)
QUICK = (
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"quick","arguments":{"brief":'
    '"A fictional field service team schedules equipment inspections and tracks visits.",'
    '"seed":42,"variants":2},'
    '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}'
)
HELLO = build_request(
    0,
    "initialize",
    revision=None,
    protocolVersion=LEGACY,
    capabilities={},
    clientInfo={"name": "test", "version": "1"},
)
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def envelope(answer):
    """The one text item of a tools/call result, parsed."""
    content = answer["result"]["content"]
    assert [item["type"] for item in content] == ["text"]
    found = json.loads(content[0]["text"])
    assert answer["result"]["isError"] is not found["ok"]
    return found


def no_null(value):
    """Whether no member of a message is null, an error's id apart."""
    if isinstance(value, dict):
        return all((no_null(member) and member is not None) or name == "id" for name, member in value.items())
    return not isinstance(value, list) or all(no_null(item) and item is not None for item in value)


def test_the_two_example_requests_give_the_tools_and_a_prototype(python, target, tmp_path):
    done = serve_lines(python, target, [LIST, QUICK], cwd=tmp_path)
    assert (done.status, done.stderr) == (0, b"")
    listed, called = sorted(done.messages, key=lambda message: message["id"])
    names = [tool["name"] for tool in listed["result"]["tools"]]
    assert names == [name for name in names if name] and {"quick", "list", "show"} <= set(names)
    assert listed["result"]["resultType"] == called["result"]["resultType"] == "complete"
    found = envelope(called)
    assert (found["ok"], found["command"]) == (True, "quick")
    folder = tmp_path / found["data"]["folder"]
    assert (folder / "a" / "index.html").is_file() and (folder / "b" / "index.html").is_file()
    assert all(no_null(message) for message in done.messages)


def test_the_same_after_a_handshake_in_the_legacy_shape(python, target, tmp_path):
    lines = [
        HELLO,
        READY,
        build_request(1, "tools/list", revision=None),
        build_call(2, "quick", {"brief": BRIEF, "seed": 42, "variants": 2}, revision=None),
    ]
    done = serve_lines(python, target, lines, cwd=tmp_path)
    assert (done.status, done.stderr) == (0, b"")
    hello, listed, called = sorted(done.messages, key=lambda message: message["id"])
    assert list(hello["result"]) == ["protocolVersion", "capabilities", "serverInfo", "instructions"]
    assert hello["result"]["protocolVersion"] == LEGACY
    assert list(listed["result"]) == ["tools"]
    assert envelope(called)["ok"] is True
    assert set(called["result"]) == {"content", "isError"}
    assert all(no_null(message) for message in done.messages)


def test_both_eras_list_the_same_tools(tmp_path):
    with Server(cwd=tmp_path) as server:
        modern = server.ask(build_request(1, "tools/list"))["result"]["tools"]
        server.ask(HELLO)
        legacy = server.ask(build_request(2, "tools/list", revision=None))["result"]["tools"]
        assert modern == legacy
        assert server.end() == 0


def test_discover_says_what_is_spoken(tmp_path):
    with Server(cwd=tmp_path) as server:
        result = server.ask(build_request("d", "server/discover"))["result"]
    assert result["supportedVersions"] == [MODERN, LEGACY]
    assert result["capabilities"] == {"tools": {}}
    assert (result["ttlMs"], result["cacheScope"], result["resultType"]) == (3_600_000, "public", "complete")
    info = result["_meta"]["io.modelcontextprotocol/serverInfo"]
    assert list(info) == ["name", "title", "version"]
    assert 0 < len(result["instructions"]) <= 1500


def test_another_revision_is_refused_with_the_supported_ones(target, tmp_path):
    done = serve_lines(
        sys.executable,
        target,
        [build_request(1, "tools/list", revision="2024-11-05")],
        cwd=tmp_path,
    )
    error = done.messages[0]["error"]
    assert error["code"] == -32022
    assert error["data"] == {"supported": [MODERN, LEGACY], "requested": "2024-11-05"}


REFUSED = {
    "an unknown tool": ("nope", {}, "unknown_tool", "nope"),
    "an unknown field": ("quick", {"brief": "x", "colour": 1}, "invalid_arguments", "colour"),
    "an empty brief": ("quick", {"brief": ""}, "invalid_arguments", "brief"),
    "4,001 characters": ("quick", {"brief": "x" * 4001}, "invalid_arguments", "4001"),
    "seven variants": ("quick", {"brief": "x", "variants": 7}, "invalid_arguments", "variants"),
    "a seed that is true": ("quick", {"brief": "x", "seed": True}, "invalid_arguments", "seed"),
    "a dash as the brief": ("quick", {"brief": "-"}, "invalid_arguments", "brief"),
    "a missing argument": ("validate", {}, "invalid_arguments", "folder"),
    "a path outside": ("validate", {"folder": "../.."}, "unsafe_path", ""),
    "a prototype that is not there": ("show", {"slug": "nothing"}, "not_found", "nothing"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_bad_input_gets_its_error_and_writes_nothing(case, tmp_path):
    name, arguments, code, part = case
    done = serve_lines(sys.executable, MODULE, [build_call(1, name, arguments)], cwd=tmp_path)
    found = envelope(done.messages[0])
    assert found["command"] == name
    assert found["error"]["code"] == code
    assert part in found["error"]["message"]
    assert list(tmp_path.iterdir()) == []


def test_all_problems_of_a_call_come_at_once(tmp_path):
    call = build_call(1, "quick", {"brief": "", "variants": 9, "seed": -1, "x": 1})
    with Server(cwd=tmp_path) as server:
        message = envelope(server.ask(call))["error"]["message"]
    assert all(field in message for field in ("brief", "variants", "seed", "x"))


PLACES = {
    "a bare environment": {},
    "no locale at all": {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "a Japanese code page": {"PYTHONIOENCODING": "cp932"},
    "an ASCII terminal": {"PYTHONIOENCODING": "ascii"},
    "a home that is not there": {"HOME": "/nonexistent"},
}


@pytest.mark.parametrize("name", PLACES)
def test_the_bytes_on_the_wire_do_not_depend_on_the_environment(name, python, target, tmp_path):
    lines = [build_call("é🙂", "show", {"slug": "тест 中文"}), build_request(2, "server/discover")]
    usual = serve_lines(python, target, lines, cwd=tmp_path, env=inherited_environment())
    other = serve_lines(
        python,
        target,
        lines,
        cwd="/",
        arguments=["--workspace", tmp_path],
        env=bare_environment(**PLACES[name]),
    )
    assert (other.status, other.stderr) == (0, b"")
    assert sorted(other.stdout.splitlines()) == sorted(usual.stdout.splitlines())
    assert other.stdout.isascii()


WORKSPACES = {
    "a filesystem root": "/",
    "what no host has expanded": "${workspaceFolder}",
    "a folder that is not there": "/nonexistent/folder",
}


@pytest.mark.parametrize("name", WORKSPACES)
def test_without_a_usable_workspace_the_handshake_works_and_every_call_says_the_fix(name, tmp_path):
    lines = [HELLO, build_request(1, "tools/list", revision=None), build_call(2, "list", revision=None)]
    done = serve_lines(
        sys.executable,
        MODULE,
        lines,
        cwd=tmp_path,
        arguments=[f"--workspace={WORKSPACES[name]}"],
    )
    hello, listed, called = sorted(done.messages, key=lambda message: message["id"])
    assert hello["result"]["protocolVersion"] == LEGACY
    assert listed["result"]["tools"]
    error = envelope(called)["error"]
    assert error["code"] == "no_workspace"
    assert "--workspace" in error["message"] + error["hint"]
