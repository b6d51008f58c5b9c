"""Rows made for tests of the server; as a script, a server of them: server_rows.py mcp [--limits JSON].

They are rows like Protoyard's own and go the same way: checked, made an argument vector, executed.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import protoyard
from protoyard import Argument, Context, Failure, Operation

SECRET = "ghp_" + "a1B2c3D4e5" * 4  # the shape of a token, made up here


def run_echo(context: Context, values: dict[str, Any]) -> Any:
    """Gives back what it was given."""
    return dict(values)


def run_sleep(context: Context, values: dict[str, Any]) -> Any:
    """Sleeps so many milliseconds, ready to be stopped."""
    context.call.step("sleeping")
    context.call.wait(values["ms"] / 1000)
    return {"slept": values["ms"]}


def run_stuck(context: Context, values: dict[str, Any]) -> Any:
    """Sleeps so many milliseconds and hears nothing; then tries to make its work visible."""
    context.call.step("stuck")
    time.sleep(values["ms"] / 1000)
    with context.call.commit():
        Path(context.directory, "stuck.txt").write_text("visible", encoding="ascii")
    return {}


def run_commit(context: Context, values: dict[str, Any]) -> Any:
    """Is in the middle of a commit for so many milliseconds."""
    with context.call.commit():
        Path(context.directory, "half.txt").write_text("half", encoding="ascii")
        time.sleep(values["ms"] / 1000)
        Path(context.directory, "half.txt").write_text("whole", encoding="ascii")
    context.call.check()
    return {}


def run_write(context: Context, values: dict[str, Any]) -> Any:
    """Holds the workspace lock for so many milliseconds and notes in a file when it came and went."""
    notes = Path(context.directory, "notes.txt")
    with context.workspace.lock(context.call):
        with notes.open("a", encoding="ascii") as file:
            file.write("in\n")
        context.call.wait(values["ms"] / 1000)
        with notes.open("a", encoding="ascii") as file:
            file.write("out\n")
    return {}


def run_fail(context: Context, values: dict[str, Any]) -> Any:
    """Fails as operations do."""
    raise Failure("not_found", "there is nothing here", "look elsewhere")


def run_crash(context: Context, values: dict[str, Any]) -> Any:
    """Fails as no operation should, with so many characters to say about it."""
    raise RuntimeError(f"a fault that holds {SECRET} {'x' * values['ms']}")


def run_exit(context: Context, values: dict[str, Any]) -> Any:
    """Wants to end the process."""
    sys.exit(7)


def run_strange(context: Context, values: dict[str, Any]) -> Any:
    """Returns what is no JSON."""
    return {"set": {1, 2}}


def run_big(context: Context, values: dict[str, Any]) -> Any:
    """Returns so many characters."""
    return "x" * values["ms"]


def run_noisy(context: Context, values: dict[str, Any]) -> Any:
    """Prints in every way there is and reads what there is to read."""
    print("printed")
    sys.stdout.flush()
    os.write(1, b"written to descriptor 1\n")
    os.system("echo from a shell")
    child = protoyard.run_child(
        context.call, [sys.executable, "-c", "print(repr(__import__('sys').stdin.read()))"]
    )
    return {"read": os.read(0, 10).decode(), "child": child.stdout.decode().strip()}


def run_steps(context: Context, values: dict[str, Any]) -> Any:
    """Takes so many steps of 20 ms."""
    for number in range(values["ms"]):
        context.call.step(f"step {number}", number + 1, values["ms"])
        context.call.wait(0.02)
    return {}


def run_spawn(context: Context, values: dict[str, Any]) -> Any:
    """Runs Python code in a child; the pid of what it started is expected on its output."""
    result = protoyard.run_child(context.call, [sys.executable, "-c", values["text"]], cwd=context.directory)
    return {"status": result.status, "out": result.stdout.decode(), "err": result.stderr.decode()}


_NUMBER = Argument(
    "ms", {"type": "integer", "description": "A number.", "minimum": 0, "default": 0}, positional=True
)
_TEXT = Argument("text", {"type": "string", "description": "A text.", "minLength": 1}, True, True)
_MORE = Argument("dryRun", {"type": "boolean", "description": "A flag.", "default": False})


def make_row(name: str, run: Any, *arguments: Argument, writes: bool = False) -> Operation:
    """A row with the texts that a test does not look at."""
    return Operation(name, name.title(), f"{name} for tests.", arguments, run, None, writes=writes)


ROWS = (
    make_row("echo", run_echo, _TEXT, _MORE),
    make_row("sleep", run_sleep, _NUMBER),
    make_row("stuck", run_stuck, _NUMBER, writes=True),
    make_row("commit", run_commit, _NUMBER, writes=True),
    make_row("write", run_write, _NUMBER, writes=True),
    make_row("fail", run_fail, _NUMBER),
    make_row("crash", run_crash, _NUMBER),
    make_row("exit", run_exit, _NUMBER),
    make_row("strange", run_strange, _NUMBER),
    make_row("big", run_big, _NUMBER),
    make_row("noisy", run_noisy, _NUMBER),
    make_row("steps", run_steps, _NUMBER),
    make_row("spawn", run_spawn, _TEXT),
    make_row("spawn_writing", run_spawn, _TEXT, writes=True),
)


def main(arguments: list[str]) -> int:
    """A server of ROWS in the current directory; the options are like `protoyard mcp`'s, and --limits."""
    protoyard.set_digit_limit()
    limits = json.loads(arguments[arguments.index("--limits") + 1]) if "--limits" in arguments else {}
    return protoyard.serve(
        rows=ROWS,
        directory="/" if "--root" in arguments else os.getcwd(),
        read_only="--read-only" in arguments,
        limits=protoyard.Limits(**limits),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
