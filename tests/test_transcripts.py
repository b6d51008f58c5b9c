"""Whole conversations as files: what a client writes and what it gets, for every row of the wire contract.

    # words         a remark; the first one says what the file is about
    @modern         for this revision only (@legacy); without it, and with a $, it is played in both
    @whole          not cut in two (the answer is too costly to be made a hundred times)
    @read-only      the server's workspace may not be written (@no-workspace: there is none)
    -> LINE         the client writes the line and a newline
    ->hex BYTES     the client writes these bytes and nothing else
    ->repeat N TEXT the client writes the text N times and nothing else
    <- PATTERN      the next answer; after the last one nothing more may come
    <-exact LINE    the next answer, byte for byte

In all lines $VERSION is the member of `_meta` that names the revision, $REVISION its name, $MORE what every
modern result has besides (nothing in the legacy one), $CACHE what a modern list has besides. In a pattern "*"
is any value but null, "~words" a string that holds the words, a member "*" stands for any others, and an
object in the place of a string is what the string holds as JSON. `sleep` runs until the end of the input.

Each is played without input and output: in one piece, byte by byte and cut in two at every place (in long
lines near their ends), and once by a real process.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import server_rows
from conftest import LEGACY, MODERN, run_process

import protoyard
from protoyard import Call, Cancel, Failure, Send, Session, Start

FILES = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))
ROWS = {row.name: row for row in server_rows.ROWS}
LONG_LINE = 1500
NEAR = 64
INFO = json.dumps(protoyard.SERVER_INFO, separators=(",", ":"))


class Transcript(NamedTuple):
    """One file in one revision: the bytes that go in and the patterns that must come out."""

    sent: bytes
    expected: list[tuple[str, str]]
    flags: frozenset[str]


def fill_in(text: str, revision: str) -> str:
    is_modern = revision == MODERN
    more = f'"resultType":"complete","_meta":{{"io.modelcontextprotocol/serverInfo":{INFO}}}'
    values = {
        "$VERSION": f'"io.modelcontextprotocol/protocolVersion":"{revision}"',
        "$REVISION": revision,
        ",$MORE": f",{more}" if is_modern else "",
        "$MORE": more if is_modern else "",
        ",$CACHE": ',"ttlMs":3600000,"cacheScope":"public"' if is_modern else "",
    }
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def read_transcript(path: Path, revision: str) -> Transcript:
    sent, expected, flags = b"", [], set()
    for line in path.read_text("utf-8").split("\n"):
        word, _, rest = fill_in(line, revision).partition(" ")
        if word == "->":
            sent += rest.encode() + b"\n"
        elif word == "->hex":
            sent += bytes.fromhex(rest)
        elif word == "->repeat":
            count, _, text = rest.partition(" ")
            sent += text.encode() * int(count)
        elif word in ("<-", "<-exact"):
            expected.append((word, rest))
        elif word.startswith("@"):
            flags.add(word[1:])
        else:
            assert word in ("", "#"), f"{path.name}: {line}"
    return Transcript(sent, expected, frozenset(flags))


def is_match(pattern: Any, value: Any) -> bool:
    """Whether a value is what the pattern says, types included: 1, 1.0, true and "1" are four things."""
    if pattern == "*":
        return value is not None
    if isinstance(pattern, str) and pattern.startswith("~"):
        return isinstance(value, str) and pattern[1:] in value
    if isinstance(pattern, dict) and isinstance(value, str):
        return is_match(pattern, json.loads(value))
    if type(pattern) is not type(value):
        return False
    if isinstance(pattern, list):
        return len(pattern) == len(value) and all(map(is_match, pattern, value))
    if isinstance(pattern, dict):
        named = pattern.keys() - {"*"}
        fits = named <= value.keys() and ("*" in pattern or named == value.keys())
        return fits and all(is_match(pattern[name], value[name]) for name in named)
    return pattern == value


def is_answer(expected: tuple[str, str], line: bytes) -> bool:
    word, text = expected
    if word == "<-exact":
        return line == text.encode() + b"\n"
    return is_match(json.loads(text), json.loads(line))


def answer(session: Session, call: protoyard.ToolCall, flags: frozenset[str]) -> bytes:
    """The reply to a call, by the same steps as the server's but at once."""
    problem = Failure("no_workspace", "there is none", "--workspace DIR") if "no-workspace" in flags else None
    try:
        argv = protoyard.check_call(call, ROWS, read_only="read-only" in flags, problem=problem)
        envelope = protoyard.execute(argv, rows=server_rows.ROWS, call=Call(), directory=".")
    except Failure as failure:
        envelope = protoyard.failed(call.name[:128], failure)
    return protoyard.render_reply(session, call, envelope)


