"""§19: what is printed for a host, what the doctor finds, the read-only server, the version line."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import re
import subprocess
import sys

import pytest
from conftest import (
    INTERPRETERS,
    LEGACY,
    MODERN,
    MODULE,
    ROOT,
    Server,
    as_nobody,
    bare_environment,
    build_call,
    build_request,
    inherited_environment,
    run_cli,
    run_process,
    serve_lines,
)
from test_pyz import read_members, write_variant

import protoyard
from protoyard import CHECKS, COMMANDS, HOSTS, OPERATIONS

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = None

COMMAND = ["/usr/bin/python3", "-I", "/opt/protoyard.pyz", "mcp", "--workspace", "/home/p/work"]
READING = [row.name for row in OPERATIONS if not row.writes]
WRITING = [row.name for row in OPERATIONS if row.writes]


def parse_snippet(data):
    """What a host reads out of a snippet."""
    return json.loads(data["snippet"]) if data["format"] == "json" else tomllib.loads(data["snippet"])


def take_picture(folder):
    """Everything below a folder: names, kinds and contents."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


# --- mcp-config: the snippets -----------------------------------------

SHAPES = {  # as the hosts document it: the member that holds servers, what one has besides command and args
    "claude-desktop": ("mcpServers", {}),
    "claude-code": ("mcpServers", {"type": "stdio"}),
    "cursor": ("mcpServers", {}),
    "vscode": ("servers", {"type": "stdio"}),
    "codex": ("mcp_servers", {}),
    "gemini": ("mcpServers", {}),
    "zed": ("context_servers", {}),
    "windsurf": ("mcpServers", {}),
    "generic": ("mcpServers", {}),
}
READABLE = [client for client in SHAPES if HOSTS[client].format == "json" or tomllib]


def test_every_host_of_the_contract_is_known():
    assert list(HOSTS) == list(SHAPES)
    assert {client for client, host in HOSTS.items() if host.format == "toml"} == {"codex"}


@pytest.mark.parametrize("client", READABLE)
def test_a_snippet_has_the_shape_that_its_host_documents(client):
    top, more = SHAPES[client]
    entry = {**more, "command": COMMAND[0], "args": COMMAND[1:]}
    data = protoyard.render_registration(client, COMMAND, "linux")
    assert parse_snippet(data) == {top: {"protoyard": entry}}


ODD_PATHS = {
    "blanks": "/home/a b/c  d",
    "quotes": '/home/o\'brien/"x"',
    "backslashes": "C:\\Users\\new\\table\\u0041",
    "other scripts": "/home/Zoë/原型/🙂",
    "what shells expand": "/home/$HOME/`x`/*",
    "control characters": "/home/a\nb\tc\x7fd\x01e",
    "a line separator": "/home/a\u2028b\u0085c",
}


@pytest.mark.parametrize("path", ODD_PATHS.values(), ids=ODD_PATHS)
@pytest.mark.parametrize("client", [client for client in ("cursor", "codex") if client in READABLE])
def test_any_path_comes_out_of_a_snippet_as_it_went_in(client, path):
    data = protoyard.render_registration(client, [path, "-I", path, path], "linux")
    ((_, servers),) = parse_snippet(data).items()
    assert servers["protoyard"] == {"command": path, "args": ["-I", path, path]}


