"""How fast the server is, as multiples of a bare Python loop that answers each JSON line with a JSON line.

    python tests/bench.py [--runs N] [--python PATH] [--target pyz|module]

Both are measured in turn within one run, so that what else the machine does meets both alike; the figures are
medians over the runs. It measures and prints; what is asserted elsewhere is never a speed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from conftest import MODULE, ROOT, bare_environment, build_call, build_request, encode_line

BARE = """
import json, sys
for line in sys.stdin.buffer:
    message = json.loads(line)
    answer = {"jsonrpc": "2.0", "id": message["id"], "result": {}}
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\\n")
    sys.stdout.buffer.flush()
"""
BRIEF = "A fictional field service team schedules equipment inspections and tracks visits."
ROUNDS = {"ping": 200, "tools/list": 50, "blueprint_schema": 50}
BURST = 3000
QUICK_ROUNDS = 3
SCALES = (100, 10_000)
SCAN_CHARS = 512 * 1024
MILLISECONDS = 1000
KIB_PER_MIB = 1024


class Row(NamedTuple):
    """One measured quantity: its unit, and the multiple of the bare loop that it should stay under."""

    name: str
    unit: str
    goal: float


ROWS = [
    Row("start-up to the first answer", "ms", 1.9),
    Row("ping", "ms", 2),
    Row("tools/list", "ms", 8),
    Row("tools/call blueprint_schema", "ms", 6),
    Row(f"burst of {BURST:,} pings", "ms", 3),
    Row("peak memory", "MiB", 1.5),
    Row("exit after the end of input", "ms", 2),
]


class Peer:
    """A started process that answers each line with a line; times are in milliseconds."""

    def __init__(self, command: list[str], folder: str) -> None:
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, env=bare_environment()
        )

    def ask(self, line: bytes) -> bytes:
        """One line there, one line back."""
        self.process.stdin.write(line)
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, "it has ended"
        return answer

    def time_start(self, line: bytes) -> float:
        """From before the start to the first answer."""
        self.ask(line)
        return (time.perf_counter() - self.began) * MILLISECONDS

    def time_asking(self, line: bytes, rounds: int) -> float:
        """The median of one question and its answer; the first round is not counted."""
        self.ask(line)
        times = []
        for _ in range(rounds):
            began = time.perf_counter()
            self.ask(line)
            times.append(time.perf_counter() - began)
        return statistics.median(times) * MILLISECONDS

    def time_burst(self, line: bytes, count: int) -> float:
        """Many lines at once, until the last is answered."""
        began = time.perf_counter()
        writer = threading.Thread(target=self._write, args=(line * count,))
        writer.start()
        for _ in range(count):
            assert self.process.stdout.readline()
        elapsed = time.perf_counter() - began
        writer.join()
        return elapsed * MILLISECONDS

    def _write(self, data: bytes) -> None:
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def peak_mib(self) -> float:
        """Peak resident memory, where the system tells (Linux); else not a number."""
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii", errors="replace")
        except OSError:
            return float("nan")
        return int(re.search(r"^VmHWM:\s*(\d+) kB", status, re.M).group(1)) / KIB_PER_MIB

    def time_exit(self) -> float:
        """From the end of input to the end of the process, which must be a good one."""
        began = time.perf_counter()
        self.process.stdin.close()
        assert self.process.wait() == 0
        elapsed = time.perf_counter() - began
        self.process.stdout.close()
        return elapsed * MILLISECONDS


def measure_peer(command: list[str], folder: str) -> list[float]:
    """One value for each of ROWS, from one process."""
    ping = encode_line(build_request(1, "ping"))
    peer = Peer(command, folder)
    values = [peer.time_start(ping)]
    values.append(peer.time_asking(ping, ROUNDS["ping"]))
    values.append(peer.time_asking(encode_line(build_request(2, "tools/list")), ROUNDS["tools/list"]))
    schema = encode_line(build_call(3, "blueprint_schema"))
    assert b'"isError":true' not in peer.ask(schema)
    values.append(peer.time_asking(schema, ROUNDS["blueprint_schema"]))
    values.append(peer.time_burst(ping, BURST))
    values.append(peer.peak_mib())
    values.append(peer.time_exit())
    return values


def measure_quick(command: list[str], folder: str) -> float:
    """One `quick` with three variants, asked of a warm server, in milliseconds."""
    peer = Peer(command, folder)
    quick = build_call(1, "quick", {"brief": BRIEF, "seed": 42})
    answer = json.loads(peer.ask(encode_line(quick)))
    assert answer["result"]["isError"] is False, answer
    value = peer.time_asking(encode_line(quick), QUICK_ROUNDS)
    peer.time_exit()
    return value


def time_median(run: Callable[[], Any], rounds: int) -> float:
    """The median time of a call, in milliseconds."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * MILLISECONDS


