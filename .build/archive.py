"""Builds protoyard.pyz: a shiv archive with our own launcher and one ready code object per CPython version.

    archive.py [--source-only] [--module FILE] [--output FILE]

Needs shiv in the interpreter that runs it. Equal source, launcher, shiv and interpreters give equal bytes,
whatever the folder, umask, time zone, hash seed and the interpreter that runs the build: shiv's output is
repacked in a fixed order with fixed times and modes, nothing compressed. The new archive is proved whole and
started before it replaces the old one, which a failing build leaves alone.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

SHIV = "1.0.8"  # its version is in the archive, so another shiv gives other bytes
SHEBANG = "/usr/bin/env python3"  # no -I here: `env -S` is not everywhere
MINORS = range(9, 15)
HERE = Path(__file__).resolve().parent
LABEL = "protoyard.pyz/site-packages/protoyard.py"  # the launcher has the same
TIME = (1980, 1, 1, 0, 0, 0)
MODE = 0o100644
UNIX = 3
ASK_SECONDS = 20
RUN_SECONDS = 60
SHOWN_CHARS = 500
QUIET_PYTHON = (sys.executable, "-W", "ignore")  # shiv uses what newer Pythons warn about

# Run by each interpreter in turn, so it says nothing that Python 3.9 does not know.
ASK = """
import importlib.util, json, platform, sys
print(json.dumps({"implementation": sys.implementation.name, "version": platform.python_version(),
    "release": list(sys.version_info[:2]), "final": sys.version_info[3] == "final",
    "path": sys.executable, "magic": importlib.util.MAGIC_NUMBER.hex()}))
"""
COMPILE = f"""
import importlib.util, marshal, sys
code = compile(sys.stdin.buffer.read(), {LABEL!r}, "exec", dont_inherit=True, optimize=0)
blob = marshal.dumps(code)
sys.stdout.buffer.write(importlib.util.source_hash(blob) + blob)
"""
LISTING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/list",
    "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}},
}


class BuildError(Exception):
    """The build cannot go on; the text says what is missing or wrong."""


class Interpreter(NamedTuple):
    """A CPython that answered: its release such as (3, 11), full version, path, and bytecode magic in hex."""

    release: tuple[int, int]
    version: str
    path: str
    magic: str


def ask_interpreter(command: str) -> Interpreter | None:
    """What an interpreter says of itself; None unless it answers and is a finished CPython 3.9 or newer.

    A version manager's shim may be on PATH and fail, so being there is not enough.
    """
    try:
        asked = subprocess.run(
            [command, "-I", "-S", "-c", ASK],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=ASK_SECONDS,
        )
        facts = json.loads(asked.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    if facts["implementation"] != "cpython" or not facts["final"] or facts["release"] < [3, MINORS[0]]:
        return None
    return Interpreter(tuple(facts["release"]), facts["version"], facts["path"], facts["magic"])


def interpreter_candidates(minor: int) -> list[str]:
    """Paths at which Python 3.<minor> may be: every python3.<minor> on PATH, then a version manager's."""
    name = f"python3.{minor}"
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    try:
        managed = sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin"), reverse=True)
    except RuntimeError:  # no home directory
        managed = []
    return [str(path) for folder in folders + managed if os.access(path := folder / name, os.X_OK)]


def find_interpreters() -> list[Interpreter]:
    """One CPython of each release from 3.9 on that answers, oldest first; the running one among them."""
    found = {}
    for minor in MINORS:
        for command in interpreter_candidates(minor):
            interpreter = ask_interpreter(command)
            if interpreter and interpreter.release == (3, minor):
                found[minor] = interpreter
                break
    running = ask_interpreter(sys.executable)
    if running and running.release[1] in MINORS:
        found.setdefault(running.release[1], running)
    return [found[minor] for minor in sorted(found)]


def compile_source(source: bytes, interpreter: Interpreter) -> bytes:
    """The entry for one interpreter: its source hash of the marshalled code, then the marshalled code.

    A fixed hash seed, since the order of a set in a constant is part of the bytes.
    """
    made = subprocess.run(
        [interpreter.path, "-S", "-c", COMPILE],
        input=source,
        capture_output=True,
        cwd="/",
        env={"PYTHONHASHSEED": "0"},
    )
    if made.returncode:
        raise BuildError(f"Python {interpreter.version} cannot compile the module:\n{made.stderr.decode()}")
    return made.stdout