PLACES = {
    "claude-desktop": (
        "~/.config/Claude/claude_desktop_config.json",
        "~/Library/Application Support/Claude/claude_desktop_config.json",
        r"%APPDATA%\Claude\claude_desktop_config.json",
    ),
    "claude-code": ("W/.mcp.json", "W/.mcp.json", r"W\.mcp.json"),
    "cursor": ("W/.cursor/mcp.json", "W/.cursor/mcp.json", r"W\.cursor\mcp.json"),
    "vscode": ("W/.vscode/mcp.json", "W/.vscode/mcp.json", r"W\.vscode\mcp.json"),
    "codex": ("~/.codex/config.toml", "~/.codex/config.toml", r"%USERPROFILE%\.codex\config.toml"),
    "gemini": ("~/.gemini/settings.json", "~/.gemini/settings.json", r"%USERPROFILE%\.gemini\settings.json"),
    "zed": ("~/.config/zed/settings.json", "~/.config/zed/settings.json", r"%APPDATA%\Zed\settings.json"),
    "windsurf": (
        "~/.codeium/windsurf/mcp_config.json",
        "~/.codeium/windsurf/mcp_config.json",
        r"%USERPROFILE%\.codeium\windsurf\mcp_config.json",
    ),
    "generic": ("where the host keeps its MCP servers",) * 3,
}
WORKSPACES = {"linux": "/home/p/my work", "darwin": "/Users/p/my work", "win32": r"C:\Users\p\my work"}


@pytest.mark.parametrize("platform", WORKSPACES)
@pytest.mark.parametrize("client", PLACES)
def test_the_place_is_spelled_as_the_platform_spells_it(client, platform):
    workspace = WORKSPACES[platform]
    data = protoyard.render_registration(client, [*COMMAND[:-1], workspace], platform)
    expected = PLACES[client][list(WORKSPACES).index(platform)]
    assert data["place"] == re.sub("^W", lambda _: workspace, expected)
    for text in (data["place"], data["note"]):
        assert "{" not in text
        assert ("~" in text, "/" in text) == (False, False) or platform != "win32"


@pytest.fixture
def odd_place(tmp_path):
    """A workspace and a folder for the program, with names that need care in JSON, in TOML and in shells."""
    (tmp_path / 'it\'s "here" \\ 原').mkdir()
    (tmp_path / "my 'bin' é").mkdir()
    return tmp_path / 'it\'s "here" \\ 原', tmp_path / "my 'bin' é"


@pytest.mark.parametrize("client", READABLE)
def test_the_printed_command_starts_the_server_from_anywhere(client, odd_place, target):
    workspace, folder = odd_place
    program = folder / target.name
    program.write_bytes(target.read_bytes())
    done = run_cli("mcp-config", "--client", client, "--json", target=program, cwd=workspace)
    assert (done.status, done.err) == (0, "")
    entry = parse_snippet(done.envelope["data"])[SHAPES[client][0]]["protoyard"]
    assert entry["args"] == ["-I", str(program), "mcp", "--workspace", str(workspace)]
    lines = [build_request(1, "tools/list"), build_call(2, "list")]
    stdin = "".join(json.dumps(line) + "\n" for line in lines).encode()
    ran = run_process([entry["command"], *entry["args"]], stdin=stdin, cwd="/", env=bare_environment())
    assert (ran.status, ran.err) == (0, "")
    found = {message["id"]: message["result"] for message in ran.messages}
    assert [tool["name"] for tool in found[1]["tools"]] == [row.name for row in OPERATIONS]
    assert found[2]["isError"] is False
    assert take_picture(workspace) == {}


def test_for_people_the_place_follows_the_snippet_and_in_toml_it_is_a_comment(tmp_path):
    for client in HOSTS:
        data = run_cli("mcp-config", f"--client={client}", "--json", cwd=tmp_path).envelope["data"]
        shown = run_cli("mcp-config", f"--client={client}", cwd=tmp_path).out
        assert shown.startswith(data["snippet"] + "\n\n")
        rest = shown[len(data["snippet"]) :]
        assert data["place"] in rest and data["note"] in rest
        if data["format"] == "toml" and tomllib:
            assert tomllib.loads(shown) == tomllib.loads(data["snippet"])


def test_a_relative_workspace_becomes_absolute_and_a_tilde_is_expanded(tmp_path):
    (tmp_path / "w").mkdir()
    env = inherited_environment(HOME=str(tmp_path))
    for given in ("w", "./w/", "~/w", str(tmp_path / "w")):
        done = run_cli(
            "mcp-config", "--client=cursor", "--json", f"--workspace={given}", cwd=tmp_path, env=env
        )
        args = parse_snippet(done.envelope["data"])["mcpServers"]["protoyard"]["args"]
        assert args[-1] == str(tmp_path / "w")


