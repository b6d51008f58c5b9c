"""The README against the registry, the command line, the error table and the protocol: all shown is run."""

from __future__ import annotations

import json
import re
import shlex
import sys

import pytest
from conftest import MODULE, ROOT, run_cli, serve_lines

import protoyard
from protoyard import COMMANDS, FAILURES, OPERATIONS

README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.M | re.S)
CONSOLE = [text for kind, text in BLOCKS if kind == "console"]
JSON = [text for kind, text in BLOCKS if kind == "json"]
PROMPTS = [line[2:] for text in CONSOLE for line in text.splitlines() if line.startswith("$ ")]


def describe_argument(argument):
    """An argument as the README's table has it: name, * required, P positional, type and limits, default."""
    schema = argument.schema
    mark = "*" * argument.required + "P" * argument.positional
    limits = schema["type"]
    if "maxLength" in schema and "pattern" not in schema:
        limits += f" {schema.get('minLength', 0)}–{schema['maxLength']}"
    if "minimum" in schema:
        limits += (
            f" {schema['minimum']}–{schema['maximum']}" if "maximum" in schema else f" ≥ {schema['minimum']}"
        )
    if "enum" in schema:
        limits = " ".join(schema["enum"])
    if "pattern" in schema:
        limits = "slug"
    default = f" ({json.dumps(schema['default'])})" if "default" in schema else ""
    return f"`{argument.name}`{mark} {limits}{default}"


def render_tool_table(rows):
    """The README's tool table, from the rows."""
    lines = []
    for row in rows:
        arguments = " · ".join(describe_argument(argument) for argument in row.arguments) or "none"
        lines.append(f"| `{row.name}` | {arguments} | {'yes' if row.writes else 'no'} |")
    return "\n".join(lines)


def render_code_table(kinds):
    """The README's error table, from the failures."""
    return "\n".join(f"| `{code}` | {kind.when} |" for code, kind in kinds.items())


def test_the_tool_table_is_the_registry():
    assert render_tool_table(OPERATIONS) in README


def test_the_error_table_is_the_table_of_failures():
    assert render_code_table(FAILURES) in README


def test_no_tool_or_command_is_named_that_does_not_exist():
    commands = {row.command for row in OPERATIONS + COMMANDS} | {"--version", "--help"}
    named = re.findall(r"protoyard(?:\.pyz|\.py)? ([a-z-]+[a-z])\b", "\n".join(PROMPTS))
    assert named
    assert set(named) <= commands
    assert {row.command for row in OPERATIONS} <= set(named) | {"mcp"}


def test_the_first_command_prints_what_the_readme_says(tmp_path):
    block = next(text for text in CONSOLE if "./build.sh" in text)
    first, *shown = block.splitlines()
    expected = "\n".join(shown).partition("\n$ ")[0]
    words = shlex.split(first[2:].partition("&& ./protoyard.pyz ")[2])
    done = run_cli(*words, cwd=tmp_path)
    assert (done.status, done.err) == (0, "")
    assert done.out.rstrip("\n") == expected


def test_every_protoyard_command_runs(tmp_path):
    commands = [shlex.split(line)[1:] for line in PROMPTS if line.startswith("protoyard ")]
    assert len(commands) >= 5
    for words in commands:
        done = run_cli(*words, cwd=tmp_path)
        assert done.status == 0, (words, done.err)


def json_rpc_examples():
    """Every request that the README shows, whether as a block or piped into the server."""
    piped = [shlex.split(line)[1] for line in PROMPTS if line.startswith("echo ")]
    return [*piped, *(text.strip() for text in JSON if '"jsonrpc"' in text)]


@pytest.mark.parametrize("line", json_rpc_examples(), ids=lambda line: json.loads(line)["method"])
def test_every_request_of_the_readme_is_answered_with_a_result(line, tmp_path):
    done = serve_lines(sys.executable, MODULE, [line], cwd=tmp_path)
    (answer,) = done.messages
    assert answer["id"] == json.loads(line)["id"]
    assert not answer["result"].get("isError", False), answer


def test_the_host_snippet_starts_the_server(tmp_path):
    (snippet,) = [json.loads(text) for text in JSON if "mcpServers" in text]
    server = snippet["mcpServers"]["protoyard"]
    places = {"/path/to/protoyard.pyz": str(MODULE), "/path/to/workspace": str(tmp_path)}
    words = [places.get(word, word) for word in server["args"]]
    assert words[0] == "-I" and words[2] == "mcp"
    example = json_rpc_examples()[0]
    done = serve_lines(sys.executable, words[1], [example], arguments=words[3:])
    assert done.messages[0]["result"]["tools"]


def test_the_envelope_examples_have_the_shape_of_real_ones(tmp_path):
    shown = [json.loads(text) for text in JSON if '"ok"' in text]
    assert run_cli("list", "--json", cwd=tmp_path).envelope == shown[0]
    failed = run_cli("show", "nothing", "--json", cwd=tmp_path).envelope
    assert failed["error"]["code"] == shown[1]["error"]["code"]
    assert list(failed) == list(shown[1])
    assert list(failed["error"]) == list(shown[1]["error"])


def test_the_paths_that_it_names_are_in_the_module_and_the_repository():
    for name in re.findall(r"`((?:tests|\.ci)/[\w./]+)`", README):
        assert (ROOT / name).exists(), name
    for name in ("METHODS", "PAGE_CSS"):
        assert hasattr(protoyard, name)
