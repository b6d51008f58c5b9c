"""What lasts: an agent's whole session, writers killed at any moment, several writers at once."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import LEGACY, MODERN, MODULE, Server, build_call, build_request, inherited_environment
from test_transcripts import fill_in, is_answer

from protoyard import OPERATIONS, Call, execute

IS_FULL = bool(os.environ.get("PROTOYARD_FULL"))
KILLS = 300 if IS_FULL else 60
WRITING_SECONDS = 60 if IS_FULL else 12
WRITERS = 3
SESSIONS = sorted((Path(__file__).parent / "transcripts" / "sessions").glob("*.txt"))
posix_only = pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")


def run(workspace: Path, *argv: str) -> dict:
    """The envelope of one command, in this process."""
    return execute(argv, rows=OPERATIONS, call=Call(), directory=str(workspace))


@pytest.mark.parametrize("revision", [MODERN, LEGACY])
@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_a_session_goes_as_written(path, revision, tmp_path):
    lines = [line for line in path.read_text("utf-8").splitlines() if line[:2] in ("->", "<-")]
    lines = [
        line
        for line in lines
        if revision == MODERN or ('"server/discover"' not in line and '"id":1,' not in line)
    ]
    assert len(lines) > 10
    with Server(cwd=tmp_path) as server:
        for line in lines:
            if line.startswith("->"):
                server.send(fill_in(line[3:], revision))
            else:
                answer = server.answers.get(timeout=30)
                assert is_answer(("<-", fill_in(line[3:], revision)), answer), answer.decode()
        assert server.end() == 0


def start_command(workspace: Path, *argv: str) -> subprocess.Popen:
    """A command in a process of its own."""
    command = [sys.executable, "-I", str(MODULE), *argv, "--json"]
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, cwd=workspace, env=inherited_environment(), **quiet)


def next_command(rng: random.Random, number: int) -> list[str]:
    """Something that writes."""
    patch = json.dumps([{"op": "replace", "path": "/title", "value": f"Title {number}"}])
    return rng.choice(
        [
            ["quick", f"Track things of kind {number}.", "--variants=1"],
            ["iterate", "prototypes/base/a", f"--patch={patch}"],
            ["promote", "base", f"--target=apps/app-{number}"],
        ]
    )


@posix_only
def test_writers_killed_at_random_moments_leave_nothing_half_and_lose_nothing_answered(tmp_path):
    rng = random.Random(4)
    assert run(tmp_path, "quick", "--variants=1", "--slug=base", "--", "Volunteers lend tools.")["ok"]
    began = time.monotonic()
    assert run(tmp_path, "validate", "--", "prototypes/base")["data"]["valid"]
    answered: dict[str, int] = {"base": 1}
    usual = 0.5 + time.monotonic() - began
    for number in range(0, KILLS, WRITERS):
        commands = [next_command(rng, number + writer) for writer in range(WRITERS)]
        processes = [start_command(tmp_path, *command) for command in commands]
        time.sleep(rng.uniform(0, 2 * usual))
        for process in processes:
            process.send_signal(signal.SIGKILL)
            out = process.communicate()[0]
            data = json.loads(out)["data"] if out.endswith(b"}\n") and json.loads(out)["ok"] else {}
            if "revision" in data:
                answered["base"] = max(answered["base"], data["revision"])
            elif "slug" in data:
                answered[data["slug"]] = 1
    listed = run(tmp_path, "list", "--limit=200", "--")["data"]
    slugs = {item["slug"] for item in listed["prototypes"]}
    assert "damaged" not in listed
    assert set(answered) <= slugs
    for slug in sorted(slugs):
        shown = run(tmp_path, "show", "--", slug)["data"]
        assert shown["variants"][0]["revision"] >= answered.get(slug, 1)
    done = run(tmp_path, "iterate", "--undo", "--", "prototypes/base/a")
    assert done["ok"] or done["error"]["code"] == "not_found", done
    assert run(tmp_path, "quick", "--variants=1", "--", "One more.")["ok"]
    assert os.listdir(tmp_path / ".protoyard" / "staging") == []
    for slug in sorted(slugs):
        found = run(tmp_path, "validate", "--", f"prototypes/{slug}")["data"]
        assert found["valid"], found
    for app in (tmp_path / "apps").iterdir() if (tmp_path / "apps").exists() else ():
        assert (app / ".protoyard.json").is_file(), app


def test_two_servers_and_a_command_line_write_at_once_and_no_update_is_lost(tmp_path):
    assert run(tmp_path, "quick", "--variants=1", "--slug=base", "--", "Volunteers lend tools.")["ok"]
    until, number, answered, refused = time.monotonic() + WRITING_SECONDS, 0, 1, set()
    with Server(cwd=tmp_path) as one, Server(cwd=tmp_path) as other:
        while time.monotonic() < until:
            number += 1
            patch = json.dumps([{"op": "replace", "path": "/title", "value": f"Title {number}"}])
            arguments = {"folder": "prototypes/base/a", "patch": patch}
            for server in (one, other):
                server.send(
                    build_call(
                        number,
                        "iterate",
                        {**arguments, "patch": patch.replace("Title", server_name(server, one))},
                    )
                )
            line = run(tmp_path, "iterate", f"--patch={patch}", "--", "prototypes/base/a")
            results = [line, *(json.loads(s.read()["result"]["content"][0]["text"]) for s in (one, other))]
            for result in results:
                if result["ok"]:
                    answered += 1
                else:
                    refused.add(result["error"]["code"])
        for server in (one, other):
            assert server.ask(build_request("end", "ping"))["result"]
            assert server.end() == 0
    assert refused <= {"busy", "conflict"}
    shown = run(tmp_path, "show", "--", "base")["data"]
    assert shown["variants"][0]["revision"] == answered
    assert run(tmp_path, "validate", "--", "prototypes/base")["data"]["valid"]


def server_name(server: Server, one: Server) -> str:
    """A title of its own for each server, so that every patch changes something."""
    return "First" if server is one else "Second"


LINE_BYTES = 200 * 1024 * 1024
PIECE_BYTES = 1024 * 1024
GROWTH_KIB = 2048


def peak_kib(process: subprocess.Popen) -> int:
    """The most memory that a process has had (Linux)."""
    status = Path(f"/proc/{process.pid}/status").read_text("ascii", "replace")
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_a_line_of_200_mb_without_an_end_costs_no_memory(tmp_path):
    with Server(cwd=tmp_path) as server:
        server.send(b"x" * 400_000)  # the first over-long line may cost its buffers
        assert server.read()["error"]["code"] == -32600
        before = peak_kib(server.process)
        for _ in range(LINE_BYTES // PIECE_BYTES):
            server.process.stdin.write(b"x" * PIECE_BYTES)
        server.send(b"\n")
        assert server.read()["error"]["code"] == -32600
        assert peak_kib(server.process) - before < GROWTH_KIB
        assert server.ask(build_request(1, "ping"))["result"]
        assert server.end() == 0


def secret_calls(secret: str) -> list[tuple[str, dict]]:
    """Every way in which text of a caller comes back: each text argument of each tool, and no tool."""
    calls = [
        ("nope " + secret, {}),
        ("quick", {"brief": f"Track kites with password={secret}.", "slug": "kites"}),
    ]
    for row in OPERATIONS:
        needed = {argument.name: "kites" for argument in row.arguments if argument.required}
        texts = [argument.name for argument in row.arguments if argument.schema["type"] == "string"]
        calls += [(row.name, {**needed, name: f"token={secret}"}) for name in [*texts, "unknown " + secret]]
    value = json.dumps([{"op": "replace", "path": "/title", "value": f"key {secret}"}])
    calls += [("iterate", {"folder": "prototypes/kites/a", "patch": value})]
    calls += [
        ("iterate", {"folder": "prototypes/kites/a", "patch": f'[{{"op":"remove","path":"/{secret}"}}]'})
    ]
    calls += [("show", {"slug": "kites"}), ("show", {"slug": "kites", "variant": "a"}), ("list", {})]
    return calls


@pytest.mark.parametrize("prefix", ["ghp_", "sk-ant-api03-", "xoxb-"])
def test_a_secret_of_the_caller_comes_back_on_no_way(prefix, tmp_path):
    secret = prefix + "a1B2" * 10
    with Server(cwd=tmp_path) as server:
        for number, (name, arguments) in enumerate(secret_calls(secret)):
            server.send(build_call(number, name, arguments))
            answer = server.answers.get(timeout=30)
            assert json.loads(answer)["id"] == number
            assert secret.encode() not in answer, (name, arguments)
        server.send({**build_request("e", "tools/list"), "method": f"x {secret}"})
        assert secret.encode() not in server.answers.get(timeout=30)
        assert server.end() == 0
    assert secret.encode() not in server.stderr
