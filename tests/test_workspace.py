"""§06: contained reads and writes, staging, atomic steps, the lock, and what the disk may refuse."""

from __future__ import annotations

import ctypes
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
from conftest import MODULE, as_nobody, mounted, where_disks_can_be_mounted

import protoyard
from protoyard import Call, Failure, Stopped, Workspace

OUTSIDE = "the path does not lead to a place inside the workspace"
BIG = 1 << 20


@pytest.fixture(params=[True, False], ids=["by handles", "by checked names"])
def workspace(place: pathlib.Path, request: pytest.FixtureRequest) -> Workspace:
    """The workspace under both ways of walking: the second is what Windows gets."""
    return Workspace(str(place), handles=request.param)


@pytest.fixture(autouse=True)
def no_handle_is_left_open():
    """Whatever happens in a test, it leaves no file open."""
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    yield
    if before:
        assert len(os.listdir("/proc/self/fd")) == before


def failure(act, *arguments, **options) -> Failure:
    with pytest.raises(Failure) as caught:
        act(*arguments, **options)
    return caught.value


def tree(directory: pathlib.Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*"))


def staged(directory: pathlib.Path) -> list[str]:
    return tree(directory / ".protoyard" / "staging")


def in_a_thread(act) -> threading.Thread:
    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    return thread


def other_process(code: str, *arguments: str) -> subprocess.Popen[bytes]:
    """A Python process that has the module, a Workspace `ws` of its first argument, and a Call `call`."""
    head = f"import sys, os, time; sys.path.insert(0, {str(MODULE.parent)!r}); import protoyard\n"
    head += "ws, call = protoyard.Workspace(sys.argv[1]), protoyard.Call()\n"
    return subprocess.Popen(
        [sys.executable, "-c", head + code, *arguments], stdout=subprocess.PIPE, stdin=subprocess.PIPE
    )


# --- reading ----------------------------------------------------------


def test_reading_what_is_there(workspace, place):
    (place / "a/b").mkdir(parents=True)
    (place / "a/b/file").write_bytes(b"text")
    (place / "a/link").symlink_to("b")
    assert workspace.read_bytes("a/b/file", max_bytes=4) == b"text"
    assert workspace.read_names("a") == ["b", "link"]
    assert workspace.read_names("") == ["a"]
    kinds = {
        path: workspace.kind(path) for path in ("", "a", "a/b/file", "a/link", "x", "a/x/y", "a/b/file/x")
    }
    assert kinds == {"": "folder", "a": "folder", "a/b/file": "file", "a/link": "other", "x": "missing",
                     "a/x/y": "missing", "a/b/file/x": "missing"}  # fmt: skip


def test_reading_makes_nothing(workspace, place, call):
    for read in (workspace.read_bytes, workspace.read_names):
        options = {"max_bytes": 1} if read == workspace.read_bytes else {}
        assert failure(read, "prototypes/x", **options).code == "not_found"
    assert workspace.kind(".protoyard") == "missing"
    assert workspace.lock_is_free() is True
    workspace.sweep(call)
    workspace.remove(".protoyard/staging/x") if workspace.kind(".protoyard/staging") == "folder" else None
    assert tree(place) == []


@pytest.mark.parametrize("path", ["nothing", "no/thing", "file/below", "x" * 300, "x" * 300 + "/y"])
def test_what_is_missing_is_not_found(workspace, place, path):
    (place / "file").write_text("")
    problem = failure(workspace.read_bytes, path, max_bytes=9)
    assert (problem.code, problem.message) == ("not_found", f"{path} does not exist")
    assert failure(workspace.read_names, path).code == "not_found"


def test_a_file_over_the_limit_is_refused_and_one_at_the_limit_is_not(workspace, place):
    (place / "file").write_bytes(b"x" * 1000)
    assert len(workspace.read_bytes("file", max_bytes=1000)) == 1000
    problem = failure(workspace.read_bytes, "file", max_bytes=999)
    assert (problem.code, problem.message) == ("invalid_arguments", "file is larger than 999 bytes")


def test_what_is_no_regular_file_is_refused_without_waiting(workspace, place, monkeypatch):
    (place / "folder").mkdir()
    os.mkfifo(place / "fifo")
    monkeypatch.chdir(place)
    server = socket.socket(socket.AF_UNIX)
    server.bind("socket")
    names = ["folder", "fifo", "socket"]
    if os.geteuid() == 0:
        os.mknod(place / "device", 0o600 | 0o020000, os.makedev(5, 0))  # the controlling terminal
        names.append("device")
    problems: list[Failure] = []
    reader = in_a_thread(
        lambda: problems.extend(failure(workspace.read_bytes, name, max_bytes=9) for name in names)
    )
    reader.join(5)
    server.close()
    assert not reader.is_alive()
    assert [p.message for p in problems] == [f"{name} is not a regular file" for name in names]
    assert {p.code for p in problems} == {"unsafe_path"}


def test_the_workspace_itself_is_no_file_to_be_read(workspace):
    problem = failure(workspace.read_bytes, "", max_bytes=9)
    assert (problem.code, problem.message) == ("unsafe_path", "the workspace is not a regular file")


ODD_PATHS = ["..", "a/../b", "/etc/passwd", "a//b", "./a", "a/", "a/."]


@pytest.mark.parametrize("path", ODD_PATHS)
def test_a_path_that_resolve_never_returns_is_refused_by_every_operation(workspace, place, call, path):
    (place / "a").mkdir()
    for act in (
        lambda: workspace.read_bytes(path, max_bytes=9),
        lambda: workspace.read_names(path),
        lambda: workspace.write_file(path, b"x", call),
        lambda: workspace.remove(path),
        lambda: workspace.absolute(path),
    ):
        problem = failure(act)
        assert (problem.code, problem.message) == ("unsafe_path", f"{path}: {OUTSIDE}")
    assert [path for path in tree(place) if not path.startswith(".protoyard")] == ["a"]


# --- links ------------------------------------------------------------


@pytest.fixture
def outside(place: pathlib.Path) -> pathlib.Path:
    """A folder beside the workspace, that links planted inside lead to."""
    folder = place.parent / "outside"
    folder.mkdir()
    (folder / "file").write_bytes(b"secret")
    (folder / "sub").mkdir()
    return folder


LINK_PLACES = [
    ("as the file", "link", "file"),
    ("as a file that is missing behind it", "link", "nothing"),
    ("as the folder", "link/file", ""),
    ("as a folder further up", "link/sub/file", ""),
    ("as a folder inside", "in/link/file", ""),
]


@pytest.mark.parametrize(("sentence", "path", "target"), LINK_PLACES, ids=[row[0] for row in LINK_PLACES])
def test_a_link_planted_after_the_check_leads_nowhere(
    workspace, place, outside, call, sentence, path, target
):
    link = place / path[: path.index("link") + 4]
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside / target if target else outside)
    before = tree(outside)
    with workspace.stage(call) as stage:
        stage.write("file", b"new")
        for act in (
            lambda: workspace.read_bytes(path, max_bytes=99),
            lambda: workspace.read_names(path),
            lambda: workspace.write_file(path, b"new", call),
            lambda: stage.publish(path),
        ):
            problem = failure(act)
            assert (problem.code, problem.message) == ("unsafe_path", f"{path}: {OUTSIDE}")
    assert tree(outside) == before and (outside / "file").read_bytes() == b"secret"
    assert link.is_symlink() and staged(place) == []