def read_stock(module: Path, work: Path) -> tuple[bytes, dict[str, bytes]]:
    """What shiv makes of the module alone: what is before the archive, and its members but `__main__.py`."""
    stage = work / "stage"
    stage.mkdir()
    staged = stage / "protoyard.py"
    staged.write_bytes(module.read_bytes())
    staged.chmod(0o644)
    stock = work / "stock.pyz"
    content = ["--site-packages", str(stage), "-e", "protoyard:main"]
    options = ["--reproducible", "--uncompressed", "-p", SHEBANG, "-o", str(stock)]
    hidden = ("SOURCE_DATE_EPOCH", "PYTHONPATH")
    env = {name: value for name, value in os.environ.items() if name not in hidden}
    command = [*QUIET_PYTHON, "-m", "shiv", *content, *options]
    made = subprocess.run(command, capture_output=True, env=env, stdin=subprocess.DEVNULL)
    if made.returncode:
        raise BuildError(f"shiv failed:\n{made.stdout.decode()}{made.stderr.decode()}")
    with zipfile.ZipFile(stock) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != "__main__.py"}
        prefix = stock.read_bytes()[: min(entry.header_offset for entry in archive.infolist())]
    made_by = json.loads(members["environment.json"])["shiv_version"]
    if made_by != SHIV:
        raise BuildError(f"shiv {SHIV} is needed, this is shiv {made_by}")
    return prefix, members


def render_archive(prefix: bytes, members: dict[str, bytes]) -> bytes:
    """The archive's bytes: a fixed order, time and mode, nothing compressed (so that no zlib is needed)."""
    first = ["__main__.py", "environment.json"]
    output = io.BytesIO()
    output.write(prefix)
    with zipfile.ZipFile(output, "a", zipfile.ZIP_STORED) as archive:
        for name in first + sorted(set(members) - set(first)):
            entry = zipfile.ZipInfo(name, TIME)
            entry.create_system = UNIX
            entry.external_attr = MODE << 16
            archive.writestr(entry, members[name])
    return output.getvalue()


def start_archive(archive: Path, arguments: list[str], line: str = "") -> str:
    """What the archive prints, started with no environment at all; BuildError if it fails or complains."""
    run = subprocess.run(
        [sys.executable, "-I", str(archive), *arguments],
        input=line.encode(),
        capture_output=True,
        cwd=archive.parent,
        env={},
        timeout=RUN_SECONDS,
    )
    if run.returncode or run.stderr:
        raise BuildError(f"the new archive fails ({run.returncode}):\n{run.stderr.decode(errors='replace')}")
    return run.stdout.decode()


def check_archive(archive: Path) -> str:
    """Prove a new archive: whole, readable for shiv, and it starts and serves. Returns one line on it."""
    with zipfile.ZipFile(archive) as whole:
        damaged = whole.testzip()
    if damaged:
        raise BuildError(f"the new archive is damaged at {damaged}")
    info = "from shiv.info import main; main()"
    subprocess.run([*QUIET_PYTHON, "-c", info, "--json", str(archive)], capture_output=True, check=True)
    version = start_archive(archive, ["--version"]).strip()
    workspace = str(archive.parent)
    answer = start_archive(archive, ["mcp", "--workspace", workspace], json.dumps(LISTING) + "\n")
    try:
        tools = [tool["name"] for tool in json.loads(answer)["result"]["tools"]]
    except (ValueError, KeyError, TypeError):
        raise BuildError(f"the new archive answers tools/list with: {answer[:SHOWN_CHARS]}") from None
    return f"{version}; serves {', '.join(tools)}"


def build(module: Path, output: Path, source_only: bool) -> None:
    """Build, prove and put in place, with the file of its SHA-256 beside it; say what was done."""
    work = Path(tempfile.mkdtemp(prefix=".protoyard-build-", dir=output.parent))
    try:
        prefix, members = read_stock(module, work)
        members["__main__.py"] = (HERE / "launcher.py").read_bytes()
        interpreters = [] if source_only else find_interpreters()
        for interpreter in interpreters:
            members[f"code/{interpreter.magic}"] = compile_source(
                members["site-packages/protoyard.py"], interpreter
            )
        fresh = work / "protoyard.pyz"
        data = render_archive(prefix, members)
        fresh.write_bytes(data)
        fresh.chmod(0o755)
        proof = check_archive(fresh)
        checksum = f"{hashlib.sha256(data).hexdigest()}  {output.name}\n"
        (work / "sum").write_text(checksum, encoding="ascii")
        os.replace(fresh, output)
        os.replace(work / "sum", output.with_name(output.name + ".sha256"))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    ready = ", ".join(interpreter.version for interpreter in interpreters) or "none"
    print(f"{output.name}: {len(data):,} bytes, by shiv {SHIV}, ready code for Python: {ready}")
    print(f"sha256 {checksum.split()[0]}")
    print(f"it runs: {proof}")


def main() -> int:
    """Read the command line, build; 1 with one message where that fails."""
    parser = argparse.ArgumentParser(description="Builds protoyard.pyz.")
    parser.add_argument("--source-only", action="store_true", help="leave the ready code objects out")
    parser.add_argument("--module", type=Path, default=HERE.parent / "protoyard.py")
    parser.add_argument("--output", type=Path, default=HERE.parent / "protoyard.pyz")
    options = parser.parse_args()
    os.umask(0o022)
    try:
        build(options.module, options.output.absolute(), options.source_only)
    except (BuildError, OSError, subprocess.SubprocessError) as error:
        print(f"protoyard.pyz was not built (Python {platform.python_version()}): {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