def play(pieces: list[bytes], flags: frozenset[str]) -> list[bytes]:
    """The lines that come out when these pieces go in."""
    session = Session(
        [protoyard.render_tool(row) for row in server_rows.ROWS], protoyard.SERVER_INFO, "Use it."
    )
    lines: list[bytes] = []
    flying: list[protoyard.ToolCall] = []
    steps = [*(lambda piece=piece: session.receive(piece) for piece in pieces), session.end_of_input]
    for step in steps:
        for effect in step():
            effects = [effect]
            if isinstance(effect, Start) and effect.call.name == "sleep":
                flying.append(effect.call)
            elif isinstance(effect, Start):
                effects = session.finish(effect.call, answer(session, effect.call, flags))
            elif isinstance(effect, Cancel):
                flying.remove(effect.call)
            lines += [one.line for one in effects if isinstance(one, Send)]
    for call in flying:
        data = {"ok": True, "command": "sleep", "data": {"slept": 0}}
        lines += [one.line for one in session.finish(call, protoyard.render_reply(session, call, data))]
    return lines


def places_to_cut(data: bytes) -> list[int]:
    places, start = [], 0
    for line in data.split(b"\n"):
        end = start + len(line) + 1
        near = [*range(start, start + NEAR), *range(end - NEAR, end)]
        places += near if len(line) > LONG_LINE else range(start, end)
        start = end
    return [place for place in places if 0 < place < len(data)]


def list_cases() -> list[Any]:
    """Every file in each of its revisions; once where the revisions cannot differ."""
    cases = []
    for path in FILES:
        text = path.read_text("utf-8")
        revisions = {"modern": MODERN, "legacy": LEGACY}
        only = [name for name in revisions if f"\n@{name}\n" in text]
        names = only or (list(revisions) if "$" in text else ["modern"])
        cases += [pytest.param(path, revisions[name], id=f"{path.stem}, {name}") for name in names]
    return cases


CASES = list_cases()


@pytest.fixture(autouse=True, scope="module")
def digit_limit():
    protoyard.set_digit_limit()


@pytest.mark.parametrize(("path", "revision"), CASES)
def test_a_conversation_goes_as_written_in_any_split(path, revision):
    transcript = read_transcript(path, revision)
    whole = play([transcript.sent], transcript.flags)
    shown = b"".join(whole).decode()
    assert len(whole) == len(transcript.expected), shown
    for expected, line in zip(transcript.expected, whole):
        assert is_answer(expected, line), f"wanted {expected[1]}\ngot    {line.decode()}"
    bytewise = [transcript.sent[place : place + 1] for place in range(len(transcript.sent))]
    assert play(bytewise, transcript.flags) == whole
    for cut in [] if "whole" in transcript.flags else places_to_cut(transcript.sent):
        assert play([transcript.sent[:cut], transcript.sent[cut:]], transcript.flags) == whole, (
            f"cut at {cut}"
        )


@pytest.mark.parametrize(("path", "revision"), [case for case in CASES if case.values[1] == MODERN])
def test_a_real_server_says_the_same(path, revision, tmp_path):
    transcript = read_transcript(path, revision)
    options = {"read-only": "--read-only", "no-workspace": "--root"}
    arguments = [option for flag, option in options.items() if flag in transcript.flags]
    command = [server_rows.__file__, "mcp", *arguments]
    done = run_process([sys.executable, "-I", *command], stdin=transcript.sent, cwd=tmp_path)
    assert (done.status, done.stderr) == (0, b"")
    left = done.stdout.splitlines(keepends=True)
    for expected in transcript.expected:  # calls run beside each other: the order is another
        found = next((line for line in left if is_answer(expected, line)), None)
        assert found is not None, f"wanted {expected[1]}\ngot    {left}"
        left.remove(found)
    assert left == []


def test_every_section_of_the_contract_has_its_transcripts():
    sections = {path.stem.split("-")[0] for path in FILES}
    assert sections == {"1", "2", "3", "4", "5", "6", "7"}