def test_links_in_the_places_that_are_ours_lead_nowhere_either(workspace, place, outside, call):
    (place / ".protoyard").symlink_to(outside)
    for act in (
        lambda: workspace.lock(call).__enter__(),
        lambda: workspace.write_file("file", b"x", call),
        lambda: workspace.sweep(call),
    ):
        assert failure(act).code == "unsafe_path"
    assert workspace.lock_is_free() is False  # it cannot be told
    (place / ".protoyard").unlink()
    (place / ".protoyard").mkdir()
    (place / ".protoyard/staging").symlink_to(outside)
    (place / ".protoyard/lock").symlink_to(outside / "lock")
    for act in (
        lambda: workspace.lock(call).__enter__(),
        lambda: workspace.write_file("file", b"x", call),
        lambda: workspace.sweep(call),
    ):
        assert failure(act).code == "unsafe_path"
    assert tree(outside) == ["file", "sub"]


@pytest.mark.parametrize("plant", ["fifo", "folder"])
def test_a_lock_that_is_no_file_is_refused_without_waiting(workspace, place, call, plant):
    (place / ".protoyard").mkdir()
    lock = place / ".protoyard" / "lock"
    lock.mkdir() if plant == "folder" else os.mkfifo(lock)
    problem = failure(lambda: workspace.lock(call).__enter__())
    assert problem.code in ("unsafe_path", "io_error") and ".protoyard/lock" in problem.message


