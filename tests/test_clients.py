"""Other people's clients against the archive: the official Python and TypeScript SDKs and FastMCP.

Each connects over stdio in every way it knows, lists, calls, fails and cancels. They need the interop group
(PROTOYARD_GROUPS="dev interop" ./build.sh test) and, for TypeScript, Node.js and `npm install` in .ci.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import LEGACY, MODERN, PYTHONS, ROOT, Server, build_request, inherited_environment

import protoyard

BRIEF = "A fictional field service team schedules equipment inspections and tracks visits."
CANCEL_AFTER_SECONDS = 0.5
SETTLE_SECONDS = 0.5
AT_ONCE = 12
NODE_SECONDS = 60
INVALID_PARAMS = -32602

MODES = {"auto": MODERN, "legacy": LEGACY, MODERN: MODERN}
HAS_PYTHON_CLIENTS = all(importlib.util.find_spec(name) for name in ("mcp", "fastmcp"))
NODE_PACKAGES = ROOT / ".ci" / "node_modules" / "@modelcontextprotocol"
HAS_NODE_CLIENTS = bool(shutil.which("node")) and (NODE_PACKAGES / "client").is_dir()
needs_python_clients = pytest.mark.skipif(not HAS_PYTHON_CLIENTS, reason="needs the interop group")
needs_node_clients = pytest.mark.skipif(not HAS_NODE_CLIENTS, reason="needs Node.js and .ci/node_modules")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty workspace."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture(scope="session")
def tool_names(pyz: Path) -> list[str]:
    """What the server lists on the wire."""
    with Server(PYTHONS[0], pyz) as server:
        return [tool["name"] for tool in server.ask(build_request(1, "tools/list"))["result"]["tools"]]


@contextmanager
def writers_held_up(workspace: Path) -> Iterator[None]:
    """While it lasts this process holds the workspace's lock, so that a call which writes cannot go on."""
    call = protoyard.Call()
    with protoyard.Workspace(str(workspace)).lock(call):
        yield


def check_nothing_written(workspace: Path) -> None:
    """The cancelled call wrote nothing, though it could since the lock is free again."""
    time.sleep(SETTLE_SECONDS)
    assert list(workspace.glob("prototypes/cancelled*")) == []
    assert list(workspace.glob(".protoyard/staging/*")) == []


def read_envelope(content: list[Any], failed: bool) -> dict[str, Any]:
    """The envelope in a tool's result, which says the same as the result itself."""
    (item,) = content
    envelope = json.loads(item["text"] if isinstance(item, dict) else item.text)
    assert envelope["ok"] is not failed
    return envelope


def check_quick(envelope: dict[str, Any], workspace: Path) -> None:
    """Two variants on disk, and the envelope is that of `quick`."""
    assert envelope["command"] == "quick"
    pages = sorted(workspace.glob("prototypes/*/?/index.html"))
    assert [page.parent.name for page in pages] == ["a", "b"]


# Python: the SDK's own client and FastMCP, which differ in how they are made and what they raise


async def check_python_client(client: Any, fails: Any, workspace: Path, names: list[str]) -> None:
    """The whole round but cancelling; `fails(name, arguments)` returns a failed call's content."""
    tools = await client.list_tools()
    assert [tool.name for tool in getattr(tools, "tools", tools)] == names
    many = await asyncio.gather(*(client.call_tool("blueprint_schema", {}) for _ in range(AT_ONCE)))
    schemas = [read_envelope(result.content, failed=False)["data"] for result in many]
    assert schemas == [schemas[0]] * AT_ONCE
    made = await client.call_tool("quick", {"brief": BRIEF, "seed": 42, "variants": 2})
    check_quick(read_envelope(made.content, failed=False), workspace)
    assert (
        read_envelope(await fails("show", {"slug": "there-is-none"}), failed=True)["error"]["code"]
        == "not_found"
    )
    invalid = read_envelope(await fails("quick", {"brief": "", "variants": 7}), failed=True)["error"]
    assert invalid["code"] == "invalid_arguments"
    assert "brief" in invalid["message"]
    assert "variants" in invalid["message"]
    assert read_envelope(await fails("no_such_tool", {}), failed=True)["error"]["code"] == "unknown_tool"


async def check_cancel(client: Any, workspace: Path) -> None:
    """A call that cannot go on is given up; the session lives on, and nothing was written."""
    with writers_held_up(workspace):
        call = asyncio.create_task(client.call_tool("quick", {"brief": BRIEF, "slug": "cancelled"}))
        await asyncio.sleep(CANCEL_AFTER_SECONDS)
        assert not call.done()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        listed = await client.call_tool("list", {})
        assert len(read_envelope(listed.content, failed=False)["data"]["prototypes"]) == 1
    await asyncio.to_thread(check_nothing_written, workspace)


