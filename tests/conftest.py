"""What every test may use: the interpreters, the module, the archive, and ways to run them as a user would.

Tests run on one Python; the program under test runs on the oldest and the newest of the machine (PYTHONS).
With PROTOYARD_CI set nothing may be skipped: a skip is a failure there.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
MODULE = ROOT / "protoyard.py"
MODERN = "2026-07-28"
LEGACY = "2025-11-25"
RUN_SECONDS = 60
ANSWER_SECONDS = 30
IN_CI = bool(os.environ.get("PROTOYARD_CI"))


def load_build_script(name: str) -> Any:
    """One of the scripts that build.sh runs, as a module; they lie outside every package."""
    spec = importlib.util.spec_from_file_location(f"build_{name}", ROOT / ".build" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


BUILDER = load_build_script("archive")
INTERPRETERS = BUILDER.find_interpreters()
ALL_PYTHONS = {found.version: found.path for found in INTERPRETERS}
PYTHONS = list(dict.fromkeys([INTERPRETERS[0].path, INTERPRETERS[-1].path]))


# What a skip is in CI: a failure that says what was skipped.


def forbid_skip(report: Any) -> None:
    """Turn a skipped report into a failed one; an expected failure stays what it is."""
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"nothing may be skipped in CI: {reason}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """Each phase of a test."""
    outcome = yield
    forbid_skip(outcome.get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    """A whole file that skips itself."""
    outcome = yield
    forbid_skip(outcome.get_result())


def pytest_report_header() -> list[str]:
    """Says what the program under test runs on."""
    under_test = [version for version, path in ALL_PYTHONS.items() if path in PYTHONS]
    return [f"protoyard runs on Python {', '.join(under_test)} (found: {', '.join(ALL_PYTHONS)})"]


# The environment of a process that is started as by a host that passes nothing on.


def bare_environment(**more: str) -> dict[str, str]:
    """An almost empty environment: what Windows cannot do without, and what the test adds."""
    kept = ("SYSTEMROOT", "TEMP", "TMP")
    return {**{name: os.environ[name] for name in kept if name in os.environ}, **more}


def inherited_environment(**more: str) -> dict[str, str]:
    """This process's environment without Protoyard's own settings and Python's."""
    own = ("PROTOYARD_", "PYTHON", "SHIV_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    return {**kept, **more}


# One command, run to its end.


class Ran(NamedTuple):
    """A command that has ended: its exit status and all that it wrote."""

    status: int
    stdout: bytes
    stderr: bytes

    @property
    def out(self) -> str:
        """Standard output as text."""
        return self.stdout.decode("utf-8")

    @property
    def err(self) -> str:
        """Standard error as text."""
        return self.stderr.decode("utf-8", "replace")

    @property
    def envelope(self) -> dict[str, Any]:
        """What `--json` printed: one JSON object and nothing else."""
        return json.loads(self.stdout)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """What a server answered: one JSON object a line."""
        assert self.stdout.endswith(b"\n") or not self.stdout, "the last line is not ended"
        return [json.loads(line) for line in self.stdout.splitlines()]


def run_process(
    command: Iterable[Any],
    *,
    stdin: bytes = b"",
    cwd: Any = None,
    env: dict[str, str] | None = None,
    timeout: float = RUN_SECONDS,
) -> Ran:
    """Run any command to its end; `env` None means `inherited_environment()`."""
    done = subprocess.run(
        [str(part) for part in command],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=inherited_environment() if env is None else env,
        timeout=timeout,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def run_cli(
    *arguments: Any,
    python: str = sys.executable,
    target: Any = MODULE,
    isolated: bool = False,
    **options: Any,
) -> Ran:
    """Run the command line: `run_cli("quick", "A brief", "--json", cwd=tmp_path)`.

    `isolated` adds Python's -I; the other options are those of `run_process`.
    """
    return run_process([python, *(["-I"] if isolated else []), target, *arguments], **options)


def encode_line(line: Any) -> bytes:
    """A line for a server: bytes as they are, text as UTF-8, anything else as JSON; the newline is added."""
    if not isinstance(line, (bytes, str)):
        line = json.dumps(line)
    data = line.encode("utf-8") if isinstance(line, str) else line
    return data if data.endswith(b"\n") else data + b"\n"


def serve_lines(
    python: str, target: Any, lines: Iterable[Any], *, arguments: Iterable[Any] = (), **options: Any
) -> Ran:
    """Feed a server all lines and the end of input; `.messages` are its answers, in the order written."""
    command = [python, "-I", target, "mcp", *arguments]
    return run_process(command, stdin=b"".join(encode_line(line) for line in lines), **options)


# A server that is talked with.


def build_request(
    number: Any, method: str, *, revision: str | None = MODERN, **params: Any
) -> dict[str, Any]:
    """A request; a revision of None leaves `_meta` out, for use after a handshake."""
    if revision:
        params["_meta"] = {"io.modelcontextprotocol/protocolVersion": revision, **params.get("_meta", {})}
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def build_call(
    number: Any, name: str, arguments: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """A tools/call request."""
    return build_request(number, "tools/call", name=name, arguments=arguments or {}, **more)


class Server:
    """A running `protoyard mcp` whose answers are read one at a time; a context manager that ends it."""

    def __init__(
        self,
        python: str = sys.executable,
        target: Any = MODULE,
        *,
        arguments: Iterable[Any] = (),
        cwd: Any = None,
        env: dict[str, str] | None = None,
    ) -> None:
        self.process = subprocess.Popen(
            [python, "-I", str(target), "mcp", *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=inherited_environment() if env is None else env,
        )
        self.answers: queue.Queue[bytes] = queue.Queue()
        self.stderr = b""
        self.readers = [threading.Thread(target=read) for read in (self._read_answers, self._read_stderr)]
        for reader in self.readers:
            reader.daemon = True
            reader.start()

    def _read_answers(self) -> None:
        for line in self.process.stdout:
            self.answers.put(line)
        self.answers.put(b"")

    def _read_stderr(self) -> None:
        self.stderr = self.process.stderr.read()

    def send(self, *lines: Any) -> None:
        """Write lines, at once and whole."""
        self.process.stdin.write(b"".join(encode_line(line) for line in lines))
        self.process.stdin.flush()

    def read(self, timeout: float = ANSWER_SECONDS) -> dict[str, Any]:
        """The next answer; fails when the server has ended or `timeout` seconds pass."""
        line = self.answers.get(timeout=timeout)
        assert line, (
            f"the server has ended with {self.process.wait()}: {self.stderr.decode(errors='replace')}"
        )
        return json.loads(line)

    def ask(self, message: dict[str, Any], timeout: float = ANSWER_SECONDS) -> dict[str, Any]:
        """Send one request and read one answer, which must be its own."""
        self.send(message)
        answer = self.read(timeout)
        assert answer.get("id") == message["id"], answer
        return answer

    def end(self, timeout: float = ANSWER_SECONDS) -> int:
        """End of input; the exit status."""
        self.process.stdin.close()
        return self.process.wait(timeout)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *raised: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in self.readers:
            reader.join()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                pipe.close()
            except OSError:  # what was still unsent when the server went
                continue


# Fixtures.


@pytest.fixture(scope="session")
def module() -> Path:
    """The module as it lies in the clone."""
    return MODULE


@pytest.fixture(scope="session")
def pyz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive, built once for the whole run from the module as it is now."""
    output = tmp_path_factory.mktemp("archive") / "protoyard.pyz"
    built = run_process([sys.executable, "-I", ROOT / ".build" / "archive.py", "--output", output])
    assert built.status == 0, (
        f"the archive could not be built (`./build.sh test` has all it needs): {built.err}"
    )
    return output


@pytest.fixture(params=PYTHONS, ids=lambda path: Path(path).name)
def python(request: pytest.FixtureRequest) -> str:
    """The interpreter under test: the oldest and the newest of the machine."""
    return request.param


@pytest.fixture(params=["module", "pyz"])
def target(request: pytest.FixtureRequest) -> Path:
    """What is started: the bare module and the archive."""
    return request.getfixturevalue(request.param)


# A workspace on a real disk, and what a user without rights makes of it.

NOBODY = 65534


def as_nobody(act: Callable[[], Any]) -> Any:
    """What `act` returns (or raises) with the rights of a user who may do only what the modes allow."""
    if os.geteuid() != 0:
        return act()
    os.seteuid(NOBODY)
    try:
        return act()
    finally:
        os.seteuid(0)


@contextlib.contextmanager
def mounted(directory: Any, size: str) -> Iterator[None]:
    """A disk of its own, in memory, at a directory; CalledProcessError where that is not allowed."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(directory)]
    subprocess.run(command, check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(directory)], check=True)


@functools.cache
def can_mount() -> bool:
    """May this user mount a disk here? In many containers nobody may."""
    with tempfile.TemporaryDirectory() as directory:
        try:
            with mounted(directory, "64k"):
                return True
        except (OSError, subprocess.CalledProcessError):
            return False


def where_disks_can_be_mounted(test: Callable[..., None]) -> Callable[..., None] | None:
    """A test that needs a disk of its own exists only where there can be one: elsewhere it says nothing."""
    return test if can_mount() else None


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """An empty workspace directory with room around it for what must not be touched."""
    directory = tmp_path / "ws"
    directory.mkdir()
    return directory


@pytest.fixture
def open_place() -> Iterator[Path]:
    """An empty workspace directory that any user may look into and write to."""
    root = Path(tempfile.mkdtemp())
    root.chmod(0o755)
    (root / "ws").mkdir()
    (root / "ws").chmod(0o777)
    yield root / "ws"
    shutil.rmtree(root)


@pytest.fixture
def workspace(place: Path) -> Any:
    """A Workspace in the empty directory `place`."""
    import protoyard

    return protoyard.Workspace(str(place))


@pytest.fixture
def call() -> Any:
    """A call that nobody stops and that has no deadline."""
    import protoyard

    return protoyard.Call()