def test_deleting_takes_links_and_not_what_they_lead_to(workspace, place, outside, call):
    (place / "folder/in").mkdir(parents=True)
    (place / "folder/in/file").write_text("x")
    (place / "folder/link").symlink_to(outside)
    (place / "folder/in/link").symlink_to(outside / "file")
    workspace.remove("folder")
    workspace.remove("folder")  # gone already: nothing to do
    assert tree(place) == [] and tree(outside) == ["file", "sub"]


SWAPS = 5000
RENAME_EXCHANGE = 2
AT_FDCWD = -100


def exchange(one: pathlib.Path, other: pathlib.Path) -> None:
    """Swaps two names in one step, so that neither is ever missing."""
    one, other = os.fsencode(one), os.fsencode(other)
    if ctypes.CDLL(None).renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE):
        raise OSError("renameat2 failed")


@pytest.mark.skipif(sys.platform != "linux", reason="needs renameat2")
def test_a_folder_swapped_for_a_link_all_the_time_lets_nothing_out_or_in(place, outside, call):
    """A thread swaps `folder` and a link to the outside while 5,000 operations run on paths through it."""
    workspace = Workspace(str(place))
    (outside / "mark").write_bytes(b"secret")
    (place / "folder").mkdir()
    (place / "folder/mark").write_bytes(b"inside")
    (place / "link").symlink_to(outside)
    stop, swapped = threading.Event(), []
    before = tree(outside)

    def swap() -> None:
        while not stop.is_set():
            exchange(place / "folder", place / "link")
            swapped.append(1)
            time.sleep(0.0001)  # or this thread takes all the turns

    swapper = in_a_thread(swap)
    seen, codes = set(), set()
    try:
        for number in range(SWAPS):
            try:
                if number % 5 == 0:
                    workspace.write_file(f"folder/{number % 50}", b"new", call)
                elif number % 5 == 1:
                    workspace.write_file("folder/mark", b"inside", call)
                elif number % 5 == 2:
                    workspace.remove(f"folder/{number % 50}")
                elif number % 5 == 3:
                    assert "sub" not in workspace.read_names("folder")
                else:
                    seen.add(workspace.read_bytes("folder/mark", max_bytes=99))
            except Failure as problem:
                codes.add(problem.code)
    finally:
        stop.set()
        swapper.join()
    assert tree(outside) == before and (outside / "mark").read_bytes() == b"secret"
    assert seen == {b"inside"}
    assert "unsafe_path" in codes and codes <= {"unsafe_path", "not_found", "io_error"}
    assert len(swapped) > 100


# --- writing ----------------------------------------------------------


def test_a_file_is_made_and_replaced(workspace, place, call):
    workspace.write_file("a/b/file", b"one", call)
    workspace.write_file("a/b/file", b"two", call)
    assert (place / "a/b/file").read_bytes() == b"two"
    assert staged(place) == []


def test_a_new_file_has_the_rights_that_the_user_wants(workspace, place, call):
    mask = os.umask(0o027)
    try:
        workspace.write_file("a/file", b"x", call)
    finally:
        os.umask(mask)
    assert (place / "a/file").stat().st_mode & 0o777 == 0o640
    assert (place / "a").stat().st_mode & 0o777 == 0o750


def test_a_folder_is_not_replaced_by_a_file(workspace, place, call):
    (place / "a").mkdir()
    assert failure(workspace.write_file, "a", b"x", call).code == "already_exists"
    assert (place / "a").is_dir() and staged(place) == []