@needs_python_clients
@pytest.mark.parametrize("mode", MODES)
def test_the_python_sdk(mode: str, python: str, pyz: Path, workspace: Path, tool_names: list[str]) -> None:
    from mcp import Client, MCPError, StdioServerParameters
    from mcp.client.stdio import stdio_client

    arguments = ["-I", str(pyz), "mcp", "--workspace", str(workspace)]
    log = workspace.with_name("stderr")

    async def converse(client: Client) -> None:
        assert client.protocol_version == MODES[mode]
        if mode != MODERN:  # a pinned client asks for nothing before its first request
            assert client.server_info.name == "protoyard"
            assert client.instructions

        async def fails(name: str, values: dict[str, Any]) -> list[Any]:
            result = await client.call_tool(name, values)
            assert result.is_error is True
            return result.content

        await check_python_client(client, fails, workspace, tool_names)
        with pytest.raises(MCPError) as refused:
            await client.list_tools(cursor="made up")
        assert refused.value.error.code == INVALID_PARAMS
        await check_cancel(client, workspace)

    async def run() -> None:
        with open(log, "w", encoding="utf-8") as errlog:
            transport = stdio_client(StdioServerParameters(command=python, args=arguments), errlog)
            async with Client(transport, mode=mode) as client:
                await converse(client)

    asyncio.run(run())
    assert log.read_text(encoding="utf-8") == ""


@needs_python_clients
@pytest.mark.parametrize("mode", MODES)
def test_fastmcp(mode: str, pyz: Path, workspace: Path, tool_names: list[str]) -> None:
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport
    from fastmcp.exceptions import ToolError

    arguments = ["-I", str(pyz), "mcp", "--workspace", str(workspace)]
    log = workspace.with_name("stderr")

    async def run() -> None:
        transport = StdioTransport(PYTHONS[-1], arguments, keep_alive=False, log_file=log)
        async with Client(transport, mode=mode) as client:
            assert client.protocol_version == MODES[mode]

            async def fails(name: str, values: dict[str, Any]) -> list[Any]:
                with pytest.raises(ToolError) as failed:
                    await client.call_tool(name, values)
                return [{"text": str(failed.value)}]

            await check_python_client(client, fails, workspace, tool_names)
            await check_cancel(client, workspace)

    asyncio.run(run())
    assert log.read_text(encoding="utf-8") == ""


# TypeScript: the same round, driven by a script that reports what the SDK saw

NODE_MODES = [("v1", "legacy"), ("v2", "legacy"), ("v2", "auto"), ("v2", MODERN)]


@contextmanager
def start_node(sdk: str, mode: str, command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """The script, started; it is ended whatever happens."""
    script = [shutil.which("node"), str(ROOT / "tests" / "clients" / "typescript.mjs"), sdk, mode]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    node = subprocess.Popen(script + command, env=inherited_environment(), encoding="utf-8", **pipes)
    try:
        yield node
    finally:
        node.kill()
        node.communicate()


@needs_node_clients
@pytest.mark.parametrize(("sdk", "mode"), NODE_MODES)
def test_the_typescript_sdk(sdk: str, mode: str, pyz: Path, workspace: Path, tool_names: list[str]) -> None:
    command = [PYTHONS[0], "-I", str(pyz), "mcp", "--workspace", str(workspace)]
    with start_node(sdk, mode, command) as node:
        line = node.stdout.readline()
        assert line, node.stderr.read()
        report = json.loads(line)
        with writers_held_up(workspace):
            node.stdin.write("go on\n")
            node.stdin.flush()
            line = node.stdout.readline()
        check_nothing_written(workspace)
        _, errors = node.communicate(timeout=NODE_SECONDS)
    assert (node.returncode, errors) == (0, "")
    check_node_report(report, MODES[mode], workspace, tool_names)
    cancelled = json.loads(line)
    assert "answered" not in cancelled["cancelled"]
    assert len(read_envelope(cancelled["after"]["content"], failed=False)["data"]["prototypes"]) == 1


def check_node_report(report: dict[str, Any], revision: str, workspace: Path, names: list[str]) -> None:
    """What the script saw in its plain calls."""
    assert report["revision"] == revision
    assert report["server"]["name"] == "protoyard"
    assert report["instructions"]
    assert report["tools"] == names
    schemas = [read_envelope(result["content"], failed=False)["data"] for result in report["many"]]
    assert schemas == [schemas[0]] * len(names)
    check_quick(read_envelope(report["quick"]["content"], failed=False), workspace)
    for name, code in (("missing", "not_found"), ("invalid", "invalid_arguments")):
        assert report[name]["isError"] is True
        assert read_envelope(report[name]["content"], failed=True)["error"]["code"] == code
    assert report["cursor"]["code"] == INVALID_PARAMS
