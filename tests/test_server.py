"""§18: a real server process over real pipes, with rows made for it (server_rows.py)."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
import server_rows
from conftest import (
    LEGACY,
    MODERN,
    Server,
    build_call,
    build_request,
    encode_line,
    inherited_environment,
    serve_lines,
)
from test_calls import is_alive, wait_until

import protoyard

ROWS = Path(server_rows.__file__)
EXIT_SECONDS = 2
SOON = 20


def start(place, *arguments, python=sys.executable, **options) -> Server:
    """A server of the test rows; `limits={…}` makes them small."""
    limits = options.pop("limits", None)
    more = ["--limits", json.dumps(limits)] if limits else []
    return Server(python, ROWS, arguments=[*arguments, *more], cwd=place, **options)


def serve(place, *lines, arguments=(), **options):
    return serve_lines(sys.executable, ROWS, lines, arguments=arguments, cwd=place, **options)


def cancel(number):
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}


def ping(number):
    return build_request(number, "ping")


def envelope(answer):
    found = json.loads(answer["result"]["content"][0]["text"])
    assert answer["result"]["isError"] is not found["ok"]
    return found


def code(answer):
    return envelope(answer)["error"]["code"]


# --- the loop never waits ---------------------------------------------


def test_nothing_is_said_before_the_first_request_and_nothing_at_the_end(python, tmp_path):
    with start(tmp_path, python=python) as server:
        time.sleep(0.3)
        assert server.answers.empty()
        server.ask(ping(1))
        assert server.end() == 0
    assert server.answers.get(timeout=SOON) == b""
    assert server.stderr == b""


def test_a_slow_call_holds_nobody_up(python, tmp_path):
    with start(tmp_path, python=python) as server:
        server.send(build_call("slow", "sleep", {"ms": 600}))
        server.ask(ping(1))
        assert server.ask(build_request(2, "tools/list"))["result"]["tools"]
        assert envelope(server.ask(build_call(3, "echo", {"text": "é🙂"})))["data"]["text"] == "é🙂"
        assert server.read()["id"] == "slow"
        assert server.end() == 0


def test_eight_run_at_once_sixty_four_wait_and_the_next_is_told_that_it_is_busy(tmp_path):
    with start(tmp_path) as server:
        server.send(*(build_call(number, "sleep", {"ms": 400}) for number in range(8)))
        server.send(*(build_call(number, "echo", {"text": "x"}) for number in range(8, 72)))
        server.send(*(build_call(number, "echo", {"text": "x"}) for number in range(72, 75)))
        answers = [server.read() for _ in range(75)]
    early = answers[:3]
    assert [code(answer) for answer in early] == ["busy"] * 3
    assert [answer["id"] for answer in early] == [72, 73, 74]
    assert sorted(answer["id"] for answer in answers) == list(range(75))
    assert all(envelope(answer)["ok"] for answer in answers[3:])


def test_writers_go_one_at_a_time_and_readers_pass_those_that_wait(tmp_path):
    with start(tmp_path) as server:
        server.send(*(build_call(f"w{number}", "write", {"ms": 60}) for number in range(10)))
        server.send(build_call("reader", "echo", {"text": "x"}))
        assert server.read()["id"] == "reader"
        assert [server.read()["id"] for _ in range(10)] == [f"w{number}" for number in range(10)]
    assert (tmp_path / "notes.txt").read_text().split() == ["in", "out"] * 10


def test_while_a_writers_child_runs_the_next_writer_may_write(tmp_path):
    with start(tmp_path) as server:
        server.send(build_call("long", "spawn_writing", {"text": "import time; time.sleep(1.5)"}))
        server.send(build_call("short", "write", {"ms": 0}))
        assert [server.read()["id"], server.read()["id"]] == ["short", "long"]


def test_two_servers_write_in_one_workspace_one_at_a_time(tmp_path):
    with start(tmp_path) as one, start(tmp_path) as other:
        for number in range(8):
            one.send(build_call(number, "write", {"ms": 15}))
            other.send(build_call(number, "write", {"ms": 15}))
        assert all(envelope(server.read())["ok"] for server in (one, other) for _ in range(8))
    assert (tmp_path / "notes.txt").read_text().split() == ["in", "out"] * 16


def test_fifty_large_answers_at_once_are_whole_lines(python, tmp_path):
    with start(tmp_path, python=python) as server:
        server.send(*(build_call(number, "big", {"ms": 200_000 + number}) for number in range(50)))
        found = {answer["id"]: len(envelope(answer)["data"]) for answer in (server.read() for _ in range(50))}
    assert found == {number: 200_000 + number for number in range(50)}


def test_five_hundred_calls_get_five_hundred_answers(tmp_path):
    with start(tmp_path, limits={"queue": 500}) as server:
        server.send(*(build_call(number, "echo", {"text": str(number)}) for number in range(500)))
        answers = [server.read() for _ in range(500)]
    assert {answer["id"]: envelope(answer)["data"]["text"] for answer in answers} == {
        number: str(number) for number in range(500)
    }


# --- cancelled --------------------------------------------------------


def test_a_cancelled_call_stops_and_is_never_answered(python, tmp_path):
    with start(tmp_path, python=python) as server:
        server.send(*(build_call(number, "sleep", {"ms": 60_000}) for number in range(9)))
        server.send(*(cancel(number) for number in range(9)))
        server.send(build_call(0, "echo", {"text": "the id is free again"}))
        assert envelope(server.read())["data"]["text"] == "the id is free again"
        began = time.monotonic()
        assert server.end() == 0
        assert time.monotonic() - began < EXIT_SECONDS
    assert server.answers.get(timeout=SOON) == b""


def test_calls_and_their_cancellations_race_and_no_id_is_answered_twice(tmp_path):
    rounds = 2000
    with start(tmp_path) as server:
        for number in range(0, rounds, 40):
            lines = []
            for one in range(number, number + 40):
                name, arguments = ("sleep", {"ms": one % 3}) if one % 2 else ("echo", {"text": "x"})
                lines += [build_call(one, name, arguments), *([] if one % 5 == 0 else [cancel(one)])]
            server.send(*lines[: number % 37], *lines[number % 37 :])
            server.send(ping(f"p{number}"))
        assert server.end() == 0
    counts = Counter(answer["id"] for answer in iter_answers(server))
    assert max(counts.values()) == 1
    assert all(counts[number] == 1 for number in range(0, rounds, 5))
    assert all(counts[f"p{number}"] == 1 for number in range(0, rounds, 40))


def iter_answers(server):
    while True:
        line = server.answers.get(timeout=SOON)
        if not line:
            return
        yield json.loads(line)


def test_a_cancelled_call_takes_its_children_with_it(tmp_path):
    text = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(300)"
    with start(tmp_path) as server:
        server.send(build_call(1, "spawn", {"text": text}))
        assert wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
        pid = int((tmp_path / "pid").read_text())
        server.send(cancel(1))
        assert wait_until(lambda: not is_alive(pid), EXIT_SECONDS)
        server.ask(ping(2))


# --- timed out --------------------------------------------------------


def test_at_its_bound_a_call_is_answered_with_the_step_that_it_had_reached(python, tmp_path):
    with start(tmp_path, python=python, limits={"stop_seconds": 0.3}) as server:
        answer = server.ask(build_call(1, "sleep", {"ms": 60_000}))
        assert code(answer) == "timeout"
        assert "sleeping" in envelope(answer)["error"]["message"]
        assert envelope(server.ask(build_call(1, "echo", {"text": "x"})))["ok"]
        assert server.end() == 0
    assert server.stderr == b""


@pytest.mark.skipif(
    not os.environ.get("PROTOYARD_FULL") and not os.environ.get("PROTOYARD_CI"), reason="takes half a minute"
)
def test_with_the_real_limits_a_call_is_answered_within_thirty_seconds(tmp_path):
    text = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)"
    with start(tmp_path) as server:
        began = time.monotonic()
        server.send(
            build_call(0, "stuck", {"ms": 60_000}),
            *(build_call(n, "spawn", {"text": text}) for n in range(1, 8)),
        )
        assert all(code(server.read(60)) == "timeout" for _ in range(8))
        assert 28 <= time.monotonic() - began < 30
        assert server.end() == 0


def test_the_time_in_the_queue_counts(tmp_path):
    with start(tmp_path, limits={"stop_seconds": 0.4, "workers": 1}) as server:
        began = time.monotonic()
        server.send(*(build_call(number, "sleep", {"ms": 60_000}) for number in range(3)))
        found = {answer["id"]: envelope(answer)["error"] for answer in (server.read() for _ in range(3))}
        assert time.monotonic() - began < 2
    assert "sleeping" in found[0]["message"]
    assert "waiting in the queue" in found[2]["message"]


def test_a_timed_out_call_takes_its_children_with_it_before_it_is_answered(tmp_path):
    text = (
        "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "open('pid', 'w').write(str(os.getpid())); time.sleep(300)"
    )
    with start(tmp_path, limits={"stop_seconds": 1}) as server:
        assert code(server.ask(build_call(1, "spawn", {"text": text}))) == "timeout"
        assert not is_alive(int((tmp_path / "pid").read_text()))


def test_a_worker_that_hears_nothing_is_given_up_and_can_neither_commit_nor_answer(tmp_path):
    limits = {"stop_seconds": 0.3, "workers": 1, "abandoned": 2}

    def ask(name):
        return envelope(server.ask(build_call("x", name, {"ms": 1}))).get("error", {}).get("code", "ok")

    with start(tmp_path, limits=limits) as server:
        assert code(server.ask(build_call(1, "stuck", {"ms": 4000}))) == "timeout"
        assert wait_until(lambda: ask("write") == "ok", 3)  # its slot, its turn and the lock are free
        server.send(build_call(2, "stuck", {"ms": 2000}))
        time.sleep(0.2)
        server.send(cancel(2))
        assert wait_until(lambda: ask("sleep") == "busy", 3)
        assert wait_until(lambda: ask("write") == "ok", 5)  # one has come back
        assert server.end() == 0
    assert server.answers.get(timeout=SOON) == b""
    assert not (tmp_path / "stuck.txt").exists()


def test_a_call_that_is_cancelled_while_it_is_stopped_at_its_bound_is_seen_off_once(tmp_path):
    with start(tmp_path, limits={"stop_seconds": 0.3}) as server:
        server.ask(ping(0))
        server.send(build_call(1, "commit", {"ms": 4000}))
        time.sleep(0.45)  # its commit under way is waited for until 0.6 s
        server.send(cancel(1))
        time.sleep(1.5)  # its worker is given up meanwhile
        assert server.ask(ping(2))["id"] == 2
        assert server.end() == 0
    assert server.answers.get(timeout=SOON) == b""
    assert server.stderr == b""


def test_a_commit_under_way_is_waited_for(tmp_path):
    with start(tmp_path, limits={"stop_seconds": 0.2}) as server:
        assert code(server.ask(build_call(1, "commit", {"ms": 400}))) == "timeout"
        assert (tmp_path / "half.txt").read_text() == "whole"


# --- progress ---------------------------------------------------------


@pytest.mark.parametrize("revision", [MODERN, LEGACY])
def test_progress_is_told_before_the_answer_and_only_to_who_asked(revision, tmp_path):
    with start(tmp_path) as server:
        meta = {"progressToken": "t"}
        server.send(build_call(1, "steps", {"ms": 20}, revision=revision, _meta=meta))
        messages = [server.read()]
        while "id" not in messages[-1]:
            messages.append(server.read())
        told = [message["params"] for message in messages[:-1]]
        assert 2 <= len(told) <= 8
        assert all(one["progressToken"] == "t" and one["total"] == 20 for one in told)
        values = [one["progress"] for one in told]
        assert values == sorted(set(values))
        assert server.ask(build_call(2, "steps", {"ms": 3}, revision=revision))["id"] == 2


# --- the end ----------------------------------------------------------


def test_at_the_end_of_input_all_that_was_read_is_answered(python, tmp_path):
    lines = [build_call(number, "sleep", {"ms": 50}) for number in range(30)]
    done = serve_lines(python, ROWS, lines, cwd=tmp_path)
    assert (done.status, done.stderr) == (0, b"")
    assert sorted(answer["id"] for answer in done.messages) == list(range(30))
    assert all(envelope(answer)["ok"] for answer in done.messages)


def test_the_end_of_input_does_not_lift_the_bound_of_a_call(tmp_path):
    limits = ["--limits", '{"stop_seconds": 0.3}']
    done = serve(tmp_path, build_call(1, "sleep", {"ms": 60_000}), arguments=limits)
    assert (done.status, [code(answer) for answer in done.messages]) == (0, ["timeout"])


def test_a_last_line_without_a_newline_is_served(tmp_path):
    with start(tmp_path) as server:
        server.process.stdin.write(json.dumps(ping(1)).encode())
        assert server.end() == 0
        assert server.read()["id"] == 1


def test_files_and_the_null_device_are_streams_too(tmp_path):
    requests, output = tmp_path / "requests", tmp_path / "output"
    requests.write_bytes(encode_line(ping(1)) + encode_line(build_call(2, "sleep", {"ms": 50})))
    command = [sys.executable, "-I", str(ROWS)]
    for source, count in ((requests, 2), (Path(os.devnull), 0)):
        with source.open("rb") as stdin, output.open("wb") as stdout:
            assert (
                subprocess.run(command, stdin=stdin, stdout=stdout, cwd=tmp_path, timeout=SOON).returncode
                == 0
            )
        assert len(output.read_bytes().splitlines()) == count


SIGNALS = {"SIGTERM": 143, "SIGHUP": 129, "SIGINT": 130}


@pytest.mark.parametrize("name", SIGNALS)
def test_a_signal_ends_calls_and_children_and_then_the_server(name, python, tmp_path):
    text = (
        "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "open('pid', 'w').write(str(os.getpid())); time.sleep(300)"
    )
    with start(tmp_path, python=python) as server:
        server.send(build_call(1, "spawn", {"text": text}), build_call(2, "stuck", {"ms": 60_000}))
        assert wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
        server.process.send_signal(getattr(signal, name))
        assert server.process.wait(EXIT_SECONDS) == SIGNALS[name]
        assert not is_alive(int((tmp_path / "pid").read_text()))
    assert server.answers.get(timeout=SOON) == b""
    assert server.stderr == b""


@pytest.mark.parametrize("name", SIGNALS)
def test_a_signal_ends_an_idle_server_at_once(name, tmp_path):
    with start(tmp_path) as server:
        server.ask(ping(1))
        server.process.send_signal(getattr(signal, name))
        assert server.process.wait(EXIT_SECONDS) == SIGNALS[name]
    assert server.stderr == b""


def test_a_client_that_closes_its_ears_ends_the_server_quietly(python, tmp_path):
    command = [python, "-I", str(ROWS)]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, cwd=tmp_path, **pipes) as process:
        process.stdin.write(encode_line(build_call(1, "stuck", {"ms": 60_000})) + encode_line(ping(0)))
        process.stdin.flush()
        assert process.stdout.readline()
        process.stdout.close()
        process.stdin.write(encode_line(ping(2)))
        process.stdin.flush()
        assert process.wait(EXIT_SECONDS) == 0
        assert process.stderr.read() == b""


def test_a_client_that_hangs_up_with_all_its_ends_leaves_no_server(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-I", str(ROWS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    )
    process.stdin.write(
        encode_line(build_call(1, "crash")) + encode_line(build_call(2, "sleep", {"ms": 60_000}))
    )
    process.stdin.flush()
    assert process.stdout.readline()
    process.stdout.close()
    process.stderr.close()
    process.stdin.write(encode_line(build_call(3, "crash")))
    process.stdin.flush()
    assert process.wait(EXIT_SECONDS) == 0
    process.stdin.close()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
def test_a_full_disk_behind_stdout_is_said(tmp_path):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-I", str(ROWS)],
            input=encode_line(ping(1)),
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            timeout=SOON,
        )
    assert done.returncode == 1
    assert done.stderr.startswith(b"protoyard: standard output cannot be written: ")


# --- a client that does not read --------------------------------------


def test_a_client_that_does_not_read_can_still_write(tmp_path):
    """More requests than any pipe holds are taken, while large answers wait."""
    process = subprocess.Popen(
        [sys.executable, "-I", str(ROWS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path
    )
    calls = [build_call(number, "big", {"ms": 300_000}) for number in range(40)]
    lines = b"".join(map(encode_line, calls + [ping(f"p{number}") for number in range(20_000)]))
    writer = threading.Thread(target=lambda: (process.stdin.write(lines), process.stdin.close()))
    writer.start()
    writer.join(SOON)
    assert not writer.is_alive()
    counts = Counter(json.loads(line)["id"] for line in process.stdout)
    assert len(counts) == 20_040
    assert set(counts.values()) == {1}
    assert process.wait(SOON) == 0
    process.stdout.close()


def test_only_a_full_outbox_makes_the_server_stop_reading(tmp_path):
    command = [sys.executable, "-I", str(ROWS), "--limits", '{"outbox_bytes": 400000}']
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path)
    count = 40_000
    lines = b"".join(encode_line(ping(number)) for number in range(count))
    writer = threading.Thread(target=lambda: (process.stdin.write(lines), process.stdin.close()))
    writer.start()
    writer.join(1.5)
    assert writer.is_alive()  # the pipes and the outbox are full
    assert [json.loads(line)["id"] for line in process.stdout] == list(range(count))
    writer.join(SOON)
    assert process.wait(SOON) == 0
    process.stdout.close()


def test_a_paused_server_still_hears_signals(tmp_path):
    command = [sys.executable, "-I", str(ROWS), "--limits", '{"outbox_bytes": 400000}']
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path)
    os.set_blocking(process.stdin.fileno(), False)
    line = encode_line(build_request(1, "tools/list"))
    deadline = time.monotonic() + 1.5
    while time.monotonic() < deadline:
        try:
            os.write(process.stdin.fileno(), line * 100)
        except BlockingIOError:
            time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    assert process.wait(EXIT_SECONDS) == 143
    process.stdin.close()
    process.stdout.close()


def test_pipes_that_somebody_made_non_blocking_are_as_good(python, tmp_path):
    read_in, write_in = os.pipe()
    read_out, write_out = os.pipe()
    for fd in (read_in, write_out):
        os.set_blocking(fd, False)
    process = subprocess.Popen([python, "-I", str(ROWS)], stdin=read_in, stdout=write_out, cwd=tmp_path)
    os.close(read_in)
    os.close(write_out)
    with os.fdopen(write_in, "wb") as stdin, os.fdopen(read_out, "rb") as stdout:
        stdin.write(b"".join(encode_line(build_call(number, "big", {"ms": 300_000})) for number in range(10)))
        stdin.flush()
        time.sleep(0.5)
        found = [len(stdout.readline()) > 300_000 for _ in range(10)]
        stdin.close()
        assert process.wait(SOON) == 0
    assert found == [True] * 10


# --- what tools do to the streams -------------------------------------


def test_whatever_a_tool_prints_or_reads_misses_the_channel(python, tmp_path):
    with start(tmp_path, python=python) as server:
        server.send(build_call(1, "noisy"), ping(2))
        answers = {answer["id"]: answer for answer in (server.read(), server.read())}
        assert envelope(answers[1])["data"] == {"read": "", "child": "''"}
        assert server.end() == 0
    assert server.answers.get(timeout=SOON) == b""
    assert set(server.stderr.split(b"\n")) == {b"printed", b"written to descriptor 1", b"from a shell", b""}


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", "<&- >&- 2>&-", ">&- 2>&-"])
def test_streams_that_are_closed_from_the_start_confuse_nothing(closed, tmp_path):
    requests = tmp_path / "requests"
    requests.write_bytes(encode_line(build_call(1, "noisy")) + encode_line(ping(2)))
    given = "" if "<&-" in closed else "<requests"
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {given} {closed}', "sh", sys.executable, "-I", str(ROWS)],
        capture_output=True,
        cwd=tmp_path,
        timeout=SOON,
    )
    assert done.returncode == 0
    open_ = [] if "<&-" in closed or ">&-" in closed.replace("2>&-", "") else [1, 2]
    assert sorted(json.loads(line)["id"] for line in done.stdout.splitlines()) == open_
    assert b"jsonrpc" not in done.stderr


def test_a_read_error_is_the_end_of_input_and_no_spin(tmp_path):
    with (tmp_path / "write only").open("wb") as stdin:
        done = subprocess.run(
            [sys.executable, "-I", str(ROWS)], stdin=stdin, capture_output=True, cwd=tmp_path, timeout=SOON
        )
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.startswith(b"protoyard: standard input cannot be read: ")
    assert done.stderr.count(b"\n") == 1


def test_on_a_terminal_it_says_what_it_is(tmp_path):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-I", str(ROWS)],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    )
    os.close(theirs)
    hint = process.stderr.readline() + process.stderr.readline()
    assert b"mcp-config" in hint
    assert b"doctor" in hint
    os.write(ours, encode_line(ping(1)))
    assert json.loads(process.stdout.readline())["id"] == 1
    os.write(ours, b"\x04")
    assert process.wait(SOON) == 0
    assert process.stdout.read() == b""
    os.close(ours)
    process.stdout.close()
    process.stderr.close()


def test_on_a_terminal_it_serves_even_where_nobody_reads_the_hint(tmp_path):
    ours, theirs = pty.openpty()
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen(
        [sys.executable, "-I", str(ROWS)], stdin=theirs, stdout=subprocess.PIPE, stderr=write, cwd=tmp_path
    )
    os.close(theirs)
    os.close(write)
    os.write(ours, encode_line(ping(1)))
    assert json.loads(process.stdout.readline())["id"] == 1
    os.write(ours, b"\x04")
    assert process.wait(SOON) == 0
    os.close(ours)
    process.stdout.close()


# --- tool results: WIRE §6 --------------------------------------------


def test_a_fault_in_a_tool_is_told_to_both_sides_without_its_secrets(python, tmp_path):
    with start(tmp_path, python=python) as server:
        for name in ("crash", "exit", "strange"):
            found = server.ask(build_call(1, name))
            assert code(found) == "internal_error"
            assert "fault that" not in json.dumps(found)
        server.ask(ping(2))
        assert server.end() == 0
    assert server.stderr.count(b"Traceback (most recent call last)") == 3
    assert b"a fault that holds [redacted]" in server.stderr


def test_a_failure_goes_out_as_it_is(tmp_path):
    found = envelope(serve(tmp_path, build_call(1, "fail")).messages[0])
    assert found == {
        "ok": False,
        "command": "fail",
        "error": {"code": "not_found", "message": "there is nothing here", "hint": "look elsewhere"},
    }


def test_a_result_may_have_512_kib_and_no_more(tmp_path):
    frame = len('{"ok":true,"command":"big","data":""}')
    fits, over = serve(
        tmp_path,
        build_call(1, "big", {"ms": 512 * 1024 - frame}),
        build_call(2, "big", {"ms": 512 * 1024 - frame + 1}),
    ).messages
    fits, over = sorted((fits, over), key=lambda answer: answer["id"])
    assert len(fits["result"]["content"][0]["text"]) == 512 * 1024
    assert code(over) == "output_too_large"
    assert "524289" in envelope(over)["error"]["message"]


def test_arguments_may_have_256_kib_as_real_characters_and_no_more(tmp_path):
    frame = len('{"text":""}')
    room = 256 * 1024 - frame
    calls = [
        build_call("fits", "echo", {"text": "x" * room}),
        build_call("é fits", "echo", {"text": "é" * (room // 2) + "x" * (room % 2)}),
        build_call("over", "echo", {"text": "x" * (room + 1)}),
        build_call("é over", "echo", {"text": "é" * (room // 2 + 1)}),
    ]
    lines = [json.dumps(call, ensure_ascii=False) for call in calls]
    found = {answer["id"]: envelope(answer) for answer in serve(tmp_path, *lines).messages}
    assert found["fits"]["ok"] and found["é fits"]["ok"]
    assert found["over"]["error"]["code"] == found["é over"]["error"]["code"] == "arguments_too_large"


ORDER = [
    ("an unknown tool with too much", "nope", {"x": "y" * 270_000}, "unknown_tool"),
    ("too much of what is wrong", "write", {"x": "y" * 270_000}, "arguments_too_large"),
    ("wrong, in a tool that may not write", "write", {"ms": -1, "x": 2}, "invalid_arguments"),
    ("a tool that may not write", "write", {"ms": 1}, "read_only"),
    ("a tool that may read, without a workspace", "echo", {"text": "x"}, "no_workspace"),
]


@pytest.mark.parametrize(("case", "name", "arguments", "expected"), ORDER, ids=[case[0] for case in ORDER])
def test_of_several_refusals_the_first_decides(case, name, arguments, expected, tmp_path):
    done = serve(tmp_path, build_call(1, name, arguments), arguments=["--read-only", "--root"])
    assert code(done.messages[0]) == expected
    assert list(tmp_path.iterdir()) == []


def test_a_workspace_that_vanishes_is_an_input_output_error_and_is_not_made_anew(tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    with start(place) as server:
        assert envelope(server.ask(build_call(1, "write")))["ok"]
        place.rename(tmp_path / "elsewhere")
        for name in ("write", "sleep"):
            assert code(server.ask(build_call(2, name))) == "io_error"
        assert not place.exists()
        (tmp_path / "elsewhere").rename(place)
        assert envelope(server.ask(build_call(3, "write")))["ok"]


def test_an_unknown_tools_name_is_cut_and_the_hint_lists_the_known_ones(tmp_path):
    found = envelope(serve(tmp_path, build_call(1, "x" * 1000)).messages[0])
    assert found["command"] == "x" * 128
    assert all(row.name in found["error"]["hint"] for row in server_rows.ROWS)


# --- the log ----------------------------------------------------------


@pytest.mark.parametrize(("level", "is_told"), [("debug", True), ("info", False), ("nonsense", False)])
def test_the_log_tells_what_it_is_asked_for(level, is_told, tmp_path):
    call = build_call(1, "echo", {"text": "a private text"})
    done = serve(tmp_path, call, env=inherited_environment(PROTOYARD_LOG=level))
    assert (b"echo" in done.stderr) is is_told
    assert b"private" not in done.stderr


@pytest.mark.parametrize("length", [0, 10_000])
def test_a_stderr_that_nobody_reads_holds_nobody_up(length, tmp_path):
    read, write = os.pipe()
    fcntl.fcntl(write, 1031, 4096)  # F_SETPIPE_SZ
    process = subprocess.Popen(
        [sys.executable, "-I", str(ROWS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=write,
        cwd=tmp_path,
    )
    os.close(write)
    calls = [build_call(number, "crash", {"ms": length}) for number in range(60)]
    done, _ = process.communicate(b"".join(map(encode_line, calls)), timeout=SOON)
    assert {code(json.loads(line)) for line in done.splitlines()} == {"internal_error"}
    assert len(done.splitlines()) == 60
    assert process.returncode == 0
    os.close(read)


# --- in this process: what Windows does, tried here -------------------


@pytest.mark.parametrize("source", [protoyard.SelectInput, protoyard.ThreadInput])
def test_both_ways_to_read_serve_alike(source, tmp_path):
    read_in, write_in = os.pipe()
    read_out, write_out = os.pipe()
    limits = protoyard.Limits(stop_seconds=0.5)
    server = protoyard.Server(server_rows.ROWS, str(tmp_path), source(read_in), write_out, limits=limits)
    statuses = []
    thread = threading.Thread(target=lambda: statuses.append(server.run()), daemon=True)
    thread.start()
    with os.fdopen(write_in, "wb") as stdin, os.fdopen(read_out, "rb") as stdout:
        stdin.write(encode_line(ping(1)) + encode_line(build_call(2, "sleep", {"ms": 9000})))
        stdin.flush()
        assert json.loads(stdout.readline())["id"] == 1
        assert code(json.loads(stdout.readline())) == "timeout"
        stdin.write(b"".join(encode_line(ping(number)) for number in range(5000)))
        stdin.write(encode_line(build_call("last", "sleep", {"ms": 100})))
        stdin.close()
        assert [json.loads(stdout.readline())["id"] for _ in range(5001)] == [*range(5000), "last"]
        thread.join(SOON)
        assert statuses == [0]
    os.close(read_in)
    os.close(write_out)


def test_after_a_signal_nothing_more_is_begun(tmp_path):
    read_in, write_in = os.pipe()
    read_out, write_out = os.pipe()
    server: protoyard.Server

    def signal_comes(values):
        server.signals.append(143)
        return iter([protoyard.Problem("/text", "is refused, so that no thread works on it")])

    rows = [server_rows.ROWS[0]._replace(name="signalled", check=signal_comes), *server_rows.ROWS]
    server = protoyard.Server(rows, str(tmp_path), protoyard.SelectInput(read_in), write_out)
    lines = [build_call(1, "signalled", {"text": "x"}), *(build_call(number, "none") for number in (2, 3))]
    os.write(write_in, b"".join(map(encode_line, lines)))
    assert server.run() == 143
    for fd in (read_in, write_in, write_out):
        os.close(fd)
    with os.fdopen(read_out, "rb") as stdout:
        assert [json.loads(line)["id"] for line in stdout] == [1]