NO_PLACES = {
    "a folder that is not there": ("nowhere", "no_workspace", "nowhere"),
    "an empty name": ("", "no_workspace", "not a directory"),
    "what no host has expanded": ("${workspaceFolder}", "no_workspace", "not expanded"),
    "a relative place below such a name": ("${here}/x", "no_workspace", "not expanded"),
    "the root": ("/", "no_workspace", "root"),
    "bytes that are no text": (b"half \xff", "unsafe_path", "half a character"),
    "what looks like a secret": ("password=" + "x1y2" * 5, "unsafe_path", "secret"),
}


@pytest.mark.parametrize("case", NO_PLACES.values(), ids=NO_PLACES)
def test_a_workspace_that_a_host_could_not_use_is_refused(case, tmp_path):
    given, code, part = case
    given = os.fsdecode(given)
    if code == "unsafe_path":
        os.mkdir(os.path.join(os.fsencode(tmp_path), os.fsencode(given)))
    done = run_cli("mcp-config", "--client=zed", "--json", "--workspace", given, cwd=tmp_path)
    assert done.status == 1
    assert done.envelope["error"]["code"] == code
    assert part in done.envelope["error"]["message"]
    assert done.envelope["error"]["hint"]


def test_a_current_folder_that_the_server_would_refuse_by_its_full_name_is_refused(tmp_path):
    (tmp_path / "${here}").mkdir()
    done = run_cli("mcp-config", "--client=zed", "--json", cwd=tmp_path / "${here}")
    assert done.envelope["error"]["code"] == "no_workspace"


@pytest.mark.parametrize("arguments", [[], ["--client=nothing"], ["cursor"]])
def test_an_unknown_host_is_answered_with_the_known_ones(arguments, tmp_path):
    done = run_cli("mcp-config", *arguments, "--json", cwd=tmp_path)
    assert done.status == 2
    assert done.envelope["error"]["code"] == "invalid_arguments"
    assert "client: " in done.envelope["error"]["message"]


# --- doctor -----------------------------------------------------------


def examine(*arguments, **options):
    """The doctor's exit status, and what it found, by name."""
    done = run_cli("doctor", "--json", *arguments, **options)
    data = done.envelope["data"]
    assert list(data) == ["ok", "checks"]
    assert [check["name"] for check in data["checks"]] == [check.name for check in CHECKS]
    for check in data["checks"]:
        assert list(check) == ["name", "status", "detail", "remedy"]
        assert check["status"] in ("ok", "warn", "fail")
        assert (check["remedy"] == "") is (check["status"] == "ok"), check
    found = {check["name"]: check for check in data["checks"]}
    assert data["ok"] is (not failing(found))
    assert done.status == (0 if data["ok"] else 1)
    return found


def failing(found):
    """The names of the checks that failed."""
    return [name for name, check in found.items() if check["status"] == "fail"]


def test_where_all_is_well_nothing_fails_and_nothing_is_left(python, target, tmp_path):
    found = examine(python=python, target=target, cwd=tmp_path)
    assert failing(found) == []
    assert python in found["python"]["detail"]
    for revision in (MODERN, LEGACY):
        assert "quick, " in found[f"handshake {revision}"]["detail"]
    assert take_picture(tmp_path) == {}


def test_a_workspace_in_use_is_left_as_it_was(tmp_path):
    run_cli("quick", "A library lends books.", "--variants=1", cwd=tmp_path)
    before = take_picture(tmp_path)
    assert ".protoyard/lock" in before
    assert failing(examine(cwd=tmp_path)) == []
    assert take_picture(tmp_path) == before


