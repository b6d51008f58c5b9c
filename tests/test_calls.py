"""§05: cancel tokens, deadlines, the commit gate, and children that never outlive their call."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import pytest

import protoyard
from protoyard import Call, Failure, Stopped, run_child, start_child, stop_calls

PYTHON = sys.executable
SOON = 10  # seconds that no working machine needs
posix = pytest.mark.skipif(os.name == "nt", reason="signals and groups")
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def in_a_thread(act) -> threading.Thread:
    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    return thread


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def wait_until(condition, seconds=SOON) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return bool(condition())


# --- the token and the deadline ---------------------------------------


def test_a_fresh_call_stops_nothing():
    call = Call()
    call.check()
    call.step("one")
    call.wait(0)
    assert (call.current_step, call.remaining(), call.reason) == ("one", None, "")
    with call.commit():
        pass


CANCELLATION_POINTS = {
    "check": lambda call: call.check(),
    "step": lambda call: call.step("next"),
    "wait": lambda call: call.wait(SOON),
    "commit": lambda call: call.commit().__enter__(),
    "a child": lambda call: run_child(call, [PYTHON, "-c", ""]),
}


@pytest.mark.parametrize("stop", ["cancel", "stop"])
@pytest.mark.parametrize("name", CANCELLATION_POINTS)
def test_a_stopped_call_gets_past_no_cancellation_point(name, stop):
    call = Call()
    call.step("first")
    getattr(call, stop)("cancelled")
    with pytest.raises(Stopped) as caught:
        CANCELLATION_POINTS[name](call)
    assert (caught.value.reason, caught.value.step) == ("cancelled", "first")


@pytest.mark.parametrize("name", CANCELLATION_POINTS)
def test_nor_does_one_whose_deadline_has_passed(name):
    call = Call(deadline=time.monotonic() - 1)
    with pytest.raises(Stopped) as caught:
        CANCELLATION_POINTS[name](call)
    assert caught.value.reason == "timeout"
    assert call.remaining() == 0


def test_the_first_reason_counts():
    call = Call()
    call.stop("timeout")
    call.stop("cancelled")
    assert call.reason == "timeout"


def test_a_stop_wakes_who_waits():
    call = Call()
    threading.Timer(0.05, call.stop, ["cancelled"]).start()
    began = time.monotonic()
    with pytest.raises(Stopped):
        call.wait(60)
    assert time.monotonic() - began < SOON


def test_the_deadline_wakes_who_waits():
    call = Call(deadline=time.monotonic() + 0.05)
    with pytest.raises(Stopped) as caught:
        call.wait(60)
    assert caught.value.reason == "timeout"


def test_steps_are_counted_unless_they_are_numbered():
    told = []
    call = Call(on_progress=lambda *one: told.append(one))
    call.step("draft")
    call.step("store")
    call.step("pictures", 3, 7)
    call.progress(4, None, "half of them")
    assert told == [(1, None, "draft"), (2, None, "store"), (3, 7, "pictures"), (4, None, "half of them")]


def test_a_stopped_call_tells_no_progress():
    told = []
    call = Call(on_progress=lambda *one: told.append(one))
    call.cancel("cancelled")
    call.progress(1, 2, "x")
    assert told == []


# --- the gate ---------------------------------------------------------


def test_a_commit_under_way_is_waited_for():
    call, events, entered = Call(), [], threading.Event()

    def commit():
        with call.commit():
            entered.set()
            time.sleep(0.1)
            events.append("committed")

    thread = in_a_thread(commit)
    entered.wait(SOON)
    call.stop("cancelled")
    events.append("stopped")
    thread.join()
    assert events == ["committed", "stopped"]


def test_a_commit_that_hangs_is_not_waited_for_for_ever():
    call, go_on, entered = Call(), threading.Event(), threading.Event()

    def commit():
        with call.commit():
            entered.set()
            go_on.wait(SOON)

    thread = in_a_thread(commit)
    entered.wait(SOON)
    began = time.monotonic()
    call.stop("cancelled")
    assert time.monotonic() - began < SOON / 2
    go_on.set()
    thread.join()


def test_no_commit_follows_a_stop_however_they_race():
    for _ in range(300):
        call, log = Call(), []

        def commit(call=call, log=log):
            try:
                while True:
                    with call.commit():
                        log.append("commit")
            except Stopped:
                return

        thread = in_a_thread(commit)
        call.stop("cancelled")
        log.append("stopped")
        thread.join()
        assert "commit" not in log[log.index("stopped") :]


def test_the_gate_opens_again_after_an_error_in_it():
    call = Call()
    with pytest.raises(KeyError), call.commit():
        raise KeyError
    with call.commit(), call.commit():
        pass


# --- children ---------------------------------------------------------


def test_a_child_gets_nothing_on_stdin_unless_something_is_given():
    code = "import sys; print(repr(sys.stdin.read()))"
    assert run_child(Call(), [PYTHON, "-c", code]).stdout.split() == [b"''"]
    assert run_child(Call(), [PYTHON, "-c", code], stdin=b"text").stdout.split() == [b"'text'"]


def test_what_a_child_does_not_read_is_no_error():
    assert run_child(Call(), [PYTHON, "-c", ""], stdin=b"x" * 1_000_000).status == 0


def test_a_child_ends_with_its_status_and_both_outputs(tmp_path):
    code = "import os, sys; print(os.getcwd()); print(os.environ['X'], file=sys.stderr); sys.exit(3)"
    done = run_child(Call(), [PYTHON, "-c", code], cwd=str(tmp_path), env={**os.environ, "X": "of the test"})
    assert (done.status, done.cut) == (3, False)
    assert done.stdout.decode().strip() == os.path.realpath(tmp_path)
    assert done.stderr.split() == [b"of", b"the", b"test"]


def test_of_a_long_output_the_end_is_kept():
    code = "import sys; sys.stdout.write('x' * 3_000_000 + 'end'); sys.stderr.write('y' * 500_000 + 'END')"
    done = run_child(Call(), [PYTHON, "-c", code], output_max_bytes=1000)
    assert (done.status, done.cut) == (0, True)
    assert done.stdout == b"x" * 997 + b"end"
    assert done.stderr == b"y" * 997 + b"END"


def test_a_program_that_is_not_there_is_a_missing_dependency(tmp_path):
    for argv, code in (
        (["/nonexistent/tool"], "missing_dependency"),
        ([str(tmp_path)], "dependency_failed"),
    ):
        with pytest.raises(Failure) as caught:
            run_child(Call(), argv)
        assert caught.value.code == code
        assert os.path.basename(argv[0]) in caught.value.message


def test_a_child_gets_only_its_time():
    began = time.monotonic()
    done = run_child(
        Call(), [PYTHON, "-c", "import time; print('x', flush=True); time.sleep(60)"], seconds=0.5
    )
    assert time.monotonic() - began < SOON
    assert done.status is None
    assert done.stdout.split() == [b"x"]


@linux
def test_no_descriptor_and_no_thread_is_left():
    run_child(Call(), [PYTHON, "-c", ""], stdin=b"x")
    before = len(os.listdir("/proc/self/fd")), threading.active_count()
    for _ in range(5):
        run_child(Call(), [PYTHON, "-c", "print(1)"], stdin=b"x")
    assert wait_until(lambda: (len(os.listdir("/proc/self/fd")), threading.active_count()) == before)


@posix
def test_a_child_inherits_no_descriptor_of_ours():
    read, write = os.pipe()
    os.set_inheritable(write, True)
    code = f"import os\ntry: os.fstat({write}); print('open')\nexcept OSError: print('closed')"
    assert run_child(Call(), [PYTHON, "-c", code]).stdout.split() == [b"closed"]
    os.close(read)
    os.close(write)


# What a stop must reach: each prints the pid of what must not live on.
TREES = {
    "the child itself": "import os, time; print(os.getpid(), flush=True); time.sleep(300)",
    "a child deaf to SIGTERM": (
        "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print(os.getpid(), flush=True); time.sleep(300)"
    ),
    "a grandchild in the group": (
        "import subprocess, time\nprint(subprocess.Popen(['sleep', '300']).pid, flush=True); time.sleep(300)"
    ),
    "a grandchild in a session of its own": (
        "import subprocess, time\n"
        "print(subprocess.Popen(['sleep', '300'], start_new_session=True).pid, flush=True); time.sleep(300)"
    ),
    "a daemon of the old school": (
        "import os, signal, time\nif os.fork(): time.sleep(300)\nos.setsid()\nif os.fork(): os._exit(0)\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); print(os.getpid(), flush=True); time.sleep(300)"
    ),
    "a great-grandchild without our environment": (
        "import subprocess, time\n"
        'code = \'import subprocess, time; print(subprocess.Popen(["sleep", "300"], env={}, '
        "start_new_session=True).pid, flush=True); time.sleep(300)'\n"
        f"subprocess.Popen([{PYTHON!r}, '-c', code], start_new_session=True); time.sleep(300)"
    ),
}


LEFT_BEHIND = "import os, time\nif os.fork(): os._exit(0)\nprint(os.getpid(), flush=True); time.sleep(300)"


@linux
@pytest.mark.parametrize("name", TREES)
def test_a_stop_reaches_everything_that_a_child_started(name):
    call, done = Call(), []

    def work():
        try:
            run_child(call, [PYTHON, "-c", TREES[name]])
        except Stopped as stopped:
            done.append(stopped.reason)

    thread = in_a_thread(work)
    assert wait_until(lambda: call.children and call.children[0]._stdout.data.endswith(b"\n"))
    pid = int(call.children[0]._stdout.data)
    assert is_alive(pid)
    began = time.monotonic()
    call.stop("cancelled")
    assert time.monotonic() - began < 1.9  # the grace of a second and what it takes to look
    assert not is_alive(pid)
    thread.join(SOON)
    assert done == ["cancelled"]
    assert call.children == []


@linux
def test_where_a_look_takes_long_the_deaf_are_killed_all_the_same(monkeypatch):
    monkeypatch.setattr(
        protoyard, "CHILD_LOOK_SECONDS", 1.5
    )  # past the grace, and any look is past this wait:
    monkeypatch.setattr(protoyard, "DEATH_WAIT_SECONDS", 1e-9)
    call = Call()
    with start_child(call, [PYTHON, "-c", TREES["a child deaf to SIGTERM"]]) as child:
        assert wait_until(lambda: child._stdout.data)
        call.stop("cancelled")
        assert not is_alive(child.process.pid)


@linux
def test_what_a_child_leaves_running_goes_with_it():
    done = run_child(Call(), [PYTHON, "-c", LEFT_BEHIND])
    assert done.status == 0
    assert not is_alive(int(done.stdout))


@linux
def test_several_calls_are_stopped_in_the_time_of_one():
    calls = [Call() for _ in range(4)]
    children = [start_child(call, [PYTHON, "-c", TREES["a child deaf to SIGTERM"]]) for call in calls]
    pids = [child.process.pid for child in children]
    assert wait_until(lambda: all(child._stdout.data for child in children))
    began = time.monotonic()
    stop_calls(calls, "cancelled")
    assert 1 <= time.monotonic() - began < 1.9
    assert not any(map(is_alive, pids))
    for child in children:
        child.__exit__()


@linux
def test_a_child_that_hears_sigterm_may_end_in_order(tmp_path):
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (open('last', 'w').close(), sys.exit(0)))\n"
        "print(1, flush=True); time.sleep(300)"
    )
    call = Call()
    with start_child(call, [PYTHON, "-c", code], cwd=str(tmp_path)) as child:
        assert wait_until(lambda: child._stdout.data)
        call.stop("cancelled")
    assert (tmp_path / "last").exists()
    assert child.process.returncode == 0


@linux
def test_a_grandchild_gets_its_time_too_when_the_child_is_gone_at_once(tmp_path):
    code = (
        "import signal, sys, time\n"
        "def end(*_): time.sleep(0.3); open('last', 'w').close(); sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, end); print(1, flush=True); time.sleep(300)"
    )
    outer = f"import subprocess, time; subprocess.Popen([{PYTHON!r}, '-c', {code!r}]); time.sleep(300)"
    call = Call()

    def work():
        with pytest.raises(Stopped):
            run_child(call, [PYTHON, "-c", outer], cwd=str(tmp_path))

    thread = in_a_thread(work)
    assert wait_until(lambda: call.children and call.children[0]._stdout.data)
    call.stop("timeout")
    assert (tmp_path / "last").exists()
    thread.join(SOON)


@linux
def test_starting_and_stopping_race_and_nothing_is_left():
    for round_ in range(40):
        call, pids = Call(), []

        def work(call=call, pids=pids):
            try:
                while True:
                    with start_child(call, ["sleep", "300"]) as child:
                        pids.append(child.process.pid)
                        call.check()
            except Stopped:
                return

        thread = in_a_thread(work)
        time.sleep(round_ / 10_000)
        call.stop("cancelled")
        thread.join(SOON)
        assert not thread.is_alive()
        assert not any(map(is_alive, pids))


@posix
def test_another_writer_may_go_on_while_a_child_runs():
    told = []
    call = Call(on_child=lambda: told.append("turn passed"))
    run_child(call, [PYTHON, "-c", ""])
    assert told == ["turn passed"]


# --- a conversation over descriptors 3 and 4 --------------------------

ECHO = "import os\nwhile True:\n data = os.read(3, 100)\n if not data: break\n os.write(4, data.upper())"


@posix
def test_a_child_can_be_talked_with():
    with start_child(Call(), [PYTHON, "-c", ECHO], pipes=True) as child:
        for word in (b"one", b"two"):
            child.send(word)
            assert child.receive(SOON) == word.upper()
    assert child.process.returncode == -signal.SIGTERM


@posix
def test_a_child_that_ends_or_says_nothing_is_a_failed_dependency():
    secret = "ghp_" + "a1B2c3D4e5" * 4
    code = f"import sys; sys.stderr.write('no display, token={secret}'); sys.exit(1)"
    with start_child(Call(), [PYTHON, "-c", code], pipes=True) as child:
        with pytest.raises(Failure) as caught:
            child.receive(SOON)
        assert caught.value.code == "dependency_failed"
        assert wait_until(lambda: b"no display" in child._stderr.data)
        with pytest.raises(Failure) as caught:
            for _ in range(100):
                child.send(b"x" * 10_000)
    assert "no display" in caught.value.message
    assert secret not in caught.value.message
    with (
        start_child(Call(), [PYTHON, "-c", "import time; time.sleep(60)"], pipes=True) as child,
        pytest.raises(Failure, match="said nothing"),
    ):
        child.receive(0.1)


@posix
def test_a_stop_ends_a_conversation():
    call = Call()
    with pytest.raises(Stopped), start_child(call, [PYTHON, "-c", ECHO], pipes=True) as child:
        threading.Timer(0.1, call.stop, ["timeout"]).start()
        child.receive(60)


@posix
def test_a_program_to_talk_with_that_is_not_there_says_so():
    with start_child(Call(), ["/nonexistent/browser"], pipes=True) as child:
        with pytest.raises(Failure):
            child.receive(SOON)
        assert child.wait(SOON) == 1


@linux
def test_a_conversation_leaves_no_descriptor():
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with start_child(Call(), [PYTHON, "-c", ECHO], pipes=True):
            pass
        with pytest.raises(Stopped):
            stopped = Call()
            stopped.cancel("cancelled")
            start_child(stopped, [PYTHON, "-c", ECHO], pipes=True)
    assert wait_until(lambda: len(os.listdir("/proc/self/fd")) == before)


def test_windows_trees_are_ended_by_its_own_tool(monkeypatch, tmp_path):
    """The command that Windows would be given, run as a script of that name here."""
    tool = tmp_path / "System32" / "taskkill.exe"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/said\nkill -9 "$4"\n', encoding="ascii")
    tool.chmod(0o755)
    monkeypatch.setenv("SYSTEMROOT", str(tmp_path))
    child = start_child(Call(), ["sleep", "300"])
    protoyard._stop_trees([child])
    assert (tmp_path / "said").read_text().split() == ["/T", "/F", "/PID", str(child.process.pid)]
    assert child.process.returncode == -signal.SIGKILL
    child.__exit__()