def test_a_reader_sees_the_old_or_the_new_file_whole(place, call):
    workspace = Workspace(str(place))
    contents = [bytes([letter]) * 200_000 for letter in b"ab"]
    workspace.write_file("file", contents[0], call)
    stop = threading.Event()

    def write() -> None:
        for number in range(200):
            workspace.write_file("file", contents[number % 2], call)
        stop.set()

    writer = in_a_thread(write)
    seen = set()
    while not stop.is_set():
        data = workspace.read_bytes("file", max_bytes=BIG)
        assert data in contents
        seen.add(data)
    writer.join()
    assert len(seen) == 2


def test_a_stopped_call_passes_no_gate(workspace, place, call):
    workspace.write_file("file", b"old", call)
    with pytest.raises(Stopped), workspace.stage(call) as stage:
        stage.write("index.html", b"x")
        call.stop("timeout")
        stage.publish("apps/new")
    with pytest.raises(Stopped):
        workspace.write_file("file", b"new", call)
    with pytest.raises(Stopped), workspace.lock(call):
        pass
    assert (place / "file").read_bytes() == b"old"
    assert not (place / "apps").exists() and staged(place) == []


def test_a_folder_appears_whole(workspace, place, call):
    with workspace.stage(call) as stage:
        stage.write("a/history/0001.json", b"1")
        stage.write("index.html", b"2")
        assert not (place / "prototypes").exists()
        assert len(os.listdir(place / ".protoyard/staging")) == 1
        stage.publish("prototypes/demo")
    assert tree(place / "prototypes") == [
        "demo", "demo/a", "demo/a/history", "demo/a/history/0001.json", "demo/index.html",
    ]  # fmt: skip
    assert staged(place) == []


def test_a_folder_goes_over_an_empty_one_and_over_nothing_else(workspace, place, call):
    (place / "empty").mkdir()
    (place / "full").mkdir()
    (place / "full/file").write_text("mine")
    (place / "file").write_text("mine")
    for target in ("full", "file"):
        with workspace.stage(call) as stage:
            stage.write("index.html", b"x")
            problem = failure(stage.publish, target)
        assert problem.code == "already_exists" and problem.message.startswith(target)
    with workspace.stage(call) as stage:
        stage.write("index.html", b"x")
        stage.publish("empty")
    assert tree(place / "empty") == ["index.html"]
    assert (place / "full/file").read_text() == "mine" and (place / "file").read_text() == "mine"
    assert staged(place) == []


def test_what_was_staged_is_gone_after_an_error(workspace, place, call):
    with pytest.raises(ZeroDivisionError), workspace.stage(call) as stage:
        stage.write("deep/er/file", b"x")
        raise ZeroDivisionError
    assert staged(place) == []