def test_for_people_it_is_one_line_each_and_a_verdict(tmp_path):
    done = run_cli("doctor", cwd=tmp_path, env=inherited_environment(PATH="/nonexistent"))
    lines = done.out.splitlines()
    assert len(lines) == len(CHECKS) + 2
    assert lines[-1] == "All that is needed works."
    for line, check in zip(lines, CHECKS):
        assert re.match(rf"(ok|warn|fail) +{check.name} +\S", line)
    broken = run_cli("doctor", "--workspace=nowhere", cwd=tmp_path)
    assert broken.status == 1
    assert broken.out.splitlines()[-1] == "Broken: workspace, lock."
    assert "--workspace DIR" in broken.out


@pytest.mark.parametrize("given", ["/", "nowhere", "${workspaceFolder}"])
def test_without_a_workspace_the_server_still_answers(given, tmp_path):
    found = examine(f"--workspace={given}", cwd=tmp_path)
    assert failing(found) == ["workspace", "lock"]


def test_what_is_optional_only_warns(tmp_path):
    env = inherited_environment(PATH="/nonexistent")
    found = examine(cwd=tmp_path, env=env)
    assert failing(found) == []
    assert {found[name]["status"] for name in ("browser", "pnpm")} == {"warn"}
    named = examine(cwd=tmp_path, env={**env, "PROTOYARD_BROWSER": sys.executable})
    assert (named["browser"]["status"], named["browser"]["detail"]) == ("ok", sys.executable)


