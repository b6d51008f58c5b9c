#!/usr/bin/env python3
# ======================================================================
# §00 head: what this is, the map, the way of one request
# ======================================================================
"""Protoyard: a brief in, clickable HTML prototypes out; an MCP server and a command line in one module.

The map. A section uses only sections above it, and of those only the ones its rules name.

    §01 limits       every size, time, count, name       §11 page        blueprint to one self-contained page
    §02 errors       Failure and the table of codes      §12 store       prototypes on disk
    §03 text         strict JSON, characters, secrets    §14 browser     screenshots
    §04 schema       the published schema subset         §15 operations  the rows: tools and commands
    §05 calls        cancel, deadline, gate, children    §16 cli         argv to envelope, printing
    §06 workspace    every touch of a file               §17 protocol    bytes in, effects out
    §07 blueprint    its schema and its meaning          §18 server      the stdio loop
    §08 archetypes   tables of record types              §19 machine     rows of the command line only
    §09 brief        text to blueprint                   §20 main        the joined table
    §10 records      fictional data

The way of one request over MCP; each function's docstring begins with its hop.

    1/9 serve §18 -> 2/9 Session.receive §17 -> 3/9 decode_message §03 -> 4/9 answer_request §17 (a METHODS row)
    -> 5/9 on_tools_call §17: Start(ToolCall) -> 6/9 start_call §18: build_argv §15 -> 7/9 execute §16
    -> 8/9 run_invocation §16: Operation.run §15 -> 9/9 Session.finish §17, then Outbox.write §18

On the command line: main §20 -> execute §16 -> Operation.run §15 -> print_outcome §16.

Verbs mean one thing: check_ raises or returns the clean value, parse_ makes a value of text, render_ makes text of
a value and is pure, read_ and write_ touch the disk, run_ starts an operation or a process, on_ handles a message.
"""

from __future__ import annotations

import sys

# Run as a script, the file's own folder (with -m the current one) stands first on the path, and PYTHONPATH
# may hold the current one as an empty entry: what lies there is never imported.
if __name__ == "__main__":
    isolated = sys.flags.isolated or getattr(sys.flags, "safe_path", False)
    sys.path[:] = [entry for entry in sys.path[0 if isolated else 1 :] if entry]

# Python 3.7 and 3.8 must be able to parse this file to say so: no walrus and no positional-only mark in it.
if sys.version_info < (3, 9):
    version = ".".join(map(str, sys.version_info[:2]))
    sys.exit(f"protoyard needs Python 3.9 or newer, but {sys.executable} is Python {version}")

import errno
import json
import os
import re
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

__version__ = "0.1.0"
__all__ = ["__version__", "main"]

# ======================================================================
# §01 limits: every size, time, count, fixed name and revision id
# ======================================================================
# Rules: constants only, the unit in the name, the reason above. A bare number anywhere below is a bug.

KIB = 1024
MIB = 1024 * KIB

# The two protocol revisions that are served (WIRE §4), newest first.
MODERN = "2026-07-28"
LEGACY = "2025-11-25"
REVISIONS = (MODERN, LEGACY)

# Framing (WIRE §1): a 256 KiB argument, escaped a little, still fits in a line.
LINE_MAX_BYTES = 320 * KIB
READ_CHUNK_BYTES = 64 * KIB
OUTBOX_MAX_BYTES = 64 * MIB

# JSON (WIRE §2): CPython's own digit limit, set explicitly so that every interpreter agrees.
JSON_DEPTH_MAX = 64
INTEGER_MAX_DIGITS = 4300

# Calls (WIRE §6-7). Hosts give up after 30 s at the earliest: two seconds are left to stop and to answer.
ARGUMENTS_MAX_BYTES = 256 * KIB
ENVELOPE_MAX_BYTES = 512 * KIB
CALL_STOP_SECONDS = 28.0
WORKERS_MAX = 8
QUEUE_MAX = 64
ABANDONED_MAX = 16
LOCK_WAIT_SECONDS = 10.0
PROGRESS_INTERVAL_SECONDS = 0.1
EXIT_SECONDS = 2.0
TOOL_NAME_SHOWN_CHARS = 128
LIST_TTL_MS = 3_600_000
DESCRIPTION_MAX_CHARS = 1000
INSTRUCTIONS_MAX_CHARS = 1500
PROBLEMS_SHOWN = 20

# Children (WIRE §7): SIGTERM, then SIGKILL this much later.
KILL_GRACE_SECONDS = 1.0
CHILD_OUTPUT_MAX_BYTES = 256 * KIB

# Paths (WIRE §8).
PATH_MAX_CHARS = 1024
SLUG_MAX_CHARS = 48
PATCH_FILE_MAX_BYTES = 256 * KIB
BLUEPRINT_FILE_MAX_BYTES = 2 * MIB

# Files (WIRE §7-8): as many links as Linux follows; a taken lock is tried again this often, which is also how
# soon a waiting call notices that it was stopped; enough random bytes that no two staged names meet.
LINKS_MAX = 40
LOCK_POLL_SECONDS = 0.05
STAGING_SALT_BYTES = 8
FILE_MODE = 0o666  # less the umask

# Names on disk (TOOLS §2).
PROTOTYPES_DIR = "prototypes"
STATE_DIR = ".protoyard"
LOCK_NAME = "lock"
STAGING_NAME = "staging"
MANIFEST_NAME = "prototype.json"
BLUEPRINT_NAME = "blueprint.json"
PAGE_NAME = "index.html"
HISTORY_DIR = "history"
SCREENSHOTS_DIR = "screenshots"
GALLERY_MAX_PROTOTYPES = 200
HISTORY_DIGITS = 4
REVISIONS_SHOWN = 20  # of each variant, in an answer that should stay short
MANIFEST_MAX_BYTES = 4 * MIB  # some ten thousand revisions
PAGE_MAX_BYTES = 8 * MIB  # a blueprint at its limit, escaped, and the runtime

# Operations (TOOLS §1).
BRIEF_MAX_CHARS = 4000
PATCH_MAX_CHARS = 200_000
SEED_MAX = 2**31 - 1
VARIANT_LETTERS = "abcdef"
VARIANTS_DEFAULT = 3
LIST_LIMIT_MAX = 200
LIST_LIMIT_DEFAULT = 50
RECORDS_SHOWN = 3

# The blueprint (TOOLS §3). The prototype's "today" is a constant, a Monday: equal briefs give equal bytes.
AS_OF_DATE = "2026-06-15"
ID_MAX_CHARS = 48
LABEL_MAX_CHARS = 200
TEXT_MAX_CHARS = 4000
FIELDS_MAX = 40
ENTITIES_MAX = 20
SCREENS_MAX = 80
LIST_ITEMS_MAX = 100
RECORDS_PER_ENTITY_MAX = 200
RECORDS_MAX = 1000
RECORD_ID_MAX_CHARS = 64
RATING_MAX = 5

# The brief (TOOLS §4): what a first draft holds at most, how long its names are, what a screen shows of a record.
DRAFT_ENTITIES_MAX = 9
DRAFT_ROLES_MAX = 8
DRAFT_TITLE_CHARS = 60
DRAFT_SLUG_CHARS = 40
DRAFT_ID_CHARS = 32
DRAFT_ROWS_MAX = 60
DRAFT_COLUMNS_MAX = 6
DRAFT_FILTERS_MAX = 3
DRAFT_REQUIRED_FIELDS = 4
DRAFT_STEP_FIELDS = 4
DRAFT_TILES_MAX = 3
DRAFT_NAMED_MAX = 3
BOARD_COLUMNS_MIN = 3
BOARD_COLUMNS_MAX = 8
PERCENT_MAX = 100

# ======================================================================
# §02 errors: the closed table of failure codes
# ======================================================================
# Rules: uses §01. A failure is data for people and agents: what was wrong, where, what to do next.

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


class FailureKind(NamedTuple):
    """One row of the closed table: the command line's exit status and when the code is given."""

    exit_status: int
    when: str


# fmt: off
FAILURES: Mapping[str, FailureKind] = {  # the order is that of WIRE §6
    "unknown_tool":        FailureKind(EXIT_USAGE,  "no such tool; the hint lists the registered ones"),
    "invalid_arguments":   FailureKind(EXIT_USAGE,  "arguments break the schema; all problems are listed"),
    "arguments_too_large": FailureKind(EXIT_USAGE,  "the arguments exceed 256 KiB as compact JSON"),
    "unsafe_path":         FailureKind(EXIT_FAILED, "a path is not proven inside, or spelled unsafely"),
    "not_found":           FailureKind(EXIT_FAILED, "what was named does not exist"),
    "already_exists":      FailureKind(EXIT_FAILED, "something is in the way"),
    "conflict":            FailureKind(EXIT_FAILED, "`base` names another revision than the current one"),
    "invalid_blueprint":   FailureKind(EXIT_FAILED, "the blueprint is not valid; pointers name each problem"),
    "invalid_patch":       FailureKind(EXIT_FAILED, "the patch is no patch or does not apply"),
    "missing_dependency":  FailureKind(EXIT_FAILED, "a browser or pnpm is not there; nothing was written"),
    "dependency_failed":   FailureKind(EXIT_FAILED, "the browser or pnpm ran and failed"),
    "busy":                FailureKind(EXIT_FAILED, "another process holds the workspace, or too many wait"),
    "read_only":           FailureKind(EXIT_FAILED, "a writing tool on a server started with --read-only"),
    "timeout":             FailureKind(EXIT_FAILED, "the call was stopped at its time limit"),
    "output_too_large":    FailureKind(EXIT_FAILED, "the result exceeds 512 KiB; the hint helps"),
    "no_workspace":        FailureKind(EXIT_FAILED, "the workspace is no usable directory"),
    "io_error":            FailureKind(EXIT_FAILED, "the disk or its permissions refused"),
    "internal_error":      FailureKind(EXIT_FAILED, "a fault of Protoyard; the traceback is on stderr"),
}
# fmt: on


class Failure(Exception):
    """An expected end of an operation: a code of FAILURES, a message, and a hint where one is useful."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.kind = FAILURES[code]


# ======================================================================
# §03 text: strict JSON in and out, characters, redaction
# ======================================================================
# Rules: uses §01-02; pure.

# ======================================================================
# §04 schema: the subset of JSON Schema that is published and checked
# ======================================================================
# Rules: uses §01-03; pure. One schema object is both what is advertised and what is checked. The subset of
# draft 2020-12: type (one name), enum, const, pattern (matched whole), minLength, maxLength (code points),
# minimum, maximum, properties, required, additionalProperties (false or a schema), items, minItems, maxItems.


class Problem(NamedTuple):
    """One thing wrong with a value: the JSON pointer (RFC 6901) to it and a message for people."""

    pointer: str
    message: str


# A boolean is no number and 2.0 is no integer (WIRE §6), unlike in JSON Schema itself.
_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}


def render_pointer(parent: str, token: str | int) -> str:
    """The JSON pointer to member or index `token` of what `parent` points to (RFC 6901 §3)."""
    return f"{parent}/{str(token).replace('~', '~0').replace('/', '~1')}"


def type_name(value: Any) -> str:
    """The JSON type of a parsed value, as JSON Schema names it ("integer" before "number")."""
    return next(name for name in ("boolean", "integer", *_TYPES) if _TYPES[name](value))


def _quoted(values: Iterable[Any]) -> str:
    return ", ".join(json.dumps(value, ensure_ascii=False) for value in values)


def _check_string(value: str, schema: Mapping[str, Any]) -> Iterator[str]:
    if len(value) < schema.get("minLength", 0):
        yield "must not be empty" if not value else f"must have at least {schema['minLength']} characters"
    if "maxLength" in schema and len(value) > schema["maxLength"]:
        yield f"has {len(value)} characters; at most {schema['maxLength']} are allowed"
    elif "pattern" in schema and not re.fullmatch(schema["pattern"], value):
        yield f"must match {schema['pattern']}"


def _check_number(value: float, schema: Mapping[str, Any]) -> Iterator[str]:
    if "minimum" in schema and value < schema["minimum"]:
        yield f"must be at least {schema['minimum']}"
    if "maximum" in schema and value > schema["maximum"]:
        yield f"must be at most {schema['maximum']}"


def _check_length(value: list[Any], schema: Mapping[str, Any]) -> Iterator[str]:
    if len(value) < schema.get("minItems", 0):
        yield f"needs at least {schema['minItems']} items"
    if "maxItems" in schema and len(value) > schema["maxItems"]:
        yield f"has {len(value)} items; at most {schema['maxItems']} are allowed"


def _check_members(value: dict[str, Any], schema: Mapping[str, Any], pointer: str) -> Iterator[Problem]:
    known = schema.get("properties", {})
    rest = schema.get("additionalProperties", True)
    for name in schema.get("required", ()):
        if name not in value:
            yield Problem(render_pointer(pointer, name), "is required")
    for name, member in value.items():
        if name in known or isinstance(rest, dict):
            yield from check_schema(member, known.get(name, rest), render_pointer(pointer, name))
        elif rest is False:
            guess = nearest(name, known)
            known_names = f'did you mean "{guess}"?' if guess else f"known are: {', '.join(known) or 'none'}"
            yield Problem(render_pointer(pointer, name), f"is not a known field; {known_names}")


def _check_typed(value: Any, schema: Mapping[str, Any], pointer: str) -> Iterator[Problem]:
    if isinstance(value, str):
        yield from (Problem(pointer, message) for message in _check_string(value, schema))
    elif isinstance(value, dict):
        yield from _check_members(value, schema, pointer)
    elif isinstance(value, list):
        yield from (Problem(pointer, message) for message in _check_length(value, schema))
        for index, item in enumerate(value):
            yield from check_schema(item, schema.get("items", {}), render_pointer(pointer, index))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from (Problem(pointer, message) for message in _check_number(value, schema))


def check_schema(value: Any, schema: Mapping[str, Any], pointer: str = "") -> list[Problem]:
    """Every problem of a parsed JSON value under a schema of our subset, in document order."""
    wanted = schema.get("type")
    if wanted and not _TYPES[wanted](value):
        article = "an" if wanted[0] in "aio" else "a"
        return [Problem(pointer, f"must be {article} {wanted}, not {type_name(value)}")]
    if "const" in schema and (value != schema["const"] or type_name(value) != type_name(schema["const"])):
        return [Problem(pointer, f"must be {_quoted([schema['const']])}")]
    if "enum" in schema and value not in schema["enum"]:
        guess = nearest(value, schema["enum"]) if isinstance(value, str) else None
        return [
            Problem(
                pointer,
                f"must be one of {_quoted(schema['enum'])}" + (f'; did you mean "{guess}"?' if guess else ""),
            )
        ]
    return list(_check_typed(value, schema, pointer))


def describe_problems(problems: Sequence[Problem]) -> str:
    """All problems in one message: `pointer: what`, the first PROBLEMS_SHOWN of them, then how many more."""
    shown = [f"{problem.pointer or '/'}: {problem.message}" for problem in problems[:PROBLEMS_SHOWN]]
    more = len(problems) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more else "")


# ======================================================================
# §05 calls: one running operation: cancel, deadline, progress, commit gate, children
# ======================================================================
# Rules: uses §01-03.

# ======================================================================
# §06 workspace: every touch of a file stays inside
# ======================================================================
# Rules: uses §01-03, §05. Only this section opens or resolves a caller's path (WIRE §8). `resolve` judges its
# spelling once; after that a path is relative to the workspace, with "/", and every operation walks it from the
# workspace's own directory handle, component by component, refusing each link it meets: one that was planted or
# swapped in after the check leads nowhere. Where the platform knows no handles (Windows) the walk goes by checked
# names and is repeated after opening. An OSError leaves as a Failure with the operation and the path.

STAGING_DIR = f"{STATE_DIR}/{STAGING_NAME}"
LOCK_PATH = f"{STATE_DIR}/{LOCK_NAME}"

_OUTSIDE = "the path does not lead to a place inside the workspace"
_PATH_HINT = "give a path relative to the workspace, such as prototypes/my-app/a"
_WORKSPACE_HINT = (
    "pass --workspace DIR (or set PROTOYARD_WORKSPACE): the absolute path of an existing directory"
)


def _flags(*names: str) -> int:
    """The open(2) flags of these names, those that this platform has, as one number."""
    return sum(getattr(os, name, 0) for name in names)


_BY_HANDLES = {os.open, os.stat, os.mkdir, os.rename, os.unlink, os.rmdir} <= os.supports_dir_fd
_FOLDER_FLAGS = _flags("O_RDONLY", "O_DIRECTORY", "O_NOFOLLOW")
_READ_FLAGS = _flags("O_RDONLY", "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY")
_NEW_FLAGS = _flags("O_WRONLY", "O_CREAT", "O_EXCL", "O_NOFOLLOW", "O_BINARY")
_LOCK_FLAGS = _flags("O_RDWR", "O_CREAT", "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY")

# fmt: off
_SPELLING = (  # what a path argument must not hold (WIRE §8.2)
    (r"[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]",
                                  "holds an invisible or control character"),
    (r"[;&|`$<>(){}\[\]*?!#~'\"%^:\\]", "holds a character that means something to a shell or another system"),
    (r"(^|/)\.\.(/|$)",           'holds a ".." component'),
    (r"[. ](/|$)",                "has a component that ends in a dot or a space"),
    (r"(?i:(^|/)(con|prn|aux|nul|(com|lpt)[0-9\u00b9\u00b2\u00b3]) *(\.[^/]*)?(/|$))", "names a Windows device"),
    (r"^-",                       'begins with "-"'),
)
_REASONS = {  # own words, the same under every locale; another error shows its symbolic name
    "ENOSPC": "the disk is full",        "EDQUOT": "the disk quota is used up",   "EACCES": "permission denied",
    "EPERM": "permission denied",        "EROFS": "the file system is read-only", "ENOENT": "it is missing",
    "ENAMETOOLONG": "a name is too long", "ENOTDIR": "a file is where a folder should be",
    "EXDEV": "it is on another file system than .protoyard/staging", "ENOLCK": "the file system has no locks",
}
# fmt: on


def _split(path: str, windows: bool) -> tuple[str, list[str]]:
    """What a path starts from ("" when it is relative) and its raw components, empty and "." ones too."""
    if not windows:
        return ("/" if path.startswith("/") else ""), path.split("/")
    import ntpath

    drive, rest = ntpath.splitdrive(path.replace("\\", "/"))
    return drive.casefold() + ("/" if rest.startswith("/") else ""), rest.split("/")


def _after_prefix(parts: Sequence[str], prefix: Sequence[str], windows: bool) -> list[str] | None:
    """The raw components that follow a prefix, None when they do not begin with it."""
    wanted = [part for part in prefix if part not in ("", ".")]
    rest = list(parts)
    while wanted and rest:
        part = rest.pop(0)
        if part in ("", "."):
            continue
        if part != wanted[0] and not (windows and part.casefold() == wanted[0].casefold()):
            return None
        wanted.pop(0)
    return None if wanted else rest


def parse_path(argument: str, prefixes: Sequence[str], *, windows: bool) -> tuple[str, list[str]]:
    """WIRE §8.1-2: the anchor that is left ("" means the workspace) and the clean components after it.

    `prefixes` are spellings of the workspace. ValueError with the reason when the argument's own is refused.
    """
    if not argument:
        raise ValueError("is empty")
    anchor, parts = _split(argument, windows)
    known = [names for start, names in (_split(prefix, windows) for prefix in prefixes) if start == anchor]
    rests = [rest for rest in (_after_prefix(parts, names, windows) for names in known) if rest is not None]
    if rests:
        anchor, parts = "", min(rests, key=len)
    if len("/".join(parts)) > PATH_MAX_CHARS:
        raise ValueError(f"is longer than {PATH_MAX_CHARS} characters")
    if anchor not in ("", "/"):  # another drive or share: even to ask a share hands it the user's credentials
        raise ValueError(_OUTSIDE)
    parts = [part for part in parts if part not in ("", ".")]
    for pattern, reason in _SPELLING:
        if re.search(pattern, "/".join(parts)):
            raise ValueError(reason)
    return anchor, parts


def _check_writable(parts: Sequence[str]) -> None:
    """WIRE §8.8: dot names run code (.git/hooks, .vscode …), and prototypes/ is written by Protoyard alone."""
    if not parts or parts[0].casefold() == PROTOTYPES_DIR:
        raise ValueError(f"lies in {PROTOTYPES_DIR}/ or above it")
    if any(part.startswith(".") for part in parts):
        raise ValueError("leads to a place whose name begins with a dot")


def _check_directory(directory: str) -> str:
    """The canonical path of what the user named as the workspace; `no_workspace` when it cannot be one."""
    found = False
    if not re.search(r"\$\{|%[^%]+%", directory):
        try:
            real = os.path.realpath(os.path.expanduser(directory))
            found = directory != "" and os.path.isdir(real)
        except (OSError, ValueError):
            found = False
    else:
        raise Failure(
            "no_workspace", f'"{directory}" holds a variable that was not expanded', _WORKSPACE_HINT
        )
    if not found:
        raise Failure("no_workspace", f'the workspace "{directory}" is not a directory', _WORKSPACE_HINT)
    if os.path.dirname(real) == real:
        raise Failure("no_workspace", "the workspace is the root of a file system", _WORKSPACE_HINT)
    return real


def _leads_to(path: str, directory: str) -> bool:
    try:
        return os.path.samefile(path, directory)
    except (OSError, ValueError):
        return False


class _Disk:
    """Turns an OSError in its body into a Failure; a missing file is `not_found` when it was to be read."""

    __slots__ = ("operation", "path")

    def __init__(self, operation: str, path: str) -> None:
        self.operation = operation
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if not isinstance(error, OSError):
            return
        if error.errno in (errno.ELOOP, errno.EMLINK) and self.path:  # what O_NOFOLLOW says about a link
            raise Failure("unsafe_path", f"{self.path}: {_OUTSIDE}") from error
        if self.operation == "reading" and _is_missing(error):
            raise Failure("not_found", f"{self.path} does not exist") from error
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
            raise Failure("already_exists", f"{self.path} is there already and is not empty") from error
        name = errno.errorcode.get(error.errno or 0, "unknown error")
        message = f"{self.operation} {self.path or 'the workspace'} failed: {_REASONS.get(name, name)}"
        raise Failure("io_error", message) from error


def _is_missing(error: OSError) -> bool:
    return error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)


def _is_link(status: os.stat_result) -> bool:
    """A symbolic link, or on Windows any reparse point: a junction is no link to `S_ISLNK`."""
    reparse = getattr(status, "st_file_attributes", 0) & stat.FILE_ATTRIBUTE_REPARSE_POINT
    return stat.S_ISLNK(status.st_mode) or bool(reparse)


def _is_folder(status: os.stat_result) -> bool:
    return stat.S_ISDIR(status.st_mode) and not _is_link(status)


def _is_same(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)


def _check_regular(status: os.stat_result, path: str) -> None:
    if _is_link(status) or not stat.S_ISREG(status.st_mode):
        reason = f": {_OUTSIDE}" if _is_link(status) else " is not a regular file"
        raise Failure("unsafe_path", path + reason)


class _Folder:
    """An open folder of the workspace: `fd` is its handle, None where there are none and `path` must do."""

    __slots__ = ("fd", "path")

    def __init__(self, path: str, fd: int | None) -> None:
        self.path = path
        self.fd = fd

    def __enter__(self) -> _Folder:
        return self

    def __exit__(self, *_: Any) -> None:
        if self.fd is not None:
            os.close(self.fd)

    def at(self, name: str) -> str:
        """How to call an entry in an os function that is also given `dir_fd=self.fd`."""
        return os.path.join(self.path, name) if self.fd is None else name

    def names(self) -> list[str]:
        """The entries' names, sorted."""
        return sorted(os.listdir(self.path if self.fd is None else self.fd))

    def status(self, name: str) -> os.stat_result:
        """What an entry is, a link not followed."""
        return os.stat(self.at(name), dir_fd=self.fd, follow_symlinks=False)

    def has(self, name: str) -> bool:
        """Is there an entry of that name, whatever it is?"""
        try:
            self.status(name)
        except FileNotFoundError:
            return False
        return True

    def sync(self) -> None:
        """Makes the entries durable, where folders can be synced at all."""
        if self.fd is not None:
            os.fsync(self.fd)

    def make(self, name: str) -> None:
        """Makes a folder, durably, unless something of that name is there (another process may be as quick)."""
        try:
            os.mkdir(self.at(name), dir_fd=self.fd)
        except FileExistsError:
            return
        self.sync()

    def open(self, name: str) -> _Folder:
        """The folder of that name; OSError ELOOP when it is a link, ENOTDIR when it is anything else."""
        status = self.status(name)
        if not _is_folder(status):
            raise OSError(errno.ELOOP if _is_link(status) else errno.ENOTDIR, "not a folder")
        if self.fd is None:
            return _Folder(self.at(name), None)
        return _Folder("", os.open(name, _FOLDER_FLAGS, dir_fd=self.fd))

    def unlink(self, name: str) -> bool:
        """Deletes an entry that is no folder; False when it is one."""
        if _is_folder(self.status(name)):
            return False
        os.unlink(self.at(name), dir_fd=self.fd)
        return True

    def clear(self) -> None:
        """Empties the folder. Inner folders are brought up first: no depth exhausts the stack or the handles."""
        names = self.names()
        while names:
            for name in (name for name in names if not self.unlink(name)):
                with self.open(name) as inner:
                    for child in (child for child in inner.names() if not inner.unlink(child)):
                        risen = self.at(_unique_name())
                        os.rename(inner.at(child), risen, src_dir_fd=inner.fd, dst_dir_fd=self.fd)
                os.rmdir(self.at(name), dir_fd=self.fd)
            names = self.names()

    def check_replaceable(self, name: str, *, by_folder: bool) -> None:
        """May a rename go over what is there? A file over a file, a folder over an empty one (rename judges)."""
        status = self.status(name)
        if _is_link(status) or by_folder != _is_folder(status):
            raise OSError(errno.ELOOP if _is_link(status) else errno.EEXIST, "in the way")
        if by_folder and os.name == "nt":  # there a rename goes over nothing at all
            os.rmdir(self.at(name))


def _unique_name() -> str:
    return f"{os.getpid()}-{os.urandom(STAGING_SALT_BYTES).hex()}"


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _parts(path: str) -> list[str]:
    """The components of a path inside the workspace; what `resolve` never returns is refused here as well."""
    parts = path.split("/") if path else []
    if any(part in ("", ".", "..") for part in parts):
        raise Failure("unsafe_path", f"{path}: {_OUTSIDE}")
    return parts


def _try_lock(fd: int, *, shared: bool = False) -> bool:
    """Takes an open file's advisory lock unless someone has it; the system lets go when the file closes."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


# A lock for the threads of this process too: on some systems the file's tells only processes apart.
_LOCAL_LOCKS: dict[str, threading.Lock] = {}
_LOCKS: dict[Call, _Lock] = {}


def release_lock(call: Call) -> None:
    """Takes the lock away from a call that was given up; its commit gate is shut, so that it harms nobody."""
    lock = _LOCKS.pop(call, None)
    if lock is not None:
        lock.release()


class _Lock:
    """`with workspace.lock(call):` one writer at a time, over threads and processes."""

    __slots__ = ("_call", "_fd", "_local", "_workspace")

    def __init__(self, workspace: Workspace, call: Call) -> None:
        self._workspace = workspace
        self._call = call
        self._fd = -1
        self._local = _LOCAL_LOCKS.setdefault(workspace.directory, threading.Lock())

    def __enter__(self) -> None:
        if self._call in _LOCKS:
            return
        while not self._local.acquire(timeout=LOCK_POLL_SECONDS):
            self._call.check()
        try:
            self._fd = self._workspace.take_lock_file(self._call)
        except BaseException:
            self._local.release()
            raise
        _LOCKS[self._call] = self

    def __exit__(self, *_: Any) -> None:
        if _LOCKS.get(self._call) is self:
            release_lock(self._call)

    def release(self) -> None:
        """Lets the next writer in; closing the file is what tells other processes."""
        os.close(self._fd)
        self._local.release()


class Stage:
    """A folder that is built out of sight, in .protoyard/staging, and appears whole by `publish` or not at all."""

    __slots__ = ("_call", "_folders", "_path", "_workspace")

    def __init__(self, workspace: Workspace, call: Call) -> None:
        self._workspace = workspace
        self._call = call
        self._path = f"{STAGING_DIR}/{_unique_name()}"
        self._folders = {self._path}

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: Any) -> None:
        self._workspace.discard(self._path)

    def write(self, path: str, data: bytes) -> None:
        """Adds a file to the folder, its own folders made as needed; a cancellation point."""
        self._call.check()
        path = f"{self._path}/{path}"
        self._workspace.create_file(path, data)
        while path != self._path:
            path = path.rpartition("/")[0]
            self._folders.add(path)

    def publish(self, target: str) -> None:
        """Renames the folder to `target`: `already_exists` unless that is missing or an empty folder."""
        for folder in sorted(self._folders, reverse=True):
            self._workspace.sync_folder(folder)
        self._workspace.move(self._path, target, self._call, over_file=False)


class Workspace:
    """The one class through which files are touched. Paths are relative, canonical, "/"-separated; "" is the root.

    It keeps no file open and no state but names: one object may serve any number of threads. Every operation may
    raise Failure: `unsafe_path` for a link or a non-file, `not_found` for reading what is missing, `io_error` for
    what the disk refuses.
    """

    def __init__(
        self,
        directory: str,
        *,
        windows: bool = os.name == "nt",
        handles: bool = _BY_HANDLES,
        lock_wait_seconds: float = LOCK_WAIT_SECONDS,
    ) -> None:
        """`windows` and `handles` say which rules apply, so that each can be tried anywhere."""
        self.directory = _check_directory(directory)
        self._windows = windows
        self._handles = handles
        self._lock_wait_seconds = lock_wait_seconds
        given = os.path.expanduser(directory)
        spellings = (os.path.abspath(given), os.path.join(os.environ.get("PWD", ""), given))
        also = [spelling for spelling in spellings if _leads_to(spelling, self.directory)]
        self._prefixes = (directory, given, self.directory, *also)

    # --- judging a caller's path ---

    def resolve(self, argument: str, *, field: str, write: bool = False) -> str:
        """WIRE §8: the canonical path inside the workspace that an argument leads to; it need not exist.

        With `write` it must also be a place where a caller may have files written. `unsafe_path` otherwise.
        """
        root = self.directory.split(os.sep)
        try:
            anchor, parts = parse_path(argument, self._prefixes, windows=self._windows)
            found = self._follow(parts, root[:1] if anchor else root)
            if found[: len(root)] != root:
                raise ValueError(_OUTSIDE)
            if write:
                _check_writable(found[len(root) :])
        except (OSError, ValueError) as error:
            reason = _OUTSIDE if isinstance(error, (OSError, UnicodeError)) else str(error)
            raise Failure("unsafe_path", f"{field}: {reason}", _PATH_HINT) from error
        return "/".join(found[len(root) :])

    def _follow(self, parts: list[str], start: list[str]) -> list[str]:
        """Where a path really leads, component by component; what is missing is taken as it is spelled."""
        if os.name == "nt":
            return os.path.realpath(os.sep.join([*start, *parts])).split(os.sep)
        with self._root() as folder:
            root = folder.status(".")
        at, todo, links = list(start), parts[::-1], 0
        while todo:
            name = todo.pop()
            if name in ("", ".", ".."):  # from a link's target: the argument itself holds none
                at = at[:-1] if name == ".." and len(at) > 1 else at
                continue
            path = "/".join([*at, name])
            try:
                status = os.lstat(path)
            except OSError as error:
                if not _is_missing(error) or ".." in todo:
                    raise
                return [*at, name, *(part for part in reversed(todo) if part not in ("", "."))]
            if _is_link(status):
                links += 1
                if links > LINKS_MAX:
                    raise ValueError(_OUTSIDE)
                target = os.readlink(path)
                at = at[:1] if target.startswith("/") else at
                todo += reversed(target.split("/"))
            else:  # a disk that ignores case may know the workspace under other letters
                at = self.directory.split(os.sep) if _is_same(status, root) else [*at, name]
        return at

    def absolute(self, path: str) -> str:
        """The canonical absolute path, for a child process."""
        return os.path.join(self.directory, *_parts(path))

    # --- walking ---

    def _root(self) -> _Folder:
        with _Disk("opening", ""):
            if self._handles:
                return _Folder("", os.open(self.directory, _FOLDER_FLAGS))
            if not _is_folder(os.lstat(self.directory)):
                raise OSError(errno.ENOTDIR, "swapped for something else")
            return _Folder(self.directory, None)

    def _folder(self, path: str, *, create: bool = False) -> _Folder:
        """The open folder at a path, reached without following a link. The workspace itself is never made."""
        parts = _parts(path)
        folder = self._root()
        for part in parts:
            with folder:
                if create:
                    folder.make(part)
                folder = folder.open(part)
        return folder

    def _parent(self, path: str, *, create: bool = False) -> _Folder:
        return self._folder("/".join(_parts(path)[:-1]), create=create)

    def _check_opened(self, fd: int, path: str) -> None:
        """Where there are no handles: is the file that was opened still the one that the path names?"""
        if not self._handles:
            with self._parent(path) as folder:
                status = folder.status(_name(path))
            if _is_link(status) or not _is_same(status, os.fstat(fd)):
                raise OSError(errno.ELOOP, "swapped for something else")

    # --- reading ---

    def kind(self, path: str) -> str:
        """`file`, `folder`, `missing`, or `other` (a link, FIFO, socket or device)."""
        try:
            with _Disk("reading", path), self._parent(path) as folder:
                status = folder.status(_name(path) or ".")
        except Failure as failure:
            if failure.code == "not_found":
                return "missing"
            raise
        if _is_folder(status):
            return "folder"
        return "file" if stat.S_ISREG(status.st_mode) else "other"

    def read_names(self, path: str) -> list[str]:
        """The names in a folder, sorted."""
        with _Disk("reading", path), self._folder(path) as folder:
            return folder.names()

    def read_bytes(self, path: str, *, max_bytes: int) -> bytes:
        """A regular file's content; anything else is `unsafe_path`, more than `max_bytes` `invalid_arguments`."""
        name = _name(path)
        with _Disk("reading", path), self._parent(path) as folder:
            _check_regular(folder.status(name), path)  # before it is opened: that alone can set a device off
            with os.fdopen(os.open(folder.at(name), _READ_FLAGS, dir_fd=folder.fd), "rb") as file:
                _check_regular(os.fstat(file.fileno()), path)
                self._check_opened(file.fileno(), path)
                data = file.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise Failure("invalid_arguments", f"{path} is larger than {max_bytes:,} bytes")
        return data

    # --- writing, with the lock held ---

    def create_file(self, path: str, data: bytes) -> None:
        """A new file, durable, its folders made as needed. Passes no gate: for what is still in staging."""
        with _Disk("writing", path), self._parent(path, create=True) as folder:
            fd = os.open(folder.at(_name(path)), _NEW_FLAGS, FILE_MODE, dir_fd=folder.fd)
            with os.fdopen(fd, "wb") as file:
                self._check_opened(fd, path)
                file.write(data)
                file.flush()
                os.fsync(fd)

    def write_file(self, path: str, data: bytes, call: Call) -> None:
        """Makes or replaces a file in one durable step: a reader sees the old or the new, never a part."""
        staged = f"{STAGING_DIR}/{_unique_name()}"
        try:
            self.create_file(staged, data)
            self.move(staged, path, call, over_file=True)
        except BaseException:
            self.discard(staged)
            raise

    def stage(self, call: Call) -> Stage:
        """`with workspace.stage(call) as stage:` a folder to be published whole; needs the lock."""
        return Stage(self, call)

    def move(self, source: str, target: str, call: Call, *, over_file: bool) -> None:
        """Puts what was staged in its place, durably, through the commit gate; never over a folder with content."""
        name = _name(target)
        with _Disk("writing", target), call.commit(), self._parent(target, create=True) as into:
            if into.has(name):
                into.check_replaceable(name, by_folder=not over_file)
            with self._parent(source) as out:
                rename = os.replace if over_file else os.rename
                rename(out.at(_name(source)), into.at(name), src_dir_fd=out.fd, dst_dir_fd=into.fd)
            into.sync()

    def sync_folder(self, path: str) -> None:
        """Makes a folder's entries durable."""
        with _Disk("writing", path), self._folder(path) as folder:
            folder.sync()

    def remove(self, path: str) -> None:
        """Deletes a file or a folder with all in it, links themselves and not what they lead to."""
        name = _name(path)
        with _Disk("removing", path), self._parent(path) as folder:
            if folder.has(name) and not folder.unlink(name):
                with folder.open(name) as inner:
                    inner.clear()
                os.rmdir(folder.at(name), dir_fd=folder.fd)

    def discard(self, path: str) -> None:
        """`remove` on the way out of something else: what the disk refuses is left to the next sweep."""
        try:
            self.remove(path)
        except Failure:
            return

    def sweep(self, call: Call) -> None:
        """Clears what killed writers left in staging. Under the lock nobody is writing: all of it is left over."""
        call.check()
        if self.kind(STAGING_DIR) != "missing":
            with _Disk("removing", STAGING_DIR), self._folder(STAGING_DIR) as folder:
                folder.clear()

    # --- the lock ---

    def lock(self, call: Call) -> _Lock:
        """`with workspace.lock(call):` the right to write; a call that has it may take it again.

        Waits behind this process's own calls as long as `call` lives, behind another process LOCK_WAIT_SECONDS;
        then `busy`.
        """
        return _Lock(self, call)

    def take_lock_file(self, call: Call) -> int:
        """The open and locked lock file, made when missing; closing it (or dying) lets go."""
        deadline = time.monotonic() + self._lock_wait_seconds
        while True:
            call.check()
            fd = self._try_lock_file()
            if fd is not None:
                return fd
            if time.monotonic() >= deadline:
                raise Failure("busy", "another process is writing in this workspace", "try again in a moment")
            call.wait(LOCK_POLL_SECONDS)

    def _try_lock_file(self) -> int | None:
        with _Disk("locking", LOCK_PATH), self._folder(STATE_DIR, create=True) as folder:
            fd = os.open(folder.at(LOCK_NAME), _LOCK_FLAGS, FILE_MODE, dir_fd=folder.fd)
            try:
                _check_regular(os.fstat(fd), LOCK_PATH)
                self._check_opened(fd, LOCK_PATH)
                # The lock of a file that was deleted meanwhile would bind nobody: it must still be the one there.
                if _try_lock(fd) and _is_same(folder.status(LOCK_NAME), os.fstat(fd)):
                    return fd
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)
            return None

    def lock_is_free(self) -> bool:
        """Is nobody writing, as far as can be told? Makes nothing; False too when the lock cannot be looked at."""
        local = _LOCAL_LOCKS.get(self.directory)
        if local is not None and local.locked():
            return False
        try:
            with _Disk("reading", LOCK_PATH), self._folder(STATE_DIR) as folder:
                fd = os.open(folder.at(LOCK_NAME), _READ_FLAGS, dir_fd=folder.fd)
                with os.fdopen(fd, "rb"):
                    return _try_lock(fd, shared=True)
        except Failure as failure:
            return failure.code == "not_found"


# ======================================================================
# §07 blueprint: schema, semantic checks, patches, differences in words
# ======================================================================
# Rules: uses §01-04; pure. blueprint_schema() is published and checked; what a schema cannot say (references,
# values that fit their field) is in the check functions below it, each problem with its pointer (RFC 6901).

ID_PATTERN = "^[a-z][a-z0-9]*(_[a-z0-9]+)*$"
RECORD_ID_PATTERN = "^[a-z0-9]+([_-][a-z0-9]+)*$"
SLUG_PATTERN = "^[a-z0-9]+(-[a-z0-9]+)*$"
DATE_PATTERN = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
DATETIME_PATTERN = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}$"
LANG_PATTERN = "^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$"

# The JSON type of each field type's values; `tags` is a list of strings, `duration` counts minutes.
# fmt: off
FIELD_TYPES: Mapping[str, str] = {
    "text": "string", "longtext": "string", "number": "number", "money": "number", "percent": "number",
    "date": "string", "datetime": "string", "duration": "number", "status": "string", "choice": "string",
    "boolean": "boolean", "email": "string", "phone": "string", "url": "string", "address": "string",
    "person": "string", "tags": "array", "rating": "integer", "ref": "string",
}
NUMERIC_TYPES = ("number", "money", "percent", "duration", "rating")
CHOICE_TYPES = ("status", "choice")
DATE_TYPES = ("date", "datetime")
SETTING_TYPES = ("number", "money", "percent", "duration", "text", "boolean", "date")

# Which members a screen of each type may have beside id, title, type and because; those with * it must have.
SCREEN_TYPES: Mapping[str, tuple[str, ...]] = {
    "dashboard": ("widgets*", "measure"),
    "list":      ("entity*", "columns", "filters"),
    "cards":     ("entity*", "columns", "filters"),
    "detail":    ("entity*",),
    "form":      ("entity*", "steps"),
    "board":     ("entity*", "groupBy*", "filters"),
    "calendar":  ("entity*", "dateField*", "endField", "filters"),
    "timeline":  ("entity*", "dateField*", "endField", "filters"),
    "inbox":     ("entity*", "columns", "filters"),
    "report":    ("entity*", "groupBy", "measure", "filters"),
    "settings":  (),
}
WIDGET_KINDS = ("count", "sum", "list", "bars", "donut", "trend")
FILTER_TIMES = ("overdue", "today", "this_week", "next_30_days")
RIGHTS = ("create", "edit", "delete")
LAYOUTS = ("sidebar", "topbar", "tabs")
DENSITIES = ("compact", "comfortable", "roomy")
MODES = ("auto", "light", "dark")
CORNERS = ("sharp", "soft", "round")
PALETTES = ("harbour", "moss", "plum", "ember", "slate", "sand")
DETAIL_FORMS = ("page", "panel", "dialog")
ENTRY_FORMS = ("page", "guided", "dialog")
MAIN_VIEWS = ("table", "board", "calendar", "timeline", "cards", "inbox", "form")
ICONS = (
    "person", "people", "building", "briefcase", "box", "cart", "card", "coin", "file", "folder", "check",
    "flag", "calendar", "clock", "bell", "chat", "mail", "phone", "map", "truck", "car", "wrench", "gear",
    "chart", "heart", "leaf", "paw", "book", "cap", "home", "door", "star", "shield", "flask", "food", "ball",
    "tag", "link", "circle",
)
# fmt: on

# The objects of a blueprint: (what it is, required members, rows of member, kind, description). A kind is a
# name of _SIMPLE, of _ENUMS or of this table; [kind] is a list of it, [kind]+ a list that may not be empty.
# fmt: off
_OBJECTS: Mapping[str, tuple[str, str, tuple[tuple[str, str, str], ...]]] = {
    "blueprint": ("The source of truth of one prototype variant. References go by id.",
                  "blueprint title brief lang dir seed asOf variant roles entities screens navigation "
                  "flows settings theme", (
        ("blueprint", "version", "The version of this format."),
        ("title", "label", "The product's name."),
        ("brief", "brief", "The brief it was drawn from."),
        ("lang", "lang", "BCP 47 tag of the interface language."),
        ("dir", "direction", "The script's direction."),
        ("seed", "seed", "Decides the fictional data."),
        ("asOf", "day", "The date that the prototype takes for today."),
        ("variant", "variant", "Which of the variants this is."),
        ("roles", "[role]", "Who uses it."),
        ("entities", "[entity]+", f"The kinds of record; at most {RECORDS_MAX} records in all."),
        ("screens", "[screen]+", "The screens."),
        ("navigation", "[id]+", "Screen ids of the menu in order; the first is home."),
        ("flows", "[flow]", "Journeys that a reviewer can follow."),
        ("settings", "[setting]", "Numbers and limits found in the brief."),
        ("theme", "theme", "How the page looks."))),
    "variant": ("Which of the variants this is.", "id question axes", (
        ("id", "letter", "Its letter."),
        ("question", "label", "The question that this variant answers."),
        ("rationale", "text", "Whom it serves, in one paragraph."),
        ("cost", "text", "What one pays for it."),
        ("axes", "axes", "Where it stands on the axes in which variants differ."))),
    "axes": ("Where a variant stands on the axes in which variants differ.",
             "navigation home main detail entry density", (
        ("navigation", "layout", "The main navigation."),
        ("home", "screen type", "The type of the first screen."),
        ("main", "main view", "How the lead record is mainly seen."),
        ("detail", "detail form", "How one record opens."),
        ("entry", "entry form", "How a record is entered."),
        ("density", "density", "How much fits on a screen."))),
    "role": ("Somebody who uses the product; the page can be seen through each role's eyes.", "id label", (
        ("id", "id", "Unique among the roles."),
        ("label", "label", "What the role is called."),
        ("because", "text", "The words of the brief that caused it."),
        ("screens", "[id]", "Ids of the screens the role may see; absent: all."),
        ("rights", "[right]", "What the role may do to records; absent: all."))),
    "entity": ("A kind of record.", "id label plural fields display", (
        ("id", "id", "Unique among the entities."),
        ("label", "label", "One of them, for example Inspection."),
        ("plural", "label", "Several of them."),
        ("icon", "icon", "A drawing of the page."),
        ("because", "text", "The words of the brief that caused it."),
        ("fields", "[field]+", "The fields in their order."),
        ("display", "id", "The field that names a record."),
        ("records", "[record]", "The fictional records; absent: they are made up."))),
    "field": ("One member of an entity's records.", "id label type", (
        ("id", "id", 'Unique within the entity; never "id".'),
        ("label", "label", "The field's name in forms and columns."),
        ("type", "field type", "What the values are; duration is in minutes, rating is 1 to 5."),
        ("required", "boolean", "Whether a form insists on it."),
        ("hint", "note", "Help beside the input."),
        ("min", "number", "The smallest value a form accepts (numeric types)."),
        ("max", "number", "The largest value a form accepts (numeric types)."),
        ("values", "[label]+", "status, choice: the allowed values; a status in its order."),
        ("entity", "id", "ref: the entity whose record is referred to."),
        ("unit", "note", "What a number counts, for example km or EUR."),
        ("default", "any", "The value a new record starts with; it must fit the type."))),
    "screen": ("One screen. The members of each type (* is required): "
               + "; ".join(f"{name}: {', '.join(has) or 'none'}" for name, has in SCREEN_TYPES.items()),
               "id title type", (
        ("id", "id", "Unique among the screens."),
        ("title", "label", "The screen's heading."),
        ("type", "screen type", "What kind of screen it is."),
        ("because", "text", "The words of the brief that caused it."),
        ("entity", "id", "The entity it shows (all but dashboard and settings)."),
        ("columns", "[id]", "list, cards, inbox: the field ids shown, in order."),
        ("groupBy", "id", "board: the status or choice field of its columns. report: what it groups by."),
        ("dateField", "id", "calendar, timeline: the date or datetime field."),
        ("endField", "id", "calendar, timeline: the field with the end of a span."),
        ("measure", "id", "report, dashboard: the numeric field that is added up."),
        ("steps", "[fields]", "form: lists of field ids; more than one list makes it guided."),
        ("filters", "[id]", "The field ids offered as filters."),
        ("widgets", "[widget]", "dashboard: its tiles and charts."))),
    "widget": ("One tile or chart of a dashboard.", "kind entity title", (
        ("kind", "widget kind", "count, sum: a tile. list: rows. bars, donut, trend: a chart."),
        ("entity", "id", "The entity that is counted or shown."),
        ("title", "label", "The tile's heading."),
        ("filter", "filter", "Which records count; absent: all."),
        ("measure", "id", "sum, bars, trend: the numeric field added up; absent: records are counted."))),
    "filter": ("Records whose field has one of the values, or whose date falls in a time.", "field", (
        ("field", "id", "A field of the widget's entity."),
        ("values", "[label]+", "The values that count (status or choice)."),
        ("when", "filter time", "Where a date lies, seen from the blueprint's asOf."))),
    "flow": ("A journey through screens that a reviewer can follow.", "id label steps", (
        ("id", "id", "Unique among the flows."),
        ("label", "label", "What the journey is called."),
        ("role", "id", "The role that makes it."),
        ("steps", "[flow step]+", "The stations in order."))),
    "flow step": ("One station of a flow.", "screen", (
        ("screen", "id", "A screen id."),
        ("record", "record id", "The record shown, by id."),
        ("hint", "note", "What to do here."))),
    "setting": ("A number, limit or switch that a settings screen can change.", "id label type value", (
        ("id", "id", "Unique among the settings."),
        ("label", "label", "The setting's name."),
        ("type", "setting type", "What its value is."),
        ("value", "any", "The value; it must fit the type."),
        ("unit", "note", "What a number counts."),
        ("because", "text", "The words of the brief that caused it."))),
    "theme": ("How the page looks.", "palette layout density mode corners", (
        ("palette", "palette", "The family of colours."),
        ("layout", "layout", "Where the navigation is."),
        ("density", "density", "How much fits on a screen."),
        ("mode", "mode", "Light, dark, or as the device says."),
        ("corners", "corners", "How round corners are."))),
}
_ENUMS: Mapping[str, Iterable[str]] = {
    "direction": ("ltr", "rtl"), "letter": VARIANT_LETTERS, "layout": LAYOUTS, "screen type": SCREEN_TYPES,
    "main view": MAIN_VIEWS, "detail form": DETAIL_FORMS, "entry form": ENTRY_FORMS, "density": DENSITIES,
    "right": RIGHTS, "icon": ICONS, "field type": FIELD_TYPES, "widget kind": WIDGET_KINDS,
    "filter time": FILTER_TIMES, "setting type": SETTING_TYPES, "palette": PALETTES, "mode": MODES,
    "corners": CORNERS,
}
_SIMPLE: Mapping[str, Mapping[str, Any]] = {
    "version": {"const": 1},
    "any": {},
    "boolean": {"type": "boolean"},
    "number": {"type": "number"},
    "seed": {"type": "integer", "minimum": 0, "maximum": SEED_MAX},
    "label": {"type": "string", "minLength": 1, "maxLength": LABEL_MAX_CHARS},
    "note": {"type": "string", "maxLength": LABEL_MAX_CHARS},
    "text": {"type": "string", "maxLength": TEXT_MAX_CHARS},
    "brief": {"type": "string", "maxLength": BRIEF_MAX_CHARS},
    "lang": {"type": "string", "pattern": LANG_PATTERN, "maxLength": LABEL_MAX_CHARS},
    "day": {"type": "string", "pattern": DATE_PATTERN},
    "id": {"type": "string", "pattern": ID_PATTERN, "maxLength": ID_MAX_CHARS},
    "record id": {"type": "string", "pattern": RECORD_ID_PATTERN, "maxLength": RECORD_ID_MAX_CHARS},
    "fields": {"type": "array", "minItems": 1, "maxItems": FIELDS_MAX,
               "items": {"type": "string", "pattern": ID_PATTERN, "maxLength": ID_MAX_CHARS}},
    "record": {
        "type": "object", "description": "Its id and a value for each field id; a missing one is made up.",
        "required": ["id"], "additionalProperties": {"description": "The value of the field with this id."},
        "properties": {"id": {
            "title": "Identifier", "description": "Unique within the entity; refs use it.",
            "type": "string", "pattern": RECORD_ID_PATTERN, "maxLength": RECORD_ID_MAX_CHARS}}},
}
_LIST_MAX = {
    "fields": FIELDS_MAX, "entities": ENTITIES_MAX, "screens": SCREENS_MAX, "records": RECORDS_PER_ENTITY_MAX,
}
_TITLES = {"asOf": "Today", "lang": "Language", "dir": "Writing direction", "id": "Identifier"}
# fmt: on


def _schema_of(kind: str, member: str = "") -> dict[str, Any]:
    """The JSON Schema of a kind; `member` is the name under which a list stands: it decides its limit."""
    if kind.startswith("["):
        item, _, least = kind[1:].rpartition("]")
        limits = {"minItems": 1} if least else {}
        most = _LIST_MAX.get(member, LIST_ITEMS_MAX)
        return {"type": "array", **limits, "maxItems": most, "items": _schema_of(item)}
    if kind in _ENUMS:
        return {"type": "string", "enum": list(_ENUMS[kind])}
    if kind in _SIMPLE:
        return dict(_SIMPLE[kind])
    description, required, rows = _OBJECTS[kind]
    properties = {}
    for name, what, about in rows:
        title = _TITLES.get(name) or re.sub("([A-Z])", lambda m: " " + m[1].lower(), name).capitalize()
        properties[name] = {**_schema_of(what, name), "title": title, "description": about}
    head = {"type": "object", "description": description, "required": required.split()}
    return {**head, "properties": properties, "additionalProperties": False}


@once
def blueprint_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a blueprint: what `blueprint_schema` answers and what is checked."""
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": dialect, "title": "Protoyard blueprint", **_schema_of("blueprint")}


# --- values ---------------------------------------------------------------------------------------


def is_date(text: str) -> bool:
    """Whether `text` is a real calendar date, YYYY-MM-DD."""
    if not re.fullmatch(DATE_PATTERN, text):
        return False
    from datetime import date

    try:
        date(*map(int, text.split("-")))
    except ValueError:
        return False
    return True


def is_datetime(text: str) -> bool:
    """Whether `text` is a real local time, YYYY-MM-DDTHH:MM."""
    day, _, clock = text.partition("T")
    return is_date(day) and bool(re.fullmatch("([01][0-9]|2[0-3]):[0-5][0-9]", clock))


def _check_date_value(value: Any, kind: str) -> str:
    if kind == "date" and not is_date(value):
        return f"{render_json(value)} is no real date; write YYYY-MM-DD"
    if kind == "datetime" and not is_datetime(value):
        return f"{render_json(value)} is no real date and time; write YYYY-MM-DDTHH:MM"
    return ""


def check_value(value: Any, field: Mapping[str, Any]) -> str:
    """What is wrong with a value of `field`, references apart, or ""; "" itself is an explicit empty."""
    kind = field["type"]
    if value == "":
        return ""
    wanted = {"type": FIELD_TYPES.get(kind, "string")}
    if kind == "tags":
        wanted["items"] = {"type": "string", "maxLength": LABEL_MAX_CHARS}
    if kind == "rating":
        wanted.update(minimum=1, maximum=RATING_MAX)
    if wanted["type"] == "string":
        wanted["maxLength"] = TEXT_MAX_CHARS
    if kind in CHOICE_TYPES:
        wanted["enum"] = field.get("values", [])
    problems = check_schema(value, wanted)
    if problems:
        return problems[0].message
    return _check_date_value(value, kind)


# --- semantic checks: each yields the problems of one part of a blueprint that fits the schema ----


class _Index(NamedTuple):
    """Look-ups over one blueprint, by id."""

    entities: Mapping[str, Mapping[str, Any]]
    fields: Mapping[str, Mapping[str, Mapping[str, Any]]]
    records: Mapping[str, frozenset[str]]
    screens: Mapping[str, Mapping[str, Any]]
    roles: Mapping[str, Mapping[str, Any]]


def _index(blueprint: Mapping[str, Any]) -> _Index:
    entities = {entity["id"]: entity for entity in blueprint["entities"]}
    return _Index(
        entities,
        {name: {field["id"]: field for field in entity["fields"]} for name, entity in entities.items()},
        {name: frozenset(r["id"] for r in entity.get("records", ())) for name, entity in entities.items()},
        {screen["id"]: screen for screen in blueprint["screens"]},
        {role["id"]: role for role in blueprint["roles"]},
    )


def _check_known(pointer: str, what: str, name: str, known: Iterable[str]) -> Iterator[Problem]:
    choices = list(known)
    if name in choices:
        return
    guess = nearest(name, choices)
    listed = ", ".join(choices[:PROBLEMS_SHOWN]) or "none"
    advice = f'did you mean "{guess}"?' if guess else f"known: {listed}"
    yield Problem(pointer, f'there is no {what} "{name}"; {advice}')


def _check_unique(pointer: str, names: Iterable[str]) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            yield Problem(f"{pointer}/{index}", f'"{name}" is there twice')
        seen.add(name)


def _check_ids(blueprint: Mapping[str, Any]) -> Iterator[Problem]:
    for group in ("roles", "entities", "screens", "flows", "settings"):
        yield from _check_unique(f"/{group}", (item["id"] for item in blueprint[group]))
    for index, entity in enumerate(blueprint["entities"]):
        yield from _check_unique(f"/entities/{index}/fields", (field["id"] for field in entity["fields"]))
        yield from _check_unique(f"/entities/{index}/records", (r["id"] for r in entity.get("records", ())))


# Members of a field that only some types may have.
_FIELD_MEMBERS = {"values": CHOICE_TYPES, "entity": ("ref",), "min": NUMERIC_TYPES, "max": NUMERIC_TYPES}


def _check_field(field: Mapping[str, Any], pointer: str, index: _Index) -> Iterator[Problem]:
    kind = field["type"]
    if field["id"] == "id":
        yield Problem(f"{pointer}/id", 'a field cannot be called "id"; every record has one already')
    for member, kinds in _FIELD_MEMBERS.items():
        if member in field and kind not in kinds:
            yield Problem(
                f"{pointer}/{member}", f"belongs to fields of type {', '.join(kinds)} only, not {kind}"
            )
    if kind in CHOICE_TYPES and "values" not in field:
        yield Problem(f"{pointer}/values", f"is required for a field of type {kind}")
    if kind == "ref" and "entity" not in field:
        yield Problem(f"{pointer}/entity", "is required for a field of type ref")
    if kind == "ref" and "entity" in field:
        yield from _check_known(f"{pointer}/entity", "entity", field["entity"], index.entities)
    yield from _check_unique(f"{pointer}/values", field.get("values", ()))
    if "min" in field and "max" in field and field["min"] > field["max"]:
        yield Problem(f"{pointer}/max", "is smaller than min")
    wrong = check_value(field.get("default", ""), field)
    if wrong:
        yield Problem(f"{pointer}/default", wrong)


def _check_record(
    record: Mapping[str, Any], pointer: str, fields: Mapping[str, Any], index: _Index
) -> Iterator[Problem]:
    for name, value in record.items():
        if name == "id":
            continue
        here = render_pointer(pointer, name)
        if name not in fields:
            yield from _check_known(here, "field", name, fields)
            continue
        wrong = check_value(value, fields[name])
        if wrong:
            yield Problem(here, wrong)
        target = fields[name].get("entity") if value else None
        if not wrong and target in index.entities and "records" in index.entities[target]:
            yield from _check_known(here, f"{target} record", value, index.records[target])


def _check_entities(blueprint: Mapping[str, Any], index: _Index) -> Iterator[Problem]:
    for number, entity in enumerate(blueprint["entities"]):
        pointer = f"/entities/{number}"
        fields = index.fields[entity["id"]]
        yield from _check_known(f"{pointer}/display", "field", entity["display"], fields)
        for place, field in enumerate(entity["fields"]):
            yield from _check_field(field, f"{pointer}/fields/{place}", index)
        for place, record in enumerate(entity.get("records", ())):
            yield from _check_record(record, f"{pointer}/records/{place}", fields, index)
    total = sum(len(entity.get("records", ())) for entity in blueprint["entities"])
    if total > RECORDS_MAX:
        yield Problem("/entities", f"hold {total} records; at most {RECORDS_MAX} are allowed in all")


def _check_field_of(
    pointer: str, name: str, fields: Mapping[str, Any], kinds: Iterable[str] = ()
) -> Iterator[Problem]:
    unknown = list(_check_known(pointer, "field", name, fields))
    yield from unknown
    if not unknown and kinds and fields[name]["type"] not in kinds:
        yield Problem(pointer, f'"{name}" is of type {fields[name]["type"]}; it must be {" or ".join(kinds)}')


def _check_widget(widget: Mapping[str, Any], pointer: str, index: _Index) -> Iterator[Problem]:
    yield from _check_known(f"{pointer}/entity", "entity", widget["entity"], index.entities)
    fields = index.fields.get(widget["entity"])
    if fields is None:
        return
    if widget["kind"] == "sum" and "measure" not in widget:
        yield Problem(f"{pointer}/measure", "is required for a widget of kind sum")
    if "measure" in widget:
        yield from _check_field_of(f"{pointer}/measure", widget["measure"], fields, NUMERIC_TYPES)
    chosen = widget.get("filter")
    if chosen is None:
        return
    if ("values" in chosen) == ("when" in chosen):
        yield Problem(f"{pointer}/filter", "needs either values or when")
    kinds = DATE_TYPES if "when" in chosen else CHOICE_TYPES
    yield from _check_field_of(f"{pointer}/filter/field", chosen["field"], fields, kinds)
    allowed = fields.get(chosen["field"], {}).get("values", ())
    for place, value in enumerate(chosen.get("values", ()) if allowed else ()):
        yield from _check_known(f"{pointer}/filter/values/{place}", "value", value, allowed)


# Members of a screen that name one field: the types that the field may have.
# fmt: off
_SCREEN_FIELDS: Mapping[str, tuple[str, ...]] = {
    "groupBy": (), "dateField": DATE_TYPES, "endField": DATE_TYPES, "measure": NUMERIC_TYPES,
}
# fmt: on


def _check_screen_members(screen: Mapping[str, Any], pointer: str) -> Iterator[Problem]:
    members = SCREEN_TYPES[screen["type"]]
    names = {name.rstrip("*") for name in members}
    for name in ("entity", "columns", *_SCREEN_FIELDS, "steps", "filters", "widgets"):
        if name in screen and name not in names:
            yield Problem(f"{pointer}/{name}", f"does not belong to a screen of type {screen['type']}")
        if f"{name}*" in members and name not in screen:
            yield Problem(f"{pointer}/{name}", f"is required for a screen of type {screen['type']}")


def _check_screen(screen: Mapping[str, Any], pointer: str, index: _Index) -> Iterator[Problem]:
    yield from _check_screen_members(screen, pointer)
    for place, widget in enumerate(screen.get("widgets", ())):
        yield from _check_widget(widget, f"{pointer}/widgets/{place}", index)
    if "entity" not in screen:
        return
    yield from _check_known(f"{pointer}/entity", "entity", screen["entity"], index.entities)
    fields = index.fields.get(screen["entity"])
    if fields is None:
        return
    for name, kinds in _SCREEN_FIELDS.items():
        if name in screen:
            wanted = CHOICE_TYPES if (name, screen["type"]) == ("groupBy", "board") else kinds
            yield from _check_field_of(f"{pointer}/{name}", screen[name], fields, wanted)
    for name in ("columns", "filters"):
        for place, field in enumerate(screen.get(name, ())):
            yield from _check_known(f"{pointer}/{name}/{place}", "field", field, fields)
    for step, names in enumerate(screen.get("steps", ())):
        for place, field in enumerate(names):
            yield from _check_known(f"{pointer}/steps/{step}/{place}", "field", field, fields)


def _check_navigation(blueprint: Mapping[str, Any], index: _Index) -> Iterator[Problem]:
    for place, name in enumerate(blueprint["navigation"]):
        yield from _check_known(f"/navigation/{place}", "screen", name, index.screens)
    yield from _check_unique("/navigation", blueprint["navigation"])
    for number, role in enumerate(blueprint["roles"]):
        for place, name in enumerate(role.get("screens", ())):
            yield from _check_known(f"/roles/{number}/screens/{place}", "screen", name, index.screens)
        if "screens" in role and not set(role["screens"]) & set(blueprint["navigation"]):
            yield Problem(
                f"/roles/{number}/screens", "holds no screen of the navigation: the role could reach nothing"
            )


def _check_flow_step(
    step: Mapping[str, Any], pointer: str, role: Mapping[str, Any], index: _Index
) -> Iterator[Problem]:
    name = step["screen"]
    yield from _check_known(f"{pointer}/screen", "screen", name, index.screens)
    if name in index.screens and name not in role.get("screens", index.screens):
        yield Problem(f"{pointer}/screen", f'the role "{role["id"]}" may not see the screen "{name}"')
    entity = index.screens.get(name, {}).get("entity")
    if "record" in step and name in index.screens:
        yield from _check_known(
            f"{pointer}/record", f"{entity} record", step["record"], index.records.get(entity, ())
        )


def _check_flows(blueprint: Mapping[str, Any], index: _Index) -> Iterator[Problem]:
    for number, flow in enumerate(blueprint["flows"]):
        if "role" in flow:
            yield from _check_known(f"/flows/{number}/role", "role", flow["role"], index.roles)
        role = index.roles.get(flow.get("role", ""), {})
        for place, step in enumerate(flow["steps"]):
            yield from _check_flow_step(step, f"/flows/{number}/steps/{place}", role, index)


def _check_settings(blueprint: Mapping[str, Any]) -> Iterator[Problem]:
    if not is_date(blueprint["asOf"]):
        yield Problem("/asOf", f'"{blueprint["asOf"]}" is no real date')
    for number, setting in enumerate(blueprint["settings"]):
        wrong = check_value(setting["value"], setting)
        if wrong:
            yield Problem(f"/settings/{number}/value", wrong)


def check_blueprint(value: Any) -> list[Problem]:
    """Every problem of a parsed blueprint; only one that fits the schema is checked for meaning."""
    problems = check_schema(value, blueprint_schema())
    if problems:
        return problems
    index = _index(value)
    screens = (
        problem
        for number, screen in enumerate(value["screens"])
        for problem in _check_screen(screen, f"/screens/{number}", index)
    )
    parts = (_check_ids(value), _check_entities(value, index), screens, _check_navigation(value, index))
    return [
        problem for part in (*parts, _check_flows(value, index), _check_settings(value)) for problem in part
    ]


# --- text and digest ------------------------------------------------------------------------------


def _ordered(value: Any, schema: Mapping[str, Any]) -> Any:
    """The same value, its objects' members in the order of the schema."""
    if isinstance(value, list):
        return [_ordered(item, schema.get("items", {})) for item in value]
    if not isinstance(value, dict):
        return value
    known = schema.get("properties", {})
    return {name: _ordered(value[name], known.get(name, {})) for name in _sorted_names(value, known)}


def _sorted_names(members: Mapping[str, Any], order: Iterable[str]) -> list[str]:
    known = [name for name in order if name in members]
    return known + [name for name in members if name not in known]


def render_blueprint(blueprint: Mapping[str, Any]) -> str:
    """The text of a valid blueprint's file: members in the schema's order, a record's in its fields' order."""
    ordered = _ordered(blueprint, blueprint_schema())
    for entity in ordered["entities"]:
        order = ["id", *(field["id"] for field in entity["fields"])]
        records = entity.get("records", ())
        if records:
            entity["records"] = [{name: r[name] for name in _sorted_names(r, order)} for r in records]
    return render_document(ordered)


def digest(blueprint: Mapping[str, Any]) -> str:
    """`sha256:` and the hex digest of the blueprint file's bytes."""
    import hashlib

    return "sha256:" + hashlib.sha256(render_blueprint(blueprint).encode("utf-8")).hexdigest()


# ======================================================================
# §08 archetypes: tables of record types, fields, statuses, words
# ======================================================================
# Rules: uses §01, §07; pure. The table is text, parsed on first use. A line is one kind of record; a line that starts
# with a space continues it: name | other names | icon | fields | statuses in order | screens beside list, detail, form.
# A field is `name` and what it is: nothing text, * longtext, # number, $ money, % percent, ^ date, @ datetime,
# ~ duration, ! person, ? boolean, + tags, = rating, & url, >entity ref, (a/b) choice, <type for the rest.

# fmt: off
_ARCHETYPES = """\
contact|person,client contact,acquaintance,addressee,donor,witness,respondent|person|name >company job_title
 email phone preferred_channel(email/phone/post) tags+ notes*|active,do not contact,left company|timeline
company|account,organisation,client firm,organization,firm,business,partner company,school,branch
 office|building|name sector() website& phone address owner! employees#
 annual_value$|prospect,active,dormant,lost|report
customer|client,buyer,shopper,consumer,passenger,policyholder,subscriber account|person|name email phone
 address since^ lifetime_value$ vip? notes*|new,active,inactive,blocked|
supplier|vendor,provider,contractor,subcontractor,carrier,manufacturer,merchant|truck|name >contact email
 phone payment_terms(14_days/30_days/60_days) lead_time~ rating= preferred?|under review,approved,suspended|
employee|staff
 member,worker,colleague,staff,technician,driver,nurse,teacher,guide,engineer,operator,officer,inspector,coach,instructor,trainer,therapist,doctor,agent|person|name
 role department() manager>employee email phone start_date^ fte%|onboarding,active,on leave,left|calendar
member|club member,subscriber,adherent,parishioner,cardholder|person|name member_no tier() joined^ renews_on^
 email phone consent?|pending,active,lapsed,cancelled|
volunteer|helper|person|name skills+ availability(weekday/evening/weekend) phone email checks_expire^
 hours_total~|applied,vetted,active,resting|calendar
candidate|applicant,jobseeker|person|name job>job_opening source() email phone salary_expectation$ score=
 applied_on^|applied,screening,interview,offer,hired,rejected|board timeline
patient|service user,care client,resident|person|name record_no date_of_birth^ phone clinician! allergies+
 next_visit@ notes*|registered,in treatment,discharged|timeline
student|pupil,learner,trainee,apprentice,child,kid,camper,participant,cadet|person|name student_no
 class>course guardian! email date_of_birth^ attendance%|enrolled,on leave,graduated,withdrawn|report
guest|visitor,attendee,invitee,delegate|person|name email phone party_size# arrival@ departure@
 requests*|invited,confirmed,arrived,left,no-show|
team|crew,squad,group,brigade,shift team|people|name lead! size# base skills+|available,on job,off duty|board
lead|enquiry,prospect,sales lead|person|name company source(web/referral/event/phone) email phone
 estimated_value$ owner! next_step^|new,contacted,qualified,converted,lost|board
deal|opportunity,sales opportunity|coin|name >company >contact value$ probability% close_date^
 owner!|lead,qualified,proposal,negotiation,won,lost|board report
quote|estimate,offer,proposal,quotation|file|number >customer total$ valid_until^ discount% prepared_by!
 lines# terms*|draft,sent,accepted,declined,expired|
order|sales order,preorder|cart|number >customer ordered_at@ items# total$ deliver_by^
 delivery_address<address paid?|placed,confirmed,packed,shipped,delivered,cancelled|board
order line|line item|cart|>order >product quantity# unit_price$ discount% line_total$||
purchase order|po|cart|number >supplier total$ needed_by^ requested_by! approver!
 cost_centre()|draft,submitted,approved,ordered,received,closed|inbox
goods receipt|receiving note|box|>purchase_order received_at@ received_by! quantity# damaged#
 remarks*|expected,partial,complete,disputed|
invoice|bill|file|number >customer issue_date^ due_date^ net$ tax% total$
 paid_on^|draft,sent,paid,overdue,void|report
payment|receipt,transaction,instalment,refund,deposit|coin|>invoice amount$ paid_at@
 method(card/transfer/cash) reference|pending,cleared,failed,refunded|report
expense claim|expense,reimbursement,claim for expenses|coin|>employee purpose amount$ spent_on^ category()
 receipt& approver!|draft,submitted,approved,rejected,reimbursed|inbox report
budget|cost plan|coin|name period planned$ spent$ owner! used%|open,at risk,exceeded,closed|report dashboard
contract|agreement|file|title party>company starts_on^ ends_on^ value$ owner! auto_renew?
 notice_period~|draft,in review,signed,expiring,ended|timeline
subscription|plan,membership plan|card|>customer plan() price$ interval(monthly/yearly) started^ renews_on^
 seats#|trial,active,past due,cancelled|report
product|article,sku,catalogue item,item,good,merchandise|box|name sku category() price$ in_stock# reorder_at#
 description* active?|draft,live,out of stock,retired|
task|to-do,action item,todo,to do,chore,activity,assignment,errand|check|title assignee! due_date^
 priority(low/normal/high) >project estimate~ notes*|to do,in progress,blocked,done|board calendar
project|engagement,programme,programme of work,commission|briefcase|name client>company lead! starts_on^
 due_on^ budget$ progress%|planned,active,on hold,completed,cancelled|timeline dashboard
milestone|phase gate,deliverable,deadline|flag|title >project due_on^ owner!
 done_on^|upcoming,due,reached,missed|timeline
work order|job,job card,job sheet,repair,installation,maintenance job|wrench|number asset>equipment >site
 problem* technician! scheduled_for@ duration~ cost$|new,scheduled,in progress,waiting for
 parts,completed,invoiced|board calendar
service request|request,repair request,callout request|bell|reference requester! category() description*
 location priority(low/normal/urgent) received_at@ assignee!|received,triaged,assigned,resolved,closed|board
 inbox
ticket|support ticket,issue,bug,bug report,support case|chat|reference subject requester! category()
 priority(low/medium/high/critical) assignee! opened_at@ respond_by@|open,waiting on customer,in
 progress,resolved,closed|board inbox
incident|safety event,outage,accident,near miss,outage report,emergency|flag|reference title
 severity(minor/moderate/major/critical) occurred_at@ location reported_by! description*
 injured#|reported,investigating,contained,resolved,closed|timeline dashboard report
change request|variation,change|gear|title reason* requested_by! impact(low/medium/high) cost_effect$
 decide_by^|proposed,under review,approved,rejected,implemented|inbox board
inspection|survey,audit visit,check,safety inspection,checkup,check-up|check|reference asset>equipment >site
 inspector! planned_for@ done_at@ result(pass/pass_with_remarks/fail) score% remarks*|planned,in
 progress,passed,failed,overdue|calendar report
visit|site visit,call-out|map|>site visitor! starts_at@ ends_at@ purpose outcome*
 mileage#|planned,travelling,on site,completed,cancelled|calendar
finding|defect,nonconformance,observation,fault,damage,snag,violation,ncr,non-conformance|flag|title
 >inspection severity(minor/major/critical) found_on^ owner! due_date^ photo& root_cause*|open,action
 agreed,fixed,verified,closed|board report
corrective action|capa,action,preventive action|check|title >finding owner! due_date^ effectiveness=
 done_on^|open,in progress,done,verified|board
checklist|round,template|check|name items# applies_to() version# owner! last_used^|draft,in
 use,retired|settings
site|premises,branch,facility,building,depot,clinic site,practice|building|name address >contact region()
 opening_hours access_notes*|planned,active,closed|
equipment|machine,unit,equipment item,appliance,lift,elevator,boiler,pump,instrument,device unit|wrench|name
 serial_no model >site installed_on^ next_service^ runtime~|in service,needs attention,out of
 service,scrapped|timeline
asset|device,laptop,inventory item,computer,phone handset,tablet,fleet asset|box|tag name category() holder!
 purchased_on^ cost$ warranty_until^|in stock,assigned,in repair,lost,disposed|report
vehicle|car,van,truck,bike,lorry,bus,boat,bicycle,motorbike,trailer|car|registration make_model driver!
 mileage# fuel(petrol/diesel/electric) mot_due^ insured_until^|available,in use,in workshop,sold|calendar
tool|kit,gear|wrench|name category() location condition(new/good/worn/broken) value$ loanable?|available,on
 loan,in repair,retired|
loan|borrowing,checkout|link|item>tool borrower>member out_on^ due_back^ returned_on^
 condition_back(same/worn/damaged)|reserved,out,overdue,returned|calendar
stock item|part,material,ingredient,consumable,supply,spare part,medicine,sku item,inventory|box|name sku
 >location on_hand# reorder_at# unit(pcs/kg/l/m) unit_cost$ >supplier|in stock,low,out of stock,on
 order|dashboard
stock movement|transfer,adjustment|box|item>stock_item quantity# kind(in/out/adjust/transfer) moved_at@
 moved_by! reason||timeline
location|warehouse,bin,shelf|map|code name zone() capacity# used% manager!|open,full,blocked|dashboard
meter|counter,sensor|chart|number kind(electricity/gas/water/heat) place installed_on^ last_value#
 last_read^|active,faulty,replaced|report
meter reading|reading,measurement|chart|>meter value# unit(kWh/m3/l) read_at@ read_by!
 estimated?|entered,checked,disputed|report
appointment|consultation,consultation slot,slot,checkup appointment,check-in|calendar|client>customer with!
 starts_at@ duration~ kind() >room notes*|requested,confirmed,arrived,completed,cancelled,no-show|calendar
booking|reservation,bed booking,table booking|calendar|reference resource>room booked_by! starts_at@ ends_at@
 people# price$|requested,confirmed,checked in,completed,cancelled|calendar
room|space,hall,court|building|name capacity# floor features+ rate$ bookable?|free,occupied,out of
 order|calendar
shift|duty,rota slot|clock|person>employee starts_at@ ends_at@ role() place
 break~|open,assigned,confirmed,worked,missed|calendar
time entry|timesheet line,hours|clock|person>employee >project date^ duration~ billable?
 note|draft,submitted,approved,invoiced|report calendar
leave request|holiday request,absence,holiday,vacation,vacation request,time off request,leave,day
 off|calendar|person>employee kind(holiday/sick/other) from^ to^ days# approver!
 reason|requested,approved,declined,taken|calendar inbox
meeting|session,committee meeting,conference call|calendar|title starts_at@ duration~ chair! attendees# place
 minutes*|scheduled,held,cancelled|calendar
event|concert,fair,camp,festival,workshop,exhibition,show,performance,screening,excursion,wedding,conference|calendar|name
 >venue starts_at@ ends_at@ capacity# organiser! budget$|draft,announced,open,sold
 out,over,cancelled|calendar dashboard
registration|sign-up,rsvp,entry,signup|check|>event attendee>contact registered_at@ ticket_type() price$
 dietary+ checked_in?|waiting list,registered,confirmed,attended,cancelled|report
venue|stage|building|name address capacity# >contact accessible? hire_fee$|available,held,booked|calendar
shipment|consignment,sailing cargo,freight,load,cargo,delivery note|truck|tracking_no origin<address
 destination<address carrier>supplier weight# dispatched_at@ eta@|booked,picked up,in transit,at
 customs,delivered,returned|timeline dashboard
parcel|package,delivery|box|barcode recipient address weight# >route attempt# signed_by|sorted,out for
 delivery,delivered,failed,returned|board
route|tour,run,delivery round|truck|name driver! >vehicle date^ stops# distance#
 starts_at@|planned,loading,on the road,finished|board calendar
stop|delivery stop|map|>route address position# planned_at@ arrived_at@ outcome(delivered/failed/skipped)
 note|planned,arrived,done,failed|board timeline
trip|ride,journey,excursion trip|map|passenger driver! >vehicle pickup<address drop_off<address starts_at@
 distance# fare$|requested,accepted,on the way,completed,cancelled|calendar
container|pallet,crate|box|number kind() contents weight# position sealed?|empty,loaded,in
 transit,emptied|board
property|flat,house,apartment,home,show home,dwelling,rental,parcel of land|home|name address
 kind(flat/house/office) area# rooms# rent$ owner>contact|vacant,listed,reserved,let,under repair|
lease|tenancy|door|>property tenant>contact starts_on^ ends_on^ rent$ deposit$
 notice_period~|draft,signed,active,notice given,ended|timeline
viewing|showing|calendar|>property visitor>contact starts_at@ agent! interest=
 feedback*|booked,done,cancelled,no-show|calendar
plot|field,grave,pitch,allotment,bed,burial plot|map|number area# holder>member section() rent$
 last_inspected^|free,offered,held,closed|
treatment|therapy session,procedure,therapy|heart|>patient kind() given_at@ clinician! dose outcome*
 cost$|planned,given,stopped|timeline
prescription|medication|flask|>patient medicine dose frequency prescriber! from^
 until^|issued,dispensed,finished,stopped|
lab test|sample,assay,specimen,blood test,test order|flask|reference >patient kind() collected_at@ result
 reported_at@ abnormal?|ordered,collected,in lab,reported,reviewed|board timeline
bed transfer|move,transfer request|door|>patient from_bed to_bed requested_by! needed_by@ reason
 porter!|requested,approved,in transit,completed,declined|board inbox
animal|pet,livestock,dog,cat,horse,cow,sheep,ewe,ram,lamb,goat,calf,bird,hive,flock,herd|paw|name species()
 breed owner>contact born_on^ tag_no weight#|active,under treatment,sold,deceased|timeline
vaccination|jab,immunisation|heart|>animal vaccine given_on^ next_due^ batch
 given_by!|due,given,overdue|calendar
course|class,curriculum,workshop series|cap|title code teacher! starts_on^ ends_on^ places#
 credits#|draft,open,running,finished|calendar
lesson|class meeting,tutorial,lecture|calendar|>course starts_at@ duration~ >room topic
 teacher!|planned,held,cancelled|calendar
enrolment|course registration|check|>student >course enrolled_on^ progress%
 fee_paid?|applied,enrolled,completed,dropped|report
assessment|exam,test,grade,quiz,evaluation,exam result|cap|>student >course kind(exam/coursework/practical)
 taken_on^ score% assessor! feedback*|scheduled,taken,marked,appealed|report
book|title,publication|book|title author isbn genre() copies# published# shelf|available,on
 loan,reserved,withdrawn|
job opening|vacancy,position|briefcase|title department() place salary_from$ salary_to$ hiring_manager!
 posted_on^ openings#|draft,open,interviewing,filled,closed|board
application|submission,request form|file|reference applicant>contact kind() submitted_at@ reviewer! score=
 decision_due^ decision_note*|draft,submitted,under review,more info needed,approved,refused|inbox board
permit|licence,certificate,license,pass,certification,badge|card|number holder>contact kind() issued_on^
 expires_on^ conditions* fee$|applied,issued,expiring,suspended,expired|report
case|matter,dispute,file,legal case,court case|briefcase|reference title client>contact case_worker!
 opened_on^ next_review^ risk(low/medium/high) summary*|open,active,on hold,closed|timeline
complaint|grievance,dissatisfaction|flag|reference complainant>contact received_at@
 channel(phone/email/form/letter) about handler!
 reply_due^|received,acknowledged,investigating,answered,closed|inbox report
donation|gift,pledge,contribution|coin|donor>contact amount$ kind(money/goods/time) received_on^ >campaign
 gift_aid? thanked_on^|pledged,received,thanked,receipted|report dashboard
campaign|appeal,drive|flag|name goal$ raised$ starts_on^ ends_on^ owner!
 progress%|planned,running,ended|dashboard report
grant award|grant|coin|>application amount$ awarded_on^ instalments# report_due^
 officer!|offered,accepted,paying,completed,clawed back|timeline report
message|conversation,email,reply,e-mail,sms,chat,thread,letter|chat|subject from! to! sent_at@ body* about
 unread?|unread,read,replied,archived|inbox
notice|announcement,alert,newsletter,warning,reminder,improvement notice,bulletin|bell|title body* audience()
 published_at@ expires_on^ author! pinned?|draft,scheduled,published,expired|inbox
note|comment,diary entry,log entry,remark,observation note|chat|about author! written_at@ body*
 private?||timeline
document|sop,policy,contract document,manual,thesis,paper,policy document,sop version|file|title kind()
 version owner! updated_on^ review_by^ link&|draft,in review,approved,superseded|
review|survey response,testimonial,feedback,feedback entry,rating entry|chat|about reviewer! rating=
 written_on^ comment* recommend?|new,published,hidden|report
feature request|idea,suggestion|chat|title requested_by>contact votes# area() effort(S/M/L) description*
 >release|new,under consideration,planned,in progress,shipped,declined|board timeline
release|version,sprint|gear|version planned_for^ released_on^ manager! changes# notes*|planned,in
 testing,released,rolled back|timeline
risk|hazard,threat|flag|title likelihood= impact= owner! mitigation*
 review_by^|identified,mitigating,accepted,closed|report
recipe|dish,formula,dish recipe|food|name serves# prep_time~ cook_time~ cost_per_portion$ allergens+ method*
 rating=|draft,tested,on the menu,retired|
menu|meal plan|food|name valid_from^ valid_to^ dishes# price$ chef!|draft,published,over|calendar
batch|lot|box|batch_no >recipe started_at@ quantity# unit(kg/l/pcs) yield% made_by! best_before^|planned,in
 progress,resting,released,rejected|board timeline
operation|production step,machine job|wrench|>work_order machine>equipment starts_at@ duration~
 quantity_done# scrap# operator!|queued,set up,running,done|timeline board
fixture|match,game|flag|home>team away>team kick_off@ >venue referee! home_score#
 away_score#|scheduled,playing,finished,postponed|calendar
player|athlete|person|name >team number# position() born_on^ games#
 score#|fit,injured,suspended,retired|report
goal|target,objective|chart|name owner! target# reached# progress% due_on^|active,paused,reached|dashboard
collection object|artefact,artwork,exhibit,object,specimen object,film,painting,artifact|star|object_no title
 maker period acquired_on^ >location condition(good/fair/poor) insured_value$|in store,on display,on loan,in
 conservation|timeline
tree|street tree,plant|leaf|tag_no species() height# planted_on^ place<address risk(low/medium/high)
 last_inspected^|healthy,watch,work planned,felled|report
"""
# What an unknown compound borrows, by its last word (archetypes.md §2): the same form, the words first.
_FALLBACKS = """\
request requisition ask|bell|reference requester! submitted_at@ reason* approver!|requested,approved,declined,done|inbox
report log entry record diary history journal|note|title recorded_at@ recorded_by! value# body*||timeline
reading score result rating measurement|chart|title value# recorded_at@ recorded_by! remarks*||report
plan programme schedule list sheet template catalogue guide policy|file|name version# owner! valid_from^ remarks*|draft,in use,retired|
test check survey audit examination analysis trial|check|title planned_for@ inspector! done_at@ result(pass/fail) score% remarks*|planned,in progress,passed,failed|calendar report
slot session sitting class screening hearing pickup drop-off|calendar|title starts_at@ duration~ with! place|requested,confirmed,done,no-show|calendar
charge fee fine instalment allowance payout|coin|title amount$ due_date^ paid_on^ remarks|due,paid,waived|report
pass certificate licence license card|card|number holder! issued_on^ expires_on^|issued,expiring,expired|
step stage item line part component|box|name position# quantity# remarks|open,done|
deadline reminder alert due|clock|title due_on^ owner! remarks*|upcoming,due,done,missed|calendar
"""
_GENERIC = "|circle|name owner! category() created_on^ notes*|new,active,done|"
_PERSON = "|person|name email phone since^ notes*|active,away,left|"

# Values for choices that the table leaves open.
_CHOICES = """\
sector:Retail/Health/Education/Industry; department:Sales/Operations/Finance/People; tier:Basic/Standard/Premium
source:Website/Referral/Agency; region:North/East/South/West; zone:A/B/C; ticket_type:Regular/Reduced/Group
species:Common/Rare/Protected; genre:Fiction/Non-fiction/Reference; audience:Everyone/Staff/Members
area:Interface/Data/Reports; position:Front/Middle/Back; role:Early/Late/Night; plan:Basic/Standard/Premium
kind:First/Follow-up/Routine; cost_centre:Operations/Projects/Administration; section:A/B/C
"""
# fmt: on
_SUFFIX_TYPES = {
    "*": "longtext",
    "#": "number",
    "$": "money",
    "%": "percent",
    "^": "date",
    "@": "datetime",
    "~": "duration",
    "!": "person",
    "?": "boolean",
    "+": "tags",
    "=": "rating",
    "&": "url",
}  # fmt: skip


class FieldSpec(NamedTuple):
    """A field of an archetype: `target` is the archetype that a ref means, `values` those of a choice."""

    id: str
    type: str
    values: tuple[str, ...]
    target: str


class Archetype(NamedTuple):
    """A kind of record that the library knows; `screens` beside list, detail and form."""

    name: str
    icon: str
    fields: tuple[FieldSpec, ...]
    status: tuple[str, ...]
    screens: tuple[str, ...]


@once
def _choices() -> Mapping[str, tuple[str, ...]]:
    rows = (row.split(":") for row in re.split(r";\s*|\n", _CHOICES) if row)
    return {name: tuple(values.split("/")) for name, values in rows}


def _parse_field(code: str) -> FieldSpec:
    name, mark, target, values, kind = re.fullmatch(
        r"(\w*)([*#$%^@~!?+=&]?)(?:>(\w+))?(\([^)]*\))?(?:<(\w+))?", code
    ).groups()
    name = name or target
    if values is not None:
        given = tuple(capitalised(value.replace("_", " ")) for value in values[1:-1].split("/") if value)
        return FieldSpec(name, "choice", given or _choices().get(name, ("Standard", "Special", "Other")), "")
    if target:
        return FieldSpec(name, "ref", (), target.replace("_", " "))
    plain = name if name in ("email", "phone", "address") else "text"
    return FieldSpec(name, kind or _SUFFIX_TYPES.get(mark, plain), (), "")


def capitalised(text: str) -> str:
    """`text` with its first letter as a capital; only in alphabets whose case no Unicode version has changed."""
    return text[:1].upper() + text[1:] if text[:1] < "\u0250" or "\u0386" <= text[:1] <= "\u044f" else text


def _parse_archetype(name: str, icon: str, fields: str, status: str, screens: str) -> Archetype:
    specs = tuple(_parse_field(code) for code in fields.split())
    return Archetype(
        name, icon, specs, tuple(filter(None, map(capitalised, status.split(",")))), tuple(screens.split())
    )


@once
def archetypes() -> Mapping[str, Archetype]:
    """The archetypes by every name they go by (singular, lower case)."""
    table: dict[str, Archetype] = {}
    for line in _ARCHETYPES.replace("\n ", " ").splitlines():
        name, others, *rest = line.split("|")
        kind = _parse_archetype(name, *rest)
        table[name] = kind
        for other in others.split(","):
            table.setdefault(other, kind)
    return table


@once
def _fallbacks() -> Mapping[str, Archetype]:
    rows = (line.split("|") for line in _FALLBACKS.splitlines())
    return {word: _parse_archetype(word, *rest) for words, *rest in rows for word in words.split()}


def find_archetype(name: str, *, person: bool = False) -> Archetype:
    """What a noun (singular, lower case) looks like: by name, by its last words, by its last word's class, or generic."""
    table = archetypes()
    words = name.split()
    for start in range(len(words)):
        known = table.get(" ".join(words[start:]))
        if known:
            return known
    if words and words[-1] in _fallbacks():
        return _fallbacks()[words[-1]]
    return _parse_archetype(*(_PERSON if person else _GENERIC).split("|"))


# ======================================================================
# §09 brief: text to roles, entities, screens, flows, variants
# ======================================================================
# Rules: uses §01-04, §07-08; pure. Text goes one way: characters → clauses → words with a part of speech → noun phrases
# → records, roles, screens → plan → blueprints. Each step is linear in the text; nothing depends on hash order or locale.

# Characters that Unicode 13 (Python 3.9) does not know and a later version does or may: noise, so that all Pythons agree.
# fmt: off
_LATER_CHARACTERS = (
    "86B-89F 8B5 8C8-8D2 C3A-C3C C5B-C5F CD7-CDD CF3-CFF ECE-ECF 170D 1715-171F 180F 1AC1-1AFF 1B4C-1B4F 1B7D-1B7F "
    "1C89-1C8F 1DFA 20C0-20CF 2427-243F 2B74-2B75 2B96 2C2F 2C5F 2E53-2E7F 2FFC-2FFF 31E4-31EF 9FFD-9FFF A7C0-A7C1 "
    "A7CB-A7F4 FBC2-FBD2 FD40-FD4F FD90-FD91 FDC8-FDEF FDFE-FDFF 10570-105FF 10768-107FF 10940-1097F 10D3A-10E5F "
    "10EAE-10EAF 10EB2-10EFF 10F28-10F2F 10F5A-10FAF 1104E-11051 11070-1107E 110C2-110CC 1123F-1127F 11375-113FF "
    "116B9-116BF 116CA-116FF 1173C-117FF 11AA3-11ABF 11AF9-11BFF 11DAA-11EDF 11EF9-11FAF 12399-123FF 12475-1247F "
    "12544-12FFF 1342F-143FF 14647-167FF 16A6A-16A6D 16A70-16ACF 16AF6-16AFF 16B90-16E3F 16E9B-16EFF 187F8-187FF "
    "18CD6-18CFF 18D09-1AFFF 1B11F-1B14F 1B153-1B163 1BCA4-1CFFF 1D129 1D1E9-1D1FF 1D246-1D2DF 1DAB0-1DFFF 1E02B-1E0FF "
    "1E150-1E2BF 1E300-1E7FF 1EEBC-1EEEF 1F1AE-1F1E5 1F6D8-1F6DF 1F6FD-1F6FF 1F774-1F77F 1F7D9-1F7DF 1F7EC-1F7FF "
    "1F8B2-1F8FF 1F90C 1F979 1F9CC 1FA54-1FFFD 2A6DE-2A6FF 2B735-2B73F 2EBE1-2F7FF 3134B-E0000"
)
# fmt: on


@once
def _later() -> Any:
    """A pattern of those characters; 13430-13438 (assigned) hide in one of its ranges and are no loss."""
    ranges = (
        ("-".join(rf"\U{int(end, 16):08x}" for end in part.split("-"))) for part in _LATER_CHARACTERS.split()
    )
    return re.compile(f"[{''.join(ranges)}]")


_WORD_CHARS = 4
_NAME_WORDS = 3
_FEW = 2
_TITLE_WORDS = 6
_HEADING_CHARS = 60
TEXT_SHOWN = 200
MINUTES_PER_HOUR = 60


# --- English words --------------------------------------------------------------------------------------------
# Parts of speech: D determiner, I preposition, C conjunction, R pronoun, X auxiliary, A adverb or filler, J an adjective
# that never names a record, - negation. V verbs only, B both verb and noun. What is not listed is a noun.
# fmt: off
_ENGLISH = {
    "D": "a an the this that these those each every all any some its their our your my his her another both either such "
         "whose which what many few several more most much other own same half dozen one's there's",
    "I": "of in on at by for with from to into onto over under above below within between among across through during "
         "before after against about around near per via as than until since off out up down towards toward behind beside "
         "besides upon like including plus versus w/ along alongside inside outside depending regarding concerning",
    "C": "and or but so because when while if then where whether nor although though unless whenever wherever how why & +",
    "R": "i we you they he she it us them him me who whom one ones somebody someone anybody anyone everyone everybody "
         "nobody something anything everything nothing mine ours theirs themselves itself there here people persons "
         "folks something's thing things stuff lot lots kind sort",
    "X": "be is are was were been being am do does did have has had having can could will would shall should may might "
         "must let's lets i'm we're they're it's that's i'd we'd i've we've i'll we'll it'll gets getting",
    "A": "only just also too very still now today soon already always often sometimes usually currently actually really "
         "maybe perhaps please again together back away quickly directly etc e.g i.e eg ie hey hello hi thanks yes ok okay "
         "well even ever else twice once exactly behind-the-scenes though rather quite almost least instead however "
         "therefore thus first second third finally basically simply asap nicely easily ahead apart abroad home tomorrow "
         "yesterday tonight online offline anywhere everywhere somewhere anymore yet far better best worst",
    "-": "no not never without cannot can't don't doesn't won't isn't aren't didn't shouldn't wouldn't nor neither except "
         "excluding none wont dont doesnt cant",
    "J": "new old big small tiny large huge open closed good bad great high higher low lower full free late later early "
         "overdue due current next last daily weekly monthly yearly annual quarterly simple easy fast quick nice clear live "
         "single double main personal shared private local regional different various important missing available printable "
         "digital internal external basic modern smart complete existing real whole entire ready able busy happy proud own "
         "unanswered unpaid recent upcoming past future final total average key top short long hot cold warm dead lost "
         "fallen broken damaged given yearly hourly biweekly fortnightly urgent critical necessary possible useful helpful "
         "usual common typical specific certain separate individual multiple numerous countless amateur professional "
         "friendly lovely beautiful passionate innovative leading seasonal temporary permanent two three four five six "
         "seven eight nine ten eleven twelve twenty thirty fifty hundred thousand minimal visible red green yellow blue",
    "V": "accept accession acknowledge add admit agree allocate aliquot allow amend analyse analyze announce apply appoint "
         "approve archive arrange arrive ask assess assign attach attend authorise authorize avoid become begin believe "
         "belong borrow bring browse build bundle buy calculate cancel capture carry categorise categorize certify choose "
         "classify clean close collect come compare complain complete compute configure confirm connect consult contain "
         "convert coordinate create customise customize decide decline deduct define delete deliver depend deploy describe "
         "detect determine diagnose discharge discuss display distribute donate download drag edit enable enrol enroll "
         "ensure enter escalate evaluate examine execute expire explain export extend fall fetch fill find finish fix "
         "follow forget forward gather generate get give go grow handle happen harvest hear help hire identify import "
         "improve include inform insert inspect install introduce invite invoice involve join keep know learn lend let "
         "live look lose maintain make manage meet merge miss monitor need negotiate notify obtain occur onboard operate "
         "organise organize oversee own paste pause perform pick postpone practise prepare prescribe prevent prioritise "
         "prioritize produce promote propose protect prove provide publish pull push put qualify raise reach read rebook "
         "receive reconcile recruit redeem reduce refer reject remember remind remove renew reopen replace replant reply "
         "require reschedule resolve respond retire revise revoke roster say see sell send serve settle share show "
         "sign sit solve speak specify spend split stand start stay submit subscribe suggest summarise summarize supervise "
         "suspend take talk teach tell terminate think throw tick translate treat triage try turn understand unlock update "
         "upload use vaccinate validate verify wait want warn weigh welcome win withdraw write ring reinvent experience "
         "count stop break",
    "B": "answer audit bill book call care change charge chart check claim comment contact contract control cost cover deal "
         "design dispatch document draft drive drop email e-mail estimate exchange exercise feed file flag forecast form fund "
         "grade grant group guide hand hold host interview issue judge label land lead lease leave link list load loan log "
         "mark match measure message mix model mount move name note notice number offer order pack park pass pay permit plan "
         "plant play pledge point post practice present press price print process program project pump purchase question "
         "quote race rank rate record refund register release rent repair report request research reserve return review ride "
         "risk round route run sample save scan schedule score screen search service set shift ship shop signal sort sound "
         "source sponsor staff stage state step stock store study supply support survey swap tag target taste test tour "
         "track trade train transfer transport travel trust view visit vote walk wash watch water work view rule head scale "
         "volunteer stream block filter cook clock bundle tie trap mop back reward patrol roll touch match copy cut sum",
}
_IRREGULAR_FORMS = (
    "sent:send kept:keep held:hold sold:sell bought:buy taken:take took:take gave:give made:make got:get seen:see saw:see "
    "written:write wrote:write paid:pay ran:run lent:lend broke:break drawn:draw driven:drive known:know knew:know said:say "
    "told:tell found:find left:leave met:meet brought:bring built:build taught:teach chosen:choose gone:go went:go came:come "
    "begun:begin became:become grown:grow worn:wear shown:show thrown:throw stood:stand done:do spent:spend won:win fed:feed "
    "fell:fall felled:fell dealt:deal hidden:hide understood:understand withdrawn:withdraw borne:bear worn:wear stuck:stick"
)
_NOUNS_IN_ING = frozenset(
    "booking viewing meeting reading training screening hearing listing rating opening building drawing sitting painting "
    "filing fitting landing mailing pairing posting recording ruling sailing setting showing sighting housing catering "
    "accounting billing marketing briefing wedding outing offering crossing finding holding mooring planting tasting "
    "string thing ring king spring evening morning ceiling clothing wing pricing invoicing engineering sampling".split()
)
# What is no record (archetypes.md §5): one class a line; the name says what a word of it does instead.
_CLASSES = {
    "product": "app apps application system tool portal platform software solution website webapp page thing module mvp "
               "prototype tracker planner database spreadsheet diary suite hub organiser organizer manager scheduler register "
               "registry book place site program workflow process processes assistant helpdesk desk office back-office crm erp "
               "management tracking planning administration operations handling control something",
    "screen": "dashboard calendar board chart overview view report reports wall screen queue inbox timeline graph kanban "
              "pipeline funnel feed cockpit map menu-bar list lists directory index home-page homepage button tab widget "
              "profile agenda roadmap filter search export form history graph curve table ranking statistics notification "
              "setting settings preferences configuration log notifications gantt planner week-view column columns stages",
    "place": "company agency clinic shop club department office team city business firm hospital hotel ward farm museum "
             "factory plant charity municipality council university studio salon bakery cafe café startup bank festival league "
             "hall village town region area country district county daycare kennel garage cemetery school college library gym "
             "kitchen restaurant bar pub theatre theater laboratory lab community neighbourhood association society foundation "
             "institute centre center organisation organization headquarters street network internet web market world fleet "
             "industry nursery kindergarten church parish lodge camp resort practice household workplace ngo nonprofit "
             "co-op cooperative enterprise brand band house housing ground grounds yard campus port harbour marina zoo",
    "time": "day week month year quarter morning evening afternoon night weekend hour minute second moment season winter "
            "summer autumn spring monday tuesday wednesday thursday friday saturday sunday january february march april june "
            "july august september october november december time times date decade century today tomorrow phase stage "
            "deadline-day end start beginning sprint-week term semester future",
    "metric": "kpi kpis rate percentage workload average statistic trend total figure metric ratio turnover throughput "
              "performance amount progress percent share value level usage volume balance revenue profit margin capacity "
              "utilisation utilization count sum number countdown",
    "field": "name title price date status address photo picture image phone telephone colour color size type category "
             "quantity duration priority id identifier description code unit units email-address birthday weight height "
             "temperature reason condition mileage warranty barcode currency signature language gender age link url label "
             "expiry contact-details preference quality location-name position role deadline-date detail details detail "
             "information info data content field-name purpose property heat power electricity",
    "filler": "mission passion slogan change movement right purpose vision dream idea benefit advantage experience quality "
              "way case use-case user-story story example fact problem mess chaos error hassle pain help support advice need "
              "requirement goal-line scope budget-line weather everybody everything anyone someone internet phone tablet "
              "mobile smartphone computer laptop-screen desktop browser wifi paper notebook telephone excel whatsapp "
              "airtable sheet google-sheet card-index index-card trello notion access word outlook sms sap salesforce "
              "cupboard attention look feel style design theme colour clock nobody half work-around public wag tail root "
              "glance once hand hands head heads mind life love heart job-to-be-done stakeholder audience security "
              "performance speed reliability login log-in password access-right permission permissions language languages "
              "version-one v1 v2 duplicate duplicates order-of step-by-step ring safety power bit side front rest cause "
              "chain mess scratch back top bottom middle plenty variety number-of range set pair",
}
_PEOPLE = (
    "nurse vet doctor patient guest client customer staff clerk chef cook guide pilot coach driver judge parent pupil student "
    "tenant volunteer resident citizen agent officer lead partner paralegal escort master warden porter foreman secretary "
    "receptionist boss owner friend colleague person child kid admin administrator assistant head chair captain mentor "
    "apprentice trainee intern buyer seller architect bookkeeper pharmacist midwife physio technician mechanic electrician "
    "plumber surgeon librarian musician politician councillor counsellor counselor curator conservator ambassador investor "
    "donor author editor tutor visitor instructor inspector auditor supervisor director contractor subcontractor operator "
    "coordinator moderator conductor doctor sponsor actor vendor tailor janitor neighbour neighbor pm hr-manager po scout "
    "crew-member board-member member staff-member specialist expert analyst consultant accountant assistant applicant "
    "participant attendant attendee employee trustee referee adopter carer caretaker cashier courier farmer fundraiser "
    "gardener handyman host hostess hunter janitor landlord lawyer lecturer lodger lender borrower manager marshal "
    "merchant minister monk mover organizer organiser painter passenger planner player practitioner preacher priest "
    "professor provider rider roofer runner sailor salesperson scientist shopper singer skipper soldier speaker starter "
    "steward teacher teller trainer traveller treasurer umpire usher user waiter waitress walker worker writer "
    "holder joiner leaver learner reader subscriber examiner reviewer approver requester reporter dispatcher engineer "
    "developer designer dealer helper leader maker keeper controller commander gamer juror fireman policeman adherent "
    "chairperson spokesperson therapist dentist artist florist arborist hygienist cyclist pharmacist stylist optometrist"
)
_DEPARTMENTS = (
    "front desk,finance,hr,dispatch,reception,accounting,it,procurement,purchasing,sales,marketing,legal,support,logistics,"
    "management,back office,customer service,human resources,facilities,security,compliance,controlling,planning,the office"
)
_PARTY_WORDS = frozenset(
    "patient guest client customer pupil student tenant owner donor member candidate applicant resident citizen volunteer "
    "visitor participant attendee player contact buyer passenger child kid learner trainee borrower subscriber family "
    "supplier vendor holder friend contestant athlete sponsor guide driver household".split()
)
_SIGNALS = {  # verbs and nouns that ask for a screen (archetypes.md §4)
    "calendar": "schedule book reserve reschedule roster rota appoint calendar agenda timetable planner slot availability "
                "plan appointment booking shift viewing diary week-view",
    "board": "drag triage dispatch board kanban pipeline funnel columns swimlane stages backlog move progress track approve",
    "timeline": "trace audit timeline history chain milestone roadmap gantt journey sequence phase",
    "inbox": "message reply answer notify remind forward escalate inbox thread chat notification respond write conversation",
    "report": "measure compare sum count total analyse analyze export forecast rank report chart statistics kpi graph trend "
              "curve ranking totals score best statistic league-table average",
    "dashboard": "monitor watch oversee alert dashboard cockpit overview glance control-room kpi low overdue red",
    "settings": "configure customise customize toggle setting settings configuration preference parameter threshold template "
                "rate allowance rule",
}
# fmt: on


# --- English: words to phrases --------------------------------------------------------------------------------


class _Token:
    """A word or mark of a sentence: as written, lower case, its part of speech, the base form of a verb or noun."""

    __slots__ = ("base", "low", "tag", "text")

    def __init__(self, text: str) -> None:
        self.text, self.low = text, text.lower().replace("’", "'")
        self.tag, self.base = "", self.low


@once
def _parts() -> Mapping[str, str]:
    return {word: tag for tag in "VBJAXRCID-" for word in _ENGLISH[tag].split() if tag not in "VB"}


def _verb_forms(base: str) -> Iterator[tuple[str, str]]:
    stem = base[:-1] if base.endswith("e") else base
    soft = base[:-1] + "i" if re.search("[^aeiou]y$", base) else ""
    twice = base + base[-1] if re.search("(^|[^aeiou])[aeiou][bdgklmnprt]$", base) else ""
    yield base, "base"
    yield (soft + "es" if soft else base + ("es" if re.search("(s|sh|ch|x|z|o)$", base) else "s")), "s"
    for form, kind in (("ed", "ed"), ("ing", "ing")):
        yield (soft if soft and kind == "ed" else stem) + form, kind
        if twice:
            yield twice + form, kind
    if base.endswith("ee"):
        yield base + "ing", "ing"


@once
def _verbs() -> Mapping[str, tuple[str, str]]:
    """Every form of every verb: its base and which form it is (base, s, ed, ing)."""
    forms = {
        form: (base, kind)
        for tag in "BV"
        for base in _ENGLISH[tag].split()
        for form, kind in _verb_forms(base)
    }
    forms.update((pair.split(":")[0], (pair.split(":")[1], "ed")) for pair in _IRREGULAR_FORMS.split())
    return forms


@once
def _both() -> frozenset[str]:
    return frozenset(_ENGLISH["B"].split())


@once
def _people() -> frozenset[str]:
    return frozenset(_PEOPLE.split())


@once
def _class_of() -> Mapping[str, str]:
    return {word: name for name, words in reversed(_CLASSES.items()) for word in words.split()}


# fmt: off
_IRREGULAR_PLURALS = (
    "people:person children:child men:man women:woman feet:foot teeth:tooth geese:goose mice:mouse oxen:ox calves:calf "
    "halves:half knives:knife shelves:shelf leaves:leaf loaves:loaf wolves:wolf lives:life wives:wife hooves:hoof "
    "theses:thesis analyses:analysis diagnoses:diagnosis crises:crisis hypotheses:hypothesis prostheses:prosthesis "
    "criteria:criterion phenomena:phenomenon indices:index matrices:matrix vertices:vertex appendices:appendix "
    "curricula:curriculum memoranda:memorandum alumni:alumnus cacti:cactus fungi:fungus stimuli:stimulus larvae:larva "
    "formulae:formula quizzes:quiz dice:die axes:axe data:data media:media movies:movie cookies:cookie ties:tie pies:pie "
    "potatoes:potato tomatoes:tomato heroes:hero vetoes:veto cargoes:cargo buses:bus gases:gas lenses:lens viruses:virus "
    "campuses:campus bonuses:bonus statuses:status buoys:buoy caches:cache niches:niche headaches:headache"
)
_SAME_PLURAL = frozenset(
    "series species sheep fish aircraft premises means headquarters works equipment staff luggage furniture inventory stock "
    "feedback software knowledge training medication housing livestock material news data media status bus gas class address "
    "process access business analysis basis lens campus bonus virus diabetes sales goods glass physics thesis crew "
    "maintenance laundry cash mail research merchandise machinery salmon deer swine".split()
)
# fmt: on


@once
def _irregular() -> Mapping[str, str]:
    return dict(pair.split(":") for pair in _IRREGULAR_PLURALS.split())


def _singular(word: str) -> str:
    """The singular of an English noun in lower case (archetypes.md §6)."""
    if word in _irregular():
        return _irregular()[word]
    if (
        word in _SAME_PLURAL
        or len(word) < _WORD_CHARS
        or not word.endswith("s")
        or word.endswith(("ss", "us", "is"))
    ):
        return re.sub("(fore|work|police|fire|sales|crafts|crew|wo)men$", r"\1man", word)
    if word.endswith("ies") and len(word) > _WORD_CHARS:
        return word[:-3] + "y"
    return word[:-2] if re.search("(ss|sh|ch|x|zz)es$", word) else word[:-1]


def _plural(word: str) -> str:
    """The plural of an English noun or compound in lower case."""
    head = word.split(" ")[-1]
    for many, one in _irregular().items():
        if one == head:
            return word[: len(word) - len(head)] + many
    if head in _SAME_PLURAL:
        return word
    if re.search("[^aeiou]y$", head):
        return word[:-1] + "ies"
    return (
        word[:-3] + "men"
        if word.endswith("man")
        else word + ("es" if re.search("(s|sh|ch|x|z)$", head) else "s")
    )


def _is_plural(token: _Token) -> bool:
    return token.base != token.low


def _is_person(word: str) -> bool:
    return word in _people() or bool(
        re.search("(ologist|keeper|maker|master|worker|owner|holder|woman|man)$", word)
    )


def _tag(tokens: list[_Token]) -> list[_Token]:
    """Gives every token its part of speech; verbs get their base form, nouns their singular."""
    for n, token in enumerate(tokens):
        low = token.low[:-2] if token.low.endswith("'s") and token.low not in _parts() else token.low
        token.base = token.low
        if not low[:1].isalnum():
            token.tag = token.text
        elif low[0].isdigit():
            token.tag = "#"
        elif low in _parts():
            token.tag = _parts()[low]
            if (
                token.tag == "J"
                and low in _verbs()
                and n + 1 < len(tokens)
                and _parts().get(tokens[n + 1].low) in ("D", "R")
            ):
                token.tag, token.base = "V", _verbs()[low][0]
        elif low in _verbs():
            token.tag = _verb_tag(tokens, n, low)
            if token.tag in "VGP":
                token.base = _verbs()[low][0]
        elif (
            low.endswith("ly")
            and len(low) > _WORD_CHARS + 1
            and low not in ("family", "assembly", "supply", "anomaly")
        ):
            token.tag = "A"
        else:
            token.tag = "N"
        if token.tag == "N":
            token.base = low[:-1].lower() if re.fullmatch("[A-Z]{2,}s", token.text) else _singular(low)
    return tokens


def _verb_tag(tokens: list[_Token], n: int, low: str) -> str:
    """V verb, G gerund, P participle or N noun for a word that has a verb's form; decided by its neighbours."""
    base, kind = _verbs()[low]
    before = [token for token in tokens[max(0, n - 3) : n] if token.tag != "A"][-1:]
    prev = before[0].tag if before else ""
    after = tokens[n + 1] if n + 1 < len(tokens) else None
    next_tag = (_parts().get(after.low) or ("N" if after.low[0].isalpha() else after.low[0])) if after else ""
    opening = prev not in "VGPNIDJXRA#-" or not prev or prev == "C"
    named = base in _both()
    if before and (before[0].low in ("to", "not") or prev in ("R", "X") or before[0].low.endswith("n't")):
        auxiliary = before[0].low in _parts() and prev == "X" and before[0].low in _BE_FORMS
        return {"ing": "G", "ed": "P"}.get(kind, "N" if named and auxiliary else "V")
    if before and (prev in "DJ#" or before[0].low.endswith("'s")):
        return "J" if kind == "ed" and next_tag == "N" else "N" if kind != "ed" else "P"
    if kind == "ing":
        return "N" if low in _NOUNS_IN_ING and not (next_tag in ("D", "R")) else "G"
    if kind == "ed":
        return "J" if next_tag == "N" and (opening or prev in "VGI") else "P"
    if prev == "I":
        return "N"
    follows = next_tag in ("D", "R", "#") or (next_tag == "J" and kind == "s")
    if kind == "s":
        subject = prev == "N" and (_is_person(before[0].base) or before[0].low in _departments())
        with_article = any(token.tag == "D" for token in tokens[max(0, n - 4) : n])
        return (
            "V" if not named or follows or (subject and with_article and not _is_plural(before[0])) else "N"
        )
    if prev == "N":
        return (
            "V"
            if not named or follows or _is_plural(before[0]) and before[0].base not in _SAME_PLURAL
            else "N"
        )
    if prev in ("V", "G", "P"):
        return "V" if not named or follows else "N"
    if not named or follows:
        return "V"
    return _opening_tag(tokens, n, after, next_tag)


def _opening_tag(tokens: list[_Token], n: int, after: _Token | None, next_tag: str) -> str:
    """The first word of a phrase that may be a command ("book rooms") or part of a name ("order lines")."""
    if after is None or next_tag not in ("N", "J", "C"):
        return "N"
    commands = [token for token in tokens[:n] if token.tag == "V"]
    if next_tag == "C":
        return "V" if commands and n and tokens[n - 1].tag in ",C" else "N"
    if f"{tokens[n].low} {_singular(after.low)}" in archetypes():
        return "N"
    if _singular(after.low) in _COMPOUND_HEADS:
        return "V" if commands else "N"
    return (
        "V"
        if commands or _singular(after.low) != after.low or next_tag == "J" or n == 0 and len(tokens) > 2
        else "N"
    )


_BE_FORMS = frozenset("be is are was were been being has have had with i'm we're it's".split())
_COMPOUND_HEADS = frozenset(
    "attempt detail sheet line item entry level list plan request report template result note type log history card form "
    "number code step slot record package point movement score rating status schedule order job ticket limit room page "
    "window fee paper system book shop tracker planner board desk".split()
)


@once
def _departments() -> frozenset[str]:
    return frozenset(_DEPARTMENTS.split(","))


# --- English: phrases to records, roles and screens -----------------------------------------------------------


class _Mention:
    """What the brief says about one noun: how strongly it is a record, and everything that hangs on it."""

    __slots__ = (
        "because",
        "count",
        "extra",
        "label",
        "links",
        "name",
        "person",
        "plural",
        "status",
        "times",
        "weight",
    )

    def __init__(self, name: str, label: str, person: bool, because: str) -> None:
        self.name, self.label, self.person, self.because = name, label, person, because
        self.plural = _plural(label)
        self.count = self.times = 0
        self.weight = 0.0
        self.status: tuple[str, ...] = ()
        self.extra: list[FieldSpec] = []
        self.links: list[str] = []


class _Noun(NamedTuple):
    """A noun phrase: singular name, how it is written, its head, its form and its number."""

    name: str
    label: str
    head: str
    modifiers: str
    plural: bool
    article: str
    number: int
    person: bool


# How much a noun phrase is a record by where it stands (list, object, subject, after a preposition) and by its form.
_PLACE_WEIGHTS = {
    "list": 1.0,
    "object": 1.0,
    "subject": 0.7,
    "topic": 0.4,
    "weak": 0.2,
    "with": 0.9,
    "per": 0.5,
    "to": 0.7,
}
_PREPOSITION_WEIGHT = 0.5
_FORM_WEIGHTS = {"plural": 1.0, "number": 1.2, "a": 0.9, "the": 0.7, "bare": 0.5}
_KNOWN_BONUS, _KIN_BONUS, _AGAIN_BONUS = 0.3, 0.15, 0.15
_RECORD_WEIGHT, _SPARE_WEIGHT = 0.65, 0.45
_NUMBER_WORDS = {
    w: n for n, w in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
}
_DEEDS = {  # verbs that imply a record of their own
    "inspect": "inspection", "lend": "loan", "borrow": "loan", "donate": "donation", "vaccinate": "vaccination",
    "install": "installation", "enrol": "enrolment", "subscribe": "subscription", "interview": "interview", "survey": "survey",
}  # fmt: skip


class _Reader:
    """Collects mentions, roles and signals while the sentences of a brief pass through `read`."""

    def __init__(self) -> None:
        self.mentions: dict[str, _Mention] = {}
        self.roles: dict[str, _Role] = {}
        self.signals: dict[str, tuple[str, str]] = {}
        self.blocked: dict[str, str] = {}
        self.because = ""
        self.verb = self.preposition = ""
        self.negated = self.titled = self.passive = False
        self.place = ""
        self.subjects: list[_Noun] = []
        self.actors: list[_Role] = []
        self.last = self.previous = ""
        self.dropped: list[dict[str, str]] = []
        self.always = False

    def read(self, tokens: list[_Token], because: str, *, topic: bool = False, negated: bool = False) -> None:
        """One sentence, tagged. `topic`: it names the product; `negated`: all of it is out of scope."""
        self.because, self.titled = because, _is_titled(tokens)
        self.place, self.negated = "topic" if topic else "", negated
        self.always = negated
        self._reset()
        place = 0
        while place < len(tokens):
            place = self._step(tokens, place)

    def _reset(self) -> None:
        self.verb = self.preposition = ""
        self.passive = False
        self.subjects, self.actors = [], []

    def _step(self, tokens: list[_Token], place: int) -> int:
        token = tokens[place]
        if token.tag in "DJ#N":
            end = place + 1
            while end < len(tokens) and tokens[end].tag in "J#N" and not tokens[end - 1].low.endswith("'s"):
                end += 1
            self._on_noun(
                tokens[place:end], tokens[end : end + 4], place == 0, tokens[place - 1] if place else None
            )
            return end
        if token.text in "([":
            return self._on_bracket(tokens, place)
        if token.tag in "VGP":
            self._on_verb(token, tokens, place)
        elif token.tag == "I":
            self.preposition = token.low
        elif token.tag == "R":
            self.subjects, self.actors, self.preposition = [], [], ""
        elif token.tag == "-":
            self.negated = self.negated or self._denies(tokens, place)
        elif token.tag == "C" and token.low in ("but", "because", "so", "while", "when", "if", "though"):
            self.negated = self.always
            self._reset()
        elif token.text in ",;:|–—•":
            self._on_mark(token.text, tokens[place + 1 : place + 2])
        return place + 1

    def _on_mark(self, mark: str, after: list[_Token]) -> None:
        self.preposition = ""
        if mark != "," or (after and after[0].tag in "RC" and after[0].low not in ("or", "and")):
            self.negated = self.always
            self._reset()
        if mark == ":" and self.place == "topic":
            self.place = ""

    def _denies(self, tokens: list[_Token], place: int) -> bool:
        """Whether a negation takes what follows out of the product, rather than tell what does not happen in it."""
        low, after = tokens[place].low, tokens[place + 1 : place + 3]
        if low in ("no", "without", "except", "excluding", "none", "neither", "nor") or not after:
            return True
        if low == "not" and self._contrast(tokens, place):
            return True
        verbs = [token.base for token in after if token.tag in "VP"]
        subject = self.subjects[-1].head if self.subjects else ""
        ours = not subject or _class_of().get(subject) == "product" or subject in ("public",)
        return bool(verbs) and (verbs[0] in _SCOPE_VERBS or (ours and verbs[0] not in _FAILING_VERBS))

    def _contrast(self, tokens: list[_Token], place: int) -> bool:
        return place > 0 and tokens[place - 1].text in ",(–—" and tokens[place + 1].tag in "NDJ"

    def _on_verb(self, token: _Token, tokens: list[_Token], place: int) -> None:
        base = token.base
        if token.tag == "P" and place and tokens[place - 1].tag == "N" and not self.subjects:
            self.preposition = ""
            return
        if token.tag == "V" and (self.subjects or not self.verb):
            self.actors = [role for role in map(self._role, self.subjects) if role]
            self.subjects = []
        self.verb, self.preposition = base, ""
        for role in self.actors:
            if base not in role.verbs and not self.negated:
                role.verbs.append(base)
        if not self.negated:
            self._signal(base)
            if base in _DEEDS and token.tag != "P":
                self._mention(_DEEDS[base], _DEEDS[base], False, 0.5)

    def _signal(self, word: str) -> None:
        for kind in _signal_words().get(word, ()):
            self.signals.setdefault(kind, (self.because, self.last))

    def _role(self, noun: _Noun) -> _Role | None:
        if (
            not noun.person
            or self.negated
            or noun.head in ("contractor", "vendor")
            and self.because.find("shall") >= 0
        ):
            return None
        return self.roles.setdefault(noun.name, _Role(noun.name, self.because, [], []))

    def _on_noun(self, words: list[_Token], after: list[_Token], first: bool, before: _Token | None) -> None:
        noun = _noun(words, self.titled or first)
        if noun is None:
            return
        following = [token for token in after if token.tag != "A"][:1]
        acts = bool(following) and following[0].tag in ("V", "X", "-")
        if acts or (self.subjects and before and before.tag == "C"):
            self.subjects = [*(self.subjects if before and before.tag in "C,/&" else []), noun]
        if acts and not self.verb:
            self.preposition = ""
        context = self.place or (
            "subject" if acts else self.preposition or ("object" if self.verb else "list")
        )
        if context == "as" or (context in ("by", "per", "to") and noun.person):
            role = self._role(noun)
            if context == "as" and role:
                self.actors = [role]
                self.subjects = [noun]
        if acts:
            self.verb = ""
        if self.negated:
            self.blocked.setdefault(noun.name, "the brief says it is not wanted")
            self.blocked.setdefault(noun.head, "the brief says it is not wanted")
            return
        owner = words[-1].low.endswith("'s")
        self._weigh(noun, context, owner or (self.verb in _ASKING and context in ("for", "to")))

    def _weigh(self, noun: _Noun, context: str, strong: bool) -> None:
        known = noun.name in archetypes()
        kind = (
            ""
            if known and (noun.plural or noun.modifiers or noun.article == "a")
            else _class_of().get(noun.head, "")
        )
        if (
            kind == "place"
            and (noun.plural or noun.number or noun.article in ("each", "every"))
            and context != "topic"
        ):
            kind = ""
        if kind:
            self._on_class(noun, kind, context)
            return
        if noun.person and noun.head not in _PARTY_WORDS:
            managed = self.verb in _MANAGING and context == "object"
            if not (noun.number or managed or context == "list"):
                if context in ("object", "subject", "list", "per", "by", "to"):
                    self._role(noun) if context != "subject" else None
                return
            if context == "list" and not noun.number:
                self._role(noun)
        form = "number" if noun.number else "plural" if noun.plural else noun.article or "bare"
        weight = _PLACE_WEIGHTS.get("object" if strong else context, _PREPOSITION_WEIGHT)
        weight = weight * _FORM_WEIGHTS.get(form, _FORM_WEIGHTS["a"])
        weight += _KNOWN_BONUS if known else _KIN_BONUS if noun.head in archetypes() else 0
        mention = self._mention(noun.name, noun.label, noun.person, weight)
        mention.count = max(mention.count, noun.number)
        if context in ("with", "per", "for", "of", "to") and self.last not in ("", noun.name):
            self._link(noun.name, self.last, context)
        for role in self.actors if context == "object" else ():
            if noun.name not in role.things:
                role.things.append(noun.name)
        for kind in _signal_words().get(noun.head, ()):
            self.signals.setdefault(kind, (self.because, noun.name))
        self.last = noun.name

    def _link(self, name: str, last: str, context: str) -> None:
        child, parent = (name, last) if context == "with" else (last, name)
        if child in self.mentions:
            self.mentions[child].links.append(parent)

    def _on_class(self, noun: _Noun, kind: str, context: str) -> None:
        """A word that is no record: a screen, a field, the product, an organisation."""
        words = noun.modifiers.split()
        for word in [noun.head, *words]:
            for screen in _signal_words().get(word, ()) if kind != "field" else ():
                self.signals.setdefault(screen, (self.because, self.last))
        if kind == "field" and self.last in self.mentions and context != "topic":
            self.mentions[self.last].extra.append(_guess_field(noun))
        while words and _class_of().get(words[-1]) in (
            "product",
            "place",
            "time",
            "screen",
            "filler",
            "metric",
        ):
            words.pop()
        rest = " ".join([*words[:-1], _singular(words[-1])]) if words else ""
        if not rest or kind not in ("product", "screen", "place") or _class_of().get(words[-1]):
            return
        weight = _PLACE_WEIGHTS["weak" if kind == "place" else "topic"] + (
            _KNOWN_BONUS if rest in archetypes() else 0
        )
        self._mention(rest, rest, _is_person(words[-1]), weight)
        self.last = self.last or rest

    def _mention(self, name: str, label: str, person: bool, weight: float) -> _Mention:
        mention = self.mentions.get(name)
        if mention is None:
            mention = self.mentions[name] = _Mention(name, label, person, self.because)
        mention.weight = max(mention.weight, weight) + (
            _AGAIN_BONUS if mention.times and mention.times < 3 else 0
        )
        mention.times += 1
        return mention

    def _on_bracket(self, tokens: list[_Token], place: int) -> int:
        """What stands in brackets: values of a status in their order, fields, or examples; never records."""
        end = next((n for n in range(place, len(tokens)) if tokens[n].text in ")]"), len(tokens) - 1)
        inside = tokens[place + 1 : end]
        for token in inside:
            self._signal(token.base if token.tag == "N" else token.low)
        parts = _split_values(inside)
        mention = self.mentions.get(self.last)
        if len(parts) > 1 and mention:
            values = tuple(dict.fromkeys(capitalised(part)[:LABEL_MAX_CHARS] for part in parts))
            if all(_class_of().get(_singular(part.split()[-1])) == "field" for part in parts):
                mention.extra += [
                    _guess_field(_Noun(p, p, p.split()[-1], "", False, "", 0, False)) for p in parts
                ]
            elif (
                place
                and tokens[place - 1].base
                in ("stage", "status", "state", "column", "step", "phase", "outcome", "result")
                or any(token.tag in "PJ-" or token.low.endswith("ed") for token in inside)
            ):
                mention.status = values
            else:
                mention.extra.append(FieldSpec("kind", "choice", values, ""))
        return end + 1


_SCOPE_VERBS = frozenset(
    "need want require build include support cover offer sell use handle plan sell".split()
)
_FAILING_VERBS = frozenset(
    "lose forget miss know find see sign return arrive reply answer exceed overlap overspend fit".split()
)
_ASKING = frozenset(
    "ask apply look wait link belong connect attach refer assign add sign register search pay".split()
)
_MANAGING = frozenset(
    "roster manage assign hire train invite recruit schedule track list onboard add register rate".split()
)


@once
def _signal_words() -> Mapping[str, tuple[str, ...]]:
    words: dict[str, tuple[str, ...]] = {}
    for kind, text in _SIGNALS.items():
        for word in text.split():
            words[word] = (*words.get(word, ()), kind)
    return words


def _is_titled(tokens: Sequence[_Token]) -> bool:
    """Whether capitals mean nothing in this sentence, for Most Words Have Them or ALL OF THEM DO."""
    words = [token for token in tokens if len(token.text) >= _WORD_CHARS and token.text.isalpha()]
    return bool(words) and 2 * sum(token.text[0] != token.low[0] for token in words) > len(words)


def _noun(words: list[_Token], capitals: bool) -> _Noun | None:
    """The noun phrase in a run of determiners, adjectives, numbers and nouns; None when nothing of it can be a name."""
    article = next(("a" if t.low in ("a", "an", "any", "some", "new", "another") else t.low if t.low in ("each", "every") else "the"
                    for t in words if t.tag == "D"), "")  # fmt: skip
    number = next((_number(token.low) for token in words if _number(token.low)), 0)
    nouns = [t for t in words if t.tag == "N" and (capitals or t.text == t.low or sum(map(str.isupper, t.text)) > 1
             or t.base in archetypes() or _is_person(t.base) or t.low in _class_of() or t.base in _class_of())]  # fmt: skip
    while nouns and _class_of().get(nouns[0].base) == "time" and len(nouns) > 1:
        nouns = nouns[1:]
    if not nouns or (words[-1].tag == "N" and nouns[-1] is not words[-1]):
        return None
    head = nouns[-1]
    if len(head.base) < 2:
        return None
    rest = [token.low.split("'s")[0] for token in nouns[:-1]][-_NAME_WORDS:]
    shown = [_written(token) for token in nouns][-_NAME_WORDS - 1 :]
    name = " ".join([*rest, head.base])
    person = _is_person(head.base) or name in _departments() or head.base in _departments()
    return _Noun(name, " ".join(shown), head.base, " ".join(rest), _is_plural(head), article, number, person)


def _written(token: _Token) -> str:
    """A word as a label shows it: abbreviations keep their capitals."""
    short = re.fullmatch("([A-Z]{2,5})s?", token.text)
    return short[1] if short and not token.low in _verbs() else token.base


def _number(word: str) -> int:
    plain = word.replace(",", "").replace(".", "")
    return _NUMBER_WORDS.get(
        word, int(plain) if plain.isdecimal() and plain.isascii() and len(plain) < 7 else 0
    )


def _split_values(tokens: Sequence[_Token]) -> list[str]:
    """The values of a bracket: divided by commas, slashes, bars, arrows or "or"."""
    text = " ".join(token.text for token in tokens)
    parts = [part.strip() for part in re.split(r"\s*[,/|;>→]\s*|\s+or\s+", text)]
    fitting = [part for part in parts if part and len(part.split()) <= _NAME_WORDS and part[0].isalpha()]
    return fitting if len(fitting) == len(list(filter(None, parts))) else []


def _guess_field(noun: _Noun) -> FieldSpec:
    kinds = (("date", "date"), ("due", "date"), ("price|cost|fee|amount", "money"), ("photo|picture|image|link|url", "url"),
             ("phone|telephone", "phone"), ("email", "email"), ("address", "address"), ("quantity|weight|height|mileage|unit", "number"),
             ("duration", "duration"), ("reason|description|content", "longtext"))  # fmt: skip
    kind = next((kind for word, kind in kinds if re.search(f"({word})", noun.head)), "text")
    return FieldSpec(_identifier(noun.name, "detail"), kind, (), "")


# --- the brief as a whole -------------------------------------------------------------------------------------


def _quiet(text: str) -> str:
    """The text in composed form, without the characters that Unicode 13 does not know."""
    if text.isascii():
        return text
    import unicodedata

    return unicodedata.normalize("NFC", _later().sub(" ", text))


class _Clause(NamedTuple):
    text: str
    negated: bool
    topic: bool


def _clauses(text: str) -> Iterator[_Clause]:
    """Sentences, bullets and headings; what stands under a heading like "Won't have" is negated."""
    out = False
    for line in re.split(r"[\r\n\v\f\x85\u2028\u2029]+", text):
        bullet = re.match(r"\s*(?:[-*•‣–+]|\d{1,2}[.)]|\[.?\])\s+", line)
        heading = re.match(r"\s*#+\s", line) or re.fullmatch(r"\s*[*_]{0,2}[^.!?]{1,60}:[*_]{0,2}\s*", line)
        body = re.sub(r"[*_`#>~]+", " ", line[bullet.end() :] if bullet else line).strip()
        if not body:
            continue
        if heading or not bullet:
            out = bool(re.match(_OUT_OF_SCOPE, body.lower())) and len(body) < _HEADING_CHARS
        if out and (heading or not bullet):
            yield _Clause(body, ":" in body, True)
            continue
        for part in re.split(r"(?<=[.!?…;])\s+|(?<=[。！？；؟।])|\s+[•·]\s+", body):
            if part and part.strip():
                yield _Clause(part.strip(), out, bool(heading))


_OUT_OF_SCOPE = (
    r"(won.?t|will not|out of|not (in|included|needed|required|part|now|wanted)|non-?goals?|no-?gos?|exclu|later|future|"
    r"phase (2|two)|don.?t|do not|without|never|nice.to.have)"
)
_MARKETING = (
    r"\b(mission|reinvent|passion|we believe|movement|slogan|revolutioni[sz]|dream|our vision|together,? (let|we)|proud|"
    r"world.class|state.of.the.art|award|motto|journey with|change starts|game.chang|cutting.edge|by the way)"
)
_ELSEWHERE = (
    r"\b(elsewhere|(in|by|with|through|via) (an?other|the (current|existing|old)|a (separate|different)|our (current|existing))\b|"
    r"out of scope|not (needed|required|necessary|part|in scope|included|relevant|wanted|planned)|stays? (in|with|where)|"
    r"remains? in|excluded|no longer|later phase|already (handled|covered|done|solved))"
)


def _words(text: str) -> list[_Token]:
    return [_Token(word) for word in re.findall(r"\w/(?=\s)|[^\W_]+(?:['’\-‑][^\W_]+)*|[^\w\s]", text)]


def _read_english(text: str) -> _Reader:
    reader = _Reader()
    for clause in _clauses(text):
        plain = clause.text.lower() if clause.text.isupper() else clause.text
        if re.search(_MARKETING, plain.lower()) and not re.search(
            r"\b(need|want|must|track|our [a-z ]+ takes)\b", plain
        ):
            reader.dropped.append(
                {"text": plain[:TEXT_SHOWN], "reason": "filler: it says nothing about records"}
            )
            continue
        for part, gone in _parts_of(plain):
            colon = re.match(r"[^:]{1,60}:\s", part)
            tokens = _tag(_words(part))
            topic = clause.topic
            if colon and not gone and not any(t.tag in "V" for t in _tag(_words(colon[0]))):
                reader.read(_tag(_words(colon[0])), clause.text[:200], topic=True, negated=clause.negated)
                tokens, topic = _tag(_words(part[colon.end() :])), False
            reader.read(tokens, clause.text[:200], topic=topic, negated=clause.negated or gone)
    return reader


def _parts_of(text: str) -> Iterator[tuple[str, bool]]:
    """The parts of a sentence between semicolons, and whether a part says that its subject is dealt with elsewhere."""
    for part in text.split(";"):
        yield part, bool(re.search(_ELSEWHERE, part.lower()))


# Products whose name alone says what they hold.
# fmt: off
_IMPLIED = {
    "crm": "contact deal", "sales": "deal customer", "erp": "order product", "inventory": "stock_item supplier", "stock": "stock_item supplier",
    "warehouse": "stock_item location", "cemetery": "grave burial", "graveyard": "grave burial", "helpdesk": "ticket customer",
    "support": "ticket customer", "library": "book loan", "gym": "member class", "fitness": "member class", "restaurant": "table reservation",
    "hotel": "room reservation", "hostel": "room reservation", "school": "student course", "clinic": "patient appointment",
    "hospital": "patient appointment", "dental": "patient appointment", "salon": "client appointment", "hairdresser": "client appointment",
    "recruiting": "candidate job_opening", "recruitment": "candidate job_opening", "hiring": "candidate job_opening", "ats": "candidate job_opening",
    "fleet": "vehicle driver", "garage": "vehicle work_order", "workshop": "work_order vehicle", "property": "property lease",
    "rental": "item rental", "shop": "product order", "store": "product order", "bakery": "product order", "farm": "animal field",
    "zoo": "animal enclosure", "kennel": "dog booking", "church": "member event", "club": "member event", "festival": "event ticket",
    "conference": "session speaker", "wedding": "guest task", "museum": "object exhibition", "gallery": "artwork artist",
    "construction": "project task", "agency": "client project", "law": "case client", "legal": "case client", "accounting": "invoice expense",
    "invoicing": "invoice customer", "billing": "invoice customer", "finance": "invoice budget", "hr": "employee leave_request",
    "leave": "leave_request employee", "payroll": "employee payslip", "maintenance": "work_order equipment", "facility": "work_order site",
    "lab": "sample result", "laboratory": "sample result", "podcast": "episode guest", "blog": "post author", "newsletter": "issue subscriber",
    "charity": "donation donor", "fundraising": "donation campaign", "grants": "application grant", "garden": "plot plant",
    "parking": "space permit", "taxi": "trip driver", "delivery": "parcel route", "logistics": "shipment route", "transport": "trip vehicle",
    "insurance": "policy claim", "bank": "account transaction", "budget": "expense budget", "todo": "task project", "project": "project task",
    "habit": "habit entry", "training": "course participant", "survey": "survey response", "election": "candidate vote", "team": "player fixture",
    "league": "team fixture", "tournament": "team match", "recipe": "recipe ingredient", "kitchen": "recipe ingredient", "incident": "incident action",
    "quality": "finding corrective_action", "compliance": "audit finding", "asset": "asset assignment", "bug": "bug release",
    "lost": "item claim", "volunteer": "volunteer shift", "daycare": "child check-in", "nursery": "child check-in", "pharmacy": "prescription patient",
}
# fmt: on


def _choose(reader: _Reader, text: str) -> list[_Thing]:
    """The mentions that become records: the strongest, in the order of the brief; the rest is told why it was left out."""
    mentions = [
        m for m in reader.mentions.values() if m.name not in reader.blocked or m.weight > _KNOWN_BONUS + 1
    ]
    mentions = _merge(mentions)
    chosen = [m for m in mentions if m.weight >= _RECORD_WEIGHT]
    if len(chosen) < _FEW:
        spare = sorted(
            (m for m in mentions if _SPARE_WEIGHT <= m.weight < _RECORD_WEIGHT), key=lambda m: -m.weight
        )
        chosen += spare[: _FEW - len(chosen)]
    best = sorted(chosen, key=lambda m: -m.weight)[:DRAFT_ENTITIES_MAX]
    for name, reason in reader.blocked.items():
        if name not in [m.name for m in best] and len(reader.dropped) < LIST_ITEMS_MAX:
            reader.dropped.append({"text": name, "reason": reason})
    for mention in chosen:
        if mention not in best:
            reader.dropped.append({"text": mention.name, "reason": "more records than a first draft holds"})
    things = [_thing(m) for m in mentions if m in best]
    return things if len(things) > 1 else things + _implied(text, things, reader)


def _merge(mentions: list[_Mention]) -> list[_Mention]:
    """A bare word and the one compound that it ends are the same record ("order" and "purchase order")."""
    result = list(mentions)
    for mention in mentions:
        longer = [m for m in mentions if m.name.endswith(" " + mention.name) and m.weight >= _SPARE_WEIGHT]
        if (
            len(longer) == 1
            and " " not in mention.name
            and find_archetype(mention.name).name in ("", find_archetype(longer[0].name).name)
        ):
            longer[0].weight = max(longer[0].weight, mention.weight)
            longer[0].count = longer[0].count or mention.count
            longer[0].status = longer[0].status or mention.status
            longer[0].extra += mention.extra
            longer[0].links += mention.links
            result.remove(mention)
    return result


def _thing(mention: _Mention) -> _Thing:
    kind = find_archetype(mention.name, person=mention.person)
    thing = _Thing(mention.name, mention.plural, kind, mention.because, mention.weight)
    thing.label, thing.count, thing.status = mention.label, mention.count, mention.status
    thing.extra, thing.links = mention.extra, mention.links
    return thing


def _implied(text: str, things: Sequence[_Thing], reader: _Reader) -> list[_Thing]:
    """Records for a brief that names next to none: those of its trade, or a plain list of items."""
    words = [token.base for token in _tag(_words(text.lower()))]
    names = next((_IMPLIED[word].split() for word in words if word in _IMPLIED), [] if things else ["item"])
    names = [name.replace("_", " ") for name in names]
    taken = {thing.name for thing in things} | set(reader.blocked)
    extra = [
        _thing(_Mention(name, name, _is_person(name), text[:TEXT_SHOWN]))
        for name in names
        if name not in taken
    ]
    return extra if things or extra else [_thing(_Mention("item", "item", False, text[:TEXT_SHOWN]))]


_UNITS = (
    (
        r"[£$€]\s?(?P<n>\d[\d,.]*)|(?P<m>\d[\d,.]*)\s?(?:eur|usd|gbp|euros?|dollars?|pounds?|chf|€|£|\$)",
        "money",
    ),
    (r"(?P<n>\d+(?:\.\d+)?)\s?(?:%|percent\b|per cent\b)", "percent"),
    (r"(?P<n>\d{1,4})[\s-]?(?:h|hrs?|hours?|hour)\b", "hours"),
    (r"(?P<n>\d{1,4})[\s-]?(?:min|mins|minutes?)\b", "minutes"),
    (r"(?P<n>\d{1,4})[\s-]?(?:days?)\b", "days"),
    (r"(?P<n>\d{1,4})[\s-]?(?:weeks?)\b", "weeks"),
    (r"(?P<n>\d{1,4})[\s-]?(?:months?)\b", "months"),
)


def _settings_of(text: str) -> list[dict[str, Any]]:
    """Numbers with a unit are rules that a settings screen can change."""
    found: dict[str, dict[str, Any]] = {}
    for clause in re.split(r"[.;!?\n]\s", text):
        for pattern, unit in _UNITS:
            for match in re.finditer(pattern, clause, re.IGNORECASE):
                setting = _setting(match, unit, clause)
                if setting and len(found) < LIST_ITEMS_MAX:
                    found.setdefault(setting["id"], setting)
    return list(found.values())


def _setting(match: Any, unit: str, clause: str) -> dict[str, Any] | None:
    digits = next(group for group in match.groups() if group).rstrip(".,")
    plain = (
        digits.replace(",", "")
        if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", digits)
        else digits.replace(",", ".")
    )
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,4})?", plain):
        return None
    value = float(plain) if "." in plain else int(plain)
    before = [t for t in _tag(_words(clause[: match.start()].lower())) if t.tag in "NVPG"][-2:]
    after = [t for t in _tag(_words(clause[match.end() :].lower())) if t.tag == "N"][:1]
    close = re.match(r"[\s-]*[^\W\d_]", clause[match.end() :])
    words = [t.base for t in (after if close and unit != "percent" else [])] or [t.low for t in before]
    label = capitalised(" ".join(words) or "limit")
    kind = {"money": "money", "percent": "percent", "minutes": "duration", "hours": "duration"}.get(
        unit, "number"
    )
    shown = {"number": unit, "money": _currency(match[0])}.get(kind, "%" if kind == "percent" else "minutes")
    value = value * MINUTES_PER_HOUR if unit == "hours" else value
    return {"id": _identifier(label, "limit"), "label": label[:LABEL_MAX_CHARS], "type": kind, "value": value,
            "unit": shown, "because": clause.strip()[:TEXT_SHOWN]}  # fmt: skip


def _currency(text: str) -> str:
    low = text.lower()
    return next((code for code, signs in (("GBP", "£ gbp pound"), ("USD", "$ usd dollar"), ("CHF", "chf"))
                 if any(sign in low for sign in signs.split())), "EUR")  # fmt: skip


def _read_brief(brief: str) -> _Reading:
    text = _quiet(brief)
    reader = _read_english(text)
    things = _choose(reader, text)
    roles = _roles(reader, things)
    title = _title(text, things)
    return _Reading(
        "en", "ltr", title, things, roles, reader.signals, _settings_of(text), reader.dropped, _currency(text)
    )


def _roles(reader: _Reader, things: Sequence[_Thing]) -> list[_Role]:
    roles = list(reader.roles.values())
    short = [role for role in roles if not any(role.name.endswith(" " + other.name) for other in roles)]
    return [role for role in short if role.name not in reader.blocked][:DRAFT_ROLES_MAX]


def _title(text: str, things: Sequence[_Thing]) -> str:
    """The product's name: what the brief calls it, else its first records."""
    first = next((clause.text for clause in _clauses(text)), "")
    head = re.match(r"[^:.!?(\n]{3,60}(?=:|\.?$)", first)
    if (
        head
        and len(head[0].split()) <= _TITLE_WORDS
        and not any(t.tag in "VR" for t in _tag(_words(head[0])))
    ):
        name = " ".join(re.findall(r"[^\W_][\w'’&/-]*|&", head[0]))
        return capitalised(name.lower() if name.isupper() else name)[:DRAFT_TITLE_CHARS].strip()
    names = [thing.plural for thing in things[:2]]
    return capitalised(" and ".join(names))[:DRAFT_TITLE_CHARS].strip() or "Prototype"


# --- from what was read to a blueprint ------------------------------------------------------------------------

_PARTIES = (
    "contact customer employee member volunteer candidate patient student guest supplier lead player company"
)
_TITLE_FIELDS = frozenset(
    "name title number reference subject code tag registration about passenger barcode recipient medicine vaccine "
    "topic purpose batch_no tag_no object_no tracking_no version place".split()
)
_CAPITALS = frozenset("sku isbn eta fte vip url id".split())
_MEMBERS = ("values", "entity", "unit", "min", "max")


class _Thing:
    """A record of the prototype in the making: the brief's words for it and what the library lends it."""

    __slots__ = (
        "because",
        "count",
        "extra",
        "id",
        "kind",
        "label",
        "links",
        "name",
        "plural",
        "status",
        "weight",
    )

    def __init__(self, name: str, plural: str, kind: Archetype, because: str, weight: float = 1.0) -> None:
        self.name, self.plural, self.kind, self.because, self.weight = name, plural, kind, because, weight
        self.id = ""
        self.label = name
        self.count = 0
        self.status: tuple[str, ...] = ()
        self.extra: list[FieldSpec] = []
        self.links: list[str] = []


class _Role(NamedTuple):
    """Somebody who uses the product: what they do (verbs, base form) and the thing they do it to, if any."""

    name: str
    because: str
    verbs: list[str]
    things: list[str]


class _Reading(NamedTuple):
    """What a brief says: everything below is in its order; `signals` maps a screen type to (words, thing's name)."""

    lang: str
    direction: str
    title: str
    things: list[_Thing]
    roles: list[_Role]
    signals: dict[str, tuple[str, str]]
    settings: list[dict[str, Any]]
    left_out: list[dict[str, str]]
    currency: str


def _ascii(text: str) -> str:
    """`text` in plain lower-case letters, digits and single spaces: accents dropped, other scripts gone."""
    import unicodedata

    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss").replace("ø", "o").replace("ł", "l"))
    return re.sub("[^a-z0-9]+", " ", plain.encode("ascii", "ignore").decode("ascii").lower()).strip()


def _identifier(text: str, fallback: str, taken: Iterable[str] = ()) -> str:
    """An id from words: ASCII, underscores, starting with a letter, new among `taken`."""
    plain = re.sub("^[0-9 ]+", "", _ascii(text)) or fallback
    stem = plain.replace(" ", "_")[:DRAFT_ID_CHARS].rstrip("_")
    names = (f"{stem}_{number}" if number > 1 else stem for number in range(1, len(set(taken)) + 2))
    return next(name for name in names if name not in set(taken))


def _name_things(things: Sequence[_Thing]) -> None:
    """Ids: the last word where it is enough and its own, the whole name otherwise."""
    taken: list[str] = []
    heads = [_ascii(thing.name).split(" ")[-1] for thing in things]
    for thing, head in zip(things, heads):
        short = head if heads.count(head) == 1 and thing.kind.name else thing.name
        thing.id = _identifier(short, thing.kind.name or "record", taken)
        taken.append(thing.id)


def _label_of(name: str) -> str:
    words = [word.upper() if word in _CAPITALS else word for word in name.split("_")]
    return capitalised(" ".join(words))


def _meant(spec: FieldSpec, things: Sequence[_Thing], own: _Thing) -> _Thing | None:
    """The thing that a ref or person field points at, if the prototype has it."""
    words = spec.id.replace("_", " ")
    others = [thing for thing in things if thing is not own]
    named = [thing for thing in others if words in (thing.name, thing.kind.name)]
    kin = [thing for thing in others if spec.target and spec.target in (thing.kind.name, thing.name)]
    parties = [
        thing for thing in others if spec.target in _PARTIES.split() and thing.kind.name in _PARTIES.split()
    ]
    return next(iter([*named, *kin, *parties]), None) if spec.type in ("ref", "person") else None


def _field(spec: FieldSpec, things: Sequence[_Thing], own: _Thing, currency: str) -> dict[str, Any]:
    target = _meant(spec, things, own)
    kind = spec.type
    if kind in ("ref", "person"):
        person = kind == "person" or spec.target in _PARTIES.split()
        kind = "ref" if target else "person" if person else "text"
    field: dict[str, Any] = {"id": spec.id, "label": _label_of(spec.id), "type": kind}
    if target and kind == "ref":
        field["entity"] = target.id
    if kind in CHOICE_TYPES:
        field["values"] = list(spec.values)
    if kind in ("number", "money", "percent", "duration"):
        field["min"] = 0
    if kind == "percent":
        field["max"] = PERCENT_MAX
    if kind == "money":
        field["unit"] = currency
    return field


def _reaches(start: str, goal: str, edges: Mapping[str, set[str]]) -> bool:
    seen, todo = {start}, [start]
    while todo:
        for name in sorted(edges.get(todo.pop(), ())):
            if name not in seen:
                seen.add(name)
                todo.append(name)
    return goal in seen


def _all_fields(things: Sequence[_Thing], currency: str) -> dict[str, list[dict[str, Any]]]:
    """Every thing's fields; references never run in a circle, so that parents can be made before children."""
    edges: dict[str, set[str]] = {thing.id: set() for thing in things}
    result: dict[str, list[dict[str, Any]]] = {}
    for thing in things:
        specs = [*thing.kind.fields, *thing.extra]
        names = {spec.id for spec in specs}
        linked = [other for other in things if other.name in thing.links and other is not thing]
        specs += [FieldSpec(o.id, "ref", (), o.name) for o in linked if o.id not in names]
        fields: dict[str, dict[str, Any]] = {}
        for spec in specs:
            field = _field(spec, things, thing, currency)
            goal = field.get("entity")
            again = goal in edges[thing.id] and spec.target not in ("team",)
            if goal and (again or _reaches(goal, thing.id, edges)):
                field = _field(spec._replace(type="text"), things, thing, currency)
                if again and spec not in thing.kind.fields:
                    continue
            elif goal:
                edges[thing.id].add(goal)
            fields.setdefault(field["id"], field)
        result[thing.id] = list(fields.values())
    return result


def _entity(thing: _Thing, fields: list[dict[str, Any]]) -> dict[str, Any]:
    """The entity of a thing: a field that names its records first, then the status, then the rest."""
    naming = [f for n, f in enumerate(fields) if f["type"] == "text" and (n == 0 or f["id"] in _TITLE_FIELDS)]
    display = naming[0] if naming else {"id": "reference", "label": "Reference", "type": "text"}
    rest = [field for field in fields if field["id"] not in ("status", display["id"])]
    status = [
        {
            "id": "status",
            "label": "Status",
            "type": "status",
            "values": list(thing.status or thing.kind.status),
        }
    ]
    ordered = [display, *(status if status[0]["values"] else []), *rest][:FIELDS_MAX]
    for field in ordered[:DRAFT_REQUIRED_FIELDS]:
        if field["type"] not in ("longtext", "boolean", "tags", "rating"):
            field["required"] = True
    if status[0]["values"]:
        status[0]["default"] = status[0]["values"][0]
    entity = {
        "id": thing.id,
        "label": capitalised(thing.label)[:LABEL_MAX_CHARS],
        "plural": capitalised(thing.plural)[:LABEL_MAX_CHARS],
        "icon": thing.kind.icon,
        "because": thing.because,
        "fields": ordered,
        "display": display["id"],
    }
    if thing.count:
        entity["records"] = [
            {"id": f"{thing.id}-{n}"} for n in range(1, min(thing.count, DRAFT_ROWS_MAX) + 1)
        ]
    return entity


def _ids(entity: Mapping[str, Any], kinds: Iterable[str]) -> list[str]:
    return [field["id"] for field in entity["fields"] if field["type"] in kinds]


def _columns(entity: Mapping[str, Any]) -> list[str]:
    plain = [
        f["id"]
        for f in entity["fields"]
        if f["type"] not in ("longtext", "url", "tags", "boolean", "address")
    ]
    return plain[:DRAFT_COLUMNS_MAX]


def _filters(entity: Mapping[str, Any]) -> list[str]:
    return _ids(entity, ("status", "choice", "ref", "person"))[:DRAFT_FILTERS_MAX]


@once
def _past_dates() -> Any:
    """Dates that lie behind a record rather than ahead of it: no calendar is planned by them."""
    return re.compile(
        r"(since|joined|started|born|date_of|\w*(created|installed|purchased|acquired|posted|planted|"
        r"opened|issued|found|enrolled|received|written|updated|last|spent|applied|paid|recorded)\w*)"
    )


def _plan_date(entity: Mapping[str, Any]) -> str:
    """The date that people plan this record by, or ""."""
    dates = [name for name in _ids(entity, DATE_TYPES) if not _past_dates().match(name)]
    return dates[0] if dates else ""


def _any_date(entity: Mapping[str, Any]) -> str:
    return _plan_date(entity) or next(iter(_ids(entity, DATE_TYPES)), "")


def _end_date(entity: Mapping[str, Any], start: str) -> str:
    kind = next((field["type"] for field in entity["fields"] if field["id"] == start), "")
    ends = ("ends_at", "ends_on", "until", "to", "departure", "due_on", "due_back", "renews_on", "valid_to")
    return next((name for name in _ids(entity, (kind,)) if name in ends and name != start), "")


def _closed(entity: Mapping[str, Any]) -> list[str]:
    """The last one or two statuses: those that end a record's life."""
    values = _status_values(entity)
    return values[-2:] if len(values) > BOARD_COLUMNS_MIN else values[-1:]


def _status_values(entity: Mapping[str, Any]) -> list[str]:
    return next((field["values"] for field in entity["fields"] if field["id"] == "status"), [])


_NEEDS: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "board": lambda entity: BOARD_COLUMNS_MIN <= len(_status_values(entity)) <= BOARD_COLUMNS_MAX,
    "calendar": lambda entity: bool(_plan_date(entity)),
    "timeline": lambda entity: bool(_any_date(entity)),
    "inbox": lambda entity: True,
    "report": lambda entity: bool(_ids(entity, CHOICE_TYPES) or _ids(entity, NUMERIC_TYPES)),
}


class _Plan(NamedTuple):
    """What every variant shares: the reading, its entities, the shape of each, the lead's place and the interface's words."""

    reading: _Reading
    entities: list[dict[str, Any]]
    lead: int
    words: Mapping[str, str]


def _subject(plan: _Plan, kind: str) -> dict[str, Any] | None:
    """The entity that a view of this kind shows: the one the brief's words name, else the lead, else the first that fits."""
    named = plan.reading.signals.get(kind, ("", ""))[1]
    fits = _NEEDS[kind]
    things = plan.reading.things
    order = [n for n, thing in enumerate(things) if thing.name == named]
    order += [n for n, thing in enumerate(things) if kind in thing.kind.screens]
    order += [plan.lead, *range(len(things))]
    return next((plan.entities[n] for n in order if fits(plan.entities[n])), None)


def _view(plan: _Plan, kind: str) -> dict[str, Any] | None:
    """A board, calendar, timeline, inbox or report screen, or None when no entity has the data for it."""
    entity = _subject(plan, kind)
    if entity is None:
        return None
    words, _ = plan.reading.signals.get(kind, (entity["because"], ""))
    screen = {
        "id": f"{entity['id']}_{kind}",
        "title": plan.words[kind].replace("%", entity["plural"])[:LABEL_MAX_CHARS],
        "type": kind,
        "because": words,
        "entity": entity["id"],
    }
    if kind == "board":
        screen["groupBy"] = "status"
    if kind in ("calendar", "timeline"):
        screen["dateField"] = _plan_date(entity) or _any_date(entity)
        end = _end_date(entity, screen["dateField"])
        screen.update({"endField": end} if end else {})
    if kind == "inbox":
        screen["columns"] = _columns(entity)
    if kind == "report":
        groups, measures = (
            _ids(entity, CHOICE_TYPES),
            _ids(entity, ("money", "number", "duration", "rating", "percent")),
        )
        screen.update(
            {"groupBy": groups[0]} if groups else {}, **({"measure": measures[0]} if measures else {})
        )
    screen["filters"] = _filters(entity)
    return screen


def _record_screens(
    entity: Mapping[str, Any], kind: str, guided: bool, words: Mapping[str, str]
) -> list[dict[str, Any]]:
    """List (or cards), detail and form of one entity."""
    name, because = entity["id"], {"because": entity["because"]}
    editable = [field["id"] for field in entity["fields"]]
    steps = [editable[n : n + DRAFT_STEP_FIELDS] for n in range(0, len(editable), DRAFT_STEP_FIELDS)]
    form = {
        "id": f"{name}_form",
        "title": words["form"].replace("%", entity["label"])[:LABEL_MAX_CHARS],
        "type": "form",
    }
    return [
        {"id": f"{name}_list", "title": entity["plural"], "type": kind, **because, "entity": name,
         "columns": _columns(entity), "filters": _filters(entity)},
        {"id": f"{name}_detail", "title": entity["label"], "type": "detail", **because, "entity": name},
        {**form, **because, "entity": name, **({"steps": steps} if guided else {})},
    ]  # fmt: skip


def _tiles(plan: _Plan) -> Iterator[dict[str, Any]]:
    """Counts first, then what needs attention, then one chart."""
    words = plan.words
    ranked = [plan.entities[plan.lead], *(e for n, e in enumerate(plan.entities) if n != plan.lead)]
    for entity in [e for e in ranked if _status_values(e)][:DRAFT_TILES_MAX]:
        open_ones = [value for value in _status_values(entity) if value not in _closed(entity)]
        yield {"kind": "count", "entity": entity["id"], "title": words["open"].replace("%", entity["plural"]),
               "filter": {"field": "status", "values": open_ones or _status_values(entity)}}  # fmt: skip
    for entity in [e for e in ranked if _ids(e, ("money",))][:1]:
        money = _ids(entity, ("money",))[0]
        title = f"{entity['plural']}: {_label_of(money).lower()}"
        yield {"kind": "sum", "entity": entity["id"], "title": title, "measure": money}
    dated = [entity for entity in ranked if _plan_date(entity)][:2]
    for entity, when in zip([*dated, *dated[:1]], ("overdue", "next_30_days")):
        title = words[when].replace("%", entity["plural"])
        yield {
            "kind": "list",
            "entity": entity["id"],
            "title": title,
            "filter": {"field": _plan_date(entity), "when": when},
        }
    lead = ranked[0]
    if not dated:
        yield {"kind": "list", "entity": lead["id"], "title": lead["plural"]}
    yield {"kind": "bars", "entity": lead["id"], "title": words["by_status"].replace("%", lead["plural"])}


def _dashboard(plan: _Plan) -> dict[str, Any]:
    because = plan.reading.signals.get("dashboard", (plan.entities[plan.lead]["because"], ""))[0]
    widgets = [{**tile, "title": tile["title"][:LABEL_MAX_CHARS]} for tile in _tiles(plan)]
    return {
        "id": "home",
        "title": plan.words["dashboard"],
        "type": "dashboard",
        "because": because,
        "widgets": widgets,
    }


# --- the six variants -----------------------------------------------------------------------------------------
# Each row: navigation, home, main, detail, entry, density; what opens the menu beside home; the question it answers,
# whom it serves and what that costs. %s stands for the lead records, %o for the others, %r for the roles.


class _Variant(NamedTuple):
    axes: tuple[str, str, str, str, str, str]
    views: tuple[str, ...]
    question: str
    rationale: str
    cost: str


_AXIS_NAMES = ("navigation", "home", "main", "detail", "entry", "density")
_VARIANTS: Mapping[str, _Variant] = {
    "a": _Variant(
        ("sidebar", "dashboard", "table", "page", "page", "compact"),
        (),
        "Does it help most to work through %s as one list?",
        "For %r at a desk, with much to get through. The day opens on counts and what is late; %s stand in one table to "
        "search, sort and filter, and %o are a click away in the side bar.",
        "Dense tables want a wide screen, and how the work flows from one step to the next stays in the background.",
    ),
    "b": _Variant(
        ("topbar", "board", "board", "panel", "dialog", "comfortable"),
        ("board",),
        "Does it help most to see where %s stand and to move them on?",
        "For %r when the question is what happens next. %s lie on a board in the order of their states and move along it; "
        "a record opens beside the board, so that nobody loses their place. %o support it from the top bar.",
        "A board shows fewer records at once than a table, and dates only appear on the cards.",
    ),
    "c": _Variant(
        ("sidebar", "calendar", "calendar", "panel", "dialog", "comfortable"),
        ("calendar", "timeline"),
        "Does it help most to plan %s in time?",
        "For %r who think in days and weeks. Gaps, clashes and %s to come are seen on the calendar first, what has happened "
        "on the timeline; %o hang on the dates.",
        "Whatever has no date is only found through the lists.",
    ),
    "d": _Variant(
        ("tabs", "cards", "cards", "page", "page", "roomy"),
        (),
        "Does it help most to have %s at hand on the way?",
        "For %r on a telephone, standing up, perhaps with one hand. %s are large cards, the few main places are tabs under "
        "the thumb, and every record has a page of its own with %o linked.",
        "Less fits on a screen, so comparing many records takes more scrolling.",
    ),
    "e": _Variant(
        ("topbar", "inbox", "inbox", "panel", "page", "compact"),
        ("inbox", "report"),
        "Does it help most to keep up with what is new in %s?",
        "For %r who answer, approve and keep an overview. What came in waits in an inbox and is dealt with one by one; "
        "reports on %s tell how it goes, and %o are looked up when needed.",
        "It suits those who respond; whoever plans ahead has to leave the first screen.",
    ),
    "f": _Variant(
        ("topbar", "form", "form", "page", "guided", "roomy"),
        (),
        "Does it help most to be led through one task at a time?",
        "For %r who do this seldom or in a hurry. The first screen asks for what a new record needs, a few questions a step; "
        "%s and %o come after that.",
        "Practised people are slowed down by the steps.",
    ),
}


def _sentence(plan: _Plan, text: str) -> str:
    """A variant's sentence about the brief's own records and roles."""
    lead = plan.entities[plan.lead]["plural"]
    others = [entity["plural"].lower() for n, entity in enumerate(plan.entities) if n != plan.lead][
        :DRAFT_NAMED_MAX
    ]
    roles = [f"the {role.name}" for role in plan.reading.roles][:DRAFT_NAMED_MAX]
    named = {"%s": lead.lower(), "%o": _listed(others) or "all details", "%r": _listed(roles) or "people"}
    text = re.sub("%[sor]", lambda match: named[match[0]], text)
    return re.sub("(^|[.] )([a-z])", lambda match: match[1] + match[2].upper(), text)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


# The interface's own words: overview, board, calendar, timeline, inbox, report, settings, form, open, overdue, soon, by status.
# fmt: off
_UI_NAMES = "dashboard board calendar timeline inbox report settings form open overdue next_30_days by_status".split()
_UI_WORDS = {
    "en": "Overview|% board|% calendar|% timeline|Inbox|% in numbers|Settings|New %|Open: %|Overdue: %|Next 30 days: %|% by status",
    "es": "Resumen|Tablero: %|Calendario: %|Cronología: %|Bandeja de entrada|Informe: %|Ajustes|Nuevo: %|Abiertos: %|Vencidos: %|Próximos 30 días: %|% por estado",
    "fr": "Vue d'ensemble|Tableau : %|Calendrier : %|Chronologie : %|Boîte de réception|Rapport : %|Réglages|Nouveau : %|En cours : %|En retard : %|30 prochains jours : %|% par statut",
    "de": "Übersicht|Tafel: %|Kalender: %|Verlauf: %|Eingang|Bericht: %|Einstellungen|Neu: %|Offen: %|Überfällig: %|Nächste 30 Tage: %|% nach Status",
    "pt": "Visão geral|Quadro: %|Calendário: %|Linha do tempo: %|Caixa de entrada|Relatório: %|Configurações|Novo: %|Em aberto: %|Atrasados: %|Próximos 30 dias: %|% por estado",
}
# fmt: on
_VIEW_KINDS = ("board", "calendar", "timeline", "inbox", "report")


def _screens(plan: _Plan, letter: str) -> list[dict[str, Any]]:
    """A variant's screens in the order of its menu: what it puts first, the lists, then the rest."""
    row, signals = _VARIANTS[letter], plan.reading.signals
    kinds = [*row.views, *(kind for kind in _VIEW_KINDS if kind in signals and kind not in row.views)]
    views = [view for view in (_view(plan, kind) for kind in kinds) if view]
    if letter in "ae" or "dashboard" in signals:
        views.insert(0 if letter == "a" else len(views), _dashboard(plan))
    order = [plan.lead, *(n for n in range(len(plan.entities)) if n != plan.lead)]
    list_kind = "cards" if row.axes[1] == "cards" else "list"
    records = [
        screen
        for n in order
        for screen in _record_screens(plan.entities[n], list_kind, row.axes[4] == "guided", plan.words)
    ]
    first, rest = views[: len(row.views) or 1], views[len(row.views) or 1 :]
    ending = []
    if plan.reading.settings or "settings" in signals:
        because = signals.get("settings", (next((s["because"] for s in plan.reading.settings), ""), ""))[0]
        ending = [{"id": "settings", "title": plan.words["settings"], "type": "settings", "because": because}]
    return [*first, *records, *rest, *ending]


def _variant(plan: _Plan, letter: str, seed: int, brief: str) -> dict[str, Any]:
    row = _VARIANTS[letter]
    screens = _screens(plan, letter)
    lead = plan.entities[plan.lead]["id"]
    wanted = [
        screen for screen in screens if screen["type"] == row.axes[1] and screen.get("entity", lead) == lead
    ]
    wanted += [screen for screen in screens if screen["type"] in (row.axes[1], *row.views)]
    home = [*wanted, *(screen for screen in screens if screen["type"] in ("list", "cards"))][0]
    menu = [s["id"] for s in screens if s["type"] not in ("detail", "form") and s is not home]
    axes = dict(zip(_AXIS_NAMES, row.axes))
    axes["home"] = home["type"]
    if home["type"] != row.axes[1]:
        axes["main"] = "table" if home["type"] == "list" else home["type"]
    rationale = _sentence(plan, row.rationale)
    palette = PALETTES[seed % len(PALETTES)]
    reading = plan.reading
    return {
        "blueprint": 1,
        "title": reading.title,
        "brief": brief,
        "lang": reading.lang,
        "dir": reading.direction,
        "seed": seed,
        "asOf": AS_OF_DATE,
        "variant": {
            "id": letter,
            "question": _sentence(plan, row.question)[:LABEL_MAX_CHARS],
            "rationale": rationale,
            "cost": row.cost,
            "axes": axes,
        },
        "roles": [_role(plan, n) for n in range(len(reading.roles))],
        "entities": plan.entities,
        "screens": screens,
        "navigation": [home["id"], *menu],
        "flows": _flows(plan),
        "settings": reading.settings,
        "theme": {
            "palette": palette,
            "layout": axes["navigation"],
            "density": axes["density"],
            "mode": "auto",
            "corners": "round" if letter == "d" else "soft",
        },
    }  # fmt: skip


_READING_VERBS = frozenset("see view read look browse watch monitor search find check follow".split())
_DECIDING_VERBS = frozenset(
    "approve decline accept reject validate confirm sign decide review assess triage".split()
)
_MAKING_VERBS = frozenset(
    "add create request record log submit file book plan schedule write report register enter".split()
)


def _role_ids(plan: _Plan) -> list[str]:
    ids: list[str] = []
    for role in plan.reading.roles:
        head = role.name.split(" ")[-1]
        ids.append(_identifier(head, f"role_{len(ids) + 1}", ids))
    return ids


def _role(plan: _Plan, number: int) -> dict[str, Any]:
    role = plan.reading.roles[number]
    result = {
        "id": _role_ids(plan)[number],
        "label": capitalised(role.name)[:LABEL_MAX_CHARS],
        "because": role.because,
    }
    verbs = set(role.verbs)
    if verbs and verbs <= _READING_VERBS:
        result["rights"] = []
    elif verbs and verbs <= _READING_VERBS | _DECIDING_VERBS:
        result["rights"] = ["edit"]
    return result


def _flow_steps(plan: _Plan, role: _Role | None) -> list[dict[str, Any]]:
    names = [thing.name for thing in plan.reading.things]
    place = next((names.index(name) for name in (role.things if role else ()) if name in names), plan.lead)
    entity = plan.entities[place]
    one = entity["label"].lower()
    steps = [{"screen": f"{entity['id']}_list", "hint": f"Look through: {entity['plural'].lower()}"}]
    verbs = set(role.verbs) if role else set(_MAKING_VERBS)
    if verbs & _MAKING_VERBS or not verbs & (_READING_VERBS | _DECIDING_VERBS):
        steps.append({"screen": f"{entity['id']}_form", "hint": f"Fill in a new {one}"})
    deciding = [verb for verb in (role.verbs if role else ()) if verb in _DECIDING_VERBS]
    hint = f"{capitalised(deciding[0])} the {one}" if deciding else f"Open the {one} and check it"
    return [
        {**step, "hint": step["hint"][:LABEL_MAX_CHARS]}
        for step in [*steps, {"screen": f"{entity['id']}_detail", "hint": hint}]
    ]


def _flows(plan: _Plan) -> list[dict[str, Any]]:
    """One journey a role; one in all when the brief names nobody."""
    flows = []
    for number, role in enumerate(plan.reading.roles):
        name = _role_ids(plan)[number]
        doing = (
            " ".join([*role.verbs[:1], *role.things[:1]])
            if role.verbs and role.things
            else plan.entities[plan.lead]["plural"]
        )
        label = f"{capitalised(role.name)}: {doing.lower()}"[:LABEL_MAX_CHARS]
        flows.append({"id": f"{name}_flow", "label": label, "role": name, "steps": _flow_steps(plan, role)})
    label = plan.entities[plan.lead]["plural"]
    return flows or [{"id": "first_flow", "label": label, "steps": _flow_steps(plan, None)}]


def _make_plan(reading: _Reading) -> _Plan:
    things = reading.things
    _name_things(things)
    people = set(_PARTIES.split())
    lead = max(range(len(things)), key=lambda n: (things[n].kind.name not in people, things[n].weight, -n))
    if not any(len(thing.status or thing.kind.status) >= BOARD_COLUMNS_MIN for thing in things):
        things[lead].status = ("New", "Active", "Done")
    fields = _all_fields(things, reading.currency)
    if not any(field["type"] in DATE_TYPES for each in fields.values() for field in each):
        fields[things[lead].id].append({"id": "due_on", "label": "Due on", "type": "date"})
    entities = [_entity(thing, fields[thing.id]) for thing in things]
    words = _UI_WORDS.get(reading.lang, _UI_WORDS["en"]).split("|")
    return _Plan(reading, entities, lead, dict(zip(_UI_NAMES, words)))


class Draft(NamedTuple):
    """What a brief was turned into: one blueprint a variant; `left_out` holds {"text", "reason"}; records may be stubs."""

    title: str
    slug: str
    seed: int
    blueprints: tuple[dict[str, Any], ...]
    left_out: tuple[dict[str, str], ...]
    warnings: tuple[str, ...]


def _seed_of(brief: str) -> int:
    import hashlib

    return int.from_bytes(hashlib.sha256(brief.encode("utf-8", "replace")).digest()[:4], "big") & SEED_MAX


def draft_blueprints(brief: str, *, seed: int | None, variants: int) -> Draft:
    """Blueprints for the first `variants` letters from a brief of any language: by rules, the same for the same text.

    Entities, roles and flows are equal over the variants. Never fails on a legal brief.
    """
    reading = _read_brief(brief)
    plan = _make_plan(reading)
    number = _seed_of(brief) if seed is None else seed
    slug = _ascii(reading.title).replace(" ", "-")[:DRAFT_SLUG_CHARS].strip("-") or "prototype"
    blueprints = tuple(_variant(plan, letter, number, brief) for letter in VARIANT_LETTERS[:variants])
    warnings = () if reading.roles else ("The brief names nobody who uses it; there are no roles.",)
    return Draft(reading.title, slug, number, blueprints, tuple(reading.left_out), warnings)


# ======================================================================
# §10 records: seeded fictional data, consistent across entities
# ======================================================================
# Rules: uses §01, §07-08; pure.

# ======================================================================
# §11 page: style, runtime and markup; blueprint to one self-contained page
# ======================================================================
# Rules: uses §01, §03, §07; pure. CSS, JS, words and drawings are assets: raw text at column 0, nothing filled in.
# A blueprint reaches the page through one JSON block only, in which no character can end the block; the runtime
# makes elements and text nodes, never markup. PAGE_JS_PARTS holds function declarations only: the page joins the
# parts in one wrapper, and what they share is the wrapper's `app`.

PAGE_HTML = r"""<!doctype html>
<html lang="$lang" dir="$dir" data-palette="$palette" data-layout="$layout" data-density="$density" data-corners="$corners" data-mode="$mode">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '$style_hash'; script-src '$script_hash'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Protoyard">
<meta name="robots" content="noindex">
<title>$title</title>
<style>$style</style>
</head>
<body>
<noscript><p>This prototype needs JavaScript. It runs in this page alone: no request leaves it.</p></noscript>
<script type="application/json" id="blueprint" data-digest="$digest">$data</script>
<script>$script</script>
</body>
</html>
"""

# The page around the prototypes: the variants of one, and the gallery of all. It needs no script.
SHELF_HTML = r"""<!doctype html>
<html lang="$lang" dir="$dir" data-palette="$palette" data-layout="topbar" data-density="comfortable" data-corners="soft">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '$style_hash'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Protoyard">
<meta name="robots" content="noindex">
<title>$title</title>
<style>$style</style>
</head>
<body>
<header class="shelf-bar"><p class="mark"><span class="mark-sign" aria-hidden="true"></span>Prototype · fictional data</p></header>
<main class="shelf">
$body
</main>
</body>
</html>
"""

TOKENS_CSS = r"""
/* Tokens. Every colour is a pair for light and dark; the pairs' contrast is checked by a test. */
:root, [data-palette="harbour"] {
  --bg: light-dark(#f1f6fb, #0d1114);
  --surface: light-dark(#ffffff, #161a1e);
  --sunken: light-dark(#eaf0f5, #1e2328);
  --line: light-dark(#dae0e6, #2f353a);
  --edge: light-dark(#798189, #7e878f);
  --ink: light-dark(#171f27, #e9edf1);
  --muted: light-dark(#545d66, #a6adb4);
  --accent: light-dark(#025b98, #79b7f1);
  --on-accent: light-dark(#ffffff, #051524);
  --accent-hover: light-dark(#014a7e, #97cafb);
  --accent-ink: light-dark(#025b98, #93cafe);
  --accent-soft: light-dark(#e0effe, #193045);
  --nav: light-dark(#0e273d, #040c14);
  --nav-ink: light-dark(#eef2f7, #eaeff4);
  --nav-muted: light-dark(#afc0d1, #a5b3c1);
  --nav-on: light-dark(#1f4262, #10283e);
  --nav-mark: light-dark(#93caff, #89c4fb);
}
[data-palette="moss"] {
  --bg: light-dark(#f3f7f2, #0e120e);
  --surface: light-dark(#ffffff, #171b16);
  --sunken: light-dark(#ecf1eb, #20241f);
  --line: light-dark(#dce1db, #313630);
  --edge: light-dark(#7b837a, #818980);
  --ink: light-dark(#192018, #ebeeea);
  --muted: light-dark(#575f55, #a8aea7);
  --accent: light-dark(#165f38, #87c19b);
  --on-accent: light-dark(#ffffff, #09180e);
  --accent-hover: light-dark(#014d29, #a2d1b2);
  --accent-ink: light-dark(#165f38, #a0d2b0);
  --accent-soft: light-dark(#e2f2e6, #1f3326);
  --nav: light-dark(#142b1d, #060d08);
  --nav-ink: light-dark(#eef3ef, #eaf0ec);
  --nav-muted: light-dark(#afc4b5, #a5b6aa);
  --nav-on: light-dark(#284833, #162c1e);
  --nav-mark: light-dark(#9dd3af, #97cda9);
}
[data-palette="plum"] {
  --bg: light-dark(#f8f4f9, #120f13);
  --surface: light-dark(#ffffff, #1c181c);
  --sunken: light-dark(#f2edf3, #252126);
  --line: light-dark(#e3dde4, #373238);
  --edge: light-dark(#857d86, #8b838c);
  --ink: light-dark(#221b24, #efebef);
  --muted: light-dark(#615962, #b0aab1);
  --accent: light-dark(#7a3075, #da96d4);
  --on-accent: light-dark(#ffffff, #1e0d1c);
  --accent-hover: light-dark(#671e64, #e8aee1);
  --accent-ink: light-dark(#7a3075, #eaace4);
  --accent-soft: light-dark(#fae5f7, #3c243a);
  --nav: light-dark(#f1e6ef, #0e0b0f);
  --nav-ink: light-dark(#2b1c29, #f2edf1);
  --nav-muted: light-dark(#604f5e, #b9adb7);
  --nav-on: light-dark(#fefdfe, #321f30);
  --nav-mark: light-dark(#7a3075, #d898d2);
}
[data-palette="ember"] {
  --bg: light-dark(#fcf4f0, #150f0c);
  --surface: light-dark(#ffffff, #1f1814);
  --sunken: light-dark(#f6ede9, #29211d);
  --line: light-dark(#e7ddd8, #3b322d);
  --edge: light-dark(#8b7d76, #91837c);
  --ink: light-dark(#271b14, #f2ebe8);
  --muted: light-dark(#675951, #b5aaa4);
  --accent: light-dark(#ae4022, #f69277);
  --on-accent: light-dark(#ffffff, #240b05);
  --accent-hover: light-dark(#9a2d0a, #ffac96);
  --accent-ink: light-dark(#9a2d0a, #ffac96);
  --accent-soft: light-dark(#ffe7e0, #462219);
  --nav: light-dark(#3e180e, #150704);
  --nav-ink: light-dark(#f7f0ee, #f4edeb);
  --nav-muted: light-dark(#d0b7b1, #c0aca6);
  --nav-on: light-dark(#642e1f, #3f1a10);
  --nav-mark: light-dark(#fead96, #ffa289);
}
[data-palette="slate"] {
  --bg: light-dark(#f4f6f8, #0f1113);
  --surface: light-dark(#ffffff, #18191c);
  --sunken: light-dark(#edeff2, #212326);
  --line: light-dark(#dee0e3, #323437);
  --edge: light-dark(#7d8085, #83868b);
  --ink: light-dark(#1b1e23, #ebedef);
  --muted: light-dark(#595c61, #aaacb0);
  --accent: light-dark(#262e3d, #d6def0);
  --on-accent: light-dark(#ffffff, #121418);
  --accent-hover: light-dark(#181f2e, #ecf2fe);
  --accent-ink: light-dark(#262e3d, #d7deee);
  --accent-soft: light-dark(#eaedf2, #2b2e34);
  --nav: light-dark(#e8e9ed, #0b0c0e);
  --nav-ink: light-dark(#202225, #eceef4);
  --nav-muted: light-dark(#53555a, #abb1be);
  --nav-on: light-dark(#fdfdff, #24262b);
  --nav-mark: light-dark(#262e3d, #d6deef);
}
[data-palette="sand"] {
  --bg: light-dark(#f7f0e3, #151006);
  --surface: light-dark(#fefbf5, #1e190d);
  --sunken: light-dark(#f1eadc, #282215);
  --line: light-dark(#e0d8c8, #3a3324);
  --edge: light-dark(#8a7f68, #90856e);
  --ink: light-dark(#271c03, #f1ece2);
  --muted: light-dark(#665b43, #b5ab98);
  --accent: light-dark(#035a52, #82bfb6);
  --on-accent: light-dark(#ffffff, #071715);
  --accent-hover: light-dark(#014841, #9ed0c8);
  --accent-ink: light-dark(#035a52, #9bd1c9);
  --accent-soft: light-dark(#e0f1ee, #1d3330);
  --nav: light-dark(#f1e9d7, #100b03);
  --nav-ink: light-dark(#172523, #e9f0ef);
  --nav-muted: light-dark(#4a5957, #a4b5b3);
  --nav-on: light-dark(#f9fafa, #1a2a28);
  --nav-mark: light-dark(#035a52, #85beb6);
}
:root {
  --good: light-dark(#015d2d, #a9e1b7);
  --good-soft: light-dark(#dff6e4, #1b3422);
  --warn: light-dark(#6c4302, #f4c896);
  --warn-soft: light-dark(#feecd8, #3d2912);
  --bad: light-dark(#9a2929, #febfb9);
  --bad-soft: light-dark(#feeae8, #49201d);
  --info: light-dark(#035181, #aad7fe);
  --info-soft: light-dark(#e3f1fe, #183043);
  --s2c: light-dark(#14938d, #4ab9b2);
  --s3c: light-dark(#b17000, #d8953d);
  --s4c: light-dark(#8d6cc2, #b191ea);
  --s5c: light-dark(#c95368, #f3798b);
  --s6c: light-dark(#688e3b, #8cb460);
}:root {
  color-scheme: light dark;
  --font: "Segoe UI Variable Text", "Segoe UI", -apple-system, BlinkMacSystemFont, Roboto, "Noto Sans", Ubuntu, Cantarell, "Helvetica Neue", "Noto Sans Arabic", "Noto Sans CJK JP", Arial, sans-serif;
  --head: var(--font);
  --weight: 650;
  --s1: .25rem; --s2: .5rem; --s3: .75rem; --s4: 1rem; --s5: 1.5rem; --s6: 2rem; --s7: 3rem;
  --t-xs: .75rem; --t-s: .8125rem; --t-m: .9375rem; --t-l: 1.0625rem; --t-xl: 1.25rem; --t-2xl: 1.75rem; --t-3xl: 2.125rem;
  --radius: 8px; --radius-s: 6px; --radius-l: 12px; --pill: 99px;
  --control: 2.375rem; --row: .625rem; --pad: 1.25rem; --gap: 1.25rem;
  --shadow: 0 1px 2px rgb(0 0 0 / .05);
  --lift: 0 8px 28px rgb(0 0 0 / .16), 0 1px 4px rgb(0 0 0 / .1);
}
[data-palette="sand"] { --head: ui-serif, "Iowan Old Style", Georgia, "Noto Serif", "Times New Roman", serif; --weight: 600; }
[data-palette="ember"] { --weight: 750; }
[data-corners="sharp"] { --radius: 2px; --radius-s: 2px; --radius-l: 3px; --pill: 2px; }
[data-corners="round"] { --radius: 12px; --radius-s: 10px; --radius-l: 20px; }
[data-density="compact"] { --t-m: .875rem; --t-l: 1rem; --control: 2rem; --row: .375rem; --pad: 1rem; --gap: 1rem; --t-2xl: 1.5rem; }
[data-density="roomy"] { --t-m: 1rem; --t-l: 1.125rem; --t-s: .875rem; --control: 2.75rem; --row: .9375rem; --pad: 1.5rem; --gap: 1.5rem; --t-2xl: 2rem; }
[data-mode="light"] { color-scheme: light; }
[data-mode="dark"] { color-scheme: dark; }
*, *::before, *::after { box-sizing: border-box; }
html { scroll-padding-block: 5rem 6rem; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--bg); color: var(--ink); font: 400 var(--t-m)/1.5 var(--font); overflow-wrap: anywhere; }
h1, h2, h3, p, ul, ol, dl, dd, figure, fieldset, table { margin: 0; padding: 0; }
ul, ol { list-style: none; }
fieldset { border: 0; min-width: 0; }
h1, h2, h3 { font-family: var(--head); font-weight: var(--weight); line-height: 1.25; text-wrap: balance; }
h1:focus, h2:focus, h3:focus { outline: none; }
a { color: var(--accent-ink); text-underline-offset: .2em; text-decoration-thickness: 1px; }
:focus-visible { outline: 2px solid var(--accent-ink); outline-offset: 2px; }
.sr-only { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.icon { width: 1.25em; height: 1.25em; flex: none; fill: none; stroke: currentColor; stroke-width: 1.7; stroke-linecap: round; stroke-linejoin: round; }
[dir="rtl"] .flip .icon, [dir="rtl"] .icon.flip { transform: scaleX(-1); }
@media (prefers-reduced-motion: no-preference) {
  .button, .tile, .card, .ticket, .nav-item, .event, tr { transition: background-color .15s, border-color .15s, box-shadow .15s; }
}
@media print { :root { color-scheme: light !important; } }
"""

PAGE_CSS = r"""
/* Review bar: the reviewer's tool, set apart from the product. */
.review { position: sticky; top: 0; z-index: 30; background: #16181c; color: #f2f3f5; font-size: var(--t-xs); color-scheme: dark; }
.review-row { display: flex; align-items: center; gap: var(--s2) var(--s5); padding: .3125rem var(--s4); flex-wrap: wrap; min-height: 2.5rem; }
.mark { display: flex; align-items: center; gap: var(--s2); font-weight: 600; letter-spacing: .01em; margin-inline-end: auto; }
.mark-sign { width: .625rem; height: .625rem; border-radius: 2px; background: #ffc940; transform: rotate(45deg); }
.review-controls { display: flex; align-items: center; gap: var(--s2) var(--s4); flex-wrap: wrap; }
.review .select-box span { color: #b4b9c2; }
.review select, .review .button { min-height: 1.75rem; padding-block: 0; font-size: var(--t-xs); color: #f2f3f5; background-color: #2a2d33; border: 1px solid #6d737e; border-radius: 5px; }
.review select { max-width: 11rem; padding-inline: .5rem 1.5rem; }
.review .button { padding-inline: .625rem; }
.review .button:hover:not(:disabled) { background: #3a3e46; }
.review .button.strong { background: #ffc940; border-color: #ffc940; color: #16181c; font-weight: 600; }
.review :focus-visible { outline-color: #ffc940; }
.review-toggle { display: none; }
.flow { display: flex; align-items: center; gap: var(--s2) var(--s5); flex-wrap: wrap; padding: .375rem var(--s4) .5rem; background: #22252b; }
.flow[hidden] { display: none; }
.flow-text { display: flex; gap: var(--s3); margin-inline-end: auto; font-size: var(--t-s); }
.flow-text strong { color: #ffc940; font-weight: 600; white-space: nowrap; }
.flow-steps { display: flex; gap: var(--s2); flex-wrap: wrap; }
.flow-steps a { display: grid; place-items: center; width: 1.625rem; height: 1.625rem; border-radius: 50%; border: 1px solid #8b919c; color: #f2f3f5; text-decoration: none; }
.flow-steps a.past { background: #3a3e46; }
.flow-steps a[aria-current] { background: #ffc940; border-color: #ffc940; color: #16181c; font-weight: 700; }
.flow-moves { display: flex; gap: var(--s2); }
.skip { position: fixed; top: -5rem; inset-inline-start: var(--s3); z-index: 60; padding: var(--s2) var(--s4); background: var(--surface); border-radius: var(--radius); }
.skip:focus { top: var(--s3); }

/* Controls. */
.button { display: inline-flex; align-items: center; justify-content: center; gap: .4375rem; min-height: var(--control); padding: .25rem .8125rem; border: 1px solid var(--edge); border-radius: var(--radius); background: var(--surface); color: var(--ink); font: 550 var(--t-s)/1.3 var(--font); text-decoration: none; cursor: pointer; }
.button:hover:not(:disabled) { background: var(--sunken); }
.button:disabled { opacity: .5; cursor: default; }
.button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.button.primary:hover:not(:disabled) { background: var(--accent-hover); }
.button.quiet { border-color: transparent; background: transparent; color: var(--accent-ink); }
.button.quiet:hover { background: var(--accent-soft); }
.button.icon-only { padding: 0; width: var(--control); }
.button.quiet.icon-only { color: var(--muted); width: 2rem; min-height: 2rem; }
.button.small { min-height: 1.875rem; padding-inline: .5rem; }
.button.tiny { min-height: 1.5rem; padding: 0 .25rem; font-size: var(--t-xs); justify-content: start; }
input:not([type="checkbox"], [type="radio"]), select, textarea { width: 100%; min-height: var(--control); padding: .3125rem .6875rem; border: 1px solid var(--edge); border-radius: var(--radius); background: var(--surface); color: var(--ink); font: inherit; }
textarea { padding-block: .5rem; resize: vertical; }
select { appearance: none; padding-inline-end: 2rem; background-image: linear-gradient(45deg, transparent 50%, currentColor 50%), linear-gradient(-45deg, transparent 50%, currentColor 50%); background-position: right .95rem center, right .65rem center; background-size: .3rem .3rem; background-repeat: no-repeat; text-overflow: ellipsis; }
[dir="rtl"] select { background-position: left .65rem center, left .95rem center; }
option { background: var(--surface); color: var(--ink); }
::placeholder { color: var(--muted); opacity: 1; }
input[type="checkbox"], input[type="radio"] { width: 1.125rem; height: 1.125rem; margin: 0; flex: none; accent-color: var(--accent); }
.choice { display: flex; align-items: center; gap: var(--s2); min-height: 2rem; cursor: pointer; }
.select-box { display: inline-flex; align-items: center; gap: var(--s2); font-size: var(--t-s); }
.select-box span { color: var(--muted); white-space: nowrap; }
.select-box select { width: auto; max-width: 14rem; }
.segmented { display: inline-flex; border: 1px solid var(--edge); border-radius: var(--radius); background: var(--surface); padding: 2px; }
.segmented label { position: relative; display: grid; }
.segmented input { position: absolute; opacity: 0; inset: 0; width: 100%; height: 100%; cursor: pointer; }
.segmented label span { display: grid; place-items: center; padding: 0 .75rem; min-height: calc(var(--control) - 6px); border-radius: calc(var(--radius) - 3px); font-size: var(--t-s); }
.segmented input:checked + span { background: var(--accent-soft); color: var(--accent-ink); font-weight: 600; }
.segmented input:focus-visible + span { outline: 2px solid var(--accent-ink); outline-offset: 2px; }
.menu { position: fixed; z-index: 50; min-width: 12rem; max-width: 20rem; max-height: 70vh; overflow: auto; padding: .3125rem; background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: var(--lift); }
.menu-item { display: flex; align-items: center; gap: .625rem; width: 100%; min-height: 2.25rem; padding: .25rem .625rem; border: 0; border-radius: var(--radius-s); background: none; color: var(--ink); font: inherit; font-size: var(--t-s); text-align: start; cursor: pointer; }
.menu-item .icon { color: var(--muted); }
.menu-item:hover, .menu-item:focus-visible { background: var(--accent-soft); }

/* Frame: the bar of the product and the screen. */
.frame { display: grid; min-height: calc(100vh - 2.5rem); }
.top-row { display: flex; align-items: center; gap: var(--s3); }
.brand { display: flex; align-items: center; gap: .625rem; color: inherit; text-decoration: none; font-weight: 650; font-size: var(--t-l); min-width: 0; }
.brand-name { font-family: var(--head); display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; line-height: 1.25; }
.brand-mark { display: grid; place-items: center; flex: none; width: 2rem; height: 2rem; border-radius: var(--radius-s); background: var(--accent); color: var(--on-accent); font-weight: 700; font-size: 1rem; }
.menu-toggle { display: none; margin-inline-start: auto; }
.nav-list { display: flex; gap: 2px; }
.nav-item { position: relative; display: flex; align-items: center; gap: .625rem; min-height: 2.25rem; padding: .375rem .625rem; border: 0; border-radius: var(--radius-s); color: var(--nav-muted); background: none; text-decoration: none; font: 500 var(--t-s)/1.3 var(--font); }
.nav-item:hover { color: var(--nav-ink); background: color-mix(in srgb, var(--nav-on) 60%, transparent); }
.nav-item[aria-current] { color: var(--nav-ink); background: var(--nav-on); font-weight: 600; }
.nav-count { margin-inline-start: auto; padding: 0 .4375rem; border-radius: var(--pill); background: var(--accent); color: var(--on-accent); font-size: var(--t-xs); font-weight: 600; line-height: 1.25rem; }
.who { display: flex; align-items: center; gap: .625rem; font-size: var(--t-s); }
.who-text { display: grid; line-height: 1.3; }
.who-label { font-size: var(--t-xs); color: var(--nav-muted); }
.who-name { font-weight: 600; }
main { min-width: 0; }
.screen { width: 100%; max-width: 82rem; margin-inline: auto; padding: var(--s6) clamp(1rem, 3vw, 2.5rem) var(--s7); }
.with-side { display: grid; grid-template-columns: minmax(0, 1fr) minmax(22rem, 27rem); }

/* Sidebar: a desk, everything in reach at the side. */
[data-layout="sidebar"] .frame { grid-template-columns: 15.5rem minmax(0, 1fr); }
[data-layout="sidebar"] .top { position: sticky; top: 2.5rem; height: calc(100vh - 2.5rem); display: flex; flex-direction: column; gap: var(--s5); padding: var(--s5) var(--s3) var(--s4); background: var(--nav); color: var(--nav-ink); overflow: auto; }
[data-layout="sidebar"] .top-row { padding-inline: .5rem; }
[data-layout="sidebar"] .brand-mark { background: var(--nav-mark); color: var(--nav); }
[data-layout="sidebar"] .nav-list { flex-direction: column; }
[data-layout="sidebar"] .nav-item[aria-current] .icon { color: var(--nav-mark); }
[data-layout="sidebar"] .who { margin-top: auto; padding: .75rem .5rem 0; border-top: 1px solid var(--nav-on); }

/* Top bar: wide and calm, the work in the middle. */
[data-layout="topbar"] .top { display: flex; align-items: center; gap: var(--s2) var(--s6); flex-wrap: wrap; padding: 0 clamp(1rem, 3vw, 2.5rem); background: var(--surface); border-bottom: 1px solid var(--line); min-height: 4rem; }
[data-layout="topbar"] .frame { grid-template-rows: auto 1fr; }
[data-layout="topbar"] .nav { flex: 1; align-self: stretch; }
[data-layout="topbar"] .nav-list { height: 100%; flex-wrap: wrap; }
[data-layout="topbar"] .nav-list li { display: grid; }
[data-layout="topbar"] .nav-item { color: var(--muted); border-radius: 0; padding-inline: .875rem; background: none; }
[data-layout="topbar"] .nav-item .icon { display: none; }
[data-layout="topbar"] .nav-item:hover { color: var(--ink); }
[data-layout="topbar"] .nav-item[aria-current] { color: var(--accent-ink); box-shadow: inset 0 -3px var(--accent); }
[data-layout="topbar"] .who-label { color: var(--muted); }
[data-layout="topbar"] .screen { max-width: 96rem; }
[data-layout="topbar"] h1 { font-size: var(--t-3xl); letter-spacing: -.015em; }
[data-layout="topbar"] .screen-board, [data-layout="topbar"] .screen-timeline { max-width: none; }

/* Tabs: made for a hand, a column of large things; on wide screens a rail. */
[data-layout="tabs"] .frame { grid-template-columns: 6rem minmax(0, 1fr); }
[data-layout="tabs"] .top { position: sticky; top: 2.5rem; height: calc(100vh - 2.5rem); display: flex; flex-direction: column; align-items: center; gap: var(--s5); padding: var(--s4) var(--s2); background: var(--nav); color: var(--nav-ink); overflow: auto; }
[data-layout="tabs"] .brand-mark { width: 2.75rem; height: 2.75rem; font-size: 1.25rem; background: var(--nav-mark); color: var(--nav); }
[data-layout="tabs"] .nav-list { flex-direction: column; gap: var(--s2); }
[data-layout="tabs"] .nav-item { flex-direction: column; gap: .25rem; width: 5rem; padding: .5rem .25rem; text-align: center; font-size: var(--t-xs); line-height: 1.2; }
[data-layout="tabs"] .nav-item .icon { width: 1.5rem; height: 1.5rem; }
[data-layout="tabs"] .nav-count { position: absolute; top: .25rem; inset-inline-end: .75rem; }
[data-layout="tabs"] .who { margin-top: auto; }
[data-layout="tabs"] .screen { max-width: 64rem; }
[data-layout="tabs"] h1 { font-size: var(--t-3xl); letter-spacing: -.02em; }
[data-layout="tabs"] .block, [data-layout="tabs"] .card, [data-layout="tabs"] .tile { border-color: transparent; box-shadow: 0 1px 3px rgb(0 0 0 / .1); }

/* Head of a screen. */
h1 { font-size: var(--t-2xl); letter-spacing: -.01em; }
.head { margin-bottom: var(--s5); }
.head-row { display: flex; align-items: center; gap: var(--s3) var(--s4); flex-wrap: wrap; }
.head-text { flex: 1 1 16rem; min-width: 0; }
.note { color: var(--muted); margin-top: .1875rem; }
.note-row { display: flex; align-items: center; gap: var(--s3); }
.actions { display: flex; flex-wrap: wrap; gap: var(--s2); align-items: center; }
.back { display: inline-flex; align-items: center; gap: .25rem; min-height: 1.75rem; margin-bottom: var(--s2); font-size: var(--t-s); color: var(--muted); text-decoration: none; }
.back:hover { color: var(--accent-ink); text-decoration: underline; }
.glyph { display: grid; place-items: center; flex: none; width: 2.25rem; height: 2.25rem; border-radius: var(--radius-s); font-size: 1rem; }
.glyph.large { width: 3.25rem; height: 3.25rem; font-size: 1.375rem; border-radius: var(--radius); }
.avatar { display: inline-grid; place-items: center; flex: none; width: 1.75rem; height: 1.75rem; border-radius: 50%; font-size: .6875rem; font-weight: 650; letter-spacing: .02em; }
.hue-0 { background: var(--accent-soft); color: var(--accent-ink); }
.hue-1 { background: var(--info-soft); color: var(--info); }
.hue-2 { background: var(--good-soft); color: var(--good); }
.hue-3 { background: var(--warn-soft); color: var(--warn); }
.hue-4 { background: var(--bad-soft); color: var(--bad); }
.hue-5 { background: var(--sunken); color: var(--muted); }

/* Search and filters. */
.toolbar { display: flex; flex-wrap: wrap; align-items: center; gap: var(--s2); margin-bottom: var(--s4); }
.search { position: relative; flex: 1 1 14rem; max-width: 22rem; }
.search .icon { position: absolute; inset-inline-start: .6875rem; top: calc(50% - .6em); color: var(--muted); pointer-events: none; }
.search input { padding-inline-start: 2.25rem; }
.extras { display: flex; flex-wrap: wrap; gap: var(--s2) var(--s3); margin-inline-start: auto; align-items: center; }
.filter { position: relative; }
summary { cursor: pointer; }
.filter summary { list-style: none; }
.filter summary::-webkit-details-marker { display: none; }
.filter.on summary { background: var(--accent-soft); border-color: var(--accent); color: var(--accent-ink); }
.filter-box { position: absolute; z-index: 20; top: calc(100% + 4px); inset-inline-start: 0; min-width: 12rem; max-height: 20rem; overflow: auto; padding: var(--s2) var(--s3); background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: var(--lift); }
.filter-box.to-end { inset-inline: auto 0; }
.count { display: inline-grid; place-items: center; min-width: 1.375rem; padding-inline: .375rem; border-radius: var(--pill); background: var(--sunken); color: var(--muted); font: 600 var(--t-xs)/1.375rem var(--font); }
.filter .count { background: var(--accent); color: var(--on-accent); }
.count[hidden] { display: none; }

/* Values. */
.badge { display: inline-flex; align-items: center; gap: .375rem; padding: .0625rem .5625rem; border-radius: var(--pill); font-size: var(--t-xs); font-weight: 600; line-height: 1.375rem; white-space: nowrap; max-width: 100%; overflow: hidden; text-overflow: ellipsis; background: var(--sunken); color: var(--muted); }
.badge:not(.flat)::before { content: ""; width: .4375rem; height: .4375rem; border-radius: 50%; background: currentColor; flex: none; }
.badge.good { background: var(--good-soft); color: var(--good); }
.badge.warn { background: var(--warn-soft); color: var(--warn); }
.badge.bad { background: var(--bad-soft); color: var(--bad); }
.badge.info { background: var(--info-soft); color: var(--info); }
span.none { color: var(--muted); }
.person { display: inline-flex; align-items: center; gap: var(--s2); }
.stars { display: inline-flex; color: var(--warn); }
.stars .icon { width: 1rem; height: 1rem; }
.stars .full { fill: currentColor; }
.meter { display: inline-flex; align-items: center; gap: var(--s2); font-variant-numeric: tabular-nums; }
.meter-track { width: 4.5rem; height: .375rem; border-radius: 3px; background: var(--line); overflow: hidden; }
.meter-fill { display: block; height: 100%; background: var(--accent); border-radius: inherit; }
.yesno { display: inline-flex; align-items: center; gap: .25rem; color: var(--muted); }
.yesno.yes { color: var(--good); }
.tags { display: inline-flex; flex-wrap: wrap; gap: .25rem; }
.tag { padding: 0 .5rem; border: 1px solid var(--line); border-radius: var(--radius-s); font-size: var(--t-xs); line-height: 1.375rem; }
.figure, .number, time { font-variant-numeric: tabular-nums; }
.watched { display: inline-flex; gap: var(--s2); align-items: center; flex-wrap: wrap; }
.due { display: inline-flex; align-items: center; gap: .4375rem; flex-wrap: wrap; }
.due-note { font-size: var(--t-xs); font-weight: 600; }
.late, .late .due-note { color: var(--bad); }
.near .due-note { color: var(--warn); }

/* Blocks, lists, tables. */
.block, .panel-box, .card, .tile, .form-body, .setting { background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius-l); box-shadow: var(--shadow); }
.block { padding: var(--pad); min-width: 0; }
.block-head { display: flex; align-items: center; gap: var(--s2); margin-bottom: var(--s3); min-height: 1.875rem; }
.block-head h2 { font-size: var(--t-l); }
.block-head > :last-child:not(h2, .count) { margin-inline-start: auto; }
.more-link { display: inline-flex; align-items: center; min-height: 1.75rem; font-size: var(--t-s); font-weight: 550; text-decoration: none; white-space: nowrap; }
.more-link:hover { text-decoration: underline; }
.quiet { color: var(--muted); }
.table-wrap { overflow-x: auto; }
.table { width: 100%; border-collapse: collapse; font-size: var(--t-s); }
.table th, .table td { padding: var(--row) .75rem; text-align: start; vertical-align: middle; border-bottom: 1px solid var(--line); }
.table thead th, .table thead td { padding-block: .375rem; background: var(--sunken); font-weight: 600; color: var(--muted); white-space: nowrap; }
.table tbody th { font-weight: 550; max-width: 24rem; }
.table :is(th, td):first-child { padding-inline-start: var(--pad); }
.table .number { text-align: end; white-space: nowrap; }
.table td.end { width: 3rem; text-align: end; padding-block: 0; }
.table tbody tr:last-child > * { border-bottom: 0; }
.table tbody tr.open-able:hover, .table tr.current { background: color-mix(in srgb, var(--accent-soft) 55%, transparent); cursor: pointer; }
.table tfoot > tr > * { font-weight: 650; border-block: 2px solid var(--line) 0; }
.plain :is(th, td):first-child { padding-inline-start: 0; }
.plain thead :is(th, td) { background: none; }
.panel-box { overflow: clip; }
.panel-box thead tr:first-child > :first-child { border-start-start-radius: var(--radius-l); }
.sort { display: inline-flex; align-items: center; gap: .25rem; min-height: 1.75rem; padding: 0; border: 0; background: none; color: inherit; font: inherit; cursor: pointer; border-radius: 3px; }
.sort .icon { width: .9375rem; height: .9375rem; opacity: .55; }
.sort:hover, .sort.on { color: var(--ink); }
.sort.on .icon { opacity: 1; color: var(--accent-ink); }
.row-link, .title-link { color: var(--ink); text-decoration: none; font-weight: 600; }
.row-link:hover, .title-link:hover { color: var(--accent-ink); text-decoration: underline; }
.clamp { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; }
td.clamp { display: table-cell; max-width: 20rem; }
.pager { display: flex; align-items: center; gap: var(--s2); padding: var(--s3) var(--pad); font-size: var(--t-s); color: var(--muted); flex-wrap: wrap; }
.pager > span { margin-inline-end: auto; }
.pager .button:last-child { flex-direction: row-reverse; }
[dir="rtl"] .pager .icon { transform: scaleX(-1); }
.row-cards > li + li { border-top: 1px solid var(--line); }
.row-card { padding: var(--s4); display: grid; gap: var(--s2); justify-items: start; }
.row-card-head { display: flex; justify-content: space-between; gap: var(--s2); width: 100%; align-items: start; }
.row-card .title-link, .card .title-link { font-size: var(--t-l); line-height: 1.3; min-height: 1.5rem; }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)); gap: var(--s2) var(--s4); width: 100%; font-size: var(--t-s); }
.facts dt, .fact-grid dt, .figures dt { color: var(--muted); font-size: var(--t-xs); }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 19rem), 1fr)); gap: var(--gap); }
.cards > li { display: grid; }
.card { display: flex; flex-direction: column; gap: var(--s4); padding: var(--pad); }
.card:hover { border-color: var(--edge); }
.card-head { display: flex; gap: var(--s3); align-items: center; }
.card-title { flex: 1; min-width: 0; font-size: var(--t-l); }
.card-foot { display: flex; align-items: center; justify-content: space-between; gap: var(--s2); flex-wrap: wrap; margin-top: auto; padding-top: var(--s3); border-top: 1px solid var(--line); }

/* States. */
.state { display: grid; justify-items: center; gap: var(--s3); padding: var(--s7) var(--s4); text-align: center; border: 1px dashed var(--line); border-radius: var(--radius-l); background: color-mix(in srgb, var(--surface) 60%, transparent); }
.state h2, .state h3 { font-size: var(--t-xl); }
.state p { color: var(--muted); max-width: 44ch; }
.state-art { display: grid; place-items: center; width: 4.5rem; height: 4.5rem; border-radius: 50%; background: var(--accent-soft); color: var(--accent-ink); font-size: 1.75rem; box-shadow: 0 0 0 .75rem color-mix(in srgb, var(--accent-soft) 40%, transparent); margin-block: var(--s3); }
.error .state-art { background: var(--bad-soft); color: var(--bad); box-shadow: 0 0 0 .75rem color-mix(in srgb, var(--bad-soft) 40%, transparent); }
.bones { display: grid; gap: 1px; border-radius: var(--radius-l); overflow: hidden; }
.bone { display: grid; gap: .625rem; padding: var(--pad); background: var(--surface); align-content: start; }
.bone span { height: .75rem; border-radius: 4px; background: var(--line); width: 75%; }
.bone span:first-child { height: 1rem; width: 45%; }
.bone span:last-child { width: 30%; }
.bone-1 span { width: 60%; }
.bones-cards, .bones-board, .bones-dashboard { grid-template-columns: repeat(auto-fill, minmax(min(100%, 18rem), 1fr)); gap: var(--gap); overflow: visible; }
.bones-cards .bone, .bones-board .bone, .bones-dashboard .bone { border-radius: var(--radius-l); min-height: 9rem; }
@media (prefers-reduced-motion: no-preference) {
  .bone span { animation: pulse 1.6s ease-in-out infinite alternate; }
  @keyframes pulse { from { opacity: .55; } to { opacity: 1; } }
}
.toast-place { position: fixed; z-index: 40; bottom: var(--s5); inset-inline: 0; display: grid; justify-items: center; padding-inline: var(--s4); pointer-events: none; }
.toast { display: flex; align-items: center; gap: var(--s3); padding: .4375rem .5rem .4375rem 1rem; max-width: 40rem; border-radius: var(--radius); background: #1b1d22; color: #f4f5f7; box-shadow: var(--lift); pointer-events: auto; font-size: var(--t-s); }
.toast > .icon { color: #8ddba6; }
.toast .button { color: #ffd769; background: none; border-color: transparent; min-height: 2rem; }
.toast .button:hover { background: #34373e; }
.toast .icon-only { color: #d5d8de; width: 2rem; }
.toast :focus-visible { outline-color: #ffd769; }

/* Dashboard and charts. */
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 12.5rem), 1fr)); gap: var(--gap); margin-bottom: var(--gap); }
.tile { display: grid; gap: .25rem; padding: var(--pad); height: 100%; color: inherit; text-decoration: none; align-content: start; }
a.tile:hover { border-color: var(--accent); }
.tile-label { font-size: var(--t-s); color: var(--muted); font-weight: 550; }
.tile-value { font: var(--weight) 2rem/1.2 var(--head); letter-spacing: -.02em; font-variant-numeric: tabular-nums; }
.tile-foot { display: flex; align-items: center; gap: .375rem; font-size: var(--t-xs); color: var(--muted); margin-top: var(--s1); }
.alarming .tile-value { color: var(--bad); }
.alarming { box-shadow: inset 3px 0 var(--bad), var(--shadow); }
[dir="rtl"] .alarming { box-shadow: inset -3px 0 var(--bad), var(--shadow); }
.panels { display: grid; grid-template-columns: repeat(12, minmax(0, 1fr)); gap: var(--gap); align-items: start; }
.panels > * { grid-column: span 6; height: 100%; }
.panels > .kind-list, .panels > .kind-trend { grid-column: span 7; }
.panels > .kind-donut, .panels > .kind-bars { grid-column: span 5; }
.mini-rows > li + li, .linked > li + li { border-top: 1px solid var(--line); }
.mini-row { display: flex; align-items: center; gap: var(--s2) var(--s3); padding-block: .5625rem; flex-wrap: wrap; font-size: var(--t-s); }
.mini-text { display: grid; flex: 1 1 10rem; min-width: 0; line-height: 1.35; }
.mini-row > .title-link { flex: 1 1 10rem; }
.mini-sub { color: var(--muted); font-size: var(--t-xs); }
.mini-facts { display: flex; align-items: center; gap: var(--s3); flex-wrap: wrap; }
.all-clear { display: flex; align-items: center; gap: var(--s2); color: var(--good); padding-block: var(--s3); }
.bars { display: grid; gap: .5625rem; font-size: var(--t-s); }
.bar-row { display: grid; grid-template-columns: minmax(5rem, 9rem) 1fr minmax(2.5rem, auto); gap: var(--s3); align-items: center; }
.bar-label { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.bar-track { background: var(--sunken); border-radius: var(--radius-s); height: 1.125rem; overflow: hidden; }
.bar { display: block; height: 100%; min-width: 2px; background: var(--accent); border-radius: var(--radius-s); }
.bar.tone-good { background: var(--good); }
.bar.tone-warn { background: var(--s3c); }
.bar.tone-bad { background: var(--bad); }
.bar.tone-info { background: var(--accent); }
.bar.tone-none { background: var(--edge); }
.bar-value { text-align: end; font-variant-numeric: tabular-nums; font-weight: 600; }
.twin { margin-top: var(--s3); font-size: var(--t-s); }
.twin summary { color: var(--muted); min-height: 1.5rem; width: fit-content; }
.donut { display: flex; align-items: center; gap: var(--s5); flex-wrap: wrap; }
.donut-ring { position: relative; flex: 0 0 9.5rem; }
.donut-ring svg { display: block; }
.ring, .ring-bed { fill: none; stroke-width: 4.5; }
.ring-bed { stroke: var(--sunken); }
.donut-total { position: absolute; inset: 0; display: grid; place-content: center; text-align: center; line-height: 1.2; }
.donut-total strong { font-size: 1.375rem; font-family: var(--head); }
.donut-total span { font-size: var(--t-xs); color: var(--muted); }
.legend { flex: 1 1 11rem; display: grid; gap: .375rem; font-size: var(--t-s); }
.legend li { display: flex; align-items: center; gap: var(--s2); }
.legend-text { flex: 1; }
.legend-share { color: var(--muted); min-width: 2.5rem; text-align: end; }
.swatch { width: .75rem; height: .75rem; border-radius: 3px; background: currentColor; flex: none; }
.ring.s1 { stroke: var(--accent); } .ring.s2 { stroke: var(--s2c); } .ring.s3 { stroke: var(--s3c); } .ring.s4 { stroke: var(--s4c); } .ring.s5 { stroke: var(--s5c); } .ring.s6 { stroke: var(--s6c); }
.swatch.s1 { color: var(--accent); } .swatch.s2 { color: var(--s2c); } .swatch.s3 { color: var(--s3c); } .swatch.s4 { color: var(--s4c); } .swatch.s5 { color: var(--s5c); } .swatch.s6 { color: var(--s6c); }
.line { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: var(--s2); font-size: var(--t-xs); color: var(--muted); }
.line svg { width: 100%; height: 11.25rem; }
.line-y { display: flex; flex-direction: column; justify-content: space-between; text-align: end; }
.line-x { grid-column: 2; display: flex; justify-content: space-between; }
[dir="rtl"] .line svg { transform: scaleX(-1); }
.line .grid { stroke: var(--line); vector-effect: non-scaling-stroke; }
.line .stroke { fill: none; stroke: var(--accent); stroke-width: 2.5; vector-effect: non-scaling-stroke; stroke-linejoin: round; }
.line .area { fill: var(--accent); opacity: .12; }
.report { display: grid; gap: var(--gap); }
.figures { display: flex; flex-wrap: wrap; gap: var(--s4) var(--s7); }
.figures dd { font: var(--weight) var(--t-xl)/1.3 var(--head); font-variant-numeric: tabular-nums; }

/* Board. */
.board { display: grid; grid-template-columns: repeat(var(--columns), minmax(14rem, 1fr)); gap: var(--s3); overflow-x: auto; padding-bottom: var(--s3); align-items: start; }
.column { background: var(--sunken); border-radius: var(--radius-l); padding: var(--s3); min-height: 12rem; min-width: 0; border: 2px solid transparent; }
.column.over, .day.over, .week-day.over { border-color: var(--accent); background: var(--accent-soft); }
.column-head { display: flex; align-items: center; gap: var(--s2); font: 600 var(--t-s)/1.4 var(--font); padding: .125rem .25rem var(--s3); }
.column-head .count { margin-inline-start: auto; background: var(--surface); }
.pip { width: .5625rem; height: .5625rem; border-radius: 50%; background: var(--edge); flex: none; }
.pip.good { background: var(--good); } .pip.warn { background: var(--warn); } .pip.bad { background: var(--bad); } .pip.info { background: var(--info); }
.stack { display: grid; gap: var(--s2); }
.ticket { display: grid; gap: var(--s2); padding: var(--s3); background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: var(--shadow); font-size: var(--t-s); }
.ticket[draggable] { cursor: grab; }
.ticket:hover { border-color: var(--edge); }
.ticket.dragged { opacity: .5; }
.ticket-head { display: flex; gap: var(--s1); justify-content: space-between; align-items: start; }
.ticket-head .title-link { min-height: 1.5rem; line-height: 1.35; padding-top: .125rem; }
.ticket-head .button.quiet.icon-only { width: 1.625rem; min-height: 1.625rem; }
.ticket-facts { display: flex; flex-wrap: wrap; gap: .25rem var(--s3); color: var(--muted); }
.ticket-foot { display: flex; align-items: center; justify-content: space-between; gap: var(--s2); color: var(--muted); font-size: var(--t-xs); }
.ticket-foot .late { color: var(--bad); }
.column-empty { color: var(--muted); font-size: var(--t-s); padding: var(--s3) var(--s1); text-align: center; }
.column-tabs { display: flex; flex-wrap: wrap; gap: var(--s2); margin-bottom: var(--s3); }
.chip { display: inline-flex; align-items: center; gap: var(--s2); min-height: 2.25rem; padding: .25rem .75rem; border: 1px solid var(--edge); border-radius: var(--pill); background: var(--surface); color: var(--ink); font: 550 var(--t-s)/1.2 var(--font); cursor: pointer; }
.chip[aria-pressed="true"] { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }

/* Calendar and timeline. */
.calendar-bar { display: flex; align-items: center; justify-content: space-between; gap: var(--s3); margin-bottom: var(--s3); flex-wrap: wrap; }
.calendar-bar h2 { font-size: var(--t-xl); }
.month { width: 100%; table-layout: fixed; border-collapse: separate; border-spacing: 0; background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius-l); overflow: hidden; }
.month th { padding: var(--s2); font-size: var(--t-xs); font-weight: 600; color: var(--muted); text-align: start; background: var(--sunken); }
.day { height: 7.25rem; padding: .25rem; vertical-align: top; border: 2px solid transparent; box-shadow: inset 0 1px var(--line), inset 1px 0 var(--line); }
.day.outside { background: var(--bg); }
.day-head { display: flex; justify-content: space-between; align-items: center; min-height: 1.625rem; }
.day-number { display: grid; place-items: center; min-width: 1.5rem; height: 1.5rem; font-size: var(--t-xs); border-radius: 50%; }
.outside .day-number { color: var(--muted); }
.is-today .day-number, .is-today .week-head strong { background: var(--accent); color: var(--on-accent); font-weight: 700; }
.day-new { display: grid; place-items: center; width: 1.5rem; height: 1.5rem; border-radius: var(--radius-s); color: var(--muted); opacity: 0; }
.day:hover .day-new, .day-new:focus { opacity: 1; }
.day-new:hover { background: var(--accent-soft); color: var(--accent-ink); }
.events { display: grid; gap: 2px; }
.event { display: flex; gap: .375rem; align-items: baseline; min-height: 1.5rem; padding: .125rem .4375rem; border-radius: 4px; font-size: var(--t-xs); line-height: 1.25rem; color: var(--muted); background: var(--sunken); border-inline-start: 3px solid currentColor; text-decoration: none; overflow: hidden; white-space: nowrap; }
.event.good { color: var(--good); background: var(--good-soft); } .event.warn { color: var(--warn); background: var(--warn-soft); }
.event.bad { color: var(--bad); background: var(--bad-soft); } .event.info { color: var(--info); background: var(--info-soft); }
a.event:hover { text-decoration: underline; }
.event-time { font-weight: 650; flex: none; }
.event-title { overflow: hidden; text-overflow: ellipsis; color: var(--ink); }
.week { display: grid; grid-template-columns: repeat(7, minmax(0, 1fr)); background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius-l); overflow: hidden; }
.week-day { padding: var(--s2); min-height: 26rem; border: 2px solid transparent; box-shadow: inset 1px 0 var(--line); }
.week-head { display: flex; align-items: center; gap: var(--s2); padding-bottom: var(--s3); font-size: var(--t-s); color: var(--muted); font-weight: 500; font-family: var(--font); }
.week-head strong { display: grid; place-items: center; min-width: 1.75rem; height: 1.75rem; border-radius: 50%; color: var(--ink); }
.tall { gap: var(--s2); }
.tall .event { flex-direction: column; gap: .125rem; padding: .375rem .5rem; white-space: normal; }
.event-who { color: var(--muted); }
.agenda { display: grid; gap: var(--s5); }
.agenda-head { display: flex; gap: var(--s3); align-items: center; font-size: var(--t-m); margin-bottom: var(--s2); }
.agenda-rows, .story-rows, .spans { background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius-l); overflow: hidden; }
.agenda-row { display: flex; align-items: center; gap: var(--s2) var(--s4); padding: .625rem var(--s4); flex-wrap: wrap; }
.agenda-row + .agenda-row, .story-row + .story-row { border-top: 1px solid var(--line); }
.agenda-time { flex: 0 0 5rem; font-variant-numeric: tabular-nums; color: var(--muted); font-size: var(--t-s); }
.agenda-text { flex: 1 1 12rem; min-width: 0; }
.agenda-facts { display: flex; flex-wrap: wrap; gap: 0 var(--s4); color: var(--muted); font-size: var(--t-s); }
.span-row { display: grid; grid-template-columns: 15rem 1fr; align-items: center; }
.span-rows > li { border-top: 1px solid var(--line); }
.span-name { padding: .4375rem var(--s4); font-size: var(--t-s); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.span-top { background: var(--sunken); color: var(--muted); font-weight: 600; }
.span-scale, .span-track { position: relative; height: 2.25rem; overflow: hidden; background-image: linear-gradient(to right, var(--line) 1px, transparent 1px); background-size: calc(100% / var(--weeks)) 100%; }
.span-scale span { position: absolute; top: .5rem; padding-inline-start: .375rem; font-size: var(--t-xs); font-weight: 500; white-space: nowrap; }
.span-bar { position: absolute; inset-block: .5rem; border-radius: var(--radius-s); background: var(--edge); min-width: .5rem; }
.span-bar.good { background: var(--good); } .span-bar.warn { background: var(--s3c); } .span-bar.bad { background: var(--bad); } .span-bar.info { background: var(--accent); }
.span-today { position: absolute; inset-block: 0; width: 2px; background: var(--bad); z-index: 1; }
.story { display: grid; gap: var(--s5); }
.story-month { font-size: var(--t-l); margin-bottom: var(--s2); }
.story-row { display: flex; gap: var(--s2) var(--s4); align-items: baseline; padding: var(--s3) var(--s4); flex-wrap: wrap; }
.story-time { flex: 0 0 7.5rem; color: var(--muted); font-size: var(--t-s); }
.story-text { flex: 1 1 14rem; min-width: 0; font-size: var(--t-s); }
.story-text p { color: var(--muted); }

/* Inbox. */
.inbox { display: grid; grid-template-columns: minmax(17rem, 24rem) minmax(0, 1fr); background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius-l); overflow: hidden; min-height: 32rem; }
.inbox-list { border-inline-end: 1px solid var(--line); max-height: calc(100vh - 15rem); min-height: 32rem; overflow: auto; }
.inbox-list li + li { border-top: 1px solid var(--line); }
.inbox-row { display: grid; gap: .125rem; justify-items: start; padding: .75rem var(--s4); color: var(--ink); text-decoration: none; font-size: var(--t-s); outline-offset: -3px; }
.inbox-row:hover { background: var(--sunken); }
.inbox-row[aria-current] { background: var(--accent-soft); box-shadow: inset 3px 0 var(--accent); }
.inbox-top { display: flex; justify-content: space-between; gap: var(--s3); width: 100%; color: var(--muted); font-size: var(--t-xs); }
.inbox-who { display: flex; align-items: center; gap: .4375rem; }
.dot { width: .5rem; height: .5rem; border-radius: 50%; background: var(--accent); }
.inbox-subject { font-weight: 500; }
.unread .inbox-subject, .unread .inbox-who { font-weight: 700; color: var(--ink); }
.inbox-snippet { color: var(--muted); width: 100%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; margin-bottom: .1875rem; }
.inbox-none { display: grid; place-content: center; justify-items: center; gap: var(--s3); color: var(--muted); font-size: var(--t-m); }
.inbox-none .icon { font-size: 2.25rem; }
.reader { display: grid; gap: var(--s4); align-content: start; padding: var(--s5); }
.reader-head { display: flex; justify-content: space-between; gap: var(--s3); align-items: start; }
.reader h2 { font-size: var(--t-xl); }
.reader-body { max-width: 68ch; white-space: pre-line; }
.reader .facts { padding-block: var(--s4); border-block: 1px solid var(--line); }
.reader-back { display: none; }

/* One record. */
.detail { display: grid; grid-template-columns: minmax(0, 1fr) 20rem; gap: var(--gap); align-items: start; }
.detail-main, .detail-side { display: grid; gap: var(--gap); min-width: 0; }
.fact-grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 13rem), 1fr)); gap: var(--s4) var(--s5); }
.fact-grid dd { margin-top: .125rem; }
.prose { max-width: 68ch; white-space: pre-line; }
.track { display: flex; gap: 2px; }
.track li { flex: 1; display: flex; align-items: center; justify-content: center; gap: .375rem; min-width: 0; padding: .5rem .5rem; background: var(--sunken); color: var(--muted); font-size: var(--t-xs); font-weight: 600; text-align: center; line-height: 1.25; }
.track li:first-child { border-start-start-radius: var(--radius); border-end-start-radius: var(--radius); }
.track li:last-child { border-start-end-radius: var(--radius); border-end-end-radius: var(--radius); }
.track .past { background: var(--accent-soft); color: var(--accent-ink); }
.track .now { background: var(--accent); color: var(--on-accent); }
.linked li { display: flex; align-items: center; gap: var(--s3); padding-block: .5rem; }
.linked-text { display: grid; min-width: 0; font-size: var(--t-s); }
.linked-label { color: var(--muted); font-size: var(--t-xs); }
.date-line li { position: relative; display: grid; padding: 0 0 var(--s3) 1.375rem; padding-inline: 1.375rem 0; font-size: var(--t-s); line-height: 1.4; }
.date-line li::before { content: ""; position: absolute; inset-inline-start: .1875rem; top: .3125rem; width: .6875rem; height: .6875rem; border-radius: 50%; border: 2px solid var(--edge); background: var(--surface); }
.date-line .past::before { background: var(--accent); border-color: var(--accent); }
.date-line li:not(:last-child)::after { content: ""; position: absolute; inset-inline-start: .4375rem; inset-block: 1.125rem -.125rem; width: 2px; background: var(--line); }
.date-label, .date-far { color: var(--muted); font-size: var(--t-xs); }
.date-value { font-weight: 550; }
.log { display: grid; gap: var(--s2); font-size: var(--t-s); }
.side { position: sticky; top: 2.5rem; height: calc(100vh - 2.5rem); overflow: auto; background: var(--surface); border-inline-start: 1px solid var(--line); box-shadow: -8px 0 24px rgb(0 0 0 / .06); }
.quick { display: grid; gap: var(--s4); padding: var(--s4) var(--s5) var(--s6); }
.quick-bar { display: flex; align-items: center; gap: var(--s1); min-height: 2rem; }
.quick-bar > :first-child { margin-inline-end: auto; }
.quick-kind { display: flex; gap: var(--s2); align-items: center; color: var(--muted); font-size: var(--t-s); }
.quick h2 { font-size: var(--t-xl); }
.quick .block { border: 0; padding: var(--s4) 0 0; border-top: 1px solid var(--line); border-radius: 0; box-shadow: none; background: none; }
.quick .block-head h2 { font-size: var(--t-m); }
.quick .fact-grid { grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); }
.quick .track { flex-wrap: wrap; }
.dialog { width: min(46rem, 100vw - 2rem); max-height: calc(100vh - 4rem); padding: 0; border: 1px solid var(--line); border-radius: var(--radius-l); background: var(--surface); color: var(--ink); box-shadow: var(--lift); overflow: auto; }
.dialog::backdrop { background: rgb(10 12 16 / .5); }
.dialog .form-body { border: 0; padding: 0; box-shadow: none; }

/* Forms. */
.form { display: grid; gap: var(--s4); max-width: 46rem; }
.form-body { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: var(--s5); padding: var(--s5); }
.form-body > h2, .form-body > h3, .form-body > .wide, .review-list { grid-column: 1 / -1; }
.form-body > h2, .form-body > h3 { font-size: var(--t-xl); }
.field { display: grid; gap: .3125rem; align-content: start; min-width: 0; }
.label { font-weight: 600; font-size: var(--t-s); }
.required { color: var(--bad); }
.hint { color: var(--muted); font-size: var(--t-xs); }
.field-error { display: flex; gap: .375rem; align-items: center; color: var(--bad); font-size: var(--t-s); font-weight: 550; }
.wrong input, .wrong select, .wrong textarea { border-color: var(--bad); box-shadow: 0 0 0 1px var(--bad); }
.with-unit { position: relative; display: block; }
.with-unit input { padding-inline-end: 4.5rem; }
.unit { position: absolute; inset-inline-end: .75rem; inset-block: 0; display: grid; place-items: center; color: var(--muted); font-size: var(--t-s); pointer-events: none; max-width: 3.75rem; overflow: hidden; }
.radio-row { display: flex; flex-wrap: wrap; gap: var(--s2); margin-top: .3125rem; }
.pill { padding: 0 .75rem; border: 1px solid var(--edge); border-radius: var(--pill); min-height: var(--control); }
.pill:has(:checked) { background: var(--accent-soft); border-color: var(--accent); }
.form-foot { display: flex; gap: var(--s2); align-items: center; flex-wrap: wrap; }
.error-summary { padding: var(--s4) var(--s5); border: 2px solid var(--bad); border-radius: var(--radius); background: var(--bad-soft); }
.error-summary h2 { display: flex; gap: var(--s2); align-items: center; font-size: var(--t-l); color: var(--bad); margin-bottom: var(--s2); }
.error-summary li { min-height: 1.75rem; }
.error-summary a { color: var(--bad); font-weight: 550; display: inline-block; padding-block: .125rem; }
.steps { display: flex; flex-wrap: wrap; gap: var(--s2) var(--s5); font-size: var(--t-s); color: var(--muted); }
.steps li { display: flex; align-items: center; gap: var(--s2); }
.steps .track-mark { display: grid; place-items: center; width: 1.625rem; height: 1.625rem; border-radius: 50%; border: 1px solid var(--edge); font-size: var(--t-xs); font-weight: 650; }
.steps .past .track-mark { background: var(--accent-soft); color: var(--accent-ink); border-color: var(--accent); }
.steps .now { color: var(--ink); font-weight: 600; }
.steps .now .track-mark { background: var(--accent); color: var(--on-accent); border-color: var(--accent); }
.review-list > div { display: grid; grid-template-columns: 12rem 1fr auto; gap: var(--s2) var(--s4); align-items: center; padding-block: var(--s2); border-bottom: 1px solid var(--line); }
.review-list dt { color: var(--muted); font-size: var(--t-s); }
.settings { display: grid; gap: var(--s3); max-width: 52rem; }
.setting { display: grid; grid-template-columns: 1fr minmax(7rem, 14rem); gap: var(--s3) var(--s5); align-items: center; padding: var(--s4) var(--pad); }
.setting label { font-weight: 600; }
.setting .hint { display: flex; flex-wrap: wrap; gap: var(--s1) var(--s3); align-items: center; }
.from-brief { font-style: italic; }
input.switch { appearance: none; width: 2.75rem; height: 1.625rem; border-radius: 99px; background: var(--edge); position: relative; cursor: pointer; justify-self: end; }
input.switch::after { content: ""; position: absolute; top: .1875rem; inset-inline-start: .1875rem; width: 1.25rem; height: 1.25rem; border-radius: 50%; background: var(--surface); }
input.switch:checked { background: var(--accent); }
input.switch:checked::after { inset-inline-start: 1.3125rem; }

/* Narrow screens. */
@media (max-width: 64rem) {
  .detail, .panels { grid-template-columns: minmax(0, 1fr); }
  .panels > *, .panels > .kind-list, .panels > .kind-trend, .panels > .kind-donut, .panels > .kind-bars { grid-column: auto; }
  .with-side { grid-template-columns: minmax(0, 1fr) minmax(18rem, 22rem); }
}
@media (max-width: 62rem) {
  .review-toggle { display: inline-flex; }
  .review:not(.open) .review-controls { display: none; }
  .review-controls { width: 100%; padding-bottom: var(--s2); }
}
@media (max-width: 45rem) {
  .screen { padding-block: var(--s4) 6rem; }
  h1, [data-layout] h1 { font-size: 1.625rem; }
  [data-layout] .frame { grid-template-columns: minmax(0, 1fr); grid-template-rows: auto 1fr; }
  [data-layout="sidebar"] .top, [data-layout="topbar"] .top { position: static; height: auto; display: block; padding: var(--s2) var(--s4); min-height: 0; }
  .top-row { width: 100%; min-height: 2.75rem; }
  .menu-toggle { display: inline-flex; }
  [data-layout="sidebar"] .menu-toggle { color: var(--nav-ink); }
  html:not(.nav-open) .nav, html:not(.nav-open) .who { display: none; }
  [data-layout] .nav-list { flex-direction: column; padding-block: var(--s2); }
  [data-layout="topbar"] .nav-item { border-radius: var(--radius-s); padding-inline: .625rem; }
  [data-layout="topbar"] .nav-item .icon { display: block; }
  [data-layout="topbar"] .nav-item[aria-current] { box-shadow: none; background: var(--accent-soft); }
  [data-layout="tabs"] .top { position: static; height: auto; display: block; padding: var(--s2) var(--s4); background: transparent; color: var(--ink); overflow: visible; }
  [data-layout="tabs"] .menu-toggle { display: none; }
  [data-layout="tabs"] .brand-mark { width: 2rem; height: 2rem; background: var(--accent); color: var(--on-accent); }
  [data-layout="tabs"] .nav { display: block; position: fixed; z-index: 25; bottom: 0; inset-inline: 0; background: var(--surface); border-top: 1px solid var(--line); padding-bottom: env(safe-area-inset-bottom); }
  [data-layout="tabs"] .nav-list { flex-direction: row; gap: 0; padding: .25rem; }
  [data-layout="tabs"] .nav-list li { flex: 1; min-width: 0; display: grid; }
  [data-layout="tabs"] .nav-item { width: 100%; color: var(--muted); padding: .3125rem 0; font-size: .6875rem; }
  [data-layout="tabs"] .nav-text { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; max-width: 100%; }
  [data-layout="tabs"] .nav-item[aria-current], [data-layout="tabs"] .nav-more.on { color: var(--accent-ink); background: var(--accent-soft); }
  [data-layout="tabs"] .create { position: fixed; z-index: 24; bottom: 5rem; inset-inline-end: var(--s4); min-height: 3.25rem; padding-inline: 1.125rem; border-radius: 99px; box-shadow: var(--lift); }
  [data-layout="tabs"] .toast-place { bottom: 5rem; }
  .head { margin-bottom: var(--s4); }
  .extras { margin-inline-start: 0; }
  .search { max-width: none; flex-basis: 100%; }
  .form-body, .setting { grid-template-columns: minmax(0, 1fr); }
  .form-body { padding: var(--s4); }
  .review-list > div { grid-template-columns: 1fr auto; }
  .review-list dt { grid-column: 1 / -1; }
  .inbox { grid-template-columns: minmax(0, 1fr); min-height: 0; }
  .inbox-list { max-height: none; border: 0; }
  .inbox-none, .reading .inbox-list { display: none; }
  .reader { padding: var(--s4); }
  .reader-back { display: inline-flex; }
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: var(--s3); }
  .tile { padding: var(--s3) var(--s4); }
  .track { flex-wrap: wrap; }
  .track li { flex-basis: 30%; }
  .steps li:not(.now) .track-text { display: none; }
  .steps { gap: var(--s2); }
  .story-time { flex-basis: auto; }
  .dialog { width: 100vw; max-width: none; max-height: 100vh; height: 100%; margin: auto 0 0; border-radius: 0; }
  .segmented { flex-wrap: wrap; }
  .bar-row { grid-template-columns: minmax(4rem, 7rem) 1fr minmax(2.5rem, auto); gap: var(--s2); }
}
@media (max-width: 22rem) { .tiles { grid-template-columns: minmax(0, 1fr); } }
@media (forced-colors: active) {
  .badge, .event, .tile, .card, .ticket, .nav-item[aria-current], .chip[aria-pressed="true"] { border: 1px solid; }
  .bar, .meter-fill, .span-bar, .dot, .pip, .swatch { forced-color-adjust: none; }
}
@media print {
  .review { position: static; background: none; color: #000; border-bottom: 1px solid #000; }
  .review-controls, .review-toggle, .flow, .top, .toolbar, .actions, .toast-place, .skip, .back, .pager, .button, .end { display: none !important; }
  .frame, .detail, .with-side { display: block !important; }
  .mark { position: fixed; top: 0; inset-inline-end: 0; background: #fff; color: #000; padding: .25rem .5rem; border: 1px solid #000; }
  .screen { padding: 1rem 0; max-width: none; }
  .block, .card, .ticket, tr { break-inside: avoid; margin-bottom: var(--s3); }
}
"""

SHELF_CSS = r"""
/* The pages around prototypes: variants side by side, and the gallery. */
.shelf-bar { position: sticky; top: 0; z-index: 3; padding: .5rem clamp(1rem, 4vw, 3rem); background: #16181c; color: #f2f3f5; font-size: var(--t-xs); }
.mark { display: flex; align-items: center; gap: .5rem; font-weight: 600; min-height: 1.5rem; }
.mark-sign { width: .625rem; height: .625rem; border-radius: 2px; background: #ffc940; transform: rotate(45deg); }
.shelf { max-width: 90rem; margin-inline: auto; padding: var(--s7) clamp(1rem, 4vw, 3rem); }
.eyebrow { color: var(--accent-ink); font-size: var(--t-s); font-weight: 650; }
h1 { font-size: clamp(1.75rem, 4vw, 2.75rem); letter-spacing: -.02em; margin-block: .25rem .75rem; }
.brief { max-width: 70ch; color: var(--muted); font-size: var(--t-l); }
.answers { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 24rem), 1fr)); gap: 2rem; margin-top: var(--s7); }
.answers > li { display: grid; }
.answer { display: flex; flex-direction: column; gap: 1rem; padding: 1.25rem; background: var(--surface); border: 1px solid var(--line); border-radius: 14px; position: relative; }
.answer:hover { border-color: var(--accent); box-shadow: var(--lift); }
.answer h2 { font-size: 1.25rem; line-height: 1.3; }
.answer h2 a { color: var(--ink); text-decoration: none; }
.answer h2 a::after { content: ""; position: absolute; inset: 0; border-radius: 14px; }
.answer:hover h2 a { text-decoration: underline; text-decoration-color: var(--accent); }
.answer h2 a:focus-visible { outline: none; }
.answer h2 a:focus-visible::after { outline: 2px solid var(--accent-ink); outline-offset: 2px; }
.letter { color: var(--accent-ink); font-size: var(--t-s); font-weight: 650; }
.why, .cost { color: var(--muted); font-size: var(--t-s); }
.cost b { color: var(--ink); font-weight: 600; }
.axes { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: .75rem 1rem; margin-top: auto; padding-top: 1rem; border-top: 1px solid var(--line); font-size: var(--t-s); }
.axes dt { color: var(--muted); font-size: var(--t-xs); }
.axes dd { font-weight: 550; }
.letters { display: flex; gap: .5rem; margin-top: auto; position: relative; z-index: 1; }
.letters a { display: grid; place-items: center; min-width: 2rem; min-height: 2rem; border: 1px solid var(--edge); border-radius: 8px; text-decoration: none; font-weight: 600; font-size: var(--t-s); }
.letters a:hover { background: var(--accent-soft); }
.clip { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; }
.home { display: inline-block; padding-block: .25rem; font-size: var(--t-s); }
/* A sketch of a variant's first screen: b is the menu, each i a piece of content. */
.sketch { display: grid; grid-template: 1fr / 22% 1fr; height: 11rem; border-radius: 8px; overflow: hidden; background: var(--bg); border: 1px solid var(--line); }
.sketch b { background: var(--nav); }
.sketch[data-layout="topbar"] { grid-template: 18% 1fr / 1fr; }
.sketch[data-layout="topbar"] b { background: var(--surface); border-bottom: 3px solid var(--accent); }
.sketch[data-layout="tabs"] { grid-template: 1fr / 12% 1fr; }
.sketch span { display: grid; gap: 6px; padding: 14px; grid-template: repeat(6, 1fr) / 1fr; }
.sketch i { background: var(--surface); border: 1px solid var(--line); border-radius: 3px; }
.sketch i:first-child { background: var(--accent); border-color: var(--accent); width: 40%; }
.sketch[data-main="board"] span { grid-template: 12% repeat(2, 1fr) / repeat(3, 1fr); grid-auto-flow: column; }
.sketch[data-main="board"] i:first-child { grid-column: 1 / -1; }
.sketch[data-main="cards"] span { grid-template: 12% repeat(2, 1fr) / repeat(3, 1fr); }
.sketch[data-main="cards"] i:first-child { grid-column: 1 / -1; }
.sketch[data-main="calendar"] span { grid-template: 12% 1fr / repeat(5, 1fr); gap: 3px; }
.sketch[data-main="calendar"] i:first-child { grid-column: 1 / -1; }
.sketch[data-main="calendar"] i:nth-child(even) { border-top: 3px solid var(--accent); }
.sketch[data-main="timeline"] i:nth-child(2) { margin-inline: 0 50%; background: var(--accent-soft); }
.sketch[data-main="timeline"] i:nth-child(3) { margin-inline: 25% 30%; background: var(--accent-soft); }
.sketch[data-main="timeline"] i:nth-child(4) { margin-inline: 45% 15%; background: var(--accent-soft); }
.sketch[data-main="timeline"] i:nth-child(n+5) { margin-inline: 60% 5%; background: var(--accent-soft); }
.sketch[data-main="inbox"] span { grid-template: repeat(5, 1fr) / 38% 1fr; }
.sketch[data-main="inbox"] i:first-child { width: auto; grid-area: 1 / 2 / -1 / 3; background: var(--accent-soft); border-color: var(--line); }
.sketch[data-main="form"] span { grid-template: repeat(6, 1fr) / minmax(0, 60%); justify-content: center; }
.sketch[data-main="form"] i:first-child { order: 1; }
@media (prefers-reduced-motion: no-preference) { .answer { transition: box-shadow .2s, border-color .2s; } }
@media (forced-colors: active) { .sketch b { background: CanvasText; } }
@media print { .shelf-bar { position: static; background: none; color: #000; border-bottom: 1px solid; } .answer { break-inside: avoid; } }
"""

# The interface's words by language; a language that is not there gets the first.
PAGE_WORDS = r"""
{
"en": {
"mark": "Prototype \u00b7 fictional data", "review": "Review", "role": "Role", "flow": "Flow", "no_flow": "No flow", "state": "State",
"state_normal": "Normal", "state_empty": "Empty", "state_loading": "Loading", "state_error": "Error", "state_many": "Many rows",
"mode": "Colours", "mode_auto": "As the device", "mode_light": "Light", "mode_dark": "Dark", "reset": "Reset", "was_reset": "Everything is as it was at first",
"step_of": "Step {step} of {all}", "finish": "Finish", "flow_done": "The flow is finished", "skip": "Skip to content", "menu": "Menu", "more": "More", "signed_in": "Signed in as",
"yes": "Yes", "no": "No", "rating": "{value} of {most}", "no_value": "None", "gone": "Deleted record", "overdue": "Overdue", "today": "Today", "this_week": "This week", "next_30_days": "Next 30 days",
"search_in": "Search {plural}", "search_and_filter": "Search and filter", "clear_filters": "Clear search and filters", "filters_cleared": "Search and filters cleared", "count_of": "{shown} of {all}",
"new_one": "New {label}", "new_on": "New {label} on {day}", "open": "Open", "edit": "Edit", "delete": "Delete", "mark_as": "Mark as {value}", "actions_for": "Actions for {title}", "undo": "Undo", "undone": "Change undone", "dismiss": "Dismiss", "close": "Close", "open_page": "Open as a page",
"changed_to": "{field} set to {value}", "changed": "{title}: {field} is now {value}", "deleted": "{title} deleted", "saved": "{title} saved", "created": "{title} created", "log_edited": "Edited", "log_created": "Created",
"nothing_yet": "No {plural} yet", "nothing_yet_hint": "As soon as there are {plural}, they show up here.", "nothing_found": "Nothing matches", "nothing_found_hint": "Try another word, or take a filter away.",
"loading": "Loading", "error_title": "This could not be loaded", "error_text": "The connection was lost on the way. Nothing that you entered is gone.", "try_again": "Try again",
"sort_by": "Sort by", "usual_order": "Usual order", "ascending": "{label}, ascending", "descending": "{label}, descending", "sort_hint": "The buttons in the column headings sort.",
"pages": "Pages", "page_of": "{from}\u2013{to} of {all}", "previous": "Previous", "next": "Next", "show_more": "Show {count} more", "view_all": "View all {count}",
"unread": "{count} unread", "unread_mark": "unread", "choose_one": "Choose one on the list to read it", "mark_unread": "Mark as unread", "open_record": "Open record",
"column": "{name}, {count}", "column_empty": "Nothing here", "move_card": "Move {title}", "moved": "{title} moved to {value}",
"view": "View", "month": "Month", "week": "Week", "agenda": "Agenda", "earlier": "Earlier", "later": "Later", "more_events": "{count} more", "free": "Free", "all_day": "All day", "nothing_in": "Nothing in {range}", "nothing_in_hint": "Go earlier or later, or take a filter away.",
"zoom": "Zoom", "two_weeks": "Two weeks", "quarter": "Quarter",
"key_facts": "Key facts", "add": "Add", "belongs_to": "Belongs to", "dates": "Dates", "history": "History", "no_history": "No changes in this session.", "not_there": "This {label} is not there", "not_there_hint": "It may have been deleted, or the link is from other data.",
"refused": "Not for this role", "refused_hint": "{role} may not see or change this. Choose another role in the review bar.", "to_start": "To the start",
"edit_title": "Edit {title}", "required_note": "Fields marked with * are required.", "create": "Create {label}", "save": "Save {label}", "cancel": "Cancel", "continue": "Continue", "back": "Back", "check_answers": "Check and send", "progress": "Progress", "change": "Change", "change_field": "Change {field}", "choose": "Choose \u2026",
"tags_hint": "Separate with commas", "in_minutes": "In minutes", "minutes": "min", "between": "Between {low} and {high}", "at_least": "At least {low}", "at_most": "At most {high}",
"missing": "{label} is missing", "bad_email": "{label} must look like name@example.com", "bad_url": "{label} must start with https://", "bad_number": "{label} must be a number", "bad_date": "{label} must be a full date", "too_small": "{label} must be at least {low}", "too_big": "{label} must be at most {high}", "problem_title": "Please check what you entered", "not_saved": "It could not be saved", "not_saved_hint": "What you entered is still here. Try again in a moment.",
"value": "Value", "others": "Others", "as_table": "Show as table", "total": "Total", "average": "Average", "count": "Count", "share": "Share", "all_clear": "All clear", "nothing_to_draw": "Nothing to draw yet",
"number_of": "Number of {plural}", "all_time": "All time", "this_month": "This month", "past_90": "Past 90 days", "this_year": "This year", "report_note": "By {field}", "print": "Print", "group_by": "Group by", "measure": "Measure", "period": "Period", "chart": "Chart", "bars": "Bars", "over_time": "Over time", "by": "By {field}", "the_numbers": "The numbers", "csv": "Export CSV", "exported": "{name} exported",
"settings_note": "Changes are kept at once.", "no_settings": "No settings", "no_settings_hint": "The brief names no numbers or limits.", "from_brief": "From the brief: \u201c{words}\u201d", "was": "It was {value}", "marks": "Marks {records}"
}
}
"""

# Drawings on a grid of 24, stroked: first the names that a blueprint may use (ICONS), then the page's own.
PAGE_ICONS = r"""
{
"person": "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.5 20.500c.8-3.8 3.8-5.5 7.5-5.500s6.7 1.7 7.5 5.5",
"people": "M9 11.500a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM2.5 19.500c.6-3.4 3.2-5 6.5-5s5.9 1.6 6.5 5M16 4.800a3.5 3.5 0 0 1 0 6.500M18 14.900c1.9.7 3.1 2.2 3.5 4.6",
"building": "M5 21V5.500L13 3v18M13 9l6 2v10M3 21h18M8 9h2M8 13h2M8 17h2M16 14v.01M16 17v.01",
"briefcase": "M4 8h16v11H4ZM9 8V5h6v3M4 13h16M12 12v2",
"box": "M12 3l8 4.500v9L12 21l-8-4.500v-9ZM4 7.500l8 4.5 8-4.500M12 12v9",
"cart": "M3 4h2.500l2 11.500h10l2-8H6.200M9 20a1 1 0 1 0 0-2 1 1 0 0 0 0 2ZM16.5 20a1 1 0 1 0 0-2 1 1 0 0 0 0 2Z",
"card": "M3 6h18v12H3ZM3 10h18M7 14.500h4",
"coin": "M12 20.500a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM14.5 9.300c-.5-1-1.4-1.5-2.5-1.5-1.5 0-2.6.8-2.6 2 0 3 5.3 1.5 5.3 4.4 0 1.3-1.2 2.1-2.7 2.1-1.2 0-2.2-.5-2.7-1.500M12 6.300v1.500M12 16.300v1.5",
"file": "M6 3h8l4 4v14H6ZM14 3v4h4M9 12h6M9 16h6",
"folder": "M3 6h6l2 2.500h10V19H3Z",
"check": "M4.5 12.500l5 5L19.5 7",
"flag": "M6 21V4M6 4.500c4-2 7 2 12 0v9c-5 2-8-2-12 0",
"calendar": "M4 6h16v14H4ZM4 10.500h16M8.5 3.500v4M15.5 3.500v4",
"clock": "M12 20.500a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM12 7.500V12l3 2.5",
"bell": "M6 16.500V11a6 6 0 0 1 12 0v5.500l1.5 1.500h-15ZM10 20.500h4",
"chat": "M4 5h16v11h-8.500L7 20v-4H4Z",
"mail": "M3 6h18v12.500H3ZM3.5 6.500L12 13l8.5-6.5",
"phone": "M6 3.500h3l1.5 4.5-2 1.500c1 2.5 3.5 5 6 6l1.5-2 4.5 1.500v3c0 1-.8 2-2 2C10.5 20 4 13.5 4 5.500c0-1.2 1-2 2-2Z",
"map": "M12 21c4.5-4.8 6.5-8 6.5-11a6.5 6.5 0 0 0-13 0c0 3 2 6.2 6.5 11ZM12 12.500a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z",
"truck": "M2.5 6h11v10.500h-11ZM13.5 10h4l3.5 3.500v3h-7.500M7 19a1.8 1.8 0 1 0 0-3.600A1.8 1.8 0 0 0 7 19ZM17 19a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.600Z",
"car": "M3.5 16.500v-4l2-1 2-4.500h9l2 4.5 2 1v4ZM6 16.500v2M18 16.500v2M6 11.500h12M7 14v.01M17 14v.01",
"wrench": "M19.8 8.300a5 5 0 0 1-6.5 6L7.5 20 4 16.500l5.7-5.800a5 5 0 0 1 6-6.500L12.8 7.100l.6 3.5 3.5.6Z",
"gear": "M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM12 18.500a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM12 2.500v3M12 18.500v3M2.5 12h3M18.5 12h3M5.3 5.300l2.1 2.100M16.6 16.600l2.1 2.100M5.3 18.700l2.1-2.100M16.6 7.400l2.1-2.1",
"chart": "M4 20h16M7 16v-5M12 16V5M17 16V8",
"heart": "M12 20C6 15.5 3.5 12.3 3.5 9a4.3 4.3 0 0 1 8.5-1 4.3 4.3 0 0 1 8.5 1c0 3.3-2.5 6.5-8.5 11Z",
"leaf": "M5 19C4 9.5 9.5 4.5 20 5c.5 10-4.5 15-12 14M4.5 21c1-5 4-8.5 9-10.5",
"paw": "M12 12.500c2.5 0 5 3.5 5 5.5 0 1.5-1 2-2.2 2-1 0-1.7-.5-2.8-.5s-1.8.5-2.8.5c-1.2 0-2.2-.5-2.2-2 0-2 2.5-5.5 5-5.500ZM5 12.500a1.5 2 0 1 0 0-4 1.5 2 0 0 0 0 4ZM9.3 8.500a1.5 2 0 1 0 0-4 1.5 2 0 0 0 0 4ZM14.7 8.500a1.5 2 0 1 0 0-4 1.5 2 0 0 0 0 4ZM19 12.500a1.5 2 0 1 0 0-4 1.5 2 0 0 0 0 4Z",
"book": "M12 6.500C10 5 7 4.5 4 5v13.500c3-.5 6 0 8 1.5 2-1.5 5-2 8-1.500V5c-3-.5-6 0-8 1.500ZM12 6.500V20",
"cap": "M2.5 9.500L12 5l9.5 4.500L12 14ZM6.5 11.500V16c2.5 2.5 8.5 2.5 11 0v-4.500M21.5 9.500V15",
"home": "M4 11l8-7 8 7M6 9.500V20h12V9.500M10 20v-6h4v6",
"door": "M6 21V3.500h12V21M3.5 21h17M14.5 12v.5",
"star": "M12 3.500l2.6 5.4 5.9.8-4.3 4.1 1 5.900L12 16.900l-5.2 2.8 1-5.9-4.3-4.1 5.9-.8Z",
"shield": "M12 3l7.5 3v5.500c0 4.5-3 7.8-7.5 9.5-4.5-1.7-7.5-5-7.5-9.500V6ZM8.5 12l2.5 2.5 4.5-5",
"flask": "M9 3.500h6M10 3.500v6L4.5 19c-.5 1 0 1.5 1 1.500h13c1 0 1.5-.5 1-1.500L14 9.500v-6M7.5 15h9",
"food": "M4.5 3v4.500a2.5 2.5 0 0 0 5 0V3M7 3v18M17 21v-7c-2 0-3-1.5-3-5s1.5-6 3-6Z",
"ball": "M12 20.500a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM12 8.500l3.5 2.5-1.3 4H9.800L8.5 11ZM12 3.500v5M3.8 10l4.7 1M7 19l2.8-4M17 19l-2.8-4M20.2 10l-4.7 1",
"tag": "M4 4h8l8.5 8.5-8 8L4 12ZM8.5 8.500v.01",
"link": "M10 14a4 4 0 0 0 5.7 0l3.5-3.500a4 4 0 0 0-5.7-5.700l-1 1M14 10a4 4 0 0 0-5.7 0l-3.5 3.500a4 4 0 0 0 5.7 5.700l1-1",
"circle": "M12 19a7 7 0 1 0 0-14 7 7 0 0 0 0 14Z",
"blank": "M0 0",
"search": "M11 17.500a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM16 16l4.5 4.5",
"plus": "M12 5v14M5 12h14",
"close": "M6 6l12 12M18 6L6 18",
"next": "M9 5l7 7-7 7",
"previous": "M15 5l-7 7 7 7",
"down": "M6 9l6 6 6-6",
"up": "M6 15l6-6 6 6",
"sort": "M8 10l4-4 4 4M8 14l4 4 4-4",
"menu": "M4 7h16M4 12h16M4 17h16",
"more": "M5 12h.01M12 12h.01M19 12h.01",
"filter": "M4 6h16M7 12h10M10 18h4",
"edit": "M4 20l1-4.500L16 4.5 19.5 8l-11 11ZM13.5 7L17 10.5",
"trash": "M5 7h14M9 7V4.500h6V7M7 7l1 13h8l1-13M10.5 11v5.500M13.5 11v5.5",
"move": "M4 12h15M14 7l5 5-5 5",
"download": "M12 4v11M7 10.500l5 5 5-5M5 20h14",
"print": "M7 9V4h10v5M7 17H4V9h16v8h-3M7 14h10v6H7Z",
"undo": "M8 5L4 9l4 4M4 9h10a5.5 5.5 0 0 1 0 11h-4",
"alert": "M12 4l9 16H3ZM12 10v4.500M12 17v.01",
"expand": "M14 4h6v6M20 4l-7 7M10 20H4v-6M4 20l7-7",
"dashboard": "M4 4h7v9H4ZM13 4h7v5h-7ZM13 11h7v9h-7ZM4 15h7v5H4Z",
"table": "M4 5h16v14H4ZM4 10h16M4 14.500h16M9.5 10v9",
"cards": "M4 4h7v7H4ZM13 4h7v7h-7ZM4 13h7v7H4ZM13 13h7v7h-7Z",
"board": "M4 4h4.500v16H4ZM10 4h4.500v11H10ZM16 4h4.500v7H16Z",
"timeline": "M4 6h9M8 12h9M12 18h8",
"inbox": "M4 14l3-9h10l3 9v5H4ZM4 14h5l1 2.500h4l1-2.500h5",
"sliders": "M4 7h9M17 7h3M15 9.500v-5M4 17h3M11 17h9M9 19.500v-5",
"form": "M6 4h12v16H6ZM9 9h6M9 13h6M9 17h3"
}
"""

PAGE_JS_PARTS: Mapping[str, str] = {
    "dom": r"""
// Elements are made here and nowhere else: text goes in as text, handlers as listeners, styles as properties.
// `what` is a tag with classes, "p.note"; attributes may follow, then children.
function el(what, ...rest) {
  const [tag, ...classes] = what.split(".");
  const node = document.createElement(tag);
  node.classList.add(...classes);
  const first = rest[0];
  if (first && first.constructor === Object) setAttributes(node, rest.shift());
  node.append(...rest.flat(Infinity).filter((child) => child || child === 0));
  return node;
}

function setAttributes(node, attrs) {
  const properties = ["value", "checked", "disabled", "selected", "hidden", "indeterminate", "open"];
  for (const [name, value] of Object.entries(attrs)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    } else if (name === "css") {
      for (const [property, setting] of Object.entries(value)) node.style.setProperty(property, setting);
    } else if (properties.includes(name)) {
      node[name] = value;
    } else {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
}

function svg(tag, attrs, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAttributes(node, attrs);
  node.append(...children.flat(Infinity).filter(Boolean));
  return node;
}

// A drawing from the page's table; the name of one that is not there gives the circle.
function icon(name, extra) {
  const path = app.icons.get(name) || app.icons.get("circle");
  const attrs = { class: "icon " + (extra || ""), viewBox: "0 0 24 24", "aria-hidden": "true" };
  return svg("svg", { ...attrs, focusable: "false" }, svg("path", { d: path }));
}

function hiddenText(text) {
  return el("span.sr-only", text);
}

// A button: text, an icon before it, and a click. `kind`: primary, quiet, danger; an icon alone needs `label`.
function button(text, { kind, name, label, click, key, ...more } = {}) {
  const attrs = { type: "button", class: "button " + (kind || ""), "data-key": key || null, ...more };
  if (label) Object.assign(attrs, { "aria-label": label, title: label });
  if (click) attrs.on = { click };
  return el("button", attrs, name && icon(name), text && el("span", text));
}

function linkButton(text, target, { kind, name, key } = {}) {
  const attrs = { href: target, class: "button " + (kind || ""), "data-key": key || null };
  return el("a", attrs, name && icon(name), el("span", text));
}

function say(text) {
  app.live.textContent = "";
  window.setTimeout(() => { app.live.textContent = text; }, 30);
}

// A menu that opens from `opener`: arrow keys move in it, Escape and Tab close it. Items: {text, name, click, current}.
function openMenu(opener, items) {
  closeMenu();
  const rows = items.map((item) => el("button", {
    type: "button", class: "menu-item", tabindex: "-1",
    role: item.current === undefined ? "menuitem" : "menuitemradio",
    "aria-checked": item.current === undefined ? null : String(item.current),
    on: { click: () => { closeMenu(); opener.focus(); item.click(); } },
  }, icon(item.current ? "check" : item.name || "blank"), el("span", item.text)));
  const menu = el("div.menu", { role: "menu", "aria-label": opener.getAttribute("aria-label")
    || opener.textContent, on: { keydown: (event) => onMenuKey(event, rows, opener) } }, rows);
  (opener.closest("dialog") || document.body).append(menu);
  placeMenu(menu, opener);
  opener.setAttribute("aria-expanded", "true");
  app.menu = { menu, opener };
  (rows.find((row) => row.getAttribute("aria-checked") === "true") || rows[0]).focus();
}

function placeMenu(menu, opener) {
  const box = opener.getBoundingClientRect();
  const size = menu.getBoundingClientRect();
  const rtl = document.documentElement.dir === "rtl";
  const wanted = rtl ? box.left : box.right - size.width;
  const left = Math.min(Math.max(8, wanted), Math.max(8, document.documentElement.clientWidth - size.width - 8));
  const below = box.bottom + 4;
  const top = below + size.height > window.innerHeight ? Math.max(8, box.top - size.height - 4) : below;
  menu.style.setProperty("left", left + "px");
  menu.style.setProperty("top", top + "px");
}

function onMenuKey(event, rows, opener) {
  const place = rows.indexOf(document.activeElement);
  const moves = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: rows.length - 1 };
  if (event.key === "Escape" || event.key === "Tab") {
    closeMenu();
    opener.focus();
    if (event.key === "Escape") event.preventDefault();
    event.stopPropagation();
  } else if (Object.hasOwn(moves, event.key)) {
    rows[(moves[event.key] + rows.length) % rows.length].focus();
    event.preventDefault();
  }
}

function closeMenu() {
  if (!app.menu) return;
  app.menu.menu.remove();
  app.menu.opener.setAttribute("aria-expanded", "false");
  app.menu = null;
}

// A button with a menu behind it; `items` is a function, so that the menu knows the latest state.
function menuButton(text, items, options) {
  const opener = button(text, options);
  opener.setAttribute("aria-haspopup", "menu");
  opener.setAttribute("aria-expanded", "false");
  opener.addEventListener("click", (event) => {
    event.stopPropagation();
    if (app.menu && app.menu.opener === opener) closeMenu();
    else openMenu(opener, items());
  });
  return opener;
}

""",
    "format": r"""
// A word of the interface, with {names} filled in.
function t(key, values) {
  const text = app.words.get(key) || key;
  return text.replace(/\{(\w+)\}/g, (all, name) => (values && Object.hasOwn(values, name) ? values[name] : all));
}

// Intl objects are dear, so each is made once. A language tag that the browser refuses falls back to English.
function intl(kind, options) {
  const key = kind + JSON.stringify(options);
  if (!app.formats.has(key)) {
    let made;
    try {
      made = new Intl[kind](app.lang, options);
    } catch (error) {
      made = new Intl[kind]("en", options);
    }
    app.formats.set(key, made);
  }
  return app.formats.get(key);
}

function toDate(text) {
  const [day, clock] = String(text).split("T");
  const [year, month, date] = day.split("-").map(Number);
  const [hour, minute] = (clock || "0:0").split(":").map(Number);
  return new Date(Date.UTC(year, month - 1, date, hour, minute));
}

function toDay(date) {
  return date.toISOString().slice(0, 10);
}

function addDays(day, count) {
  const date = toDate(day);
  date.setUTCDate(date.getUTCDate() + count);
  return toDay(date);
}

function addMonths(day, count) {
  const date = toDate(day.slice(0, 8) + "01");
  date.setUTCMonth(date.getUTCMonth() + count);
  return toDay(date);
}

function daysBetween(from, to) {
  return Math.round((toDate(to.slice(0, 10)) - toDate(from.slice(0, 10))) / 86400000);
}

// The first day of the week, 0 = Sunday, by language; a table, because not every browser knows.
function weekStart() {
  const table = { ar: 6, fa: 6, he: 0, ja: 0, ko: 0, pt: 0, zh: 0, hi: 0, "en-US": 0, "en-CA": 0, "en-AU": 1 };
  const language = app.lang.split("-")[0];
  if (Object.hasOwn(table, app.lang)) return table[app.lang];
  return Object.hasOwn(table, language) ? table[language] : 1;
}

function startOfWeek(day) {
  const shift = (toDate(day).getUTCDay() - weekStart() + 7) % 7;
  return addDays(day, -shift);
}

function formatDate(day, options) {
  const shape = options || { day: "numeric", month: "short", year: "numeric" };
  const date = toDate(day);
  return Number.isNaN(date.getTime()) ? String(day) : intl("DateTimeFormat", { ...shape, timeZone: "UTC" }).format(date);
}

function formatDateTime(value) {
  return formatDate(value, { day: "numeric", month: "short", year: "numeric", hour: "numeric", minute: "2-digit" });
}

function formatTime(value) {
  return formatDate(value, { hour: "numeric", minute: "2-digit" });
}

// "in 3 days", "2 weeks ago", seen from the blueprint's today.
function formatDistance(day) {
  const days = daysBetween(app.today, day);
  const relative = intl("RelativeTimeFormat", { numeric: "auto" });
  if (Math.abs(days) < 14) return relative.format(days, "day");
  return Math.abs(days) < 60 ? relative.format(Math.round(days / 7), "week") : relative.format(Math.round(days / 30), "month");
}

function formatNumber(value, options) {
  return intl("NumberFormat", options || { maximumFractionDigits: 2 }).format(value);
}

function formatMoney(value, unit, options) {
  const whole = Number.isInteger(value) || (options && options.short);
  const digits = whole ? { minimumFractionDigits: 0, maximumFractionDigits: 0 } : { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  if (/^[A-Z]{3}$/.test(unit || "")) return formatNumber(value, { style: "currency", currency: unit, ...digits });
  return formatNumber(value, digits) + (unit ? "\u00a0" + unit : "");
}

function formatDuration(minutes) {
  const hours = Math.floor(minutes / 60);
  const rest = Math.round(minutes % 60);
  const unit = (value, name) => formatNumber(value, { style: "unit", unit: name, unitDisplay: "short" });
  if (!hours) return unit(rest, "minute");
  return unit(hours, "hour") + (rest ? " " + unit(rest, "minute") : "");
}

// A number of `field` as text; `short` drops the cents, for tiles and axes.
function formatFigure(value, field, short) {
  const kind = field ? field.type : "number";
  if (kind === "money") return formatMoney(value, field.unit, { short });
  if (kind === "percent") return formatNumber(value / 100, { style: "percent", maximumFractionDigits: 1 });
  if (kind === "duration") return formatDuration(value);
  const text = formatNumber(value, { maximumFractionDigits: short ? 1 : 2 });
  return field && field.unit ? text + "\u00a0" + field.unit : text;
}

// The labels are written in sentences of their own; inside a sentence most languages want them small.
function small(label) {
  if (app.lang.startsWith("de") || /^.[A-Z]/.test(label)) return label;
  return label.charAt(0).toLowerCase() + label.slice(1);
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function countOf(entity, count) {
  return formatNumber(count) + " " + small(count === 1 ? entity.label : entity.plural);
}

function initials(name) {
  const words = name.trim().split(/\s+/);
  const first = Array.from(words[0] || "?")[0];
  return (first + (words.length > 1 ? Array.from(words[words.length - 1])[0] : "")).toUpperCase();
}

// A small number that is always the same for the same text.
function hashOf(text, size) {
  let hash = 7;
  for (const letter of text) hash = (hash * 31 + letter.codePointAt(0)) % 100003;
  return hash % size;
}
""",
    "model": r"""
// Look-ups over the blueprint. Maps, never plain objects: an id may be "constructor".
function indexBlueprint(blueprint) {
  const byId = (items) => new Map(items.map((item) => [item.id, item]));
  app.blueprint = blueprint;
  app.entities = byId(blueprint.entities);
  app.fields = new Map(blueprint.entities.map((entity) => [entity.id, byId(entity.fields)]));
  app.screens = byId(blueprint.screens);
  app.roles = byId(blueprint.roles);
  app.flows = byId(blueprint.flows);
  app.today = blueprint.asOf;
}

function fieldOf(entity, id) {
  return app.fields.get(entity.id).get(id);
}

function valueOf(record, id) {
  return record && Object.hasOwn(record, id) ? record[id] : "";
}

function valueIn(record, field) {
  return valueOf(record, field.id);
}

function isEmpty(value) {
  return value === "" || value === undefined || value === null || (Array.isArray(value) && !value.length);
}

function isNumeric(field) {
  return ["number", "money", "percent", "duration", "rating"].includes(field.type);
}

function isDated(field) {
  return field.type === "date" || field.type === "datetime";
}

function firstField(entity, test) {
  return entity.fields.find(test);
}

function statusField(entity) {
  return firstField(entity, (field) => field.type === "status");
}

// The date that a record is mostly asked for: when it is due before when it began.
function leadDate(entity) {
  const wanted = /due|deadline|expire|until|renew|schedul|appoint|visit|start|when|date/;
  const dated = entity.fields.filter(isDated);
  return dated.find((field) => wanted.test(field.id)) || dated[0];
}

// What charts count by when nothing else is said.
function groupField(entity) {
  for (const kind of ["status", "choice", "ref", "boolean", "rating", "person"]) {
    const found = firstField(entity, (field) => field.type === kind);
    if (found) return found;
  }
  return entity.fields[0];
}

// The `count` fields that say most about a record beside its name and its status.
function keyFields(entity, count) {
  const rank = ["ref", "date", "datetime", "person", "money", "choice", "address", "number", "rating", "percent",
    "duration", "phone", "email", "text", "boolean", "tags", "url"];
  const shown = entity.fields.filter((field) => field.id !== entity.display && rank.includes(field.type));
  const best = shown.slice().sort((a, b) => rank.indexOf(a.type) - rank.indexOf(b.type)).slice(0, count);
  return shown.filter((field) => best.includes(field));
}

function columnsOf(screen, entity) {
  const named = (screen.columns || []).map((id) => fieldOf(entity, id)).filter(Boolean);
  if (named.length) return named;
  const status = statusField(entity);
  return [fieldOf(entity, entity.display), status, ...keyFields(entity, 5)].filter(
    (field, place, all) => field && all.indexOf(field) === place,
  );
}

// What a record is called: its display field, through references at most three deep.
function titleOf(entity, record, depth = 0) {
  const field = fieldOf(entity, entity.display);
  const value = valueOf(record, entity.display);
  if (isEmpty(value)) return entity.label + " " + record.id;
  if (field.type === "ref") {
    const target = app.entities.get(field.entity);
    const found = depth < 3 && getRecord(field.entity, value);
    return found ? titleOf(target, found, depth + 1) : String(value);
  }
  return textOf(field, value);
}

// A value as plain text.
function textOf(field, value) {
  if (isEmpty(value)) return "";
  if (field.type === "ref") {
    const found = getRecord(field.entity, value);
    return found ? titleOf(app.entities.get(field.entity), found, 1) : t("gone");
  }
  if (field.type === "boolean") return value ? t("yes") : t("no");
  if (field.type === "date") return formatDate(value);
  if (field.type === "datetime") return formatDateTime(value);
  if (field.type === "tags") return value.join(", ");
  if (field.type === "rating") return t("rating", { value, most: 5 });
  if (isNumeric(field)) return formatFigure(value, field);
  if (field.type === "status" || field.type === "choice") return capital(String(value));
  return String(value);
}

// The colour of a status: by its words where they are known, by its place in the order where not.
function toneOf(field, value) {
  const known = [
    ["bad", /overdue|reject|fail|lost|block|urgent|critical|breach|expired|missed|damag|no.show|disput|exceed|major|unsafe|high\b/],
    ["good", /done|complete|paid|approv|active|resolv|deliver|accept|won\b|available|ready|confirm|signed|cleared|passed|live|return|hired|enrol|fulfil|vetted|repaired|publish/],
    ["warn", /wait|pending|hold|risk|due|review|partial|draft|suspend|snooz|awaiting|expiring|low stock|medium|moderate|maintenance|quarantine/],
    ["info", /progress|schedul|sent|open|assign|submit|process|plan|under|transit|started|triag|contact|quali|checked|loan|shipped|book|new\b/],
    ["none", /cancel|closed|archiv|retired|void|inactive|withdrawn|low\b|normal|left|declin/],
  ];
  const word = String(value).toLowerCase();
  const found = known.find(([, pattern]) => pattern.test(word));
  if (found) return found[0];
  if (field.type !== "status") return "none";
  const place = field.values.indexOf(value);
  if (place === field.values.length - 1) return "good";
  return place > 0 ? "info" : "none";
}

// Closed records drop out of "overdue": their status is the last of its order, or one of the known closing words.
function isClosed(entity, record) {
  const field = statusField(entity);
  if (!field) return false;
  const value = valueIn(record, field);
  const words = /^(done|completed?|closed|paid|cancell?ed|resolved|rejected|returned|archived|delivered|void|won|lost|ended|retired|expired|declined|withdrawn|refunded|invoiced|left|no.show|hired|implemented|reimbursed)$/;
  return value === field.values[field.values.length - 1] || words.test(String(value).toLowerCase());
}

// Whether a date lies in one of the blueprint's named times.
function isWhen(entity, record, value, when) {
  if (isEmpty(value)) return false;
  const day = String(value).slice(0, 10);
  if (when === "overdue") return day < app.today && !isClosed(entity, record);
  if (when === "today") return day === app.today;
  if (when === "next_30_days") return day >= app.today && day <= addDays(app.today, 30);
  const monday = startOfWeek(app.today);
  return day >= monday && day < addDays(monday, 7);
}

function isLate(entity, record, field) {
  const due = /due|deadline|expire|until|respond|renew|deliver|return|back|needed/;
  return isDated(field) && due.test(field.id) && isWhen(entity, record, valueIn(record, field), "overdue");
}

// Filters are a list of {field, values} or {field, when}, in the blueprint and in the address alike.
function matchesFilter(entity, record, filter) {
  const value = valueOf(record, filter.field);
  if (filter.when) return isWhen(entity, record, value, filter.when);
  if (Array.isArray(value)) return value.some((one) => filter.values.includes(one));
  return filter.values.includes(String(value));
}

function matchesSearch(entity, record, words) {
  let text = app.haystacks.get(record);
  if (text === undefined) {
    text = entity.fields.map((field) => textOf(field, valueIn(record, field))).join(" ").toLowerCase();
    app.haystacks.set(record, text);
  }
  return words.every((word) => text.includes(word));
}

function compareBy(entity, field) {
  const collator = intl("Collator", { numeric: true, sensitivity: "base" });
  const order = (record) => {
    const value = valueIn(record, field);
    if (isEmpty(value)) return null;
    if (field.type === "status" || (field.type === "choice" && field.values)) return field.values.indexOf(value);
    if (isNumeric(field) || field.type === "boolean") return Number(value);
    return isDated(field) ? String(value) : textOf(field, value);
  };
  return (left, right) => {
    const [a, b] = [order(left), order(right)];
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    return typeof a === "number" && typeof b === "number" ? a - b : collator.compare(a, b);
  };
}

// Who is looking: the role of the address, else the first one; without roles anybody may do anything.
function currentRole() {
  return app.roles.get(param("role")) || app.blueprint.roles[0] || null;
}

function maySee(screenId) {
  const role = currentRole();
  return app.screens.has(screenId) && (!role || !role.screens || role.screens.includes(screenId));
}

function may(right) {
  const role = currentRole();
  return !role || !role.rights || role.rights.includes(right);
}

function menuScreens() {
  return app.blueprint.navigation.filter(maySee).map((id) => app.screens.get(id));
}

// The screen of a type for an entity that the role may see; those of the menu first.
function screenFor(entityId, ...types) {
  const menu = app.blueprint.navigation;
  const place = (screen) => (menu.includes(screen.id) ? 0 : 100) + types.indexOf(screen.type);
  return app.blueprint.screens
    .filter((screen) => screen.entity === entityId && types.includes(screen.type) && maySee(screen.id))
    .sort((a, b) => place(a) - place(b))[0];
}

function listScreen(entityId) {
  return screenFor(entityId, "list", "cards", "inbox", "board", "calendar", "timeline");
}

// The fields of other entities that refer to this one.
function referringFields(entityId) {
  return app.blueprint.entities.flatMap((entity) =>
    entity.fields.filter((field) => field.type === "ref" && field.entity === entityId).map((field) => ({ entity, field })));
}

// The states that a record may go to next: one step on first, then what closes it, then one step back.
function nextStates(field, value) {
  const place = field.values.indexOf(value);
  const closing = field.values.filter((one, index) => index > place + 1 && toneOf(field, one) === "none");
  const on = field.values.slice(place + 1, place + 2);
  const back = place > 0 ? [field.values[place - 1]] : [];
  return [...new Set([...on, ...closing, ...back])];
}

// A setting may be about a number of a record: "Cost limit" watches "Cost". Returns what it says about a value.
function watchOf(entity, field, value) {
  const low = /min|low|least|reorder|below|under/;
  for (const setting of app.blueprint.settings) {
    const bound = app.settings.get(setting.id);
    if (setting.type === "boolean" || typeof bound !== "number" || typeof value !== "number") continue;
    const words = setting.id.split("_");
    const same = setting.type === field.type || setting.type === "number";
    if (!same || !words.some((word) => word.length > 3 && field.id.split("_").includes(word))) continue;
    if (low.test(setting.id) ? value < bound : value > bound) return setting;
  }
  return null;
}

// How many days ahead a due date counts as near: the first setting that counts days, else three.
function warnDays() {
  const setting = app.blueprint.settings.find((one) => /day|tag|jour|d\u00eda|dia/i.test(one.unit || "") && one.type === "number");
  return setting ? app.settings.get(setting.id) : 3;
}
""",
    "store": r"""
// The data: what the blueprint brought, changed in memory and kept in the browser's storage where that is allowed.
// listRecords, getRecord, saveRecord and removeRecord are the whole interface: a real back end can stand in.
function loadData() {
  app.data = new Map(app.blueprint.entities.map((entity) => [entity.id, (entity.records || []).slice()]));
  app.settings = new Map(app.blueprint.settings.map((setting) => [setting.id, setting.value]));
  app.seen = new Set();
  app.log = [];
  const kept = readStorage();
  if (kept) restoreData(kept);
  forgetCaches();
}

function readStorage() {
  try {
    return JSON.parse(window.localStorage.getItem("protoyard:" + app.digest));
  } catch (error) {
    return null;
  }
}

function restoreData(kept) {
  for (const [id, records] of kept.data || []) if (app.data.has(id)) app.data.set(id, records);
  for (const [id, value] of kept.settings || []) if (app.settings.has(id)) app.settings.set(id, value);
  app.seen = new Set(kept.seen || []);
  app.log = kept.log || [];
}

// Storage may be forbidden or full; the page then simply forgets on reload.
function keepData() {
  const value = { data: [...app.data], settings: [...app.settings], seen: [...app.seen], log: app.log.slice(-200) };
  try {
    window.localStorage.setItem("protoyard:" + app.digest, JSON.stringify(value));
  } catch (error) {
    app.forgetful = true;
  }
}

function resetData() {
  try {
    window.localStorage.removeItem("protoyard:" + app.digest);
  } catch (error) {
    app.forgetful = true;
  }
  app.drafts.clear();
  loadData();
}

function forgetCaches() {
  app.haystacks = new WeakMap();
  app.many = new Map();
  app.byId = new Map();
}

function storedRecord(entityId, id) {
  if (!app.byId.has(entityId)) app.byId.set(entityId, new Map(app.data.get(entityId).map((one) => [one.id, one])));
  return app.byId.get(entityId).get(id);
}

// The rows that a screen works with: the review bar's state may empty or multiply them.
function listRecords(entityId) {
  const state = param("state");
  if (state === "empty") return [];
  const records = app.data.get(entityId);
  if (state !== "many" || !records.length) return records;
  if (!app.many.has(entityId)) {
    const copies = Math.ceil(500 / records.length);
    const entity = app.entities.get(entityId);
    const named = fieldOf(entity, entity.display).type === "text";
    app.many.set(entityId, Array.from({ length: copies }, (none, copy) => records.map((record) =>
      (copy && named ? { ...record, [entity.display]: valueOf(record, entity.display) + " (" + (copy + 1) + ")" } : record))).flat());
  }
  return app.many.get(entityId);
}

function getRecord(entityId, id) {
  return storedRecord(entityId, id) || null;
}

// Saves a record (new when its id is not known) and returns a function that takes the change back.
function saveRecord(entityId, record, what) {
  const records = app.data.get(entityId);
  const place = records.findIndex((one) => one.id === record.id);
  const before = place >= 0 ? records[place] : null;
  if (before) records[place] = record;
  else records.unshift(record);
  app.log.push({ entity: entityId, record: record.id, text: what });
  changed();
  return () => {
    const now = records.findIndex((one) => one.id === record.id);
    if (before) records[now] = before;
    else records.splice(now, 1);
    app.log.push({ entity: entityId, record: record.id, text: t("undone") });
    changed();
  };
}

function removeRecord(entityId, id) {
  const records = app.data.get(entityId);
  const place = records.findIndex((one) => one.id === id);
  const [before] = records.splice(place, 1);
  changed();
  return () => {
    records.splice(place, 0, before);
    changed();
  };
}

function changed() {
  forgetCaches();
  keepData();
}

function freshId(entityId) {
  const taken = new Set(app.data.get(entityId).map((record) => record.id));
  let number = taken.size + 1;
  while (taken.has(entityId + "-new-" + number)) number += 1;
  return entityId + "-new-" + number;
}

// One field of a record changes, with a toast that can take it back.
function changeField(entity, record, field, value) {
  const stored = getRecord(entity.id, record.id) || record;
  const what = t("changed_to", { field: field.label, value: textOf(field, value) || "\u2013" });
  const undo = saveRecord(entity.id, { ...stored, [field.id]: value }, what);
  toast(t("changed", { title: titleOf(entity, stored), field: small(field.label), value: textOf(field, value) }), undo);
  redraw();
}
""",
    "route": r"""
// The address: #/screen/record?role=…&state=… . What a reviewer chose travels along, the rest belongs to the screen.
function reviewParams() {
  return ["role", "flow", "step", "state", "mode"];
}

function readRoute() {
  const [path, query] = window.location.hash.replace(/^#\/?/, "").split("?");
  const [screen, record] = path.split("/").map(decode);
  const home = menuHome(new URLSearchParams(query || ""));
  return { screen: app.screens.has(screen) ? screen : home, record: record || "", params: new URLSearchParams(query || "") };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    return "";
  }
}

// The first screen of the menu that the role of an address may see.
function menuHome(params) {
  const role = app.roles.get(params.get("role")) || app.blueprint.roles[0];
  const menu = app.blueprint.navigation;
  return (role && role.screens && menu.find((id) => role.screens.includes(id))) || menu[0];
}

function param(name) {
  return app.route.params.get(name) || "";
}

// The address of a screen, with what the reviewer chose kept and `local` added.
function hrefTo(screen, record, local) {
  const params = new URLSearchParams();
  for (const name of reviewParams()) if (param(name)) params.set(name, param(name));
  addParams(params, local || {});
  return renderRoute({ screen, record, params });
}

function addParams(params, changes) {
  for (const [name, value] of Object.entries(changes)) {
    params.delete(name);
    for (const one of Array.isArray(value) ? value : [value]) if (!isEmpty(one)) params.append(name, one);
  }
}

function renderRoute({ screen, record, params }) {
  const query = params.toString();
  const path = encodeURIComponent(screen) + (record ? "/" + encodeURIComponent(record) : "");
  return "#/" + path + (query ? "?" + query : "");
}

function go(screen, record, local) {
  window.location.hash = hrefTo(screen, record, local);
}

// Changes parameters of the present address without a new entry in the history.
function setParams(changes) {
  addParams(app.route.params, changes);
  const target = renderRoute(app.route);
  try {
    window.history.replaceState(null, "", target);
  } catch (error) {
    window.location.hash = target;
  }
}

// The same, as a step that the back button undoes; the page follows through hashchange.
function pushParams(changes) {
  const params = new URLSearchParams(app.route.params);
  addParams(params, changes);
  window.location.hash = renderRoute({ ...app.route, params });
}

function filtersInRoute() {
  const found = [];
  for (const name of new Set(app.route.params.keys())) {
    if (name.startsWith("f.")) found.push({ field: name.slice(2), values: app.route.params.getAll(name) });
    if (name.startsWith("w.")) found.push({ field: name.slice(2), when: app.route.params.get(name) });
  }
  return found;
}

function filterParams(filter) {
  if (!filter) return {};
  return filter.when ? { ["w." + filter.field]: filter.when } : { ["f." + filter.field]: filter.values };
}

// How a record opens depends on the variant: a page of its own, a panel beside the list, or a dialog.
function recordHref(entity, record) {
  const screen = screenFor(entity.id, "detail");
  const form = app.blueprint.variant.axes.detail;
  if (!screen) return "";
  if (form === "page" || (form === "panel" && app.narrow) || app.screens.get(app.route.screen).type === "detail") {
    return hrefTo(screen.id, record.id);
  }
  const params = new URLSearchParams(app.route.params);
  addParams(params, { open: entity.id + "/" + record.id, edit: "" });
  return renderRoute({ ...app.route, params });
}

function newHref(entity, presets) {
  const screen = screenFor(entity.id, "form");
  const local = Object.fromEntries(Object.entries(presets || {}).map(([name, value]) => ["set." + name, value]));
  return screen && app.blueprint.variant.axes.entry !== "dialog" ? hrefTo(screen.id, "", local) : editHref(entity.id + "/", local);
}

function editRecordHref(entity, record) {
  const screen = screenFor(entity.id, "form");
  if (screen && app.blueprint.variant.axes.entry !== "dialog") return hrefTo(screen.id, record.id);
  return editHref(entity.id + "/" + record.id);
}

function editHref(edit, local) {
  const params = new URLSearchParams(app.route.params);
  addParams(params, { edit, ...local });
  return renderRoute({ ...app.route, params });
}

// "entity/record" of a parameter, as objects; null when there is none.
function entityInRoute(name) {
  const [entityId, recordId] = param(name).split("/");
  const entity = app.entities.get(entityId);
  return entity ? { entity, record: recordId ? getRecord(entityId, recordId) : null, id: recordId } : null;
}
""",
    "ui": r"""
// Small pieces that every screen is made of.

function pageHead({ title, back, note, actions, before }) {
  const heading = el("h1", { id: "title", tabindex: "-1" }, title);
  return el("header.head",
    back && el("a.back", { href: back.href }, icon("previous", "flip"), el("span", back.text)),
    el("div.head-row",
      before,
      el("div.head-text", heading, note && el("div.note", note)),
      actions && actions.length ? el("div.actions", actions) : null));
}

function badge(text, tone, key) {
  return el("span", { class: "badge " + (tone || "none"), "data-key": key || null }, text);
}

function statusBadge(field, value) {
  return isEmpty(value) ? none() : badge(capital(String(value)), toneOf(field, value));
}

function none() {
  return el("span.none", el("span", { "aria-hidden": "true" }, "\u2013"), hiddenText(t("no_value")));
}

function avatar(name) {
  return el("span", { class: "avatar hue-" + hashOf(name, 6), "aria-hidden": "true" }, initials(name));
}

function stars(value) {
  const row = [1, 2, 3, 4, 5].map((place) => icon("star", place <= value ? "full" : ""));
  return el("span.stars", row, hiddenText(t("rating", { value, most: 5 })));
}

function meter(value) {
  const width = Math.max(0, Math.min(100, value)) + "%";
  return el("span.meter",
    el("span.meter-track", { "aria-hidden": "true" }, el("span.meter-fill", { css: { width: width } })),
    formatFigure(value, { type: "percent" }));
}

// A value of a record, drawn by its type.
function valueView(entity, field, record, { plain } = {}) {
  const value = valueIn(record, field);
  if (isEmpty(value)) return none();
  const draw = {
    status: () => statusBadge(field, value),
    choice: () => (toneOf(field, value) === "none" ? el("span", capital(String(value))) : badge(capital(String(value)), toneOf(field, value) + " flat")),
    person: () => el("span.person", avatar(value), el("span", value)),
    ref: () => refView(field, value, plain),
    boolean: () => el("span", { class: "yesno" + (value ? " yes" : "") }, icon(value ? "check" : "close"), value ? t("yes") : t("no")),
    rating: () => stars(value),
    percent: () => meter(value),
    date: () => dateView(entity, field, record),
    datetime: () => dateView(entity, field, record),
    tags: () => el("span.tags", value.map((tag) => el("span.tag", tag))),
    longtext: () => el("span.long", value),
  };
  if (Object.hasOwn(draw, field.type)) return draw[field.type]();
  const watch = isNumeric(field) && watchOf(entity, field, value);
  const text = el("span", { class: isNumeric(field) ? "figure" : "", dir: isNumeric(field) ? null : "auto" }, textOf(field, value));
  return watch ? el("span.watched", text, badge(watch.label, "warn")) : text;
}

function refView(field, value, plain) {
  const entity = app.entities.get(field.entity);
  const found = getRecord(field.entity, value);
  if (!found) return el("span.none", t("gone"));
  const target = plain ? "" : recordHref(entity, found);
  return target ? el("a", { href: target, class: "ref" }, titleOf(entity, found)) : el("span", titleOf(entity, found));
}

function dateView(entity, field, record) {
  const value = valueIn(record, field);
  const late = isLate(entity, record, field);
  const near = !late && isNear(entity, record, field);
  const time = el("time", { datetime: value }, textOf(field, value));
  if (!late && !near) return time;
  return el("span", { class: "due " + (late ? "late" : "near") }, time,
    el("span.due-note", late ? t("overdue") : formatDistance(value)));
}

function isNear(entity, record, field) {
  const value = valueIn(record, field).slice(0, 10);
  const due = /due|deadline|expire|until|respond|renew|deliver|return|back|needed/;
  return due.test(field.id) && !isClosed(entity, record) && value >= app.today && value <= addDays(app.today, warnDays());
}

// --- states: nothing there, still loading, went wrong

function emptyState(entity, filtered, clear) {
  const create = !filtered && may("create") && newHref(entity);
  return el("div.state",
    el("div.state-art", { "aria-hidden": "true" }, icon(filtered ? "search" : entity.icon || "box")),
    el("h2", filtered ? t("nothing_found") : t("nothing_yet", { plural: small(entity.plural) })),
    el("p", filtered ? t("nothing_found_hint") : t("nothing_yet_hint", { plural: small(entity.plural) })),
    filtered && clear && button(t("clear_filters"), { click: clear, name: "close", key: "clear" }),
    create && linkButton(t("new_one", { label: small(entity.label) }), create, { kind: "primary", name: "plus" }));
}

function loadingState(kind) {
  const rows = kind === "cards" || kind === "board" || kind === "dashboard" ? 6 : 8;
  const bones = Array.from({ length: rows }, (none, place) => el("div", { class: "bone bone-" + (place % 3) },
    el("span"), el("span"), el("span")));
  return el("div", { class: "bones bones-" + kind, "aria-busy": "true" }, el("p.sr-only", t("loading")), bones);
}

function errorState() {
  return el("div.state.error",
    el("div.state-art", { "aria-hidden": "true" }, icon("alert")),
    el("h2", t("error_title")),
    el("p", t("error_text")),
    button(t("try_again"), { kind: "primary", click: () => { setReview("state", ""); }, name: "undo" }));
}

// --- toast: what just happened, and the way back. It stays until it is dismissed or two screens further on.

function toast(text, undo) {
  const box = el("div.toast", icon("check"), el("span.toast-text", text),
    undo && button(t("undo"), { kind: "on-dark", key: "undo", click: () => { undo(); closeToast(); redraw(); say(t("undone")); focusTitle(); } }),
    button("", { kind: "on-dark icon-only", name: "close", label: t("dismiss"), click: () => { closeToast(); focusTitle(); } }));
  app.toasts.replaceChildren(box);
  app.toastAge = 0;
}

function closeToast() {
  app.toasts.replaceChildren();
}

function focusTitle() {
  const title = document.getElementById("title");
  if (title) title.focus();
}

function confirmRemoval(entity, record, after) {
  const title = titleOf(entity, record);
  const undo = removeRecord(entity.id, record.id);
  toast(t("deleted", { title }), undo);
  after();
}

// --- what a record offers: open, edit, next states, delete

function recordMenu(entity, record, { text } = {}) {
  const title = titleOf(entity, record);
  const items = () => {
    const stored = getRecord(entity.id, record.id) || record;
    const list = [];
    const target = recordHref(entity, stored);
    if (target) list.push({ text: t("open"), name: "expand", click: () => { window.location.hash = target; } });
    if (may("edit")) list.push({ text: t("edit"), name: "edit", click: () => { window.location.hash = editRecordHref(entity, stored); } });
    const status = statusField(entity);
    if (status && may("edit")) {
      for (const value of nextStates(status, valueIn(stored, status))) {
        list.push({ text: t("mark_as", { value: capital(value) }), name: "move", click: () => changeField(entity, stored, status, value) });
      }
    }
    if (may("delete")) list.push({ text: t("delete"), name: "trash", click: () => confirmRemoval(entity, stored, redraw) });
    return list;
  };
  if (!items().length) return null;
  return menuButton(text || "", items, { kind: "quiet icon-only", name: "more", label: t("actions_for", { title }), key: "menu-" + record.id });
}

// --- search and filters above the rows of a screen

function screenFilters(screen, entity) {
  const named = (screen.filters || []).map((id) => fieldOf(entity, id));
  const usual = entity.fields.filter((field) => field.type === "status" || field.type === "choice").slice(0, 3);
  const fields = (named.length ? named : usual).filter((field) => filterChoices(entity, field).length);
  for (const filter of filtersInRoute()) {
    const field = fieldOf(entity, filter.field);
    if (field && !fields.includes(field)) fields.push(field);
  }
  return fields;
}

// What a filter of a field offers: [value, text] pairs.
function filterChoices(entity, field) {
  if (isDated(field)) return ["overdue", "today", "this_week", "next_30_days"].map((when) => [when, t(when)]);
  if (field.values) return field.values.map((value) => [value, capital(value)]);
  if (field.type === "boolean") return [["true", t("yes")], ["false", t("no")]];
  if (!["person", "ref", "rating", "tags"].includes(field.type)) return [];
  const values = new Set(app.data.get(entity.id).flatMap((record) => valueIn(record, field)).filter((value) => !isEmpty(value)));
  return [...values].map((value) => [String(value), field.type === "tags" ? value : textOf(field, value)]).sort((a, b) =>
    intl("Collator", { numeric: true }).compare(a[1], b[1]));
}

// The rows that search and filters leave over.
function shownRecords(entity) {
  const words = param("q").toLowerCase().split(/\s+/).filter(Boolean);
  const filters = filtersInRoute().filter((filter) => fieldOf(entity, filter.field));
  return listRecords(entity.id).filter((record) =>
    filters.every((filter) => matchesFilter(entity, record, filter)) && matchesSearch(entity, record, words));
}

function isFiltered() {
  return Boolean(param("q")) || filtersInRoute().length > 0;
}

function clearFilters() {
  const changes = { q: "", page: "" };
  for (const name of [...app.route.params.keys()]) if (/^[fw]\./.test(name)) changes[name] = "";
  setParams(changes);
  redraw();
  say(t("filters_cleared"));
}

function toolbar(screen, entity, update, extras) {
  const onSearch = (event) => { setParams({ q: event.target.value, page: "" }); update(); };
  const search = el("input", { type: "search", id: "search", value: param("q"), placeholder: t("search_in", { plural: small(entity.plural) }),
    "aria-label": t("search_in", { plural: small(entity.plural) }), autocomplete: "off", on: { input: onSearch } });
  const filters = screenFilters(screen, entity).map((field) => filterBox(entity, field, update));
  return el("div.toolbar", { role: "search", "aria-label": t("search_and_filter") },
    el("div.search", icon("search"), search), filters, el("div.extras", extras));
}

// One filter: a button that shows what is chosen, and a box of checkmarks behind it.
function filterBox(entity, field, update) {
  const name = (isDated(field) ? "w." : "f.") + field.id;
  const label = el("span", field.label);
  const count = el("span.count");
  const show = () => {
    const chosen = app.route.params.getAll(name);
    count.textContent = chosen.length ? formatNumber(chosen.length) : "";
    count.hidden = !chosen.length;
    box.classList.toggle("on", chosen.length > 0);
  };
  const inputs = filterChoices(entity, field).map(([value, text]) => {
    const input = el("input", { type: "checkbox", value, checked: app.route.params.getAll(name).includes(value), on: { change: () => onFilter(input) } });
    return [input, el("label.choice", input, el("span", text))];
  });
  const onFilter = (changedInput) => {
    if (isDated(field)) for (const [input] of inputs) if (input !== changedInput) input.checked = false;
    setParams({ [name]: inputs.filter(([input]) => input.checked).map(([input]) => input.value), page: "" });
    show();
    update();
  };
  const box = el("details.filter", { on: { keydown: onFilterKey, toggle: onFilterToggle } },
    el("summary.button", { "data-key": "filter-" + field.id }, label, count, icon("down")),
    el("fieldset.filter-box", el("legend.sr-only", field.label), inputs.map(([, row]) => row)));
  show();
  return box;
}

function onFilterKey(event) {
  if (event.key !== "Escape") return;
  event.currentTarget.open = false;
  event.currentTarget.querySelector("summary").focus();
}

function onFilterToggle(event) {
  if (!event.currentTarget.open) return;
  for (const other of document.querySelectorAll("details.filter[open]")) if (other !== event.currentTarget) other.open = false;
  const panel = event.currentTarget.querySelector(".filter-box");
  panel.classList.remove("to-end");
  const box = panel.getBoundingClientRect();
  if (box.right > document.documentElement.clientWidth || box.left < 0) panel.classList.add("to-end");
}

// A screen of records: a heading, search and filters, and rows that are drawn anew with each of them.
function recordScreen(screen, { draw, note, extras, actions }) {
  const entity = app.entities.get(screen.entity);
  const results = el("div.results");
  const count = el("p.result-count");
  const update = (quiet) => {
    const records = shownRecords(entity);
    const all = listRecords(entity.id).length;
    count.textContent = records.length === all ? countOf(entity, all) : t("count_of", { shown: formatNumber(records.length), all: countOf(entity, all) });
    results.replaceChildren(records.length || !listRecords(entity.id).length || isFiltered() ? drawRows(records) : emptyState(entity));
    if (quiet !== true) say(count.textContent);
  };
  const drawRows = (records) => (records.length ? draw(entity, records, update) : emptyState(entity, isFiltered(), clearFilters));
  const create = may("create") && newHref(entity);
  const head = pageHead({ title: screen.title, note: note || count, actions: [
    ...(actions || []),
    create && linkButton(t("new_one", { label: small(entity.label) }), create, { kind: "primary create", name: "plus", key: "new" }),
  ].filter(Boolean) });
  const body = app.blocked ? app.blocked(screen.type) : [toolbar(screen, entity, update, extras), results];
  if (!app.blocked) update(true);
  return [head, body];
}

// Earlier and later pages of a long list.
function pager(total, size, update) {
  const pages = Math.max(1, Math.ceil(total / size));
  const page = Math.min(pages, Math.max(1, Number(param("page")) || 1));
  const turn = (to) => () => {
    setParams({ page: to > 1 ? String(to) : "" });
    update();
    const again = document.querySelector(".pager button:not(:disabled)");
    if (again) again.focus();
  };
  const view = pages > 1 && el("nav.pager", { "aria-label": t("pages") },
    el("span", t("page_of", { from: formatNumber((page - 1) * size + 1), to: formatNumber(Math.min(total, page * size)), all: formatNumber(total) })),
    button(t("previous"), { name: "previous", click: turn(page - 1), disabled: page <= 1 }),
    button(t("next"), { name: "next", click: turn(page + 1), disabled: page >= pages }));
  return { from: (page - 1) * size, to: page * size, view };
}

function pageSize() {
  const sizes = { compact: 25, comfortable: 20, roomy: 12 };
  return sizes[app.blueprint.theme.density];
}

// A pair of radio buttons that looks like one switch. `choices` are [value, text].
function segmented(label, name, chosen, choices, choose) {
  return el("fieldset.segmented", el("legend.sr-only", label),
    choices.map(([value, text]) => el("label",
      el("input", { type: "radio", name, value, checked: value === chosen, "data-key": name + "-" + value, on: { change: () => choose(value) } }),
      el("span", text))));
}

function selectBox(label, id, chosen, choices, choose) {
  return el("label.select-box", el("span", label),
    el("select", { id, on: { change: (event) => choose(event.target.value) } },
      choices.map(([value, text]) => el("option", { value, selected: value === chosen }, text))));
}
""",
    "rows": r"""
// Lists, cards and the inbox.

function listView(screen) {
  return recordScreen(screen, {
    draw: (entity, records, update) => {
      const sorted = sortRecords(entity, records);
      const pages = pager(sorted.length, pageSize(), update);
      const rows = sorted.slice(pages.from, pages.to);
      return el("div.panel-box",
        app.narrow ? rowCards(screen, entity, rows) : recordTable(screen, entity, rows, update), pages.view);
    },
    extras: app.narrow && sortSelect(screen),
  });
}

function sortRecords(entity, records) {
  const name = param("sort");
  const field = fieldOf(entity, name.replace("-", ""));
  if (!field) return records;
  const sorted = records.slice().sort(compareBy(entity, field));
  return name.startsWith("-") ? sorted.reverse() : sorted;
}

function sortSelect(screen) {
  const entity = app.entities.get(screen.entity);
  const choices = columnsOf(screen, entity).flatMap((field) => [
    [field.id, t("ascending", { label: field.label })], ["-" + field.id, t("descending", { label: field.label })]]);
  return selectBox(t("sort_by"), "sort", param("sort"), [["", t("usual_order")], ...choices], (value) => { setParams({ sort: value, page: "" }); redraw(); });
}

function recordTable(screen, entity, records, update) {
  const room = Math.max(3, Math.floor((app.main.clientWidth - 60) / 138));
  const columns = columnsOf(screen, entity).slice(0, room);
  const head = columns.map((field) => sortHeader(field, update));
  const body = records.map((record) => tableRow(entity, columns, record));
  return el("div.table-wrap", el("table.table",
    el("caption.sr-only", screen.title + ". " + t("sort_hint")),
    el("thead", el("tr", head, el("td.end"))),
    el("tbody", body)));
}

function sortHeader(field, update) {
  const [sort, down] = [param("sort").replace("-", ""), param("sort").startsWith("-")];
  const on = sort === field.id;
  const next = on && !down ? "-" + field.id : on && down ? "" : field.id;
  const click = () => {
    setParams({ sort: next, page: "" });
    update();
    const again = document.querySelector('[data-key="sort-' + field.id + '"]');
    if (again) again.focus();
  };
  return el("th", { scope: "col", class: isNumeric(field) && field.type !== "rating" ? "number" : "", "aria-sort": on ? (down ? "descending" : "ascending") : null },
    el("button", { type: "button", class: "sort" + (on ? " on" : ""), "data-key": "sort-" + field.id, on: { click } },
      el("span", field.label), icon(on ? (down ? "down" : "up") : "sort")));
}

function tableRow(entity, columns, record) {
  const target = recordHref(entity, record);
  const cells = columns.map((field, place) => {
    const kind = isNumeric(field) && field.type !== "rating" && field.type !== "percent" ? "number" : "";
    if (place) return el("td", { class: kind + (field.type === "longtext" ? " clamp" : "") }, valueView(entity, field, record));
    const text = textOf(field, valueIn(record, field)) || titleOf(entity, record);
    return el("th", { scope: "row" }, target ? el("a", { href: target, "data-key": "open-" + record.id, class: "row-link" }, text) : text);
  });
  const open = (event) => {
    if (target && !event.target.closest("a, button, input") && !String(window.getSelection())) window.location.hash = target;
  };
  const current = param("open") === entity.id + "/" + record.id;
  return el("tr", { class: (target ? "open-able" : "") + (current ? " current" : ""), on: { click: open } }, cells, el("td.end", recordMenu(entity, record)));
}

function rowCards(screen, entity, records) {
  const columns = columnsOf(screen, entity);
  return el("ul.row-cards", records.map((record) => el("li", rowCard(entity, columns, record))));
}

function rowCard(entity, columns, record) {
  const status = statusField(entity);
  const facts = columns.filter((field) => field.id !== entity.display && field !== status && !isEmpty(valueIn(record, field))).slice(0, 4);
  return el("article.row-card",
    el("div.row-card-head", titleLink(entity, record), recordMenu(entity, record)),
    status && statusBadge(status, valueIn(record, status)),
    factList(entity, facts, record));
}

function titleLink(entity, record, extra) {
  const target = recordHref(entity, record);
  const title = titleOf(entity, record);
  const attrs = { class: "title-link " + (extra || ""), "data-key": "open-" + record.id };
  return target ? el("a", { ...attrs, href: target }, title) : el("span", attrs, title);
}

function factList(entity, fields, record) {
  return fields.length ? el("dl.facts", fields.map((field) => el("div",
    el("dt", field.label), el("dd", valueView(entity, field, record))))) : null;
}

function cardsView(screen) {
  return recordScreen(screen, {
    draw: (entity, records, update) => {
      const pages = pager(records.length, pageSize(), update);
      const sorted = sortRecords(entity, records).slice(pages.from, pages.to);
      return el("div", el("ul.cards", sorted.map((record) => el("li", bigCard(screen, entity, record)))), pages.view);
    },
    extras: sortSelect(screen),
  });
}

function bigCard(screen, entity, record) {
  const status = statusField(entity);
  const named = screen.columns ? columnsOf(screen, entity) : keyFields(entity, 4);
  const facts = named.filter((field) => field.id !== entity.display && field !== status && !isEmpty(valueIn(record, field))).slice(0, 4);
  return el("article.card",
    el("div.card-head",
      el("span", { class: "glyph hue-" + hashOf(record.id, 6), "aria-hidden": "true" }, icon(entity.icon || "circle")),
      el("h2.card-title", titleLink(entity, record)),
      recordMenu(entity, record)),
    factList(entity, facts, record),
    status && el("div.card-foot", statusBadge(status, valueIn(record, status)), nextButton(entity, record, status)));
}

// The one thing to do next with a record: its status one step on.
function nextButton(entity, record, status, kind) {
  const value = valueIn(record, status);
  const place = status.values.indexOf(value);
  if (!may("edit") || isClosed(entity, record) || place < 0 || place >= status.values.length - 1) return null;
  const next = status.values[place + 1];
  return button(t("mark_as", { value: capital(next) }), { kind: kind || "quiet", name: "move", key: "next-" + record.id,
    click: () => changeField(entity, record, status, next) });
}

// --- inbox: the messages on one side, the chosen one on the other

function inboxView(screen) {
  const entity = app.entities.get(screen.entity);
  const unread = listRecords(entity.id).filter((record) => isUnread(entity, record)).length;
  return recordScreen(screen, {
    note: t("unread", { count: formatNumber(unread) }),
    draw: (same, records) => {
      const date = leadDate(entity);
      const sorted = date ? records.slice().sort(compareBy(entity, date)).reverse() : records;
      const chosen = sorted.find((record) => record.id === app.route.record);
      return el("div", { class: "inbox" + (chosen ? " reading" : "") },
        el("ul.inbox-list", { "aria-label": screen.title }, sorted.slice(0, 100).map((record) => inboxRow(screen, entity, record, date))),
        chosen ? inboxReader(screen, entity, chosen) : el("div.inbox-none", icon("inbox"), el("p", t("choose_one"))));
    },
  });
}

// Read is what was opened here, and everything whose status says that it is dealt with.
function isUnread(entity, record) {
  return !app.seen.has(entity.id + "/" + record.id) && !isClosed(entity, record) && hashOf(record.id, 3) > 0;
}

function snippetOf(entity, record) {
  const field = firstField(entity, (one) => one.type === "longtext") || keyFields(entity, 1)[0];
  return field ? textOf(field, valueIn(record, field)) : "";
}

function inboxRow(screen, entity, record, date) {
  const chosen = record.id === app.route.record;
  const unread = isUnread(entity, record);
  const person = firstField(entity, (field) => field.type === "person");
  const status = statusField(entity);
  const local = Object.fromEntries([...app.route.params.keys()].filter((name) => !reviewParams().includes(name))
    .map((name) => [name, app.route.params.getAll(name)]));
  return el("li", el("a", { class: "inbox-row" + (unread ? " unread" : ""), href: hrefTo(screen.id, record.id, local),
    "aria-current": chosen ? "true" : null, "data-key": "row-" + record.id },
  el("span.inbox-top",
    el("span.inbox-who", unread && el("span.dot"), unread && hiddenText(t("unread_mark")),
      person ? textOf(person, valueOf(record, person.id)) || entity.label : entity.label),
    date && el("time", { datetime: valueIn(record, date) }, formatDate(valueIn(record, date), { day: "numeric", month: "short" }))),
  el("span.inbox-subject", titleOf(entity, record)),
  el("span.inbox-snippet", snippetOf(entity, record)),
  status && statusBadge(status, valueIn(record, status))));
}

function inboxReader(screen, entity, record) {
  app.seen.add(entity.id + "/" + record.id);
  keepData();
  const status = statusField(entity);
  const long = entity.fields.filter((field) => field.type === "longtext" && !isEmpty(valueIn(record, field)));
  const facts = entity.fields.filter((field) => !long.includes(field) && field.type !== "longtext" && field.id !== entity.display && field !== status);
  const detail = screenFor(entity.id, "detail");
  return el("section.reader", { "aria-labelledby": "reader-title" },
    el("a.back.reader-back", { href: hrefTo(screen.id) }, icon("previous", "flip"), el("span", screen.title)),
    el("div.reader-head", el("h2", { id: "reader-title", tabindex: "-1" }, titleOf(entity, record)), recordMenu(entity, record)),
    status && el("div.reader-status", statusBadge(status, valueIn(record, status))),
    long.map((field) => el("p.reader-body", { dir: "auto" }, valueIn(record, field))),
    factList(entity, facts, record),
    el("div.actions",
      status && nextButton(entity, record, status, "primary"),
      button(t("mark_unread"), { name: "mail", key: "unread", click: () => {
        app.seen.delete(entity.id + "/" + record.id);
        keepData();
        go(screen.id);
      } }),
      detail && linkButton(t("open_record"), hrefTo(detail.id, record.id), { name: "expand" })));
}
""",
    "board": r"""
// Boards: a column for each value; a card moves by dragging or by its menu.

function boardView(screen) {
  return recordScreen(screen, {
    draw: (entity, records) => {
      const field = fieldOf(entity, screen.groupBy);
      const columns = field.values.map((value) => ({ value, records: records.filter((record) => valueIn(record, field) === value) }));
      const rest = records.filter((record) => !field.values.includes(valueIn(record, field)));
      if (rest.length) columns.push({ value: "", records: rest });
      return app.narrow ? narrowBoard(entity, field, columns) : el("div.board", { css: { "--columns": columns.length } },
        columns.map((column) => boardColumn(entity, field, column)));
    },
  });
}

function boardColumn(entity, field, column) {
  const name = column.value ? capital(column.value) : t("no_value");
  const most = Number(param("most." + column.value)) || 20;
  const more = column.records.length - most;
  const list = el("ul.stack", column.records.slice(0, most).map((record) => boardCard(entity, field, record)));
  const drop = (event) => {
    event.preventDefault();
    node.classList.remove("over");
    const id = event.dataTransfer.getData("text/plain");
    const record = getRecord(entity.id, id);
    if (record && may("edit")) moveCard(entity, field, record, column.value);
  };
  const node = el("section.column", { "aria-label": t("column", { name, count: formatNumber(column.records.length) }), on: {
    dragover: (event) => { event.preventDefault(); node.classList.add("over"); },
    dragleave: () => node.classList.remove("over"),
    drop,
  } },
  el("h2.column-head", el("span", { class: "pip " + toneOf(field, column.value) }), name, el("span.count", formatNumber(column.records.length))),
  column.records.length ? list : el("p.column-empty", t("column_empty")),
  more > 0 && button(t("show_more", { count: formatNumber(more) }), { kind: "quiet", key: "more-" + column.value,
    click: () => { setParams({ ["most." + column.value]: String(most + 40) }); redraw(); } }));
  return node;
}

// On a phone one column at a time, with all of them to choose from.
function narrowBoard(entity, field, columns) {
  const chosen = columns.find((column) => column.value === param("column")) || columns.find((column) => column.records.length) || columns[0];
  const tabs = el("div.column-tabs", { role: "group", "aria-label": field.label }, columns.map((column) => el("button", {
    type: "button", class: "chip", "aria-pressed": String(column === chosen), "data-key": "column-" + column.value,
    on: { click: () => { setParams({ column: column.value }); redraw(); } },
  }, column.value ? capital(column.value) : t("no_value"), el("span.count", formatNumber(column.records.length)))));
  return el("div.narrow-board", tabs, boardColumn(entity, field, chosen));
}

function boardCard(entity, field, record) {
  const facts = keyFields(entity, 5).filter((one) => one.id !== field.id && one.type !== "status" && !isEmpty(valueOf(record, one.id)));
  const person = facts.find((one) => one.type === "person");
  const date = facts.find(isDated);
  const rest = facts.filter((one) => one !== person && one !== date).slice(0, 2);
  const grab = (event) => {
    event.dataTransfer.setData("text/plain", record.id);
    event.dataTransfer.effectAllowed = "move";
    node.classList.add("dragged");
  };
  const node = el("li.ticket", { draggable: may("edit") && !app.narrow ? "true" : null, on: { dragstart: grab, dragend: () => node.classList.remove("dragged") } },
    el("div.ticket-head", titleLink(entity, record), may("edit") && moveMenu(entity, field, record)),
    rest.length ? el("div.ticket-facts", rest.map((one) => el("span", valueView(entity, one, record, { plain: true })))) : null,
    el("div.ticket-foot",
      date ? valueView(entity, date, record) : el("span"),
      person && el("span", { title: valueOf(record, person.id) }, avatar(valueOf(record, person.id)), hiddenText(valueOf(record, person.id)))));
  return node;
}

function moveMenu(entity, field, record) {
  const title = titleOf(entity, record);
  return menuButton("", () => field.values.map((value) => ({
    text: capital(value), current: valueOf(getRecord(entity.id, record.id) || record, field.id) === value,
    click: () => moveCard(entity, field, record, value),
  })), { kind: "quiet icon-only", name: "move", label: t("move_card", { title }), key: "move-" + record.id });
}

function moveCard(entity, field, record, value) {
  if (valueIn(record, field) === value) return;
  if (app.narrow) setParams({ column: value });
  changeField(entity, record, field, value);
  say(t("moved", { title: titleOf(entity, record), value: capital(value) }));
}
""",
    "dates": r"""
// Calendars and timelines.

function calendarView(screen) {
  const kind = app.narrow ? "agenda" : param("view") || "month";
  const at = /^\d{4}-\d\d-\d\d$/.test(param("at")) ? param("at") : app.today;
  const choose = (value) => { setParams({ view: value === "month" ? "" : value }); redraw(); };
  const switcher = !app.narrow && segmented(t("view"), "view", kind, [["month", t("month")], ["week", t("week")], ["agenda", t("agenda")]], choose);
  return recordScreen(screen, {
    extras: switcher,
    draw: (entity, records) => {
      const range = calendarRange(kind, at);
      const days = eventsByDay(screen, entity, records, range);
      const draw = { month: monthTable, week: weekTable, agenda: agendaList }[kind] || monthTable;
      return el("div.calendar", calendarBar(kind, at, range), draw(screen, entity, days, range, at));
    },
  });
}

function calendarRange(kind, at) {
  if (kind === "week") return { from: startOfWeek(at), to: addDays(startOfWeek(at), 6), title: rangeTitle(startOfWeek(at), addDays(startOfWeek(at), 6)) };
  const first = at.slice(0, 8) + "01";
  const last = addDays(addMonths(at, 1), -1);
  const title = capital(formatDate(first, { month: "long", year: "numeric" }));
  if (kind === "agenda") return { from: first, to: last, title };
  return { from: startOfWeek(first), to: addDays(startOfWeek(last), 6), title };
}

function rangeTitle(from, to) {
  const shape = { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" };
  return intl("DateTimeFormat", shape).formatRange(toDate(from), toDate(to));
}

function calendarBar(kind, at, range) {
  const step = (count) => (kind === "week" ? addDays(at, 7 * count) : addMonths(at, count));
  const turn = (to, key) => ({ key, click: () => { setParams({ at: to === app.today ? "" : to }); redraw(); say(document.getElementById("range").textContent); } });
  return el("div.calendar-bar",
    el("h2", { id: "range" }, range.title),
    el("div.actions",
      button("", { kind: "icon-only flip", name: "previous", label: t("earlier"), ...turn(step(-1), "earlier") }),
      button(t("today"), turn(app.today, "today")),
      button("", { kind: "icon-only flip", name: "next", label: t("later"), ...turn(step(1), "later") })));
}

// Which records lie on which day; one with an end lies on every day of its span.
function eventsByDay(screen, entity, records, range) {
  const date = fieldOf(entity, screen.dateField);
  const days = new Map();
  for (const record of records.slice().sort(compareBy(entity, date))) {
    const from = String(valueIn(record, date)).slice(0, 10);
    const end = screen.endField ? String(valueOf(record, screen.endField)).slice(0, 10) : from;
    if (!from) continue;
    for (let day = from, count = 0; day <= (end > from ? end : from) && count < 62; day = addDays(day, 1), count += 1) {
      if (day < range.from || day > range.to) continue;
      if (!days.has(day)) days.set(day, []);
      days.get(day).push(record);
    }
  }
  return days;
}

function weekdayHeads(from, style) {
  return Array.from({ length: 7 }, (none, place) => formatDate(addDays(from, place), { weekday: style }));
}

function monthTable(screen, entity, days, range, at) {
  const weeks = Array.from({ length: (daysBetween(range.from, range.to) + 1) / 7 }, (none, week) =>
    Array.from({ length: 7 }, (nothing, place) => addDays(range.from, week * 7 + place)));
  const heads = weekdayHeads(range.from, "short").map((text, place) => el("th", { scope: "col", abbr: weekdayHeads(range.from, "long")[place] }, text));
  return el("table.month",
    el("caption.sr-only", screen.title + ", " + range.title),
    el("thead", el("tr", heads)),
    el("tbody", weeks.map((week) => el("tr", week.map((day) => dayCell(screen, entity, days.get(day) || [], day, at))))));
}

function dayCell(screen, entity, records, day, at) {
  const outside = day.slice(0, 7) !== at.slice(0, 7);
  const date = fieldOf(entity, screen.dateField);
  const cell = el("td", { class: "day" + (outside ? " outside" : "") + (day === app.today ? " is-today" : ""), on: dropOnDay(entity, date, day) },
    el("div.day-head",
      el("time", { datetime: day, class: "day-number", "aria-label": formatDate(day, { weekday: "long", day: "numeric", month: "long" }) + (day === app.today ? ", " + t("today") : ""), role: "img" },
        formatDate(day, { day: "numeric" }).replace(/\D+$/, "")),
      may("create") && !outside && el("a.day-new", { href: newHref(entity, { [date.id]: date.type === "datetime" ? day + "T09:00" : day }),
        "aria-label": t("new_on", { label: small(entity.label), day: formatDate(day) }) }, icon("plus"))),
    el("ul.events", records.slice(0, 3).map((record) => el("li", eventLink(screen, entity, record)))),
    records.length > 3 && button(t("more_events", { count: formatNumber(records.length - 3) }), { kind: "quiet tiny", key: "day-" + day,
      click: () => { setParams({ view: "week", at: day }); redraw(); } }));
  return cell;
}

// A record dropped on a day keeps its time of day.
function dropOnDay(entity, field, day) {
  return {
    dragover: (event) => { event.preventDefault(); event.currentTarget.classList.add("over"); },
    dragleave: (event) => event.currentTarget.classList.remove("over"),
    drop: (event) => {
      event.preventDefault();
      event.currentTarget.classList.remove("over");
      const record = getRecord(entity.id, event.dataTransfer.getData("text/plain"));
      const old = String(valueIn(record, field));
      if (record && may("edit") && old.slice(0, 10) !== day) changeField(entity, record, field, day + old.slice(10));
    },
  };
}

function eventLink(screen, entity, record) {
  const date = fieldOf(entity, screen.dateField);
  const status = statusField(entity);
  const value = valueIn(record, date);
  const tone = status ? toneOf(status, valueIn(record, status)) : "info";
  const target = recordHref(entity, record);
  const attrs = { class: "event " + tone, "data-key": "event-" + record.id, draggable: may("edit") ? "true" : "false",
    on: { dragstart: (event) => event.dataTransfer.setData("text/plain", record.id) } };
  return el(target ? "a" : "span", target ? { ...attrs, href: target } : attrs,
    date.type === "datetime" && el("span.event-time", formatTime(value)),
    el("span.event-title", titleOf(entity, record)));
}

function weekTable(screen, entity, days, range) {
  const dates = Array.from({ length: 7 }, (none, place) => addDays(range.from, place));
  return el("div.week", dates.map((day) => {
    const records = days.get(day) || [];
    return el("section", { class: "week-day" + (day === app.today ? " is-today" : ""), on: dropOnDay(entity, fieldOf(entity, screen.dateField), day) },
      el("h3.week-head", el("span", formatDate(day, { weekday: "short" })), el("strong", formatDate(day, { day: "numeric" }).replace(/\D+$/, "")),
        day === app.today && hiddenText(t("today"))),
      records.length ? el("ul.events.tall", records.map((record) => el("li", eventCard(screen, entity, record)))) : el("p.column-empty", t("free")));
  }));
}

function eventCard(screen, entity, record) {
  const person = firstField(entity, (field) => field.type === "person");
  const link = eventLink(screen, entity, record);
  if (person && !isEmpty(valueOf(record, person.id))) link.append(el("span.event-who", valueOf(record, person.id)));
  return link;
}

function agendaList(screen, entity, days, range) {
  const filled = [...days.keys()].sort();
  if (!filled.length) return el("div.state", el("h3", t("nothing_in", { range: range.title })), el("p", t("nothing_in_hint")));
  return el("div.agenda", filled.map((day) => el("section", { class: "agenda-day" + (day === app.today ? " is-today" : "") },
    el("h3.agenda-head", capital(formatDate(day, { weekday: "long", day: "numeric", month: "long" })), day === app.today && badge(t("today"), "info")),
    el("ul.agenda-rows", days.get(day).map((record) => el("li.agenda-row", agendaRow(screen, entity, record)))))));
}

function agendaRow(screen, entity, record) {
  const date = fieldOf(entity, screen.dateField);
  const status = statusField(entity);
  const facts = keyFields(entity, 3).filter((field) => !isDated(field) && field.type !== "status" && !isEmpty(valueIn(record, field))).slice(0, 2);
  return [
    el("span.agenda-time", date.type === "datetime" ? formatTime(valueIn(record, date)) : t("all_day")),
    el("div.agenda-text", titleLink(entity, record), el("div.agenda-facts", facts.map((field) => el("span", textOf(field, valueIn(record, field)))))),
    status && statusBadge(status, valueIn(record, status)),
    recordMenu(entity, record),
  ];
}

// --- timeline: spans on a scale when there is an end, else a dated story

function timelineView(screen) {
  const spans = screen.endField && !app.narrow;
  const zoom = param("view") || "month";
  const choose = (value) => { setParams({ view: value === "month" ? "" : value }); redraw(); };
  return recordScreen(screen, {
    extras: spans ? segmented(t("zoom"), "zoom", zoom, [["week", t("two_weeks")], ["month", t("month")], ["quarter", t("quarter")]], choose) : null,
    draw: (entity, records) => (spans ? spanChart(screen, entity, records, zoom) : story(screen, entity, records)),
  });
}

function spanChart(screen, entity, records, zoom) {
  const at = /^\d{4}-\d\d-\d\d$/.test(param("at")) ? param("at") : app.today;
  const length = { week: 14, month: 35, quarter: 91 }[zoom] || 35;
  const from = addDays(startOfWeek(at), length > 50 ? -28 : -7);
  const to = addDays(from, length - 1);
  const spans = records.map((record) => spanOf(screen, record)).filter((span) => span.from && span.to >= from && span.from <= to)
    .sort((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0));
  const turn = (days, key) => ({ key, click: () => { setParams({ at: days ? addDays(at, days) : "" }); redraw(); say(rangeTitle(from, to)); } });
  const bar = el("div.calendar-bar", el("h2", rangeTitle(from, to)), el("div.actions",
    button("", { kind: "icon-only flip", name: "previous", label: t("earlier"), ...turn(-Math.ceil(length / 2), "earlier") }),
    button(t("today"), turn(0, "today")),
    button("", { kind: "icon-only flip", name: "next", label: t("later"), ...turn(Math.ceil(length / 2), "later") })));
  const body = spans.length ? spanTable(screen, entity, spans, { from, to, length })
    : el("div.state", el("h3", t("nothing_in", { range: rangeTitle(from, to) })), el("p", t("nothing_in_hint")));
  return el("div.calendar", bar, body);
}

function spanOf(screen, record) {
  const from = String(valueOf(record, screen.dateField)).slice(0, 10);
  const end = String(valueOf(record, screen.endField)).slice(0, 10);
  return { record, from, to: end > from ? end : from };
}

function spanTable(screen, entity, spans, range) {
  const marks = Array.from({ length: Math.ceil(range.length / 7) }, (none, place) => addDays(range.from, place * 7));
  const left = (day) => (daysBetween(range.from, day) / range.length) * 100 + "%";
  const inside = (day) => day >= range.from && day <= range.to;
  const scale = el("div.span-scale", { "aria-hidden": "true" },
    marks.map((day) => el("span", { css: { "inset-inline-start": left(day) } }, formatDate(day, { day: "numeric", month: "short" }))));
  const today = inside(app.today) && el("span.span-today", { "aria-hidden": "true", css: { "inset-inline-start": left(app.today) } });
  return el("div.spans", { css: { "--weeks": range.length / 7 } },
    el("div.span-row.span-top", el("span.span-name", entity.label), scale),
    el("ul.span-rows", spans.slice(0, 100).map((span) => spanRow(screen, entity, span, range, today && today.cloneNode()))));
}

function spanRow(screen, entity, span, range, today) {
  const status = statusField(entity);
  const tone = status ? toneOf(status, valueOf(span.record, status.id)) : "info";
  const from = span.from < range.from ? range.from : span.from;
  const to = span.to > range.to ? range.to : span.to;
  const start = (daysBetween(range.from, from) / range.length) * 100;
  const width = ((daysBetween(from, to) + 1) / range.length) * 100;
  return el("li.span-row",
    el("div.span-name", titleLink(entity, span.record)),
    el("div.span-track", today,
      el("span", { class: "span-bar " + tone, css: { "inset-inline-start": start + "%", width: width + "%" } }),
      el("span.sr-only", rangeTitle(span.from, span.to) + (status ? ", " + textOf(status, valueOf(span.record, status.id)) : ""))));
}

function story(screen, entity, records) {
  const date = fieldOf(entity, screen.dateField);
  const sorted = records.filter((record) => !isEmpty(valueIn(record, date))).sort(compareBy(entity, date)).reverse();
  const most = Number(param("most")) || 40;
  const months = new Map();
  for (const record of sorted.slice(0, most)) {
    const month = valueIn(record, date).slice(0, 7);
    if (!months.has(month)) months.set(month, []);
    months.get(month).push(record);
  }
  const more = sorted.length - most;
  return el("div.story", [...months].map(([month, rows]) => el("section",
    el("h2.story-month", capital(formatDate(month + "-01", { month: "long", year: "numeric" }))),
    el("ol.story-rows", rows.map((record) => storyRow(entity, date, record))))),
  more > 0 && button(t("show_more", { count: formatNumber(more) }), { key: "more", click: () => { setParams({ most: String(most + 40) }); redraw(); } }));
}

function storyRow(entity, date, record) {
  const status = statusField(entity);
  const value = valueIn(record, date);
  const tone = status ? toneOf(status, valueIn(record, status)) : "info";
  return el("li.story-row",
    el("span", { class: "pip " + tone, "aria-hidden": "true" }),
    el("time.story-time", { datetime: value }, date.type === "datetime" ? formatDate(value, { day: "numeric", month: "short", hour: "numeric", minute: "2-digit" }) : formatDate(value, { day: "numeric", month: "short" })),
    el("div.story-text", titleLink(entity, record), el("p.clamp", snippetOf(entity, record))),
    status && statusBadge(status, valueIn(record, status)));
}
""",
    "detail": r"""
// One record: what it is, what is to be done next, what it is linked with.

function detailView(screen) {
  const entity = app.entities.get(screen.entity);
  const rows = listRecords(entity.id);
  const record = app.route.record ? getRecord(entity.id, app.route.record) : rows[0];
  const list = listScreen(entity.id);
  const back = list && { href: hrefTo(list.id), text: list.title };
  if (app.blocked) return [pageHead({ title: screen.title, back }), app.blocked("detail")];
  if (!record || param("state") === "empty") {
    return [pageHead({ title: screen.title, back }), record || !app.route.record ? emptyState(entity) : missingState(entity, back)];
  }
  const status = statusField(entity);
  return [
    pageHead({
      title: titleOf(entity, record), back,
      before: el("span", { class: "glyph large hue-" + hashOf(record.id, 6), "aria-hidden": "true" }, icon(entity.icon || "circle")),
      note: el("span.note-row", el("span", entity.label), status && statusBadge(status, valueIn(record, status))),
      actions: detailActions(entity, record, status, back),
    }),
    el("div.detail",
      el("div.detail-main", status && statusTrack(status, valueIn(record, status)), factsCard(entity, record), notesCards(entity, record), relatedCards(entity, record)),
      el("div.detail-side", linkedCard(entity, record), datesCard(entity, record), activityCard(entity, record))),
  ];
}

function missingState(entity, back) {
  return el("div.state", el("div.state-art", { "aria-hidden": "true" }, icon("search")),
    el("h2", t("not_there", { label: small(entity.label) })), el("p", t("not_there_hint")),
    back && linkButton(back.text, back.href, { kind: "primary" }));
}

function detailActions(entity, record, status, back) {
  const others = status && may("edit") ? nextStates(status, valueIn(record, status)) : [];
  const items = () => [
    ...others.map((value) => ({ text: t("mark_as", { value: capital(value) }), name: "move", click: () => changeField(entity, record, status, value) })),
    ...(may("delete") ? [{ text: t("delete"), name: "trash", click: () => confirmRemoval(entity, record, () => leaveRecord(back)) }] : []),
  ];
  return [
    status && nextButton(entity, record, status, "primary"),
    may("edit") && linkButton(t("edit"), editRecordHref(entity, record), { name: "edit", key: "edit" }),
    items().length ? menuButton("", items, { kind: "icon-only", name: "more", label: t("actions_for", { title: titleOf(entity, record) }), key: "more" }) : null,
  ].filter(Boolean);
}

// After a deletion: back to where the record was opened from.
function leaveRecord(back) {
  if (param("open")) pushParams({ open: "" });
  else if (back) window.location.hash = back.href;
  else go(menuHome(app.route.params));
}

// The way of a status, from its first value to its last.
function statusTrack(field, value) {
  const steps = field.values.filter((one) => one === value || toneOf(field, one) !== "none" || field.values.indexOf(one) < 2);
  const place = steps.indexOf(value);
  return el("ol.track", { "aria-label": field.label }, steps.map((one, index) => el("li", {
    class: index < place ? "past" : index === place ? "now " + toneOf(field, one) : "", "aria-current": index === place ? "step" : null,
  }, el("span.track-mark", { "aria-hidden": "true" }, index < place && icon("check")), el("span.track-text", capital(one)))));
}

function section(title, body, { count, action, extra } = {}) {
  return el("section", { class: "block " + (extra || "") },
    el("div.block-head", el("h2", title), count !== undefined && el("span.count", formatNumber(count)), action), body);
}

function factsCard(entity, record) {
  const skip = ["longtext", "status"];
  const fields = entity.fields.filter((field) => !skip.includes(field.type) && field.id !== entity.display);
  return fields.length ? section(t("key_facts"), el("dl.fact-grid", fields.map((field) => el("div",
    el("dt", field.label), el("dd", valueView(entity, field, record)))))) : null;
}

function notesCards(entity, record) {
  return entity.fields.filter((field) => field.type === "longtext" && !isEmpty(valueIn(record, field)))
    .map((field) => section(field.label, el("p.prose", { dir: "auto" }, valueIn(record, field))));
}

// Records that refer to this one, each kind with a way to add another.
function relatedCards(entity, record) {
  return referringFields(entity.id).map(({ entity: other, field }) => {
    const rows = listRecords(other.id).filter((one) => valueOf(one, field.id) === record.id);
    const create = may("create") && newHref(other, { [field.id]: record.id });
    const list = listScreen(other.id);
    const all = list && rows.length > 5 && hrefTo(list.id, "", { ["f." + field.id]: record.id });
    const body = rows.length ? el("ul.mini-rows", rows.slice(0, 5).map((one) => miniRow(other, one))) : el("p.quiet", t("nothing_yet", { plural: small(other.plural) }));
    return section(other.plural, [body, all && el("a.more-link", { href: all }, t("view_all", { count: formatNumber(rows.length) }))],
      { count: rows.length, action: create && linkButton(t("add"), create, { kind: "quiet small", name: "plus", key: "add-" + other.id + "-" + field.id }) });
  });
}

function miniRow(entity, record) {
  const status = statusField(entity);
  const date = leadDate(entity);
  return el("li.mini-row", titleLink(entity, record),
    el("span.mini-facts", date && !isEmpty(valueIn(record, date)) && dateView(entity, date, record), status && statusBadge(status, valueIn(record, status))));
}

function linkedCard(entity, record) {
  const rows = entity.fields.filter((field) => field.type === "ref").map((field) => [field, getRecord(field.entity, valueIn(record, field))]).filter(([, found]) => found);
  return rows.length ? section(t("belongs_to"), el("ul.linked", rows.map(([field, found]) => {
    const target = app.entities.get(field.entity);
    return el("li", el("span", { class: "glyph hue-" + hashOf(found.id, 6), "aria-hidden": "true" }, icon(target.icon || "circle")),
      el("span.linked-text", el("span.linked-label", field.label), titleLink(target, found)));
  }))) : null;
}

function datesCard(entity, record) {
  const fields = entity.fields.filter((field) => isDated(field) && !isEmpty(valueIn(record, field)));
  if (fields.length < 2) return null;
  const sorted = fields.slice().sort((a, b) => (valueOf(record, a.id) < valueOf(record, b.id) ? -1 : 1));
  return section(t("dates"), el("ol.date-line", sorted.map((field) => el("li", { class: valueIn(record, field).slice(0, 10) <= app.today ? "past" : "" },
    el("span.date-label", field.label), el("span.date-value", textOf(field, valueIn(record, field))), el("span.date-far", formatDistance(valueIn(record, field)))))));
}

function activityCard(entity, record) {
  const entries = app.log.filter((entry) => entry.entity === entity.id && entry.record === record.id).slice(-8).reverse();
  return section(t("history"), entries.length ? el("ol.log", entries.map((entry) => el("li", entry.text)))
    : el("p.quiet", t("no_history")));
}

// The same record in a panel or a dialog beside the rows that it was opened from.
function quickView(entity, record) {
  const status = statusField(entity);
  const page = screenFor(entity.id, "detail");
  const close = () => pushParams({ open: "" });
  return el("div.quick",
    el("div.quick-bar", el("span.quick-kind", icon(entity.icon || "circle"), entity.label),
      page && el("a.button.quiet.icon-only", { href: hrefTo(page.id, record.id), "aria-label": t("open_page"), title: t("open_page") }, icon("expand")),
      button("", { kind: "quiet icon-only", name: "close", label: t("close"), click: close, key: "close-quick" })),
    el("h2", { id: "quick-title", tabindex: "-1" }, titleOf(entity, record)),
    status && statusTrack(status, valueIn(record, status)),
    el("div.actions", detailActions(entity, record, status, null)),
    factsCard(entity, record), notesCards(entity, record), linkedCard(entity, record), relatedCards(entity, record), activityCard(entity, record));
}
""",
    "form": r"""
// Forms: one page or step by step, with hints, checks, a summary of what is wrong, and a draft that survives leaving.

function formView(screen) {
  const entity = app.entities.get(screen.entity);
  const record = app.route.record ? getRecord(entity.id, app.route.record) : null;
  const list = listScreen(entity.id);
  const back = list && { href: hrefTo(list.id), text: list.title };
  const title = record ? t("edit_title", { title: titleOf(entity, record) }) : screen.title;
  const right = record ? "edit" : "create";
  if (app.route.record && !record) return [pageHead({ title, back }), missingState(entity, back)];
  if (param("state") === "loading") return [pageHead({ title, back }), loadingState("form")];
  if (!may(right)) return [pageHead({ title, back }), refusedState(back)];
  const leave = (saved) => {
    const detail = saved && screenFor(entity.id, "detail");
    if (detail) go(detail.id, saved.id);
    else if (list) go(list.id);
    else go(menuHome(app.route.params));
  };
  return [pageHead({ title, back, note: app.blueprint.variant.axes.entry === "guided" ? null : t("required_note") }),
    formPane({ screen, entity, record, leave })];
}

function refusedState(back) {
  const role = currentRole();
  return el("div.state", el("div.state-art", { "aria-hidden": "true" }, icon("shield")),
    el("h2", t("refused")), el("p", t("refused_hint", { role: role ? role.label : "" })),
    back && linkButton(back.text, back.href, { kind: "primary" }));
}

function formSteps(screen, entity) {
  const named = ((screen && screen.steps) || []).map((step) => step.map((id) => fieldOf(entity, id)).filter(Boolean));
  if (named.length > 1) return named;
  const fields = named[0] || entity.fields;
  if (app.blueprint.variant.axes.entry !== "guided") return [fields];
  const size = Math.max(2, Math.ceil(fields.length / Math.ceil(fields.length / 4)));
  return Array.from({ length: Math.ceil(fields.length / size) }, (none, place) => fields.slice(place * size, place * size + size));
}

function startValues(entity, record) {
  const values = new Map();
  for (const field of entity.fields) {
    const preset = record ? "" : param("set." + field.id);
    const value = record ? valueIn(record, field) : preset || (field.default === undefined ? "" : field.default);
    values.set(field.id, value);
  }
  return values;
}

function formPane({ screen, entity, record, leave, heading }) {
  const key = entity.id + "/" + (record ? record.id : "new" + app.route.params.toString().replace(/part=\d+/, ""));
  if (!app.drafts.has(key)) app.drafts.set(key, startValues(entity, record));
  const form = { entity, record, leave, heading: heading || "h2", values: app.drafts.get(key), steps: formSteps(screen, entity), errors: new Map(), failed: false };
  form.forget = () => app.drafts.delete(key);
  form.node = el("form", { class: "form" + (form.steps.length > 1 ? " guided" : ""), novalidate: true, on: { submit: (event) => { event.preventDefault(); onSubmit(form); } } });
  drawForm(form);
  return form.node;
}

function formPart(form) {
  return form.steps.length > 1 ? Math.min(form.steps.length + 1, Math.max(1, Number(param("part")) || 1)) : 1;
}

function drawForm(form) {
  const part = formPart(form);
  const guided = form.steps.length > 1;
  const review = part > form.steps.length;
  const fields = review ? [] : form.steps[part - 1];
  const last = !guided || review;
  form.node.replaceChildren(...[
    guided && stepsList(form, part),
    form.errors.size || form.failed ? errorSummary(form) : null,
    el("div.form-body",
      guided && el(form.heading, { id: "step-title", tabindex: "-1" }, review ? t("check_answers") : stepTitle(fields)),
      review ? reviewList(form) : fields.map((field) => fieldRow(form, field))),
    el("div.form-foot",
      guided && part > 1 && button(t("back"), { click: () => toPart(form, part - 1), name: "previous", key: "back" }),
      el("button", { type: "submit", class: "button primary", "data-key": "submit" }, el("span", last ? t(form.record ? "save" : "create", { label: small(form.entity.label) }) : t("continue"))),
      button(t("cancel"), { kind: "quiet", key: "cancel", click: () => { form.forget(); form.leave(null); } })),
  ].filter(Boolean));
}

function stepTitle(fields) {
  const names = fields.slice(0, 3).map((field, place) => (place ? small(field.label) : field.label));
  return intl("ListFormat", { type: "conjunction" }).format(names);
}

function stepsList(form, part) {
  const names = [...form.steps.map(stepTitle), t("check_answers")];
  return el("ol.steps", { "aria-label": t("progress") }, names.map((name, place) => el("li", {
    class: place + 1 < part ? "past" : place + 1 === part ? "now" : "", "aria-current": place + 1 === part ? "step" : null,
  }, el("span.track-mark", { "aria-hidden": "true" }, place + 1 < part ? icon("check") : String(place + 1)),
  el("span.track-text", name))));
}

function toPart(form, part) {
  form.errors = new Map();
  setParams({ part: part > 1 ? String(part) : "" });
  drawForm(form);
  const title = document.getElementById("step-title");
  if (title) title.focus();
}

function reviewList(form) {
  return el("dl.review-list", form.steps.flatMap((fields, place) => fields.map((field) => el("div",
    el("dt", field.label),
    el("dd", valueView(form.entity, field, Object.fromEntries(form.values), { plain: true })),
    el("dd.end", button(t("change"), { kind: "quiet small", label: t("change_field", { field: small(field.label) }), click: () => toPart(form, place + 1) }))))));
}

// --- one field: label, hint, input, what is wrong with it

function fieldRow(form, field) {
  const id = "field-" + field.id;
  const error = form.errors.get(field.id);
  const hint = field.hint || (field.type === "tags" ? t("tags_hint") : rangeHint(field));
  const described = [hint && id + "-hint", error && id + "-error"].filter(Boolean).join(" ") || null;
  const attrs = { id, "aria-describedby": described, "aria-invalid": error ? "true" : null, required: field.required || null };
  const label = [field.label, field.required ? el("span.required", { "aria-hidden": "true" }, " *") : null];
  const help = [hint && el("p.hint", { id: id + "-hint" }, hint), error && el("p.field-error", { id: id + "-error" }, icon("alert"), error)];
  const set = (value) => form.values.set(field.id, value);
  const wide = field.type === "longtext" || field.type === "tags" || field.id === form.entity.display;
  const row = (...children) => el("div", { class: "field" + (error ? " wrong" : "") + (wide ? " wide" : "") }, ...children);
  const value = form.values.get(field.id);
  if (field.type === "boolean") {
    return row(el("label.choice", el("input", { ...attrs, type: "checkbox", checked: value === true || value === "true", on: { change: (event) => set(event.target.checked) } }), el("span", label)), help);
  }
  if (field.type === "rating" || (field.type === "choice" && field.values.length <= 4)) {
    return row(radioGroup(field, label, help, attrs, value, set));
  }
  return row(el("label", { for: id, class: "label" }, label), help, inputOf(form, field, attrs, value, set));
}

function rangeHint(field) {
  const [low, high] = [field.min, field.max].map((bound) => (bound === undefined ? "" : formatFigure(bound, field)));
  if (low && high) return t("between", { low, high });
  if (field.type === "duration") return t("in_minutes");
  return low ? t("at_least", { low }) : high ? t("at_most", { high }) : "";
}

function radioGroup(field, label, help, attrs, value, set) {
  const choices = field.type === "rating" ? [1, 2, 3, 4, 5] : field.values;
  return el("fieldset.radios", { "aria-describedby": attrs["aria-describedby"], role: "radiogroup", "aria-required": field.required ? "true" : null },
    el("legend.label", label), help,
    el("div.radio-row", choices.map((choice, place) => el("label.choice.pill",
      el("input", { type: "radio", id: place ? null : attrs.id, name: attrs.id, value: String(choice), checked: String(value) === String(choice), on: { change: () => set(choice) } }),
      el("span", field.type === "rating" ? String(choice) : capital(choice))))));
}

function inputOf(form, field, attrs, value, set) {
  const typed = (event) => set(event.target.value);
  if (field.type === "longtext") return el("textarea", { ...attrs, rows: 4, dir: "auto", value: String(value), on: { input: typed } });
  if (field.type === "status" || field.type === "choice") return selectOf(attrs, value, field.values.map((one) => [one, capital(one)]), set);
  if (field.type === "ref") {
    const entity = app.entities.get(field.entity);
    const rows = app.data.get(field.entity).map((record) => [record.id, titleOf(entity, record)]);
    return selectOf(attrs, value, rows.sort((a, b) => intl("Collator", { numeric: true }).compare(a[1], b[1])), set);
  }
  if (field.type === "tags") return el("input", { ...attrs, type: "text", value: Array.isArray(value) ? value.join(", ") : value, on: { input: (event) => set(event.target.value.split(",").map((tag) => tag.trim()).filter(Boolean)) } });
  if (field.type === "person") return personInput(form, field, attrs, value, typed);
  if (isNumeric(field)) {
    const unit = field.type === "percent" ? "%" : field.type === "duration" ? t("minutes") : field.unit;
    const input = el("input", { ...attrs, type: "text", inputmode: "decimal", value: String(value), on: { input: typed } });
    return unit ? el("span.with-unit", input, el("span.unit", { "aria-hidden": "true" }, unit)) : input;
  }
  const kinds = { date: "date", datetime: "datetime-local", email: "email", phone: "tel", url: "url" };
  const kind = Object.hasOwn(kinds, field.type) ? kinds[field.type] : "text";
  return el("input", { ...attrs, type: kind, value: String(value), maxlength: 4000, dir: kind === "text" ? "auto" : null, on: { input: typed, change: typed } });
}

function selectOf(attrs, value, choices, set) {
  return el("select", { ...attrs, on: { change: (event) => set(event.target.value) } },
    el("option", { value: "" }, t("choose")), choices.map(([one, text]) => el("option", { value: one, selected: one === value }, text)));
}

// People who are known already are offered while one types.
function personInput(form, field, attrs, value, typed) {
  const known = new Set(app.data.get(form.entity.id).map((record) => valueIn(record, field)).filter(Boolean));
  const list = el("datalist", { id: attrs.id + "-list" }, [...known].sort().map((name) => el("option", { value: name })));
  return el("span.with-list", el("input", { ...attrs, type: "text", list: attrs.id + "-list", autocomplete: "off", value: String(value), on: { input: typed } }), list);
}

// --- checks and saving

function checkField(field, raw, input) {
  if (input && input.validity && input.validity.badInput) return t("bad_date", { label: field.label });
  if (isEmpty(raw) || (typeof raw === "string" && !raw.trim())) return field.required ? t("missing", { label: field.label }) : "";
  if (field.type === "email" && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(raw)) return t("bad_email", { label: field.label });
  if (field.type === "url" && !/^https?:\/\/\S+$/i.test(raw)) return t("bad_url", { label: field.label });
  if (!isNumeric(field)) return "";
  const value = toNumber(raw);
  if (Number.isNaN(value)) return t("bad_number", { label: field.label });
  if (field.min !== undefined && value < field.min) return t("too_small", { label: field.label, low: formatFigure(field.min, field) });
  if (field.max !== undefined && value > field.max) return t("too_big", { label: field.label, high: formatFigure(field.max, field) });
  return "";
}

// Numbers as people type them: "1,234.5" and "1.234,5" alike, by the last mark.
function toNumber(raw) {
  if (typeof raw === "number") return raw;
  const text = raw.replace(/[\s\u00a0\u202f']/g, "");
  const mark = Math.max(text.lastIndexOf("."), text.lastIndexOf(","));
  const tail = text.length - mark - 1;
  const thousands = mark >= 0 && tail === 3 && !/[.,]/.test(text.slice(0, mark)) && text[mark] !== decimalMark();
  if (mark < 0 || thousands) return Number(text.replace(/[.,]/g, "") || NaN);
  return Number(text.slice(0, mark).replace(/[.,]/g, "") + "." + text.slice(mark + 1));
}

function decimalMark() {
  return intl("NumberFormat", {}).formatToParts(1.5).find((part) => part.type === "decimal").value;
}

function onSubmit(form) {
  const part = formPart(form);
  const review = part > form.steps.length;
  const fields = review ? form.steps.flat() : form.steps[part - 1];
  form.errors = new Map();
  for (const field of fields) {
    const wrong = checkField(field, form.values.get(field.id), document.getElementById("field-" + field.id));
    if (wrong) form.errors.set(field.id, wrong);
  }
  form.failed = !form.errors.size && (review || form.steps.length === 1) && param("state") === "error";
  if (form.errors.size || form.failed) {
    drawForm(form);
    form.node.querySelector(".error-summary").focus();
  } else if (form.steps.length > 1 && !review) {
    toPart(form, part + 1);
  } else {
    saveForm(form);
  }
}

function saveForm(form) {
  const { entity, record } = form;
  const saved = record ? { ...record } : { id: freshId(entity.id) };
  for (const field of entity.fields) {
    const raw = form.values.get(field.id);
    saved[field.id] = isNumeric(field) && !isEmpty(raw) ? toNumber(raw) : typeof raw === "string" ? raw.trim() : raw;
  }
  const undo = saveRecord(entity.id, saved, t(record ? "log_edited" : "log_created"));
  form.forget();
  toast(t(record ? "saved" : "created", { title: titleOf(entity, saved) }), undo);
  form.leave(saved);
}

function errorSummary(form) {
  const rows = [...form.errors].map(([id, text]) => el("li", el("a", { href: "#field-" + id, on: { click: (event) => {
    event.preventDefault();
    const input = document.getElementById("field-" + id);
    input.focus();
    input.scrollIntoView({ block: "center" });
  } } }, text)));
  return el("div.error-summary", { tabindex: "-1", role: "alert" },
    el("h2", icon("alert"), form.failed ? t("not_saved") : t("problem_title")),
    form.failed ? el("p", t("not_saved_hint")) : el("ul", rows));
}
""",
    "charts": r"""
// Charts, each with a table that says the same; the dashboard and the report that are made of them.

// Records counted, or a number of theirs added up, by the values of a field.
function groupRecords(entity, records, field, measure, most) {
  const groups = new Map(field.values ? field.values.map((value) => [value, { key: value, count: 0, sum: 0 }]) : []);
  for (const record of records) {
    const values = isEmpty(valueIn(record, field)) ? [""] : [valueIn(record, field)].flat();
    for (const value of values) {
      const key = isDated(field) ? String(value).slice(0, 7) : value;
      if (!groups.has(key)) groups.set(key, { key, count: 0, sum: 0 });
      const group = groups.get(key);
      group.count += 1;
      group.sum += measure ? Number(valueOf(record, measure.id)) || 0 : 1;
    }
  }
  const list = [...groups.values()].map((group) => ({ ...group, value: group.sum, text: groupText(field, group.key) }));
  if (isDated(field) || field.type === "rating") list.sort((a, b) => (a.key < b.key ? -1 : 1));
  else if (!field.values) list.sort((a, b) => b.value - a.value);
  return most && list.length > most ? foldRest(list, most) : list;
}

function groupText(field, key) {
  if (isEmpty(key)) return t("no_value");
  if (isDated(field)) return capital(formatDate(key + "-01", { month: "long", year: "numeric" }));
  return field.type === "tags" ? String(key) : textOf(field, key);
}

function foldRest(list, most) {
  const rest = list.slice(most - 1);
  const total = (name) => rest.reduce((sum, group) => sum + group[name], 0);
  return [...list.slice(0, most - 1), { key: null, text: t("others"), value: total("value"), count: total("count"), sum: total("sum") }];
}

function chartTable(title, label, groups, format) {
  return el("table.table.plain", el("caption.sr-only", title),
    el("thead", el("tr", el("th", { scope: "col" }, label), el("th", { scope: "col", class: "number" }, t("value")))),
    el("tbody", groups.map((group) => el("tr", el("th", { scope: "row" }, group.text), el("td.number", format(group.value))))));
}

function withTable(title, label, groups, format, drawing) {
  return el("div.chart", drawing,
    el("details.twin", el("summary", t("as_table"), hiddenText(": " + title)), chartTable(title, label, groups, format)));
}

function barsChart(groups, format, tone) {
  const most = Math.max(1, ...groups.map((group) => group.value));
  return el("div.bars", { "aria-hidden": "true" }, groups.map((group) => el("div.bar-row",
    el("span.bar-label", group.text),
    el("span.bar-track", el("span", { class: "bar " + (tone ? tone(group) : ""), css: { width: (Math.max(0, group.value) / most) * 100 + "%" } })),
    el("span.bar-value", format(group.value)))));
}

function donutChart(groups, format) {
  const total = groups.reduce((sum, group) => sum + Math.max(0, group.value), 0);
  let turned = 0;
  const shown = groups.filter((group) => group.value > 0);
  const rings = shown.map((group, place) => {
    const share = (group.value / total) * 100;
    const gap = shown.length > 1 ? 0.8 : 0;
    const ring = svg("circle", { class: "ring s" + (place % 6 + 1), cx: 21, cy: 21, r: 15.9155, "stroke-dasharray": Math.max(0.4, share - gap) + " " + (100 - Math.max(0.4, share - gap)), "stroke-dashoffset": 25 - turned });
    turned += share;
    return ring;
  });
  return el("div.donut", { "aria-hidden": "true" },
    el("div.donut-ring", svg("svg", { viewBox: "0 0 42 42" }, svg("circle", { class: "ring-bed", cx: 21, cy: 21, r: 15.9155 }), rings),
      el("div.donut-total", el("strong", format(total, true)), el("span", t("total")))),
    el("ul.legend", shown.map((group, place) => el("li", el("span", { class: "swatch s" + (place % 6 + 1) }),
      el("span.legend-text", group.text), el("strong", format(group.value)), el("span.legend-share", formatNumber(group.value / total, { style: "percent", maximumFractionDigits: 0 }))))));
}

// Values by month, gaps as nothing, so that the line tells the truth.
function trendGroups(entity, records, date, measure) {
  const months = groupRecords(entity, records.filter((record) => !isEmpty(valueIn(record, date))), date, measure);
  const byMonth = new Map(months.map((group) => [group.key, group]));
  const filled = [];
  if (!months.length) return filled;
  let month = months[Math.max(0, months.length - 24)].key;
  while (month <= months[months.length - 1].key && filled.length < 60) {
    filled.push(byMonth.get(month) || { key: month, value: 0, count: 0, sum: 0, text: groupText(date, month) });
    month = addMonths(month + "-01", 1).slice(0, 7);
  }
  return filled;
}

function lineChart(groups, format) {
  const most = niceTop(Math.max(1, ...groups.map((group) => group.value)));
  const x = (place) => (groups.length > 1 ? (place / (groups.length - 1)) * 600 : 300);
  const y = (value) => 170 - (Math.max(0, value) / most) * 160;
  const points = groups.map((group, place) => x(place) + "," + y(group.value));
  const grid = [0, 0.5, 1].map((part) => svg("line", { class: "grid", x1: 0, x2: 600, y1: y(most * part), y2: y(most * part) }));
  const label = (group) => formatDate(group.key + "-01", { month: "short" });
  const skip = Math.ceil(groups.length / 8);
  return el("div.line", { "aria-hidden": "true" },
    el("div.line-y", [1, 0.5, 0].map((part) => el("span", format(most * part, true)))),
    svg("svg", { viewBox: "0 0 600 180", preserveAspectRatio: "none" }, grid,
      groups.length > 1 && svg("polygon", { class: "area", points: "0,170 " + points.join(" ") + " 600,170" }),
      svg("polyline", { class: "stroke", points: points.length > 1 ? points.join(" ") : "0," + y(groups[0].value) + " 600," + y(groups[0].value) })),
    el("div.line-x", groups.map((group, place) => el("span", place % skip ? "" : label(group)))));
}

function niceTop(value) {
  const size = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((step) => step * size).find((top) => top >= value);
}

function statusTone(field) {
  return (group) => (field.type === "status" ? "tone-" + toneOf(field, group.key) : "");
}

// --- dashboard

function dashboardView(screen) {
  const widgets = screen.widgets.filter((widget) => app.entities.has(widget.entity));
  const tiles = widgets.filter((widget) => widget.kind === "count" || widget.kind === "sum");
  const panels = widgets.filter((widget) => !tiles.includes(widget));
  const lead = widgets[0] && app.entities.get(widgets[0].entity);
  const create = lead && may("create") && newHref(lead);
  const today = capital(formatDate(app.today, { weekday: "long", day: "numeric", month: "long" }));
  return [
    pageHead({ title: screen.title, note: today, actions: [create && linkButton(t("new_one", { label: small(lead.label) }), create, { kind: "primary create", name: "plus", key: "new" })].filter(Boolean) }),
    app.blocked ? app.blocked("dashboard") : [
      tiles.length ? el("ul.tiles", tiles.map((widget) => el("li", tileOf(widget)))) : null,
      el("div.panels", panels.map((widget) => panelOf(widget))),
    ],
  ];
}

function widgetRecords(widget) {
  const entity = app.entities.get(widget.entity);
  const records = listRecords(entity.id);
  return widget.filter ? records.filter((record) => matchesFilter(entity, record, widget.filter)) : records;
}

function tileOf(widget) {
  const entity = app.entities.get(widget.entity);
  const records = widgetRecords(widget);
  const measure = widget.measure && fieldOf(entity, widget.measure);
  const value = widget.kind === "sum" && measure ? records.reduce((sum, record) => sum + (Number(valueOf(record, measure.id)) || 0), 0) : records.length;
  const text = widget.kind === "sum" && measure ? formatFigure(value, measure, true) : formatNumber(value);
  const list = listScreen(entity.id);
  const tone = widget.filter && widget.filter.when === "overdue" && value > 0 ? " alarming" : "";
  const inside = [el("span.tile-label", widget.title), el("span.tile-value", text),
    el("span.tile-foot", icon(entity.icon || "circle"), widget.kind === "sum" ? countOf(entity, records.length) : entity.plural)];
  return list ? el("a", { class: "tile" + tone, href: hrefTo(list.id, "", filterParams(widget.filter)) }, inside) : el("div", { class: "tile" + tone }, inside);
}

function panelOf(widget) {
  const entity = app.entities.get(widget.entity);
  const records = widgetRecords(widget);
  const list = listScreen(entity.id);
  const target = list && hrefTo(list.id, "", filterParams(widget.filter));
  const action = target && el("a.more-link", { href: target }, t("view_all", { count: formatNumber(records.length) }), hiddenText(": " + widget.title));
  const nothing = el("p.all-clear", icon("check"), t("all_clear"));
  const draw = { list: attentionList, bars: barsPanel, donut: donutPanel, trend: trendPanel }[widget.kind];
  return section(widget.title, records.length ? draw(widget, entity, records) : nothing, { action: widget.kind === "list" ? action : null, extra: "kind-" + widget.kind });
}

function attentionList(widget, entity, records) {
  const date = widget.filter && fieldOf(entity, widget.filter.field) && isDated(fieldOf(entity, widget.filter.field)) ? fieldOf(entity, widget.filter.field) : leadDate(entity);
  const sorted = date ? records.slice().sort(compareBy(entity, date)) : records;
  return el("ul.mini-rows", sorted.slice(0, 6).map((record) => attentionRow(entity, record, date)));
}

function attentionRow(entity, record, date) {
  const status = statusField(entity);
  const person = firstField(entity, (field) => field.type === "person");
  const name = person && valueOf(record, person.id);
  return el("li.mini-row",
    name ? avatar(name) : null,
    el("span.mini-text", titleLink(entity, record), name && el("span.mini-sub", name)),
    el("span.mini-facts", date && !isEmpty(valueIn(record, date)) && el("span", { class: isLate(entity, record, date) ? "due late" : "due" }, el("time", { datetime: valueIn(record, date) }, formatDistance(valueIn(record, date)))),
      status && statusBadge(status, valueIn(record, status))));
}

function widgetMeasure(widget, entity) {
  const measure = widget.measure ? fieldOf(entity, widget.measure) : null;
  return { measure, format: (value, short) => (measure ? formatFigure(value, measure, true) : formatNumber(value, { maximumFractionDigits: short ? 1 : 2 })) };
}

function barsPanel(widget, entity, records) {
  const field = groupField(entity);
  const { measure, format } = widgetMeasure(widget, entity);
  const groups = groupRecords(entity, records, field, measure, 8);
  return withTable(widget.title, field.label, groups, format, barsChart(groups, format, statusTone(field)));
}

function donutPanel(widget, entity, records) {
  const field = groupField(entity);
  const { measure, format } = widgetMeasure(widget, entity);
  const groups = groupRecords(entity, records, field, measure, 6).filter((group) => group.value > 0);
  return groups.length ? withTable(widget.title, field.label, groups, format, donutChart(groups, format)) : el("p.quiet", t("nothing_to_draw"));
}

function trendPanel(widget, entity, records) {
  const date = leadDate(entity);
  if (!date) return barsPanel(widget, entity, records);
  const { measure, format } = widgetMeasure(widget, entity);
  const groups = trendGroups(entity, records, date, measure);
  return groups.length ? withTable(widget.title, t("month"), groups, format, lineChart(groups, format)) : el("p.quiet", t("nothing_to_draw"));
}

// --- report

function reportView(screen) {
  const entity = app.entities.get(screen.entity);
  const groupable = entity.fields.filter((field) => !["longtext", "email", "phone", "url", "address", "number", "money", "percent", "duration"].includes(field.type) && field.id !== entity.display);
  const field = fieldOf(entity, param("by") || screen.groupBy || "") || groupField(entity);
  const measured = param("sum") === "-" ? null : fieldOf(entity, param("sum") || screen.measure || "") || null;
  const date = leadDate(entity);
  const change = (name) => (value) => { setParams({ [name]: value }); redraw(); };
  const measures = [["-", t("number_of", { plural: small(entity.plural) })], ...entity.fields.filter(isNumeric).map((one) => [one.id, one.label])];
  const periods = [["", t("all_time")], ["month", t("this_month")], ["past", t("past_90")], ["year", t("this_year")]];
  const kind = param("kind") || "bars";
  return recordScreen(screen, {
    note: t("report_note", { field: small(field.label) }),
    actions: [button(t("print"), { name: "print", key: "print", click: () => window.print() })],
    extras: [
      selectBox(t("group_by"), "group-by", field.id, (groupable.includes(field) ? groupable : [field, ...groupable]).map((one) => [one.id, one.label]), change("by")),
      selectBox(t("measure"), "measure", measured ? measured.id : "-", measures, change("sum")),
      date && selectBox(t("period"), "period", param("period"), periods, change("period")),
      segmented(t("chart"), "kind", kind, [["bars", t("bars")], ["share", t("share")], ...(date ? [["trend", t("over_time")]] : [])], change("kind")),
    ],
    draw: (same, records) => reportBody(screen, entity, records.filter((record) => inPeriod(date, record, param("period"))), { field, measured, date, kind }),
  });
}

function inPeriod(date, record, period) {
  if (!period || !date) return true;
  const day = String(valueIn(record, date)).slice(0, 10);
  if (period === "month") return day.slice(0, 7) === app.today.slice(0, 7);
  if (period === "year") return day.slice(0, 4) === app.today.slice(0, 4);
  return day && day <= app.today && day >= addDays(app.today, -90);
}

function reportBody(screen, entity, records, { field, measured, date, kind }) {
  const format = (value, short) => (measured ? formatFigure(Math.round(value * 100) / 100, measured, short) : formatNumber(value, { maximumFractionDigits: 2 }));
  const trend = kind === "trend" && date;
  const groups = trend ? trendGroups(entity, records, date, measured) : groupRecords(entity, records, field, measured, kind === "share" ? 6 : 0);
  if (!records.length || !groups.length) return emptyState(entity, true, () => { setParams({ period: "" }); clearFilters(); });
  const total = groups.reduce((sum, group) => sum + group.value, 0);
  const drawing = trend ? lineChart(groups, format) : kind === "share" ? donutChart(groups, format) : barsChart(groups, format, statusTone(field));
  const figures = [[t("total"), format(total)], [entity.plural, formatNumber(records.length)], ...(measured ? [[t("average"), format(total / records.length)]] : [])];
  return el("div.report",
    el("dl.figures", figures.map(([label, value]) => el("div", el("dt", label), el("dd", value)))),
    section(trend ? t("over_time") : t("by", { field: small(field.label) }), drawing),
    section(t("the_numbers"), reportTable(screen, trend ? t("month") : field.label, groups, total, format, measured),
      { action: button(t("csv"), { kind: "quiet small", name: "download", key: "csv", click: () => saveCsv(screen, trend ? t("month") : field.label, groups, measured) }) }));
}

function reportTable(screen, label, groups, total, format, measured) {
  const share = (value) => (total ? formatNumber(value / total, { style: "percent", maximumFractionDigits: 1 }) : "\u2013");
  const number = (text) => el("td.number", text);
  const all = groups.reduce((sum, group) => sum + group.count, 0);
  return el("div.table-wrap", el("table.table.plain", el("caption.sr-only", screen.title),
    el("thead", el("tr", el("th", { scope: "col" }, label), [t("count"), measured && measured.label, t("share")].filter(Boolean).map((text) => el("th", { scope: "col", class: "number" }, text)))),
    el("tbody", groups.map((group) => el("tr", el("th", { scope: "row" }, group.text), number(formatNumber(group.count)), measured && number(format(group.value)), number(share(group.value))))),
    el("tfoot", el("tr", el("th", { scope: "row" }, t("total")), number(formatNumber(all)), measured && number(format(total)), number(share(total))))));
}

// RFC 4180; a cell that a spreadsheet would run as a formula gets an apostrophe.
function saveCsv(screen, label, groups, measured) {
  const cell = (value) => '"' + String(value).replace(/^(?=[=+@-])(?!-?\d)/, "'").replace(/"/g, '""') + '"';
  const head = [label, t("count"), ...(measured ? [measured.label] : [])];
  const rows = groups.map((group) => [group.text, group.count, ...(measured ? [Math.round(group.value * 100) / 100] : [])]);
  const text = [head, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
  const address = URL.createObjectURL(new Blob(["\ufeff" + text], { type: "text/csv" }));
  const link = el("a", { href: address, download: screen.id + ".csv" });
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(address), 1000);
  toast(t("exported", { name: screen.id + ".csv" }));
}
""",
    "settings": r"""
// Settings: the numbers and limits of the brief; a change is kept at once and shows where it matters.

function settingsView(screen) {
  const head = pageHead({ title: screen.title, note: t("settings_note") });
  if (app.blocked) return [head, app.blocked("form")];
  if (!app.blueprint.settings.length) {
    return [head, el("div.state", el("div.state-art", { "aria-hidden": "true" }, icon("sliders")), el("h2", t("no_settings")), el("p", t("no_settings_hint")))];
  }
  return [head, el("ul.settings", app.blueprint.settings.map((setting) => el("li.setting", settingRow(setting))))];
}

function settingRow(setting) {
  const id = "setting-" + setting.id;
  const value = app.settings.get(setting.id);
  const notes = [
    setting.because && el("span.from-brief", t("from_brief", { words: setting.because })),
    value !== setting.value && el("span", t("was", { value: settingText(setting, setting.value) })),
    settingEffect(setting),
  ].filter(Boolean);
  return [
    el("div.setting-text", el("label", { for: id }, setting.label), notes.length ? el("p.hint", { id: id + "-hint" }, notes) : null),
    settingInput(setting, id, value, notes.length > 0),
  ];
}

function settingText(setting, value) {
  if (setting.type === "boolean") return value ? t("yes") : t("no");
  if (setting.type === "date") return formatDate(value);
  return setting.type === "text" ? String(value) : formatFigure(value, setting);
}

// How many records a threshold marks at present.
function settingEffect(setting) {
  for (const entity of app.blueprint.entities) {
    for (const field of entity.fields.filter(isNumeric)) {
      const watched = listRecords(entity.id).filter((record) => watchOf(entity, field, valueIn(record, field)) === setting).length;
      if (watched) return badge(t("marks", { records: countOf(entity, watched) }), "warn");
    }
  }
  return null;
}

function settingInput(setting, id, value, hinted) {
  const attrs = { id, "data-key": id, disabled: !may("edit"), "aria-describedby": hinted ? id + "-hint" : null };
  if (setting.type === "boolean") return el("input", { ...attrs, type: "checkbox", role: "switch", class: "switch", checked: value === true, on: { change: (event) => changeSetting(setting, event.target.checked) } });
  const number = isNumeric(setting);
  const onChange = (event) => {
    const next = number ? toNumber(event.target.value) : event.target.value;
    const wrong = number && Number.isNaN(next);
    event.target.setAttribute("aria-invalid", String(wrong));
    if (wrong) say(t("bad_number", { label: setting.label }));
    else changeSetting(setting, next);
  };
  const kind = setting.type === "date" ? "date" : "text";
  const input = el("input", { ...attrs, type: kind, inputmode: number ? "decimal" : null, value: String(value), on: { change: onChange } });
  const unit = setting.type === "percent" ? "%" : setting.type === "duration" ? t("minutes") : setting.unit;
  return unit && number ? el("span.with-unit", input, el("span.unit", { "aria-hidden": "true" }, unit)) : input;
}

function changeSetting(setting, value) {
  const before = app.settings.get(setting.id);
  const put = (next) => { app.settings.set(setting.id, next); keepData(); };
  put(value);
  toast(t("changed_to", { field: setting.label, value: settingText(setting, value) }), () => put(before));
  redraw();
  say(t("changed_to", { field: setting.label, value: settingText(setting, value) }));
}
""",
    "shell": r"""
// The page itself: the review bar, the product's own bar and menu, and the screen in the middle.

function start() {
  const block = document.getElementById("blueprint");
  const root = document.documentElement;
  const { blueprint, words, icons } = JSON.parse(block.textContent);
  Object.assign(app, {
    words: new Map(Object.entries(words)), icons: new Map(Object.entries(icons)), formats: new Map(), drafts: new Map(), settings: new Map(), menu: null, narrow: isNarrow(), toastAge: 0,
    lang: blueprint.lang, digest: block.dataset.digest, place: "", opener: "", route: { screen: "", record: "", params: new URLSearchParams() },
  });
  indexBlueprint(blueprint);
  loadData();
  app.route = readRoute();
  buildShell();
  render(false);
  listen();
  root.dataset.ready = "true";
}

function isNarrow() {
  return window.matchMedia("(max-width: 45rem)").matches;
}

function buildShell() {
  app.live = el("div.sr-only", { role: "status", "aria-live": "polite" });
  app.toasts = el("div.toasts", { role: "status" });
  app.main = el("main", { id: "main" });
  app.nav = el("nav", { id: "menu", class: "nav", "aria-label": t("menu") });
  app.who = el("div.who");
  app.dialog = el("dialog.dialog", { "aria-labelledby": "quick-title", on: { close: onDialogClose } });
  app.review = el("aside.review", { "aria-label": t("review") });
  const skip = (event) => { event.preventDefault(); focusTitle(); };
  const toggle = button(t("menu"), { kind: "quiet menu-toggle", name: "menu", "aria-expanded": "false", "aria-controls": "menu" });
  toggle.addEventListener("click", () => openNav(toggle.getAttribute("aria-expanded") !== "true"));
  app.toggle = toggle;
  const brand = el("a.brand", { href: hrefTo(menuHome(app.route.params)) }, brandMark(), el("span.brand-name", app.blueprint.title));
  app.brand = brand;
  document.body.append(
    el("a.skip", { href: "#main", on: { click: skip } }, t("skip")), app.review,
    el("div.frame", el("header.top", el("div.top-row", brand, toggle), app.nav, app.who), app.main),
    app.dialog, el("div.toast-place", app.toasts), app.live);
  buildReview();
}

// A sign of the product's own: its initials on the accent.
function brandMark() {
  return el("span.brand-mark", { "aria-hidden": "true" }, initials(app.blueprint.title).slice(0, 1));
}

function openNav(open) {
  app.toggle.setAttribute("aria-expanded", String(open));
  document.documentElement.classList.toggle("nav-open", open);
}

// --- review bar: what a reviewer chooses, all of it in the address

function buildReview() {
  const blueprint = app.blueprint;
  const choose = (name) => (value) => setReview(name, value);
  const controls = el("div.review-controls", { id: "review-controls" },
    blueprint.roles.length ? selectBox(t("role"), "review-role", "", blueprint.roles.map((role) => [role.id, role.label]), choose("role")) : null,
    blueprint.flows.length ? selectBox(t("flow"), "review-flow", "", [["", t("no_flow")], ...blueprint.flows.map((flow) => [flow.id, flow.label])], choose("flow")) : null,
    selectBox(t("state"), "review-state", "", [["", t("state_normal")], ...["empty", "loading", "error", "many"].map((state) => [state, t("state_" + state)])], choose("state")),
    selectBox(t("mode"), "review-mode", "", [["auto", t("mode_auto")], ["light", t("mode_light")], ["dark", t("mode_dark")]], choose("mode")),
    button(t("reset"), { name: "undo", click: onReset }));
  const toggle = button(t("review"), { kind: "review-toggle", name: "sliders", "aria-expanded": "false", "aria-controls": "review-controls" });
  toggle.addEventListener("click", () => {
    const open = toggle.getAttribute("aria-expanded") !== "true";
    toggle.setAttribute("aria-expanded", String(open));
    app.review.classList.toggle("open", open);
  });
  app.flowBar = el("div.flow");
  app.review.append(el("div.review-row", el("p.mark", el("span.mark-sign", { "aria-hidden": "true" }), t("mark")), toggle, controls), app.flowBar);
}

function syncReview() {
  const role = currentRole();
  const values = { role: role ? role.id : "", flow: param("flow"), state: param("state"), mode: param("mode") || app.blueprint.theme.mode };
  for (const [name, value] of Object.entries(values)) {
    const select = document.getElementById("review-" + name);
    if (select) select.value = value;
  }
  document.documentElement.dataset.mode = values.mode;
  app.review.classList.toggle("unusual", Boolean(param("state") || param("flow")));
}

function setReview(name, value) {
  if (name === "flow") {
    startFlow(value);
    return;
  }
  if (name === "role" && value === (app.blueprint.roles[0] || {}).id) value = "";
  if (name === "mode" && value === app.blueprint.theme.mode) value = "";
  setParams({ [name]: value, page: "" });
  if (name === "role" && !maySee(app.route.screen)) {
    go(menuHome(app.route.params));
    return;
  }
  render(false);
  const chosen = document.getElementById("review-" + name);
  say(chosen ? chosen.selectedOptions[0].textContent : "");
}

function onReset() {
  resetData();
  setParams(Object.fromEntries([...app.route.params.keys()].map((name) => [name, ""])));
  closeToast();
  const home = menuHome(app.route.params);
  app.route = { screen: maySee(app.route.screen) ? app.route.screen : home, record: "", params: new URLSearchParams() };
  setParams({});
  render(false);
  say(t("was_reset"));
}

function startFlow(id) {
  const flow = app.flows.get(id);
  setParams({ flow: id, step: "" });
  if (!flow) {
    render(false);
    return;
  }
  const role = flow.role && flow.role !== (app.blueprint.roles[0] || {}).id ? flow.role : "";
  setParams({ role });
  goStep(flow, 1);
}

function goStep(flow, number) {
  const step = flow.steps[number - 1];
  const target = stepHref(flow, number);
  if (target === window.location.hash) render(true);
  else window.location.hash = target;
  say(t("step_of", { step: number, all: flow.steps.length }) + ". " + (step.hint || ""));
}

function stepHref(flow, number) {
  const step = flow.steps[number - 1];
  return hrefTo(step.screen, step.record || "", { flow: flow.id, step: number > 1 ? String(number) : "" });
}

// Who comes to the next station by way of the product itself is there.
function followFlow() {
  const flow = app.flows.get(param("flow"));
  if (!flow) return;
  const number = Number(param("step")) || 1;
  const here = (place) => flow.steps[place - 1] && flow.steps[place - 1].screen === app.route.screen;
  if (!here(number) && here(number + 1)) setParams({ step: String(number + 1) });
}

function drawFlow() {
  const flow = app.flows.get(param("flow"));
  app.flowBar.hidden = !flow;
  if (!flow) return;
  const number = Math.min(flow.steps.length, Number(param("step")) || 1);
  const step = flow.steps[number - 1];
  const screen = app.screens.get(step.screen);
  app.flowBar.replaceChildren(
    el("p.flow-text", el("strong", t("step_of", { step: number, all: flow.steps.length })), el("span", step.hint || screen.title)),
    el("ol.flow-steps", { "aria-label": flow.label }, flow.steps.map((one, place) => el("li", el("a", {
      href: stepHref(flow, place + 1), class: place + 1 < number ? "past" : "", "aria-current": place + 1 === number ? "step" : null,
      "aria-label": t("step_of", { step: place + 1, all: flow.steps.length }) + ": " + app.screens.get(one.screen).title,
    }, String(place + 1))))),
    el("div.flow-moves",
      button(t("previous"), { disabled: number <= 1, click: () => goStep(flow, number - 1) }),
      number < flow.steps.length ? button(t("next"), { kind: "strong", click: () => goStep(flow, number + 1) }) : button(t("finish"), { kind: "strong", click: () => { setReview("flow", ""); say(t("flow_done")); } })));
}

// --- the product's menu

function screenIcon(screen) {
  const own = { dashboard: "dashboard", board: "board", calendar: "calendar", timeline: "timeline", inbox: "inbox", report: "chart", settings: "sliders", form: "plus" };
  if (Object.hasOwn(own, screen.type)) return own[screen.type];
  const entity = app.entities.get(screen.entity);
  return (entity && entity.icon) || "table";
}

function drawMenu() {
  const screens = menuScreens();
  const current = currentMenu(screens);
  const most = document.documentElement.dataset.layout === "tabs" && app.narrow && screens.length > 5 ? 4 : screens.length;
  const rest = screens.slice(most);
  const item = (screen) => {
    const unread = screen.type === "inbox" && listRecords(screen.entity).filter((record) => isUnread(app.entities.get(screen.entity), record)).length;
    return el("li", el("a", { href: hrefTo(screen.id), class: "nav-item", "aria-current": screen === current ? "page" : null },
      icon(screenIcon(screen)), el("span.nav-text", screen.title), unread ? el("span.nav-count", formatNumber(unread), hiddenText(" " + t("unread_mark"))) : null));
  };
  const more = rest.length && menuButton(t("more"), () => rest.map((screen) => ({ text: screen.title, name: screenIcon(screen), click: () => go(screen.id) })),
    { kind: "nav-item nav-more" + (rest.includes(current) ? " on" : ""), name: "more" });
  app.nav.replaceChildren(el("ul.nav-list", screens.slice(0, most).map(item), more ? el("li", more) : null));
  const role = currentRole();
  app.who.replaceChildren(...(role ? [avatar(role.label), el("span.who-text", el("span.who-label", t("signed_in")), el("span.who-name", role.label))] : []));
  app.brand.href = hrefTo(menuHome(app.route.params));
  openNav(false);
}

// The entry of the menu that a screen belongs to: itself, or the main screen of its entity.
function currentMenu(screens) {
  const here = app.screens.get(app.route.screen);
  return screens.find((screen) => screen === here) || screens.find((screen) => here.entity && screen.entity === here.entity);
}

// --- the screen in the middle

function drawScreen(screen) {
  const views = { dashboard: dashboardView, list: listView, cards: cardsView, detail: detailView, form: formView, board: boardView,
    calendar: calendarView, timeline: timelineView, inbox: inboxView, report: reportView, settings: settingsView };
  const state = param("state");
  app.blocked = state === "loading" ? loadingState : state === "error" ? errorState : null;
  if (!maySee(screen.id)) return [pageHead({ title: screen.title }), refusedState({ href: hrefTo(menuHome(app.route.params)), text: t("to_start") })];
  return views[screen.type](screen);
}

function drawMain() {
  closeMenu();
  const screen = app.screens.get(app.route.screen);
  const opened = !param("edit") && panelRecord();
  const content = el("div", { class: "screen screen-" + screen.type }, drawScreen(screen));
  const side = opened && el("aside.side", { "aria-labelledby": "quick-title" }, quickView(opened.entity, opened.record));
  app.main.className = opened ? "with-side" : "";
  app.main.replaceChildren(...[content, side].filter(Boolean));
  const title = document.getElementById("title");
  document.title = title.textContent + " \u00b7 " + app.blueprint.title;
  drawDialog();
}

function panelRecord() {
  const found = app.blueprint.variant.axes.detail === "panel" && !app.narrow && entityInRoute("open");
  return found && found.record ? found : null;
}

function drawDialog() {
  const editing = entityInRoute("edit");
  const opened = !editing && !panelRecord() && entityInRoute("open");
  const wanted = editing && !(editing.id && !editing.record) ? dialogForm(editing) : opened && opened.record ? quickView(opened.entity, opened.record) : null;
  if (wanted) {
    app.dialog.replaceChildren(wanted);
    if (!app.dialog.open) app.dialog.showModal();
  } else if (app.dialog.open) {
    app.dialog.close();
  }
}

function dialogForm({ entity, record }) {
  const leave = () => pushParams({ edit: "", part: "", ...Object.fromEntries([...app.route.params.keys()].filter((name) => name.startsWith("set.")).map((name) => [name, ""])) });
  const title = record ? t("edit_title", { title: titleOf(entity, record) }) : t("new_one", { label: small(entity.label) });
  const screen = app.blueprint.screens.find((one) => one.type === "form" && one.entity === entity.id);
  const body = may(record ? "edit" : "create") ? formPane({ screen, entity, record, leave, heading: "h3" }) : refusedState(null);
  return el("div.quick", el("div.quick-bar", el("h2", { id: "quick-title", tabindex: "-1" }, title),
    button("", { kind: "quiet icon-only", name: "close", label: t("close"), click: () => leave() })), body);
}

// The dialog was closed by Escape: the address follows.
function onDialogClose() {
  if (param("edit")) pushParams({ edit: "" });
  else if (param("open") && !panelRecord()) pushParams({ open: "" });
}

// What counts as another place: there the focus goes to the heading.
function placeOf() {
  return [app.route.screen, app.route.record, param("open"), param("edit")].join("|");
}

function render(moved) {
  followFlow();
  syncReview();
  drawFlow();
  drawMenu();
  drawMain();
  const place = placeOf();
  if (moved && place !== app.place) moveFocus();
  app.place = place;
}

function moveFocus() {
  const [screen, record] = app.place.split("|");
  const same = screen === app.route.screen && record === app.route.record;
  const quick = (param("open") || param("edit")) && document.getElementById("quick-title");
  const reader = record !== app.route.record && screen === app.route.screen && document.getElementById("reader-title");
  const opener = !quick && same && app.opener && document.querySelector('[data-key="' + CSS.escape(app.opener) + '"]');
  if (!same) {
    app.toastAge += 1;
    if (app.toastAge > 1) closeToast();
    if (!reader) window.scrollTo(0, 0);
  }
  (quick || reader || opener || document.getElementById("title")).focus({ preventScroll: !reader });
}

// Draws the screen anew after a change of data and puts the focus back where it was.
function redraw() {
  const active = document.activeElement;
  const key = active && (active.dataset.key || "");
  const id = active && active.id;
  drawMenu();
  drawMain();
  const again = (key && document.querySelector('[data-key="' + CSS.escape(key) + '"]')) || (id && document.getElementById(id));
  if (again) again.focus({ preventScroll: true });
}

function listen() {
  window.addEventListener("hashchange", () => {
    app.route = readRoute();
    render(true);
  });
  window.addEventListener("resize", () => {
    const narrow = isNarrow();
    if (narrow === app.narrow) return;
    app.narrow = narrow;
    render(false);
  });
  window.addEventListener("storage", (event) => {
    if (event.key !== "protoyard:" + app.digest) return;
    loadData();
    redraw();
  });
  document.addEventListener("click", (event) => {
    const key = event.target.closest("[data-key]");
    if (key && app.main.contains(key)) app.opener = key.dataset.key;
    if (app.menu && !app.menu.menu.contains(event.target)) closeMenu();
    for (const box of document.querySelectorAll("details.filter[open]")) if (!box.contains(event.target)) box.open = false;
  });
  window.addEventListener("scroll", closeMenu, { passive: true });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && panelRecord() && !app.menu) pushParams({ open: "" });
  });
}
""",
}


class _Assets(NamedTuple):
    """Style and script as they stand in every page, each with its hash for the Content-Security-Policy."""

    style: str
    style_hash: str
    script: str
    script_hash: str
    shelf: str
    shelf_hash: str


def _hash_source(text: str) -> str:
    """What the Content-Security-Policy calls an inline block: `sha256-` and the digest in base 64."""
    import base64
    import hashlib

    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _lighten(text: str) -> str:
    """An asset without its indentation and its comment lines: every page carries it, so it travels light."""
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith(("// ", "/* "))) + "\n"


@once
def _assets() -> _Assets:
    style = "\n" + _lighten(TOKENS_CSS + PAGE_CSS)
    shelf = "\n" + _lighten(TOKENS_CSS + SHELF_CSS)
    parts = _lighten("".join(PAGE_JS_PARTS.values()))
    script = f'\n(function () {{\n"use strict";\nconst app = {{}};\n{parts}start();\n}})();\n'
    return _Assets(style, _hash_source(style), script, _hash_source(script), shelf, _hash_source(shelf))


def _script_json(value: Any) -> str:
    """JSON that is safe inside a script element: no character of it can end the block or start a comment."""
    escapes = {ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"}
    return render_json(value).translate(escapes)


def _text(text: str) -> str:
    """Text for markup: escaped, and without lone surrogates, which no UTF-8 file can hold."""
    import html

    return html.escape(text.encode("utf-8", "replace").decode("utf-8"))


def _fill(template: str, values: Mapping[str, str]) -> str:
    from string import Template

    return Template(template).substitute(values)


def words_for(lang: str) -> Mapping[str, str]:
    """The interface's words of a BCP 47 tag: its language's, else the first language's; missing ones too."""
    table = json.loads(PAGE_WORDS)
    first = next(iter(table.values()))
    return {**first, **table.get(lang.split("-")[0], {})}


def render_page(blueprint: Mapping[str, Any]) -> str:
    """The self-contained page of a blueprint: one HTML file that opens from disk and sends no request."""
    assets = _assets()
    data = {"words": words_for(blueprint["lang"]), "icons": json.loads(PAGE_ICONS), "blueprint": blueprint}
    values = {
        **blueprint["theme"],
        "lang": blueprint["lang"],
        "dir": blueprint["dir"],
        "title": _text(blueprint["title"]),
        "digest": digest(blueprint),
        "style": assets.style,
        "style_hash": assets.style_hash,
        "script": assets.script,
        "script_hash": assets.script_hash,
        "data": _script_json(data),
    }
    return _fill(PAGE_HTML, values)


# How a variant's axes are said on the page that compares variants.
# fmt: off
_AXIS_LABELS = {
    "navigation": "Navigation", "home": "Starts with", "main": "Main view", "detail": "A record opens as",
    "entry": "Entry", "density": "Density",
}
_AXIS_VALUES = {
    "sidebar": "Side bar", "topbar": "Top bar", "page": "Page", "panel": "Side panel", "dialog": "Dialog",
    "guided": "Step by step",
}
# fmt: on


def _render_shelf(title: str, palette: str, lang: str, direction: str, body: str) -> str:
    assets = _assets()
    values = {"title": _text(title), "palette": palette, "lang": lang, "dir": direction, "body": body}
    return _fill(SHELF_HTML, {**values, "style": assets.shelf, "style_hash": assets.shelf_hash})


def _render_answer(blueprint: Mapping[str, Any]) -> str:
    variant, theme = blueprint["variant"], blueprint["theme"]
    letter = variant["id"]
    axes = "".join(
        f"<div><dt>{label}</dt><dd>{_AXIS_VALUES.get(variant['axes'][name], variant['axes'][name].capitalize())}</dd></div>"
        for name, label in _AXIS_LABELS.items()
    )
    cost = f'<p class="cost"><b>What it costs:</b> {_text(variant["cost"])}</p>' if variant.get("cost") else ""
    return (
        f'<li><article class="answer" data-palette="{theme["palette"]}">'
        f'<div class="sketch" data-layout="{theme["layout"]}" data-main="{variant["axes"]["main"]}" aria-hidden="true">'
        f"<b></b><span>{'<i></i>' * 6}</span></div>"
        f'<p class="letter">Variant {letter.upper()}</p>'
        f'<h2 dir="auto"><a href="{letter}/index.html">{_text(variant["question"])}</a></h2>'
        f'<p class="why" dir="auto">{_text(variant.get("rationale", ""))}</p>{cost}'
        f'<dl class="axes">{axes}</dl></article></li>'
    )


def render_variants_page(manifest: Mapping[str, Any], blueprints: Sequence[Mapping[str, Any]]) -> str:
    """The page of one prototype: its variants side by side, each with the question it answers and its cost."""
    first = blueprints[0]
    answers = "\n".join(_render_answer(blueprint) for blueprint in blueprints)
    count = f"{len(blueprints)} answers to one brief" if len(blueprints) > 1 else "One answer to a brief"
    body = (
        f'<p class="eyebrow">{count}</p>\n<h1 dir="auto">{_text(manifest["title"])}</h1>\n'
        f'<p class="brief" dir="auto">{_text(manifest["brief"])}</p>\n<ul class="answers">\n{answers}\n</ul>\n'
        '<p><a class="home" href="../index.html">All prototypes</a></p>'
    )
    return _render_shelf(manifest["title"], first["theme"]["palette"], "en", "ltr", body)


def _render_entry(entry: Mapping[str, Any]) -> str:
    slug = entry["slug"]
    letters = "".join(
        f'<a href="{slug}/{letter}/index.html" aria-label="Variant {letter.upper()} of {_text(entry["title"])}">'
        f"{letter.upper()}</a>"
        for letter in entry["variants"]
    )
    return (
        f'<li><article class="answer"><h2 dir="auto"><a href="{slug}/index.html">{_text(entry["title"])}</a></h2>'
        f'<p class="why clip" dir="auto">{_text(entry["brief"])}</p>'
        f'<p class="letter">{_text(entry["created"][:10])}</p><div class="letters">{letters}</div></article></li>'
    )


def render_gallery(entries: Sequence[Mapping[str, Any]]) -> str:
    """The gallery: one card an entry ({"slug", "title", "brief", "variants", "created"}), in the order given."""
    cards = "\n".join(map(_render_entry, entries))
    shown = f'<ul class="answers">\n{cards}\n</ul>' if entries else '<p class="brief">Nothing here yet.</p>'
    body = f'<p class="eyebrow">Gallery</p>\n<h1>Prototypes</h1>\n{shown}'
    return _render_shelf("Prototypes", PALETTES[0], "en", "ltr", body)


# ======================================================================
# §12 store: prototypes on disk
# ======================================================================
# Rules: uses §01-07, §10-11; knows no brief: it is handed blueprints. The layout is that of TOOLS §2. A prototype is
# staged whole and renamed into place. A revision is committed by the replace of the manifest: its history file is
# durable before, blueprint.json and the page are refreshed after, and a refresh that was cut off is known by the digest
# of an earlier revision and rolled forward. Whoever writes holds the lock from reading the manifest to the last file.

_TEXT = {"type": "string"}
_MANIFEST_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["prototype", "title", "brief", "seed", "version", "created", "variants", "promotions"],
    "additionalProperties": False,
    "properties": {
        "prototype": {"const": 1},
        "title": _TEXT,
        "brief": _TEXT,
        "seed": {"type": "integer", "minimum": 0, "maximum": SEED_MAX},
        "version": _TEXT,
        "created": {"type": "string", "pattern": r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"},
        "promotions": {"type": "array", "items": {"type": "object"}},
        "variants": {
            "type": "array",
            "minItems": 1,
            "maxItems": len(VARIANT_LETTERS),
            "items": {
                "type": "object",
                "required": ["id", "question", "revisions"],
                "properties": {
                    "id": {"type": "string", "enum": list(VARIANT_LETTERS)},
                    "question": _TEXT,
                    "revisions": {
                        "type": "array",
                        "minItems": 1,
                        "items": {
                            "type": "object",
                            "required": ["revision", "digest", "summary"],
                            "properties": {
                                "revision": {"type": "integer", "minimum": 1},
                                "digest": {"type": "string", "pattern": "sha256:[0-9a-f]{64}"},
                                "summary": _TEXT,
                            },
                        },
                    },
                },
            },
        },
    },
}


def check_manifest(value: Any) -> list[Problem]:
    """Every problem of a parsed manifest, with JSON pointers: its schema, then letters and revision numbers."""
    problems = check_schema(value, _MANIFEST_SCHEMA)
    if problems:
        return problems
    letters = [variant["id"] for variant in value["variants"]]
    if letters != sorted(set(letters)):
        problems.append(Problem("/variants", "must hold each variant once, by letter"))
    for index, variant in enumerate(value["variants"]):
        numbers = [revision["revision"] for revision in variant["revisions"]]
        if numbers != list(range(1, len(numbers) + 1)):
            problems.append(Problem(f"/variants/{index}/revisions", "must be numbered 1, 2, 3 …"))
    return problems


def render_history_name(revision: int) -> str:
    """The name of a revision's file in a variant's folder: history/0001.json."""
    return f"{HISTORY_DIR}/{revision:0{HISTORY_DIGITS}}.json"


def _render_page_bytes(blueprint: dict[str, Any]) -> bytes:
    return render_page(blueprint).encode("utf-8")


def _render_manifest_bytes(manifest: Mapping[str, Any]) -> bytes:
    return render_document(manifest).encode("utf-8")


def _render_variant(blueprint: dict[str, Any]) -> dict[str, bytes]:
    """The files of a new variant's folder, by name."""
    text = render_blueprint(blueprint).encode("utf-8")
    return {BLUEPRINT_NAME: text, PAGE_NAME: _render_page_bytes(blueprint), render_history_name(1): text}


def _folder_of(slug: str) -> str:
    if not re.fullmatch(SLUG_PATTERN, slug):
        raise Failure("not_found", f'"{slug}" is no slug', "see: protoyard list")
    return f"{PROTOTYPES_DIR}/{slug}"


# --- reading -------------------------------------------------------------------------------------


def read_manifest(workspace: Workspace, slug: str) -> dict[str, Any]:
    """A prototype's manifest; `not_found` without one, `io_error` when it is damaged."""
    file = f"{_folder_of(slug)}/{MANIFEST_NAME}"
    try:
        manifest = parse_json(workspace.read_bytes(file, max_bytes=MANIFEST_MAX_BYTES))
        problems = check_manifest(manifest)
    except JsonError as error:
        problems = [Problem("", error.message)]
    except Failure as failure:
        if failure.code != "not_found":
            raise
        raise Failure("not_found", f"there is no prototype {slug}", "see: protoyard list") from failure
    if problems:
        message = f"{file} is damaged: {describe_problems(problems)}"
        raise Failure("io_error", message, f"see: protoyard validate {_folder_of(slug)}")
    return manifest


def _entry(slug: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What list and gallery say about a prototype."""
    letters = [variant["id"] for variant in manifest["variants"]]
    shown = {name: manifest[name] for name in ("title", "brief", "created")}
    return {"slug": slug, **shown, "variants": letters}


def _read_slugs(workspace: Workspace) -> list[str]:
    if workspace.kind(PROTOTYPES_DIR) == "missing":
        return []
    names = workspace.read_names(PROTOTYPES_DIR)
    return [name for name in names if re.fullmatch(SLUG_PATTERN, name)]


def read_list(workspace: Workspace, *, limit: int, after: str = "") -> dict[str, Any]:
    """One page: the next `limit` folders by slug after `after`; only their manifests are read.

    {"prototypes": [{"slug", "title", "created", "variants"}], "damaged": [{"slug", "problem"}] and "next" if any}
    """
    slugs = [slug for slug in _read_slugs(workspace) if slug > after]
    good: list[dict[str, Any]] = []
    damaged: list[dict[str, Any]] = []
    for slug in slugs[:limit]:
        try:
            entry = _entry(slug, read_manifest(workspace, slug))
            del entry["brief"]
            good.append(entry)
        except Failure as failure:
            damaged.append({"slug": slug, "problem": failure.message})
    more = {"next": slugs[limit - 1]} if len(slugs) > limit else {}
    return {"prototypes": good, **({"damaged": damaged} if damaged else {}), **more}


def _parse_blueprint(file: str, data: bytes, known: Sequence[str] = ()) -> tuple[dict[str, Any], str]:
    """A blueprint file's value and digest; `invalid_blueprint` names every problem. A known digest needs no check."""
    try:
        value = parse_json(data)
    except JsonError as error:
        raise Failure("invalid_blueprint", f"{file}: {error.message}") from error
    mark = digest(value) if isinstance(value, dict) else ""
    problems = [] if mark in known else check_blueprint(value)
    if problems:
        raise Failure("invalid_blueprint", f"{file}: {describe_problems(problems)}")
    return value, mark


def read_revision(workspace: Workspace, folder: str, revision: Mapping[str, Any]) -> dict[str, Any]:
    """The blueprint of one of the manifest's revisions from a variant's history; `io_error` when it was changed."""
    file = f"{folder}/{render_history_name(revision['revision'])}"
    data = workspace.read_bytes(file, max_bytes=BLUEPRINT_FILE_MAX_BYTES)
    blueprint, mark = _parse_blueprint(file, data, [revision["digest"]])
    if mark != revision["digest"]:
        raise Failure("io_error", f"{file} is not what was recorded", f"see: protoyard validate {folder}")
    return blueprint


class Variant(NamedTuple):
    """A variant as it stands. `state`: "current", "edited" by hand since the last revision, or "behind" it."""

    folder: str
    blueprint: dict[str, Any]
    revisions: list[dict[str, Any]]
    state: str


def load_variant(workspace: Workspace, folder: str, entry: Mapping[str, Any]) -> Variant:
    """The variant of a manifest's entry, from its blueprint.json, or from the history where that file is behind."""
    file, revisions = f"{folder}/{BLUEPRINT_NAME}", entry["revisions"]
    known = [revision["digest"] for revision in revisions]
    if workspace.kind(file) != "missing":
        data = workspace.read_bytes(file, max_bytes=BLUEPRINT_FILE_MAX_BYTES)
        blueprint, mark = _parse_blueprint(file, data, known)
        if mark == known[-1] or mark not in known:
            return Variant(folder, blueprint, revisions, "current" if mark == known[-1] else "edited")
    return Variant(folder, read_revision(workspace, folder, revisions[-1]), revisions, "behind")


def _outline(variant: Variant) -> dict[str, Any]:
    blueprint = variant.blueprint
    entities = [
        {"id": entity["id"], "label": entity["label"], "records": len(entity.get("records", ()))}
        for entity in blueprint["entities"]
    ]
    screens = [
        {"id": screen["id"], "title": screen["title"], "type": screen["type"]}
        for screen in blueprint["screens"]
    ]
    roles = [{"id": role["id"], "label": role["label"]} for role in blueprint["roles"]]
    edited = {"edited": True} if variant.state == "edited" else {}
    return {**edited, "roles": roles, "entities": entities, "screens": screens}


def read_prototype(workspace: Workspace, slug: str) -> dict[str, Any]:
    """The manifest with folder and page, and of each variant its last revisions, roles, entities and screens."""
    manifest, folder, variants = read_manifest(workspace, slug), _folder_of(slug), []
    for entry in manifest["variants"]:
        own = f"{folder}/{entry['id']}"
        head = {"id": entry["id"], "question": entry["question"], "folder": own, "page": f"{own}/{PAGE_NAME}"}
        head["revision"] = len(entry["revisions"])
        head["revisions"] = entry["revisions"][-REVISIONS_SHOWN:]
        try:
            variants.append({**head, **_outline(load_variant(workspace, own, entry))})
        except Failure as failure:
            variants.append({**head, "problem": failure.message})
    return {"slug": slug, "folder": folder, "page": f"{folder}/{PAGE_NAME}", **manifest, "variants": variants}


def find_variant(manifest: Mapping[str, Any], slug: str, letter: str) -> dict[str, Any]:
    """The manifest's entry of a variant; `not_found` names those that there are."""
    for entry in manifest["variants"]:
        if entry["id"] == letter:
            return entry
    letters = ", ".join(entry["id"] for entry in manifest["variants"])
    raise Failure("not_found", f"{slug} has no variant {letter}", f"its variants: {letters}")


def read_variant(workspace: Workspace, slug: str, letter: str) -> dict[str, Any]:
    """{"slug", "variant", "folder", "page", "revision", "digest", "edited" if so, "blueprint"}: with all records."""
    entry = find_variant(read_manifest(workspace, slug), slug, letter)
    variant = load_variant(workspace, f"{_folder_of(slug)}/{letter}", entry)
    return {
        "slug": slug,
        "variant": letter,
        "folder": variant.folder,
        "page": f"{variant.folder}/{PAGE_NAME}",
        "revision": len(variant.revisions),
        "digest": digest(variant.blueprint),
        **({"edited": True} if variant.state == "edited" else {}),
        "blueprint": variant.blueprint,
    }


# --- writing -------------------------------------------------------------------------------------


def write_gallery(workspace: Workspace, call: Call) -> None:
    """Regenerates prototypes/index.html: the newest GALLERY_MAX_PROTOTYPES by time of creation, damaged ones left out."""
    entries = []
    for slug in _read_slugs(workspace):
        call.check()
        try:
            entries.append(_entry(slug, read_manifest(workspace, slug)))
        except Failure:
            continue
    entries.sort(key=lambda entry: entry["slug"])
    entries.sort(key=lambda entry: entry["created"], reverse=True)
    page = render_gallery(entries[:GALLERY_MAX_PROTOTYPES])
    workspace.write_file(f"{PROTOTYPES_DIR}/{PAGE_NAME}", page.encode("utf-8"), call)


def _publish(workspace: Workspace, stage: Stage, slug: str, derived: bool) -> str:
    """Puts the staged prototype at its slug, or at the next free number when the slug was not the caller's own."""
    number = 1
    while True:
        ending = f"-{number}" if number > 1 else ""
        free = slug[: SLUG_MAX_CHARS - len(ending)].rstrip("-") + ending
        number += 1
        if derived and workspace.kind(_folder_of(free)) != "missing":
            continue
        try:
            stage.publish(_folder_of(free))
            return free
        except Failure as failure:
            if failure.code == "already_exists" and not derived:
                hint = "choose another slug, or leave it out to get a numbered one"
                raise Failure("already_exists", f"{_folder_of(slug)} is there already", hint) from failure
            raise


def create_prototype(
    workspace: Workspace,
    call: Call,
    *,
    slug: str,
    derived: bool,
    title: str,
    brief: str,
    seed: int,
    blueprints: Sequence[dict[str, Any]],
    created: str = "",
) -> dict[str, Any]:
    """Stores one blueprint a variant as a new prototype: it appears whole or not at all.

    A taken slug gets a number when it was `derived`, else it is `already_exists`. `created` is UTC, default now.
    Answers {"slug", "folder", "page", "created", "variants": [{"id", "question", "page", "revision", "digest"}]}.
    """
    call.step("render")
    files, variants = {}, []
    for blueprint in blueprints:
        call.check()
        letter, question = blueprint["variant"]["id"], blueprint["variant"]["question"]
        files.update({f"{letter}/{name}": data for name, data in _render_variant(blueprint).items()})
        first = {"revision": 1, "digest": digest(blueprint), "summary": "First draft."}
        variants.append({"id": letter, "question": question, "revisions": [first]})
    manifest = {
        "prototype": 1,
        "title": title,
        "brief": brief,
        "seed": seed,
        "version": __version__,
        "created": created or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "variants": variants,
        "promotions": [],
    }
    files[MANIFEST_NAME] = _render_manifest_bytes(manifest)
    files[PAGE_NAME] = render_variants_page(manifest, blueprints).encode("utf-8")
    call.step("lock")
    with workspace.lock(call):
        workspace.sweep(call)
        call.step("store")
        with workspace.stage(call) as stage:
            for name, data in files.items():
                stage.write(name, data)
            slug = _publish(workspace, stage, slug, derived)
        call.step("gallery")
        write_gallery(workspace, call)
    return _created(slug, manifest)


def _created(slug: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
    folder = _folder_of(slug)
    variants = [
        {
            "id": entry["id"],
            "question": entry["question"],
            "page": f"{folder}/{entry['id']}/{PAGE_NAME}",
            **{name: entry["revisions"][-1][name] for name in ("revision", "digest")},
        }
        for entry in manifest["variants"]
    ]
    head = {"slug": slug, "folder": folder, "page": f"{folder}/{PAGE_NAME}", "created": manifest["created"]}
    return {**head, "variants": variants}


def write_manifest(workspace: Workspace, call: Call, slug: str, manifest: Mapping[str, Any]) -> None:
    """Replaces the manifest: what commits a revision or records a promotion. With the lock held."""
    workspace.write_file(f"{_folder_of(slug)}/{MANIFEST_NAME}", _render_manifest_bytes(manifest), call)


def write_refresh(workspace: Workspace, call: Call, folder: str, blueprint: dict[str, Any]) -> None:
    """Brings a variant's blueprint.json and page up to a blueprint; files that hold it already are left alone."""
    files = _render_variant(blueprint)
    for name in (BLUEPRINT_NAME, PAGE_NAME):
        file = f"{folder}/{name}"
        if not _holds(workspace, file, files[name]):
            workspace.write_file(file, files[name], call)


def _holds(workspace: Workspace, file: str, data: bytes) -> bool:
    try:
        return workspace.read_bytes(file, max_bytes=len(data)) == data
    except Failure as failure:
        if failure.code in ("not_found", "invalid_arguments"):
            return False
        raise


def write_revision(
    workspace: Workspace, call: Call, slug: str, letter: str, blueprint: dict[str, Any], summary: str
) -> int:
    """Adds a revision to a variant and answers its number. With the lock held, from reading the manifest on.

    The replace of the manifest is the commit; a call stopped after it leaves a refresh that is rolled forward.
    """
    manifest, folder = read_manifest(workspace, slug), f"{_folder_of(slug)}/{letter}"
    entry = find_variant(manifest, slug, letter)
    number = len(entry["revisions"]) + 1
    text = render_blueprint(blueprint).encode("utf-8")
    workspace.write_file(f"{folder}/{render_history_name(number)}", text, call)
    entry["revisions"].append({"revision": number, "digest": digest(blueprint), "summary": summary})
    entry["question"] = blueprint["variant"]["question"]
    write_manifest(workspace, call, slug, manifest)
    write_refresh(workspace, call, folder, blueprint)
    write_variants_page(workspace, call, slug)
    return number


def write_variants_page(workspace: Workspace, call: Call, slug: str) -> None:
    """Renders prototypes/<slug>/index.html from the manifest and the variants' current blueprints."""
    manifest, folder = read_manifest(workspace, slug), _folder_of(slug)
    page = render_variants_page(manifest, _read_current(workspace, folder, manifest))
    data = page.encode("utf-8")
    if not _holds(workspace, f"{folder}/{PAGE_NAME}", data):
        workspace.write_file(f"{folder}/{PAGE_NAME}", data, call)


def _read_current(workspace: Workspace, folder: str, manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The committed blueprint of each variant, from the history: a hand edit does not show before it is taken up."""
    return [
        read_revision(workspace, f"{folder}/{entry['id']}", entry["revisions"][-1])
        for entry in manifest["variants"]
    ]


# --- verifying -----------------------------------------------------------------------------------


class _Report:
    """What `verify` has found: `problems` make it invalid, `notes` are for people."""

    __slots__ = ("notes", "problems", "workspace")

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.problems: list[dict[str, str]] = []
        self.notes: list[str] = []

    def add(self, file: str, code: str, message: str, pointer: str = "") -> None:
        self.problems.append({"file": file, "pointer": pointer, "code": code, "message": message})

    def read(self, file: str, max_bytes: int) -> bytes | None:
        """The file's bytes; None, with a problem added, when they cannot be had."""
        try:
            return self.workspace.read_bytes(file, max_bytes=max_bytes)
        except Failure as failure:
            missing = failure.code == "not_found"
            self.add(
                file, "missing" if missing else failure.code, "is missing" if missing else failure.message
            )
        return None

    def parse(self, file: str, code: str, max_bytes: int, check: Callable[[Any], list[Problem]]) -> Any:
        """A JSON file's value; None, with each of its problems added under `code`, when it is not sound."""
        data = self.read(file, max_bytes)
        if data is None:
            return None
        try:
            value = parse_json(data)
            problems = check(value)
        except JsonError as error:
            problems = [Problem("", error.message)]
        for problem in problems:
            self.add(file, code, problem.message, problem.pointer)
        return None if problems else value

    def compare(self, file: str, expected: Sequence[str], version: str) -> None:
        """Is a page one of those that it may be? A page made by another version of Protoyard may differ."""
        data = self.read(file, PAGE_MAX_BYTES)
        if data is None or data in [page.encode("utf-8") for page in expected]:
            return
        if version == __version__:
            self.add(file, "page_differs", "is not what its blueprint renders to; iterate renders it again")
        else:
            self.notes.append(f"{file} was rendered by version {version}; iterate renders it again")


def _verify_history(
    report: _Report, folder: str, revisions: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """Each revision against its digest; the current revision's blueprint, None when it cannot be had."""
    blueprint = None
    for revision in revisions:
        file = f"{folder}/{render_history_name(revision['revision'])}"
        blueprint = report.parse(file, "invalid_blueprint", BLUEPRINT_FILE_MAX_BYTES, check_blueprint)
        if blueprint is not None and digest(blueprint) != revision["digest"]:
            report.add(file, "history_differs", "is not what the manifest recorded for this revision")
            blueprint = None
    following = f"{folder}/{render_history_name(len(revisions) + 1)}"
    if report.workspace.kind(following) != "missing":
        report.notes.append(
            f"{following} is not in the manifest: a revision that was not committed{_in_progress(report)}"
        )
    return blueprint


def _verify_variant(
    report: _Report, folder: str, manifest: Mapping[str, Any], entry: Mapping[str, Any]
) -> None:
    """History, blueprint.json and page of one variant against its manifest entry and each other."""
    revisions, file = entry["revisions"], f"{folder}/{BLUEPRINT_NAME}"
    current = _verify_history(report, folder, revisions)
    blueprint = report.parse(file, "invalid_blueprint", BLUEPRINT_FILE_MAX_BYTES, check_blueprint)
    if blueprint is None:
        return
    known = [revision["digest"] for revision in revisions]
    mark, shown = digest(blueprint), [blueprint]
    if mark in known[:-1] and mark != known[-1]:
        shown.append(current or blueprint)
        earlier = known.index(mark) + 1
        report.notes.append(
            f"{file} is still revision {earlier} of {len(known)}; iterate refreshes it{_in_progress(report)}"
        )
    elif mark not in known:
        shown.append(current or blueprint)
        report.notes.append(
            f"{file} was edited by hand since revision {len(known)} and is valid; iterate takes it up"
        )
    if blueprint["variant"]["id"] != entry["id"]:
        report.add(file, "manifest_differs", f"must be {entry['id']}, as in the manifest", "/variant/id")
    report.compare(f"{folder}/{PAGE_NAME}", [render_page(one) for one in shown], manifest["version"])


def _in_progress(report: _Report) -> str:
    """The mark on anything unfinished, unless a probe of the lock says that nobody is writing."""
    return "" if report.workspace.lock_is_free() else " (may be in progress)"


def _verify_prototype(report: _Report, folder: str, only: str = "") -> None:
    """A prototype's manifest, then every variant and the page above them, or only one variant."""
    file = f"{folder}/{MANIFEST_NAME}"
    manifest = report.parse(file, "invalid_manifest", MANIFEST_MAX_BYTES, check_manifest)
    if manifest is None:
        return
    letters = [entry["id"] for entry in manifest["variants"]]
    if only and only not in letters:
        report.add(file, "manifest_differs", f"has no variant {only}", "/variants")
    for entry in manifest["variants"]:
        if only in ("", entry["id"]):
            _verify_variant(report, f"{folder}/{entry['id']}", manifest, entry)
    if only:
        return
    for name in report.workspace.read_names(folder):
        if name in set(VARIANT_LETTERS) - set(letters):
            report.notes.append(f"{folder}/{name} is not in the manifest")
    try:
        page = render_variants_page(manifest, _read_current(report.workspace, folder, manifest))
    except Failure:  # the history's own problems are listed
        return
    report.compare(f"{folder}/{PAGE_NAME}", [page], manifest["version"])


def _note_leftovers(report: _Report) -> None:
    if report.workspace.kind(STAGING_DIR) == "folder":
        count = len(report.workspace.read_names(STAGING_DIR))
        if count:
            report.notes.append(
                f"{STAGING_DIR} holds {count} unfinished{_in_progress(report) or '; the next writing command clears them'}"
            )


def verify(workspace: Workspace, path: str) -> dict[str, Any]:
    """What is wrong with a prototype's folder, a variant's folder or a blueprint's .json file (a resolved path).

    {"folder", "valid", "problems": [{"file", "pointer", "code", "message"}], "notes": [text]}. Codes: `missing`,
    `invalid_manifest`, `invalid_blueprint`, `history_differs`, `manifest_differs`, `page_differs`, or that of a Failure
    for a file that cannot be read. A valid edit by hand, a refresh that was cut off and leftovers are notes.
    """
    report = _Report(workspace)
    above, _, name = path.rpartition("/")
    kind = workspace.kind(path)
    if kind == "missing":
        raise Failure("not_found", f"{path} does not exist")
    if kind == "file" and name.endswith(".json"):
        report.parse(path, "invalid_blueprint", BLUEPRINT_FILE_MAX_BYTES, check_blueprint)
    elif kind == "folder" and path and (
        above == PROTOTYPES_DIR or workspace.kind(f"{path}/{MANIFEST_NAME}") == "file"
    ):
        _verify_prototype(report, path)
    elif (
        kind == "folder" and name in list(VARIANT_LETTERS) and workspace.kind(f"{above}/{MANIFEST_NAME}") == "file"
    ):
        _verify_prototype(report, above, only=name)
    else:
        message = f"folder: {path or '.'} is no prototype's folder, no variant's folder and no .json file"
        raise Failure("invalid_arguments", message, "see: protoyard list")
    _note_leftovers(report)
    return {"folder": path, "valid": not report.problems, "problems": report.problems, "notes": report.notes}


# ======================================================================
# §14 browser: find a browser, drive it by its pipe, take screenshots
# ======================================================================
# Rules: uses §01-06.

# ======================================================================
# §15 operations: the rows that are tools and commands
# ======================================================================
# Rules: uses §01-14. One row is the only source of a tool's name, texts, arguments and annotations, of its
# command, its options and the argument vector that the server builds. `patchFile` is `--patch-file`.


class Argument(NamedTuple):
    """One argument: its MCP name (camelCase), its JSON Schema, and how the command line takes it."""

    name: str
    schema: Mapping[str, Any]
    required: bool = False
    positional: bool = False
    piped: bool = False  # on the command line `-` means standard input

    @property
    def option(self) -> str:
        """The command-line option, or the bare name of a positional."""
        kebab = re.sub("([A-Z])", lambda m: "-" + m[1].lower(), self.name)
        return kebab if self.positional else f"--{kebab}"


class Context:
    """What an operation works with: its Call, the workspace, opened on first use, and how to read stdin."""

    __slots__ = ("_workspace", "call", "directory", "stdin")

    def __init__(self, call: Call, directory: str, stdin: Callable[[], bytes] | None = None) -> None:
        self.call = call
        self.directory = directory
        self.stdin = stdin
        self._workspace: Workspace | None = None

    @property
    def workspace(self) -> Workspace:
        """The opened workspace; Failure no_workspace where it is none."""
        if self._workspace is None:
            self._workspace = Workspace(self.directory)
        return self._workspace


class Operation(NamedTuple):
    """One row: an operation that is a command and, where `served`, a tool."""

    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]
    run: Callable[[Context, dict[str, Any]], Any]
    render: Callable[[Any], str] | None  # the data as text for people; None prints nothing
    writes: bool = False
    idempotent: bool = True
    served: bool = True
    exit_status: Callable[[Any], int] = lambda data: EXIT_DONE  # of the command line, from the data
    check: Callable[[Mapping[str, Any]], Iterator[Problem]] = lambda values: iter(())

    @property
    def command(self) -> str:
        """The name on the command line."""
        return self.name.replace("_", "-")


def render_input_schema(row: Operation) -> dict[str, Any]:
    """The tool's `inputSchema`: flat, closed, with `required` even when empty (FIELD.md: hosts insist)."""
    return {
        "type": "object",
        "properties": {argument.name: dict(argument.schema) for argument in row.arguments},
        "required": [argument.name for argument in row.arguments if argument.required],
        "additionalProperties": False,
    }


def render_tool(row: Operation) -> dict[str, Any]:
    """The tool as `tools/list` shows it; every hint explicit, since hosts read a missing one as the worst."""
    return {
        "name": row.name,
        "title": row.title,
        "description": row.description,
        "inputSchema": render_input_schema(row),
        "annotations": {
            "title": row.title,
            "readOnlyHint": not row.writes,
            "destructiveHint": False,
            "idempotentHint": row.idempotent,
            "openWorldHint": False,
        },
    }


def check_arguments(row: Operation, values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` with the defaults filled in; Failure invalid_arguments names every problem and its field."""
    problems = check_schema(dict(values), render_input_schema(row))
    for name, value in values.items():
        if value == "-":
            problems.append(
                Problem(render_pointer("", name), "standard input (`-`) is for the command line only")
            )
    problems += row.check(values)
    if problems:
        named = [Problem(problem.pointer[1:], problem.message) for problem in problems]
        raise Failure("invalid_arguments", describe_problems(named), f"see: protoyard {row.command} --help")
    defaults = {a.name: a.schema["default"] for a in row.arguments if "default" in a.schema}
    return {**defaults, **values}


def build_argv(row: Operation, values: Mapping[str, Any]) -> list[str]:
    """The argument vector of checked values: command, `--name=value`, one `--`, positionals (WIRE §10)."""
    options, positionals = [], []
    for argument in row.arguments:
        value = values.get(argument.name)
        if value is None or value is False:
            continue
        if argument.positional:
            positionals.append(str(value))
        else:
            options.append(argument.option if value is True else f"{argument.option}={value}")
    return [row.command, *options, "--", *positionals]


# --- the runs: each takes a Context and checked values and returns the envelope's data ------------


def run_quick(context: Context, values: dict[str, Any]) -> dict[str, Any]:
    """Draft, fill and store the prototypes of a brief; data: slug, variants, entities, leftOut, warnings …"""
    call, warnings = context.call, []
    plain = clean_text(values["brief"]).strip()
    brief = redact(plain)[:BRIEF_MAX_CHARS]
    if brief != plain:
        warnings.append(
            "The brief held what looks like a secret; it was replaced by [redacted] before anything else."
        )
    call.step("draft")
    draft = draft_blueprints(brief, seed=values.get("seed"), variants=values["variants"])
    blueprints = []
    for blueprint in draft.blueprints:
        call.check()
        blueprints.append(fill_records(blueprint)[0])
    created = create_prototype(
        context.workspace,
        call,
        slug=values.get("slug") or draft.slug,
        derived="slug" not in values,
        title=draft.title,
        brief=brief,
        seed=draft.seed,
        blueprints=blueprints,
    )
    lead = blueprints[0]
    return {
        **created,
        "title": draft.title,
        "seed": draft.seed,
        "roles": [role["label"] for role in lead["roles"]],
        "entities": [
            {
                "id": e["id"],
                "label": e["label"],
                "records": len(e["records"]),
                "because": e.get("because", ""),
            }
            for e in lead["entities"]
        ],
        "leftOut": list(draft.left_out),
        "warnings": [*warnings, *draft.warnings],
    }


def run_list(context: Context, values: dict[str, Any]) -> dict[str, Any]:
    """One page of prototypes by slug; data: prototypes, and `next` (for `after`) when there are more."""
    return read_list(context.workspace, limit=values["limit"], after=values.get("after", ""))


def run_show(context: Context, values: dict[str, Any]) -> dict[str, Any]:
    """The manifest and a summary of each variant, or one variant's blueprint with its records cut short."""
    letter = values.get("variant")
    if letter is None:
        return read_prototype(context.workspace, values["slug"])
    shown = read_variant(context.workspace, values["slug"], letter)
    if not values["records"]:
        shown["blueprint"] = _cut_records(shown["blueprint"])
    return shown


def _cut_records(blueprint: dict[str, Any]) -> dict[str, Any]:
    """The blueprint with RECORDS_SHOWN records of each entity and `recordCount` beside them."""
    entities = []
    for entity in blueprint["entities"]:
        records = entity.get("records", [])
        entities.append({**entity, "records": records[:RECORDS_SHOWN], "recordCount": len(records)})
    return {**blueprint, "entities": entities}


def run_validate(context: Context, values: dict[str, Any]) -> dict[str, Any]:
    """Every problem of a prototype, a variant or a blueprint file; data: folder, valid, problems, notes."""
    path = context.workspace.resolve(values["folder"], field="folder")
    return verify(context.workspace, path)


def run_blueprint_schema(context: Context, values: dict[str, Any]) -> dict[str, Any]:
    """The blueprint's JSON Schema (draft 2020-12)."""
    return blueprint_schema()


def _check_quick(values: Mapping[str, Any]) -> Iterator[Problem]:
    brief = values.get("brief")
    if isinstance(brief, str) and brief and not clean_text(brief).strip():
        yield Problem("/brief", "holds white space only; say in a sentence who does what with which things")


def _check_show(values: Mapping[str, Any]) -> Iterator[Problem]:
    for name in ("records", "against"):
        if values.get(name) and "variant" not in values:
            yield Problem(f"/{name}", "needs variant as well")


# --- the data for people --------------------------------------------------------------------------


def render_columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as aligned columns, two blanks apart; the last column is not padded."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)] if rows else []
    lines = ("  ".join([*map(str.ljust, row, widths), row[-1]]).rstrip() for row in rows)
    return "\n".join(lines)


def _quick_text(data: Mapping[str, Any]) -> str:
    lines = [f"{data['title']}  ({data['folder']}, seed {data['seed']})", ""]
    lines.append(render_columns([[v["id"], v["page"], v["question"]] for v in data["variants"]]))
    records = ", ".join(f"{entity['label']} ({entity['records']})" for entity in data["entities"])
    lines += ["", f"Records:  {records}"]
    if data["roles"]:
        lines.append(f"Roles:    {', '.join(data['roles'])}")
    lines += [f"Left out: {item['text']} ({item['reason']})" for item in data["leftOut"]]
    lines += [f"Warning:  {warning}" for warning in data["warnings"]]
    lines += ["", f"Open {data['folder']}/{PAGE_NAME} in a browser."]
    return "\n".join(lines)


def _list_text(data: Mapping[str, Any]) -> str:
    rows = [
        [p["slug"], "".join(p["variants"]), p["created"][: len(AS_OF_DATE)], p["title"]]
        for p in data["prototypes"]
    ]
    lines = [render_columns(rows) if rows else "No prototypes yet. Make some: protoyard quick BRIEF"]
    lines += [f"damaged: {item['slug']}: {item['problem']}" for item in data.get("damaged", ())]
    if "next" in data:
        lines.append(f"More: protoyard list --after={data['next']}")
    return "\n".join(lines)


def _show_text(data: Mapping[str, Any]) -> str:
    return render_document(data).rstrip("\n")


def _validate_text(data: Mapping[str, Any]) -> str:
    lines = [f"{data['folder'] or '.'}: {'valid' if data['valid'] else 'not valid'}"]
    for problem in data["problems"]:
        lines.append(f"  {problem['file']} {problem['pointer']}  {problem['message']} ({problem['code']})")
    lines += [f"  note: {note}" for note in data.get("notes", ())]
    return "\n".join(lines)


# --- the rows -------------------------------------------------------------------------------------

_SLUG = {"type": "string", "pattern": SLUG_PATTERN, "maxLength": SLUG_MAX_CHARS}
_LETTER = {"type": "string", "enum": list(VARIANT_LETTERS)}


def _integer(description: str, least: int, most: int | None = None, **more: int) -> dict[str, Any]:
    limits = {"minimum": least} if most is None else {"minimum": least, "maximum": most}
    return {"type": "integer", "description": description, **limits, **more}


def _flag(description: str) -> dict[str, Any]:
    return {"type": "boolean", "description": description, "default": False}


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        name="quick",
        title="Brief to prototypes",
        description=(
            "Turn a short brief into one to six clickable HTML prototypes with fictional data, stored "
            "under prototypes/<slug>/ in the workspace. Write the brief as people talk: who does what "
            'with which things, what is not wanted ("no payments"), limits ("28-day countdown"). Each '
            "variant answers another question (work the list, move the work, plan the time, in the "
            "field, keep up, one task at a time) on the same records. Answers with the slug, the page "
            "of each variant to open in a browser, the records and roles that were understood, each "
            "with the words that caused it, and what was left out and why. No model, no network; the "
            "same brief, seed and variants give the same bytes. Never overwrites: a taken slug gets a "
            "number. Afterwards look with `show`."
        ),
        arguments=(
            Argument(
                "brief",
                {
                    "type": "string",
                    "description": "The brief, 1 to 4000 characters in any language.",
                    "minLength": 1,
                    "maxLength": BRIEF_MAX_CHARS,
                },
                required=True,
                positional=True,
                piped=True,
            ),
            Argument("seed", _integer("Decides the fictional data; default: from the brief.", 0, SEED_MAX)),
            Argument(
                "variants",
                _integer("How many variants.", 1, len(VARIANT_LETTERS), default=VARIANTS_DEFAULT),
            ),
            Argument(
                "slug", {**_SLUG, "description": "Folder name; default: from the title, numbered if taken."}
            ),
        ),
        run=run_quick,
        render=_quick_text,
        writes=True,
        idempotent=False,
        check=_check_quick,
    ),
    Operation(
        name="list",
        title="List prototypes",
        description=(
            "List the prototypes of the workspace by slug, with title, variants and time of creation. "
            "Pages: when the answer holds `next`, call again with it as `after`."
        ),
        arguments=(
            Argument("limit", _integer("How many at most.", 1, LIST_LIMIT_MAX, default=LIST_LIMIT_DEFAULT)),
            Argument(
                "after", {**_SLUG, "description": "Only slugs that sort after this one; it need not exist."}
            ),
        ),
        run=run_list,
        render=_list_text,
    ),
    Operation(
        name="show",
        title="Show a prototype",
        description=(
            "Show one prototype. Without `variant`: its manifest (brief, seed, revisions) and a "
            "summary of each variant (screens, records, roles). With `variant`: that variant's "
            "blueprint, the JSON that the page is rendered from, its records cut to the first 3 of "
            "each entity plus `recordCount` unless `records` is true."
        ),
        arguments=(
            Argument(
                "slug", {**_SLUG, "description": "The prototype's slug, as `list` gives it."}, True, True
            ),
            Argument("variant", {**_LETTER, "description": "The variant's letter."}),
            Argument("records", _flag("All records of the variant, not the first 3 of each entity.")),
        ),
        run=run_show,
        render=_show_text,
        check=_check_show,
    ),
    Operation(
        name="validate",
        title="Validate files",
        description=(
            "Check a prototype folder, a variant folder or a blueprint .json file of the workspace: "
            "the blueprint against its schema and rules, and whether page, history and manifest "
            "agree. Answers with `valid` and every problem with file, JSON pointer, code and message. "
            "Hand edits of a blueprint are welcome: check them here."
        ),
        arguments=(
            Argument(
                "folder",
                {
                    "type": "string",
                    "description": "Path in the workspace, for example prototypes/inspections/a.",
                },
                required=True,
                positional=True,
            ),
        ),
        run=run_validate,
        render=_validate_text,
        exit_status=lambda data: EXIT_DONE if data["valid"] else EXIT_FAILED,
    ),
    Operation(
        name="blueprint_schema",
        title="Blueprint schema",
        description=(
            "The JSON Schema (draft 2020-12) of a blueprint, with titles and descriptions: what "
            "entities, fields, screens, flows and themes may hold. Read it before you write or change "
            "a blueprint."
        ),
        arguments=(),
        run=run_blueprint_schema,
        render=_show_text,
    ),
)

# ======================================================================
# §16 cli: parser from the rows, execute, printing for people
# ======================================================================
# Rules: uses §01-07, §15; knows rows only as they are handed in. argparse only splits: every value stays a
# string until §04 has judged it, so that all problems come at once. `execute` is the one entry of both doors.

_COMMON = (
    ("--workspace", "DIR", "the folder to work in (default: PROTOYARD_WORKSPACE, else the current one)"),
    ("--json", None, "print the envelope as JSON"),
)


class Invocation(NamedTuple):
    """A parsed command line: its row, the values given (not yet checked), and --workspace."""

    row: Operation
    values: dict[str, Any]
    workspace: str | None


def _build_parser(row: Operation) -> Any:
    from argparse import ArgumentParser

    class Parser(ArgumentParser):
        def error(self, message: str) -> None:
            raise Failure("invalid_arguments", message, f"see: protoyard {row.command} --help")

    parser = Parser(prog=f"protoyard {row.command}", description=row.description, allow_abbrev=False)
    for argument in row.arguments:
        text = argument.schema["description"].replace("%", "%%")
        if argument.positional:
            parser.add_argument(argument.name, nargs="?", metavar=argument.name.upper(), help=text)
        elif argument.schema["type"] == "boolean":
            parser.add_argument(
                argument.option, dest=argument.name, action="store_true", default=None, help=text
            )
        else:
            name = argument.schema["type"].upper() if "enum" not in argument.schema else "NAME"
            parser.add_argument(argument.option, dest=argument.name, metavar=name, help=text)
    for option, metavar, text in _COMMON:
        more = {"metavar": metavar} if metavar else {"action": "store_true"}
        parser.add_argument(option, dest=f"common {option}", help=text, **more)
    return parser


_PARSERS: dict[str, Any] = {}  # by command; building one costs more than using it


def _typed(argument: Argument, given: Any) -> Any:
    """What an option's text means under its schema; text that means no integer stays text, for §04 to refuse."""
    if argument.schema["type"] == "integer" and re.fullmatch("-?[0-9]{1,20}", given):
        return int(given)
    return given


def find_row(command: str, rows: Sequence[Operation]) -> Operation:
    """The row of a command; Failure unknown_tool with the nearest one."""
    for row in rows:
        if row.command == command:
            return row
    guess = nearest(command, [row.command for row in rows])
    hint = f"did you mean: protoyard {guess}" if guess else "see: protoyard --help"
    raise Failure("unknown_tool", f'there is no command "{command}"', hint)


def parse_command_line(argv: Sequence[str], rows: Sequence[Operation]) -> Invocation:
    """The invocation that `argv` (command first) spells; Failure unknown_tool or invalid_arguments."""
    row = find_row(argv[0], rows)
    parser = _PARSERS.get(row.command) or _PARSERS.setdefault(row.command, _build_parser(row))
    found, extra = parser.parse_known_args(list(argv[1:]))
    given = {name: value for name, value in vars(found).items() if value is not None}
    values = {a.name: _typed(a, given[a.name]) for a in row.arguments if a.name in given}
    if extra:
        unknown = [f"{word}: is no option of {row.command}, or one argument too many" for word in extra]
        message = "; ".join(unknown + _argument_problems(row, values))
        raise Failure("invalid_arguments", message, f"see: protoyard {row.command} --help (quote a brief)")
    return Invocation(row, values, given.get("common --workspace"))


def _argument_problems(row: Operation, values: Mapping[str, Any]) -> list[str]:
    try:
        check_arguments(row, values)
    except Failure as failure:
        return [failure.message]
    return []


def _take_stdin(context: Context, row: Operation, values: dict[str, Any]) -> dict[str, Any]:
    """The values with `-` of a piped argument replaced by standard input, where there is one."""
    taken = dict(values)
    for argument in row.arguments:
        if argument.piped and context.stdin and taken.get(argument.name) == "-":
            taken[argument.name] = context.stdin().decode("utf-8", "replace").removeprefix("\ufeff")
    return taken


def run_invocation(invocation: Invocation, context: Context) -> Any:
    """[8/9] Check the values, open the workspace where it is needed, run the row; returns its data."""
    row = invocation.row
    values = check_arguments(row, _take_stdin(context, row, invocation.values))
    if row.served:
        context.workspace  # noqa: B018  opened first: a missing workspace is said before anything else
    return row.run(context, values)


def execute(
    argv: Sequence[str],
    *,
    rows: Sequence[Operation],
    call: Call,
    directory: str | None = None,
    stdin: Callable[[], bytes] | None = None,
) -> dict[str, Any]:
    """[7/9] Run one command and return its envelope (WIRE §6); raises only Stopped. The choke point of both doors."""
    command = argv[0].replace("-", "_")[:TOOL_NAME_SHOWN_CHARS]
    try:
        invocation = parse_command_line(argv, rows)
        where = directory if directory is not None else find_directory(invocation.workspace)
        return {
            "ok": True,
            "command": command,
            "data": run_invocation(invocation, Context(call, where, stdin)),
        }
    except Failure as failure:
        return failed(command, failure)


def find_directory(option: str | None) -> str:
    """The workspace directory as given: the option, else PROTOYARD_WORKSPACE, else the current directory."""
    given = option if option is not None else os.environ.get("PROTOYARD_WORKSPACE")
    return os.curdir if given is None else given


def failed(command: str, failure: Failure) -> dict[str, Any]:
    """The envelope of a failure; the hint is left out where there is none."""
    error = {"code": failure.code, "message": failure.message}
    return {
        "ok": False,
        "command": command,
        "error": {**error, **({"hint": failure.hint} if failure.hint else {})},
    }


# --- for people -----------------------------------------------------------------------------------


def _paint(text: str, code: str, stream: Any) -> str:
    plain = os.environ.get("NO_COLOR") or not stream.isatty()
    return text if plain else f"\x1b[{code}m{text}\x1b[0m"


def write_text(stream: Any, text: str) -> None:
    """Write a text and a newline; what the stream's encoding cannot say becomes `?`, never an exception."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding) + "\n")
    stream.flush()


def _print_failure(error: Mapping[str, str]) -> None:
    write_text(sys.stderr, f"{_paint(error['code'], '31', sys.stderr)}: {error['message']}")
    if "hint" in error:
        write_text(sys.stderr, _paint(error["hint"], "2", sys.stderr))


def print_outcome(envelope: Mapping[str, Any], rows: Sequence[Operation], as_json: bool) -> int:
    """Print an envelope, as JSON or for people (a failure on stderr); returns the exit status."""
    shown = clean(envelope)
    if as_json:
        sys.stdout.buffer.write((render_json(shown) + "\n").encode("utf-8"))
        sys.stdout.flush()
    elif not shown["ok"]:
        _print_failure(shown["error"])
    if not envelope["ok"]:
        return FAILURES[envelope["error"]["code"]].exit_status
    row = next(row for row in rows if row.name == envelope["command"])
    if not as_json and row.render:
        write_text(sys.stdout, row.render(shown["data"]))
    return row.exit_status(envelope["data"])


def render_help(rows: Sequence[Operation]) -> str:
    """The overview: every command with its title."""
    commands = render_columns([["  " + row.command, row.title] for row in rows])
    return (
        f"protoyard {__version__}: short briefs into clickable HTML prototypes\n\n"
        f"usage: protoyard COMMAND [OPTION...] [--] [ARGUMENT]\n\n{commands}\n\n"
        "Every command takes --workspace DIR, --json and --help. Start with:\n"
        '  protoyard quick "A small library lends books to members."'
    )


def run_command_line(argv: Sequence[str], rows: Sequence[Operation]) -> int:
    """Run one command line and print its outcome; returns the exit status."""
    first = argv[0] if argv else ""
    if first in ("", "-h", "--help", "help"):
        write_text(sys.stdout if first else sys.stderr, render_help(rows))
        return EXIT_DONE if first else EXIT_USAGE
    if first in ("-V", "--version"):
        write_text(sys.stdout, f"protoyard {__version__}")
        return EXIT_DONE
    words = argv[: list(argv).index("--")] if "--" in argv else argv
    envelope = execute(argv, rows=rows, call=Call(), stdin=lambda: sys.stdin.buffer.read())
    return print_outcome(envelope, rows, "--json" in words)


# ======================================================================
# §17 protocol: sans-I/O JSON-RPC and MCP core for both revisions
# ======================================================================
# Rules: uses §01-04; the tools' table is an argument; pure.

# ======================================================================
# §18 server: the stdio loop
# ======================================================================
# Rules: uses §01-06, §15-17.

# ======================================================================
# §19 machine: the rows that only the command line has
# ======================================================================
# Rules: uses §01-06, §14-18. Same row type as §15, never listed over MCP.


def run_mcp(context: Context, values: dict[str, Any]) -> int:
    """Serve MCP on stdin and stdout until the input ends; the exit status."""
    return serve(rows=OPERATIONS, directory=context.directory)


COMMANDS: tuple[Operation, ...] = (
    Operation(
        name="mcp",
        title="Serve MCP over stdio",
        description=(
            "Serve the tools over the Model Context Protocol on standard input and output, revisions "
            "2026-07-28 and 2025-11-25. Register it in an agent host as a command; it is not for typing."
        ),
        arguments=(),
        run=run_mcp,
        render=None,
        served=False,
        exit_status=lambda status: status,
    ),
)

# ======================================================================
# §20 main: the joined table and the guard
# ======================================================================
# Rules: uses all. The outermost of the three borders where any exception ends.


def main(argv: Sequence[str] | None = None) -> int:
    """The command line: `argv` without the program's name (default: the process's); returns the exit status."""
    set_digit_limit()
    try:
        return run_command_line(sys.argv[1:] if argv is None else argv, OPERATIONS + COMMANDS)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # the reader of our output went away: nothing left to say, not even at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return EXIT_FAILED
    except Exception:
        import traceback

        traceback.print_exc()
        return EXIT_FAILED


if __name__ == "__main__":
    sys.exit(main())