def test_a_sweep_clears_whatever_lies_in_staging(workspace, place, call, outside):
    deep = place / ".protoyard/staging/1-dead"
    deep.mkdir(parents=True)
    (deep / "file").write_text("x")
    (deep / "link").symlink_to(outside)
    (place / ".protoyard/staging/2-dead").write_text("x")
    depth = 1500  # deeper than the stack and than any path may be long
    here = os.open(deep, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("folder", dir_fd=here)
        inner = os.open("folder", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    try:
        workspace.sweep(call)
        assert os.listdir(place / ".protoyard/staging") == [] and tree(outside) == ["file", "sub"]
    finally:
        subprocess.run(["rm", "-rf", place / ".protoyard"], check=True)  # too deep for pytest to clear up


def test_a_sweep_ends_while_an_abandoned_worker_still_fills_staging(place, call):
    workspace, stop = Workspace(str(place)), threading.Event()

    def work() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            with workspace.stage(Call()) as stage:
                for name in ("a", "b/c", "b/d/e"):
                    try:
                        stage.write(name, b"x")
                    except Failure:
                        continue

    worker = in_a_thread(work)
    try:
        for _ in range(300):
            workspace.sweep(call)
    finally:
        stop.set()
        worker.join()
    workspace.sweep(call)
    assert staged(place) == []


# --- what the disk refuses --------------------------------------------


def test_rights_are_an_io_error_with_operation_and_path(open_place, call):
    workspace = Workspace(str(open_place))
    (open_place / "private").mkdir()
    (open_place / "private/file").write_text("x")
    (open_place / "mine").write_text("x")
    (open_place / "readonly").mkdir()
    modes = {"private": 0, "mine": 0, "readonly": 0o555}
    cases = [
        (lambda: workspace.read_bytes("private/file", max_bytes=9), "reading private/file"),
        (lambda: workspace.read_names("private"), "reading private"),
        (lambda: workspace.kind("private/file"), "reading private/file"),
        (lambda: workspace.read_bytes("mine", max_bytes=9), "reading mine"),
        (lambda: workspace.write_file("readonly/new", b"x", call), "writing readonly/new"),
        (lambda: workspace.write_file("readonly/new/er", b"x", call), "writing readonly/new/er"),
        (lambda: workspace.remove("private/file"), "removing private/file"),
    ]
    for name, mode in modes.items():
        (open_place / name).chmod(mode)
    try:
        for act, words in cases:
            problem = as_nobody(lambda act=act: failure(act))
            assert (problem.code, problem.message) == ("io_error", f"{words} failed: permission denied")
    finally:
        for name in modes:
            (open_place / name).chmod(0o700)
    assert staged(open_place) == []
    shutil.rmtree(open_place / ".protoyard")
    open_place.chmod(0o555)
    problem = as_nobody(lambda: failure(lambda: workspace.lock(call).__enter__()))
    open_place.chmod(0o777)
    assert problem.message == "locking .protoyard/lock failed: permission denied"


def test_a_lock_that_may_not_be_opened_is_an_io_error_and_not_free(open_place, call):
    workspace = Workspace(str(open_place))
    with workspace.lock(call):
        pass
    (open_place / ".protoyard/lock").chmod(0)
    assert as_nobody(lambda: failure(lambda: workspace.lock(call).__enter__())).code == "io_error"
    assert as_nobody(workspace.lock_is_free) is False
    (open_place / ".protoyard/lock").chmod(0o600)
    assert workspace.lock_is_free() is True


@where_disks_can_be_mounted
def test_a_full_disk_is_an_io_error_and_leaves_what_was_there(place, call):
    with mounted(place, "256k"):
        workspace = Workspace(str(place))
        workspace.write_file("file", b"old", call)
        with workspace.lock(call), workspace.stage(call) as stage:
            stage.write("one", b"x" * 100_000)
            problem = failure(stage.write, "two", b"x" * BIG)
        assert problem.code == "io_error" and problem.message.endswith("failed: the disk is full")
        assert problem.message.startswith("writing .protoyard/staging/")
        problem = failure(workspace.write_file, "file", b"x" * BIG, call)
        assert problem.code == "io_error"
        assert (place / "file").read_bytes() == b"old" and staged(place) == []
        workspace.write_file("file", b"new", call)


@where_disks_can_be_mounted
def test_a_read_only_disk_can_be_read_and_not_written(place, call):
    with mounted(place, "256k"):
        (place / "file").write_text("x")
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        workspace = Workspace(str(place))
        assert workspace.read_bytes("file", max_bytes=1) == b"x"
        assert workspace.lock_is_free() is True
        problem = failure(lambda: workspace.lock(call).__enter__())
        assert problem.message == "locking .protoyard/lock failed: the file system is read-only"


@where_disks_can_be_mounted
def test_staging_on_another_disk_is_an_io_error(place, call):
    (place / ".protoyard/staging").mkdir(parents=True)
    with mounted(place / ".protoyard/staging", "256k"):
        workspace = Workspace(str(place))
        for act in (
            lambda: workspace.write_file("file", b"x", call),
            lambda: publish_one(workspace, call, "apps/new"),
        ):
            problem = failure(act)
            assert problem.code == "io_error" and "another file system" in problem.message
        assert staged(place) == [] and not (place / "file").exists()


def publish_one(workspace: Workspace, call: Call, target: str) -> None:
    with workspace.stage(call) as stage:
        stage.write("file", b"x")
        stage.publish(target)


def test_a_name_too_long_is_an_io_error_when_written(workspace, place, call):
    name = "x" * 300
    problem = failure(workspace.write_file, name, b"x", call)
    assert (problem.code, problem.message) == ("io_error", f"writing {name} failed: a name is too long")
    assert failure(publish_one, workspace, call, name).code == "io_error"
    assert staged(place) == []


def test_a_file_where_a_folder_should_be_is_an_io_error_when_written(workspace, place, call):
    (place / "file").write_text("x")
    problem = failure(workspace.write_file, "file/below", b"x", call)
    assert problem.message == "writing file/below failed: a file is where a folder should be"
    assert problem.code == "io_error"


def test_a_vanished_workspace_is_never_made_anew(workspace, place, call):
    workspace.write_file("file", b"x", call)
    shutil.rmtree(place)
    for act in (
        lambda: workspace.read_bytes("file", max_bytes=9),
        lambda: workspace.kind("file"),
        lambda: workspace.resolve("file", field="folder"),
        lambda: workspace.write_file("file", b"x", call),
        lambda: publish_one(workspace, call, "apps/new"),
        lambda: workspace.lock(call).__enter__(),
        lambda: workspace.sweep(call),
    ):
        problem = failure(act)
        assert (problem.code, problem.message) == ("io_error", "opening the workspace failed: it is missing")
    assert workspace.lock_is_free() is False
    assert not place.exists()


def test_a_workspace_swapped_for_a_link_is_refused(workspace, place, outside, call):
    place.rmdir()
    place.symlink_to(outside)
    assert failure(workspace.read_bytes, "file", max_bytes=9).code == "io_error"
    assert failure(workspace.write_file, "new", b"x", call).code == "io_error"
    assert tree(outside) == ["file", "sub"]


def test_no_message_holds_an_absolute_path(workspace, place, call):
    (place / "file").write_text("x")
    for act in (
        lambda: workspace.read_bytes("nothing", max_bytes=9),
        lambda: workspace.read_bytes("file", max_bytes=0),
        lambda: workspace.write_file("file/x", b"x", call),
        lambda: workspace.resolve("/etc/passwd", field="folder"),
    ):
        problem = failure(act)
        assert str(place.parent) not in problem.message + problem.hint


# --- the lock ---------------------------------------------------------


def test_threads_take_turns(workspace, place):
    inside, most = [], []

    def work() -> None:
        call = Call()
        for _ in range(10):
            with workspace.lock(call):
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.001)
                inside.pop()

    threads = [in_a_thread(work) for _ in range(4)]
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    assert len(most) == 40 and max(most) == 1
    assert workspace.lock_is_free()


def test_two_objects_of_one_workspace_share_the_lock(place, call):
    first, second = Workspace(str(place)), Workspace(str(place), lock_wait_seconds=0)
    with first.lock(call):
        assert second.lock_is_free() is False
        waiting = Call()
        raised: list[BaseException] = []

        def work() -> None:
            try:
                second.lock(waiting).__enter__()
            except Stopped as stopped:
                raised.append(stopped)

        thread = in_a_thread(work)
        time.sleep(0.2)  # behind its own process it waits as long as it lives
        assert thread.is_alive()
        waiting.stop("cancelled")
        thread.join(5)
        assert not thread.is_alive() and len(raised) == 1
    assert second.lock_is_free() is True


def test_a_call_that_has_the_lock_may_take_it_again(workspace, call):
    with workspace.lock(call):
        with workspace.lock(call):
            assert workspace.lock_is_free() is False
        assert workspace.lock_is_free() is False
    assert workspace.lock_is_free() is True


def test_an_error_lets_the_lock_go(workspace, call):
    with pytest.raises(ZeroDivisionError), workspace.lock(call):
        raise ZeroDivisionError
    assert workspace.lock_is_free() is True


def test_an_abandoned_calls_lock_can_be_taken_away(workspace, call):
    stuck, entered, go_on = Call(), threading.Event(), threading.Event()
    raised: list[BaseException] = []

    def work() -> None:
        try:
            with workspace.lock(stuck):
                entered.set()
                go_on.wait(10)
                workspace.write_file("late", b"x", stuck)
        except BaseException as error:
            raised.append(error)

    thread = in_a_thread(work)
    assert entered.wait(5)
    stuck.stop("timeout")
    protoyard.release_lock(stuck)
    protoyard.release_lock(stuck)
    with workspace.lock(call):
        go_on.set()
        thread.join(5)
        assert workspace.lock_is_free() is False  # the late one did not let go of what is ours
    assert isinstance(raised[0], Stopped)
    assert workspace.kind("late") == "missing" and workspace.lock_is_free() is True


HOLD = "\nwith ws.lock(call):\n    print('held', flush=True); sys.stdin.read()\n"


def test_a_lock_held_by_another_process_is_busy_until_it_lets_go(place, call):
    workspace = Workspace(str(place), lock_wait_seconds=0.3)
    with other_process(HOLD, str(place)) as other:
        assert other.stdout.readline() == b"held\n"
        assert workspace.lock_is_free() is False
        begun = time.monotonic()
        problem = failure(lambda: workspace.lock(call).__enter__())
        assert time.monotonic() - begun >= 0.3
        assert (problem.code, problem.hint) == ("busy", "try again in a moment")
        patient = Workspace(str(place))
        threading.Timer(0.3, other.stdin.close).start()
        with patient.lock(call):
            assert other.wait(5) == 0
    assert workspace.lock_is_free() is True


def test_a_killed_process_lets_go(place, call):
    workspace = Workspace(str(place), lock_wait_seconds=5)
    with other_process(HOLD, str(place)) as other:
        assert other.stdout.readline() == b"held\n"
        os.kill(other.pid, signal.SIGKILL)
        with workspace.lock(call):
            pass


def test_a_waiting_call_is_stopped_at_once(place):
    workspace, waiting = Workspace(str(place)), Call()
    with other_process(HOLD, str(place)) as other:
        assert other.stdout.readline() == b"held\n"
        threading.Timer(0.2, waiting.stop, ["cancelled"]).start()
        with pytest.raises(Stopped), workspace.lock(waiting):
            pass
        assert time.monotonic() and other.poll() is None
        other.stdin.close()
        other.wait(5)


COUNT = """
for _ in range(100):
    with ws.lock(call):
        number = int(ws.read_bytes("count", max_bytes=99))
        ws.write_file("count", str(number + 1).encode(), call)
"""


def test_two_processes_and_two_threads_contend_and_lose_no_update(place):
    (place / "count").write_text("0")
    workspace = Workspace(str(place))

    def work() -> None:
        exec(COUNT, {"ws": workspace, "call": Call()})

    with other_process(COUNT, str(place)) as one, other_process(COUNT, str(place)) as two:
        threads = [in_a_thread(work) for _ in range(2)]
        for thread in threads:
            thread.join(60)
        assert (one.wait(60), two.wait(60)) == (0, 0)
    assert (place / "count").read_text() == "400"


def test_a_lock_file_that_is_deleted_meanwhile_binds_nobody_wrongly(place, call):
    """The waiting one must not end up with the lock of a file that is no longer there."""
    workspace = Workspace(str(place), lock_wait_seconds=5)
    with other_process(HOLD, str(place)) as other:
        assert other.stdout.readline() == b"held\n"
        taken = threading.Event()

        def work() -> None:
            with workspace.lock(Call()):
                taken.set()

        thread = in_a_thread(work)
        time.sleep(0.2)
        (place / ".protoyard/lock").unlink()
        assert taken.wait(5)
        thread.join(5)
        assert (place / ".protoyard/lock").exists()
        other.stdin.close()
        other.wait(5)


def test_the_lock_is_not_passed_to_a_child(place, call):
    """A child that outlives its parent must not keep the workspace locked."""
    workspace = Workspace(str(place))
    with workspace.lock(call):
        child = subprocess.Popen(["sleep", "30"], close_fds=False)
    try:
        assert workspace.lock_is_free() is True
    finally:
        child.kill()
        child.wait()