def forbid(folder):
    """A folder in which only its owner, who is not nobody, may write, and not even the owner unless root."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o555)
    return folder


@pytest.mark.parametrize("inner", ["", "prototypes", ".protoyard", ".protoyard/staging"])
def test_a_folder_that_cannot_be_written_is_found_wherever_it_is(inner, open_place):
    forbidden = forbid(open_place / inner)
    if os.geteuid() == 0 and inner.endswith("staging"):
        forbidden.parent.chmod(0o777)  # as after one run with more rights: only what it made is closed
    context = protoyard.Context(protoyard.Call(), str(open_place))
    before = sorted(os.walk(open_place))
    data = as_nobody(lambda: protoyard.run_doctor(context, {}))
    found = {check["name"]: check for check in data["checks"]}
    forbidden.chmod(0o755)
    assert data["ok"] is False
    assert found["workspace"]["status"] == "fail"
    assert "permission denied" in found["workspace"]["detail"]
    assert found["workspace"]["remedy"]
    assert sorted(os.walk(open_place)) == before


HOLD = """
import fcntl, sys
with open(sys.argv[1], "w") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_that_another_process_keeps_is_found(tmp_path):
    (tmp_path / ".protoyard").mkdir()
    command = [sys.executable, "-c", HOLD, str(tmp_path / ".protoyard" / "lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        found = examine(cwd=tmp_path)
        holder.stdin.close()
    assert failing(found) == ["lock"]
    assert failing(examine(cwd=tmp_path)) == []


def spoil(pyz, output, name):
    """A copy of the archive in which one bit of a member is wrong."""
    data = bytearray(pyz.read_bytes())
    member = read_members(pyz)[name]
    data[data.index(member) + len(member) // 2] ^= 4
    output.write_bytes(data)
    return output


def test_a_damaged_archive_is_found_though_it_still_starts(pyz, tmp_path):
    own = next(found for found in INTERPRETERS if found.release == sys.version_info[:2])
    other = "_bootstrap/filelock.py"
    for name in (f"code/{own.magic}", other):
        archive = spoil(pyz, tmp_path / "damaged.pyz", name)
        found = examine(target=archive, cwd=tmp_path)
        assert failing(found) == ["archive"]
        assert name in found["archive"]["detail"]
        shown = run_cli("--version", target=archive, cwd=tmp_path)
        assert (shown.status, shown.err) == (0, "")
        assert f"is damaged at {name}" in shown.out


def test_an_archive_of_other_pythons_starts_more_slowly_and_says_so(pyz, tmp_path):
    without = write_variant(pyz, tmp_path / "source.pyz", code=None)
    found = examine(target=without, cwd=tmp_path)
    assert failing(found) == []
    assert found["ready code"]["status"] == "warn"
    assert "none" in found["ready code"]["detail"]
    assert "no ready code" in run_cli("--version", target=without, cwd=tmp_path).out


BROKEN_SERVERS = {
    "a banner on standard output": ("print('welcome', flush=True)", "exit status 0"),
    "an error at the start": ("raise SystemExit('no such thing')", "no such thing"),
    "silence": ("import time; time.sleep(99)", "no end in time"),
}


@pytest.mark.parametrize("case", BROKEN_SERVERS.values(), ids=BROKEN_SERVERS)
def test_a_server_that_does_not_answer_is_found(case, tmp_path):
    line, part = case
    source = MODULE.read_text("utf-8").replace("DOCTOR_ANSWER_SECONDS = 10.0", "DOCTOR_ANSWER_SECONDS = 1.0")
    program = tmp_path / "protoyard.py"
    program.write_text(source.replace("    return serve(rows", f"    {line}\n    return serve(rows"), "utf-8")
    found = examine(target=program, cwd=tmp_path)
    assert failing(found) == [f"handshake {MODERN}", f"handshake {LEGACY}"]
    assert part in found[f"handshake {LEGACY}"]["detail"]


def test_bits_turned_anywhere_in_an_archive_are_a_failure_or_harmless(pyz, tmp_path):
    import random

    chance = random.Random(7)
    whole = pyz.read_bytes()
    directory = whole.rindex(b"site-packages/protoyard.py") - 2000
    names = set(protoyard.read_archive(str(pyz)))
    damaged = 0
    for place in [chance.randrange(len(whole)) for _ in range(40)] + [
        chance.randrange(directory, len(whole)) for _ in range(120)
    ]:
        data = bytearray(whole)
        data[place] ^= 1 << chance.randrange(8)
        (tmp_path / "turned.pyz").write_bytes(data)
        try:
            found = protoyard.read_archive(str(tmp_path / "turned.pyz"))
            assert set(found) <= names  # a shorter directory is a whole archive of less
        except protoyard.Failure as failure:
            damaged += 1
            assert failure.code == "io_error"
    assert damaged > 80


# --- mcp --read-only --------------------------------------------------

READ_ONLY = ["--read-only"]


@pytest.mark.parametrize("revision", [MODERN, LEGACY])
def test_a_read_only_server_lists_only_what_reads(revision, target, tmp_path):
    lines = [build_request(1, "tools/list", revision=revision)]
    done = serve_lines(sys.executable, target, lines, cwd=tmp_path, arguments=READ_ONLY)
    assert [tool["name"] for tool in done.messages[0]["result"]["tools"]] == READING
    assert {"list", "show", "validate", "blueprint_schema"} <= set(READING)


def test_a_read_only_server_says_so_first_in_its_instructions(tmp_path):
    lines = [build_request(1, "server/discover")]
    told = [
        serve_lines(sys.executable, MODULE, lines, cwd=tmp_path, arguments=arguments).messages[0]["result"]
        for arguments in (READ_ONLY, [])
    ]
    assert told[0]["instructions"].startswith("This server was started with --read-only")
    assert told[0]["instructions"].endswith(told[1]["instructions"])
    assert len(told[0]["instructions"]) <= protoyard.INSTRUCTIONS_MAX_CHARS


CALLS = [
    ("reading", "list", {}, [], None),
    ("writing", "quick", {"brief": "A library lends books."}, [], "read_only"),
    ("writing, without a workspace", "quick", {"brief": "A library."}, ["--workspace=/"], "read_only"),
    ("writing, with wrong arguments", "quick", {"brief": ""}, [], "invalid_arguments"),
    ("writing, with too much", "quick", {"brief": "x" * 270_000}, [], "arguments_too_large"),
    ("what does not exist", "nothing", {}, [], "unknown_tool"),
]


@pytest.mark.parametrize("case", CALLS, ids=[case[0] for case in CALLS])
def test_a_read_only_server_refuses_to_write_in_the_order_of_the_contract(case, tmp_path):
    _, name, arguments, more, code = case
    call = build_call(1, name, arguments)
    done = serve_lines(sys.executable, MODULE, [call], cwd=tmp_path, arguments=[*READ_ONLY, *more])
    envelope = json.loads(done.messages[0]["result"]["content"][0]["text"])
    assert envelope.get("error", {}).get("code") == code
    assert code is None or envelope["error"]["hint"]
    assert done.err == ""
    assert take_picture(tmp_path) == {}


def test_every_writing_tool_is_refused(tmp_path):
    assert WRITING
    for row in OPERATIONS:
        values = {"brief": "x", "folder": "prototypes/x/a", "slug": "x"}
        arguments = {a.name: values[a.name] for a in row.arguments if a.required}
        done = serve_lines(
            sys.executable, MODULE, [build_call(1, row.name, arguments)], cwd=tmp_path, arguments=READ_ONLY
        )
        envelope = json.loads(done.messages[0]["result"]["content"][0]["text"])
        assert (envelope.get("error", {}).get("code") == "read_only") is row.writes


# --- a terminal, the version ------------------------------------------


def test_a_person_at_a_terminal_is_told_what_to_type_instead(tmp_path):
    keyboard, terminal = pty.openpty()
    command = [sys.executable, "-I", str(MODULE), "mcp"]
    with subprocess.Popen(
        command, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, bufsize=0
    ) as process:
        os.close(terminal)
        first = process.stderr.readline()
        os.write(keyboard, b"\x04")  # Ctrl-D
        stdout, rest = process.communicate(timeout=30)
    os.close(keyboard)
    hint = (first + rest).decode("ascii")
    assert (process.returncode, stdout) == (0, b"")
    named = re.findall(r"protoyard ([a-z-]+)", hint)
    assert {"mcp-config", "doctor"} <= set(named) <= {row.command for row in COMMANDS}


def test_a_pipe_gets_no_hint(tmp_path):
    with Server(cwd=tmp_path) as server:
        assert server.ask(build_request(1, "ping"))
        assert server.end() == 0
    assert server.stderr == b""


def test_the_module_says_its_version_and_nothing_else(python, tmp_path):
    done = run_cli("--version", python=python, cwd=tmp_path)
    assert (done.status, done.out, done.err) == (0, f"protoyard {protoyard.__version__}\n", "")


def test_the_archive_also_says_which_build_it_is_and_for_which_pythons(pyz, python, tmp_path):
    done = run_cli("--version", python=python, target=pyz, cwd=tmp_path)
    digest = hashlib.sha256(pyz.read_bytes()).hexdigest()[:12]
    pythons = ", ".join(".".join(map(str, found.release)) for found in INTERPRETERS)
    expected = f"protoyard {protoyard.__version__} (build {digest}, ready code for Python {pythons})\n"
    assert (done.status, done.out, done.err) == (0, expected, "")


def test_code_for_a_python_of_the_future_is_named_by_its_magic_number():
    names = ["__main__.py", "code/ffff0d0a", "code/f30d0d0a", "code/610d0d0a"]
    assert protoyard.list_ready_pythons(names) == ["3.9", "3.13", "ffff0d0a"]


def test_the_readme_names_every_host():
    text = (ROOT / "README.md").read_text("utf-8")
    assert [client for client in HOSTS if f"`{client}`" not in text] == []


def test_the_readme_shows_what_mcp_config_prints():
    (shown,) = re.findall(
        r"```json\n(\{\n  \"mcpServers\".*?\n)```", (ROOT / "README.md").read_text("utf-8"), re.S
    )
    words = ["/usr/bin/python3", "-I", "/path/to/protoyard.pyz", "mcp", "--workspace", "/path/to/workspace"]
    printed = protoyard.render_registration("cursor", words, "linux")["snippet"]
    assert json.loads(shown) == json.loads(printed)