def worst_texts() -> dict[str, str]:
    """Strings that make a careless pattern slow: beginnings of secrets without an end, over and over."""
    parts = {
        "one letter": "a",
        "spaces": " ",
        "prose": "Passwords and tokens are kept by the operator, not here. ",
        "another script": "検査予約の一覧、",
        "beginnings of a JSON Web Token": "eyJ",
        "parts of a JSON Web Token": "eyJhbGciOi.",
        "beginnings of a private key": "-----BEGIN PRIVATE KEY-----\n",
        "addresses with a user": "https://user:",
        "one address that never ends": "//:@",
        "bearer words": "Bearer ",
        "prefixes of tokens": "ghp_sk-xoxb-",
        "assignments without a value": "password=",
        "assignments with a quote": "token: '",
        "names that almost are": "secret_",
        "hexadecimal digits": "0123456789abcdef",
        "base64": "iVBORw0KGgo+/",
        "line ends": "key:\n",
    }
    return {name: part * (SCAN_CHARS // len(part)) for name, part in parts.items()}


def print_redaction(runs: int) -> None:
    """Redaction of long strings beside one plain scan of them, and of half of each: linear is about 2."""
    sys.path.insert(0, str(ROOT))
    import protoyard

    plain = re.compile(r"[\x00-\x08\x7f]")
    print(f"\nredaction of {SCAN_CHARS // 1024} Ki characters, Python {platform.python_version()}")
    print(f"{'':34}{'plain scan':>12}{'redact':>12}{'ratio':>8}{'half':>12}{'growth':>8}")
    for name, text in worst_texts().items():
        half = text[: len(text) // 2]
        scan, whole, part = (
            time_median(run, runs)
            for run in (
                lambda text=text: plain.sub("", text),
                lambda text=text: protoyard.redact(text),
                lambda half=half: protoyard.redact(half),
            )
        )
        print(f"{name:34}{scan:9.2f} ms{whole:9.2f} ms{whole / scan:8.1f}{part:9.2f} ms{whole / part:8.2f}")


def build_archive(folder: str, python: str) -> str:
    """The archive of the module as it is now."""
    output = os.path.join(folder, "protoyard.pyz")
    builder = [sys.executable, "-I", str(ROOT / ".build" / "archive.py"), "--output", output]
    subprocess.run(builder, check=True, stdout=subprocess.DEVNULL)
    return output


def print_server(runs: int, python: str, target: str, folder: str) -> None:
    """The table of ROWS, then `quick` as a multiple of start-up."""
    script = os.path.join(folder, "bare.py")
    Path(script).write_text(BARE, encoding="ascii")
    program = build_archive(folder, python) if target == "pyz" else str(MODULE)
    bare, ours = [python, "-I", script], [python, "-I", program, "mcp"]
    for command in (bare, ours):
        measure_peer(command, folder)  # warms the page cache
    measured = {"bare": [], "ours": []}
    for _ in range(runs):
        measured["bare"].append(measure_peer(bare, folder))
        measured["ours"].append(measure_peer(ours, folder))
    version = subprocess.run([python, "-V"], capture_output=True, text=True).stdout.strip()
    print(f"{version}, {os.path.basename(program)}, median of {runs} interleaved runs")
    print(f"{'':34}{'bare loop':>12}{'protoyard':>12}{'ratio':>8}{'goal':>8}")
    for index, row in enumerate(ROWS):
        loop, own = (
            statistics.median(values[index] for values in measured[name]) for name in ("bare", "ours")
        )
        print(f"{row.name:34}{loop:8.2f} {row.unit:3}{own:8.2f} {row.unit:3}{own / loop:8.2f}{row.goal:8.1f}")
    start = statistics.median(values[0] for values in measured["ours"])
    quick = measure_quick(ours, folder)
    print(f"{'quick, three variants':34}{'':12}{quick:8.2f} ms {quick / start:8.2f} start-ups")


def make_prototypes(folder: Path, count: int) -> Any:
    """Runs a command in a new workspace with one real prototype and copies of its manifest; in ms."""
    import protoyard

    def run(*argv: str) -> float:
        began = time.perf_counter()
        done = protoyard.execute(
            argv, rows=protoyard.OPERATIONS, call=protoyard.Call(), directory=str(folder)
        )
        assert done["ok"], done
        return (time.perf_counter() - began) * MILLISECONDS

    folder.mkdir()
    run("quick", "--variants=1", "--slug=first", "--", BRIEF)
    manifest = (folder / "prototypes" / "first" / "prototype.json").read_bytes()
    for number in range(1, count):
        copy = folder / "prototypes" / f"copy-{number}"
        copy.mkdir()
        (copy / "prototype.json").write_bytes(manifest)
    return run


def print_scale(runs: int, folder: str) -> None:
    """`list` and `quick` among many prototypes as multiples of the same among few."""
    sys.path.insert(0, str(ROOT))
    few, many = (make_prototypes(Path(folder) / str(count), count) for count in SCALES)
    print(f"\n{SCALES[1]:,} prototypes beside {SCALES[0]:,}, median of {runs} interleaved runs")
    for name, argv in {"list": ("list", "--"), "quick": ("quick", "--variants=1", "--", BRIEF)}.items():
        for run in (few, many):
            run(*argv)
        times = [(few(*argv), many(*argv)) for _ in range(runs)]
        small, large = (statistics.median(column) for column in zip(*times))
        print(f"{name:<35}{small:>7.2f} ms{large:>9.2f} ms{large / small:>8.2f}")


def main() -> None:
    """Read the options and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--python", default=sys.executable, help="the interpreter that runs both")
    parser.add_argument("--target", choices=["pyz", "module"], default="pyz")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print_server(options.runs, options.python, options.target, folder)
        print_scale(options.runs, folder)
    print_redaction(max(1, options.runs // 4))


if __name__ == "__main__":
    main()
