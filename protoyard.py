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

    1/9 serve §18 -> 2/9 Session.receive §17 -> 3/9 decode_message §03
    -> 4/9 answer_request §17 (a METHODS row) -> 5/9 on_tools_call §17: Start(ToolCall)
    -> 6/9 start_call §18: build_argv §15 -> 7/9 execute §16
    -> 8/9 run_invocation §16: Operation.run §15 -> 9/9 Session.finish §17, then Outbox.write §18

On the command line: main §20 -> execute §16 -> Operation.run §15 -> print_outcome §16.

Verbs mean one thing: check_ raises or returns the clean value, parse_ makes a value of text, render_ makes
text of a value and is pure, read_ and write_ touch the disk, run_ starts an operation or a process, on_
handles a message.
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
from functools import cache
from itertools import islice
from operator import itemgetter

TYPE_CHECKING = False  # typing costs a tenth of a start and is needed by type checkers only
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.1.0"
__all__ = ["__version__", "main"]


class Row(tuple):
    """An immutable row with named members: a NamedTuple that costs a start a thirtieth of one of typing's.

    A subclass annotates its members in order; those with a value have it as their default.
    """

    _fields: tuple[str, ...] = ()
    _defaults: Mapping[str, Any] = {}

    def __init_subclass__(cls) -> None:
        cls._fields = tuple(cls.__annotations__)
        cls._defaults = {name: cls.__dict__[name] for name in cls._fields if name in cls.__dict__}
        for place, name in enumerate(cls._fields):
            setattr(cls, name, property(itemgetter(place)))

    def __new__(cls, *values: Any, **named: Any) -> Row:
        """TypeError when a member is missing, unknown or there twice."""
        if named or len(values) != len(cls._fields):
            values = cls._complete(values, named)
        return tuple.__new__(cls, values)

    @classmethod
    def _complete(cls, values: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, ...]:
        """All values in order, from those given in order, by name and by default."""
        rest = cls._fields[len(values) :]
        given = {**cls._defaults, **named}
        found = values + tuple(given[name] for name in rest if name in given)
        if len(found) != len(cls._fields) or not named.keys() <= set(rest):
            raise TypeError(f"{cls.__name__} has the members {', '.join(cls._fields)}")
        return found

    def _replace(self, **named: Any) -> Any:
        """The same row with other values for some members."""
        return type(self)(**{**dict(zip(self._fields, self)), **named})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map('{}={!r}'.format, self._fields, self))})"


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
OUTBOX_RETRY_SECONDS = 0.005  # a pipe that somebody made non-blocking is full

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
JSON_BLANKS = b" \t\r"

# JSON (WIRE §2): CPython's own digit limit, set explicitly so that every interpreter agrees.
JSON_DEPTH_MAX = 64
INTEGER_MAX_DIGITS = 4300
PARSE_ERROR = -32700
INVALID_REQUEST = -32600

# Strings out (WIRE §9): how much of a name is looked at, what still is a word or a plain number, how often a
# string is gone over until nothing more is found (twice, unless it is made to need more).
REDACTED = "[redacted]"
NAME_TAIL_CHARS = 80
NAME_SHOWN_CHARS = 64
WORD_MAX_CHARS = 20
NUMBER_MAX_CHARS = 15
INNER_CAPITAL_MIN_CHARS = 8
REDACT_PASSES_MAX = 8

# Calls (WIRE §6-7). Hosts give up after 30 s at the earliest: two seconds are left to stop and to answer.
ARGUMENTS_MAX_BYTES = 256 * KIB
ENVELOPE_MAX_BYTES = 512 * KIB
CALL_STOP_SECONDS = 28.0
WORKERS_MAX = 8
QUEUE_MAX = 64
ABANDONED_MAX = 16
LOCK_WAIT_SECONDS = 10.0
PROGRESS_INTERVAL_SECONDS = 0.1
ABANDON_SECONDS = 1.0  # what a worker gets to come back after its call was stopped
SIGNAL_POLL_SECONDS = 0.2  # Windows: how late a signal may be noticed
TOOL_NAME_SHOWN_CHARS = 128
LIST_TTL_MS = 3_600_000
DESCRIPTION_MAX_CHARS = 1000
INSTRUCTIONS_MAX_CHARS = 1500
PROBLEMS_SHOWN = 20
SHOWN_TEXT_CHARS = 2000  # of a problem: twenty of them stay under what hosts cut

# Children (WIRE §7): SIGTERM, then SIGKILL this much later.
KILL_GRACE_SECONDS = 1.0
CHILD_OUTPUT_MAX_BYTES = 256 * KIB
CANCELLED = "cancelled"  # why a call was stopped
TIMEOUT = "timeout"
# What stopping may take beyond the grace: for the killed to go, for a commit under way to end. With both and
# a second look a stopped call is answered within 30 s, and the process ends within 2 s of a signal.
DEATH_WAIT_SECONDS = 0.2
COMMIT_WAIT_SECONDS = 0.3
CHILD_POLL_SECONDS = 0.05
CHILD_LOOK_SECONDS = 0.02
# A variable that marks a child and all that inherits its environment: what left its group is found by it.
CHILD_MARK = "PROTOYARD_CHILD"
CHILD_MARK_BYTES = 8
CHILD_PIPE_MIN_FD = 10  # above all that a child is given
LAST_WORDS_BYTES = 2000

# The protocol (WIRE §3-5): JSON-RPC's and MCP's error codes, the members of `_meta`.
INVALID_PARAMS = -32602
METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
UNSUPPORTED_VERSION = -32022
META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_CLIENT = "io.modelcontextprotocol/clientInfo"
META_SERVER = "io.modelcontextprotocol/serverInfo"

# The process (WIRE §1): the standard descriptors; exit statuses by signal, as a shell reports them.
STDIN_FD, STDOUT_FD, STDERR_FD = 0, 1, 2
EXIT_SIGNALLED = {"SIGHUP": 129, "SIGINT": 130, "SIGTERM": 143, "SIGBREAK": 130}

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

# The page that compares variants: pieces of content in the sketch of a first screen.
SKETCH_PIECES = 6

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
READ_TRIES = 5  # of a reader, who holds no lock, before it takes what it gets
REVISIONS_SHOWN = 20  # of each variant, in an answer that should stay short
MANIFEST_MAX_BYTES = 4 * MIB  # some ten thousand revisions
PAGE_MAX_BYTES = 8 * MIB  # a blueprint at its limit, escaped, and the runtime

# Operations (TOOLS §1).
BRIEF_MAX_CHARS = 4000
PATCH_MAX_CHARS = 200_000
PATCH_LOAD_MAX_BYTES = 4 * MIB  # copied and moved by one patch: twice the largest blueprint
SEED_MAX = 2**31 - 1
VARIANT_LETTERS = "abcdef"
VARIANTS_DEFAULT = 3
LIST_LIMIT_MAX = 200
LIST_LIMIT_DEFAULT = 50
RECORDS_SHOWN = 3
# The steps of the longer operations, whose number is the total that progress tells.
QUICK_STEPS = ("draft", "render", "lock", "store", "gallery")
ITERATE_STEPS = ("commit", "refresh")
PROMOTE_STEPS = ("check", "stage", "rename", "install", "record")
SHOWN_VALUE_CHARS = 80
# On the command line, work that takes longer shows its steps.
PROGRESS_AFTER_SECONDS = 1.0

# Screenshots (TOOLS §8): a laptop's window; a browser that says nothing for so long is broken.
SCREENSHOT_WIDTH_PX = 1280
SCREENSHOT_HEIGHT_PX = 800
BROWSER_ANSWER_SECONDS = 15.0
BROWSER_POLL_SECONDS = 0.05
BROWSER_NAME = "browser"
PICTURE_NAME = "picture.png"
PICTURE_MAX_BYTES = 16 * MIB
HELP_WIDTH_CHARS = 100

# A promoted project (TOOLS §7): where it goes, its record of itself, the version of vite that was tried.
APPS_DIR = "apps"
PROJECT_RECORD_NAME = ".protoyard.json"
VITE_VERSION = "8.4.0"

# This machine (TOOLS §8): the smallest start-up budget of a host; longer than a usual write holds the lock;
# enough of a digest to tell builds apart; what a disk must at least have room for.
DOCTOR_ANSWER_SECONDS = 10.0
DOCTOR_LOCK_SECONDS = 2.0
BUILD_DIGEST_CHARS = 12
PROBE_BYTES = 64 * KIB

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

# Fictional data (§10). A walk by the golden section meets distant places one after the other; numbers are
# counted in hundredths; the days are how far from its planned day a record may be made, due and over.
ROLL_BYTES = 8
HASH_PRIME = 2**61 - 1
GOLDEN_PERCENT = 62
CENTS, FINE, ENDLESS = 100, 10_000, 10**12
VAT_PERCENT = 20
NAME_GROUP = 8
STAFF_COUNT = 11
FIRST_NUMBERS = 400
EMPTY_EVERY = 9
NAME_TRIES = 40
STEM_CHARS = 5
FEW_FIELDS = 3
QUARTER_MINUTES, HOUR_MINUTES, LENGTH_MAX_MINUTES = 15, 60, 10_000
WEEK_DAYS, WORK_DAYS, MONTH_DAYS, YEAR_DAYS = 7, 5, 30, 365
MADE_DAYS, DUE_DAYS, OVER_DAYS = 18, 12, 5

# The brief (TOOLS §4): what a first draft holds at most, how long its names are, what a screen shows.
DRAFT_ENTITIES_MAX = 9
DRAFT_SPARE_MAX = 3
DRAFT_ROLES_MAX = 8
DRAFT_SETTINGS_MAX = 12
DRAFT_TITLE_CHARS = 60
DRAFT_TITLE_WORDS = 6
DRAFT_NAME_WORDS = 3
DRAFT_SLUG_CHARS = 40
DRAFT_ID_CHARS = 32
DRAFT_ROWS_MAX = 60
DRAFT_COLUMNS_MAX = 6
DRAFT_FILTERS_MAX = 3
DRAFT_REQUIRED_FIELDS = 4
DRAFT_STEP_FIELDS = 4
DRAFT_TILES_MAX = 3
BECAUSE_MAX_CHARS = 200
SHORT_WORD_CHARS = 4
LOOK_BACK_WORDS = 40
BOARD_COLUMNS_MIN = 3
BOARD_COLUMNS_MAX = 8
PERCENT_MAX = 100
MINUTES_PER_HOUR = 60

# ======================================================================
# §02 errors: the closed table of failure codes
# ======================================================================
# Rules: uses §01. A failure is data for people and agents: what was wrong, where, what to do next.

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


class FailureKind(Row):
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
# Rules: uses §01-02; pure. Only this section parses JSON and hides secrets. JSON is RFC 8259 as WIRE §2
# narrows it; what goes out follows WIRE §9. Every pattern is linear: no repeat matches one text in two ways,
# and what could be tried anew from every place is bounded. Patterns are compiled on first use.


def once(function: Callable[[], Any]) -> Callable[[], Any]:
    """Decorator: a function without arguments whose value is computed on first use, then remembered."""
    kept: list[Any] = []

    def remembered() -> Any:
        if not kept:
            kept.append(function())
        return kept[0]  # two threads may both compute; both then get the first

    remembered.__name__, remembered.__doc__ = function.__name__, function.__doc__
    return remembered


class JsonError(ValueError):
    """Text refused as JSON: `code` is PARSE_ERROR or INVALID_REQUEST, `message` says why and where."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def _integer(digits: str) -> int:
    if len(digits) - digits.startswith("-") > INTEGER_MAX_DIGITS:
        raise JsonError(PARSE_ERROR, f"an integer has more than {INTEGER_MAX_DIGITS} digits")
    return int(digits)


def _float(text: str) -> float:
    number = float(text)
    if number - number != 0:  # infinite or NaN
        raise JsonError(PARSE_ERROR, "a number is too large, or is NaN or Infinity")
    return number


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise JsonError(INVALID_REQUEST, "a member name is there twice in one object")
    return members


_NUMBERS: Mapping[str, Any] = {"parse_int": _integer, "parse_float": _float, "parse_constant": _float}
_STRICT = json.JSONDecoder(object_pairs_hook=_members, **_NUMBERS)
_LENIENT = json.JSONDecoder(**_NUMBERS)
_WIRE = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_COMPACT = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False)
_DOCUMENT = json.JSONEncoder(indent=2, allow_nan=False, ensure_ascii=False)
# Depth: whatever is no bracket is dropped; an opening one becomes +1 and a closing one -1 (as a signed byte).
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NO_BRACKETS = bytes(set(bytes.maketrans(b"", b"")) - set(b"[]{}"))


def _check_depth(line: bytes) -> None:
    if line.count(b"[") + line.count(b"{") <= JSON_DEPTH_MAX:
        return
    from itertools import accumulate

    outside = re.sub(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', b"", line, flags=re.DOTALL)
    steps = memoryview(outside.translate(_STEPS, _NO_BRACKETS)).cast("b")
    if any(depth > JSON_DEPTH_MAX for depth in accumulate(steps)):
        raise JsonError(INVALID_REQUEST, f"JSON is nested deeper than {JSON_DEPTH_MAX} levels")


def _place(text: str, position: int) -> str:
    """Line and column. Python 3.13 blames a trailing comma, the others what follows it: here all do that."""
    rest = text[position + 1 :].lstrip(" \t\n\r")
    if text[position : position + 1] == "," and rest[:1] in ("]", "}"):
        position = len(text) - len(rest)
    lines = text[:position].split("\n")
    return f"line {len(lines)}, column {len(lines[-1]) + 1}"


def _parse_text(text: str) -> Any:
    try:
        try:
            return _STRICT.decode(text)
        except JsonError:
            _LENIENT.decode(text)  # a syntax error further on wins: what is no JSON is called that
            raise
    except json.JSONDecodeError as error:
        raise JsonError(PARSE_ERROR, f"not valid JSON at {_place(text, error.pos)}") from None


def decode_message(line: bytes) -> Any:
    """[3/9] The JSON value of one line without its line ending; raises JsonError (WIRE §2).

    The depth is judged first, then UTF-8 and syntax, then repeated names. Integers are exact, lone
    surrogates stay. Expects `set_digit_limit` to have been called.
    """
    _check_depth(line)
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise JsonError(PARSE_ERROR, f"not valid UTF-8 at byte {error.start + 1}") from None
    return _parse_text(text)


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON file or argument, as strict as `decode_message`; a BOM at the start is dropped."""
    if isinstance(text, bytes):
        return decode_message(text.removeprefix(b"\xef\xbb\xbf"))
    _check_depth(text.encode("utf-8", "surrogatepass"))
    return _parse_text(text.removeprefix("\ufeff"))


def render_wire(value: Any) -> bytes:
    """One line for stdout: compact ASCII JSON and a newline, so that no reader can split or recode it."""
    return _WIRE.encode(value).encode("ascii") + b"\n"


def render_json(value: Any) -> str:
    """Compact JSON with real characters; a lone surrogate stays one."""
    return _COMPACT.encode(value)


def render_document(value: Any) -> str:
    """JSON for a file: indented by two, real characters, U+FFFD for lone surrogates, a newline at the end."""
    return re.sub("[\ud800-\udfff]", "\ufffd", _DOCUMENT.encode(value)) + "\n"


def json_bytes(value: Any) -> int:
    """The size of a value as compact UTF-8 JSON in bytes, a lone surrogate counted as three."""
    return len(render_json(value).encode("utf-8", "surrogatepass"))


def set_digit_limit() -> None:
    """Make the interpreter convert integers of up to INTEGER_MAX_DIGITS digits, whatever its setting."""
    if hasattr(sys, "set_int_max_str_digits"):  # the first releases of 3.9 and 3.10 have no limit
        sys.set_int_max_str_digits(INTEGER_MAX_DIGITS)


def clean_text(text: str) -> str:
    """Rule 1 of WIRE §9: U+FFFD for each lone surrogate; control characters go, except tab and newline."""
    if text.isprintable():
        return text
    unwanted = "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]"
    return re.sub(unwanted, lambda found: "\ufffd" if found[0] > "\x9f" else "", text)


# Rule 2: a member whose name is this, or ends in it, holds a secret; case and separators do not count.
_NAMES = (
    "password, passwd, pwd, pass, passphrase, secret, token, api key, access key, private key, secret key, "
    "secret key base, signing key, encryption key, authorization, cookie, credential, credentials, "
    "connection string"
).split(", ")
_NAME_ENDS = tuple(name.replace(" ", "") for name in _NAMES)
_NAME_HINTS = ("pass", "pwd", "secret", "token", "key", "authorization", "cookie", "credential", "connection")
_NO_SECRET_NAME = r"(?:(?:design|brand|page|next|cursor|continuation|progress)_?token|[^_]pass)\Z"
_DIGITS = "0123456789"
_IGNORE = re.IGNORECASE | re.ASCII


def _is_secret_name(name: str) -> bool:
    word_ends = "[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
    words = re.sub(word_ends, "_", name[-NAME_TAIL_CHARS:]).rstrip("_" + _DIGITS).lower()
    return words.replace("_", "").endswith(_NAME_ENDS) and not re.search(_NO_SECRET_NAME, words)


# What stands in a secret's place and is none, and what may follow it in running text.
_SCHEME = "(?:bearer|basic|token|digest)"
_ARGUMENTS = r"\([^()\n]{0,200}(?:\([^()\n]{0,200}\)[^()\n]{0,200}){0,3}\)"
# fmt: off
_PLACEHOLDER = "|".join((
    *(r"\$\{\{[^{}\n]*\}\}", r"\$\{[a-z_][\w.]*(?::?[-?+])?\}", r"\$\([^()\n]*\)", r"\$\d"),
    r"(?-i:\$(?:env:)?(?:[A-Z_][A-Z0-9_]*|[a-z]+(?:_[a-z]+|[A-Z][a-z]+)*))",
    *(r"%\w{1,60}%", r"%(?:\(\w{1,60}\))?s", r"<[^<>\n]*>", r"\{\{[^{}\n]*\}\}", r"\{[a-z_][\w.]*\}"),
    *(r"[*•●]+", r"x{3,}", r"\.{3}", "…", r"\[redacted\]", r"[-+]?\d[\d.,:]{0,4}"),
    *("null", "none", "nil", "undefined", "true", "false"),
    r"(?:process\.env|import\.meta\.env|env|self|this|args|config|settings|secrets|props|req|request|options"
    r"|form)"
    r"(?:\.\w{1,60}){1,5}",
    r"[a-z_$]\w{0,60}(?:\.\w{1,60}){0,5}\[[^\[\]\n]{1,80}\]",
    rf"(?:(?:await|new) )?[a-z_$][\w.$]{{0,80}}{_ARGUMENTS}(?:\.\w{{1,40}}(?:{_ARGUMENTS})?){{0,5}}",
))
# fmt: on
_REFERENCE = rf"(?:{_SCHEME}\s{{1,4}})?(?:{_PLACEHOLDER})|{_SCHEME}"
_REFERENCE_HERE = rf"(?:{_PLACEHOLDER})(?=\Z|[\s\"'`,;&|<>)\]}}]|\\[\"'nrt]|[.:?!](?:\s|\Z))"
_WORD = r"\d{1,4}[a-z]{0,8}|[A-Z]{1,15}\d{0,5}|[A-Z]?[a-z]+(?:[A-Z][a-z]+)*\d{0,5}"


def _is_reference(value: str) -> bool:
    """Empty, a placeholder or a way to the secret: `$X`, `<…>`, `****`, `process.env.X`, a call, a number."""
    return not value.strip() or bool(re.fullmatch(_REFERENCE, value.strip(), _IGNORE))


def _is_words(value: str) -> bool:
    """Made of words, as slugs and identifiers are, not of random characters."""
    parts = re.split("[^A-Za-z0-9]+", value)
    return all(not part or (len(part) < WORD_MAX_CHARS and re.fullmatch(_WORD, part)) for part in parts)


def _is_digest_or_words(value: str) -> bool:
    return not value.strip("abcdef" + _DIGITS) or _is_words(value)


def _is_no_password(value: str) -> bool:
    return not value.isdigit() and _is_reference(value)


def _is_scheme_prose(value: str) -> bool:
    return _is_words(value) and not re.search("[A-Za-z][0-9]{2}", value)


# Rule 3. Tokens have a documented prefix, stand after an edge, and go with the whole run of their characters;
# a run that is made of words is none (`sk-ant-colony-simulator`).
_ESCAPED = r"(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4})"
_EDGE = rf"(?:(?<![A-Za-z0-9])|{_ESCAPED})"
_REST = r"[\w-]*(?:\.[\w-]{16,})*"
# Needs a dot far behind, so it is tried only where a run begins.
_JWT = rf"(?:(?<![\w-])|{_ESCAPED})(?:[\w-]{{0,40}}?[-_])?(?P<S>eyJ[\w-]{{8,}}\.(?:[\w-]*\.)*[\w-]+)"
_GITLAB = r"(?:gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-|GR1348941)[\w-]{16,}"
_TOKENS = (  # who issues it, what one of must be in the text, the shape
    ("age", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-(?:PQ-)?1\w{20,}"),
    ("AWS", "AKIA ASIA ABIA ACCA", r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16,}"),
    ("Google", "AIza ya29. GOCSPX- 1//0", r"(?:AIza|ya29\.|GOCSPX-|1//0)[\w-]{20,}"),
    ("GitHub", "gh github_pat_", r"(?:gh[pousr]|github_pat)_[\w-]{20,}"),
    ("GitLab", "gl GR1348941", _GITLAB + r"(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?"),
    ("Slack", "xox xapp- xwfp-", r"(?:xox[a-z](?:\.xox[a-z])?|xapp|xwfp)-[\w-]{10,}"),
    ("Stripe", "k_ whsec_", r"(?:[sr]k_(?:live|test|prod|org)_\w{10,}|whsec_[\w+/-]{16,}={0,2})"),
    ("OpenAI, Anthropic, PyPI, xAI", "sk- pypi- xai-", r"(?:sk|pypi|xai)-[\w-]{16,}"),
    ("npm, Hugging Face", "npm_ hf_ api_org_", r"(?:npm|hf|api_org)_[A-Za-z0-9]{30,}"),
    ("SendGrid", "SG.", r"SG\.[\w-]{16,}\.[\w-]{16,}"),
    ("Vault", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{16,}"),
    ("DigitalOcean, Linear", "_v1_ lin_", r"(?:do[a-z]_v1|lin_(?:api|oauth|wh))_\w{20,}"),
    ("Groq, Replicate", "gsk_ r8_", r"(?:gsk|r8)_\w{20,}"),
    ("Notion", "ntn_ secret_", r"(?:ntn_\w{20,}|secret_[A-Za-z0-9]{40,})"),
    ("Databricks", "dapi dkea dose", r"(?:dapi|dkea|dose)[0-9A-Za-z]{30,}"),
    ("Twilio", "SK", r"SK[0-9a-fA-F]{32}"),
    ("Figma, Shopify", "fig shp", r"(?:fig[dou][a-z]?|shp[a-z]{2,4})_[\w-]{16,}"),
    ("Supabase", "sbp_ sb_secret_", r"(?:sbp|sb_secret)_[\w-]{16,}"),
    ("Grafana", "gl eyJrIjoi", r"(?:glsa_\w{20,}|(?:glc_|eyJrIjoi)[\w+/-]{20,}={0,2})"),
)
# Forms of their own; the group S is hidden. A key block may be cut off, wrapped, quoted, escaped.
_GAP = r"(?:\s|\\+[nrt])"
_GAP_OR_SIGN = rf"(?:[\"',>#|]|{_GAP})"
_LINE_END = r"(?:[\r\n]|\\+[nr])\s{0,8}"
_BLOCK = (
    r"(?P<S>-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    rf"(?:{_LINE_END}[A-Z][\w-]{{0,30}}: [^\\\n]{{0,200}}){{0,8}}"  # headers
    rf"(?:{_GAP_OR_SIGN}*[\w+/=]{{16,}}(?:{_GAP_OR_SIGN}+[\w+/=]{{16,}})*"  # lines, the last may be short
    rf"(?:{_GAP}+[\w+/=]+(?=[\s\\\"'`]|\Z))?|(?:{_LINE_END}[\w+/=]+)+(?=\s*(?:\\+[nr])*(?:-----END|\Z)))"
    rf"(?:{_GAP_OR_SIGN}*-----END [A-Z0-9 ]{{0,40}}-----)?)"
)
_ACCOUNT_KEY = r"(?i:account_?key)[\"']?[ \t]?[=:][ \t]?[\"']?(?P<S>[A-Za-z0-9+/]{20,}={0,2})"
_HOOK = r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/(?P<S>[\w/-]{8,})"
_COOKIES = (
    r"(?i:cookie2?)[\"']?:[ \t]{0,8}[\"']?"
    r"(?P<S>[\w.-]+=[^;\s\"'`]+(?:;[ \t]{0,4}[\w.-]+(?:=[^;\s\"'`]*)?)*)"
)
_BEARER = r"(?<![\w-])(?i:bearer|basic)[ \t]{1,8}(?P<S>(?:[\w~+/=-]|\.(?=[\w~+/=-])){6,})"
_KEPT_FORMS = (  # the same, and what is spared
    ("PEM, PGP", "-----BEGIN", _BLOCK, lambda _: False),
    ("AWS pair", "AKIA ASIA", r"A[KS]IA[A-Z0-9]{16}[^A-Za-z0-9]{1,8}(?P<S>[\w/+]{40})(?![\w/+])", _is_words),
    ("AWS signature", "ignature=", r"(?i:signature)=(?P<S>[\w%+/=-]{16,})", _is_words),
    ("Azure SAS", "sig=", r"(?<!\w)sig=(?P<S>[\w%+/=-]{16,})", _is_words),
    ("Azure account", "ccount", _ACCOUNT_KEY, _is_words),
    ("Slack hook", "hooks.slack", _HOOK, lambda _: False),
    ("Telegram", ":", r":(?<=[0-9]{6}:)(?P<S>[\w-]{33,})", _is_digest_or_words),
    ("URL", "://", r"://[^\s/?#:@\"'<>`]*:(?P<S>[^\s/?#\"'<>`]+)@", _is_no_password),
    ("cookies", "ookie OOKIE", _COOKIES, lambda _: False),
    ("HTTP", "earer EARER asic ASIC", _BEARER, _is_scheme_prose),
)
# Needs a long run?, hints, pattern, spares. Forms hold tokens, and these may hold JWTs.
_SHAPES = (
    *((False, hints.split(), form, spares) for _, hints, form, spares in _KEPT_FORMS),
    *((True, hints.split(), rf"{_EDGE}(?P<S>{token}{_REST})", _is_words) for _, hints, token in _TOKENS),
    (True, ["eyJ"], _JWT, _is_words),
)


def _hide(found: re.Match[str], spares: Callable[[str], bool]) -> str:
    start, end = (place - found.start() for place in found.span("S"))
    return found[0] if spares(found["S"]) else found[0][:start] + REDACTED + found[0][end:]


def _redact_shapes(text: str) -> str:
    has_run = bool(re.search(r"[\w-]{16}", text, re.ASCII))  # every token has one, and ordinary text has not
    for needs_run, hints, pattern, spares in _SHAPES:
        if needs_run > has_run:
            break  # only tokens are left
        for hint in hints:
            if hint in text:
                text = re.sub(
                    pattern, lambda found, spares=spares: _hide(found, spares), text, flags=re.ASCII
                )
                break
    return text


# Rule 4: a name and a sign; then a value in quotes, or a bare one up to a sign that ends it.
_HEAD = (
    rf"(?P<name>{'|'.join(_NAMES).replace(' ', '[ _.-]?')})(?:[ _.-]?\d{{1,4}})?"
    r"\\{0,7}[\"'`]?\]?\*{0,2}[ \t]{0,64}(?:"
    r":[ \t]{0,4}[a-z_][\w.<>\[\]|?]{0,40}[ \t]{0,4}=(?![=~>])"  # password: str = "…"
    r"|(?::|[?+]|\|\||\?\?)?=(?![=~])>?|(?P<colon>:)(?![:=]))"
    rf"\*{{0,2}}[ \t]{{0,64}}(?:{_SCHEME}[ \t]{{1,4}}(?=\S))?"
)
_QUOTED = (  # a quote before white space or a closing sign ends a string instead: `split("token=")`
    r"[brfu]{0,2}(?P<quote>\"\"\"|'''|\\{0,7}[\"'`])(?![\s),;\]}:+])"
    r"(?P<S>(?:(?!(?<!\\)(?P=quote))[^\n])*)(?:(?P=quote)|(?=\n)|\Z)"
)
_BARE = (  # an ending sign belongs to the value when more of it follows, and not the next `name=`
    r"(?:\$\{[^{}\s]{1,200}\}|[^\s\"`<>,;&|)\]}'\\]|\\(?![\"']|u00|[nr](?:\W|\Z|\w{1,60}[=:]))"
    r"|[,;&|)\]}'](?=[A-Za-z0-9])(?![A-Za-z_][\w.-]{0,60}[ \t]{0,4}[=:]))+"
)
_LETTERS = r"[^\x00-\x40\x5b-\x60\x7b-\x7f]+"
_PLAIN = (
    r"~?\d[\d.,:/-]{0,14}(?:\+|%|-[a-z]+|px|em|rem|pt|ms|min|st|nd|rd|th|kb|mb|gb|[smhdwx])?"
    rf"|{_LETTERS}(?:[-/']{_LETTERS})?"
)
_PATH = r"(?:[a-z]:|[\w.~-]*)(?:[\\/][\w.@-]+)+[\\/]?"


def _is_spared(value: str, is_colon: bool) -> bool:
    """A bare value that is a number, a path, a member with a secret's name; after `:` also plain prose."""
    if not value.strip(_DIGITS + "-.,:/") and len(value) <= NUMBER_MAX_CHARS:
        return True
    if (is_colon or value[0] in "/.~") and re.fullmatch(_PATH, value, _IGNORE) and _is_words(value):
        return True
    if re.fullmatch(r"(?:[A-Za-z_$]\w*\.)+[A-Za-z_]\w*", value) and _is_secret_name(value.rpartition(".")[2]):
        return True
    has_inner_capital = len(value) >= INNER_CAPITAL_MIN_CHARS and re.match("(?=.*[a-z]).+[A-Z]", value)
    return is_colon and bool(re.fullmatch(_PLAIN, value, _IGNORE)) and not has_inner_capital


def _secret_span(text: str, head: re.Match[str]) -> tuple[int, int] | None:
    """Where the value after a name and its sign stands if it is a secret, else None."""
    start, is_colon = head.end(), bool(head["colon"])
    if not _is_secret_name(text[max(0, head.start() - NAME_TAIL_CHARS) : head.end("name")]):
        return None
    quoted = re.compile(_QUOTED, _IGNORE).match(text, start)
    if quoted:
        return None if _is_reference(quoted["S"]) else quoted.span("S")
    # Here nothing may be scanned to its end and then be kept, or a long text takes quadratic time.
    beginning = text[start : start + NAME_TAIL_CHARS]
    is_code = bool(re.match(r"[(\[{<](?!\S*?(?:[A-Za-z][0-9]|[0-9][A-Za-z]))", beginning))
    is_empty = bool(re.search(r"\w=[ \t]+\Z", head[0]) and re.match(r"\w{1,40}=[^\s=]", beginning))
    is_url = is_colon and beginning.startswith(("http://", "https://"))
    if is_code or is_empty or is_url or re.compile(_REFERENCE_HERE, _IGNORE).match(text, start):
        return None
    bare = re.compile(_BARE, _IGNORE).match(text, start)
    value = bare[0].rstrip(".:?") if bare else ""
    return (start, start + len(value)) if value and not _is_spared(value, is_colon) else None


def _redact_assignments(text: str) -> str:
    lowered = text.lower()
    if not ("=" in text or ":" in text) or not any(hint in lowered for hint in _NAME_HINTS):
        return text
    shown: list[str] = []
    done = 0
    for head in re.compile(_HEAD, _IGNORE).finditer(text):
        span = _secret_span(text, head) if head.start() >= done else None
        if span:
            shown += (text[done : span[0]], REDACTED)
            done = span[1]
    return "".join(shown) + text[done:]


def redact(text: str) -> str:
    """One string without secrets, by shape and by assignment (rules 3 and 4 of WIRE §9).

    Repeated until nothing changes: a rule that hides a part can lay bare what another rule knows.
    """
    for _ in range(REDACT_PASSES_MAX):
        before, text = text, _redact_assignments(_redact_shapes(text))
        if text == before:
            break
    return text


def _clean_secret(value: Any) -> Any:
    """What stands under a secret's name: strings, also in lists, are hidden; objects are searched."""
    if isinstance(value, str) and not _is_reference(clean_text(value)):
        return REDACTED
    return [_clean_secret(item) for item in value] if isinstance(value, (list, tuple)) else clean(value)


def _patched_name(members: Mapping[str, Any]) -> str:
    """The last name in the path of a JSON Patch operation (an index stands for the list it is in), or ""."""
    path = members.get("path") if isinstance(members.get("op"), str) else ""
    names = [name for name in path.split("/") if name.strip("-" + _DIGITS)] if isinstance(path, str) else []
    return names[-1] if names else ""


def _clean_members(members: Mapping[str, Any]) -> dict[str, Any]:
    cleaned: dict[str, Any] = {}
    counts: dict[str, int] = {}
    for name, value in members.items():
        given = shown = redact(clean_text(name))
        while given in cleaned or (given != name and given in members):
            counts[shown] = counts.get(shown, 1) + 1
            given = f"{shown} {counts[shown]}"
        known_as = _patched_name(members) if name == "value" else clean_text(name)
        cleaned[given] = _clean_secret(value) if _is_secret_name(known_as) else clean(value)
    return cleaned


def clean(value: Any) -> Any:
    """A copy of a JSON value that may go out: WIRE §9 on every string and member name, at every depth.

    By character, by name, by shape, by assignment. Member names that become equal are numbered.
    """
    if isinstance(value, str):
        return redact(clean_text(value))
    if isinstance(value, (list, tuple)):
        return [clean(item) for item in value]
    return _clean_members(value) if isinstance(value, dict) else value


def shorten(text: str) -> str:
    """A text as a message shows it: of one over SHOWN_TEXT_CHARS the beginning and the end."""
    half = SHOWN_TEXT_CHARS // 2
    return text if len(text) <= SHOWN_TEXT_CHARS else f"{text[:half]}…{text[-half:]}"


def nearest(name: str, choices: Iterable[Any]) -> str | None:
    """The one of `choices` that was probably meant ("did you mean …?"), or None when none is close."""
    from difflib import get_close_matches

    known = {choice.casefold(): choice for choice in choices if isinstance(choice, str)}
    found = get_close_matches(name[:NAME_SHOWN_CHARS].casefold(), known, 1)
    return known[found[0]] if found else None


# ======================================================================
# §04 schema: the subset of JSON Schema that is published and checked
# ======================================================================
# Rules: uses §01-03; pure. One schema object is both what is advertised and what is checked. The subset of
# draft 2020-12: type (one name), enum, const, pattern (matched whole), minLength, maxLength (code points),
# minimum, maximum, properties, required, additionalProperties (false or a schema), items, minItems, maxItems.


class Problem(Row):
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
    unknown = 0
    for name, member in value.items():
        if name in known or isinstance(rest, dict):
            yield from check_schema(member, known.get(name, rest), render_pointer(pointer, name))
        elif rest is False:
            unknown += 1  # a guess costs more than all the rest: only where it can be shown
            guess = nearest(name, known) if unknown <= PROBLEMS_SHOWN else None
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
    shown = [shorten(f"{problem.pointer or '/'}: {problem.message}") for problem in problems[:PROBLEMS_SHOWN]]
    more = len(problems) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more else "")


# ======================================================================
# §05 calls: one running operation: cancel, deadline, progress, commit gate, children
# ======================================================================
# Rules: uses §01-03. Only this section starts processes; `start_child` is the choke point. A Call is shared
# by the thread that works and those that may stop it. Whatever makes work visible or starts a process passes
# the call's gate, which never opens again once the call is stopped: who cannot be interrupted is harmless.


class Stopped(Exception):
    """The call was stopped: `reason` is CANCELLED or TIMEOUT, `step` the last one that it had reached."""

    def __init__(self, reason: str, step: str = "") -> None:
        super().__init__(f"{reason} at step {step}" if step else reason)
        self.reason = reason
        self.step = step


class _Gate:
    """`with call.commit():` one passes at a time, nobody after the call was stopped."""

    __slots__ = ("_call", "_lock")

    def __init__(self, call: Call) -> None:
        self._call = call
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()
        try:
            self._call.check()
        except BaseException:
            self._lock.release()
            raise

    def __exit__(self, *raised: Any) -> None:
        self._lock.release()

    def wait(self, seconds: float) -> None:
        """Wait, at most so long, until whoever is passing has passed."""
        if self._lock.acquire(timeout=max(0.0, seconds)):
            self._lock.release()


class Call:
    """One running operation: cancel token, deadline, progress, commit gate, children; for any thread."""

    def __init__(
        self,
        *,
        deadline: float | None = None,
        on_progress: Callable[[float, float | None, str], None] | None = None,
        on_child: Callable[[], None] | None = None,
    ) -> None:
        """`deadline` is a time.monotonic(); `on_child()` is called before each child starts."""
        self._deadline = deadline
        self._on_progress = on_progress
        self._on_child = on_child
        self._gate = _Gate(self)
        self._token = threading.Event()
        self._reasons: list[str] = []  # the first one counts; appending is atomic
        self._steps = 0
        self.planned = 0  # how many steps there will be, as far as is known
        self.children: list[Child] = []
        self.current_step = ""

    @property
    def reason(self) -> str:
        """Why the call was stopped; empty while it was not."""
        return self._reasons[0] if self._reasons else ""

    def check(self) -> None:
        """A cancellation point: raises Stopped once the call is stopped or its deadline has passed."""
        if not self._reasons:
            if self._deadline is None or time.monotonic() < self._deadline:
                return
            self.cancel(TIMEOUT)
        raise Stopped(self.reason, self.current_step)

    def step(self, name: str, done: float = 0, total: float = 0) -> None:
        """Name the step that begins now: a cancellation point, reported as progress.

        Without a `total` the steps are counted and `planned` is the total, as far as one was planned; an
        operation numbers all of its steps or none.
        """
        self.check()
        self.current_step = name
        self._steps += 1
        counted = max(self.planned, self._steps) if self.planned else None
        self.progress(done if total else self._steps, total or counted, name)

    def progress(self, done: float, total: float | None, message: str) -> None:
        """Report progress to whoever asked for it, who also keeps it increasing and rare enough."""
        if self._on_progress is not None and not self._reasons:
            self._on_progress(done, total, message)

    def commit(self) -> _Gate:
        """The gate: `with call.commit(): os.replace(…)`; raises Stopped instead when the call is stopped."""
        return self._gate

    def wait(self, seconds: float) -> None:
        """Sleep; a stop or the deadline ends it with Stopped."""
        left = self.remaining()
        self._token.wait(seconds if left is None else min(seconds, left))
        self.check()

    def remaining(self) -> float | None:
        """Seconds until the deadline, at least 0; None without one."""
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def cancel(self, reason: str) -> None:
        """Set the cancel token and shut the gate, without waiting for anything; the first reason counts."""
        self._reasons.append(reason)
        self._token.set()

    def stop(self, reason: str) -> None:
        """Cancel, then wait until the children are gone and a commit under way is over (both bounded)."""
        stop_calls([self], reason)

    def start(self, begin: Callable[[], Child]) -> Child:
        """Let a child begin, through the gate; it is stopped with the call."""
        if self._on_child is not None:
            self._on_child()
        with self._gate:
            child = begin()
            self.children.append(child)
        return child


def stop_calls(calls: Sequence[Call], reason: str) -> None:
    """Stop several calls at once: all tokens, then all children together, then the commits under way.

    Takes at most KILL_GRACE_SECONDS, DEATH_WAIT_SECONDS and COMMIT_WAIT_SECONDS together.
    """
    for call in calls:
        call.cancel(reason)
    _stop_children([child for call in calls for child in list(call.children)])
    deadline = time.monotonic() + COMMIT_WAIT_SECONDS
    for call in calls:
        call.commit().wait(deadline - time.monotonic())
    # A child that was just passing the gate; none can follow it.
    _stop_children([child for call in calls for child in list(call.children)], 0)


# --- children -------------------------------------------------------------------------------------


class ChildResult(Row):
    """How a child ended: exit status (negative: the signal; None: over its time), the ends of its outputs."""

    status: int | None
    stdout: bytes
    stderr: bytes
    cut: bool  # an output was longer than was kept


class _Tail:
    """Drains a pipe in a thread of its own, so that no child ever blocks on it, and keeps its end."""

    __slots__ = ("_limit", "_pipe", "_thread", "cut", "data")

    def __init__(self, pipe: Any, limit: int) -> None:
        self._pipe = pipe
        self._limit = limit
        self.data = bytearray()
        self.cut = False
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        with self._pipe:
            for chunk in iter(lambda: os.read(self._pipe.fileno(), READ_CHUNK_BYTES), b""):
                self.data += chunk
                excess = len(self.data) - self._limit
                if excess > 0:
                    del self.data[:excess]
                    self.cut = True

    def finish(self) -> bytes:
        """What was kept, once the pipe has ended (or somebody who cannot be killed holds it open)."""
        self._thread.join(DEATH_WAIT_SECONDS)
        return bytes(self.data)


class Child:
    """A started process with all that it starts; as a context manager it leaves none of them behind."""

    __slots__ = ("_call", "_pipes", "_stderr", "_stdout", "mark", "process")

    def __init__(self, call: Call, process: Any, mark: bytes, pipes: tuple[int, ...], limit: int) -> None:
        self._call = call
        self.process = process
        self.mark = mark
        self._pipes = pipes
        self._stdout = _Tail(process.stdout, limit)
        self._stderr = _Tail(process.stderr, limit)

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *raised: Any) -> None:
        # What a child that has ended by itself leaves running gets no time of grace.
        is_ended = raised[:1] == (None,) and self.process.poll() is not None
        _stop_children([self], 0 if is_ended else KILL_GRACE_SECONDS)
        self._call.children.remove(self)
        for pipe in self._pipes:
            os.close(pipe)

    def wait(self, seconds: float | None = None) -> int | None:
        """The exit status, None when the process still runs after `seconds`; raises Stopped."""
        from subprocess import TimeoutExpired

        deadline = None if seconds is None else time.monotonic() + seconds
        while deadline is None or time.monotonic() < deadline:
            try:
                status = self.process.wait(CHILD_POLL_SECONDS)
            except TimeoutExpired:
                self._call.check()
                continue
            self._call.check()
            return status
        return None

    def result(self, status: int | None) -> ChildResult:
        """The result with what the outputs held; call it when nothing of the child runs any more."""
        stdout, stderr = self._stdout.finish(), self._stderr.finish()
        return ChildResult(status, stdout, stderr, self._stdout.cut or self._stderr.cut)

    def send(self, data: bytes) -> None:
        """Write to the child's descriptor 3; Failure dependency_failed when it reads no more."""
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._pipes[0], view) :]
        except OSError:
            self._call.check()
            raise Failure("dependency_failed", self._last_words("no longer listens")) from None

    def receive(self, seconds: float) -> bytes:
        """What the child wrote to descriptor 4; Failure dependency_failed at its end or after `seconds`."""
        import select

        deadline = time.monotonic() + seconds
        while not select.select([self._pipes[1]], [], [], CHILD_POLL_SECONDS)[0]:
            self._call.check()
            if time.monotonic() >= deadline:
                raise Failure("dependency_failed", self._last_words(f"said nothing for {seconds:g} s"))
        data = os.read(self._pipes[1], READ_CHUNK_BYTES)
        if not data:
            self._call.check()
            raise Failure("dependency_failed", self._last_words("has ended"))
        return data

    def _last_words(self, what: str) -> str:
        text = bytes(self._stderr.data[-LAST_WORDS_BYTES:]).decode("utf-8", "replace").strip()
        name = os.path.basename(self.process.args[0])
        return redact(f"{name} {what}: {text}" if text else f"{name} {what}")


# A process can be given descriptors 3 and 4 only from inside; this runs there and becomes the program.
_BECOME = """\
import os, sys
os.dup2(int(sys.argv[1]), 3), os.dup2(int(sys.argv[2]), 4)
os.close(int(sys.argv[1])), os.close(int(sys.argv[2]))
try: os.execvp(sys.argv[3], sys.argv[3:])
except OSError as error: sys.exit(error.strerror)
"""


def _make_pipes() -> tuple[int, int, int, int]:
    """Two pipes: (child reads, we write, we read, child writes); the child's ends lie above 3 and 4."""
    import fcntl

    (theirs, write), (read, also_theirs) = os.pipe(), os.pipe()
    raised = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, CHILD_PIPE_MIN_FD) for fd in (theirs, also_theirs)]
    os.close(theirs)
    os.close(also_theirs)
    return raised[0], write, read, raised[1]


def _feed(pipe: Any, data: bytes) -> None:
    try:
        with pipe:
            pipe.write(data)
    except OSError:
        return  # it has ended without reading everything


def _open_process(argv: Sequence[str], stdin: bytes, pass_fds: Sequence[int], **options: Any) -> Any:
    import subprocess

    if os.name == "nt":
        options["creationflags"] = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
    else:
        options.update(start_new_session=True, pass_fds=pass_fds)
    source = subprocess.PIPE if stdin else subprocess.DEVNULL
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(list(argv), stdin=source, stdout=pipe, stderr=pipe, bufsize=0, **options)
    except FileNotFoundError:
        raise Failure("missing_dependency", f"{os.path.basename(argv[0])} is not there") from None
    except OSError as error:
        message = f"{os.path.basename(argv[0])} could not be started: {error.strerror}"
        raise Failure("dependency_failed", message) from None
    if stdin:
        threading.Thread(target=_feed, args=(process.stdin, stdin), daemon=True).start()
    return process


def start_child(
    call: Call,
    argv: Sequence[str],
    *,
    stdin: bytes = b"",
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    output_max_bytes: int = CHILD_OUTPUT_MAX_BYTES,
    pipes: bool = False,
) -> Child:
    """Start a process in a session of its own; it is stopped with the call, and so is all that it starts.

    With `pipes` (POSIX) it can be talked with over its descriptors 3 and 4. `env` None is our own.
    Failure missing_dependency or dependency_failed when it cannot be started; Stopped.
    """
    mark = f"{CHILD_MARK}={os.getpid()}-{os.urandom(CHILD_MARK_BYTES).hex()}"
    environment = {**(os.environ if env is None else env), CHILD_MARK: mark.partition("=")[2]}

    def begin() -> Child:
        ends = _make_pipes() if pipes else ()
        theirs = [ends[0], ends[-1]] if pipes else []
        shim = [sys.executable, "-I", "-S", "-c", _BECOME, *map(str, theirs)] if pipes else []
        try:
            process = _open_process([*shim, *argv], stdin, theirs, cwd=cwd, env=environment)
        except BaseException:
            for fd in ends[1:-1]:
                os.close(fd)
            raise
        finally:
            for fd in theirs:
                os.close(fd)
        process.args = list(argv)
        return Child(call, process, mark.encode("ascii"), tuple(ends[1:-1]), output_max_bytes)

    return call.start(begin)


def run_child(
    call: Call, argv: Sequence[str], *, seconds: float | None = None, **options: Any
) -> ChildResult:
    """Run a process to its end, at most `seconds`; the options are those of `start_child`; raises Stopped."""
    with start_child(call, argv, **options) as child:
        status = child.wait(seconds)
    return child.result(status)


# --- stopping what runs ---------------------------------------------------------------------------


def _read_proc(pid: str, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""  # gone by now, or somebody else's


def _family(children: Sequence[Child]) -> set[int]:
    """Linux: what children started and still lives, found by session, group, mark and parent."""
    groups = {str(child.process.pid).encode("ascii") for child in children}  # each led its group and session
    marks = [child.mark for child in children]
    parents, alive, found = {}, set(), set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        state, parent, *its = _read_proc(pid, "stat").rpartition(b")")[2].split()[:4] or (b"X", 0)
        parents[int(pid)] = int(parent)
        if state not in (b"Z", b"X"):
            alive.add(int(pid))
        environment = b"" if groups.intersection(its) else _read_proc(pid, "environ")
        if groups.intersection(its) or any(mark in environment for mark in marks):
            found.add(int(pid))
    grown = found
    while grown:
        grown = {pid for pid, parent in parents.items() if parent in found} - found
        found |= grown
    return found & alive


def _targets(children: Sequence[Child]) -> set[int]:
    """What to signal: processes, where /proc tells, else whole groups (negative) with a live member."""
    for child in children:
        child.process.poll()  # takes a zombie of ours away
    if os.path.exists("/proc/self/stat"):
        return _family(children)
    return {-child.process.pid for child in children if _signal([-child.process.pid], 0)}


def _signal(targets: Iterable[int], number: int) -> bool:
    """Send a signal; False when it reached nobody."""
    reached = False
    for target in targets:
        try:
            os.kill(target, number)
            reached = True
        except OSError:
            continue  # gone by now
    return reached


def _stop_trees(children: Sequence[Child]) -> None:
    """Windows: end each process with all of its descendants."""
    import subprocess

    tool = os.path.join(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", "taskkill.exe")
    nothing = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    ending = [
        subprocess.Popen([tool, "/T", "/F", "/PID", str(child.process.pid)], **nothing) for child in children
    ]
    for process in [*ending, *(child.process for child in children)]:
        try:
            process.wait(KILL_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()


def _stop_children(children: Sequence[Child], grace_seconds: float = KILL_GRACE_SECONDS) -> None:
    """The ladder, for all groups at once: SIGTERM, after the grace SIGKILL, until none is left (bounded)."""
    import signal

    if os.name == "nt":
        _stop_trees([child for child in children if child.process.poll() is None])
        return
    asked: set[int] = set()
    kill_at = time.monotonic() + grace_seconds
    targets = _targets(children) if children else set()
    late = 0.0
    while targets and late < DEATH_WAIT_SECONDS:
        late = time.monotonic() - kill_at
        if late < 0:
            _signal(targets - asked, signal.SIGTERM)
        else:  # once at least, however long a look at a busy machine's processes takes
            _signal(targets, signal.SIGKILL)
        asked |= targets
        time.sleep(CHILD_LOOK_SECONDS)
        targets = _targets(children)


# ======================================================================
# §06 workspace: every touch of a file stays inside
# ======================================================================
# Rules: uses §01-03, §05. Only this section opens or resolves a caller's path (WIRE §8). `resolve` judges a
# spelling once. After that a path is relative to the workspace, with "/", and every operation walks it from
# the workspace's own directory handle, component by component, and refuses each link it meets: one that was
# planted or swapped in after the check leads nowhere. Where the platform has no handles (Windows) the walk
# goes by checked names and is repeated after opening. An OSError leaves as a Failure with operation and path.

STAGING_DIR = f"{STATE_DIR}/{STAGING_NAME}"
LOCK_PATH = f"{STATE_DIR}/{LOCK_NAME}"

_OUTSIDE = "the path does not lead to a place inside the workspace"
_PATH_HINT = "give a path relative to the workspace, such as prototypes/my-app/a"
_WORKSPACE_HINT = "pass --workspace DIR (or set PROTOYARD_WORKSPACE): an existing directory's absolute path"


def _open_flags(*names: str) -> int:
    """The open(2) flags of these names, those that this platform has, as one number."""
    return sum(getattr(os, name, 0) for name in names)


_BY_HANDLES = {os.open, os.stat, os.mkdir, os.rename, os.unlink, os.rmdir} <= os.supports_dir_fd
_FOLDER_FLAGS = _open_flags("O_RDONLY", "O_DIRECTORY", "O_NOFOLLOW")
_READ_FLAGS = _open_flags("O_RDONLY", "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY")
_NEW_FLAGS = _open_flags("O_WRONLY", "O_CREAT", "O_EXCL", "O_NOFOLLOW", "O_BINARY")
_LOCK_FLAGS = _open_flags("O_RDWR", "O_CREAT", "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY")

# fmt: off
_SPELLING = (  # what a path argument must not hold (WIRE §8.2)
    (r"[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]|"
     r"[\ufeff\ud800-\udfff\U000e0000-\U000e007f]", "holds an invisible or control character"),
    (r"[;&|`$<>(){}\[\]*?!#~'\"%^:\\]", "holds a character with a meaning to shells or other systems"),
    (r"(^|/)\.\.(/|$)", 'holds a ".." component'),
    (r"[. ](/|$)",     "has a component that ends in a dot or a space"),
    (r"(?i:(^|/)(con|prn|aux|nul|(com|lpt)[0-9\u00b9\u00b2\u00b3]) *(\.[^/]*)?(/|$))",
                       "names a Windows device"),
    (r"^-",            'begins with "-"'),
)
_REASONS = {  # own words, the same under every locale; another error shows its symbolic name
    "ENOSPC": "the disk is full",         "EDQUOT": "the disk quota is used up",
    "EACCES": "permission denied",        "EPERM": "permission denied",
    "ENAMETOOLONG": "a name is too long", "EROFS": "the file system is read-only",
    "ENOENT": "it is missing",            "ENOTDIR": "a file is where a folder should be",
    "ENOLCK": "the file system has no locks", "EXDEV": "it is on another file system than .protoyard/staging",
}
# fmt: on


def _split_path(path: str, windows: bool) -> tuple[str, list[str]]:
    """What a path starts from ("" when it is relative) and its components without the empty ones and dots."""
    drive = ""
    if windows:
        import ntpath

        drive, path = ntpath.splitdrive(path.replace("\\", "/"))
    root = "/" if path.startswith("/") else ""
    return drive.casefold() + root, [part for part in path.split("/") if part not in ("", ".")]


def parse_path(argument: str, prefixes: Sequence[str], *, windows: bool) -> tuple[str, list[str]]:
    """WIRE §8.1-2: the anchor that is left ("" means the workspace) and the clean components after it.

    `prefixes` are spellings of the workspace. ValueError with the reason when the argument's own is refused.
    """
    anchor, parts = _split_path(argument, windows)
    judged, fold = argument, str.casefold if windows else str
    for start, names in sorted((_split_path(prefix, windows) for prefix in prefixes), key=str, reverse=True):
        if names and start == anchor and [*map(fold, parts[: len(names)])] == [*map(fold, names)]:
            anchor, parts = "", parts[len(names) :]
            judged = "/".join(parts) or "."
            break
    if not judged or len(judged) > PATH_MAX_CHARS:
        raise ValueError(f"is longer than {PATH_MAX_CHARS} characters" if judged else "is empty")
    if anchor not in ("", "/"):  # another drive or share: even to ask a share hands it the user's credentials
        raise ValueError(_OUTSIDE)
    for pattern, reason in _SPELLING:
        if re.search(pattern, "/".join(parts)):
            raise ValueError(reason)
    return anchor, parts


def _check_writable(parts: Sequence[str]) -> None:
    """WIRE §8.8: dot names run code (.git/hooks, .vscode …); prototypes/ is written by Protoyard alone."""
    if not parts or parts[0].casefold() == PROTOTYPES_DIR:
        raise ValueError(f"lies in {PROTOTYPES_DIR}/ or above it")
    if any(part.startswith(".") for part in parts):
        raise ValueError("leads to a place whose name begins with a dot")


def _check_directory(directory: str) -> str:
    """The canonical path of what the user named as the workspace; `no_workspace` when it cannot be one."""
    try:
        real = os.path.realpath(os.path.expanduser(directory))
        found = directory != "" and os.path.isdir(real)
    except (OSError, ValueError):
        found = False
    if re.search(r"\$\{|%[^%]+%", directory):
        reason = f'"{directory}" holds a variable that was not expanded'
    elif not found:
        reason = f'the workspace "{directory}" is not a directory'
    elif os.path.dirname(real) == real:
        reason = "the workspace is the root of a file system"
    else:
        return real
    raise Failure("no_workspace", reason, _WORKSPACE_HINT)


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
        if self.operation == "writing" and error.errno in (errno.EEXIST, errno.ENOTEMPTY):
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
        try:
            if self.fd is not None:
                os.fsync(self.fd)
        except OSError as error:  # some network and shared file systems know it for files only
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise

    def make(self, name: str) -> None:
        """Makes a folder, durably, unless something of that name is there: another may be as quick."""
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
        """Empties the folder, except for what an abandoned worker keeps filling meanwhile."""
        names, kept = self.names(), set()
        while names:
            for name in names:
                try:
                    if not self.unlink(name):
                        self._dissolve(name)
                except OSError as error:
                    if error.errno not in (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST):
                        raise
                    kept.add(name)
            names = [name for name in self.names() if name not in kept]

    def _dissolve(self, name: str) -> None:
        """Removes a folder and brings those in it up here, so that no depth exhausts stack or handles."""
        with self.open(name) as inner:
            for child in (child for child in inner.names() if not inner.unlink(child)):
                risen = self.at(_unique_name())
                os.rename(inner.at(child), risen, src_dir_fd=inner.fd, dst_dir_fd=self.fd)
        os.rmdir(self.at(name), dir_fd=self.fd)


def _unique_name() -> str:
    return f"{os.getpid()}-{os.urandom(STAGING_SALT_BYTES).hex()}"


def _last_part(path: str) -> str:
    return path.rpartition("/")[2]


def _path_parts(path: str) -> list[str]:
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
    """A folder that is built out of sight, in .protoyard/staging, and appears whole or not at all."""

    __slots__ = ("_call", "_path", "_workspace")

    def __init__(self, workspace: Workspace, call: Call) -> None:
        self._workspace = workspace
        self._call = call
        self._path = f"{STAGING_DIR}/{_unique_name()}"

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: Any) -> None:
        self._workspace.discard(self._path)

    def write(self, path: str, data: bytes) -> None:
        """Adds a file to the folder, its own folders made as needed; a cancellation point."""
        self._call.check()
        self._workspace.create_file(f"{self._path}/{path}", data)

    def publish(self, target: str) -> None:
        """Renames the folder to `target`: `already_exists` unless that is missing or an empty folder."""
        self._workspace.move(self._path, target, self._call, over_file=False)


class Workspace:
    """The one class through which files are touched. Its paths are canonical and relative; "" is the root.

    It keeps no file open and no state but names: one object may serve any number of threads. Every operation
    may raise Failure: `unsafe_path` for a link or a non-file, `not_found` for reading what is missing,
    `io_error` for what the disk refuses.
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
        true = (spelling for spelling in spellings if os.path.realpath(spelling) == self.directory)
        self._prefixes = (directory, given, self.directory, *true)

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
        return os.path.join(self.directory, *_path_parts(path))

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
        parts = _path_parts(path)
        folder = self._root()
        for part in parts:
            with folder:
                if create:
                    folder.make(part)
                folder = folder.open(part)
        return folder

    def _parent(self, path: str, *, create: bool = False) -> _Folder:
        return self._folder("/".join(_path_parts(path)[:-1]), create=create)

    def _check_opened(self, fd: int, path: str) -> None:
        """Where there are no handles: is the file that was opened still the one that the path names?"""
        if not self._handles:
            with self._parent(path) as folder:
                status = folder.status(_last_part(path))
            if _is_link(status) or not _is_same(status, os.fstat(fd)):
                raise OSError(errno.ELOOP, "swapped for something else")

    # --- reading ---

    def kind(self, path: str) -> str:
        """`file`, `folder`, `missing`, or `other` (a link, FIFO, socket or device)."""
        try:
            with _Disk("reading", path), self._parent(path) as folder:
                status = folder.status(_last_part(path) or ".")
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
        """A regular file's content; else `unsafe_path`; over `max_bytes` it is `invalid_arguments`."""
        name = _last_part(path) or "."
        with _Disk("reading", path), self._parent(path) as folder:
            # Before it is opened: that alone can set a device off.
            _check_regular(folder.status(name), path or "the workspace")
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
            fd = os.open(folder.at(_last_part(path)), _NEW_FLAGS, FILE_MODE, dir_fd=folder.fd)
            with os.fdopen(fd, "wb") as file:
                self._check_opened(fd, path)
                file.write(data)
                file.flush()
                os.fsync(fd)
            folder.sync()

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
        """Puts what was staged in its place, durably, through the commit gate.

        A file goes over a file or nothing, a folder over an empty folder or nothing; else `already_exists`.
        """
        name = _last_part(target)
        with _Disk("writing", target), call.commit(), self._parent(target, create=True) as into:
            if into.has(name):
                status = into.status(name)
                if _is_link(status) or over_file == _is_folder(status):
                    raise OSError(errno.ELOOP if _is_link(status) else errno.EEXIST, "in the way")
                if os.name == "nt" and not over_file:  # there a rename goes over nothing at all
                    os.rmdir(into.at(name))
            with self._parent(source) as out:
                rename = os.replace if over_file else os.rename
                rename(out.at(_last_part(source)), into.at(name), src_dir_fd=out.fd, dst_dir_fd=into.fd)
            into.sync()

    def remove(self, path: str) -> None:
        """Deletes a file or a folder with all in it, links themselves and not what they lead to."""
        name = _last_part(path)
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
        """Clears what killed writers left in staging: with the lock held, that is all there is in it."""
        call.check()
        if self.kind(STAGING_DIR) != "missing":
            with _Disk("removing", STAGING_DIR), self._folder(STAGING_DIR) as folder:
                folder.clear()

    # --- the lock ---

    def lock(self, call: Call) -> _Lock:
        """`with workspace.lock(call):` the right to write; a call that has it may take it again.

        Waits behind this process's own calls as long as `call` lives, behind another process
        LOCK_WAIT_SECONDS; then `busy`.
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
                # Locking a file that was deleted meanwhile would bind nobody.
                if _try_lock(fd) and _is_same(folder.status(LOCK_NAME), os.fstat(fd)):
                    return fd
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)
            return None

    def lock_is_free(self) -> bool:
        """Is nobody writing? Makes nothing; False too when it cannot be told."""
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
_MEMBER_TITLES = {"asOf": "Today", "lang": "Language", "dir": "Writing direction", "id": "Identifier"}
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
        title = _MEMBER_TITLES.get(name) or re.sub("([A-Z])", lambda m: " " + m[1].lower(), name).capitalize()
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


class _Index(Row):
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


# --- patches (RFC 6901, 6902, 7396) -----------------------------------------------------------------


def parse_patch(text: str) -> list[Any] | dict[str, Any]:
    """A JSON Patch (array) or a merge patch (object) from its JSON text; Failure invalid_patch."""
    try:
        patch = parse_json(text)
    except JsonError as error:
        raise Failure("invalid_patch", f"the patch is no JSON: {error.message}") from None
    if not isinstance(patch, (list, dict)):
        raise Failure(
            "invalid_patch", f"a patch is an array (RFC 6902) or an object (RFC 7396), not {type_name(patch)}"
        )
    return patch


def apply_patch(document: Any, patch: list[Any] | dict[str, Any]) -> Any:
    """A new document: an array is applied as RFC 6902, an object as RFC 7396; `document` is left as it is."""
    if isinstance(patch, dict):
        return _merged(document, patch)
    box = {
        "": _copied(document)
    }  # the document is the one member, so that its root can be replaced like any other
    load = 0
    for number, operation in enumerate(patch):
        try:
            load += _apply_operation(box, operation)
            if load > PATCH_LOAD_MAX_BYTES:
                raise _PatchFault(f"up to here more than {PATCH_LOAD_MAX_BYTES:,} bytes are copied and moved")
        except _PatchFault as fault:
            raise Failure("invalid_patch", f"/{number}: {shorten(str(fault))}; nothing was changed") from None
    return box[""]


class _PatchFault(Exception):
    """Why one operation of a patch cannot be applied."""


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copied(member) for name, member in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def _merged(target: Any, patch: Any) -> Any:
    """RFC 7396 §2."""
    if not isinstance(patch, dict):
        return _copied(patch)
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = _merged(merged.get(name), value)
    return merged


def parse_pointer(pointer: str) -> list[str]:
    """The reference tokens of a JSON pointer (RFC 6901); ValueError for text that is none."""
    if (pointer and not pointer.startswith("/")) or re.search("~(?![01])", pointer):
        raise ValueError(f'"{pointer}" is no JSON pointer')
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]


def same_json(one: Any, other: Any) -> bool:
    """Equality as RFC 6902 §4.6 has it: numbers by value, a boolean never equals a number."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            same_json(value, other[name]) for name, value in one.items()
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_json, one, other))
    return type_name(one) in (type_name(other), *_NUMBER_TYPES) and bool(one == other)


_NUMBER_TYPES = ("integer", "number")


def _slot(holder: Any, token: str, pointer: str, *, new: bool = False) -> Any:
    """The key or index that `token` means in `holder`; with `new` it may be one past the end."""
    if isinstance(holder, dict):
        if not new and token not in holder:
            guess = nearest(token, holder)
            raise _PatchFault(f"{pointer} does not exist" + (f'; did you mean "{guess}"?' if guess else ""))
        return token
    if not isinstance(holder, list):
        raise _PatchFault(f"{pointer} does not exist: what holds it is {type_name(holder)}")
    if token == "-" and new:
        return len(holder)
    if not re.fullmatch("0|[1-9][0-9]*", token):
        raise _PatchFault(f'{pointer} does not exist: "{token}" is no array index')
    if len(token) > len(str(len(holder))) or int(token) >= len(holder) + new:
        raise _PatchFault(f"{pointer} does not exist: the array has {len(holder)} items")
    return int(token)


def _find(box: dict[str, Any], pointer: str, *, new: bool = False) -> tuple[Any, Any]:
    """The holder and the key or index of what `pointer` points to."""
    holder, tokens = box, ["", *parse_pointer(pointer)]
    for token in tokens[:-1]:
        holder = holder[_slot(holder, token, pointer)]
    return holder, _slot(holder, tokens[-1], pointer, new=new)


def _put(box: dict[str, Any], pointer: str, value: Any) -> None:
    holder, slot = _find(box, pointer, new=True)
    if isinstance(holder, list):
        holder.insert(slot, value)
    else:
        holder[slot] = value


def _take(box: dict[str, Any], pointer: str) -> Any:
    if pointer == "":
        raise _PatchFault("the whole document cannot be removed")
    holder, slot = _find(box, pointer)
    return holder.pop(slot)


def _get(box: dict[str, Any], pointer: str) -> Any:
    holder, slot = _find(box, pointer)
    return holder[slot]


def _replace(box: dict[str, Any], pointer: str, value: Any) -> None:
    holder, slot = _find(box, pointer)
    holder[slot] = value


def _move(box: dict[str, Any], path: str, source: str) -> None:
    if path == source:
        _get(box, path)
    elif path.startswith(source + "/"):
        raise _PatchFault(f"{source} cannot be moved into itself")
    else:
        _put(box, path, _take(box, source))


def _test(box: dict[str, Any], pointer: str, value: Any) -> None:
    found = _get(box, pointer)
    if not same_json(found, value):
        raise _PatchFault(
            f"test failed: {pointer or 'the document'} is {_shortened(found)}, not {_shortened(value)}"
        )


def _shortened(value: Any) -> str:
    text = render_json(value)
    return text if len(text) <= SHOWN_VALUE_CHARS else text[:SHOWN_VALUE_CHARS] + "…"


# The operations of RFC 6902 §4: the member they need beside op and path, and what they do with it.
# fmt: off
_PATCH_OPERATIONS: Mapping[str, tuple[str | None, Callable[..., Any]]] = {
    "add":     ("value", lambda box, path, value: _put(box, path, _copied(value))),
    "remove":  (None,    _take),
    "replace": ("value", lambda box, path, value: _replace(box, path, _copied(value))),
    "move":    ("from",  _move),
    "copy":    ("from",  lambda box, path, source: _put(box, path, _copied(_get(box, source)))),
    "test":    ("value", _test),
}
# fmt: on


def _height(value: Any) -> int:
    """How many levels a value has; a scalar has none."""
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max(map(_height, inner), default=0) if isinstance(value, (dict, list)) else 0


def _weigh(box: dict[str, Any], operation: Mapping[str, Any], member: str) -> int:
    """The bytes that an operation takes from elsewhere; a fault when it would build too deep a document."""
    value = _get(box, operation["from"]) if member == "from" else operation["value"]
    if operation["path"].count("/") + _height(value) > JSON_DEPTH_MAX:
        raise _PatchFault(f"{operation['path']} would be nested deeper than {JSON_DEPTH_MAX} levels")
    return json_bytes(value) if member == "from" else 0


def _apply_operation(box: dict[str, Any], operation: Any) -> int:
    """Apply one operation; returns what it copied or moved, in bytes."""
    if not isinstance(operation, dict):
        raise _PatchFault(f"an operation is an object, not {type_name(operation)}")
    name = operation.get("op")
    if not isinstance(name, str) or name not in _PATCH_OPERATIONS:
        raise _PatchFault(f"op must be one of {', '.join(_PATCH_OPERATIONS)}")
    member, action = _PATCH_OPERATIONS[name]
    for pointer in ("path", *(["from"] if member == "from" else [])):
        if not isinstance(operation.get(pointer), str):
            raise _PatchFault(f"{name} needs {pointer}, a JSON pointer")
    if member == "value" and "value" not in operation:
        raise _PatchFault(f"{name} needs a value")
    try:
        load = _weigh(box, operation, member) if member and name != "test" else 0
        action(box, operation["path"], *([operation[member]] if member else []))
    except ValueError as error:
        raise _PatchFault(str(error)) from None
    return load


# --- differences --------------------------------------------------------------------------------


def render_patch(old: Any, new: Any, pointer: str = "") -> list[dict[str, Any]]:
    """The RFC 6902 patch that makes `new` of `old`; list items with ids are told apart by them."""
    if isinstance(old, dict) and isinstance(new, dict):
        removed = [{"op": "remove", "path": render_pointer(pointer, name)} for name in old if name not in new]
        inner = [
            step
            for name in old
            if name in new
            for step in render_patch(old[name], new[name], render_pointer(pointer, name))
        ]
        added = [name for name in new if name not in old]
        return (
            removed
            + inner
            + [{"op": "add", "path": render_pointer(pointer, n), "value": new[n]} for n in added]
        )
    if isinstance(old, list) and isinstance(new, list):
        return _list_patch(old, new, pointer)
    same = same_json(old, new) and type_name(old) == type_name(new)
    return [] if same else [{"op": "replace", "path": pointer, "value": new}]


def _item_keys(items: Sequence[Any]) -> list[tuple[str, int]]:
    """A key for each item, the same for the same thing: its id, else its text; repeats are numbered."""
    seen: dict[str, int] = {}
    keys = []
    for item in items:
        text = f"#{item['id']}" if isinstance(item, dict) and "id" in item else render_json(item)
        seen[text] = seen.get(text, 0) + 1
        keys.append((text, seen[text]))
    return keys


def _list_patch(old: list[Any], new: list[Any], pointer: str) -> list[dict[str, Any]]:
    old_keys, new_keys = _item_keys(old), _item_keys(new)
    items = dict(zip(old_keys, old))
    kept = frozenset(new_keys)
    steps = []
    for place in reversed(range(len(old))):
        if old_keys[place] not in kept:
            steps.append({"op": "remove", "path": f"{pointer}/{place}"})
    working = [key for key in old_keys if key in kept]
    for place, key in enumerate(new_keys):
        if key not in items:
            steps.append({"op": "add", "path": f"{pointer}/{place}", "value": new[place]})
            working.insert(place, key)
        elif working[place] != key:
            source = working.index(key, place)
            steps.append({"op": "move", "from": f"{pointer}/{source}", "path": f"{pointer}/{place}"})
            working.insert(place, working.pop(source))
    for place, key in enumerate(new_keys):
        if key in items:
            steps += render_patch(items[key], new[place], f"{pointer}/{place}")
    return steps


# The lists of a blueprint whose items a summary counts and names, by what names an item.
_SUMMARISED = {
    "roles": "label",
    "entities": "label",
    "screens": "title",
    "flows": "label",
    "settings": "label",
}


def _named_items(blueprint: Mapping[str, Any]) -> dict[str, dict[str, tuple[str, Any]]]:
    """kind -> key -> (name for people, the item without its countable parts)."""
    found: dict[str, dict[str, tuple[str, Any]]] = {}
    for kind, label in _SUMMARISED.items():
        found[kind] = {item["id"]: (item[label], item) for item in blueprint[kind]}
    found["fields"], found["records"] = {}, {}
    for entity in blueprint["entities"]:
        bare = {name: value for name, value in entity.items() if name not in ("fields", "records")}
        found["entities"][entity["id"]] = (entity["label"], bare)
        for field in entity["fields"]:
            found["fields"][f"{entity['id']}.{field['id']}"] = (f"{entity['label']}.{field['label']}", field)
        for record in entity.get("records", ()):
            name = record.get(entity["display"]) or record["id"]
            found["records"][f"{entity['id']}.{record['id']}"] = (f"{entity['label']} {name}", record)
    rest = {name: value for name, value in blueprint.items() if name not in _SUMMARISED}
    found["rest"] = {name: (name, value) for name, value in rest.items()}
    return found


def _told(kind: str, keys: Sequence[str], named: Mapping[str, tuple[str, Any]]) -> list[str]:
    """The items of a kind by name; more than RECORDS_SHOWN records of one entity as their number."""
    one = {"rest": "", "entities": "entity "}.get(kind, f"{kind[:-1]} ")
    if kind != "records":
        return [one + named[key][0] for key in keys]
    groups: dict[str, list[str]] = {}
    for key in keys:
        groups.setdefault(key.partition(".")[0], []).append(one + named[key][0])
    few = [name for names in groups.values() if len(names) <= RECORDS_SHOWN for name in names]
    return few + [
        f"{len(names)} records of {entity}" for entity, names in groups.items() if len(names) > RECORDS_SHOWN
    ]


def summarise_change(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """What changed in words: lists `added`, `changed`, `removed`, and `untouched` counts by kind."""
    before, after = _named_items(old), _named_items(new)
    summary: dict[str, Any] = {"added": [], "changed": [], "removed": [], "untouched": {}}
    for kind in after:
        was, now = before[kind], after[kind]
        both = [key for key in now if key in was]
        changed = [key for key in both if not same_json(was[key][1], now[key][1])]
        summary["added"] += _told(kind, [key for key in now if key not in was], now)
        summary["changed"] += _told(kind, changed, now)
        summary["removed"] += _told(kind, [key for key in was if key not in now], was)
        if kind != "rest":
            summary["untouched"][kind] = len(both) - len(changed)
    return summary


def render_summary(summary: Mapping[str, Any]) -> str:
    """The summary of a change as a sentence or two, at most LABEL_MAX_CHARS long."""
    told = [f"{how.capitalize()}: {', '.join(summary[how])}." for how in ("added", "changed", "removed")]
    text = " ".join(part for part, how in zip(told, ("added", "changed", "removed")) if summary[how])
    return text if len(text) <= LABEL_MAX_CHARS else text[: LABEL_MAX_CHARS - 1] + "…"


def find_warnings(blueprint: Mapping[str, Any]) -> list[str]:
    """What is allowed but hardly meant: unreachable screens, empty boards, entities without a screen."""
    reached = set(blueprint["navigation"]) | {
        step["screen"] for flow in blueprint["flows"] for step in flow["steps"]
    }
    shown = {screen.get("entity") for screen in blueprint["screens"]}
    counts = {entity["id"]: len(entity.get("records", ())) for entity in blueprint["entities"]}
    warnings = []
    for number, screen in enumerate(blueprint["screens"]):
        if screen["id"] not in reached and screen["type"] not in ("detail", "form"):
            warnings.append(f"/screens/{number}: nothing leads to the screen {screen['title']}")
        if screen["type"] == "board" and not counts[screen["entity"]]:
            warnings.append(f"/screens/{number}: the board {screen['title']} has no records")
    for number, entity in enumerate(blueprint["entities"]):
        if entity["id"] not in shown:
            warnings.append(f"/entities/{number}: no screen shows {entity['plural']}")
    return warnings


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


def order_blueprint(blueprint: Mapping[str, Any]) -> dict[str, Any]:
    """A valid blueprint with its members in the schema's order and a record's in its fields' order."""
    ordered = _ordered(blueprint, blueprint_schema())
    for entity in ordered["entities"]:
        order = ["id", *(field["id"] for field in entity["fields"])]
        records = entity.get("records", ())
        if records:
            entity["records"] = [{name: r[name] for name in _sorted_names(r, order)} for r in records]
    return ordered


def render_blueprint(blueprint: Mapping[str, Any]) -> str:
    """The text of a valid blueprint's file; the order in which its members came does not matter."""
    return render_document(order_blueprint(blueprint))


def digest(blueprint: Mapping[str, Any]) -> str:
    """`sha256:` and the hex digest of the blueprint file's bytes."""
    import hashlib

    return "sha256:" + hashlib.sha256(render_blueprint(blueprint).encode("utf-8")).hexdigest()


# ======================================================================
# §08 archetypes: tables of record types, fields, statuses, words
# ======================================================================
# Rules: uses §01, §03, §07; pure. Tables are text, parsed on first use. A kind of record is
#   name|other names|icon|fields|statuses in order|screens beside list, detail, form (by their first letters);
# and a field is its name and a mark: none text, * longtext, # number, $ money, % percent, ^ date, @ datetime,
# ~ duration, ! person, ? boolean, + tags, = rating, & url, >kind ref, (a/b) choice.

_ARCHETYPES = """
contact|person,client contact|person|name >company job_title email phone tags+ notes*|active,do not
contact,left company|t; company|account,organisation,client firm,organization,firm,business|building|name
sector() website& phone address owner! annual_value$|prospect,active,dormant,lost|r;
customer|client,buyer,shopper,consumer,passenger,policyholder|person|name email phone address since^
lifetime_value$ vip? notes*|new,active,inactive,blocked|;
supplier|vendor,provider,contractor,subcontractor,carrier|truck|name >contact email phone
payment_terms(14_days/30_days/60_days) rating= preferred?|under review,approved,suspended|;
employee|worker,colleague,staff,technician,driver,nurse,teacher,guide,engineer,operator,officer,inspector,coach,instructor,trainer,therapist,doctor,agent|person|name
role manager>employee email phone start_date^|onboarding,active,on leave,left|c; member|club
member,subscriber,cardholder|person|name member_no tier() joined^ renews_on^ email
phone|pending,active,lapsed,cancelled|; volunteer|helper|person|name skills+
availability(weekday/evening/weekend) phone email checks_expire^|applied,vetted,active,resting|c;
candidate|applicant,jobseeker|person|name job>job_opening source() email phone score=
applied_on^|applied,screening,interview,offer,hired,rejected|bt; patient||person|name date_of_birth^ phone
clinician! allergies+ next_visit@ notes*|registered,in treatment,discharged|t;
student|pupil,learner,trainee,apprentice,camper,participant,cadet|person|name student_no class>course email
date_of_birth^ attendance%|enrolled,on leave,graduated,withdrawn|r;
guest|visitor,attendee,invitee,delegate|person|name email phone party_size# arrival@
requests*|invited,confirmed,arrived,left,no-show|; team|crew,squad,group,shift team|people|name lead! size#
skills+|available,on job,off duty|b; lead|enquiry,prospect,sales lead|person|name company
source(web/referral/event/phone) email phone estimated_value$
owner!|new,contacted,qualified,converted,lost|b; deal|opportunity|coin|name >company >contact value$
probability% close_date^ owner!|lead,qualified,proposal,negotiation,won,lost|br;
quote|estimate,offer,proposal,quotation|file|number >customer total$ valid_until^ discount%
terms*|draft,sent,accepted,declined,expired|; order|sales order,preorder|cart|number >customer ordered_at@
items# total$ deliver_by^ paid?|placed,confirmed,packed,shipped,delivered,cancelled|b; order line|line
item|cart|>order >product quantity# unit_price$ line_total$||; purchase order|po|cart|number >supplier total$
needed_by^ requested_by! approver!|draft,submitted,approved,ordered,received,closed|i; goods
receipt|receiving note|box|>purchase_order received_at@ received_by! quantity# damaged#
remarks*|expected,partial,complete,disputed|; invoice|bill|file|number >customer issue_date^ due_date^ net$
total$ paid_on^|draft,sent,paid,overdue,void|r;
payment|receipt,transaction,instalment,refund,deposit|coin|>invoice amount$ paid_at@
method(card/transfer/cash) reference|pending,cleared,failed,refunded|r; expense
claim|expense,reimbursement|coin|>employee purpose amount$ spent_on^ category() receipt&
approver!|draft,submitted,approved,rejected,reimbursed|ir; budget||coin|name period planned$ spent$ owner!
used%|open,at risk,exceeded,closed|rd; contract|agreement|file|title party>company starts_on^ ends_on^ value$
owner!|draft,in review,signed,expiring,ended|t; subscription|plan|card|>customer plan() price$
interval(monthly/yearly) renews_on^ seats#|trial,active,past due,cancelled|r; product|article,sku,catalogue
item,item|box|name sku category() price$ in_stock# reorder_at# description*|draft,live,out of stock,retired|;
task|to-do,action item,todo,to do,chore,assignment|check|title assignee! due_date^ priority(low/normal/high)
>project estimate~ notes*|to do,in progress,blocked,done|bc;
project|engagement,programme,commission|briefcase|name client>company lead! starts_on^ due_on^ budget$
progress%|planned,active,on hold,completed,cancelled|td; milestone|deliverable,deadline|flag|title >project
due_on^ owner! done_on^|upcoming,due,reached,missed|t; work order|job,job card,job
sheet,repair,installation,maintenance job|wrench|number asset>equipment >site problem* technician!
scheduled_for@ cost$|new,scheduled,in progress,waiting for parts,completed,invoiced|bc; service
request|request,repair request,callout request|bell|reference requester! category() description*
priority(low/normal/urgent) received_at@ assignee!|received,triaged,assigned,resolved,closed|bi;
ticket|support ticket,issue,bug,bug report,support case|chat|reference subject requester! category()
priority(low/medium/high/critical) assignee! opened_at@|open,waiting on customer,in
progress,resolved,closed|bi; incident|safety event,outage,accident,near miss,outage
report,emergency|flag|reference title severity(minor/moderate/major/critical) occurred_at@ location
reported_by! description*|reported,investigating,contained,resolved,closed|tdr; change
request|variation|gear|title reason* requested_by! impact(low/medium/high) cost_effect$
decide_by^|proposed,under review,approved,rejected,implemented|ib; inspection|survey,safety
inspection,checkup,check-up|check|reference asset>equipment >site inspector! planned_for@
result(pass/pass_with_remarks/fail) score% remarks*|planned,in progress,passed,failed,overdue|cr; visit|site
visit,call-out|map|>site visitor! starts_at@ ends_at@ purpose outcome* mileage#|planned,travelling,on
site,completed,cancelled|c;
finding|defect,nonconformance,observation,fault,damage,snag,violation,ncr,non-conformance|flag|title
>inspection severity(minor/major/critical) found_on^ owner! due_date^ root_cause*|open,action
agreed,fixed,verified,closed|br; corrective action|capa,action,preventive action|check|title >finding owner!
due_date^ effectiveness= done_on^|open,in progress,done,verified|b; checklist|template|check|name items#
version# owner!|draft,in use,retired|s; site|premises,facility,building,depot,clinic
site,practice|building|name address >contact region() opening_hours|planned,active,closed|;
equipment|machine,equipment item,appliance,lift,elevator,boiler,pump,instrument|wrench|name serial_no model
>site installed_on^ next_service^|in service,needs attention,out of service,scrapped|t;
asset|device,laptop,inventory item|box|tag name category() holder! purchased_on^ warranty_until^|in
stock,assigned,in repair,lost,disposed|r;
vehicle|car,van,truck,bike,lorry,bus,boat,bicycle,motorbike,trailer|car|registration make_model driver!
mileage# fuel(petrol/diesel/electric) mot_due^|available,in use,in workshop,sold|c; tool|kit,gear|wrench|name
category() location condition(new/good/worn/broken) value$ loanable?|available,on loan,in repair,retired|;
loan|borrowing,checkout|link|item>tool borrower>member out_on^ due_back^ returned_on^
condition_back(same/worn/damaged)|reserved,out,overdue,returned|c; stock
item|part,material,ingredient,consumable,supply,spare part,medicine,inventory|box|name sku >location on_hand#
reorder_at# unit_cost$ >supplier|in stock,low,out of stock,on order|d; stock
movement|transfer,adjustment|box|item>stock_item quantity# kind(in/out/adjust/transfer) moved_at@ moved_by!
reason||t; location|warehouse,bin,shelf|map|code name capacity# used% manager!|open,full,blocked|d;
meter|counter,sensor|chart|number kind(electricity/gas/water/heat) place installed_on^ last_value#
last_read^|active,faulty,replaced|r; meter reading|reading,measurement|chart|>meter value# unit(kWh/m3/l)
read_at@ read_by! estimated?|entered,checked,disputed|r; appointment|consultation,consultation
slot,slot,check-in|calendar|client>customer with! starts_at@ duration~ >room
notes*|requested,confirmed,arrived,completed,cancelled,no-show|c; booking|reservation,bed booking,table
booking|calendar|reference resource>room booked_by! starts_at@ ends_at@ people#
price$|requested,confirmed,checked in,completed,cancelled|c; room|space,hall,table|building|name capacity#
features+ bookable?|free,occupied,out of order|c; shift|rota slot|clock|person>employee starts_at@ ends_at@
role() place|open,assigned,confirmed,worked,missed|c; time entry|timesheet line|clock|person>employee
>project date^ duration~ billable? note|draft,submitted,approved,invoiced|rc; leave request|holiday
request,absence,holiday,vacation,vacation request,time off request,leave,day off|calendar|person>employee
kind(holiday/sick/other) from^ to^ days# approver!|requested,approved,declined,taken|ci;
meeting|session,conference call|calendar|title starts_at@ duration~ chair! attendees# place
minutes*|scheduled,held,cancelled|c;
event|concert,festival,workshop,exhibition,screening,excursion,wedding,conference|calendar|name >venue
starts_at@ ends_at@ capacity# budget$|draft,announced,open,sold out,over,cancelled|cd;
registration|sign-up,rsvp,entry,signup|check|>event attendee>contact registered_at@ ticket_type() price$
checked_in?|waiting list,registered,confirmed,attended,cancelled|r; venue||building|name address capacity#
>contact accessible? hire_fee$|available,held,booked|c; shipment|consignment,freight,load,cargo,delivery
note|truck|tracking_no origin<address destination<address carrier>supplier weight# eta@|booked,picked up,in
transit,at customs,delivered,returned|td; parcel|package,delivery|box|barcode recipient address weight#
>route|sorted,out for delivery,delivered,failed,returned|b; route|tour,run,delivery round|truck|name driver!
>vehicle date^ stops# starts_at@|planned,loading,on the road,finished|bc; stop|delivery stop|map|>route
address position# planned_at@ outcome(delivered/failed/skipped) note|planned,arrived,done,failed|bt;
trip|ride,journey|map|passenger driver! >vehicle pickup<address drop_off<address starts_at@
fare$|requested,accepted,on the way,completed,cancelled|c; container|pallet,crate|box|number kind() contents
weight# position|empty,loaded,in transit,emptied|b; property|flat,house,apartment,home,show
home,dwelling,rental|home|name address kind(flat/house/office) area# rooms# rent$
owner>contact|vacant,listed,reserved,let,under repair|; lease|tenancy|door|>property tenant>contact
starts_on^ ends_on^ rent$ deposit$|draft,signed,active,notice given,ended|t;
viewing|showing|calendar|>property visitor>contact starts_at@ agent! interest=
feedback*|booked,done,cancelled,no-show|c; plot|field,grave,pitch,allotment,burial plot|map|number area#
holder>member section() rent$ last_inspected^|free,offered,held,closed|; treatment|procedure,therapy,medicine
given|heart|>patient kind() given_at@ clinician! outcome* cost$|planned,given,stopped|t;
prescription|medication|flask|>patient medicine dose frequency from^
until^|issued,dispensed,finished,stopped|; lab test|sample,assay,specimen,blood test,test
order|flask|reference >patient kind() collected_at@ result reported_at@|ordered,collected,in
lab,reported,reviewed|bt; bed transfer|move,transfer request|door|>patient from_bed to_bed requested_by!
needed_by@ porter!|requested,approved,in transit,completed,declined|bi;
animal|pet,livestock,dog,cat,horse,cow,sheep,ewe,ram,lamb,goat,calf,bird,hive,flock,herd,cattle|paw|name
species() breed owner>contact born_on^ weight#|active,under treatment,sold,deceased|t;
vaccination|jab,immunisation|heart|>animal vaccine given_on^ next_due^ given_by!|due,given,overdue|c;
course|class,curriculum|cap|title code teacher! starts_on^ ends_on^ places#|draft,open,running,finished|c;
lesson|tutorial,lecture|calendar|>course starts_at@ duration~ >room topic teacher!|planned,held,cancelled|c;
enrolment||check|>student >course enrolled_on^ progress% fee_paid?|applied,enrolled,completed,dropped|r;
assessment|exam,grade,quiz,evaluation,exam result|cap|>student >course kind(exam/coursework/practical)
taken_on^ score% feedback*|scheduled,taken,marked,appealed|r; book|title,publication|book|title author isbn
genre() copies# shelf|available,on loan,reserved,withdrawn|; job opening|vacancy,position|briefcase|title
department() place salary_to$ hiring_manager! posted_on^ openings#|draft,open,interviewing,filled,closed|b;
application|submission,request form|file|reference applicant>contact kind() submitted_at@ reviewer!
decision_due^ decision_note*|draft,submitted,under review,more info needed,approved,refused|ib;
permit|licence,certificate,license,pass,certification,badge|card|number holder>contact kind() issued_on^
expires_on^ fee$|applied,issued,expiring,suspended,expired|r; case|matter,dispute,file,court
case|briefcase|reference title client>contact case_worker! opened_on^ risk(low/medium/high)
summary*|open,active,on hold,closed|t; complaint|grievance|flag|reference complainant>contact received_at@
channel(phone/email/form/letter) handler! reply_due^|received,acknowledged,investigating,answered,closed|ir;
donation|gift,pledge|coin|donor>contact amount$ kind(money/goods/time) received_on^ >campaign
thanked_on^|pledged,received,thanked,receipted|rd; campaign||flag|name goal$ raised$ starts_on^ ends_on^
owner! progress%|planned,running,ended|dr; grant award|grant|coin|>application amount$ awarded_on^
instalments# report_due^|offered,accepted,paying,completed,clawed back|tr;
message|conversation,email,reply,e-mail,sms,chat,thread|chat|subject from! to! sent_at@ body* about
unread?|unread,read,replied,archived|i; notice|announcement,alert,newsletter,reminder,improvement
notice,bulletin|bell|title body* audience() published_at@ expires_on^
author!|draft,scheduled,published,expired|i; note|comment,diary entry,log entry,remark|chat|about author!
written_at@ body* private?||t; document|sop,policy,manual,sop version,thesis|file|title version owner!
updated_on^ review_by^ link&|draft,in review,approved,superseded|; review|survey
response,testimonial,feedback|chat|about reviewer! rating= written_on^ comment*
recommend?|new,published,hidden|r; feature request|idea,suggestion|chat|title requested_by>contact votes#
effort(S/M/L) description* >release|new,under consideration,planned,in progress,shipped,declined|bt;
release|sprint|gear|version planned_for^ released_on^ manager! notes*|planned,in testing,released,rolled
back|t; risk|hazard|flag|title likelihood= impact= owner! mitigation*
review_by^|identified,mitigating,accepted,closed|r; recipe|dish,formula|food|name serves# prep_time~
cook_time~ allergens+ method* rating=|draft,tested,on the menu,retired|; menu|meal plan|food|name valid_from^
valid_to^ dishes# price$ chef!|draft,published,over|c; batch|lot|box|batch_no >recipe started_at@ quantity#
unit(kg/l/pcs) yield% made_by! best_before^|planned,in progress,resting,released,rejected|bt;
operation|production step|wrench|>work_order machine>equipment starts_at@ duration~ quantity_done#
operator!|queued,set up,running,done|tb; fixture|match,game|flag|home>team away>team kick_off@ >venue
referee! home_score# away_score#|scheduled,playing,finished,postponed|c; player|athlete|person|name >team
number# position() games# score#|fit,injured,suspended,retired|r; goal|target|chart|name owner! target#
reached# progress% due_on^|active,paused,reached|d; collection
object|artefact,artwork,object,artifact|star|title maker acquired_on^ >location condition(good/fair/poor)
insured_value$|in store,on display,on loan,in conservation|t; tree|street tree|leaf|tag_no species()
planted_on^ place<address risk(low/medium/high) last_inspected^|healthy,watch,work planned,felled|r"""

# What an unknown compound borrows, by its last word (archetypes.md §2), in the same form.
_FALLBACKS = """
~|request,requisition|bell|reference requester! submitted_at@ reason*
approver!|requested,approved,declined,done|i;
~|report,log,entry,record,diary,history,journal|chat|title recorded_at@ recorded_by! value# body*||t;
~|score,result,rating|chart|title value# recorded_at@ recorded_by! remarks*||r;
~|plan,programme,schedule,list,sheet,template,catalogue,guide,policy|file|name version# owner! valid_from^
remarks*|draft,in use,retired|;
~|test,check,examination,analysis,trial|check|title planned_for@ inspector! done_at@ result(pass/fail) score%
remarks*|planned,in progress,passed,failed|cr;
~|slot,sitting,class,screening,hearing,pickup|calendar|title starts_at@ duration~ with!
place|requested,confirmed, done,no-show|c;
~|charge,fee,fine,instalment,allowance,payout|coin|title amount$ due_date^ paid_on^ remarks|due,paid,waived|r;
~|pass,card,badge|card|number holder! issued_on^ expires_on^|issued,expiring,expired|;
~|step,stage,item,line,part,component|box|name position# quantity# remarks|open,done|;
~|deadline,reminder,closure,renewal|clock|title due_on^ owner! remarks*|upcoming,due,done,missed|c;
~|~person|person|name email phone since^ notes*|active,away,left|;
~|~|circle|name owner! category() created_on^ notes*|new,active,done|
"""
# The commonest words of fields and states in English, Spanish, French, German, Portuguese.
_TERMS = """
en|es|fr|de|pt;title|título|titre|titel|título;number|número|numéro|nummer|número;reference|referencia|référence|kennung|referência;
kind|clase|genre|art|espécie;category|categoría|catégorie|kategorie|categoria;description|descripción|description|beschreibung|descrição;
notes|notas|remarques|notizen|notas;remarks|observaciones|observations|bemerkungen|observações;email|correo|e-mail|e-mail|e-mail;
status|estado|statut|status|situação;owner|responsable|responsable|zuständig|responsável;place|lugar|lieu|ort|local;
location|ubicación|emplacement|standort|localização;value|valor|valeur|wert|valor;duration|duración|durée|dauer|duração;
quantity|cantidad|quantité|menge|quantidade;amount|importe|montant|betrag|valor;total|total|total|summe|total;
starts at|empieza|début|beginn|início;ends at|termina|fin|ende|término;starts on|desde|à partir du|ab|a partir
de; ends on|hasta|jusqu'au|bis|até;from|desde|du|von|de;to|hasta|au|bis|até;due date|vence el|échéance|fällig
am|vence em; due on|vence el|échéance|fällig am|vence em;due back|devolver el|retour prévu|rückgabe
bis|devolver até; out on|prestado el|sorti le|ausgeliehen am|emprestado em;returned on|devuelto el|rendu
le|zurück am|devolvido em; planned for|previsto para|prévu pour|geplant für|previsto para;requested by|pedido
por|demandé par|angefragt von|pedido por; received at|recibido el|reçu le|eingegangen am|recebido em;created
on|creado el|créé le|angelegt am|criado em; issue date|emitida el|date d'émission|ausgestellt am|emitida
em;paid on|pagado el|payé le|bezahlt am|pago em;
paid|pagado|payé|bezahlt|pago;priority|prioridad|priorité|priorität|prioridade;severity|gravedad|gravité|schwere|gravidade;
assignee|asignado a|confié à|zugewiesen an|atribuído
a;approver|aprueba|approbateur|freigabe|aprova;requester|solicitante|demandeur|anfragende Person|solicitante;
reported by|notificado por|signalé par|gemeldet von|relatado por;occurred at|ocurrió el|survenu le|geschehen
am|ocorreu em; with|con|avec|bei|com;about|sobre|concerne|betrifft|sobre;author|autor|auteur|verfasst
von|autor;reason|motivo|motif|grund|motivo;
purpose|finalidad|but|zweck|finalidade;outcome|desenlace|issue|ausgang|desfecho;score|puntuación|note|punkte|pontuação;
rating|valoración|évaluation|bewertung|avaliação;since|desde|depuis|seit|desde;joined|alta|adhésion|beitritt|adesão;
skills|habilidades|compétences|fähigkeiten|habilidades;availability|disponibilidad|disponibilité|verfügbarkeit|disponibilidade;
capacity|capacidad|capacité|plätze|capacidade;weight|peso|poids|gewicht|peso;size|tamaño|taille|größe|tamanho;
version|versión|version|version|versão;serial no|número de serie|numéro de série|seriennummer|número de
série;model|modelo|modèle|modell|modelo;
species|especie|espèce|tierart|espécie;breed|raza|race|rasse|raça;born on|nacimiento|né le|geboren
am|nascimento; ordered at|pedido el|commandé le|bestellt am|pedido
em;items|artículos|articles|positionen|itens;deliver by|entregar el|livrer le|liefern bis|entregar até;
problem|problema|problème|problem|problema;cost|coste|coût|kosten|custo;estimate|estimación|estimation|schätzung|estimativa;
people|personas|personnes|personen|pessoas;booked by|reservado por|réservé par|gebucht von|reservado
por;person|persona|personne|person|pessoa;
item|objeto|objet|gegenstand|objeto;borrower|prestatario|emprunteur|ausgeliehen an|quem
pegou;unit|unidad|unité|einheit|unidade;
new|nuevo|nouveau|neu|novo;active|activo|actif|aktiv|ativo;done|hecho|terminé|erledigt|concluído;open|abierto|ouvert|offen|aberto;
closed|cerrado|clôturé|geschlossen|encerrado;draft|borrador|brouillon|entwurf|rascunho;planned|planificado|prévu|geplant|planejado;
scheduled|programado|programmé|angesetzt|agendado;requested|solicitado|demandé|angefragt|solicitado;confirmed|confirmado|confirmé|bestätigt|confirmado;
approved|aprobado|approuvé|genehmigt|aprovado;declined|rechazado|refusé|abgelehnt|recusado;rejected|rechazado|rejeté|abgelehnt|rejeitado;
cancelled|cancelado|annulé|storniert|cancelado;completed|completado|terminé|abgeschlossen|concluído;in
progress|en curso|en cours|in Arbeit|em andamento; overdue|vencido|en
retard|überfällig|atrasado;due|pendiente|dû|fällig|pendente;paused|en pausa|en pause|pausiert|em pausa;
available|disponible|disponible|verfügbar|disponível;reserved|reservado|réservé|reserviert|reservado;out|prestado|sorti|ausgeliehen|emprestado;
on loan|prestado|prêté|verliehen|emprestado;returned|devuelto|rendu|zurückgegeben|devolvido;in repair|en
reparación|en réparation|in Reparatur|em reparo;
retired|retirado|retiré|ausgemustert|retirado;lost|perdido|perdu|verloren|perdido;arrived|llegado|arrivé|angekommen|chegou;
no-show|no presentado|non présenté|nicht erschienen|não
compareceu;received|recibido|reçu|eingegangen|recebido;assigned|asignado|attribué|zugewiesen|atribuído;
resolved|resuelto|résolu|gelöst|resolvido;reported|notificado|signalé|gemeldet|relatado;investigating|en
estudio|en examen|in Prüfung|em análise;
passed|superado|réussi|bestanden|passou;failed|fallido|échoué|durchgefallen|reprovado;sent|enviado|envoyé|versandt|enviado;
accepted|aceptado|accepté|angenommen|aceito;expired|caducado|expiré|abgelaufen|expirado;pending|pendiente|en
attente|ausstehend|pendente;
left|baja|parti|ausgetreten|saiu;away|ausente|absent|abwesend|ausente;free|libre|libre|frei|livre;occupied|ocupado|occupé|belegt|ocupado;
out of order|averiado|en panne|defekt|com defeito;in service|en servicio|en service|in Betrieb|em serviço;out
of service|fuera de servicio|hors service|außer Betrieb|fora de serviço; needs attention|requiere atención|à
vérifier|braucht Wartung|requer atenção;scrapped|desechado|mis au rebut|verschrottet|descartado;
delivered|entregado|livré|geliefert|entregue;shipped|expedido|expédié|abgeschickt|despachado;packed|preparado|préparé|verpackt|embalado;
placed|realizado|passée|aufgegeben|feito;low|bajo|bas|niedrig|baixa;normal|normal|normal|normal|normal;high|alto|haut|hoch|alta;
medium|medio|moyen|mittel|média;urgent|urgente|urgent|dringend|urgente;critical|crítico|critique|kritisch|crítica;
client|cliente|client|Kunde|cliente;site|lugar|lieu|Standort|local;minor|leve|mineur|gering|leve;moderate|moderado|modéré|mäßig|moderada;
major|grave|majeur|erheblich|grave;pass|apto|réussi|bestanden|aprovado;fail|no apto|échoué|nicht
bestanden|reprovado; installed on|instalado el|installé le|eingebaut am|instalado em;next service|próxima
revisión|prochain entretien|nächste Wartung|próxima revisão; found on|detectado el|constaté le|festgestellt
am|detectado em;root cause|causa|cause|Ursache|causa;registration|matrícula|immatriculation|Kennzeichen|placa;
make model|marca y modelo|marque et modèle|Marke und Modell|marca e
modelo;mileage|kilometraje|kilométrage|Kilometerstand|quilometragem;
fuel|combustible|carburant|Kraftstoff|combustível;on hand|existencias|en stock|Bestand|em estoque;reorder
at|pedir a partir de|seuil de commande|nachbestellen ab|repor a partir de; unit cost|coste unitario|coût
unitaire|Stückkosten|custo unitário;given on|administrado el|fait le|gegeben am|aplicada em;next
due|próxima|prochaine|nächste fällig|próxima; given by|administrado por|fait par|gegeben von|aplicada
por;given at|administrado el|fait le|gegeben am|aplicado em;vaccine|vacuna|vaccin|Impfstoff|vacina;
clinician|profesional|soignant|Behandlung durch|profissional;resource|recurso|ressource|gebucht
wird|recurso;features|características|équipements|Ausstattung|recursos;
bookable|reservable|réservable|buchbar|reservável;condition back|estado al devolver|état au retour|Zustand
zurück|estado na devolução; condition|estado|état|Zustand|estado;party
size|personas|personnes|Personen|pessoas;arrival|llegada|arrivée|Ankunft|chegada;requests|peticiones|demandes|Wünsche|pedidos;
lifetime value|valor total|valeur totale|Gesamtwert|valor total;member no|número de socio|numéro
d'adhérent|Mitgliedsnummer|número de sócio;tier|nivel|niveau|Stufe|nível; renews on|se renueva el|renouvelé
le|verlängert sich am|renova em;scheduled for|previsto para|prévu pour|geplant für|previsto
para;asset|activo|bien|Objekt|bem;
team|equipo|équipe|Team|equipe;position|posición|poste|Position|posição;subject|asunto|objet|Betreff|assunto;opened
at|abierto el|ouvert le|eröffnet am|aberto em;
stops|paradas|arrêts|Halte|paradas;role|función|rôle|Rolle|função;method|forma de
pago|moyen|Zahlart|forma;paid at|pagado el|payé le|bezahlt am|pago em; barcode|código de
barras|code-barres|Strichcode|código de barras;recipient|destinatario|destinataire|empfangen
von|destinatário;visitor|visitante|visiteur|Besuch durch|visitante;
serves|raciones|portions|Portionen|porções;area|superficie|surface|Fläche|área;used|usado|usage|belegt|usado;progress|avance|avancement|Fortschritt|progresso;
estimated|estimado|estimé|geschätzt|estimado;read at|leído el|relevé le|abgelesen am|lido em;read by|leído
por|relevé par|abgelesen von|lido por; meter|contador|compteur|Zähler|medidor;needed by|se necesita
el|nécessaire le|benötigt bis|necessário até;valid until|válido hasta|valable jusqu'au|gültig bis|válido até;
discount|descuento|remise|Rabatt|desconto;terms|condiciones|conditions|Bedingungen|condições;website|página
web|site web|Webseite|site;job title|cargo|fonction|Stelle|cargo; start
date|alta|début|Beginn|início;department|departamento|service|Abteilung|departamento;topic|tema|sujet|Thema|tema;chair|dirige|animé
par|Leitung|coordena; attendees|asistentes|participants|Teilnehmende|participantes;minutes|acta|compte
rendu|Protokoll|ata;date of birth|nacimiento|date de naissance|Geburtsdatum|nascimento; waiting for
parts|esperando piezas|en attente de pièces|wartet auf Teile|aguardando
peças;invoiced|facturado|facturé|berechnet|faturado; action agreed|acción acordada|action convenue|Maßnahme
vereinbart|ação
combinada;fixed|reparado|corrigé|behoben|corrigido;verified|verificado|vérifié|geprüft|verificado; checked
in|registrado|enregistré|eingecheckt|registrado;in use|en uso|utilisé|in Benutzung|em uso;in workshop|en
taller|à l'atelier|in Werkstatt|na oficina;sold|vendido|vendu|verkauft|vendido; in
stock|disponible|disponible|vorrätig|disponível;out of stock|agotado|épuisé|ausverkauft|esgotado;on
order|pedido|commandé|bestellt|encomendado;
lapsed|vencido|expiré|abgelaufen|vencido;inactive|inactivo|inactif|inaktiv|inativo;blocked|bloqueado|bloqué|gesperrt|bloqueado;to
do|por hacer|à faire|zu tun|a fazer; under treatment|en tratamiento|en traitement|in Behandlung|em
tratamento;deceased|fallecido|décédé|verstorben|falecido;loading|cargando|chargement|lädt|carregando; on the
road|en ruta|en route|unterwegs|na estrada;finished|terminado|terminé|fertig|terminado;travelling|de camino|en
route|unterwegs|a caminho;on site|en el lugar|sur place|vor Ort|no local;
triaged|clasificado|trié|eingestuft|triado;contained|contenido|contenu|eingedämmt|contido;worked|trabajado|effectué|geleistet|trabalhado;missed|no
cumplido|manqué|verpasst|não cumprido; withdrawn|fuera de préstamo|hors prêt|zurückgezogen|fora de
circulação;suspended|suspendido|suspendu|gesperrt|suspenso;given|administrado|fait|gegeben|aplicado;stopped|interrumpido|arrêté|abgesetzt|interrompido;
invited|invitado|invité|eingeladen|convidado;applied|solicitado|candidat|beworben|candidato;vetted|comprobado|contrôlé|zugelassen|conferido;resting|en
pausa|en pause|pausiert|em pausa; waiting on customer|esperando al cliente|en attente du client|wartet auf
Kunde|aguardando cliente;postponed|aplazado|reporté|verschoben|adiado;held|celebrado|tenu|abgehalten|realizado
"""
_CHOICES = """
sector:Retail/Health/Education/Industry tier:Basic/Standard/Premium source:Website/Referral/Agency zone:A/B/C
region:North/East/South/West ticket_type:Regular/Reduced/Group genre:Fiction/Non-fiction/Reference
area:Data/Reports audience:Everyone/Staff/Members position:Front/Middle/Back role:Early/Late/Night
section:A/B/C species:Common/Rare department:Sales/Operations/Finance plan:Basic/Standard/Premium
kind:First/Follow-up/Routine
"""
_MARKS = dict(
    zip(
        "*#$%^@~!?+=&",
        "longtext number money percent date datetime duration person boolean tags rating url".split(),
    )
)
_SCREEN_LETTERS = {name[0]: name for name in SCREEN_TYPES if name not in ("list", "cards", "detail", "form")}


class FieldSpec(Row):
    """A field of an archetype: `target` is the kind that a ref means, `values` those of a choice."""

    id: str
    type: str
    values: tuple[str, ...] = ()
    target: str = ""


class Archetype(Row):
    """A kind of record that the library knows; `screens` beside list, detail and form."""

    name: str
    icon: str
    fields: tuple[FieldSpec, ...]
    status: tuple[str, ...]
    screens: tuple[str, ...]


def capitalised(text: str) -> str:
    """`text` with a capital first letter, in alphabets whose case is the same in every Unicode version."""
    return text[:1].upper() + text[1:] if text[:1] < "\u0180" or "\u0386" <= text[:1] <= "\u044f" else text


def _parse_field(code: str) -> FieldSpec:
    pattern = r"(\w*)([*#$%^@~!?+=&]?)(?:>(\w+))?(?:\((.*)\))?(?:<(\w+))?"
    name, mark, target, values, given = re.fullmatch(pattern, code).groups()
    if values is not None:
        usual = dict(pair.split(":") for pair in _CHOICES.split()).get(name, "Standard/Special/Other")
        shown = tuple(capitalised(value.replace("_", " ")) for value in (values or usual).split("/"))
        return FieldSpec(name, "choice", shown)
    if target:
        return FieldSpec(name or target, "ref", (), target.replace("_", " "))
    plain = name if name in ("email", "phone", "address") else "text"
    return FieldSpec(name, given or _MARKS.get(mark, plain))


@once
def archetypes() -> Mapping[str, Archetype]:
    """The archetypes by every name (singular, lower case); "~word" is by last word, "~" the generic one."""
    table: dict[str, Archetype] = {}
    for row in f"{_ARCHETYPES};{_FALLBACKS}".replace("\n", " ").split(";"):
        name, others, icon, fields, status, screens = row.strip().split("|")
        last_word = name == "~"
        states = tuple(capitalised(value.strip()) for value in status.split(",") if value)
        shown = tuple(_SCREEN_LETTERS[letter] for letter in screens)
        specs = tuple(map(_parse_field, fields.split()))
        kind = Archetype("" if last_word else name, icon, specs, states, shown)
        for other in [*([] if last_word else [name]), *others.split(",")]:
            table.setdefault(f"~{other.strip().lstrip('~')}" if last_word else other.strip(), kind)
    return table


def find_archetype(name: str, *, person: bool = False) -> Archetype:
    """The kind of a noun (singular, lower case): by name, last words, else the last word's class."""
    words = name.split() or ["~"]
    longer = [" ".join(words[start:]) for start in range(len(words) - 1)]
    last = [f"~{words[-1]}", words[-1]] if longer else [words[-1], f"~{words[-1]}"]
    names = [*longer, *last, "~person" if person else "~"]
    return next(archetypes()[one] for one in names if one in archetypes())


@once
def terms() -> Mapping[str, Mapping[str, str]]:
    """By language, its words for English ones of fields and states; "en" leads from them back to English."""
    head, *rows = [" ".join(row.split()).split("|") for row in _TERMS.split(";")]
    tables = {lang: {row[0]: capitalised(row[n]) for row in rows} for n, lang in enumerate(head) if n}
    pairs = [(word, english) for table in tables.values() for english, word in table.items()]
    return {**tables, "en": dict(reversed(pairs))}


# ======================================================================
# §09 brief: text to roles, entities, screens, flows, variants
# ======================================================================
# Rules: uses §01-04, §07-08; pure. A brief goes one way: characters → clauses → words with a part of speech →
# noun phrases → things, roles, signals → plan → blueprints. Each step is linear in the text; no hash order,
# no locale. Weights say how surely a noun is a record; they and the word lists are the place to change what
# briefs mean.

# Letters, digits and marks that Unicode 13 (Python 3.9) lacks and a later version has or may get: noise on
# every Python.
_LATER = """
86B-89F 8B5 8C8-8D2 C3A-C3C C5B-C5F CD7-CDD CF3-CFF ECE-ECF 170D 1715-171F 180F 1AC1-1AFF 1B4C-1B4F 1C89-1C8F
1DFA 2C2F 2C5F 9FFD-9FFF A7C0-A7C1 A7CB-A7F4 10570-105FF 10768-107FF 10940-1097F 10D3A-10E5F 10EAE-10EAF
10EB2-10EFF 10F28-10F2F 10F5A-10FAF 11070-1107E 110C2-110CC 1123F-1127F 11375-113FF 116B9-116BF 116CA-116FF
11740-117FF 11AA3-11ABF 11AF9-11BFF 11DAA-11EDF 11EF9-11FAF 12544-12FFF 1342F 13439-143FF 14647-167FF
16A70-16ACF 16AF6-16AFF 16B90-16E3F 16E9B-16EFF 187F8-187FF 18CD6-18CFF 18D09-1AFFF 1B11F-1B14F 1B153-1B163
1BCA4-1CFFF 1D246-1D2DF 1DAB0-1DFFF 1E02B-1E0FF 1E150-1E2BF 1E300-1E7FF 2A6DE-2A6FF 2B735-2B73F 2EBE1-2F7FF
3134B-E0000
"""
# Word lists, a key and its words a line (a line that starts with a space goes on). Parts of speech: D
# determiner, I preposition, C conjunction, R pronoun, X auxiliary, A adverb, J adjective that names no
# record, - negation, V verb, B verb and noun; all else is a noun. Then what nouns are (archetypes.md §5; -er,
# -ly, -men: what only ends that way), words that mean something, those that ask for a screen, other forms,
# deeds that imply a record, what products hold.
_WORDS = """
D a an the this that these those each every all any some its their our your my his her another both either
 such whose which what many few several more most much other own same half dozen
I of in on at by for with from to into onto over under above below within between among across through during
 before after against about around near per via as than until since off out up down towards toward behind
 beside besides upon like including plus versus w/ along alongside inside outside concerning
C and or but so because when while if then where whether although though unless whenever wherever how why & +
R i we you they he she it us them him me who whom one ones somebody someone anybody anyone everyone everybody
 nobody something anything everything nothing mine ours theirs themselves itself there here people persons
 folks things stuff lot lots kind sort
X be is are was were been being am do does did have has had having can could will would shall should may might
 must let's lets i'm we're they're it's that's i'd we'd i've we've i'll we'll it'll
A only just also too very still now today soon already always often sometimes usually currently actually
 really maybe perhaps please again together back away etc e.g i.e eg ie hey hello hi thanks yes ok okay well
 even ever else twice once though rather quite almost least instead however therefore thus first finally asap
 ahead apart abroad home tomorrow yesterday tonight online offline anywhere everywhere somewhere yet far
 better best worst overnight later afterwards
- no not never without cannot can't don't doesn't won't isn't aren't didn't shouldn't wouldn't nor neither
 except excluding none wont dont doesnt cant
J new old big small tiny large huge open closed good bad great high higher low lower full free late early
 overdue due current next last daily weekly monthly yearly annual quarterly simple easy fast quick nice clear
 live single double main personal shared private local regional different various important missing available
 printable digital internal external basic modern smart complete existing real whole entire ready able busy
 happy proud unanswered unpaid recent upcoming past future final total average key top short long hot cold
 dead lost fallen broken damaged hourly biweekly urgent critical necessary possible useful helpful usual
 common typical specific certain separate individual multiple numerous amateur friendly lovely beautiful
 passionate innovative leading seasonal temporary permanent two three four five six seven eight nine ten
 eleven twelve twenty hundred thousand visible red green yellow second third
V accept accession open chase enquire acknowledge add admit agree allocate aliquot allow amend analyse analyze
 announce apply appoint approve archive arrange arrive ask assess assign attach attend authorise authorize
 avoid bear become begin believe belong borrow bring browse build bundle buy calculate cancel capture carry
 categorise choose classify clean close collect come compare complain complete confirm configure connect
 consult contain convert coordinate create customise customize decide decline deduct define delete deliver
 depend deploy describe detect determine diagnose discharge discuss display distribute donate download drag
 edit enable enrol enroll ensure enter escalate evaluate examine execute expire explain export extend fall
 fetch fill find finish fix follow forget forward gather generate get give go grow handle happen hear help
 hire identify import improve include inform inspect install introduce invite involve join keep know learn
 lend live look lose maintain make manage meet merge miss monitor need negotiate notify obtain occur onboard
 operate organise organize oversee owe paste pause perform pick postpone prepare prescribe prevent prioritise
 prioritize produce promote propose protect prove provide publish pull push put qualify raise reach read
 rebook receive reconcile recruit redeem reduce refer reject remember remind remove renew reopen replace
 replant reply require reschedule resolve respond retire revise revoke roster say see sell send serve settle
 share sign sit solve speak specify spend split stand start stay submit subscribe suggest summarise supervise
 suspend take talk teach tell terminate think throw tick translate treat triage try turn understand unlock
 update upload use vaccinate validate verify wait want warn weigh welcome win withdraw write reinvent
 experience earn sew wear bake
B matter answer audit harvest bill book call care change charge chart check claim comment contact contract
 control cost cover deal design dispatch document draft drive drop email e-mail estimate exchange exercise
 feed file flag forecast form groom fund grade grant group guide hand hold host interview issue judge label
 land lead lease leave link list load loan log mark match measure message mix model mount move name note
 notice number offer order pack park pass pay permit plan plant play pledge point post practice present press
 price print place process program project pump purchase question quote race rank rate record refund register
 release rent repair report request research reserve return review ride risk round route run sample save scan
 schedule score screen search service set shift ship shop signal sort source sponsor stage state step
 stock stop store study supply support survey swap tag target taste test tour track trade train transfer
 transport travel trust view visit vote walk wash watch water work rule head scale volunteer block filter cook
 clock trap patrol roll touch copy cut sum count break ring star show
ing booking viewing meeting reading training screening hearing listing rating opening building drawing sitting
 painting packing picking filing fitting landing mailing posting recording ruling sailing setting showing
 sighting housing catering accounting billing marketing briefing wedding outing offering crossing finding
 mooring planting tasting string ring king spring evening morning ceiling clothing wing pricing engineering
 sampling parking sibling
heads attempt detail sheet line item entry level list plan request report template result note type log
 history card form code step slot record package point movement score rating status schedule order job ticket
 limit room page window fee paper system
product app application system tool portal platform software solution website webapp page thing module mvp
 prototype tracker planner database spreadsheet diary suite hub organiser organizer manager scheduler register
 registry book place program workflow process assistant helpdesk crm erp management tracking planning
 administration operations handling
screens dashboard calendar board chart overview view report wall screen queue inbox timeline graph kanban
 pipeline funnel feed cockpit map list directory index homepage button tab widget profile agenda roadmap
 filter search export form history curve rota roster timetable table ranking statistics notification setting
 preference configuration log gantt column stage summary
place company agency clinic shop club department office team city business firm hospital hotel ward farm
 museum factory plant charity municipality council university studio salon bakery cafe café startup bank
 festival league hall village town region area country district county daycare kennel garage cemetery school
 college library gym kitchen restaurant bar pub theatre theater laboratory lab community neighbourhood
 association society foundation institute centre center organisation organization headquarters desk street
 network market world fleet warehouse workshop industry nursery kindergarten church lodge camp resort practice
 household workplace ngo nonprofit co-op cooperative enterprise brand band house housing ground yard campus
 port harbour marina zoo facility authority ministry bureau
time day week month year quarter morning evening afternoon night weekend hour minute second moment season
 winter summer autumn spring monday tuesday wednesday thursday friday saturday sunday january february march
 april june july august september october november december time date decade century today tomorrow phase end
 start beginning term semester future glance
metric kpi rate percentage workload average statistic trend total figure metric ratio turnover throughput
 amount percent share value level usage volume balance revenue profit margin capacity utilisation count sum
 number countdown eur usd gbp euro dollar pound
field name title price date status address photo picture image phone telephone colour color size type category
 quantity duration priority id identifier description code unit birthday weight height temperature reason
 condition mileage warranty barcode currency signature language gender age link url label expiry detail
 information info data content property heat power electricity water
filler mission passion slogan change movement right purpose goal aim background introduction vision dream idea
 benefit advantage experience quality way case story example fact problem mess chaos error hassle pain help
 support advice need requirement scope weather everybody internet web tablet mobile smartphone computer
 desktop browser wifi paper notebook telephone excel whatsapp airtable trello notion access outlook sap
 salesforce cupboard attention look feel style design theme clock half public wag tail root hand mind life
 love heart stakeholder audience security performance speed reliability login password permission duplicate
 ring safety bit side front rest cause chain scratch back top bottom middle plenty variety range set pair
 laptop-screen use person people color user interface
people user nurse vet patient guest client staff clerk chef cook guide pilot coach judge parent pupil student
 tenant resident agent lead escort secretary boss friend person child kid admin head chair captain mentor
 apprentice intern architect midwife physio mechanic host pm po scout participant applicant consultant
 accountant assistant attendant merchant courier expert analyst specialist therapist dentist artist florist
 arborist hygienist receptionist pharmacist stylist librarian technician electrician musician physician
 citizen colleague crew-member paralegal warden sales-rep rep foreman recruit delegate cashier athlete
 volunteer donor witness trustee referee employee attendee trainee appointee nominee owner partner
party patient guest client customer pupil student tenant owner donor member candidate applicant resident
 citizen volunteer visitor participant attendee player contact buyer passenger child kid learner trainee
 borrower subscriber supplier vendor holder friend athlete sponsor driver guide household juror family
-er order number paper letter computer folder container meter filter timer tracker printer scanner server
 trailer charger water weather winter summer quarter chapter matter offer answer transfer reminder newsletter
 voucher poster sticker locker shelter tower power river corner center sensor monitor error floor door color
 motor tractor indicator factor mirror register calendar ladder counter booster header footer buffer layer
 cover banner barrier burner boiler elevator generator freezer cooler heater dryer washer bumper tender ledger
 cluster disaster character parameter router adapter connector detector calculator sector harbor flavor labor
 anchor corridor flower dinner supper chamber tier litter planner scheduler organiser organizer manager-tool
 finger border shower slider user-id fever cancer liver tiger beer deer career volunteer-hour gear year parlor
 gutter hanger checklist list mist waitlist playlist wishlist shortlist twist committee fee coffee tree degree
 bee guarantee knee refugee-camp
departments finance hr dispatch reception accounting it procurement purchasing sales marketing legal logistics
 controlling front-desk back-office customer-service human-resources facilities compliance payroll
scope need want require build include support cover offer sell use handle plan do
failing lose forget miss know find see sign return arrive reply answer exceed overlap overspend fit show
asking ask apply look wait link belong connect attach refer assign add sign register search
managing roster manage assign hire train invite recruit schedule track list onboard add register rate
reading see view read look browse watch monitor search find check follow
deciding approve decline accept reject validate confirm sign decide review assess triage
calendar schedule book reserve reschedule roster rota appoint calendar agenda timetable planner slot
 availability plan appointment booking shift viewing diary
board drag triage dispatch board kanban pipeline funnel column swimlane stage backlog move progress track
 approve
timeline trace audit timeline history chain milestone roadmap gantt journey sequence phase
inbox message reply answer notify remind forward escalate inbox thread chat notification respond write
 conversation
report measure compare sum count total analyse analyze export forecast rank report chart statistics kpi graph
 trend curve ranking score best statistic average
dashboard monitor watch oversee alert dashboard cockpit overview glance kpi low overdue red
settings configure customise customize toggle setting configuration preference parameter threshold template
 rate allowance
-men specimen regimen acumen abdomen omen
-ly family assembly supply reply anomaly july butterfly
relative that which whose who
single a an each every another this
crew team crew squad
collective team crew squad committee council group staff family jury panel board management board
running run operate own lead
then and then
series , and or then
being be is are was were been being
unchanged run put set cut split read
indefinite a an any some each every
clausal but because so while when if though who since until
joining and & + , / or plus
vendors contractor supplier vendor bidder provider
ownlife report log form card template chart sheet
stages stage status state column step phase outcome result
listing want need have include hold keep store track manage organise organize cover require list
inert be have need show contain include hold cover use list mean cause cost reveal require consist depend
 happen expire fall start end arrive run work come go lead live begin stay stand become fit get lose move pass
 turn break stop grow deserve sit wait
handy hand member
catenative start stop begin avoid keep finish help prevent
forms sent:send kept:keep held:hold sold:sell bought:buy taken:take took:take given:give gave:give made:make
 got:get seen:see saw:see written:write wrote:write paid:pay ran:run lent:lend broke:break broken:break
 drawn:draw driven:drive known:know knew:know said:say told:tell found:find left:leave met:meet brought:bring
 built:build taught:teach chosen:choose gone:go went:go came:come begun:begin became:become grown:grow
 worn:wear shown:show thrown:throw stood:stand done:do spent:spend won:win fed:feed fell:fall felled:fall
 dealt:deal understood:understand withdrawn:withdraw
plurals people:person children:child men:man women:woman feet:foot teeth:tooth geese:goose mice:mouse oxen:ox
 calves:calf halves:half knives:knife shelves:shelf leaves:leaf loaves:loaf wolves:wolf lives:life wives:wife
 theses:thesis analyses:analysis diagnoses:diagnosis crises:crisis hypotheses:hypothesis criteria:criterion
 phenomena:phenomenon indices:index matrices:matrix vertices:vertex appendices:appendix curricula:curriculum
 memoranda:memorandum alumni:alumnus cacti:cactus fungi:fungus stimuli:stimulus larvae:larva formulae:formula
 quizzes:quiz movies:movie cookies:cookie ties:tie pies:pie menus:menu potatoes:potato tomatoes:tomato
 heroes:hero vetoes:veto cargoes:cargo buses:bus gases:gas lenses:lens viruses:virus campuses:campus
 bonuses:bonus statuses:status caches:cache axes:axe
same series species sheep fish aircraft premises means headquarters works equipment staff luggage furniture
 inventory stock feedback software knowledge training medication housing livestock material news data media
 status bus gas class address process access business analysis basis lens campus bonus virus diabetes sales
 goods glass physics thesis maintenance laundry cash mail research
deeds inspect:inspection reserve:reservation lend:loan borrow:loan donate:donation vaccinate:vaccination
 enrol:enrolment vote:vote
neighbours job:job_opening:candidate,hire,salary,recruiter order:purchase_order:supplier,buyer,goods
 order:work_order:technician,machine,mechanic case:ticket:reply,priority,helpdesk
 quote:note:author,reading,book fixture:tool:machine,operation,tooling
unit inventory:inventory_item stock:stock_item livestock:animal
implied crm:contact,deal rota:shift,employee roster:shift,employee sales:deal,customer erp:order,product
 inventory:inventory_item,supplier stock:stock_item,supplier warehouse:stock_item,location
 cemetery:grave,burial graveyard:grave,burial helpdesk:ticket,customer support:ticket,customer
 library:book,loan gym:member,class restaurant:table,reservation hotel:room,reservation
 hostel:room,reservation school:student,course clinic:patient,appointment hospital:patient,appointment
 dental:patient,appointment salon:client,appointment hairdresser:client,appointment
 recruiting:candidate,job_opening recruitment:candidate,job_opening hiring:candidate,job_opening
 ats:candidate,job_opening fleet:vehicle,driver garage:vehicle,work_order rental:item,rental
 shop:product,order store:product,order bakery:product,order farm:animal,field zoo:animal,enclosure
 kennel:dog,booking church:member,event club:member,event conference:session,speaker wedding:guest,task
 museum:object,exhibition construction:project,task agency:client,project law:case,client legal:case,client
 accounting:invoice,expense invoicing:invoice,customer billing:invoice,customer finance:invoice,budget
 hr:employee,leave_request leave:leave_request,employee payroll:employee,payslip
 maintenance:work_order,equipment lab:sample,result laboratory:sample,result podcast:episode,guest
 blog:post,author charity:donation,donor fundraising:donation,campaign grant:application,grant
 garden:plot,plant parking:parking_space,permit taxi:trip,driver delivery:parcel,route
 logistics:shipment,route insurance:policy,claim bank:account,transaction budget:expense,budget
 todo:task,project project:project,task habit:habit,entry training:course,participant survey:survey,response
 league:team,fixture tournament:team,match kitchen:recipe,ingredient incident:incident,action
 quality:finding,corrective_action compliance:audit,finding asset:asset,assignment bug:bug,release
 volunteer:volunteer,shift daycare:child,check-in nursery:child,check-in pharmacy:prescription,patient
 property:property,lease
"""


_BRIEF_WORD = r"\bw/|\d+(?:[.,]\d{3})+(?!\d)|[^\W_]+(?:['’\-‑][^\W_]+)*|[^\w\s]"


def _keyed(table: str) -> dict[str, list[str]]:
    """The rows of a table by their first word; a line that starts with a space goes on."""
    rows = (row.split() for row in table.replace("\n ", " ").strip().splitlines())
    return {row[0]: row[1:] for row in rows}


@once
def _words() -> Mapping[str, Mapping[str, None]]:
    return {key: dict.fromkeys(words) for key, words in _keyed(_WORDS).items()}


def _is(group: str, word: str) -> bool:
    return word in _words()[group]


@once
def _tables() -> Mapping[str, Mapping[str, Any]]:
    """By word: its part of speech, the verb it is a form of, singular, class, the screens it asks for."""
    words = _words()
    names = ("forms", "plurals", "deeds", "unit", "implied")
    tables: dict[str, Any] = {name: dict(pair.split(":") for pair in words[name]) for name in names}
    tables["part"] = {word: tag for tag in "JAXRCID-" for word in words[tag]}
    classes = ("field", "filler", "metric", "time", "screens", "place", "product")
    tables["class"] = {word: kind for kind in classes for word in words[kind]}
    tables["verb"] = {f: (base, kind) for tag in "BV" for base in words[tag] for f, kind in _verb_forms(base)}
    tables["verb"].update({form: (base, "ed") for form, base in tables["forms"].items()})
    kinds = [kind for kind in SCREEN_TYPES if kind in words]
    asked = {word: None for kind in kinds for word in words[kind]}
    tables["signal"] = {word: [kind for kind in kinds if word in words[kind]] for word in asked}
    return tables


def _class_of(word: str) -> str:
    return _tables()["class"].get(word, "")


def _verb_forms(base: str) -> Iterator[tuple[str, str]]:
    """The forms of a regular verb, each with what it is: base, s, ed or ing."""
    soft = base[:-1] + "i" if re.search("[^aeiou]y$", base) else ""
    stem = base[:-1] if base.endswith("e") and not base.endswith("ee") else base
    if re.search("(^|[^aeiou])[aeiou][bdgklmnprt]$", base):
        yield from ((base + base[-1] + ending, ending) for ending in ("ed", "ing"))
    yield base, "base"
    yield (soft + "es" if soft else base + ("es" if re.search("(s|sh|ch|x|z|o)$", base) else "s")), "s"
    yield (soft or stem).rstrip("e") + "ed", "ed"
    yield stem + "ing", "ing"


def _singular(word: str) -> str:
    """The singular of an English noun in lower case (archetypes.md §6)."""
    if word in _tables()["plurals"] or _is("same", word) or len(word) < SHORT_WORD_CHARS:
        return _tables()["plurals"].get(word, word)
    if word.endswith("men") and not _is("-men", word):
        return word[:-2] + "an"
    if word.endswith("ies") and len(word) > SHORT_WORD_CHARS:
        return word[:-3] + "y"
    if not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    return word[:-2] if re.search("(ss|sh|ch|x|zz)es$", word) else word[:-1]


def _plural(name: str) -> str:
    """The plural of an English noun or compound."""
    head = name.split(" ")[-1]
    irregular = next((many for many, one in _tables()["plurals"].items() if one == head), "")
    if irregular or _is("same", head):
        return name[: len(name) - len(head)] + (irregular or head)
    if re.search("[^aeiou]y$|[^u]man$", head):
        return name[:-1] + "ies" if head.endswith("y") else name[:-2] + "en"
    return name + ("es" if re.search("(s|sh|ch|x|z)$", head) else "s")


def _is_person(word: str) -> bool:
    """Whether a noun is somebody: listed, or by its ending and no thing that ends alike."""
    if any(_is(group, word) for group in ("people", "party", "departments")):
        return True
    ends = len(word) > SHORT_WORD_CHARS and re.search("([^e]er|or|ist|man|woman|eer|lord)$", word)
    return bool(ends) and not _is("-er", word) and _class_of(word) != "field"


class _Token:
    """A word or mark: as written, lower case, part of speech, base form (in English); of a noun its singular,
    its plural where no English rule gives it, whether it is somebody.
    """

    __slots__ = ("base", "low", "one", "owns", "person", "plural", "tag", "text")

    def __init__(self, text: str) -> None:
        low = text.lower().replace("’", "'")
        self.text, self.tag, self.person = text, _tables()["part"].get(low, ""), False
        self.plural = ""
        self.owns = low.endswith("'s") and not self.tag
        self.low = self.base = self.one = low[:-2] if self.owns else low

    @property
    def many(self) -> bool:
        """Whether it is a noun in the plural."""
        return self.tag == "N" and self.one != self.low

    @property
    def proper(self) -> bool:
        """Whether its capital inside a sentence marks a name: no known word, no abbreviation."""
        known = self.base in archetypes() or _class_of(self.base)
        return self.text != self.text.lower() and sum(map(str.isupper, self.text)) == 1 and not known


def _tokens(text: str) -> list[_Token]:
    """The words and marks of a sentence, each with its part of speech."""
    tokens = [_Token(word) for word in re.findall(_BRIEF_WORD, text)]
    nothing = _Token("")
    for n, token in enumerate(tokens):
        before, after = tokens[n - 1] if n else nothing, tokens[n + 1] if n + 1 < len(tokens) else nothing
        token.tag = _part_of(tokens, n, before, after)
        if token.tag == "N":
            base = token.low[:-1] if re.fullmatch("[A-Z]{2,}s", token.text) else _singular(token.low)
            token.base, token.one, token.person = base, base, _is_person(base)
        elif token.tag in ("V", "G", "P"):
            token.base = _tables()["verb"].get(token.low, (token.low, ""))[0]
    return tokens


def _part_of(tokens: list[_Token], n: int, before: _Token, after: _Token) -> str:
    """The part of speech of word `n`: from the lists, its form, a verb's from its neighbours."""
    token = tokens[n]
    if not token.low[:1].isalnum() or token.low[0].isdigit():
        return "#" if token.low[:1].isdigit() else token.tag or token.text
    if token.tag == "D" and before.tag == "N" and _is("relative", token.low):
        return "R"
    commanded = token.tag == "J" and (after.tag in ("D", "R") or before.many)
    if token.low in _tables()["verb"] and not token.owns and (commanded or not token.tag):
        return _verb_tag(tokens, n, after)
    if token.tag or after.low == "than":
        return "N" if token.text == "IT" else token.tag or "J"
    acts = token.low.endswith("s") != (before.many or before.low in ("they", "we", "you", "i"))
    object_next = after.tag == "D" or (before.many and (after.tag == "J" or after.low.endswith("s")))
    subject = before.tag == "R" or (before.tag == "N" and (_is_person(before.base) or _opener(tokens, n)))
    object_next = object_next or (before.tag == "R" and after.low in ("", ".", ",", "and", "so"))
    if acts and subject and object_next and (before.tag == "R" or _is_person(before.base) or not before.many):
        return "V"  # an unknown word between a subject and an object: what it does
    return "A" if token.low.endswith("ly") and not _is("-ly", token.low) else "N"


# What a form of a verb is (V verb, G gerund, P participle, J adjective, N noun): the first row that fits. Its
# form (ing, ed, s), then what stands before it and after it; ! not. A before_, after_ names a part of speech.
_VERB_RULES = """
N ing led named; N ing led !after_N; N ing someone !led !before_X; J ing led; G ing helped; G ing !named
G ing after_D; G ing after_R; N ing
J ed !helped after_N led; J ed !helped after_N !before_N; P ed
N s helped to; V helped !being; V helped s; P helped unchanged !be; N led; N noun helped; N noun before_I
N s before_V; N s acts !before_N; V s one single !ends; V s group stops between; V s !noun
V s before_N after_D; V s before_N after_R; V s before_N after_#; V s before_N after_J
V s somebody goes_on; V s somebody office; V s somebody acts_too; V s series; N s
V before_N !noun; V before_N follows; V before_N many; N before_N
V follows; V !noun; N before_V; N before_G; N before_P
V after_C commands listed; N after_C; N !after_N !after_J; N known; N someone; V gerund
V heads commands; N heads; V commands; V plural; V after_J; V first; N
"""


# The same for any unknown word of a Spanish, French, German or Portuguese sentence; A is an adjective after
# its noun.
_FOREIGN_RULES = """
N de capital; J de led cased; N de led; N de first !cased; G de final plural; V de verb; A de
V infinitive !noun !before_D !before_J !before_# !before_N !as; V before_R; V before_X; V not verb; V first we
V before_N many plural; V before_N one verb !plural object determined; A before_N; V goes_on verb object; N
"""


@once
def _rules() -> Mapping[str, Sequence[tuple[str, set[str], set[str]]]]:
    """The rows of both tables: a part of speech, the facts that it wants and those that it does not."""
    tables: dict[str, list[tuple[str, set[str], set[str]]]] = {}
    for name, table in (("verb", _VERB_RULES), ("foreign", _FOREIGN_RULES)):
        for tag, *facts in (rule.split() for rule in table.strip().replace("\n", ";").split(";")):
            unwanted = {fact[1:] for fact in facts if fact[0] == "!"}
            tables.setdefault(name, []).append((tag, {fact for fact in facts if fact[0] != "!"}, unwanted))
    return tables


def _judge(table: str, facts: Mapping[str, Any]) -> str:
    """The part of speech in the first row that the facts fit."""
    true = {fact for fact, holds in facts.items() if holds}
    return next(tag for tag, wanted, unwanted in _rules()[table] if wanted <= true and not unwanted & true)


def _verb_tag(tokens: list[_Token], n: int, after: _Token) -> str:
    """The part of speech of a verb's form: its neighbours decide, by the rules above."""
    (base, kind), (next_base, next_kind) = (
        _tables()["verb"].get(t.low, ("", "")) for t in (tokens[n], after)
    )
    before = next((token for token in reversed(tokens[max(0, n - 2) : n]) if token.tag != "A"), _Token(""))
    next_tag, head = after.tag or ("N" if after.low[:1].isalpha() else after.low[:1]), _singular(after.low)
    led = before.tag in ("D", "J", "#") or before.owns or before.low in ("no", "without")
    helped = not led and (before.tag in ("X", "R", "-") or before.low == "to")
    near, opener, noun = tokens[max(0, n - LOOK_BACK_WORDS) : n], _opener(tokens, n), _is("B", base)
    office = any(
        _is("departments", word) for word in (before.low, "-".join(t.low for t in tokens[n - 2 : n]))
    )
    one = before.tag == "N" and not before.many
    group = bool(opener) and (_is("collective", before.base) or _class_of(before.base) == "place")
    alone = office or (n == 1 and not _is("party", before.low)) or any(t.tag == "D" for t in near[-4:])
    verbs = [k for k, token in enumerate(near, n - len(near)) if token.tag == "V"]
    command = any(k == 0 or tokens[k - 1].tag not in ("N", "R", "X", "A") for k in verbs)
    other = bool(next_base) and not _is("B", next_base)
    made = before.tag == "V" and next_tag == "N" and not _is("catenative", before.base) and _is("heads", head)
    also = tokens[n + 2].low if next_tag == "C" and n + 2 < len(tokens) else ""
    facts = {
        kind: True, f"before_{before.tag}": True, f"after_{next_tag}": True, "led": led, "helped": helped,
        "noun": noun, "named": _is("ing", tokens[n].low) or made, "someone": _is_person(head),
        "to": before.low == "to", "being": _is("being", before.low) and kind == "base",
        "be": before.low == "be", "unchanged": _is("unchanged", base),
        "acts": other and next_kind in ("base", "s") and not after.tag,
        "one": one, "single": _is("single", opener), "ends": next_tag in ("", ".", ","), "group": group,
        "stops": next_tag in ("", ","), "between": tokens[max(0, n - 3)].tag in (",", "C"), "office": office,
        "somebody": office or (one and alone and (group or _is_person(before.base))),
        "acts_too": _tables()["verb"].get(also, ("", ""))[1] == "s",
        "goes_on": next_tag in ("N", "D", "J", "R", "I", "A"), "many": before.many or before.low == "staff",
        "series": bool(verbs and n) and _is("series", before.low) and next_tag in ("N", "D", "J", "R"),
        "follows": next_tag in ("D", "R", "#") or (next_tag == "J" and kind == "s"), "first": n == 0,
        "commands": command or (verbs and n and _is("then", tokens[n - 1].low)), "plural": head != after.low,
        "listed": n and tokens[n - 1].tag in (",", "C"), "known": f"{tokens[n].low} {head}" in archetypes(),
        "gerund": next_kind == "ing" and not _is("ing", after.low), "heads": _is("heads", head) or other,
    }  # fmt: skip
    return _judge("verb", facts)


def _opener(tokens: list[_Token], n: int) -> str:
    """The determiner that opens the noun phrase right before word `n`, or ""."""
    start = n
    while start > max(0, n - LOOK_BACK_WORDS) and tokens[start - 1].tag in ("J", "N", "#"):
        start -= 1
    return tokens[start - 1].low if 0 < start < n and tokens[start - 1].tag == "D" else ""


class _Noun(Row):
    """A noun phrase: singular name, label, its plural, head, what stands before that, form, number."""

    name: str
    label: str
    plural: str
    head: str
    modifiers: list[str]
    form: str
    number: int
    person: bool


def _noun(words: list[_Token], capitals: bool) -> _Noun | None:
    """The noun phrase in a run of determiners, adjectives, numbers and nouns; None when no name is in it.

    `capitals`: they mean nothing here; else one inside a sentence marks a proper name, which is no record.
    """
    last = next((token for token in reversed(words) if token.tag != "J"), words[-1])
    nouns = [token for token in words if token.tag == "N" and (capitals or last.person or not token.proper)]
    if not nouns or nouns[-1] is not last or len(last.base) < 2:
        return None
    nouns = nouns[-DRAFT_NAME_WORDS:]
    articles = [token.low for token in words if token.tag == "D"]
    form = "the" if articles else "bare"
    form = "plural" if last.many else "a" if any(_is("indefinite", word) for word in articles) else form
    plain = [*(token.low for token in nouns[:-1]), last.one]
    name = " ".join([*plain[:-1], last.base])
    *before, head = name.split(" ")
    loud = [re.fullmatch("([A-Z]{2,5})s?", token.text) for token in nouns]
    shown = [match[1] if match else word for match, word in zip(loud, plain)]
    unit = _tables()["unit"].get(name, "").replace("_", " ") if form != "plural" else ""
    person = last.person or _is("departments", "-".join(name.split())) or bool(before and _is("handy", head))
    number = max(_number(token.low) for token in words)
    label = unit or " ".join(shown)
    return _Noun(unit or name, label, last.plural or _plural(label), head, before, form, number, person)


def _number(word: str) -> int:
    names = "zero one two three four five six seven eight nine ten eleven twelve".split(" ")
    plain = re.sub("[.,]", "", word)
    return names.index(word) if word in names else int(plain) if re.fullmatch("[0-9]{1,6}", plain) else 0


# --- English: phrases to things and roles -------------------------------------------------------------------


class _Thing:
    """A noun of the brief, in the end an entity: the words for it, how surely it is one, what hangs on it."""

    def __init__(self, name: str, label: str, plural: str, because: str, *, person: bool = False) -> None:
        self.name, self.label, self.plural, self.because, self.person = name, label, plural, because, person
        self.kind, self.id = find_archetype(name, person=person), ""
        self.weight, self.times, self.count = 0.0, 0, 0
        self.status: tuple[str, ...] = ()
        self.extra: list[FieldSpec] = []
        self.links: list[str] = []


class _Role(Row):
    """Somebody who uses the product: verbs of what they do (base form), names of the things they do it to;
    `limits`: those of which the brief says "only".
    """

    name: str
    label: str
    because: str
    verbs: list[str]
    things: list[str]
    limits: list[str]


# How surely a noun phrase is a record: by where it stands, times by its form, plus what the library knows of
# it.
# fmt: off
_STANDS = {"list": 1, "object": 1, "subject": 0.7, "with": 0.9, "to": 0.7, "for": 0.7, "into": 0.8,
           "in": 0.6, "per": 0.6, "topic": 0.55, "place": 0.2}
_FORMED = {"plural": 1, "a": 0.9, "the": 0.7, "bare": 0.5}
_ELSE, _COUNTED, _KNOWN, _KIN, _AGAIN, _DEED, _SURE, _SPARE = 0.5, 0.2, 0.3, 0.15, 0.15, 0.7, 0.64, 0.5
# fmt: on


class _Reader:
    """Collects things, roles and signals while the sentences of a brief pass through `read`; `glossary`: the
    brief's own words and their English, where it is in another language.
    """

    def __init__(self, glossary: Mapping[str, str]) -> None:
        self.glossary = glossary
        self.things: dict[str, _Thing] = {}
        self.roles: dict[str, _Role] = {}
        self.signals: dict[str, tuple[str, str]] = {}
        self.blocked: dict[str, str] = {}  # what is not wanted: name and label
        self.because = self.last = ""

    def read(self, tokens: list[_Token], because: str, *, topic: bool = False, negated: bool = False) -> None:
        """One sentence: `topic` when it names the product, `negated` when all of it is out of scope."""
        self.because, self.topic, self.always = because, topic, negated
        long = [token for token in tokens if len(token.text) >= SHORT_WORD_CHARS and token.text.isalpha()]
        capital = [token for token in long if token.text[0] != token.low[0]]
        self.capitals = bool(self.glossary) or 2 * len(capital) > len(long)
        self.named: list[_Noun] = []
        self._clause()
        place = 0
        while place < len(tokens):
            place = self._step(tokens, place)

    def _clause(self) -> None:
        """A new clause: no verb, no preposition, nobody acting; a negation ends."""
        self.verb = self.preposition = self.form = ""
        self.speaker = self.only = False
        self.subjects: list[_Noun] = []
        self.actors: list[_Role] = []
        self.negated = self.always

    def _step(self, tokens: list[_Token], n: int) -> int:
        token, before = tokens[n], tokens[n - 1] if n else _Token(".")
        if token.tag in ("D", "J", "#", "N"):
            end = n + 1
            while end < len(tokens) and tokens[end].tag in ("J", "#", "N") and not tokens[end - 1].owns:
                end += 1
            after = [token for token in tokens[end : end + DRAFT_STEP_FIELDS * 2] if token.tag != "A"]
            skipped = [token.tag in ("D", "J", "#", "N") for token in after[1:]]
            if tokens[end - 1].person and after and after[0].tag == "I" and skipped[:1] == [True]:
                after = after[1 + [*skipped, False].index(False) :]  # "the nurse on duty approves"
            self._on_phrase(tokens[n:end], after, before)
            return end
        if token.text in ("(", "["):
            return self._on_bracket(tokens, n)
        if token.tag in ("V", "G", "P"):
            self._on_verb(token, before)
        elif token.tag == "A":
            self._signal(token.low, self.last)
            self.only = self.only or (token.low == "only" and bool(self.subjects or self.actors))
        elif token.tag == "I":
            such = (token.low, before.low) == ("as", "such") or token.low == "like"
            self.preposition = "example" if such else token.low
        elif token.tag == "R":
            who = token.low == "who" and self.named and before.tag in ("N", ",")
            self.speaker = token.low in ("we", "i")
            told = token.low == "i" and self.verb == ""
            self.actors = self._role(self.named[0], human=True) if who else self.actors if told else []
            self.subjects, self.preposition = [], ""
        elif token.tag == "-":
            self.negated = self.negated or self._denies(tokens, n)
        elif _is("joining", token.low) and token.text != ",":
            ends = self.form not in ("plural", "") and not self.verb and self.preposition != "with"
            self.preposition = "" if ends else self.preposition
        elif token.tag == "C" or token.text in ",;:|–—•.":
            self._on_mark(token, tokens[n + 1].tag if n + 1 < len(tokens) else "")
        return n + 1

    def _on_mark(self, token: _Token, next_tag: str) -> None:
        self.preposition *= self.preposition == "example" and token.text == ","
        breaks = token.text in ";:|–—•." or (token.text == "," and next_tag in ("R", "X"))
        if breaks or _is("clausal", token.low):
            self._clause()

    def _denies(self, tokens: list[_Token], n: int) -> bool:
        """Whether a negation takes what follows out of the product, not tells what does not happen in it."""
        after = tokens[n + 1 : n + 4]
        if tokens[n].low in ("no", "without", "except", "excluding", "none", "neither", "nor"):
            return True
        if tokens[n].low == "not" and after and (n == 0 or tokens[n - 1].text in ",(–—"):
            return after[0].tag in ("N", "D", "J", "I")
        verbs = [token.base for token in after if token.tag in ("V", "P")]
        ours = not self.subjects or _class_of(self.subjects[-1].head) in ("product", "filler")
        return bool(verbs) and (_is("scope", verbs[0]) or (ours and not _is("failing", verbs[0])))

    def _signal(self, word: str, name: str) -> None:
        for kind in () if self.negated else _tables()["signal"].get(word, ()):
            self.signals.setdefault(kind, (self.because, name))

    def _on_verb(self, token: _Token, before: _Token) -> None:
        self.preposition = ""
        if token.tag == "P" and before.tag == "N" and not self.subjects:
            return
        if self.subjects and token.tag != "P":
            human = not _is("inert", token.base) and not self.glossary
            self.actors = [role for noun in self.subjects for role in self._role(noun, human)]
            self.subjects = []
        self.verb = token.base
        self._signal(token.base, self.last)
        if token.tag == "V" and not self.negated and token.base in _tables()["deeds"]:
            self._imply(_tables()["deeds"][token.base])
        for role in self.actors:
            role.verbs.append(token.base)

    def _role(self, noun: _Noun, human: bool = False) -> list[_Role]:
        """The role that a noun phrase names: somebody, or whatever does what people do; never a vendor."""
        if human and _is("crew", noun.head) and not self.speaker:
            noun = noun._replace(name=f"{noun.head} member", label=f"{noun.head} member", person=True)
        agent = noun.form == "the" and not noun.modifiers and _is("-er", noun.head)
        known = noun.head in archetypes() or (_class_of(noun.head) and not agent)
        unknown = noun.form != "plural" and not known
        if self.negated or self._sells(noun) or not (noun.person or (human and unknown)):
            return []
        return [self.roles.setdefault(noun.name, _Role(noun.name, noun.label, self.because, [], [], []))]

    def _sells(self, noun: _Noun) -> bool:
        return "shall" in self.because and _is("vendors", noun.head)

    def _on_phrase(self, words: list[_Token], after: list[_Token], before: _Token) -> None:
        noun = _noun(words, self.capitals or before.text in ".:•")
        if noun is None or self._sells(noun):
            return
        tags = [token.tag for token in after[:2]]
        enabled = noun.person and tags == ["I", "V"] and after[0].low == "to" and self.preposition != "to"
        led = self.preposition not in ("", "as", "per") and bool(self.subjects)
        acts = not led and (tags[:1] in (["V"], ["X"], ["-"]) or enabled)
        joined = _is("joining", before.low)
        if acts:
            self.subjects = [*(self.subjects if joined else []), noun]
            self.verb, self.preposition = "", self.preposition * (self.preposition in ("per", "as"))
        elif not led and (joined or not self.verb):
            self.subjects = [*self.subjects, noun][-2:] if noun.person else []
        context = self.preposition or ("object" if self.verb else "list")
        context = "subject" if acts and context != "as" else context
        context = "topic" if self.topic and context == "list" else context
        if context == "topic" and noun.modifiers and _class_of(noun.modifiers[0]) == "place":
            rest = " ".join([*noun.modifiers[1:], noun.head])
            noun = noun._replace(name=rest, label=rest, modifiers=noun.modifiers[1:])
        if self.negated:
            for name, label in ((noun.name, noun.label), (noun.head, noun.label.split(" ")[-1])):
                self.blocked.setdefault(name, label)
        elif context == "as":
            self.actors, self.subjects = self._role(noun, human=True), [noun]
        elif context != "example":
            self.form, self.named = noun.form, [noun]
            self._on_noun(noun, context, words[-1].owns)

    def _kind(self, noun: _Noun, context: str, known: bool) -> str:
        """The class of words that are no record to which a noun phrase belongs, or ""."""
        kind, qualified = _class_of(noun.head), noun.modifiers and _class_of(noun.modifiers[-1])
        one = noun.form == "a" and not self.preposition
        certain = known and (one or noun.form == "plural" or noun.modifiers)
        several = noun.form == "plural" or noun.number > 0 or (context == "per" and noun.form == "bare")
        own_life = _is("ownlife", noun.head) and noun.modifiers and qualified in ("", "field")
        own_life = own_life or bool(re.match(r"\w+ing list$", noun.name))
        if context == "with" and noun.form == "bare" and not noun.person:
            return "field"
        own = self.speaker and noun.form == "a"
        if own and ((kind == "product" and _is("scope", self.verb)) or _is("running", self.verb)):
            return kind or "place"
        if certain or (context != "topic" and (noun.person or own_life or (kind == "place" and several))):
            return ""
        return kind

    def _on_noun(self, noun: _Noun, context: str, owner: bool) -> None:
        known = noun.name in archetypes()
        kind = self._kind(noun, context, known)
        for word in [noun.head, *noun.modifiers]:
            self._signal(word, self.last if kind or word != noun.head else noun.name)
        if kind:
            self._on_class(noun, kind)
            return
        managed = _is("managing", self.verb) and context == "object"
        listed = context == "list" or (context == "object" and _is("listing", self.verb))
        party = _is("party", noun.head)
        near = listed or context in ("by", "per", "to", "from", "object")
        if noun.person and (managed or (near and not party)):
            self._role(noun)
        if noun.person and not (party or noun.number or managed or listed):
            return
        strong = owner or (_is("asking", self.verb) and context in ("for", "to"))
        form = "a" if noun.form == "bare" and context in ("per", "by") else noun.form
        form = "bare" if noun.form == "the" and context == "for" else form
        form = "a" if self.glossary and form == "bare" and context in ("object", "list") else form
        weight = _STANDS.get("object" if strong else context, _ELSE) * _FORMED[form]
        weight += _KNOWN if known else _KIN * (noun.head in archetypes())
        weight += _COUNTED * (noun.number > 0)
        thing = self._mention(noun.name, noun.label, noun.person, weight, noun.plural)
        thing.count = max(thing.count, noun.number)
        if context == "with":
            thing.links.append(self.last)
        elif context in ("per", "for", "of", "to", "by") and self.last in self.things:
            self.things[self.last].links.append(noun.name)
        parent = thing.kind.fields[0].target if known else ""
        if parent and parent == " ".join(noun.modifiers):
            self._imply(parent)
        for role in self.actors if context == "object" else ():
            role.things.append(noun.name)
            role.limits.extend([noun.name] if self.only else [])
        self.last = noun.name

    def _on_class(self, noun: _Noun, kind: str) -> None:
        """No record: a field goes to the record before it; what qualifies a screen hints at one."""
        if kind == "field" and self.last in self.things and not self.topic:
            self.things[self.last].extra.append(_guess_field(noun.name))
        words = [word for word in noun.modifiers if _class_of(word) in ("", "field")]
        if words and kind in ("product", "screens", "place") and not _class_of(words[-1]):
            name = " ".join([*words[:-1], _singular(words[-1])])
            name = _tables()["unit"].get(name, name).replace("_", " ")
            weight = _STANDS["place" if kind == "place" else "topic"] + _KNOWN * (name in archetypes())
            self._mention(name, name, _is_person(words[-1]), weight)
            self.last = self.last or name
        if kind == "product":
            self.verb = "track"  # "a tool for X and Y": as if the brief said what it tracks

    def _mention(self, name: str, label: str, person: bool, weight: float, plural: str = "") -> _Thing:
        new = _Thing(name, label, plural or _plural(label), self.because, person=person)
        thing = self.things.setdefault(name, new)
        thing.weight = max(thing.weight, weight) + (_AGAIN if 0 < thing.times < DRAFT_NAME_WORDS else 0)
        thing.times += 1
        return thing

    def _imply(self, name: str) -> None:
        """A record that the brief does not name, in the brief's language where that has a word for it."""
        kind = find_archetype(name).name
        native = next((word for word, english in self.glossary.items() if english == kind), "")
        self._mention(kind if native else name, native or name, False, _DEED, native)

    def _on_bracket(self, tokens: list[_Token], n: int) -> int:
        """What stands in brackets: values of a status in their order, fields, or examples; never records."""
        end = next((k for k in range(n, len(tokens)) if tokens[k].text in ")]"), len(tokens) - 1)
        inside, thing = tokens[n + 1 : end], self.things.get(self.last)
        values = _bracket_values(inside)
        if thing is None or len(values) < 2 or self.negated:
            return end + 1
        if all(_class_of(_singular(value.lower().split()[-1])) == "field" for value in values):
            thing.extra += [_guess_field(value.lower()) for value in values]
        elif _is("stages", tokens[n - 1].base) or any(t.tag in "PJ-" or t.low.endswith("ed") for t in inside):
            thing.status = tuple(values)
        else:
            thing.extra.append(FieldSpec("kind", "choice", tuple(values)))
        return end + 1


_FIELD_WORDS = """
date|due|expir=date price|cost|fee|amount=money photo|picture|image|link=url phone=phone email=email
address=address quantity|weight|height=number
"""


def _bracket_values(tokens: Sequence[_Token]) -> list[str]:
    """The values between commas, slashes, bars, arrows, "or"; none when a part has more than a few words."""
    parts = re.split(r"\s*[,/|;>→]\s*|\s+or\s+", " ".join(token.text for token in tokens))
    parts = [capitalised(part.strip())[:LABEL_MAX_CHARS] for part in parts if part.strip()]
    fits = all(len(part.split()) <= DRAFT_NAME_WORDS and part[0].isalpha() for part in parts)
    return list(dict.fromkeys(parts)) if fits else []


def _guess_field(name: str) -> FieldSpec:
    kinds = (row.split("=") for row in _FIELD_WORDS.split())
    kind = next((kind for words, kind in kinds if re.search(words, name)), "text")
    return FieldSpec(_identifier(name, "detail"), kind)


# --- the brief as a whole -----------------------------------------------------------------------------------

_OUT_OF_SCOPE = r"""(?x)
(won.?t|will\ not|out\ of|not\ (in|included|needed|required|part|now|wanted)|non-?goals?|no-?gos?|exclu\w*|
later|future|phase\ (2|two)|don.?t|do\ not|without|never|nice.to.have|fuera|hors|nicht|não)\b
"""
_MARKETING = r"""(?x)
\b(mission|reinvent|passion\w*|we\ believe|movement|slogan|revolutioni[sz]e?|dream|our\ vision|proud|award\w*|
motto|world.class|state.of.the.art|change\ starts|game.chang\w*|cutting.edge|empower\w*|since\ (19|20)\d\d|
together,?\ (let|we)|^imagine)\b
"""
_USEFUL = r"\b(needs?|wants?|must|should|tracks?|manages?|records?|takes?|books?|schedules?)\b"
_ELSEWHERE = r"""(?x)
\b(elsewhere|out\ of\ scope|no\ longer|excluded|stays?\ (in|with|where)|remains?\ in|later\ phase|
(in|by|with|through|via)\ (an?other|(the|our)\ (current|existing|old)|a\ (separate|different)|
our\ (\w+\ )?(system|software|package|provider|erp))|
not\ (yet\ )?(needed|required|necessary|part|in\ scope|included|relevant|wanted|planned)|
no\ (hace\ falta|l[oa]s?\ )|fuera\ de|hors\ |n.est\ pas|nicht\ (nötig|benötigt|gebraucht|erforderlich|teil)|
não\ (é|está|estão|faz|precisa)|(otro|outro|un\ autre|ein\ anderes)\ (sistema|système|programa|programme?|
system)|
already\ (handled|covered|done|solved|have|use)|lives?\ in\ (the|our|an?other)\ (?!setting)|
(maybe|perhaps|not)\ (later|now)|
(leave|keep)\ (it|them|th[oe]se|that)\ (out|alone)|
(do\ not|don't|no\ need\ to)\ \w+\ (it|them|th[oe]se|that))\b
"""


def _quiet(text: str) -> str:
    """The text in composed form, without the characters that Unicode 13 does not know."""
    if text.isascii():
        return text
    import unicodedata

    ranges = ("-".join(rf"\U{int(end, 16):08x}" for end in part.split("-")) for part in _LATER.split())
    return unicodedata.normalize("NFC", re.sub(f"[{''.join(ranges)}]", " ", text))


_SENTENCE_END = r"""(?x)
(?<=[.!…;])\s+|(?<=\?)\s+(?![a-z])|(?<=[。！？；؟।])|\s+[•·]\s+|
(?<=,)\s+(?=but\ |and\ we\ |and\ the\ [a-z]+\ (?:is|are)\ )
"""


def _clauses(text: str) -> Iterator[tuple[str, bool, bool]]:
    """Sentences and bullets; whether a heading put one out of scope, whether it is a heading itself."""
    out = False
    for line in re.split(r"[\r\n\v\f\x85\u2028\u2029]+", text):
        bullet = re.match(r"\s*(?:[-*•‣–+]|\d{1,2}[.)]|\[.?\])\s+", line)
        heading = re.match(r"\s*#+\s", line) or re.fullmatch(r"\s*[*_]{0,2}[^.!?:]{1,60}:[*_]{0,2}\s*", line)
        body = re.sub(r"[*_`#>~]+", " ", line[bullet.end() :] if bullet else line).strip()
        if heading or not bullet:
            out = len(body) < DRAFT_TITLE_CHARS and bool(re.match(_OUT_OF_SCOPE, body.lower()))
        for part in re.split(_SENTENCE_END, body):
            yield from [(part.strip(), out, bool(heading))] if part.strip() else ()


def _read_text(text: str, lang: str) -> tuple[_Reader, list[dict[str, str]]]:
    """The reader after all sentences, and the sentences that say nothing."""
    reader, dropped = _Reader(_glossaries().get(lang, {})), []
    parse = _tokens if lang == "en" else lambda plain: _foreign_tokens(plain, lang)
    for sentence, out, heading in _clauses(text):
        plain = sentence.lower() if sentence.isupper() else sentence
        low, because = plain.lower(), sentence[:BECAUSE_MAX_CHARS]
        if re.search(_MARKETING, low) and not re.search(_USEFUL, low):
            dropped.append({"text": because, "reason": "filler: it says nothing about records"})
            continue
        gone = out or bool(re.search(_ELSEWHERE, low))
        reader.because = because
        for kind, stems in _keyed(_STEMS).items() if lang != "en" and not gone else ():
            if any(stem in low for stem in stems):
                reader.signals.setdefault(kind, (because, ""))
        if lang not in ("en", *_glossaries()):
            _read_script(reader, sentence, lang)
            continue
        head = re.match(r"[^:(]{1,60}\s?:\s", plain)
        if head and not gone and all(token.tag != "V" for token in parse(head[0])[1:]):
            reader.read(parse(head[0]), because, topic=True)
            plain = plain[head.end() :]
        reader.read(parse(plain), because, topic=heading and not head, negated=gone)
    return reader, dropped


def _merge(things: list[_Thing]) -> list[_Thing]:
    """A bare word is the one compound that it ends: "order" beside "purchase order" is no other record."""
    for short in list(things):
        longer = [t for t in things if t.name.endswith(f" {short.name}") and t.weight >= _SPARE]
        whole = longer[0] if len(longer) == 1 else short
        if whole is not short and (not whole.kind.name or short.kind.name in ("", whole.kind.name)):
            whole.weight, whole.count = max(whole.weight, short.weight), whole.count or short.count
            whole.status, whole.extra = whole.status or short.status, whole.extra + short.extra
            whole.links += short.links
            things = [thing for thing in things if thing is not short]
    return things


def _absorbed(short: _Role, roles: Sequence[_Role]) -> bool:
    """Whether a role is the end of just one other ("officer", "health officer"), which then takes it up."""
    longer = [role for role in roles if role.name.endswith(f" {short.name}") and not short.verbs]
    for role in longer if len(longer) == 1 else ():
        for mine, taken_up in zip(role[3:], short[3:]):
            mine.extend(taken_up)
    return len(longer) == 1


def _choose(reader: _Reader, text: str, left_out: list[dict[str, str]]) -> list[_Thing]:
    """The strongest things, in the order of the brief; why others are left out goes to `left_out`."""
    things = _merge([thing for thing in reader.things.values() if thing.name not in reader.blocked])
    ranked = sorted(things, key=lambda thing: -thing.weight)
    sure = [thing for thing in ranked if thing.weight >= _SURE]
    spare = [thing for thing in ranked if _SPARE <= thing.weight < _SURE]
    best = [*sure, *spare[: max(0, DRAFT_SPARE_MAX - len(sure))]][:DRAFT_ENTITIES_MAX]
    out = dict.fromkeys(reader.blocked.values(), "the brief says that it is not wanted")
    out.update((thing.label, "more records than a first draft holds") for thing in sure if thing not in best)
    left_out += [{"text": text, "reason": reason} for text, reason in out.items()]
    chosen = [thing for thing in things if thing in best]
    if len(chosen) > 1:
        return chosen
    implied, taken = _tables()["implied"], [*(thing.name for thing in chosen), *reader.blocked]
    kinds = next((implied[token.base] for token in _tokens(text.lower()) if token.base in implied), "")
    names = [name for name in kinds.replace("_", " ").split(",") if name and name not in taken]
    for name in names or ([] if chosen else ["item"]):
        chosen.append(_Thing(name, name, _plural(name), text[:BECAUSE_MAX_CHARS], person=_is_person(name)))
    return chosen


def _settle(things: Iterable[_Thing], text: str) -> None:
    """Names that mean different kinds are decided by the words around them (archetypes.md §3)."""
    around = {token.base for token in _tokens(text.lower())}
    for name, kind, signs in (row.split(":") for row in _words()["neighbours"]):
        for thing in [one for one in things if one.name == name and around & set(signs.split(","))]:
            thing.kind = find_archetype(kind.replace("_", " "))


def _title(text: str, things: Sequence[_Thing]) -> str:
    """The product's name: what the brief opens with, if that is a name; else its first records."""
    first = next((sentence for sentence, *_ in _clauses(text)), "")
    head = re.match(r"[^:.!?,;(\n、，،。]{3,60}(?=:|\s\(|\.?$|\.\s)", first)
    words = re.findall(r"[^\W_][\w'’&/-]*|&", head[0]) if head else []
    tags = [token.tag for token in _tokens(" ".join(words))]
    named = len(words) <= DRAFT_TITLE_WORDS and not {"R", "X", "D"} & set(tags) and "V" not in tags[1:]
    named = named and [_class_of(word.lower()) for word in words] != ["filler"]
    command = tags[:1] == ["V"] and _class_of(words[-1].lower()) != "product"
    name = " ".join(words) if named and not command else ""
    name = name.lower() if name.isupper() and len(words) > 1 else name
    records = [thing for thing in things if not (thing.person or thing.kind.name in _PARTIES)] or things
    of = [(of, one) for one in records for of in records if of.name == one.kind.fields[0].target != one.name]
    of = [(of.label, one.plural) for of, one in of if of.name == of.label and " " not in of.label + one.label]
    name = name or next(map(" ".join, of), "") or " & ".join(thing.plural for thing in records[:2])
    return _whole_words(capitalised(name), DRAFT_TITLE_CHARS)


def _whole_words(text: str, limit: int) -> str:
    """The words of `text` that fit into so many characters; a part of the first one where that is longer."""
    fits = text[: limit + 1].rsplit(" ", 1)[0] if len(text) > limit else text
    return fits[:limit].strip()


_AMOUNT = r"""(?x)
(?P<sign>[£$€]\s?)?(?P<number>\d{1,3}(?:,\d{3})+|\d{1,7}(?:[.,]\d{1,2})?)[\s-]?(?P<unit>(?:%|percent|€|£|eur|
usd|gbp|euros?|dollars?|pounds?|hours?|hrs?|h|minutes?|mins?|days?|weeks?|months?|días|dias|jours?|tagen?|
stunden?|horas?)(?![^\W_]))?
"""


def _settings_of(text: str) -> list[dict[str, Any]]:
    """Numbers with a unit are rules that a settings screen can change."""
    found: dict[str, dict[str, Any]] = {}
    for sentence, *_ in _clauses(text):
        low = sentence.lower()
        amounts = [match for match in re.finditer(_AMOUNT, low) if match["sign"] or match["unit"]]
        for match in amounts[:DRAFT_SETTINGS_MAX] if len(found) < DRAFT_SETTINGS_MAX else ():
            setting = _setting(match, low)
            found.setdefault(setting["id"], {**setting, "because": sentence[:BECAUSE_MAX_CHARS]})
    return list(found.values())[:DRAFT_SETTINGS_MAX]


def _setting(match: Any, text: str) -> dict[str, Any]:
    unit = match["unit"] or ""
    minutes = {"h": MINUTES_PER_HOUR, "s": MINUTES_PER_HOUR}.get(unit[:1], 1 if unit.startswith("min") else 0)
    kind = "duration" if minutes else "percent" if unit in ("%", "percent") else "number"
    if match["sign"] or re.match("[€£]|eur|usd|gbp|dol|pou", unit):
        kind, unit = "money", _currency(match[0])
    plain = re.sub(",(?=...)", "", match["number"]).replace(",", ".")
    value = (float(plain) if "." in plain else int(plain)) * (minutes or 1)
    near = _tokens(text[max(0, match.start() - DRAFT_TITLE_CHARS) : match.start()])
    after = [t.base for t in _tokens(text[match.end() : match.end() + DRAFT_TITLE_CHARS])[:1] if t.tag == "N"]
    before = [token.low for token in near if token.tag in ("N", "V", "P", "G")][-2:]
    label = " ".join(after or before) or "limit"
    shown = {"duration": "minutes", "percent": "%"}.get(kind, unit)
    setting = {"id": _identifier(label, "limit"), "label": capitalised(label), "type": kind}
    return {**setting, "value": value, "unit": shown}


def _currency(text: str) -> str:
    known = (("GBP", "£|gbp|pound"), ("USD", r"\$|usd|dollar"), ("CHF", "chf"))
    return next((code for code, signs in known if re.search(signs, text.lower())), "EUR")


# --- other languages ----------------------------------------------------------------------------------------
# A noun in English, Spanish, French, German, Portuguese.
_CONCEPTS = """
appointment cita rendez-vous termin/sprechstunde consulta/marcação; customer cliente client kunde/kundin
cliente; patient paciente patient/patiente patient/patientin paciente; order pedido commande
bestellung/auftrag pedido/encomenda; invoice factura facture rechnung fatura; payment pago paiement/règlement
zahlung pagamento; product producto produit produkt produto; stock_item artículo/existencia article artikel
artigo; supplier proveedor fournisseur lieferant fornecedor; employee empleado employé/salarié
mitarbeiter/mitarbeiterin funcionário/colaborador; member socio/miembro adhérent/membre mitglied sócio/membro;
volunteer voluntario bénévole freiwillige/ehrenamtliche voluntário; student alumno/estudiante élève/étudiant
schüler/teilnehmer aluno/estudante; course curso formation/cours kurs curso; lesson clase leçon/séance
unterricht aula; room sala/habitación/aula salle/chambre raum/zimmer sala/quarto; booking reserva réservation
buchung/reservierung reserva; loan préstamo prêt/emprunt ausleihe/leihe empréstimo; equipment equipo/material
matériel/équipement gerät/ausrüstung equipamento/material; tool herramienta outil werkzeug ferramenta; vehicle
vehículo/coche véhicule/voiture fahrzeug/auto veículo/carro; route ruta tournée/trajet route/tour rota; parcel
paquete/entrega colis/livraison paket/lieferung pacote/entrega; task tarea tâche aufgabe tarefa; project
proyecto projet projekt projeto; incident incidencia/incidente incident vorfall/störung incidente; inspection
inspección inspection/contrôle prüfung/inspektion/kontrolle inspeção/vistoria; repair reparación réparation
reparatur reparo/conserto; visit visita visite/intervention besuch visita; animal mascota/animal animal
tier/haustier animal/pet; vaccination vacuna vaccin/vaccination impfung vacina; owner dueño/propietario
propriétaire besitzer/halter dono/proprietário/tutor; property vivienda/piso logement/appartement
wohnung/immobilie imóvel/apartamento; tenant inquilino locataire mieter inquilino; contract contrato
contrat/bail vertrag contrato; document documento document dokument/unterlage documento; case expediente/caso
dossier akte/fall processo/caso; complaint queja/reclamación réclamation/plainte beschwerde reclamação;
request solicitud/petición demande anfrage/antrag solicitação; event evento événement/sortie veranstaltung
evento; shift turno garde/permanence schicht turno/plantão; slot hueco/franja créneau zeitfenster horário;
holiday vacaciones congé urlaub férias; meter contador compteur zähler medidor; recipe receta recette rezept
receita; menu menú menu/carte speiseplan/menü cardápio; table mesa table tisch mesa; guest huésped/invitado
invité/hôte gast hóspede/convidado; donation donación don/donation spende doação; donor donante donateur
spender doador; book libro livre buch livro; message mensaje message nachricht mensagem; reminder
recordatorio/aviso rappel/relance erinnerung lembrete; sample muestra échantillon probe amostra; machine
máquina machine maschine máquina; medicine medicamento médicament medikament medicamento; treatment
tratamiento traitement/soin behandlung tratamento; quote presupuesto devis angebot orçamento; team equipo
équipe mannschaft/team equipe; player jugador joueur spieler jogador; match partido match spiel jogo/partida;
plot parcela parcelle parzelle/beet lote/canteiro; tree árbol arbre baum árvore; family familia famille
familie família; child niño enfant kind criança; site obra/sede chantier baustelle/standort obra; defect
defecto/avería/desperfecto défaut/panne mangel/schaden/defekt defeito/avaria; note nota/historial note/fiche
notiz nota/prontuário; result resultado résultat ergebnis/messwert resultado; work_order orden_de_trabajo
ordre_de_travail arbeitsauftrag ordem_de_serviço; part pieza pièce ersatzteil/teil peça; toy juego jeu
spielzeug brinquedo; treatment_plan plan_de_tratamiento plan_de_traitement behandlungsplan
plano_de_tratamento; building edificio bâtiment gebäude edifício/prédio; mechanic mecánico mécanicien
mechaniker mecânico; vet veterinario vétérinaire tierarzt/tierärztin veterinário; reception
recepción/recepcionista accueil/réceptionniste empfang/rezeption recepção/recepcionista; nurse
enfermera/enfermero infirmier/infirmière pflegekraft enfermeiro/enfermeira; doctor médico médecin arzt/ärztin
médico; technician técnico technicien techniker técnico; manager gerente/encargado/jefe
responsable/gérant/chef leiter/chef gerente/gestor/chefe; administrator administrador administrateur
administrator administrador; teacher profesor/maestro professeur/enseignant lehrer/lehrerin professor; driver
conductor/chofer chauffeur/conducteur fahrer motorista; secretary secretaria/secretaría secrétaire/secrétariat
sekretariat secretária/secretaria; cook cocinero/cocina cuisinier koch/küche cozinheiro; caretaker conserje
gardien/concierge hausmeister zelador/porteiro; accountant contable comptable buchhalter contador; salesperson
vendedor/comercial vendeur/commercial verkäufer/vertrieb vendedor; coach entrenador entraîneur trainer
treinador; guide guía guide reiseleiter guia; worker operario/trabajador ouvrier monteur operário; supervisor
supervisor superviseur vorarbeiter/meister supervisor; treasurer tesorero trésorier kassenwart tesoureiro;
organizer organizador organisateur organisator organizador; coordinator coordinador coordinateur/coordinatrice
koordinator coordenador; inspector inspector inspecteur kontrolleur/prüfer inspetor/fiscal; librarian
bibliotecario bibliothécaire bibliothekar bibliotecário; courier repartidor/mensajero livreur/coursier
kurier/bote entregador; resident residente/vecino habitant/résident bewohner/anwohner morador/residente;
client consultante mandant mandant/klient/auftraggeber contratante; reader lector lecteur leser leitor; worker
obrero travailleur arbeiter trabalhador; partner aliado partenaire partner parceiro; user usuario
utilisateur/usager nutzer/benutzer usuário/utilizador; key llave clé schlüssel chave; box caja/cesta
caisse/panier kiste/korb caixa/cesta; service servicio service leistung/dienst serviço; offer oferta offre
offerte oferta; exchange intercambio échange tausch troca; attendance asistencia présence
anwesenheit/teilnahme presença; training_session entrenamiento entraînement training/probe treino; injury
lesión blessure verletzung lesão; measurement medida mesure maß medição; fine multa amende bußgeld multa;
harvest cosecha récolte ernte colheita; hive colmena ruche bienenstock colmeia; boat barco bateau boot barco;
bicycle bicicleta vélo fahrrad bicicleta; elevator ascensor ascenseur aufzug elevador; return devolución
retour rückgabe devolução; maintenance mantenimiento entretien wartung manutenção/revisão; ticket
aviso_de_avería ticket ticket/meldung chamado; permit permiso/licencia permis/autorisation
genehmigung/erlaubnis licença/alvará; certificate certificado certificat/attestation zertifikat/bescheinigung
certificado; expense gasto dépense/frais ausgabe/spesen despesa; budget presupuesto_anual budget
budget/haushalt verba; sale venta vente verkauf venda; price_list tarifa tarif preisliste tarifa; deposit
depósito/fianza caution/acompte kaution/anzahlung caução; absence ausencia absence abwesenheit/fehlzeit
ausência/falta; idea sugerencia idée/suggestion vorschlag sugestão; photo foto photo foto foto; address
dirección adresse adresse/anschrift endereço; application aplicación/app application/logiciel anwendung/app
aplicativo/app; system sistema/programa système/programme/outil system/programm/software
sistema/programa/ferramenta; management gestión/administración/control gestion/suivi/administration
verwaltung/steuerung gestão/controle/administração; clinic clínica/hospital clinique/cabinet/hôpital
klinik/praxis/krankenhaus clínica/hospital; company empresa/negocio entreprise/société
firma/betrieb/unternehmen empresa/negócio; association asociación/club association/club verein/klub
associação/clube; school escuela/colegio école/lycée schule escola/colégio; workshop taller/fábrica
atelier/usine werkstatt/fabrik oficina/fábrica; shop tienda/mercado magasin/boutique/épicerie
laden/geschäft/markt loja/mercado/feira; office oficina/ayuntamiento/banco bureau/mairie/banque
büro/amt/rathaus/bank escritório/prefeitura/banco; library biblioteca bibliothèque/ludothèque/médiathèque
bibliothek/bücherei biblioteca; gym gimnasio gymnase turnhalle/fitnessstudio ginásio/academia; city
ciudad/barrio/pueblo ville/quartier/commune stadt/viertel/gemeinde cidade/bairro; community
comunidad/condominio copropriété/communauté gemeinschaft condomínio/comunidade; garden huerta/jardín
jardin/potager garten horta/jardim; fleet flota flotte/parc flotte/fuhrpark frota; day día jour/journée tag
dia; week semana semaine woche semana; month mes mois monat mês; year año an/année jahr ano; hour hora heure
stunde/uhr hora; time tiempo temps zeit tempo; deadline plazo délai/échéance frist prazo; calendar
calendario/agenda/planning calendrier/agenda/planning kalender/planung calendário/agenda; board tablero
tableau tafel quadro; list lista/listado liste liste lista; report informe/reporte rapport/bilan
bericht/auswertung/statistik relatório; overview resumen/panel aperçu/synthèse übersicht/überblick
resumo/painel; page página/web page/site_web seite/webseite página/site; name nombre nom name nome; date fecha
date datum data; price precio prix preis preço; phone teléfono/móvil téléphone/portable telefon/handy
telefone/celular; state estado état/statut zustand/status estado/status/situação; excel excel excel excel
excel; paper papel papier zettel/papier papel; delay retraso retard verspätung atraso; benefit ocurrencia
envie idee ideia; way forma/manera/modo façon/manière weise/art/möglichkeit forma/maneira/modo; thing
cosa/falta chose sache/bescheid/gegenstand coisa; bit parte/línea partie/ligne strecke parte/linha
"""
# Little words, which also tell the language: the English one, which gives the part of speech, and theirs.
_LITTLE = """
es the=el/la/los/las/lo/al a=un/una some=unos/unas/algunos/algunas/varios/varias my=mi/mis
 our=nuestro/nuestra/nuestros/nuestras their=su/sus each=cada/todo/toda/todos/todas
 this=este/esta/estos/estas/ese/esa of=de/del in=en for=para by=por with=con to=a on=sobre from=desde
 between=entre until=hasta per=según and=y/e or=o/u but=pero/sino when=cuando because=porque if=si
 who=quien/quienes that=que we=nosotros i=yo they=ellos/ellas/usted it=le/les as=como
 is=es/son/está/están/fue/ser/hay/ha/han must=debe/deben/puede/pueden/quiero/quiere/quieren/hemos
 need=necesitamos/necesita/necesito/queremos/tenemos/llevo no=sin/ningún/ninguna/tampoco not=no/nunca
 now=se/me/nos/ya/hola/aquí/también/más/muy/bien/además/hoy/siempre only=solo/sólo/solamente
 small=pequeño/pequeña/nuevo/nueva/buen/gran/otro/otra
fr the=le/la/les/l a=un/une some=des/plusieurs/quelques my=mon/ma/mes our=notre/nos
 their=son/sa/ses/leur/leurs each=chaque/tout/toute/tous/toutes this=ce/cet/cette/ces of=de/du/d in=dans/en
 for=pour by=par with=avec to=à/au/aux on=sur from=depuis between=entre until=jusque per=selon and=et or=ou
 but=mais when=quand/lorsque because=car/parce if=si who=qui that=que/qu/dont we=nous i=je/j
 they=il/elle/ils/elles/on/vous it=y/lui/c as=comme is=est/sont/être/sera/était/a/ont
 must=doit/doivent/peut/peuvent/veux/veut/veulent/faut/voudrait
 need=voulons/avons/voudrions/souhaitons/besoin/cherchons no=sans/pas/aucun/aucune/ni/jamais not=ne/n
 now=se/s/me/déjà/bonjour/aussi/plus/très/bien/ici/toujours/puis only=seulement/uniquement
 small=petit/petite/nouveau/nouvelle/bon/grand/grande/autre
de the=der/die/das/den/dem/des a=ein/eine/einen/einem/einer/eines some=einige/mehrere
 my=mein/meine/meinen/meiner our=unser/unsere/unseren/unserer/unserem
 their=ihr/ihre/ihren/ihrem/sein/seine/seinen each=jede/jeder/jedes/jeden/alle/allen/aller
 this=diese/dieser/dieses/diesen of=von/vom in=in/im/ins for=für/um by=durch with=mit/samt to=zu/zum/zur
 on=auf/am/an at=bei/beim/über/unter/vor from=aus/seit between=zwischen until=bis per=je/pro/nach and=und
 or=oder but=aber/sondern when=wenn/sobald because=weil/damit/dass if=ob who=wer/welche/welcher
 that=was/welches we=wir i=ich they=er/sie/es/man it=sich/uns/mich/ihnen/daraus as=als
 is=ist/sind/wird/werden/war/sei/hat/haben/wäre
 must=soll/sollen/kann/können/muss/müssen/darf/dürfen/möchte/möchten/will
 need=brauchen/benötigen/wollen/suchen no=kein/keine/keinen/keiner/keinem/ohne not=nicht/nie
 now=noch/schon/auch/moin/hallo/bitte/sehr/immer/dann/wieder/hier only=nur
 small=klein/kleine/kleinen/neu/neue/neuen/schön/gut/gute/wichtig/kurze
pt the=o/a/os/as a=um/uma some=uns/umas/alguns/algumas/vários/várias my=meu/minha/meus/minhas
 our=nosso/nossa/nossos/nossas their=seu/sua/seus/suas each=cada/todo/toda/todos/todas
 this=este/esta/estes/estas/esse/essa of=de/do/da/dos/das in=em/no/na/nos/nas/num/numa for=para
 by=por/pelo/pela/pelos/pelas with=com to=ao/à/aos/às on=sobre from=desde between=entre until=até per=segundo
 and=e or=ou but=mas when=quando because=porque if=se who=quem that=que we=nós i=eu
 they=eles/elas/você/ele/ela it=lhe as=como is=é/são/está/estão/foi/ser/há/tem/têm
 must=deve/devem/deverá/pode/podem/quero/quer/querem need=precisamos/precisa/precisam/queremos/temos
 no=sem/nenhum/nenhuma/nem not=não/nunca now=me/já/olá/aqui/também/mais/muito/bem/hoje/sempre
 only=só/somente/apenas small=pequeno/pequena/novo/nova/bom/boa/grande/outro/outra
"""
# By language: letters and endings that only it has; endings of a verb in the third person plural, singular,
# of an infinitive, of somebody who does something.
_FORMS = """
es [ñ¿¡]|ción(es)?$ [aeo]n$ [ae]$ [aei]r$ (dor|dora|ero|era|ista|ario|aria|nte)$
fr [èœ]|eaux$ (ent|ont)$ [et]$ (er|ir|re)$ (eur|euse|trice|ier|ière|iste|ien|ienne)$
de [äöüß] (en|ern|eln)$ t$ (en|ern|eln)$ ([^aeiou]er|erin|leiter|leiterin|kraft|eur)$
pt [ãõ]|[áó]rios?$ [aeo]m$ [ae]$ [aeio]r$ (dor|dora|eiro|eira|ista|tor|tora|nte)$
"""
# Beginnings of verbs that mean something here, as patterns.
_VERBS = """
reserve reserv réserv buch; lend prêt emprest verleih; borrow emprunt leih emprést; approve aprob aprov
approuv valid genehm; see ve[rn]?$ vê voi seh sieht; inspect inspec prüf contrôl kontroll; donate donar donan
doa spende; schedule planif agend plan
"""
# Stems of words that ask for a screen; plural endings and what they become.
_STEMS = """
calendar agend reserv réserv calend kalend termin buch planif planen marcar turno schicht rendez
 予約 预约 日历 موعد مواعيد حجز
board aprob aprov approuv valid genehm freigeb tablero quadro kanban 承認 审批
report inform rapport bericht auswert statist estad estat export relat 统计 报表 集計 レポート تقرير
inbox avis recordat notific notif rappel benachricht erinner lembr mensag mensaj messag nachricht
 通知 提醒 メッセージ تذكير
settings ajust config réglag paramèt einstell 设置 設定 إعداد
dashboard resum panel tableau übersicht painel alert retard überfäll atras 赤 期限 لوحة
"""
_PLURAL_ENDINGS = """
es iones=ión ces=z dores=dor tores=tor ales=al iles=il dades=dad nes=n s=
fr eaux=eau aux=al s= x=
pt ões=ão ães=ão ais=al éis=el dores=dor tores=tor ores=or zes=z ns=m s=
de innen=in ungen=ung ionen=ion heiten=heit keiten=keit schaften=schaft en= n= e= er= s=
"""
# Scripts: language, letters, what divides words beside other letters, what is cut off their ends, who is
# somebody, what denies; $^ is nothing.
_SCRIPTS = """
ja \u3041-\u30fa\u30fc\u3400-\u9ffc\u3005 [\u3041-\u309f]
 ^(社内|社外|全|各|新)|(管理|アプリ|システム|機能|画面|確認|一覧|登録)+$
 ([員者師長客生係]|総務|経理|営業|人事|受付|担当|スタッフ)$ 不要|しない|なし|ません|含まない
ko \uac00-\ud7a3 $^ (에서|으로|에게|까지|부터|들은|들이|들을|은|는|이|가|을|를|의|에|로|과|와|도|들)$
 (사원|직원|관리자|자|사|생|원)$ 없|않|불필요|제외
zh \u3400-\u9ffc
 [的和与及或在对把将给为从到能要有是每]|可以|需要|我们|查看|管理|记录|提交|使用|通过|审批|系统|应用|平台|安排|预约|办理|登记|申请|分配|维护|更新
 (管理|系统|功能|列表|页面|信息)+$ ([员者师生]|经理|司机|客户|护士|教练|前台)$ 不要|不需要|无需|没有|不用
ar \u0620-\u065f\u0670-\u06d3 $^ ^(وال|بال|لل|فال|ال) (موظف|مدير|طبيب|ممرض|معلم|سائق|عميل)
 لا\\sنحتاج|لا\\sنريد|بدون|لا\\s
he \u05d0-\u05ea $^ ^ה $^ \\b(בלי|ללא|לא)\\b
ru \u0400-\u052f $^ $^ (тель|ник|щик|ист)[аыи]?$ \\b(без|не)\\b
el \u0370-\u03ff $^ $^ $^ χωρίς
hi \u0900-\u097f $^ $^ $^ नहीं
th \u0e00-\u0e7f $^ $^ $^ ไม่
"""  # noqa: RUF001
_SCRIPT_NOISE = """
表示 承認 赤 行 過 期限 返却期限 一覧 必要 利用 場合 我们 用户 نحتاج تطبيق نظام إلى على كل في من مع هذا
التي الذي يمكن لإدارة для или это как что мы нам при все можно нужно система приложение
"""


def _language(text: str) -> str:
    """The language: by script where most letters are not Latin, else by little words and endings."""
    letters = len(re.findall(r"[^\W\d_]", text))
    for lang, script, *_ in _scripts():
        found = len(re.findall(f"[{script}]", text))
        if 2 * found > letters and (lang != "ja" or re.search("[\u3041-\u30fa]", text)):
            return lang
    words = re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", text.lower())
    votes = {"en": sum(word in _tables()["part"] for word in words)}  # "no", "as", "do" are English first
    known = {*archetypes()}.union(*(_tables()[name] for name in ("part", "verb", "class")))
    rest = [word for word in words if not {word, _singular(word)} & known]
    votes["en"] += (len(words) - len(rest)) / 2
    for lang, little in _little().items():
        own, nouns = _keyed(_FORMS)[lang][0], {*little, *_glossaries()[lang]}
        votes[lang] = sum(bool({w, w[:-1]} & nouns or re.search(own, w)) for w in rest)
    return max(votes, key=lambda lang: votes[lang])


@once
def _scripts() -> Sequence[Sequence[str]]:
    return [row.split(" ") for row in _SCRIPTS.replace("\n ", " ").strip().splitlines()]


@once
def _little() -> Mapping[str, Mapping[str, str]]:
    """By language, the English of a little word."""
    pairs = {lang: (pair.split("=") for pair in row) for lang, row in _keyed(_LITTLE).items()}
    return {lang: {w: one for one, many in row for w in many.split("/")} for lang, row in pairs.items()}


@once
def _glossaries() -> Mapping[str, Mapping[str, str]]:
    """By language, the English of a noun in the singular."""
    tables: dict[str, dict[str, str]] = {lang: {} for lang in ("es", "fr", "de", "pt")}
    for row in _CONCEPTS.split(";"):
        english, *columns = row.split()
        for lang, words in zip(tables, columns):
            for word in words.split("/"):
                tables[lang].setdefault(word.replace("_", " "), english.replace("_", " "))
    return tables


def _known_form(word: str, lang: str) -> tuple[str, str]:
    """The singular of a foreign noun and its English, or itself; a German compound by its end."""
    table, (head, *rest) = _glossaries()[lang], word.split(" ")
    pairs = [pair.split("=") for pair in _keyed(_PLURAL_ENDINGS)[lang]]
    forms = [word, *(" ".join([head[: -len(m)] + one, *rest]) for m, one in pairs if head.endswith(m))]
    forms += [form.translate(str.maketrans("äöü", "aou")) for form in forms if lang == "de"]
    regular = forms[1] if len(forms) > 1 and head.endswith(("s", "x", "innen")) else word
    genders = ("$=", "a$=o", "ora$=or", "trice$=teur", "euse$=eur", "e$=", "in$=")
    ways = [re.sub(*change.split("="), form) for change in genders for form in forms]
    known = next((form for form in ways if form in table), "")
    if known or lang != "de":
        return (known if known in forms else regular), table.get(known, regular)
    ends = [(way, way[n:]) for way in dict.fromkeys(ways) for n in range(1, len(way)) if way[n:] in table]
    ends = [(way, end) for way, end in ends if len(end) >= SHORT_WORD_CHARS]
    form, end = max(ends, key=lambda pair: len(pair[1]), default=(word, ""))
    return (form if form in forms else regular), f"{form[: -len(end)]} {table[end]}" if end else form


def _foreign_plural(word: str, lang: str) -> str:
    """The plural of a foreign noun, as far as a rule gives it."""
    if lang == "de" or word.endswith(("s", "x")):
        return word
    pairs = [pair.split("=") for pair in _keyed(_PLURAL_ENDINGS)[lang]]
    many, one = next((pair for pair in pairs if pair[1] and word.endswith(pair[1])), ("s", ""))
    return word[: len(word) - len(one)] + many


def _foreign_tokens(text: str, lang: str) -> list[_Token]:
    """The words of a Spanish, French, German or Portuguese sentence, in the terms of the English reader.

    Little words become English ones; a noun has its English as base, where that is known.
    """
    text = re.sub("(?i)e[nm] (cours|curso|andamento)\b", " ", re.sub("(?i)en tant qu[e']", "comme", text))
    words = re.findall(_BRIEF_WORD, re.sub("['’]", " ", text))
    little, agents = _little()[lang], _keyed(_FORMS)[lang][-1]
    tokens = [_Token(little.get(word.lower(), word)) for word in words]
    for token, word in zip(tokens, words):
        plain = "#" if word[0].isdigit() else token.tag or ("V" if word.lower() in little else word)
        token.tag = "?" if word.lower() not in little and word[0].isalpha() else plain
    for n, token in enumerate(tokens):
        if token.tag == "?":
            token.tag = _foreign_part(tokens, n, lang)
        elif token.low == "of" and n and tokens[n - 1].tag == "V":
            token.tag = "D"
        if token.tag == "N":
            _name_noun(tokens[n : n + 3], words[n : n + 3], lang)
        elif token.tag in ("V", "A", "G"):
            stems = (row.split() for row in _VERBS.split(";"))
            meant = (verb for verb, *begins in stems if re.match("|".join(begins), token.low))
            token.base = next(meant, token.base)
            token.tag = "V" if token.tag == "A" and token.base in _tables()["deeds"] else token.tag
    for n, token in enumerate(tokens):
        after = [one.tag for one in tokens[n + 1 : n + 4] if one.tag != "A"]
        acts = after[:1] == ["V"] and {*after[1:2]} & {*"DNJ#R"} and tokens[n - 1].low != "of"
        unknown = token.tag == "N" and token.base == token.one and token.one not in _glossaries()[lang]
        token.person = token.person or (unknown and bool(acts or re.search(agents, token.one)))
    return tokens


def _name_noun(tokens: list[_Token], words: list[str], lang: str) -> None:
    """Names a noun, with its "de" where that is known ("orden de trabajo") or says who ("chef d'équipe")."""
    noun, joined = tokens[0], len(tokens) > 1 and tokens[1].low == "of" and words[2:]
    noun.one, noun.base = _known_form(noun.low, lang)
    noun.plural = noun.low if noun.low != noun.one else _foreign_plural(noun.one, lang)
    known = noun.base != noun.one or noun.one in _glossaries()[lang]
    noun.person = known and _is_person(noun.base.split(" ")[-1])
    if not joined or tokens[2].tag != "?":
        return
    rest = f" {words[1]} {words[2]}".lower()
    one, base = _known_form(noun.low + rest, lang)
    if base == one and noun.base == "manager":
        one, base = noun.one + rest, f"{words[2].lower()} manager"
    if base != one:
        noun.one, noun.base = one, base
        noun.low, noun.plural = noun.low + rest, noun.plural + rest
        tokens[1].tag = tokens[2].tag = "A"


def _foreign_part(tokens: list[_Token], n: int, lang: str) -> str:
    """The part of speech of an unknown foreign word, by its ending and its neighbours."""
    _, plural, single, infinitive, _ = _keyed(_FORMS)[lang]
    near, rest = tokens[max(0, n - LOOK_BACK_WORDS) : n], tokens[n + 1 : n + DRAFT_NAME_WORDS]
    after = next((token for token in rest if token.tag != "A"), _Token(""))
    low, _, clitic = tokens[n].low.partition("-")
    before = next((token for token in reversed(near) if token.tag != "A"), _Token(""))
    tags = {token.tag for token in near}
    facts = {
        lang: True, f"before_{before.tag}": True, "first": n == 0, "capital": tokens[n].text != tokens[n].low,
        "cased": any(token.text[:1].isupper() for token in tokens[n : n + LOOK_BACK_WORDS]),
        "led": before.tag in ("D", "J", "#", "I"), "final": after.tag not in ("?", "D") and "X" in tags,
        "plural": re.search(plural, low), "verb": re.search(f"{plural}|{single}", low),
        "infinitive": re.search(infinitive, low), "noun": _known_form(low, lang)[0] in _glossaries()[lang],
        "as": before.low == "as", "not": before.low == "not", "we": low.endswith("mos"), "many": before.many,
        "one": not before.many, "determined": any(token.tag == "D" for token in near[-SHORT_WORD_CHARS:]),
        "object": clitic or after.tag in ("D", "#") or (after.tag == "?" and after.low[-1] in "sx"),
        "goes_on": before.tag in (",", "C") and "V" in tags,
    }  # fmt: skip
    return _judge("foreign", facts)


def _read_script(reader: _Reader, text: str, lang: str) -> None:
    """Other scripts: the words between what divides them; first those in a list or a product's name."""
    script, divide, cut, somebody, deny = next(row[1:] for row in _scripts() if row[0] == lang)
    for part in re.split("[、，,。.:\uff1a]", text):
        for piece in re.findall(f"[{script}]+", re.sub(divide, " ", part)):
            word = re.sub(cut, "", piece)
            if len(word) < 2 or word in _SCRIPT_NOISE.split() or len(word) > DRAFT_ID_CHARS:
                continue
            if re.search(deny, part):
                reader.blocked.setdefault(word, word)
            elif re.search(somebody, word):
                reader.roles.setdefault(word, _Role(word, word, reader.because, [], [], []))
            else:
                listed = word != piece or part.strip() == piece
                reader._mention(word, word, False, _DEED if listed else _SPARE).plural = word


# --- from what was read to entities -------------------------------------------------------------------------

_PARTIES = """
contact customer employee member volunteer candidate patient student guest supplier lead player company
""".split()
_TITLES = """
name title number reference subject code tag registration about passenger barcode recipient medicine vaccine
topic purpose batch_no tag_no tracking_no version place
"""
_PAST = r"""(?x)
since|joined|started|born|date_of|.*(created|installed|purchased|acquired|posted|planted|opened|issued|found|
enrolled|received|written|updated|last|spent|applied|paid|recorded|ordered|read_at|published|returned|done)
"""
_END_FIELDS = "ends_at ends_on until to departure due_on due_back renews_on valid_to expires_on"


def _ascii(text: str) -> str:
    """`text` in lower-case ASCII letters, digits and single spaces: accents dropped, other scripts gone."""
    import unicodedata

    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss").replace("ø", "o").replace("ł", "l"))
    return re.sub("[^a-z0-9]+", " ", plain.encode("ascii", "ignore").decode("ascii").lower()).strip()


def _identifier(text: str, fallback: str, taken: Sequence[str] = ()) -> str:
    """An id from words: ASCII, underscores, a letter first, new among `taken`."""
    stem = (re.sub("^[0-9 ]+", "", _ascii(text)) or fallback)[:DRAFT_ID_CHARS].strip().replace(" ", "_")
    names = [stem, *(f"{stem}_{number}" for number in range(2, len(taken) + 2))]
    return next(name for name in names if name not in taken)


def _short_ids(names: Sequence[str], fallback: str) -> list[str]:
    """Ids for names: the last word where no other name ends in it, else the whole name."""
    ids: list[str] = []
    heads = [_ascii(name).split(" ")[-1] for name in names]
    for name, head in zip(names, heads):
        ids.append(_identifier(head if heads.count(head) == 1 else name, fallback, ids))
    return ids


def _label_of(name: str) -> str:
    loud = ("sku", "isbn", "eta", "vip", "url")
    return capitalised(" ".join(word.upper() if word in loud else word for word in name.split("_")))


def _meant(spec: FieldSpec, things: Sequence[_Thing], own: _Thing) -> _Thing | None:
    """The thing that a ref or person field points at, if it is there: by name, by kind, as another party."""
    if spec.type not in ("ref", "person"):
        return None
    others, words = [thing for thing in things if thing is not own], spec.id.replace("_", " ")
    named = [thing for thing in others if words in (thing.name, thing.kind.name)]
    kin = [thing for thing in others if spec.target and spec.target in (thing.kind.name, thing.name)]
    parties = [t for t in others if spec.target in _PARTIES and t.kind.name in _PARTIES]
    return next(iter([*named, *kin, *parties]), None)


def _field(spec: FieldSpec, target: _Thing | None, currency: str) -> dict[str, Any]:
    kind = spec.type
    if kind in ("ref", "person"):
        somebody = kind == "person" or spec.target in _PARTIES
        kind = "ref" if target else "person" if somebody else "text"
    more = {
        "choice": {"values": list(spec.values)}, "number": {"min": 0}, "duration": {"min": 0},
        "money": {"min": 0, "unit": currency}, "percent": {"min": 0, "max": PERCENT_MAX},
        "ref": {"entity": target.id if target else ""},
    }  # fmt: skip
    return {"id": spec.id, "label": _label_of(spec.id), "type": kind, **more.get(kind, {})}


def _reaches(start: str, goal: str, edges: Mapping[str, Sequence[str]]) -> bool:
    """Whether references lead from one entity to another."""
    seen = [start]
    for name in seen:
        seen += [other for other in edges[name] if other not in seen]
    return goal in seen


def _fields_of(
    thing: _Thing, things: Sequence[_Thing], edges: dict[str, list[str]], currency: str
) -> list[dict[str, Any]]:
    """A thing's fields; `edges` keeps references from going round: parents are made before children."""
    names = [spec.id for spec in thing.kind.fields]
    linked = [t for t in things if t.name in thing.links and t is not thing and t.id not in names]
    specs = [*thing.kind.fields, *thing.extra, *(FieldSpec(t.id, "ref", (), t.name) for t in linked)]
    fields: dict[str, dict[str, Any]] = {}
    for spec in specs:
        target = _meant(spec, things, thing)
        again = target is not None and target.id in edges[thing.id] and spec.target != "team"
        if target and (again or _reaches(target.id, thing.id, edges)):
            spec, target = spec._replace(type="person" if spec.target in _PARTIES else "text"), None
        elif target:
            edges[thing.id].append(target.id)
        if not (again and spec.id not in names) and spec.id not in ("id", "status"):
            fields.setdefault(spec.id, _field(spec, target, currency))
    return list(fields.values())


def _entity(thing: _Thing, fields: list[dict[str, Any]]) -> dict[str, Any]:
    """The entity of a thing: a field that names its records first, then the status, then the rest."""
    texts = [field for field in fields if field["type"] == "text"]
    naming = [field for field in texts if field is fields[0] or field["id"] in _TITLES.split()]
    display = naming[0] if naming else {"id": "reference", "label": "Reference", "type": "text"}
    ordered = [display, *(field for field in fields if field["id"] != display["id"])]
    values = list(thing.status or thing.kind.status)
    if values:
        status = {"id": "status", "label": "Status", "type": "status", "values": values, "default": values[0]}
        ordered.insert(1, status)
    for field in ordered[:DRAFT_REQUIRED_FIELDS]:
        if field["type"] not in ("longtext", "boolean", "tags", "rating"):
            field["required"] = True
    label, plural = (capitalised(text)[:LABEL_MAX_CHARS] for text in (thing.label, thing.plural))
    entity = {"id": thing.id, "label": label, "plural": plural, "icon": thing.kind.icon}
    entity.update(because=thing.because, fields=ordered[:FIELDS_MAX], display=display["id"])
    if thing.count:
        rows = range(1, min(thing.count, DRAFT_ROWS_MAX) + 1)
        entity["records"] = [{"id": f"{thing.id}-{number}"} for number in rows]
    return entity


class _Plan(Row):
    """What a brief says, in its order, and what all variants share; `signals` maps a screen type to (words,
    name of a thing); `lead` is the place of the lead entity, `words` are those of the interface.
    """

    lang: str
    title: str
    things: list[_Thing]
    roles: list[_Role]
    signals: dict[str, tuple[str, str]]
    settings: list[dict[str, Any]]
    left_out: list[dict[str, str]]
    entities: list[dict[str, Any]]
    lead: int
    role_ids: list[str]
    words: Mapping[str, str]

    @property
    def ranked(self) -> list[dict[str, Any]]:
        """The entities, the lead one first."""
        return [self.entities[self.lead], *self.entities[: self.lead], *self.entities[self.lead + 1 :]]


def _make_plan(brief: str) -> _Plan:
    text = _quiet(brief)
    lang, currency = _language(text), _currency(text)
    reader, left_out = _read_text(text, lang)
    _settle(reader.things.values(), text)
    things, signals = _choose(reader, text, left_out), reader.signals
    roles = [role for role in reader.roles.values() if role.name not in reader.blocked]
    roles = [role for role in roles if not _absorbed(role, roles)][:DRAFT_ROLES_MAX]
    for thing, name in zip(things, _short_ids([t.name for t in things], "record")):
        thing.id = name
    ranks = [(thing.kind.name not in _PARTIES, thing.weight) for thing in things]
    lead = ranks.index(max(ranks))
    if not any(len(thing.status or thing.kind.status) >= BOARD_COLUMNS_MIN for thing in things):
        things[lead].status = ("New", "Active", "Done")
    edges: dict[str, list[str]] = {thing.id: [] for thing in things}
    fields = [_fields_of(thing, things, edges, currency) for thing in things]
    dates = [field["id"] for each in fields for field in each if field["type"] in DATE_TYPES]
    if not dates or ("calendar" in signals and all(re.match(_PAST, name) for name in dates)):
        name = signals.get("calendar", ("", ""))[1]
        named = [number for number, thing in enumerate(things) if thing.name == name]
        fields[[*named, lead][0]].append({"id": "planned_for", "label": "Planned for", "type": "datetime"})
    entities = [_entity(thing, each) for thing, each in zip(things, fields)]
    _translate(entities, lang)
    names_row, *rows = [" ".join(row.split()).split("|") for row in _UI_WORDS.split(";")]
    words = dict(zip(names_row, next((row for row in rows if row[0] == lang), rows[0])))
    ids = _short_ids([role.name for role in roles], "role")
    found = (things, roles, signals, _settings_of(text), left_out, entities)
    return _Plan(lang, _title(text, things), *found, lead, ids, words)


def _translate(entities: Sequence[dict[str, Any]], lang: str) -> None:
    """Fields and states in the brief's language, as far as the tables know it."""
    nouns = reversed(list(_glossaries().get(lang, {}).items()))
    native = {english: capitalised(word) for word, english in nouns}
    native.update(terms()[lang] if native else {})
    for field in (field for entity in entities for field in entity["fields"]):
        field["label"] = native.get(field["label"].lower(), field["label"])
        values = [native.get(value.lower(), "") for value in field.get("values", ())]
        if all(values) and len({*values}) == len(values) > 0:
            field.update({"values": values}, **({"default": values[0]} if "default" in field else {}))


# --- screens ------------------------------------------------------------------------------------------------


def _ids(entity: Mapping[str, Any], kinds: Iterable[str]) -> list[str]:
    return [field["id"] for field in entity["fields"] if field["type"] in kinds]


def _columns(entity: Mapping[str, Any]) -> list[str]:
    heavy = ("longtext", "url", "tags", "boolean", "address")
    return [field["id"] for field in entity["fields"] if field["type"] not in heavy][:DRAFT_COLUMNS_MAX]


def _plan_date(entity: Mapping[str, Any]) -> str:
    """The date that people plan this record by, or ""."""
    return next((name for name in _ids(entity, DATE_TYPES) if not re.match(_PAST, name)), "")


def _statuses(entity: Mapping[str, Any]) -> list[str]:
    return next((field["values"] for field in entity["fields"] if field["id"] == "status"), [])


def _fits(kind: str, entity: Mapping[str, Any]) -> bool:
    """Whether an entity has the data that a screen type needs (archetypes.md §4)."""
    kinds = {"timeline": DATE_TYPES, "report": (*CHOICE_TYPES, *NUMERIC_TYPES)}
    if kind == "board":
        return BOARD_COLUMNS_MIN <= len(_statuses(entity)) <= BOARD_COLUMNS_MAX
    return kind == "inbox" or bool(_plan_date(entity) if kind == "calendar" else _ids(entity, kinds[kind]))


def _view(plan: _Plan, kind: str) -> Iterator[dict[str, Any]]:
    """A board, calendar, timeline, inbox or report: of what the brief names with it, else of one it suits."""
    because, named = plan.signals.get(kind, ("", ""))
    pairs = list(zip(plan.things, plan.entities))
    pairs.insert(0, pairs[plan.lead])
    pairs.sort(key=lambda pair: (pair[0].name != named, kind not in pair[0].kind.screens))
    entity = next((one for _, one in pairs if _fits(kind, one)), None)
    if entity is None:
        return
    name, title = entity["id"], _titled(plan.words[kind], entity["plural"])
    screen = {"id": f"{name}_{kind}", "title": title, "type": kind, "because": because or entity["because"]}
    screen["entity"] = name
    groups = _ids(entity, CHOICE_TYPES)
    measures = _ids(entity, ("money", "number", "duration", "rating", "percent"))
    if kind in ("calendar", "timeline"):
        screen["dateField"] = start = _plan_date(entity) or _ids(entity, DATE_TYPES)[0]
        type_of = {field["id"]: field["type"] for field in entity["fields"]}
        ends = [one for one in _ids(entity, (type_of[start],)) if one in _END_FIELDS.split() and one != start]
        screen.update({"endField": ends[0]} if ends else {})
    elif kind == "inbox":
        screen["columns"] = _columns(entity)
    elif kind == "board" or groups:
        screen["groupBy"] = "status" if kind == "board" else groups[0]
    if kind == "report" and measures:
        screen["measure"] = measures[0]
    yield {**screen, "filters": _filters(entity)}


def _filters(entity: Mapping[str, Any]) -> list[str]:
    return _ids(entity, ("status", "choice", "ref", "person"))[:DRAFT_FILTERS_MAX]


def _inside(label: str) -> str:
    """A label as it stands inside a sentence: small, unless it is an abbreviation."""
    return label if label[1:2].isupper() else label.lower()


def _titled(pattern: str, name: str) -> str:
    return pattern.replace("%", name)[:LABEL_MAX_CHARS]


def _record_screens(plan: _Plan, entity: dict[str, Any], kind: str, guided: bool) -> Iterator[dict[str, Any]]:
    """List (or cards), detail and form of one entity."""
    name, shared = entity["id"], {"because": entity["because"], "entity": entity["id"]}
    shown = {"columns": _columns(entity), "filters": _filters(entity)}
    yield {"id": f"{name}_list", "title": entity["plural"], "type": kind, **shared, **shown}
    yield {"id": f"{name}_detail", "title": entity["label"], "type": "detail", **shared}
    fields = [field["id"] for field in entity["fields"]]
    steps = [fields[n : n + DRAFT_STEP_FIELDS] for n in range(0, len(fields), DRAFT_STEP_FIELDS)]
    label = entity["label"] if plan.lang == "de" else _inside(entity["label"])
    form = {"id": f"{name}_form", "title": _titled(plan.words["form"], label), "type": "form", **shared}
    yield {**form, **({"steps": steps} if guided else {})}


def _widgets(plan: _Plan) -> Iterator[dict[str, Any]]:
    """Tiles that count what is open, a sum, what is late and what comes, then one chart."""
    words, ranked = plan.words, plan.ranked
    for entity in [entity for entity in ranked if _statuses(entity)][:DRAFT_TILES_MAX]:
        values = _statuses(entity)
        still = values[: -2 if len(values) > BOARD_COLUMNS_MIN else -1] or values
        tile = {"kind": "count", "entity": entity["id"], "title": _titled(words["open"], entity["plural"])}
        yield {**tile, "filter": {"field": "status", "values": still}}
    sums = [(one, field) for one in ranked for field in one["fields"] if field["type"] == "money"]
    for entity, money in sums[:1]:
        title = f"{entity['plural']}: {money['label'].lower()}"[:LABEL_MAX_CHARS]
        yield {"kind": "sum", "entity": entity["id"], "title": title, "measure": money["id"]}
    for when, entity in zip(("overdue", "next_30_days"), [e for e in ranked if _plan_date(e)] * 2):
        tile = {"kind": "list", "entity": entity["id"], "title": _titled(words[when], entity["plural"])}
        yield {**tile, "filter": {"field": _plan_date(entity), "when": when}}
    bars = _titled(words["by_status"], ranked[0]["plural"])
    yield {"kind": "bars", "entity": ranked[0]["id"], "title": bars}


# --- the six variants ---------------------------------------------------------------------------------------
# A paragraph each: letter, axes (in the schema's order), views that it puts first; the question it answers,
# whom it serves, what that costs. %s stands for the lead records, %o for the others, %r for the roles.
_VARIANTS = """
a sidebar dashboard table page page compact
Does it help most to work through %s as one list?
For %r at a desk, with much to get through. The day opens on counts and on what is late; %s stand in one table
to search, sort and filter, and %o are a click away in the side bar.
Dense tables want a wide screen, and how work flows from one step to the next stays in the background.

b topbar board board panel dialog comfortable
Does it help most to see where %s stand and to move them on?
For %r when the question is what happens next. %s lie on a board in the order of their states and move along
it; a record opens beside the board, so that nobody loses their place. %o support it from the top bar.
A board shows fewer records at once than a table, and dates only appear on its cards.

c sidebar calendar calendar panel dialog comfortable timeline
Does it help most to plan %s in time?
For %r who think in days and weeks. Gaps, clashes and what is to come are seen on the calendar first, what has
happened on the timeline; %s and %o hang on the dates.
Whatever has no date is only found through the lists.

d tabs cards cards page page roomy
Does it help most to have %s at hand on the way?
For %r on a telephone, standing up, perhaps with one hand. %s are large cards, the main places are tabs under
the thumb, and every record has a page of its own with %o linked.
Less fits on a screen, so comparing many records takes more scrolling.

e topbar inbox inbox panel page compact report
Does it help most to keep up with what is new in %s?
For %r who answer, approve and keep an overview. What came in waits in an inbox and is dealt with one by one;
reports tell how %s are doing, and %o are looked up when needed.
It suits those who respond; whoever plans ahead has to leave the first screen.

f topbar form form page guided roomy
Does it help most to be led through one task at a time?
For %r who do this seldom or in a hurry. The first screen asks for what a new record needs, a few questions a
step; %s and %o come after that.
Practised people are slowed down by the steps.
"""
# The interface's own words in the languages that the word tables know.
_UI_WORDS = """
lang|dashboard|board|calendar|timeline|inbox|report|settings|form|open|overdue|next_30_days|by_status;
en|Overview|% board|% calendar|% timeline|Inbox|% in numbers|Settings|New %|Open: %|Overdue: %|Next 30 days:
%|% by status;
es|Resumen|Tablero: %|Calendario: %|Cronología: %|Bandeja de entrada|Informe: %|Ajustes|Alta: %|Abiertos:
%|Vencidos: %|Próximos 30 días: %|% por estado;
fr|Vue d'ensemble|Tableau : %|Calendrier : %|Chronologie : %|Boîte de réception|Rapport : %|Réglages|Saisie :
%|En cours : %|En retard : %|30 prochains jours : %|% par statut;
de|Übersicht|Tafel: %|Kalender: %|Verlauf: %|Eingang|Bericht: %|Einstellungen|Neu: %|Offen: %|Überfällig:
%|Nächste 30 Tage: %|% nach Status;
pt|Visão geral|Quadro: %|Calendário: %|Linha do tempo: %|Caixa de entrada|Relatório:
%|Configurações|Cadastro: %|Em aberto: %|Atrasados: %|Próximos 30 dias: %|% por estado
"""


_VIEWS = ("board", "calendar", "timeline", "inbox", "report")


class _Variant(Row):
    """One row of the table above."""

    axes: dict[str, str]
    views: list[str]
    texts: list[str]


@once
def _variants() -> Mapping[str, _Variant]:
    table = {}
    for paragraph in _VARIANTS.strip().split("\n\n"):
        head, question, *rest = paragraph.split("\n")
        letter, *axes = head.split()
        names = ("navigation", "home", "main", "detail", "entry", "density")
        views = [kind for kind in (axes[1], *axes[len(names) :]) if kind in _VIEWS]
        table[letter] = _Variant(dict(zip(names, axes)), views, [question, " ".join(rest[:-1]), rest[-1]])
    return table


def _sentence(plan: _Plan, text: str) -> str:
    """A variant's sentence about the brief's own records and roles."""

    lead, *others = [_inside(entity["plural"]) for entity in plan.ranked]
    named = {"%s": lead, "%o": "all details", "%r": "people"}
    for key, names in (("%o", others), ("%r", [f"the {role.label}" for role in plan.roles])):
        *most, last = names[:DRAFT_TILES_MAX] or [named[key]]
        named[key] = f"{', '.join(most)} and {last}" if most else last
    text = re.sub("%[sor]", lambda match: named[match[0]], text)
    return re.sub("(^|[.] )(.)", lambda match: match[1] + capitalised(match[2]), text)


def _screens(plan: _Plan, letter: str) -> list[dict[str, Any]]:
    """A variant's screens in its menu's order: what it puts first, lists, other views, settings."""
    row, signals = _variants()[letter], plan.signals
    others = [kind for kind in _VIEWS if kind in signals and kind not in row.views]
    first = [screen for kind in row.views for screen in _view(plan, kind)]
    rest = [screen for kind in others for screen in _view(plan, kind)]
    if letter in ("a", "e") or "dashboard" in signals:
        because = signals.get("dashboard", (plan.ranked[0]["because"], ""))[0]
        home = {"id": "home", "title": plan.words["dashboard"], "type": "dashboard", "because": because}
        (first if letter == "a" else rest).append({**home, "widgets": list(_widgets(plan))})
    kind, guided = "cards" if row.axes["home"] == "cards" else "list", row.axes["entry"] == "guided"
    records = [screen for entity in plan.ranked for screen in _record_screens(plan, entity, kind, guided)]
    reasons = [*signals.get("settings", ())[:1], *(setting["because"] for setting in plan.settings)]
    ending = {"id": "settings", "title": plan.words["settings"], "type": "settings"}
    settings = [{**ending, "because": reason} for reason in reasons[:1]]
    return [*first, *records, *rest, *settings]


def _role(plan: _Plan, role: _Role, name: str) -> dict[str, Any]:
    """A role; one that only looks may change nothing, one that looks and decides may edit; one that the brief
    limits sees the screens of what it deals with.
    """
    looks = bool(role.verbs) and all(_is("reading", verb) for verb in role.verbs)
    decides = bool(role.verbs) and all(_is("reading", verb) or _is("deciding", verb) for verb in role.verbs)
    allowed = _dealt_with(plan, role) if role.limits else []
    seen = [f"{one['id']}_{kind}" for one in allowed for kind in ("list", "detail", "form")]
    label = capitalised(role.label)[:LABEL_MAX_CHARS]
    entry: dict[str, Any] = {"id": name, "label": label, "because": role.because}
    entry.update({"screens": seen} if seen else {})
    entry.update({"rights": []} if looks else {"rights": ["edit"]} if decides else {})
    return entry


def _dealt_with(plan: _Plan, role: _Role) -> list[dict[str, Any]]:
    """The entities that a role deals with, in the order of the brief."""
    by_name = {thing.name: entity for thing, entity in zip(plan.things, plan.entities)}
    return [by_name[name] for name in dict.fromkeys(role.things) if name in by_name]


def _flow(plan: _Plan, role: _Role | None, name: str) -> dict[str, Any]:
    """A journey: the list of what the role deals with, the form if it makes records, one record."""
    verbs = role.verbs if role else []
    entity = [*(_dealt_with(plan, role) if role else ()), plan.ranked[0]][0]
    one, many = _inside(entity["label"]), _inside(entity["plural"])
    decided = next((verb for verb in verbs if _is("deciding", verb)), "")
    makes = not verbs or not all(_is("reading", verb) or _is("deciding", verb) for verb in verbs)
    last = f"{capitalised(decided)} this {one}" if decided else f"Open one {one} and check it"
    steps = [("form", f"Fill in a new {one}")] if makes else []
    steps = [("list", f"Look through {many}"), *steps, ("detail", last)]
    doing = f"{decided or verbs[0]} {many}" if verbs else many
    label = f"{capitalised(role.label)}: {doing}" if role else entity["plural"]
    stations = [{"screen": f"{entity['id']}_{kind}", "hint": hint[:LABEL_MAX_CHARS]} for kind, hint in steps]
    stations[-1].update([("record", one["id"]) for one in entity.get("records", ())[:1]])
    whose = {"role": name} if role else {}
    return {"id": f"{name}_flow", "label": label[:LABEL_MAX_CHARS], **whose, "steps": stations}


def _blueprint(plan: _Plan, letter: str, seed: int, brief: str) -> dict[str, Any]:
    row, screens = _variants()[letter], _screens(plan, letter)
    axes, lead = dict(row.axes), plan.ranked[0]["id"]
    homes = [s for s in screens if s["type"] == axes["home"] and s.get("entity", lead) == lead]
    homes += [s for s in screens if s["type"] in (axes["home"], *row.views)]
    home = [*homes, *(s for s in screens if s["type"] in ("list", "cards"))][0]
    if home["type"] != axes["home"]:
        axes.update(home=home["type"], main="table" if home["type"] == "list" else home["type"])
    menu = [s["id"] for s in screens if s["type"] not in ("detail", "form") and s is not home]
    question, rationale, cost = (_sentence(plan, text) for text in row.texts)
    roles = list(zip(plan.roles, plan.role_ids))
    theme = {"palette": PALETTES[seed % len(PALETTES)], "layout": axes["navigation"]}
    theme.update(density=axes["density"], mode="auto", corners="round" if letter == "d" else "soft")
    variant = {"id": letter, "question": question[:LABEL_MAX_CHARS], "rationale": rationale[:TEXT_MAX_CHARS]}
    return {
        "blueprint": 1, "title": plan.title, "brief": brief, "lang": plan.lang,
        "dir": "rtl" if plan.lang in ("ar", "he") else "ltr",
        "seed": seed, "asOf": AS_OF_DATE, "variant": {**variant, "cost": cost, "axes": axes},
        "roles": [_role(plan, role, name) for role, name in roles], "entities": plan.entities,
        "screens": screens, "navigation": [home["id"], *menu],
        "flows": [_flow(plan, role, name) for role, name in roles] or [_flow(plan, None, "first")],
        "settings": plan.settings, "theme": theme,
    }  # fmt: skip


class Draft(Row):
    """What a brief became: a blueprint a variant (records only ids); `left_out`: {"text", "reason"}."""

    title: str
    slug: str
    seed: int
    blueprints: tuple[dict[str, Any], ...]
    left_out: tuple[dict[str, str], ...]
    warnings: tuple[str, ...]


def draft_blueprints(brief: str, *, seed: int | None, variants: int) -> Draft:
    """Blueprints for the first `variants` letters from a brief in any language: by rules, always the same.

    Entities, roles and flows are equal over the variants. `seed` None: from the brief. It never fails.
    """
    import hashlib

    plan = _make_plan(brief)
    if seed is None:
        seed = int.from_bytes(hashlib.sha256(brief.encode("utf-8", "replace")).digest()[:4], "big") & SEED_MAX
    slug = _whole_words(_ascii(plan.title), DRAFT_SLUG_CHARS).replace(" ", "-") or "prototype"
    blueprints = tuple(_copied(_blueprint(plan, one, seed, brief)) for one in VARIANT_LETTERS[:variants])
    warnings = () if plan.roles else ("The brief names nobody who uses it: there are no roles.",)
    return Draft(plan.title, slug, seed, blueprints, tuple(plan.left_out[:LIST_ITEMS_MAX]), warnings)


# ======================================================================
# §10 records: seeded fictional data, consistent across entities
# ======================================================================
# Rules: uses §01, §03, §07-08; pure. A value is a function of the seed and of the ids of its entity, record
# and field alone: a new field, row or entity changes no other one. What must agree (e-mail and name, totals,
# dates and status) follows from other values of the record or of its parents, which are made on demand.


class _Stage(Row):
    """How far a record is: its share of the rows, its planned day seen from today, stems of status values."""

    name: str
    share: int
    low: int
    high: int
    stems: str


# fmt: off
_STAGES = (  # the first one with a fitting stem counts
    _Stage("odd", 5, -24, -15,
           "cancel|annul|storn|no.?show|miss|void|withdr|dropp|overdue|^late|expired|laps|block|disput|clawed"
           "|stopped|postpon|do not|atras|venc|überf|retard|absent|perdu"),
    _Stage("over", 6, -30, -1,
           "failed|reject|declin|refus|^lost|rechaz|abgel|recus|rejeit|bounced|unreach"),
    _Stage("over", 24, -30, -1,
           "done|completed|closed|resolv|^paid|delivered|returned|finish|passed|archiv|fixed|verif|^over$"
           "|^ended|^left|released|shipped|^held|worked|attended|hired|^won|answered|graduat|reimburs|taken"
           "|gone|cleared|settled|refund|checked out|erledigt|abgeschl|fertig|bezahlt|cerrad|hech|pagad"
           "|devuel|entreg|conclu|termin|clôtu|rendu"),
    _Stage("today", 54, 0, 0,
           "on site|travel|arriv|checked in|in transit|^on the|playing|loading|running|under ?way"),
    _Stage("now", 55, -9, -1,
           "^active|^available|in service|in sto|^free|healthy|^fit|^live|current|registered|^vacant|^in use"
           "|^activ[oae]|dispon|aktiv|actif"),
    _Stage("ahead", 54, 1, 45,
           "plan|sched|book|confirm|upcom|reserv|request|draft|expect|invit|assign|announc|agend|accept"
           "|approv|prévu|program|geplant|bestätig|^new|to ?do|solicit|demand"),
    _Stage("now", 54, -9, -1, ""),
)
_FIRST, _LAST = _Stage("ahead", 15, 1, 45, ""), _Stage("over", 25, -30, -1, "")
_UNSTATED = (2, 2, 2, 2, 3, 5, 5, 5, 6, 6)  # the stages of records without a status, as often as they occur
_DATES = (  # what a date means by its field id; with two numbers, a day at that distance from today
    ("born", 0, 0, "birth|born|dob$|nacim|naiss|geburt"),
    ("past", -2400, -60, "since|join|hire[ds]|install|purchas|acquir|plant|built|founded|bought|alta$"),
    ("last", -120, -3, "^last|updated|^prev"),
    ("next", 2, 70, "^next|review|mot_|check_?by"),
    ("later", 6, 45, "valid_until|best_before"),
    ("later", 6, 400, "expir|renew|warrant|insur|until|caduc|retire"),
    ("due", 0, 0, "due|deadline|_by$|eta$|close_date|respond|remind|fällig|échéance|limit|needed"),
    ("end", 0, 0, "^ends?_|_ends?$|^end$|^to$|_to$|^fin|finish|depart|check_?out|^ende|hasta|salida"),
    ("over", 0, 0,
     "done|closed|complet|resolv|return|paid|deliver|releas|reach|thank|arrived|signed|dispens|left|fixed"
     "|verif|answer|decided|approved|removed|pagad|cierre|retour|bezahlt|devol"),
    ("made", 0, 0,
     "creat|open|recei|report|submit|request|appl|regist|rais|order|found|logg|issue|plac|post|sent|writ"
     "|occur|read_|taken|moved|spent|award|publish|enrol|record|enter|measur|collect|added|scan"
     "|pledg|given|weigh"
     "|rated|said|asked|erstellt|eingang|créé|out_on"),
    ("start", 0, 0, "start|^from|_from$|begin|arriv|check_?in|valid|inicio|début|beginn|desde"),
    ("plan", 0, 0, ""),
)
_LONG = "lease|tenan|contract|agreement|subscri|polic|permit|licen|membership|season|certific"
_AFTER = "finding|defect|payment|result|feedback|review|corrective|snag|outcome|score|remark|charge|follow"
_LOGS = "entry|_log$|^log|reading|record|diary|note|weight|movement|history|receipt|scrap|expense"
_OUTCOME = "result|outcome|resolution|minutes|feedback|_back$|effective|signed_by|decision_note|root_cause"
_TOTAL, _COPIED = "total|amount|sum$|^cost$", "price|rent|fee|fare|amount"
_LENGTH = "^(?!.*(break|notice|lead|estim))"
_SHOWN = "used|progress|complet|done|probab|spent|reached|filled"
_TRUE = (  # in which stage a boolean is true, else in how many of a hundred records
    ("over", 0, "paid|check|done|compl|return|sign|billed|seal|thank|releas|approv|clos|resolved|arriv"),
    ("ahead", 0, "unread|^new"),
    ("", 25, "block|urgent|^vip|abnormal|damag|late|private|pinned|auto|estimated"),
    ("", 80, ""),
)
_PAST_DAYS, _PAST_STATUS = (-2400, -60), "expired|ended|lapsed|due"
_FANOUT = (0, 255, 205, 240, 215, 248, 190)  # how readily each of seven parents in turn takes a child
_PROGRESS = {"odd": (5, 60), "over": (100, 100), "today": (30, 80), "now": (20, 90), "ahead": (0, 10)}
_ROWS = {"people": (9, 14), "few": (5, 8), "child": (30, 44), "work": (18, 28), "thing": (10, 16)}
_QUARTERS, _UPPER, _STOCKED, _RATINGS = (33, 62), (110, 140), (120, 700), (5, 4, 4, 3, 5, 2, 4, 3, 1, 4)
_CODES = (  # N running number, P initials of the entity, F of the field, # digit, @ letter
    ("{P}-####", "sku|article|^tag|_tag|tag_no"), ("S-######", "serial"), ("@@-###", "^model$"),
    ("@-#####", "^meter$"), ("{F}-####", "^(invoice|inspection|application|release|.*order)$"),
    ("@@ ## @@@", "registration|plate"), ("978-0-555-#####-#", "isbn"), ("4000######", "barcode|^ean"),
    ("v#.#", "version"), ("{P}-###", "batch|lot_no"), ("TR ### ### ###", "track"),
    ("@-##", "bed$|_bed|shelf|bin$|position|plot|^bay"),
    ("{P}-{N}", "refer|number|_no$|^no$|code$|^nr|numer|número|_ref$|_id$"), ("", ""),
)
_SUMS = (  # money of a parent that is the sum of its children's
    ("^(net|total|subtotal|sum)|_total$", "line|item|position"),
    ("^(spent|actual)", "expense|cost|purchase"),
    ("^(raised|collected|received)", "donation|gift|pledge|contribution"),
)
_PARTS = (  # a number that is a part of another one of the record
    ("spent|actual", "planned|budget|limit"), ("raised|collected", "goal|target"),
    ("reached|achieved", "target|goal"), ("used|taken|booked|filled|sold", "capacity|places|seats|copies"),
    ("^paid", "total|amount"),
)
_PERSONS = frozenset("""
person contact customer client member volunteer candidate applicant patient student pupil guest visitor
attendee employee worker colleague technician engineer nurse doctor driver teacher tutor coach trainer
guide tenant resident owner holder borrower donor requester reporter recipient passenger author guardian
parent speaker player referee user learner child adult participant buyer seller agent operator inspector
officer warden porter supervisor manager examiner witness artist performer musician chef cook cleaner
caretaker dispatcher therapist dentist physio vet breeder staff lead escort landlord maker neighbour
organiser chair assignee approver reviewer clinician to from with by
""".split())
_SOMEBODY = "(^|_)(" + "|".join(sorted(_PERSONS)) + ")$"
_OUTSIDERS = "patient|customer|client|guest|visitor|tenant|member|student|pupil|applicant|attendee|donor"
_STAFF = ("employee", "staff", "staff_member", "team_member", "colleague", "worker", "user", "volunteer")
_AREAS, _DOMAINS = ("201", "303", "415", "512", "617"), ("com", "org", "net")
_UNFIT = ("ass", "tit", "cum", "sex", "die")
_UNSPLIT = {ord("ø"): "o", ord("ł"): "l", ord("ß"): "ss", ord("æ"): "ae", ord("\u0131"): "i", ord("đ"): "d"}
_MONTHS = "January February March April May June July August September October November December"
_TITLED = ("name", "title", "subject", "label", "nombre", "nom", "titre", "titulo")
# Names in groups of eight that go together.
_GIVEN_AND_FAMILY = ("""
Alice Owen Hazel Miles Edith Rufus Nora Callum Mara Henrik Astrid Søren Linnea Mikkel Sigrid Jonas Amara
Chidi Ngozi Emeka Folake Tunde Ifeoma Kelechi Priya Arjun Meera Rohan Kavita Nikhil Leela Dev Yuki
Haruto Aiko Kenji Sakura Daichi Emi Naoki Lucía Mateo Inés Diego Camila Álvaro Paloma Joaquín Agnieszka
Tomasz Kasia Marek Zofia Piotr Danuta Wojtek Leyla Emre Aylin Kerem Defne Baran Selin Cem Giulia Marco
Chiara Luca Elisa Matteo Bianca Dario Mei Jian Lan Wei Xiu Bo Ling Tao Ana Rui Beatriz Tiago Catarina
Duarte Joana Nuno Amina Yusuf Halima Idris Salma Karim Noor Tariq Anneke Bram Femke Joost Sanne Ruben
Lotte Daan Siobhán Cormac Aoife Declan Niamh Fergal Orla Eoin Léa Bastien Margaux Hugo Élodie Rémi
Solène Yann""", """
Ashdown Whitlock Pemberly Thornbury Hartwell Fenwick Brackley Lockyer Lindqvist Aaberg Solheim Nygaard
Dahlström Ekeland Hovland Brandvold Okoro Adeyemi Nwankwo Balogun Eze Oyelaran Onwudiwe Afolabi Raghavan
Deshmukh Kulkarni Bhattal Iyengar Solanki Venkatesh Chaudhary Morinaga Takeda Hoshino Kurosaki Ishiwata
Nakagome Fujisawa Sonoda Villaseñor Quiroga Ibarra Montalvo Echeverri Salcedo Zamorano Urrutia Wiśniak
Kowalczyk Zielonka Borowska Sadowy Malinowy Czerniak Gajda Yüceler Karaca Demirbaş Aksoylu Tuncay Erbil
Sezgin Ozanoglu Bellandi Ferraro Montesi Carbonell Ruggeri Valtorta Brunelli Scarpa Huang Zhao Qiu Fang
Shen Lu Cai Tan Figueira Brandão Salgueiro Matoso Teles Vilhena Carvalhal Pestana Haddad Mansoor Benali
Saleh Khoury Rahmani Othman Daher Verhoeven Dijkman Hoekstra Brouwer Zandstra Kuipers Terpstra Wolthuis
Brannigan Cassidy Devaney Fallon Hegarty Kinsella Mulcahy Tierney Beaulieu Charpentier Delorme Fauvel
Lacombe Marchand Perrin Roussel""")
_ARABIC = (
    "ليلى=layla سامي=sami نور=nour كريم=karim هدى=huda عمر=omar رنا=rana ياسر=yaser",
    "حداد=haddad منصور=mansour نجار=najjar سالم=salem درويش=darwish خطيب=khatib زيدان=zidan قاسم=qasim",
)
_HARD_NAMES = {6: "Maria-Fernanda Alejandra Konstantinopoulou-Villaseñor de la Cruz", 9: "ليلى حداد"}
_RANGES = """
=1:120:1 capacity=8:240:4 places=8:30:2 party_size=1:8:1 party=1:8:1 people=1:12:1 guests=2:60:1
attendees=4:40:1 mileage=4000:180000:10 visit.mileage=2:140:1 age=3:88:1 height=150:196:1
tree.height=3:28:1 width=20:240:5 length=20:400:5 depth=10:90:5 weight=1:90:.5 animal.weight=2:60:.5
parcel.weight=.3:24:.1 shipment.weight=40:2400:10 container.weight=800:24000:50 score=0:5:1
quantity=1:24:1 stock=0:240:1 hand=0:240:1 reorder=5:40:5 at=5:40:5 minimum=5:40:5 votes=0:140:1
version=1:7:1 seats=1:50:1 employees=4:900:1 rooms=1:6:1 area=28:240:2 stops=4:18:1 distance=3:180:1
attempt=1:3:1 attempts=1:4:1 injured=0:2:1 damaged=0:2:1 scrap=0:9:1 copies=1:8:1 published=1958:2025:1
year=1998:2026:1 serves=2:12:2 portions=2:120:2 dishes=3:9:1 changes=4:60:1 openings=1:4:1
instalments=2:6:1 credits=3:12:1 games=0:34:1 size=3:9:1 items=2:14:1 lines=1:9:1 floor=0:6:1
target=20:200:5 goal=20:200:5 value=40:9800:1 temperature=2:24:.5 score.value=10:100:1
rating.value=1:10:1 result.value=1:100:1 days=1:15:1 nights=1:9:1 hours=.25:9:.25 pages=4:320:1
points=0:60:1 position=1:12:1 rank=1:20:1 order=1:12:1 count=1:40:1 withdrawal=3:35:1 reminders=0:3:1
kg=1:90:.5 level=0:100:1 age_days=1:60:1 player.number=1:99:1 tree.age=4:120:1 $=20:2400:5
$price=2.5:180:.1 $cost=12:900:.5 $unit_cost=.4:60:.1 $fee.amount=5:180:.5 $claim.amount=8:640:.05
$expense.amount=8:640:.05 $cost_per_portion=.6:4.8:.05 $rent=450:2400:10 $plot.rent=24:160:2
$deposit=300:3000:50 $salary=28000:74000:500 $from=28000:60000:500 $salary_expectation=28000:74000:500
$budget=2000:90000:500 $planned=2000:90000:500 $spent=500:60000:50 $goal=2000:60000:500 $fee=5:240:2.5
$fare=6:90:.5 $hire=60:900:10 $rate=9:120:.5 $total=40:6400:.05 $amount=12:1800:.05 $net=40:5200:.05
$value=500:48000:50 $tool.value=15:900:5 $lifetime_value=120:9800:5 $annual_value=4000:240000:500
$insured_value=200:60000:100 $charge=20:480:5 $effect=0:12000:100 $raised=200:40000:10 %=5:95:5
%discount=0:15:5 %tax=20:20:1 %vat=20:20:1 %attendance=72:100:1 %fte=50:100:10 %score=52:100:1
%yield=84:99:1 %humidity=35:70:1 ~=15:180:15 ~break=15:45:15 ~period=43200:129600:43200 ~time=10:120:5
~lead=2880:30240:1440 ~lead_time=2880:30240:1440 ~runtime=12000:540000:60 ~total=240:13200:60
~hours=240:13200:60 ~estimate=60:960:30 ~length=45:180:15 ~shift.length=420:480:30
~guest.length=1440:4320:1440 ~event.length=120:480:30 born=19:84:1 bornstudent.=7:18:1 bornpupil.=6:16:1
bornanimal.=0:14:1 borndog.=0:14:1 borncat.=0:14:1 bornewe.=1:8:1 bornram.=1:7:1 bornlamb.=0:1:1
bornplayer.=17:36:1
"""
# `@words: heads + tails`: a phrase is a head and a tail. Words are entities (their titles), fields or
# `entity.field`.
_TOPICS = """
@equipment machine lift inspection.asset work_order.asset: Circulation pump|Passenger lift|Air
compressor|Gas boiler| Ventilation unit|Conveyor|Packing line|Cold store|Water heater|Emergency
generator + A|B|C|north|south
@asset device: Notebook 14 inch|Label printer|Tablet|Projector|Monitor 27 inch|Headset|Scanner|Camera +
|, pool|, spare
@product stock_item item part material: Folding table|LED work lamp|Oak shelf|Label roll|Hex bolt
M8|Copper pipe 15 mm| Cotton apron|Paint roller|Storage crate|Cable drum|Safety gloves|Filter cartridge
+ |, small|, large|, set of 10
@tool loan.item: Cordless drill|Extension ladder|Party tent|Pressure washer|Hedge trimmer|Sewing
machine|Cargo bike| Carpet cleaner|Folding bench|Tile cutter + |, large|, spare
@vehicle make_model: Panel van|Electric hatchback|Tipper truck|Minibus|Flatbed truck|Estate car + |,
long|, 2023
@room resource space hall: Birch|Cedar|Harbour|Orchard|Lantern|Garden|Mill|Summit|River|Attic +
room|hall
@site place venue location property premises branch depot pickup_point road_closure base zone field farm
area: Alder Court| Mill Lane|Northbrook|Harbour Gate|Quarry Road|Eastmere|Orchard Row|Station
Yard|Fallow Hill|Lower Wharf + |, north side|, east wing|, unit 4
@company supplier organisation carrier sponsor manufacturer employer contractor:
Brightwater|Northgate|Alder & Finch| Fernhill|Copperfield|Lowland|Tidewell|Oakmere|Stonebridge|Larkfield
+ Supplies|Logistics|Joinery|Foods|Services|Works
@team flock fixture.home fixture.away match.home match.away:
Red|North|Harbour|Granite|Swift|Valley|Amber|Lowland + Rovers|United|Wanderers
@crew: Red|North| Harbour|Blue|Night|Valley + crew|crew 2
@task action step next_step corrective_action milestone: Confirm|Prepare|Review| Update|Send|Check|Book
+ the delivery dates|the access list|the floor plan|the cost estimate|the handover notes|the safety
signs|the photographs
@project contract budget campaign: Harbour hall|Mill Lane|Library|Old bakery|Riverside|Town
square|Depot|School garden + refurbishment|extension|energy survey|relocation|redesign
@deal opportunity lead quote proposal offer: Office move|Annual service|Garden design|Roof repair|Staff
training|Lighting upgrade|Catering|Kitchen refit|Website|Fleet lease + |, phase 1|, phase 2|, two sites
@about: Booking for summer|Invoice of May|Order of last week|Visit on Tuesday|Room on the first floor +
|, please
@ticket subject message email: Cannot sign in|Wrong address on the letter|Question about the
booking|Change of date|Invoice is missing|Keys for the side gate|Printer stays offline|Request for a
copy|Late arrival + |, again|, for next week|, second request
@alert reminder announcement notice: Stock below the limit|Service due|Answer overdue|Car park
closed|Water shut-off|New opening hours + on Friday|this week|until further notice
@incident service_request request problem complaint: Water under the sink|Door will not close|Heating
stays cold|Light flickers|Alarm without cause|Noise at night|Blocked drain|Broken window + in the
stairwell|on the second floor|at the north entrance|in the kitchen|near the lift
@case matter: Boundary|Lease renewal|Unpaid bill|Estate|Name change|Contract|Noise|Building permit + ,
first letter|, appeal|, hearing|, settlement
@finding risk: Handrail loose|Guard missing|Oil leak|Worn brake lining|Fire door wedged open|Label
unreadable|Cracked tile|Cable unprotected + at gate 2|on landing 3|near the loading bay|in the plant
room
@event meeting screening exhibition: Lantern|Harbour|Spring|Open garden|Winter|Midsummer|Old town +
concert|fair|reading| open day|workshop
@excursion: Ridge|Three lakes|Gorge|Summit|Glacier|Forest + walk|day tour|night tour
@course lesson training class: Watercolour|Bookkeeping|First aid|Spanish|Wood turning|Data
basics|Choir|Pottery + for beginners|, level 2|, evening class|, weekend
@book film: The Quiet|The Last|A Northern|Notes from a|Beyond the|The Paper +
Orchard|Harbour|Winter|Lighthouse| Garden|Railway
@thesis: Water|Trust|Noise|Timber|Light|Memory + in small towns|and public space|in early schooling
@recipe menu dish: Roast squash soup|Lentil stew|Herb omelette|Bean chilli|Apple crumble|Barley
risotto|Fish pie|Beetroot salad|Spinach pancakes|Rice pudding|Chickpea curry|Potato gratin + |, oven
baked|, large batch
@animal patient.animal dog pet:
Biscuit|Juno|Pepper|Willow|Otto|Clover|Mabel|Rusty|Hazelnut|Figaro|Nettle|Poppy|Saffron
@document checklist template policy: Site access|Data handling|Fire safety|Cleaning|Onboarding|Lone
working|Waste sorting|Key handover + policy|procedure|checklist|guide
@expense_claim claim expense claim.purpose expense_claim.purpose: Train to the client|Team lunch|Hotel,
two nights|Printer paper|Parking|Course fee|Trade fair ticket|Taxi + |, May|, June|, second part
@fee charge: Deep cleaning|Late arrival|Spare key|Broken shelf|Extra guest|Paint work|Storage + |, May|,
June|, half
@job_opening role job_title: Site|Service|Project|Kitchen|Workshop|Office|Night +
supervisor|assistant|coordinator|lead
@collection_object object: Bronze weight|Harbour at dusk|Clay lamp|Silver thimble|Ship model|Loom
shuttle|Field map + |, 1840s|, pair|, fragment
@prop: Brass key|Cipher wheel|Lantern|Locked chest|Torn map|Star chart + |, spare|, room 2
@feature_request idea change_request: Dark theme|Export to a spreadsheet|Saved filters|Weekly
digest|Bulk edit|Calendar feed + |on phones|for teams|per role
@goal: Read twelve books|Walk every day|Save for a bicycle|Learn a language|Answer within an hour|Halve
the waste
@route line: North|River|Market|Hill|Station|Harbour + loop|round
@portion allergen allergens allergies dietary: Nuts| Gluten|Milk|Eggs|Celery|Mustard
@medicine vaccine: Worming drench|Vitamin drops|Eye ointment|Booster|Antibiotic, 5 days| Saline
@species tree: Small-leaved lime|Field maple|Silver birch|Hornbeam|Rowan
@sheep.breed ewe.breed ram.breed lamb.breed flock.breed: Blackface|Hill cross|Longwool|Mountain sheep
@breed: Terrier mix|Shorthair|Collie|Mountain sheep|Spaniel|Tabby@dose: 5 ml|10 mg|1 tablet|2 drops
@frequency: once a day|twice a day|weekly@floor: 0|1|2|3@sector: Construction|Health care|Retail|Food
@period: Spring 2026|Summer 2026|Autumn 2026@hours: Mon-Fri 8:00-17:00|Mon-Sat 9:00-18:00|by appointment
@reason: Planned work|Family matter|Change of plans|Earlier date wanted|Space is needed
@cause: Wear and tear|Operator error|Wrong part fitted|Missed service
@transfer.reason move.reason: Closer to therapy|Isolation needed|Step down from intensive care|Ward
closes for cleaning
@purpose: Regular check|Handover|Repair|Measuring|Advice + |, follow-up|, second date
@tags features skills: indoor|urgent|regular|evening|quiet|accessible|first aid|languages
@contact.tags: key account| newsletter|referral|local
@text: as agreed|standard|see file|to be confirmed|special order
@address: Alder Lane|Quarry Road| Mill Street|Station Road|Orchard Row|Finch Close + , Northbrook|,
Eastmere|, Lower Fallow|, Kingsferry|, Marlow End
@description details problem summary: First seen on Monday morning.|Reported by two people
independently.|Happens every few days.|Was repaired once before. + It gets in the way of daily work.|A
photograph is on file.|Access is through the side door.|Please call before coming.
@appointment.notes: Prefers mornings.|First visit after the holidays.|Brings earlier records.|Needs the
ground floor.|Asked for the same person.|Will be accompanied. + |Reminder sent.|Confirmed by telephone.
@patient.notes: Exercises going well.|Referred by the family.|Prefers mornings.|Needs an
interpreter.|Asked about side effects. + |Review with the whole team.|No change since last time.
@customer.notes contact.notes: Prefers e-mail.|Wants one invoice a month.|Asked for a call back.|Pays on
time.| Met at the spring fair.|New address from July. + |Next talk in autumn.|Knows the team well.
@guest.requests: Quiet room.|Vegetarian meals.|Arrives late.|Two extra chairs.|Parking for a van.|Ground
floor.
@site.access_notes: Key at the front desk.|Ring twice, then wait.|Loading from the yard only.|No parking
before nine.|Steps at the main door. + |Code changes each month.|Ask for the caretaker.
@inspection.remarks: All points in order.|Emergency call tested.|Slight wear, within limits.|Sign
replaced on site.|Guard rail adjusted.|Lubrication due next time. + |Photograph taken.|Owner
informed.|Next check in a year.
@goods_receipt.remarks: Complete, no damage.|One box wet.|Short by two pieces.|Delivery note missing.
@review.comment: Friendly and on time.|Clear answers, quick help.|A little late, but careful.|Would book
again.| The room was cold.|Good value. + |Thank you all.|Could be cheaper.
@recipe.method: Soften the onions, add the rest, simmer.|Mix, rest for an hour, bake until
golden.|Roast, stir twice, season.|Cook in two batches, season at the end. + |Keeps for two days.|Serve
at once.
@notice.body alert.body reminder.body: Please use the side entrance until Friday.|The desk closes at two
o'clock.|Bring your card next time.|Check the list before you leave. + |Thank you.|Questions to the
front desk.
@note.body record.body entry.body: Walked the round, nothing unusual.|Replaced the filter, tested
twice.|Spoke to both sides, agreed on Friday.|Counted again, two missing. + |Weather dry.|Continued
tomorrow.
@case.summary: Both sides asked for a written answer.|Documents complete, waiting for a date.|Talks
continue, no deadline yet.|Appeal possible until the end of the month. + |Next step is with us.|Next
step is with them.
@risk.mitigation: Second key holder named.|Weekly check by the shift lead.|Spare part kept on
site.|Training repeated each spring.
@quote.terms: Valid for thirty days.|Half on order, half on delivery.|Travel included.|Prices without
tax.
@permit.conditions: Only between 7 and 19 o'clock.|Not transferable.|Quiet at night.|Renew four weeks
before the end.
@leave_request.reason: Family visit|Moving house|Long weekend|Medical appointment|Summer holiday
@stock_movement.reason: Counted again|Used on site|Returned|Broken in transit|Order arrived
@notes: All as expected.|Asked for a call back in the afternoon.|Bring the second key.|Prefers
mornings.|Waiting for an answer.|Spoke to the front desk. + |Next look in four weeks.|No further
steps.|See also last month.
@remarks comment note: Everything in order.|As agreed by telephone.|Second copy on file.|Needs a second
look.|Better than last time.|Waiting for a signature. + |Next look in four weeks.|Photograph taken.|No
further steps.
@work_order.remarks equipment.remarks reading.remarks meter_reading.remarks: Slight wear, still within
limits.|Cleaned and adjusted.|One screw replaced.|Dial hard to read. + |Photograph taken.|No further steps.
@outcome result resolution feedback minutes: Everything works again.|Two small points remain.|Agreed on
the next date.| Very satisfied, would come again. + |Report sent the same day.|A second visit is
planned.
@lab_test.result: Within range|Slightly raised|Negative|To be repeated|Positive
@body reply: Good morning, could we move this to Thursday?|Thank you, that works for us.|We are still
waiting for an answer.|The key was not where we expected it. + |Kind regards.|Please confirm by
tomorrow.
@terms conditions method mitigation instructions: Prepare everything the day before.|Keep the passage
clear.|Two people are needed.|Check the label before use. + |Valid until revoked.|Allow ten minutes.
@lang.de: Termin bestätigt.|Unterlagen fehlen noch.|Rückruf am Nachmittag.|Alles in Ordnung.
@lang.es: Cita confirmada.|Falta un documento.|Llamar por la tarde.|Todo en orden.
@lang.fr: Rendez-vous confirmé.|Il manque un document.|Rappeler l'après-midi.| Tout est en ordre.
@lang.pt: Consulta confirmada.|Falta um documento.|Tudo em ordem.
@lang.it: Appuntamento confermato.|Manca un documento.|Tutto in ordine.
@lang.nl: Afspraak bevestigd.|Document ontbreekt nog.|Alles in orde.
@lang.ja: 確認済み。|書類待ち。|午後に折り返し。|問題なし。
@lang.ar: تم التأكيد.|بانتظار المستندات.|كل شيء على ما يرام.
"""
# fmt: on


# --- draws: every number comes from a hash over names ---------------------------------------------


def _roll(*names: object) -> int:
    """A number that depends on nothing but the names; what `random` draws differs between Pythons."""
    import hashlib

    data = " ".join(map(str, names)).encode("utf-8", "replace")
    return int.from_bytes(hashlib.blake2b(data, digest_size=ROLL_BYTES).digest(), "big")


def _walk(size: int, number: int, *names: object) -> int:
    """Where step `number` of a walk stands that meets each of `size` places before any of them twice."""
    from math import gcd

    stride = next(s for s in range(size * GOLDEN_PERCENT // CENTS + 1, 2 * size + 2) if gcd(s, size) == 1)
    return (_roll(*names) + number * stride) % size


@once
def _topics() -> Mapping[str, list[list[str]]]:
    """The heads and the tails of the phrases for a word."""
    topics = {}
    for part in re.sub(r"\s+", " ", _TOPICS).split("@")[1:]:
        keys, text = part.split(": ", 1)
        halves = [re.split(r" ?\| ?", half.strip()) for half in f"{text} + ".split(" + ")]
        topics.update(dict.fromkeys(keys.split(), halves[:2]))
    return topics


_ranges = once(lambda: dict(part.split("=") for part in _RANGES.split()))


def _match(table: Iterable[Any], name: str) -> Any:
    """The first row of a table whose pattern, its last member, is found in the name."""
    return next(row for row in table if re.search(row[-1], name))


def _cents(value: Any) -> int:
    return round(min(max(value or 0, -ENDLESS), ENDLESS) * CENTS)


def _plain(cents: int) -> float:
    return cents / CENTS if cents % CENTS else cents // CENTS


# --- entities: what their fields make of them -----------------------------------------------------


class _Kind:
    """An entity: its words, what its records are, the stages of its status, what its dates mean."""

    def __init__(self, entity: Mapping[str, Any], lang: str) -> None:
        self.id, self.label, self.display = entity["id"], entity["label"], entity["display"]
        self.fields = {field["id"]: field for field in entity["fields"]}
        self.found, self.lang = {}, lang.split("-")[0].lower()
        known = find_archetype(self.id.replace("_", " ")).name.replace(" ", "_")
        self.words = [self.id, *self.id.split("_")[::-1], known]
        dated = (name for name, field in self.fields.items() if field["type"] in DATE_TYPES)
        self.dates = {name: _match(_DATES, name) for name in dated}
        self.codes = {name: _match(_CODES, name)[0] for name in self.fields}
        self.topics = {name: self._topic(name) for name in self.fields}
        self.status = self.find("", "status")
        self.stages = _read_stages(self.fields[self.status]["values"]) if self.status else []
        self.flows = bool(self.stages) and self.stages[0].name == "ahead"
        # Whether it is named by plain words: neither a code nor another type.
        self.plain = bool(self.find(f"^{self.display}$", "text")) and not self.codes[self.display]
        self.outcomes = {name for name, field in self.fields.items() if self._is_outcome(name, field["type"])}
        self.sort = self._sort(entity.get("icon") == "person" or self.words[1] in _PERSONS)

    def _sort(self, person: bool) -> str:
        """What the records are, by the entity's own fields alone: a row of _ROWS."""
        reached = self.find("", "email", "phone") and not _topics().keys() & set(self.words)
        roles = {date[0] for date in self.dates.values()}
        works = self.status and roles & {"made", "start", "plan", "due"}
        if self.plain and (person or reached):
            return "people"
        if works or (self.find("", "ref") and not self.status):
            return "work" if works else "child"
        return "thing" if roles or len(self.fields) > FEW_FIELDS else "few"

    def find(self, pattern: str, *types: str) -> str:
        """The id of the first field of one of the types whose id matches, or ""."""
        if (pattern, types) not in self.found:
            fits = (n for n, field in self.fields.items() if field["type"] in types and re.search(pattern, n))
            self.found[pattern, types] = next(fits, "")
        return self.found[pattern, types]

    def _is_outcome(self, name: str, kind: str) -> bool:
        """Whether a field holds what comes of a record at its end."""
        outcome = re.search(_OUTCOME, name) and kind in ("text", "longtext", "choice", "rating", "url")
        return bool(self.status and (outcome or (name.endswith("score") and kind in ("number", "percent"))))

    def names(self) -> int:
        """How many different names its new records can have."""
        topic = self.topics[self.display] if self.plain and self.sort != "people" else ""
        heads, tails = _topics().get(topic, ([], []))
        return len(heads) * len(tails) or RECORDS_PER_ENTITY_MAX

    def ref_to(self, target: str) -> str:
        """The first field that refers to an entity, or ""."""
        return next((name for name, field in self.fields.items() if field.get("entity") == target), "")

    def _topic(self, name: str) -> str:
        """The topic of a field, or "" where there is none in this language."""
        topics, long = _topics(), self.fields[name]["type"] == "longtext"
        own = [*(f"{word}.{name}" for word in self.words), name, *name.split("_")[::-1]]
        titles = [word for word in self.words if not topics.get(word, [["."]])[0][0].endswith(".")]
        keys = titles if name in _TITLED else own + ["notes"] * long + titles * (name == self.display)
        keys = keys if self.lang == "en" else [f"lang.{self.lang}"] * long
        return next((key for key in keys if key in topics), "")


def _read_stages(values: Sequence[str]) -> list[_Stage]:
    """The stage of each value of a status: by its words, the first and the last one by their place."""
    found = [_match(_STAGES, terms()["en"].get(value, value).lower()) for value in values]
    settled = found[0].name == "now" and found[0] is not _STAGES[-1]
    if not settled and found[0].name != "today":
        found[0] = _FIRST
    last = max(place for place, stage in enumerate(found) if place == 0 or stage.name != "odd")
    if last and not settled and found[last].name != "over":
        found[last] = _LAST
    return found


def _rank_kinds(kinds: Mapping[str, _Kind]) -> dict[str, int]:
    """Each entity's place in an order after those it refers to; a circle is cut at its first one."""
    refs = {n: {field.get("entity") for field in kind.fields.values()} - {n} for n, kind in kinds.items()}
    rank: dict[str, int] = {}
    while len(rank) < len(refs):
        left = [name for name in refs if name not in rank]
        rank[next((name for name in left if not refs[name].intersection(left)), left[0])] = len(rank)
    return rank


def _plan_records(blueprint: Mapping[str, Any], kinds: Mapping[str, _Kind]) -> dict[str, list[Any]]:
    """The records of each entity, new ones as stubs; fewer where they would be too many in all."""
    lists = {entity["id"]: entity.get("records") for entity in blueprint["entities"]}
    room, wanted = RECORDS_MAX - sum(len(records or ()) for records in lists.values()), {}
    for name in (name for name, records in lists.items() if records is None):
        low, high = _ROWS[kinds[name].sort]
        wanted[name] = min(low + _roll(blueprint["seed"], name) % (high - low + 1), kinds[name].names())
    for name, count in wanted.items():
        most = min(count, count * room // sum(wanted.values()))
        lists[name] = [{"id": f"{name.replace('_', '-')}-{number}"} for number in range(1, most + 1)]
    return lists


class _World:
    """All rows of a blueprint, and the people in it."""

    def __init__(self, blueprint: Mapping[str, Any]) -> None:
        from datetime import date

        self.today = date.fromisoformat(blueprint["asOf"]).toordinal()
        self.seed, self.rtl = blueprint["seed"], blueprint["dir"] == "rtl"
        self.rows, self.taken, self.crews = {}, {}, {}
        self.kinds = {entity["id"]: _Kind(entity, blueprint["lang"]) for entity in blueprint["entities"]}
        self.people = [name for name, kind in self.kinds.items() if kind.sort == "people"]
        self.rank = _rank_kinds(self.kinds)
        for name, records in _plan_records(blueprint, self.kinds).items():
            rows = (_Row(self, self.kinds[name], record, place) for place, record in enumerate(records))
            self.rows[name] = {row.given["id"]: row for row in rows}
            self.taken[name] = {str(record.get(self.kinds[name].display)) for record in records}

    def person(self, group: str, number: int) -> str:
        """The name of person `number` of a group: an entity, "staff", or a word for others."""
        if group == (self.people or ["staff"])[0] and number in _HARD_NAMES and not self.rtl:
            return _HARD_NAMES[number]
        texts = _ARABIC if self.rtl else _GIVEN_AND_FAMILY
        given, family = ([word.split("=")[0] for word in text.split()] for text in texts)
        groups = len(given) // NAME_GROUP
        spot = _walk(groups * NAME_GROUP * NAME_GROUP, number, self.seed, group)
        first, place = spot % groups * NAME_GROUP, spot // groups
        return f"{given[first + place % NAME_GROUP]} {family[first + place // NAME_GROUP]}"

    def crew(self, field: str) -> list[str]:
        """The names a person field draws from: of people its words name, of outsiders, else of staff."""
        if field not in self.crews:
            outside = re.search(_OUTSIDERS, field)
            fits = [name for name in self.people if set(field.split("_")) & set(name.split("_"))]
            fits += [name for name in self.people if name in _STAFF and not outside]
            names = [row.title() for row in self.rows[fits[0]].values()] if fits else []
            group = outside[0] if outside else "staff"
            names = names or [self.person(group, number) for number in range(1, STAFF_COUNT + 1)]
            self.crews[field] = [name for name in names if name and name not in _HARD_NAMES.values()]
        return self.crews[field]


class _Row:
    """One record in the making: its values so far, and draws that depend on nothing but its ids."""

    def __init__(self, world: _World, kind: _Kind, given: Mapping[str, Any], place: int) -> None:
        self.world, self.kind, self.given, self.place = world, kind, given, place
        self.record, self.key = dict(given), f"{world.seed} {kind.id} {given['id']}"
        self.salt, self.kept = _roll(self.key) | 1, {}
        tail = re.search("[0-9]{1,3}$", given["id"])
        self.number = int(tail[0]) if tail else self.salt % RECORDS_MAX

    def draw(self, name: str, low: int, high: int) -> int:
        return low + _roll(self.key, name) % (high - low + 1)

    def pick(self, name: str, choices: Sequence[Any]) -> Any:
        return choices[self.draw(name, 0, len(choices) - 1)]

    def walk(self, name: str, size: int, shift: int = 0) -> int:
        return _walk(size, self.number + shift, self.world.seed, self.kind.id, name)

    def phrase(self, key: str, shift: int = 0) -> str:
        """A phrase of a topic, another one for each record and each shift until all have been used."""
        heads, tails = _topics()[key]
        spot = self.walk(key, len(heads) * len(tails), shift)
        return f"{heads[spot % len(heads)]} {tails[spot // len(heads)]}".strip().replace(" ,", ",")

    def get(self, name: str) -> Any:
        """A field's value, given or made now; "" for no field and for a value that asks for itself."""
        if name not in self.record and name in self.kind.fields:
            self.record[name] = ""
            self.record[name] = _make_value(self, name)
        return self.record.get(name, "")

    def cents(self, name: str) -> int:
        return _cents(self.get(name))

    def parent(self, name: str) -> _Row | None:
        """The row that the ref field `name` points to."""
        return self.world.rows.get(self.kind.fields[name].get("entity"), {}).get(self.get(name))

    def parents(self) -> list[_Row]:
        """The rows pointed to; only of entities of lower rank, so that no chain closes."""
        rank, own = self.world.rank, self.world.rank[self.kind.id]
        refs = (name for name, field in self.kind.fields.items() if rank.get(field.get("entity"), own) < own)
        return [row for row in map(self.parent, refs) if row]

    def title(self) -> str:
        """What the record is called, where a text says so; a person's whole name."""
        parts = [self.kind.find(f"^({words})", "text") for words in ("first|given", "last|family|sur")]
        names = parts if all(parts) else [self.kind.find(f"^{self.kind.display}$", "text", "person")]
        return " ".join(map(self.get, names))

    def stage(self) -> _Stage:
        """How far along the record is: as its status says, else drawn."""
        status = self.get(self.kind.status)
        if not status:
            return _STAGES[self.pick("stage", _UNSTATED)]
        return self.kind.stages[self.kind.fields[self.kind.status]["values"].index(status)]

    def state(self) -> str:
        """The status in lower-case English words."""
        status = str(self.get(self.kind.status))
        return terms()["en"].get(status, status).lower()

    def calendar(self, day: int) -> Any:
        """The date `day` days from today; it stays within the calendar."""
        from datetime import date

        return date.fromordinal(min(max(self.world.today + day, 1), date.max.toordinal() - YEAR_DAYS))

    def length(self) -> int:
        """How long it takes from its planned time, in minutes."""
        given = self.get(self.kind.find(_LENGTH, "duration")) or _in_range(self, "~", "length", {})
        return int(min(max(given, QUARTER_MINUTES), LENGTH_MAX_MINUTES))

    def days(self) -> Mapping[str, int]:
        """The hidden course of a record in days from today: made, start, plan, end, due, over, a minute.

        It is moved so that the first date that is given lies on it.
        """
        if not self.kept:
            self.kept, dates = self._plan_days(self.stage()), self.kind.dates
            anchors = (name for name in dates if self.given.get(name) and dates[name][0] in self.kept)
            self.kept = next((self._move(self.kept, name) for name in anchors), self.kept)
        return self.kept

    def _move(self, course: Mapping[str, int], name: str) -> dict[str, int]:
        from datetime import datetime

        given, role = datetime.fromisoformat(self.given[name]), self.kind.dates[name][0]
        timed = self.kind.fields[name]["type"] == "datetime" and role in ("plan", "start", "end")
        shift = given.toordinal() - self.world.today - course["plan" if timed else role]
        moved = {key: day + shift for key, day in course.items()}
        minute = given.hour * HOUR_MINUTES + given.minute - (self.length() if role == "end" else 0)
        minute = max(minute, 0) if timed else course["minute"]
        return {**moved, "made": min(moved["made"], 0), "minute": minute}

    def _plan_days(self, stage: _Stage) -> dict[str, int]:
        plan, long = self.draw("plan", stage.low, stage.high), re.search(_LONG, self.kind.id)
        if plan and (self.world.today + plan - 1) % WEEK_DAYS >= WORK_DAYS:
            plan += 2 if plan > 0 else -2
        since = "plan" if re.search(_AFTER, self.kind.id) else "made"
        floors = [min(parent.days()[since], -1) for parent in self.parents() if parent.kind.flows]
        made = max([min(plan, 0) - self.draw("made", 1, MADE_DAYS), *floors])
        plan, span = max(plan, made), min(self.draw(f"span {turn}", 2, MONTH_DAYS) for turn in "ab")
        span = YEAR_DAYS if long else span
        closed = stage.name in ("over", "odd")
        start = -self.draw("start", 1, span - 1) if stage.name == "now" else plan - span if closed else plan
        made = start - self.draw("made", 1, MADE_DAYS) if long else made
        start = max(start, made)
        course = {"made": made, "start": start, "plan": plan, "end": plan if closed else start + span}
        over = min(plan + self.draw("over", 0, OVER_DAYS), -1)
        due, minute = plan + self.draw("due", 1, DUE_DAYS), QUARTER_MINUTES * self.draw("quarter", *_QUARTERS)
        return {**course, "due": due, "over": over, "minute": minute}


# --- dates ----------------------------------------------------------------------------------------


def _milestone(row: _Row, name: str) -> int | str | None:
    """The day on which the status came to what a date is named after, "" before; None for other dates."""
    status, stage, days = row.get(row.kind.status), row.stage().name, row.days()
    values = row.kind.fields[row.kind.status]["values"] if status else []
    stems = {word[:STEM_CHARS] for word in name.split("_")}
    marks = [place for place, value in enumerate(values) if place and value[:STEM_CHARS].lower() in stems]
    if not marks:
        return None
    mark, reached = marks[-1], values.index(status)
    if reached < mark or (stage == "odd" and reached != mark and row.kind.stages[mark].name == "over"):
        return ""
    last = days["over"] if stage == "over" else min(days["start"], 0)
    return days["made"] + (last - days["made"]) * mark // reached


def _day(row: _Row, name: str) -> int | str:
    """The day that a date field shows, counted from today, or "" for what has not happened."""
    role, low, high, _ = row.kind.dates[name]
    days, stage, person = row.days(), row.stage().name, row.kind.sort == "people"
    day = _milestone(row, name) if role in ("made", "over", "plan") else None
    if day is not None:
        return day
    if (role == "over" and stage != "over") or (role == "next" and stage == "over" and person):
        return ""
    if role == "born":
        return -int(_in_range(row, "born", name, {})) * YEAR_DAYS - row.draw("birthday", 0, YEAR_DAYS)
    if role in ("later", "next") and re.search(_PAST_STATUS, row.state()):
        low, high = -MONTH_DAYS, -1
    elif person and name.startswith("start") and stage != "ahead":
        low, high = _PAST_DAYS
    elif role in ("plan", "start") and re.search(_LOGS, row.kind.id):
        role = "made"
    return row.draw(name, low, high) if low < high else days[role]


def _make_date(row: _Row, name: str) -> str:
    """A day, with a quarter of an hour in working hours; what ends or is over comes after the start."""
    from datetime import datetime, timedelta

    day, days, role = _day(row, name), row.days(), row.kind.dates[name][0]
    if day == "":
        return ""
    if row.kind.fields[name]["type"] == "date":
        return row.calendar(day).isoformat()
    day = days["plan"] if role in ("start", "end") else day
    minute = days["minute"] if day == days["plan"] else QUARTER_MINUTES * row.draw(name, *_QUARTERS)
    if role == "end" or (role == "over" and day == days["plan"]):
        minute += row.length()
    elif role == "made" and day == days["plan"]:
        minute -= QUARTER_MINUTES * row.draw(name, 1, 4)
    moment = datetime.fromordinal(row.calendar(day).toordinal()) + timedelta(minutes=minute)
    return moment.isoformat()[: -len(":00")]


# --- numbers --------------------------------------------------------------------------------------


def _in_range(row: _Row, kind: str, name: str, field: Mapping[str, Any]) -> float:
    """A number as type and name suggest, within the field's own limits; small ones are more frequent."""
    words, prefixes = [name, *name.split("_")[::-1], ""], [*(f"{word}." for word in row.kind.words), ""]
    keys = (f"{kind}{prefix}{word}" for word in words for prefix in prefixes)
    span = next(filter(None, map(_ranges().get, keys)))
    least, most, step = (_cents(float(part)) for part in span.split(":"))
    low, high = _cents(field.get("min", -ENDLESS)), _cents(field.get("max", ENDLESS))
    if least > high or most < low:  # the field's limits are elsewhere
        least, most = (low, min(high, 2 * low)) if "min" in field else (high, high)
    least, most, share = max(least, low), min(most, high), row.draw(name, 0, FINE)
    share = share * share // FINE if most > CENTS * max(least, 1) else share
    return _plain(least + (most - least) // step * share // FINE * step)


def _children(row: _Row, pattern: str) -> list[_Row] | None:
    """The rows of entities whose noun matches that point here; None where there is no such entity."""
    found, own = None, row.kind.id
    for name, kind in row.world.kinds.items():
        ref = kind.ref_to(own)
        if ref and name != own and re.search(pattern, kind.words[1]):
            rows = row.world.rows[name].values()
            found = (found or []) + [child for child in rows if child.get(ref) == row.given["id"]]
    return found


def _derive_money(row: _Row, name: str) -> int | None:
    """Cents that follow from other values: tax, totals, quantity times price, a sum, a parent's price."""
    find, cents, total = row.kind.find, row.cents, re.search(_TOTAL, name)
    net, tax, rate = find("^net", "money"), find("tax|vat", "money"), find("tax|vat", "percent")
    price, quantity = find("price|unit_cost|rate", "money"), find("quantity|qty|hours", "number")
    if net and name == tax:
        return cents(net) * VAT_PERCENT // CENTS
    if net and name != net and total:
        return cents(net) + (cents(tax) if tax else cents(net) * cents(rate) // CENTS**2)
    if price and quantity and name != price and total:
        return cents(price) * cents(quantity) * (CENTS**2 - cents(find("discount", "percent"))) // CENTS**3
    lines = next((_children(row, noun) for pattern, noun in _SUMS if re.search(pattern, name)), None)
    if lines is not None:
        return sum(line.cents(line.kind.find(_TOTAL, "money")) for line in lines)
    wanted = "^(total|amount)" if name == "amount" else f"(^|_){name.split('_')[-1]}$"
    parents = row.parents() if re.search(_COPIED, name) else []
    same = ((parent, parent.kind.find(wanted, "money")) for parent in parents)
    return next((parent.cents(field) for parent, field in same if field), None)


def _derive_number(row: _Row, name: str) -> int | None:
    """Hundredths that follow from other values: a part, a stock level, an upper end, a span, a count."""
    from datetime import datetime

    kind, find = row.kind.fields[name]["type"], row.kind.find
    status = row.state()
    whole = next((find(whole, kind) for part, whole in _PARTS if re.search(part, name)), name)
    lower = find("^" + re.sub("(to|max)$", "(from|min)$", name), kind)
    if whole not in ("", name):
        return row.cents(whole) * row.draw(name, *_PROGRESS[row.stage().name]) // CENTS**2 * CENTS
    if re.search("stock|on_hand", name) and re.search("out of|^low|^in stock", status):
        level = 0 if "out" in status else row.draw(name, *_STOCKED) if "in" in status else CENTS // 2
        return row.cents(find("reorder|min", kind)) * level // CENTS**2 * CENTS
    if lower not in ("", name):
        return row.cents(lower) * row.draw(name, *_UPPER) // CENTS
    ends = {row.kind.dates[date][0]: row.get(date) for date in row.kind.dates}
    if re.search("^(days|nights)", name) and ends.get("start") and ends.get("end"):
        first, last = (datetime.fromisoformat(ends[role]).toordinal() for role in ("start", "end"))
        return max(last - first + (name[0] == "d"), 0) * CENTS
    children = _children(row, f"^{name.split('_')[-1].rstrip('s')}$") if kind == "number" else None
    return None if children is None else len(children) * CENTS


def _derive_percent(row: _Row, name: str) -> int | None:
    """Hundredths of a percent: one number as a share of another, else as far as the stage says."""
    if not re.search(_SHOWN, name):
        return None
    pairs = ([row.kind.find(pattern, "number", "money") for pattern in pair] for pair in _PARTS)
    part, whole = next((pair for pair in pairs if all(pair)), ("", ""))
    if row.get(whole):
        return min(max(row.cents(part) * CENTS // row.cents(whole), 0), CENTS) * CENTS
    return row.draw(name, *_PROGRESS[row.stage().name]) * CENTS


def _make_number(row: _Row, name: str) -> float:
    sign, *derive = _NUMBER_RULES[row.kind.fields[name]["type"]]
    cents = next((value for value in (function(row, name) for function in derive) if value is not None), None)
    return _in_range(row, sign, name, row.kind.fields[name]) if cents is None else _plain(cents)


# --- words ----------------------------------------------------------------------------------------


def _make_code(row: _Row, name: str, code: str) -> str:
    """An identifier after a pattern of _CODES, unlike those of the other records."""
    words, base = row.kind.id.split("_"), _roll(row.world.seed, row.kind.id) % FIRST_NUMBERS
    letters = "".join(word[0] for word in words) if len(words) > 1 else words[0][: len("INV")]
    digits = iter(str(row.walk(name, 10 ** code.count("#"))).zfill(code.count("#")))
    year = f"{row.calendar(row.days()['made']).year}-" if row.kind.flows else ""
    prefix = (words[0][:2] if letters in _UNFIT else letters).upper()
    text = code.format(P=prefix, F=name[: len("INV")].upper(), N=f"{year}{row.number + base:04d}")
    text = re.sub("#", lambda _: next(digits), text)
    return re.sub("@", lambda at: row.pick(f"{name} {at.start()}", "BCDFGHKLMNPRSTVWX"), text)


def _make_words(row: _Row, name: str) -> str:
    """A phrase of the field's or the entity's topic; without one, the label and little more."""
    kind, topic = row.kind, row.kind.topics[name]
    if topic:  # another phrase than in the fields before
        before = list(kind.fields)[: list(kind.fields).index(name)]
        return row.phrase(topic, sum(kind.topics[other] == topic for other in before))
    if name == kind.display or name in _TITLED:
        return _compose(row)
    label = kind.fields[name]["label"]
    return row.phrase("text") if kind.lang == "en" else f"{label} {row.pick(name, 'ABCDEF')}"


def _compose(row: _Row) -> str:
    """A title out of the entity's own label: for whom, when, or which one."""
    label, made = row.kind.label, row.calendar(row.days()["made"])
    about = next(filter(None, (parent.title() for parent in row.parents())), "")
    if row.kind.lang != "en":
        return f"{label} {row.number}"
    if not about and not row.kind.words[-1]:
        return f"{label} {row.pick('letter', 'ABCDEFGH')}-{row.number:02d}"
    text = f"{label} for {about}" if about else f"{label}, {made.day} {_MONTHS.split()[made.month - 1]}"
    number = f", no. {row.number}" if text[:LABEL_MAX_CHARS] in row.world.taken[row.kind.id] else ""
    return text[:LABEL_MAX_CHARS] + number


def _make_text(row: _Row, name: str) -> str:
    """An identifier, a person's name, or words."""
    words, code = name.split("_")[::-1], row.kind.codes[name]
    part = re.search("^(first|given)|^(last|family|sur)", name)
    if code:
        return _make_code(row, name, code)
    if row.kind.sort == "people" and (part or name in (row.kind.display, "name", "full_name")):
        whole = row.world.person(row.kind.id, row.number)
        return whole.partition(" ")[0 if part[1] else 2] if part else whole
    if words[0] in _PERSONS or (words[0] == "name" and words[-1] in _PERSONS):
        return row.world.person(f"{row.kind.id} {name}", row.number)
    return _make_words(row, name)


def _make_status(row: _Row, name: str) -> str:
    """The first rows meet every value once, the others as often as its stage is common."""
    values = row.kind.fields[name]["values"]
    if 0 < row.number <= len(values):
        return values[(_roll(row.world.seed, row.kind.id, name) + row.number) % len(values)]
    shares = [stage.share for stage in _read_stages(values)]
    weights = [2 * share // shares.count(share) for share in shares]
    return row.pick(name, [value for value, weight in zip(values, weights) for _ in range(weight)])


def _make_choice(row: _Row, name: str) -> str:
    """One of the values; where one says what the status says, that one."""
    status, values = str(row.get(row.kind.status)).lower()[: STEM_CHARS - 1], row.kind.fields[name]["values"]
    return row.pick(name, [v for v in values if status and v.lower().startswith(status)] or values)


def _make_boolean(row: _Row, name: str) -> bool:
    stage, percent, _ = _match(_TRUE, name)
    return row.stage().name == stage if stage else row.draw(name, 1, CENTS) <= percent


def _make_tags(row: _Row, name: str) -> list[str]:
    words, label = _topics()[row.kind.topics[name] or "tags"][0], row.kind.fields[name]["label"]
    words = words if row.kind.lang == "en" else [f"{label} {letter}" for letter in "ABCD"]
    spots = {row.draw(f"{name} {turn}", 0, len(words) - 1) for turn in range(row.draw(name, 1, 3))}
    return [words[spot] for spot in sorted(spots)]


# --- people and references ------------------------------------------------------------------------


def _make_person(row: _Row, name: str) -> str:
    """Somebody else than in the person fields before; a field that means no person gets words."""
    if name.split("_")[-1] not in _PERSONS and row.kind.topics[name]:
        return _make_words(row, name)
    people = [other for other, field in row.kind.fields.items() if field["type"] == "person"]
    used = [row.get(other) for other in people[: people.index(name)]]
    used += [row.title()] if row.kind.sort == "people" else []
    return row.pick(name, [person for person in row.world.crew(name) if person not in used] or [""])


def _make_email(row: _Row, name: str) -> str:
    """An address after the name of the person, or else of the record, that it belongs to."""
    import unicodedata

    named = [row.get(row.kind.find(pattern, kind)) for pattern, kind in (("", "person"), (_SOMEBODY, "text"))]
    named += [parent.title() for parent in row.parents() if parent.kind.sort == "people"]
    owner = row.title() if row.kind.sort == "people" else next(filter(None, [*named, row.title(), "office"]))
    latin = dict(pair.split("=") for text in _ARABIC for pair in text.split())
    text = " ".join(latin.get(word, word) for word in owner.lower().translate(_UNSPLIT).split())
    # The tables of Unicode 3.2 are the same in every Python.
    plain = unicodedata.ucd_3_2_0.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.findall("[a-z0-9]+", plain) or [row.given["id"]]
    domain = _DOMAINS[_roll(row.world.seed, row.kind.id) % len(_DOMAINS)]
    return f"{'.'.join(dict.fromkeys((words[0], words[-1])))}@example.{domain}"


def _make_ref(row: _Row, name: str) -> str:
    """A parent: the one a nearer parent has, else a drawn one; some have many children and one has none."""
    fields, rank, target = row.kind.fields, row.world.rank, row.kind.fields[name]["entity"]
    before = list(fields)[: list(fields).index(name)]
    used = {row.get(other) for other in before if fields[other].get("entity") == target}
    nearer = (n for n in fields if rank[target] < rank.get(fields[n].get("entity"), 0) < rank[row.kind.id])
    shared = (near.get(near.kind.ref_to(target)) for near in map(row.parent, nearer) if near)
    found = next((value for value in shared if value and value not in used), "")
    if found:
        return found
    rows = list(row.world.rows[target].values())[: row.place if target == row.kind.id else None]
    if re.search(_AFTER, row.kind.id):
        rows = [other for other in rows if other.stage().name not in ("ahead", "today")]
    cycle, turn = min(len(rows), len(_FANOUT)), _roll(row.world.seed, row.kind.id, name)
    dice = _roll(row.key, name)
    best = ((dice * r.salt % HASH_PRIME * _FANOUT[(r.place + turn) % cycle], r.given["id"]) for r in rows)
    return max((pair for pair in best if pair[1] not in used), default=(0, ""))[1]


# fmt: off
_NUMBER_RULES = {  # the sign of a type in _RANGES, and what its values may follow from
    "number": ("", _derive_number), "money": ("$", _derive_money, _derive_number),
    "percent": ("%", _derive_percent), "duration": ("~",),
}
_MAKERS: Mapping[str, Callable[[_Row, str], Any]] = {
    "text": _make_text, "longtext": _make_words, "number": _make_number, "money": _make_number,
    "percent": _make_number, "duration": _make_number, "date": _make_date, "datetime": _make_date,
    "status": _make_status, "choice": _make_choice, "boolean": _make_boolean, "email": _make_email,
    "person": _make_person, "tags": _make_tags, "ref": _make_ref,
    "rating": lambda row, name: row.pick(name, _RATINGS),
    "phone": lambda row, name: f"({row.pick('area', _AREAS)}) 555-01{row.walk(name, CENTS):02d}",
    "url": lambda row, name: f"https://example.com/{row.kind.words[1]}/{row.given['id']}",
    "address": lambda row, name: f"{row.draw(name, 1, CENTS)} {row.phrase('address')}",
}
# fmt: on


def _is_left_out(row: _Row, field: Mapping[str, Any]) -> bool:
    """Whether a value is empty: nothing has come of the record yet, or it is one of the few without."""
    name, kind = field["id"], field["type"]
    seldom = kind in ("longtext", "url", "phone") and row.draw(f"{name} left out", 1, EMPTY_EVERY) == 1
    waits = name in row.kind.outcomes and row.stage().name != "over"
    return not field.get("required") and (seldom or waits)


def _make_value(row: _Row, name: str) -> Any:
    """A value for a field; unlike all others of the entity where it names the record."""
    field, number, taken = row.kind.fields[name], row.number, row.world.taken[row.kind.id]
    if _is_left_out(row, field):
        return ""
    value = _MAKERS[field["type"]](row, name)
    if name != row.kind.display or field["type"] != "text":
        return value
    while value in taken and row.number < number + NAME_TRIES:
        row.number += 1
        value = _MAKERS[field["type"]](row, name)
    row.number = number
    value = f"{value} ({row.place + 1})" if value in taken else value
    taken.add(value)
    return value


def fill_records(blueprint: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """A valid blueprint with whole records, and how many values were filled in; the argument stays as it is.

    An entity without `records` gets some; what is given stays, an explicit "" too.
    """
    world, entities, filled = _World(blueprint), [], 0
    for name in world.rank:  # names first, parents before children
        for row in world.rows[name].values():
            row.get(row.kind.display)
    for entity in blueprint["entities"]:
        records = []
        for row in world.rows[entity["id"]].values():
            missing = [name for name in row.kind.fields if name not in row.given]
            made = {"id": row.given["id"], **{name: row.get(name) for name in row.kind.fields}}
            records.append({**made, **row.given} if missing else row.given)
            filled += len(missing)
        entities.append({**entity, "records": records})
    return {**blueprint, "entities": entities}, filled


# ======================================================================
# §11 page: style, runtime and markup; blueprint to one self-contained page
# ======================================================================
# Rules: uses §01, §03, §07; pure. CSS, JS, words and drawings are assets: raw text at column 0, with nothing
# filled in. A blueprint reaches the page through one JSON block only, in which no character can end the
# block; the runtime makes elements and text nodes, never markup. PAGE_JS_PARTS holds function declarations
# only: the page joins the parts in one wrapper, and what they share is the wrapper's `app`.

PAGE_HTML = r"""<!doctype html>
<html lang="$lang" dir="$dir" data-palette="$palette" data-mode="$mode">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '$style_hash';
 script-src '$script_hash'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
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
<html lang="en" data-palette="$palette">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '$style_hash';
 base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Protoyard">
<title>$title</title>
<style>$style</style>
</head>
<body>
<header class="shelf-bar"><p class="mark">Prototype · fictional data</p></header>
<main class="shelf">
$body
</main>
</body>
</html>
"""

TOKENS_CSS = r"""
/* What every page shares. A colour is a pair for light and dark; a test checks the contrast of the pairs. */
:root {
  color-scheme: light dark;
  --good: light-dark(#015d2d, #a9e1b7); --good-soft: light-dark(#dff6e4, #1b3422);
  --warn: light-dark(#6c4302, #f4c896); --warn-soft: light-dark(#feecd8, #3d2912);
  --bad: light-dark(#9a2929, #febfb9); --bad-soft: light-dark(#feeae8, #49201d);
  --info: light-dark(#035181, #aad7fe); --info-soft: light-dark(#e3f1fe, #183043);
  --c1: light-dark(#14938d, #4ab9b2); --c2: light-dark(#b17000, #d8953d); --c3: light-dark(#8d6cc2, #b191ea);
  --c4: light-dark(#c95368, #f3798b); --c5: light-dark(#688e3b, #8cb460);
  --font: -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Noto Sans", Ubuntu, Arial, sans-serif;
  --head: var(--font); --weight: 650;
  --xs: .75rem; --s: .8125rem; --m: .9375rem; --l: 1.0625rem; --xl: 1.25rem; --xxl: 1.75rem;
  --bar: 2.5rem; --rule: 1px solid var(--line); --r: 8px; --r-s: 6px; --r-l: 12px; --round: 99px;
  --control: 2.375rem; --row: .5625rem; --pad: 1.25rem; --gap: 1.25rem;
  --lift: 0 8px 28px rgb(0 0 0 / .16), 0 1px 4px rgb(0 0 0 / .1);
}
[data-mode="light"] { color-scheme: light; }
[data-mode="dark"] { color-scheme: dark; }
*, ::before, ::after { box-sizing: border-box; }
html { scroll-padding-block: 5rem 6rem; text-size-adjust: 100%; }
body {
  margin: 0; background: var(--bg); color: var(--ink); font: var(--m)/1.5 var(--font);
  overflow-wrap: anywhere;
}
h1, h2, h3, p, ul, ol, dl, dd, fieldset { margin: 0; padding: 0; }
ul, ol { list-style: none; }
h1, h2, h3 { font: var(--weight) var(--l)/1.25 var(--head); text-wrap: balance; }
a { color: var(--accent-ink); text-underline-offset: .2em; text-decoration-thickness: 1px; }
:focus-visible { outline: 2px solid var(--accent-ink); outline-offset: 2px; }
.mark {
  display: flex; align-items: center; gap: .5rem; min-height: 1.75rem; font-size: var(--xs);
  font-weight: 600;
}
.mark::before {
  content: ""; width: .625rem; height: .625rem; border-radius: 2px; background: #ffc940; rotate: 45deg;
}
.clip { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
"""

# Corners and densities other than the usual ones, families of colours, layouts: a page carries its own only.
THEME_CSS: Mapping[str, str] = {
    "sharp": r"""
:root { --r: 2px; --r-s: 2px; --r-l: 3px; --round: 2px; }
""",
    "round": r"""
:root { --r: 12px; --r-s: 10px; --r-l: 20px; }
""",
    "compact": r"""
:root { --m: .875rem; --l: 1rem; --xxl: 1.5rem; --control: 2rem; --row: .3125rem; --pad: 1rem; --gap: 1rem; }
""",
    "roomy": r"""
:root {
  --s: .875rem; --m: 1rem; --l: 1.125rem; --xxl: 2rem; --control: 2.75rem; --row: .875rem; --pad: 1.5rem;
  --gap: 1.5rem;
}
""",
}

PALETTE_CSS: Mapping[str, str] = {
    "harbour": r"""
[data-palette="harbour"] {
  --bg: light-dark(#f1f6fb, #0d1114); --surface: light-dark(#ffffff, #161a1e);
  --sunken: light-dark(#eaf0f5, #1e2328); --line: light-dark(#dae0e6, #2f353a);
  --edge: light-dark(#798189, #7e878f); --ink: light-dark(#171f27, #e9edf1);
  --muted: light-dark(#545d66, #a6adb4); --accent: light-dark(#025b98, #79b7f1);
  --on-accent: light-dark(#ffffff, #051524); --accent-hover: light-dark(#014a7e, #97cafb);
  --accent-ink: light-dark(#025b98, #93cafe); --accent-soft: light-dark(#e0effe, #193045);
  --nav: light-dark(#0e273d, #040c14); --nav-ink: light-dark(#eef2f7, #eaeff4);
  --nav-muted: light-dark(#afc0d1, #a5b3c1); --nav-on: light-dark(#1f4262, #10283e);
  --nav-mark: light-dark(#93caff, #89c4fb);
}
""",
    "moss": r"""
[data-palette="moss"] {
  --bg: light-dark(#f3f7f2, #0e120e); --surface: light-dark(#ffffff, #171b16);
  --sunken: light-dark(#ecf1eb, #20241f); --line: light-dark(#dce1db, #313630);
  --edge: light-dark(#7b837a, #818980); --ink: light-dark(#192018, #ebeeea);
  --muted: light-dark(#575f55, #a8aea7); --accent: light-dark(#165f38, #87c19b);
  --on-accent: light-dark(#ffffff, #09180e); --accent-hover: light-dark(#014d29, #a2d1b2);
  --accent-ink: light-dark(#165f38, #a0d2b0); --accent-soft: light-dark(#e2f2e6, #1f3326);
  --nav: light-dark(#142b1d, #060d08); --nav-ink: light-dark(#eef3ef, #eaf0ec);
  --nav-muted: light-dark(#afc4b5, #a5b6aa); --nav-on: light-dark(#284833, #162c1e);
  --nav-mark: light-dark(#9dd3af, #97cda9);
}
""",
    "plum": r"""
[data-palette="plum"] {
  --bg: light-dark(#f8f4f9, #120f13); --surface: light-dark(#ffffff, #1c181c);
  --sunken: light-dark(#f2edf3, #252126); --line: light-dark(#e3dde4, #373238);
  --edge: light-dark(#857d86, #8b838c); --ink: light-dark(#221b24, #efebef);
  --muted: light-dark(#615962, #b0aab1); --accent: light-dark(#7a3075, #da96d4);
  --on-accent: light-dark(#ffffff, #1e0d1c); --accent-hover: light-dark(#671e64, #e8aee1);
  --accent-ink: light-dark(#7a3075, #eaace4); --accent-soft: light-dark(#fae5f7, #3c243a);
  --nav: light-dark(#f1e6ef, #0e0b0f); --nav-ink: light-dark(#2b1c29, #f2edf1);
  --nav-muted: light-dark(#604f5e, #b9adb7); --nav-on: light-dark(#fefdfe, #321f30);
  --nav-mark: light-dark(#7a3075, #d898d2);
}
""",
    "ember": r"""
[data-palette="ember"] {
  --bg: light-dark(#fcf4f0, #150f0c); --surface: light-dark(#ffffff, #1f1814);
  --sunken: light-dark(#f6ede9, #29211d); --line: light-dark(#e7ddd8, #3b322d);
  --edge: light-dark(#8b7d76, #91837c); --ink: light-dark(#271b14, #f2ebe8);
  --muted: light-dark(#675951, #b5aaa4); --accent: light-dark(#ae4022, #f69277);
  --on-accent: light-dark(#ffffff, #240b05); --accent-hover: light-dark(#9a2d0a, #ffac96);
  --accent-ink: light-dark(#9a2d0a, #ffac96); --accent-soft: light-dark(#ffe7e0, #462219);
  --nav: light-dark(#3e180e, #150704); --nav-ink: light-dark(#f7f0ee, #f4edeb);
  --nav-muted: light-dark(#d0b7b1, #c0aca6); --nav-on: light-dark(#642e1f, #3f1a10);
  --nav-mark: light-dark(#fead96, #ffa289);
  --weight: 750;
}
""",
    "slate": r"""
[data-palette="slate"] {
  --bg: light-dark(#f4f6f8, #0f1113); --surface: light-dark(#ffffff, #18191c);
  --sunken: light-dark(#edeff2, #212326); --line: light-dark(#dee0e3, #323437);
  --edge: light-dark(#7d8085, #83868b); --ink: light-dark(#1b1e23, #ebedef);
  --muted: light-dark(#595c61, #aaacb0); --accent: light-dark(#262e3d, #d6def0);
  --on-accent: light-dark(#ffffff, #121418); --accent-hover: light-dark(#181f2e, #ecf2fe);
  --accent-ink: light-dark(#262e3d, #d7deee); --accent-soft: light-dark(#eaedf2, #2b2e34);
  --nav: light-dark(#e8e9ed, #0b0c0e); --nav-ink: light-dark(#202225, #eceef4);
  --nav-muted: light-dark(#53555a, #abb1be); --nav-on: light-dark(#fdfdff, #24262b);
  --nav-mark: light-dark(#262e3d, #d6deef);
}
""",
    "sand": r"""
[data-palette="sand"] {
  --bg: light-dark(#f7f0e3, #151006); --surface: light-dark(#fefbf5, #1e190d);
  --sunken: light-dark(#f1eadc, #282215); --line: light-dark(#e0d8c8, #3a3324);
  --edge: light-dark(#8a7f68, #90856e); --ink: light-dark(#271c03, #f1ece2);
  --muted: light-dark(#665b43, #b5ab98); --accent: light-dark(#035a52, #82bfb6);
  --on-accent: light-dark(#ffffff, #071715); --accent-hover: light-dark(#014841, #9ed0c8);
  --accent-ink: light-dark(#035a52, #9bd1c9); --accent-soft: light-dark(#e0f1ee, #1d3330);
  --nav: light-dark(#f1e9d7, #100b03); --nav-ink: light-dark(#172523, #e9f0ef);
  --nav-muted: light-dark(#4a5957, #a4b5b3); --nav-on: light-dark(#f9fafa, #1a2a28);
  --nav-mark: light-dark(#035a52, #85beb6);
  --head: ui-serif, "Iowan Old Style", Georgia, "Noto Serif", serif; --weight: 600;
}
""",
}

LAYOUT_CSS: Mapping[str, str] = {
    "sidebar": r"""
/* Side bar: a desk, everything in reach. */
@media (min-width: 45.01rem) {
  .frame { grid-template-columns: 15.5rem minmax(0, 1fr); }
  .top {
    position: sticky; top: var(--bar); height: calc(100vh - var(--bar)); display: flex;
    flex-direction: column; gap: 1.5rem; padding: 1.5rem .75rem 1rem; overflow: auto;
  }
  .top-row { padding-inline: .5rem; }
  .who { margin-top: auto; padding: .75rem .5rem 0; border-top: 1px solid var(--nav-on); }
}
.top { background: var(--nav); color: var(--nav-ink); }
.nav-item { margin-bottom: 2px; }
/* On a narrow screen the menu of a side bar or a top bar folds away. */
@media (max-width: 45rem) {
  .top { padding: .5rem 1rem; }
  .button.menu-toggle {
    display: inline-flex !important; color: inherit !important; background: none !important;
  }
  html:not(.nav-open) :is(.top nav, .who) { display: none; }
  .top nav { padding-block: .5rem; }
}
""",
    "topbar": r"""
/* Top bar: wide and calm, the work in the middle. */
.frame { grid-template-rows: auto 1fr; }
.top {
  --nav: var(--on-accent); --nav-mark: var(--accent); --nav-on: transparent; --nav-ink: var(--ink);
  --nav-muted: var(--muted); background: var(--surface); border-bottom: var(--rule);
}
h1 { font-size: 2.125rem; letter-spacing: -.02em; }
.screen { max-width: 96rem; }
.screen:is(.screen-board, .screen-timeline) { max-width: none; }
@media (min-width: 45.01rem) {
  .top {
    display: flex; align-items: stretch; flex-wrap: wrap; gap: 0 2rem;
    padding-inline: clamp(1rem, 3vw, 2.5rem); min-height: 3.75rem;
  }
  .top nav { flex: 1; }
  .top ul { display: flex; flex-wrap: wrap; height: 100%; }
  .top li { display: grid; }
  .nav-item { padding-inline: .875rem; border-radius: 0; }
  .nav-item .icon { display: none; }
  .nav-item[aria-current] { box-shadow: inset 0 -3px var(--accent); }
}
/* On a narrow screen the menu of a side bar or a top bar folds away. */
@media (max-width: 45rem) {
  .top { padding: .5rem 1rem; }
  .button.menu-toggle {
    display: inline-flex !important; color: inherit !important; background: none !important;
  }
  html:not(.nav-open) :is(.top nav, .who) { display: none; }
  .top nav { padding-block: .5rem; }
}
""",
    "tabs": r"""
/* Tabs: made for a hand, large things in one column; on wide screens a rail. */
.nav-item {
  flex-direction: column; justify-content: center; gap: .25rem; padding: .4375rem .25rem;
  text-align: center; font-size: var(--xs); line-height: 1.2;
}
.nav-item .icon { width: 1.5rem; height: 1.5rem; }
.nav-count { position: absolute; top: .25rem; inset-inline-end: calc(50% - 1.75rem); }
h1 { font-size: 2.125rem; font-weight: 750; letter-spacing: -.025em; }
.screen { max-width: 64rem; }
.block, .card, .tile, .sheet { border-color: transparent; box-shadow: 0 1px 3px rgb(0 0 0 / .12); }
@media (min-width: 45.01rem) {
  .frame { grid-template-columns: 6.25rem minmax(0, 1fr); }
  .top {
    position: sticky; top: var(--bar); height: calc(100vh - var(--bar)); display: flex;
    flex-direction: column; align-items: center; gap: 1.5rem; padding: 1rem .5rem; background: var(--nav);
    color: var(--nav-ink); overflow: auto;
  }
  .top ul { display: grid; gap: .375rem; width: 5.25rem; }
  .brand > :last-child, .who > :last-child { position: absolute; clip-path: inset(50%); }
  .brand-mark { width: 2.75rem; height: 2.75rem; }
  .who { margin-top: auto; }
}
@media (max-width: 45rem) {
  .top {
    --nav: var(--on-accent); --nav-mark: var(--accent); --nav-on: var(--accent-soft);
    --nav-ink: var(--accent-ink); --nav-muted: var(--muted); display: flex; align-items: center;
    justify-content: space-between; padding: .25rem 1rem;
  }
  .top nav {
    position: fixed; z-index: 25; bottom: 0; inset-inline: 0; padding: .25rem; background: var(--surface);
    border-top: var(--rule);
  }
  .top ul { display: flex; }
  .top li { flex: 1; min-width: 0; }
  .nav-item { font-size: .6875rem; }
  .nav-item > span:not(.nav-count) {
    max-width: 100%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
  }
  .who > :last-child { display: none; }
  .create {
    position: fixed; z-index: 24; bottom: 5rem; inset-inline-end: 1rem; min-height: 3.25rem;
    border-radius: 99px; box-shadow: var(--lift);
  }
  .toasts { bottom: 5rem; }
}
""",
}

PAGE_CSS = r"""
/* Review bar: the reviewer's tool, set apart from the product. */
.review {
  position: sticky; top: 0; z-index: 30; background: #16181c; color: #f2f3f5; font-size: var(--xs);
  color-scheme: dark;
}
.review-row, .flow {
  display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1.5rem; padding: .3125rem 1rem;
  min-height: 2.5rem;
}
.review-controls { display: flex; flex-wrap: wrap; gap: .5rem 1rem; }
.mark, .flow > p { margin-inline-end: auto; }
.review .select-box > span { color: #b4b9c2; }
.review select, .review .button {
  min-height: 1.75rem; padding-block: 0; font-size: var(--xs); color: inherit; background-color: #2a2d33;
  border: 1px solid #7b828e; border-radius: 5px;
}
.review select { max-width: 11rem; }
.review .strong, .flow [aria-current] {
  background: #ffc940 !important; color: #16181c !important; font-weight: 700;
}
.button:is(.review-toggle, .menu-toggle) { display: none; }
.flow { background: #22252b; }
.flow[hidden] { display: none; }
:root:has(.flow:not([hidden])) { --bar: 5.125rem; }
.flow b { color: #ffc940; }
.flow ol { display: flex; flex-wrap: wrap; gap: .5rem; }
.flow ol a {
  display: grid; place-items: center; width: 1.625rem; height: 1.625rem; border-radius: 50%;
  border: 1px solid #8b919c; color: inherit; text-decoration: none;
}
.skip {
  position: fixed; top: -5rem; inset-inline-start: .75rem; z-index: 60; padding: .5rem 1rem;
  background: var(--surface);
}
.skip:focus { top: .75rem; }
.sr-only {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap;
}

/* Tones: what is good, bad, waiting, under way or neither. */
.plain, .hue-5 { --tone: var(--muted); --soft: var(--sunken); }
.good, .hue-2 { --tone: var(--good); --soft: var(--good-soft); }
.warn, .near, .hue-3 { --tone: var(--warn); --soft: var(--warn-soft); }
.bad, .late, .hue-4 { --tone: var(--bad); --soft: var(--bad-soft); }
.info, .hue-1 { --tone: var(--info); --soft: var(--info-soft); }
.hue-0 { --tone: var(--accent-ink); --soft: var(--accent-soft); }
.badge, .avatar, .glyph, .event, .state-art { background: var(--soft); color: var(--tone); }
.late, .near, .near .due-note { color: var(--tone); }
.quiet, .sub, .hint, .note, .head .back, dt, .when, .toolbar .icon, .state p { color: var(--muted); }
.sub, .hint, .due-note, .facts dt, .fact-grid dt, .figures dt { font-size: var(--xs); }

/* Controls. */
.icon {
  width: 1.25em; height: 1.25em; flex: none; fill: none; stroke: currentColor; stroke-width: 1.7;
  stroke-linecap: round; stroke-linejoin: round;
}
[dir="rtl"] .flip { scale: -1 1; }
.button, .menu-item, .nav-item {
  display: inline-flex; align-items: center; gap: .4375rem; border: 1px solid var(--edge);
  border-radius: var(--r); background: var(--surface); color: var(--ink);
  font: 550 var(--s)/1.3 var(--font); text-decoration: none; cursor: pointer;
}
.button { justify-content: center; min-height: var(--control); padding: .25rem .8125rem; }
.button:hover { background: var(--sunken); }
.button:disabled { opacity: .5; cursor: default; }
.button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.button.primary:hover { background: var(--accent-hover); }
.button.quiet {
  border-color: transparent; background: none; color: var(--accent-ink); min-height: 2rem;
  padding-inline: .5rem;
}
.button.quiet:hover { background: var(--accent-soft); }
.button.alone { padding: 0; width: var(--control); flex: none; }
.button.quiet.alone { width: 2rem; color: var(--muted); }
.button.tiny { min-height: 1.5rem; padding: 0 .25rem; font-size: var(--xs); }
input:not([type="checkbox"], [type="radio"]), select, textarea {
  width: 100%; min-height: var(--control); padding: .3125rem .6875rem; border: 1px solid var(--edge);
  border-radius: var(--r); background: var(--surface); color: var(--ink); font: inherit;
}
select {
  appearance: none; padding-inline-end: 1.75rem !important; background: no-repeat 0 0 / .3rem .3rem;
  background-color: var(--surface); text-overflow: ellipsis;
  background-image: linear-gradient(45deg, #0000 50%, currentColor 50%), linear-gradient(-45deg, #0000
    50%, currentColor 50%);
  background-position: right .95rem center, right .65rem center;
}
[dir="rtl"] select { background-position: left .65rem center, left .95rem center; }
option { background: var(--surface); color: var(--ink); }
::placeholder { color: var(--muted); opacity: 1; }
[type="checkbox"], [type="radio"] {
  width: 1.125rem; height: 1.125rem; margin: 0; flex: none; accent-color: var(--accent);
}
fieldset { border: 0; min-width: 0; }
summary { cursor: pointer; }
.choice { display: flex; align-items: center; gap: .5rem; min-height: 2rem; cursor: pointer; }
.select-box { display: inline-flex; align-items: center; gap: .5rem; font-size: var(--s); }
.select-box > span { color: var(--muted); white-space: nowrap; }
.select-box select { width: auto; max-width: 14rem; }
.segmented {
  display: inline-flex; flex-wrap: wrap; border: 1px solid var(--edge); border-radius: var(--r);
  background: var(--surface); padding: 2px;
}
.segmented label { position: relative; display: grid; }
.segmented input { position: absolute; inset: 0; width: 100%; height: 100%; opacity: 0; cursor: pointer; }
.segmented span {
  display: grid; place-items: center; padding: 0 .75rem; min-height: calc(var(--control) - 6px);
  border-radius: calc(var(--r) - 3px); font-size: var(--s);
}
.segmented :checked + span { background: var(--accent-soft); color: var(--accent-ink); font-weight: 600; }
.segmented :focus-visible + span { outline: 2px solid var(--accent-ink); }
.menu, .filter-box, .toast {
  background: var(--surface); border: var(--rule); border-radius: var(--r); box-shadow: var(--lift);
}
.menu {
  position: fixed; z-index: 50; min-width: 12rem; max-width: 20rem; max-height: 70vh; overflow: auto;
  padding: .3125rem;
}
.menu-item {
  width: 100%; min-height: 2.25rem; padding: .25rem .625rem; border: 0; background: none;
  text-align: start;
}
.menu-item:hover, .menu-item:focus-visible { background: var(--accent-soft); }

/* Frame: the bar of the product and the screen. */
.frame { display: grid; min-height: calc(100vh - var(--bar)); }
main { min-width: 0; }
.screen { max-width: 82rem; margin-inline: auto; padding: 2rem clamp(1rem, 3vw, 2.5rem) 3rem; }
.with-side { display: grid; grid-template-columns: minmax(0, 1fr) minmax(20rem, 27rem); }
.with-side .screen { width: 100%; }
.top-row, .brand, .who { display: flex; align-items: center; gap: .625rem; min-width: 0; }
.brand { color: inherit; text-decoration: none; font: var(--weight) var(--l)/1.25 var(--head); }
.brand-mark {
  display: grid; place-items: center; flex: none; width: 2rem; height: 2rem; border-radius: var(--r-s);
  background: var(--nav-mark); color: var(--nav); font: 700 1rem var(--font);
}
.nav-item {
  position: relative; width: 100%; min-height: 2.25rem; padding: .375rem .625rem; border: 0;
  background: none; color: var(--nav-muted); gap: .625rem;
}
.nav-item:hover { color: var(--nav-ink); }
.nav-item[aria-current], .nav-item.on { color: var(--nav-ink); background: var(--nav-on); font-weight: 600; }
.nav-item[aria-current] .icon { color: var(--nav-mark); }
.nav-count {
  margin-inline-start: auto; padding-inline: .4375rem; border-radius: var(--round);
  background: var(--nav-mark); color: var(--nav); font: 650 var(--xs)/1.25rem var(--font);
}
.who { font-size: var(--s); line-height: 1.3; }
.who .sub { display: block; color: inherit; opacity: .85; }
h1 { font-size: var(--xxl); letter-spacing: -.015em; }
:is(h1, h2):focus { outline: none; }
.head { margin-bottom: 1.5rem; }
.head-row, .toolbar, .actions, .extras, .period {
  display: flex; flex-wrap: wrap; align-items: center; gap: .5rem;
}
.head-row { gap: .75rem 1rem; }
.head-text { flex: 1 1 9rem; min-width: 0; }
.note { margin-top: .1875rem; }
.back {
  display: inline-flex; align-items: center; gap: .25rem; min-height: 1.75rem; margin-bottom: .375rem;
  font-size: var(--s); text-decoration: none;
}
.toolbar { margin-bottom: 1rem; }
.search { position: relative; flex: 1 1 14rem; max-width: 22rem; }
.search .icon { position: absolute; inset-inline-start: .6875rem; top: calc(50% - .6em); }
.search input { padding-inline-start: 2.25rem !important; }
.extras { gap: .5rem .75rem; margin-inline-start: auto; }
.filter { position: relative; }
.filter summary { list-style: none; }
.filter.on summary { background: var(--accent-soft); border-color: var(--accent); color: var(--accent-ink); }
.filter .filter-box {
  position: absolute; z-index: 20; top: calc(100% + 4px); inset-inline-start: 0; min-width: 12rem;
  max-height: 20rem; padding: .5rem .75rem;
}
.to-end .filter-box { inset-inline: auto 0; }
.count {
  white-space: nowrap; padding-inline: .4375rem; border-radius: var(--round); background: var(--sunken);
  color: var(--muted); font: 600 var(--xs)/1.375rem var(--font);
}
.count:empty { display: none; }
.filter .count { background: var(--accent); color: var(--on-accent); }

/* Values. */
.badge {
  display: inline-flex; align-items: center; gap: .375rem; padding-inline: .5625rem;
  border-radius: var(--round); font: 600 var(--xs)/1.5rem var(--font);
}
.badge:not(.flat)::before {
  content: ""; width: .4375rem; height: .4375rem; border-radius: 50%; background: currentColor;
}
.avatar, .glyph {
  display: inline-grid; place-items: center; flex: none; width: 1.75rem; height: 1.75rem;
  border-radius: 50%; font: 650 .6875rem var(--font);
}
.glyph { width: 2.25rem; height: 2.25rem; border-radius: var(--r-s); font-size: 1rem; }
.large { width: 3.25rem; height: 3.25rem; font-size: 1.375rem; }
.person, .yesno, .meter, .due, .watched, .tags, .stars {
  display: inline-flex; align-items: center; gap: .125rem .5rem;
}
.due, .watched, .tags { flex-wrap: wrap; }
.stars { gap: 0; color: var(--warn); }
.stars .icon { width: 1rem; }
.full.icon { fill: currentColor; }
.yesno.yes { color: var(--good); }
.track {
  flex: 1; min-width: 3rem; height: .375rem; border-radius: var(--r-s); background: var(--line);
  overflow: hidden;
}
.fill { display: block; height: 100%; background: var(--accent); border-radius: inherit; }
.tag { padding-inline: .5rem; border: var(--rule); border-radius: var(--r-s); font-size: var(--xs); }
.badge, .due-note, .event b, .number, time { white-space: nowrap; }
.number, time, .figures { font-variant-numeric: tabular-nums; }
.due-note { font-weight: 600; }
.title { color: var(--ink); text-decoration: none; font-weight: 600; }
a.title:hover, .more:hover, .back:hover { color: var(--accent-ink); text-decoration: underline; }

/* Blocks, rows, tables, cards. */
.block, .sheet, .card, .tile, .form-body {
  background: var(--surface); border: var(--rule); border-radius: var(--r-l); min-width: 0;
}
.sheet { overflow: clip; }
.block, .card, .tile { padding: var(--pad); }
.block-head, .card-head, .card-foot, .quick-bar { display: flex; align-items: center; gap: .5rem; }
.block-head { margin-bottom: .5rem; min-height: 2rem; }
.block-head > :is(.more, .button), .column .count { margin-inline-start: auto; }
.more { font-size: var(--s); font-weight: 550; text-decoration: none; padding-block: .25rem; }
.row {
  display: flex; flex-wrap: wrap; align-items: center; gap: .375rem .75rem; padding-block: var(--row);
  font-size: var(--s);
}
.sheet > .row { padding-inline: var(--pad); }
.row + .row, .row-card + .row-card, li + li > .inbox-row { border-top: var(--rule); }
.row-text { flex: 1 1 11rem; min-width: 0; }
.row > .button { margin-inline-start: auto; }
.row-facts { display: flex; flex-wrap: wrap; align-items: center; gap: .375rem .75rem; }
.when { flex: 0 0 5rem; }
.wide, .board, .inbox > ul, .filter-box { overflow: auto; position: relative; }
.table { width: 100%; overflow-wrap: break-word; border-collapse: collapse; font-size: var(--s); }
.table :is(th, td) {
  padding: var(--row) .75rem; text-align: start; border-bottom: var(--rule); font-weight: inherit;
}
.table :is(th, td):first-child { padding-inline-start: var(--pad); }
.table thead > tr > * {
  padding-block: .3125rem; background: var(--sunken); color: var(--muted); font-weight: 600;
  white-space: nowrap;
}
.table tbody tr:last-child > * { border-bottom: 0; }
.table tbody th { min-width: 11rem; }
.table .number { text-align: end; }
.table td.end { min-width: 0; width: 3rem; padding-block: 0; }
.table tfoot > tr > * { font-weight: 650; border-top: 2px solid var(--line); border-bottom: 0; }
.table.plain tr > :first-child { padding-inline-start: 0; }
.plain.table thead > tr > * { background: none; }
.can-open { cursor: pointer; }
.can-open:hover, .current { background: var(--accent-soft); }
.sort {
  display: inline-flex; align-items: center; gap: .25rem; min-height: 1.75rem; padding: 0; border: 0;
  background: none; color: inherit; font: inherit; cursor: pointer;
}
.sort .icon { width: .9375rem; opacity: .6; }
[aria-sort] { color: var(--ink) !important; }
[aria-sort] .icon { opacity: 1; color: var(--accent-ink); }
.pager {
  display: flex; flex-wrap: wrap; align-items: center; gap: .5rem; padding: .75rem var(--pad);
  font-size: var(--s);
}
.pager > span { margin-inline-end: auto; }
.pager .button:last-child { flex-direction: row-reverse; }
[dir="rtl"] .pager .icon { scale: -1 1; }
.cards {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 19rem), 1fr)); gap: var(--gap);
}
.card, .row-card, .ticket, .quick { display: flex; flex-direction: column; gap: .75rem; }
.card:hover, .ticket:hover, a.tile:hover { border-color: var(--edge); }
.row-card { padding: 1rem; }
.card-head > :is(h2, h3) { flex: 1; min-width: 0; }
.card-foot { justify-content: space-between; flex-wrap: wrap; margin-top: auto; }
.card .card-foot { padding-top: .75rem; border-top: var(--rule); }
.facts, .fact-grid {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 8rem), 1fr)); gap: .5rem 1rem;
  font-size: var(--s);
}
.fact-grid {
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 9rem), 1fr)); gap: 1rem 1.5rem;
  font-size: inherit;
}

/* States. */
.state {
  display: grid; justify-items: center; gap: .75rem; padding: 3rem 1rem; text-align: center;
  border: 1px dashed var(--edge); border-radius: var(--r-l);
}
.state p { max-width: 44ch; }
.state-art {
  --soft: var(--accent-soft); --tone: var(--accent-ink); display: grid; place-items: center; width: 4.5rem;
  height: 4.5rem; border-radius: 50%; font-size: 1.75rem;
}
.bad > .state-art { --soft: var(--bad-soft); --tone: var(--bad); }
.bones { display: grid; gap: .75rem; }
.bone {
  display: grid; gap: .625rem; padding: var(--pad); background: var(--surface); border-radius: var(--r-l);
}
.bone span { height: .75rem; border-radius: 4px; background: var(--line); width: 70%; }
.bone span:last-child { width: 35%; }
.bones:is(.cards, .board, .dashboard) {
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 15rem), 1fr));
}
.toasts {
  position: fixed; z-index: 40; bottom: 1.5rem; inset-inline: 1rem; display: grid; justify-items: center;
  pointer-events: none;
}
.toast {
  display: flex; align-items: center; gap: .75rem; padding: .3125rem .5rem; padding-inline-start: 1rem;
  max-width: 40rem; background: #1b1d22; color: #f4f5f7; pointer-events: auto; font-size: var(--s);
}
.toast .button { color: #ffc940; background: none; border-color: transparent; min-height: 2rem; }
:is(.review, .toast) .button:hover { background: #3f434c; }
:is(.review, .toast) :focus-visible { outline-color: #ffc940; }

/* Dashboard, charts, reports. */
.tiles {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 12rem), 1fr)); gap: var(--gap);
  margin-bottom: var(--gap);
}
.tile {
  display: grid; gap: .25rem; height: 100%; color: inherit; text-decoration: none; font-size: var(--s);
}
.tile > b { font: var(--weight) 2rem/1.25 var(--head); letter-spacing: -.02em; }
.tile .sub { display: flex; gap: .375rem; align-items: center; }
.tile.bad > b { color: var(--bad); }
.panels, .detail { display: flex; flex-wrap: wrap; gap: var(--gap); }
.panels > *, .detail > * { flex: 7 1 min(30rem, 100%); min-width: 0; }
.panels > :is(.donut, .bars), .detail > * + * { flex: 5 1 min(18rem, 100%); }
.detail > :empty { display: none; }
.detail > div, .report { display: grid; gap: var(--gap); align-content: start; }
.clear { display: flex; gap: .5rem; align-items: center; color: var(--good); }
div.bars { display: grid; gap: .5625rem; font-size: var(--s); }
.bar-row {
  display: grid; grid-template-columns: minmax(4rem, 9rem) 1fr minmax(2.5rem, auto); gap: .75rem;
  align-items: center;
}
.bar-row > :last-child { text-align: end; }
.bar-row .track { height: 1.125rem; background: var(--sunken); }
.fill:is(.good, .bad), .span-bar, .pip { background: var(--tone); }
.fill.warn, .span-bar.warn { background: var(--c2); }
.fill.plain, .span-bar.plain { background: var(--edge); }
.twin { margin-top: .75rem; font-size: var(--s); color: var(--muted); }
div.donut { display: flex; flex-wrap: wrap; align-items: center; gap: 1.5rem; }
.ring-box { position: relative; flex: 0 0 9.5rem; margin-inline: auto; }
.ring { fill: none; stroke-width: 4.5; stroke: var(--c); }
.s0 {
  --c: var(--accent); } .s1 { --c: var(--c1); } .s2 { --c: var(--c2); } .s3 { --c: var(--c3);
  } .s4 { --c: var(--c4); } .s5 { --c: var(--c5);
}
.ring-box p {
  position: absolute; inset: 0; display: grid; place-content: center; text-align: center;
  font-size: var(--xs);
}
.ring-box b { font-size: 1.375rem; line-height: 1.2; }
.legend { flex: 1 1 11rem; font-size: var(--s); }
.legend li {
  display: grid; grid-template-columns: auto 1fr auto 2.5rem; gap: .5rem; align-items: center;
  text-align: end; padding-block: .1875rem;
}
.legend li > :nth-child(2) { text-align: start; }
.swatch { width: .75rem; height: .75rem; border-radius: 3px; background: var(--c); }
div.trend {
  display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .25rem .5rem; font-size: var(--xs);
  color: var(--muted);
}
.trend > svg { width: 100%; height: 11.25rem; }
.line-y, .line-x { display: flex; justify-content: space-between; }
.line-y { flex-direction: column; text-align: end; }
.line-x { grid-column: 2; }
[dir="rtl"] .trend > svg { scale: -1 1; }
.grid, .stroke { fill: none; stroke: var(--line); vector-effect: non-scaling-stroke; }
.stroke { stroke: var(--accent); stroke-width: 2.5; }
.area { fill: var(--accent); opacity: .12; }
.figures { display: flex; flex-wrap: wrap; gap: 1rem 3rem; }
.figures dd { font: var(--weight) var(--xl)/1.3 var(--head); }

/* Board. */
.board {
  display: grid; grid-template-columns: repeat(var(--columns), minmax(11rem, 1fr)); gap: .75rem;
  padding-bottom: .75rem; align-items: start;
}
.column {
  background: var(--sunken); border: 2px solid transparent; border-radius: var(--r-l); padding: .75rem;
  min-height: 12rem; min-width: 0;
}
.over { border-color: var(--accent) !important; background: var(--accent-soft) !important; }
.column > h2 {
  display: flex; align-items: center; gap: .5rem; font: 600 var(--s)/1.4 var(--font);
  padding: .125rem .25rem .75rem;
}
.column .count { background: var(--surface); }
.pip { width: .5625rem; height: .5625rem; border-radius: 50%; }
.stack { display: grid; gap: .5rem; }
.ticket {
  gap: .5rem; padding: .625rem .75rem; background: var(--surface); border: var(--rule);
  border-radius: var(--r); font-size: var(--s);
}
.ticket[draggable] { cursor: grab; }
.ticket .card-head { align-items: start; }
.ticket .button { width: 1.625rem; min-height: 1.625rem; }
.ticket h3 { font: 600 var(--s)/1.35 var(--font); }
.ticket .sub { display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: center; }
.ticket .card-foot { flex-wrap: nowrap; font-size: var(--xs); }

/* Calendar and timeline. */
.period { justify-content: space-between; margin-bottom: .75rem; }
.month { width: 100%; table-layout: fixed; border-collapse: separate; border-spacing: 0; }
.month th {
  padding: .5rem; font: 600 var(--xs) var(--font); color: var(--muted); text-align: start;
  background: var(--sunken);
}
.day {
  padding: .25rem; vertical-align: top; border: 2px solid transparent;
  box-shadow: inset 0 1px var(--line), inset 1px 0 var(--line);
}
.month .day { height: 7.25rem; }
.outside { background: var(--bg); color: var(--muted); }
.day-head {
  display: flex; align-items: center; justify-content: space-between; min-height: 1.75rem;
  font: 500 var(--xs) var(--font);
}
.day-number {
  display: inline-grid; place-items: center; min-width: 1.625rem; height: 1.625rem; border-radius: 50%;
  font-weight: 600;
}
.is-today .day-number { background: var(--accent); color: var(--on-accent); }
.day-new {
  display: grid; place-items: center; width: 1.5rem; height: 1.5rem; color: var(--muted); opacity: 0;
}
.day:hover .day-new, .day-new:focus { opacity: 1; }
.event {
  display: flex; gap: .375rem; min-height: 1.5rem; margin-bottom: 2px; padding: .125rem .375rem;
  border-radius: 4px; font-size: var(--xs); line-height: 1.25rem; border-inline-start: 3px solid;
  text-decoration: none;
}
.event .clip { color: var(--ink); }
a.event:hover .clip { text-decoration: underline; }
.tall .day { height: 26rem; padding: .375rem; }
.tall .event { flex-direction: column; gap: 0; padding: .375rem .5rem; margin-bottom: .5rem; }
.tall .event > * { white-space: normal; }
.groups { display: grid; gap: 1.5rem; margin-bottom: 1rem; }
.groups h2 { display: flex; gap: .75rem; align-items: center; margin-bottom: .5rem; font-size: var(--m); }
.span-row { display: grid; grid-template-columns: 15rem 1fr; align-items: center; }
.span-row > :first-child { padding-inline: 1rem; font-size: var(--s); }
.span-row + .span-row { border-top: var(--rule); }
.span-top { background: var(--sunken); color: var(--muted); font-weight: 600; }
.span-track {
  position: relative; height: 2.25rem; overflow: hidden;
  background: linear-gradient(90deg, var(--line) 1px, #0000 1px) 0 0 / calc(100% / var(--weeks)) 100%;
}
.span-track > * { position: absolute; }
.span-top .span-track > span { top: .5625rem; padding-inline-start: .375rem; font-size: var(--xs); }
.span-bar { top: .5rem; bottom: .5rem; border-radius: var(--r-s); }
.span-bar.info { background: var(--accent); }
.span-today { top: 0; bottom: 0; width: 2px; background: var(--bad); z-index: 1; }

/* Inbox, one record, panel and dialog. */
.inbox { display: grid; grid-template-columns: minmax(16rem, 23rem) minmax(0, 1fr); min-height: 32rem; }
.inbox > ul { border-inline-end: var(--rule); max-height: calc(100vh - 14rem); min-height: 100%; }
.screen-report .extras { margin-inline: 0; }
.inbox > .state { border: 0; align-content: center; font-size: 2rem; }
.inbox > .state p { font-size: var(--m); }
.inbox-row {
  display: grid; gap: .125rem; justify-items: start; padding: .75rem 1rem; color: var(--ink);
  text-decoration: none; font-size: var(--s); outline-offset: -3px;
}
.inbox-row:hover { background: var(--sunken); }
.inbox-row[aria-current] { background: var(--accent-soft); }
.inbox-row strong { font-weight: 500; }
.unread strong, .unread .inbox-top { font-weight: 700; color: var(--ink); }
.inbox-top { display: flex; justify-content: space-between; gap: .75rem; width: 100%; font-size: var(--xs); }
.inbox-row .clip { max-width: 100%; color: var(--muted); }
.dot {
  display: inline-block; width: .5rem; height: .5rem; margin-inline-end: .4375rem; border-radius: 50%;
  background: var(--accent);
}
.inbox .back { display: none; }
.prose { max-width: 68ch; white-space: pre-line; }
.steps { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; font-size: var(--s); color: var(--muted); }
.steps li { display: flex; align-items: center; gap: .5rem; }
.step-mark {
  display: grid; place-items: center; width: 1.625rem; height: 1.625rem; border-radius: 50%;
  border: 1px solid var(--edge); font: 650 var(--xs) var(--font);
}
.past .step-mark { background: var(--accent-soft); border-color: var(--accent); color: var(--accent-ink); }
.steps [aria-current] { color: var(--ink); font-weight: 650; }
.steps [aria-current] .step-mark {
  background: var(--accent); border-color: var(--accent); color: var(--on-accent);
}
.log { display: grid; gap: .5rem; font-size: var(--s); }
.side {
  position: sticky; top: var(--bar); height: calc(100vh - var(--bar)); overflow: auto;
  background: var(--surface); border-inline-start: var(--rule);
}
.quick { padding: 1rem 1.5rem 2rem; gap: 1rem; }
.quick-bar > :nth-child(2) { margin-inline-start: auto; }
.quick h2, .state h2, .period h2 { font-size: var(--xl); }
.quick .block { padding: 1rem 0 0; border: 0; box-shadow: none; border-top: var(--rule); border-radius: 0; }
.quick .block h2 { font-size: var(--m); }
dialog {
  width: min(46rem, 100vw - 2rem); max-height: calc(100vh - 4rem); padding: 0; border: var(--rule);
  border-radius: var(--r-l); background: var(--surface); color: var(--ink); box-shadow: var(--lift);
}
dialog::backdrop { background: rgb(10 12 16 / .5); }
dialog .form-body { border: 0; padding: 0; }

/* Forms and settings. */
.form, .settings { display: grid; gap: 1rem; max-width: 46rem; }
.form-body {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr));
  gap: 1.25rem 1.5rem; padding: 1.5rem;
}
.form-body > :is(h2, .full, dl) { grid-column: 1 / -1; }
.field { display: grid; gap: .3125rem; align-content: start; min-width: 0; }
.field > label:not(.choice), legend, .setting label { font-weight: 600; font-size: var(--s); padding: 0; }
.required { color: var(--bad); }
.field-error {
  display: flex; gap: .375rem; align-items: center; color: var(--bad); font-size: var(--s);
  font-weight: 550;
}
.wrong :is(input, select, textarea) { border-color: var(--bad) !important; }
.with-unit { position: relative; }
.with-unit input { padding-inline-end: 4.5rem; }
.unit {
  position: absolute; inset-inline-end: .75rem; top: 0; bottom: 0; display: grid; align-items: center;
  color: var(--muted); font-size: var(--s); pointer-events: none;
}
.radios { display: flex; flex-wrap: wrap; gap: .5rem; margin-top: .3125rem; }
.pill {
  padding-inline: .75rem; border: 1px solid var(--edge); border-radius: var(--round);
  min-height: var(--control);
}
.pill:has(:checked) { background: var(--accent-soft); border-color: var(--accent); }
.error-summary {
  padding: 1rem 1.25rem; border: 2px solid var(--bad); border-radius: var(--r);
  background: var(--bad-soft);
}
.error-summary :is(h2, a) {
  display: flex; gap: .5rem; align-items: center; min-height: 1.75rem; color: var(--bad);
}
.review-list > div {
  display: grid; grid-template-columns: 11rem 1fr auto; gap: 0 1rem; align-items: center;
  padding-block: .375rem; border-bottom: var(--rule);
}
.setting {
  display: grid; grid-template-columns: 1fr minmax(auto, 14rem); gap: .75rem 1.5rem; align-items: center;
}
.setting .hint { display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: center; }
[role="switch"] {
  appearance: none; width: 2.75rem; height: 1.625rem; border-radius: 99px; background: var(--edge);
  display: grid; padding: .1875rem; cursor: pointer;
}
[role="switch"]::after { content: ""; width: 1.25rem; border-radius: 50%; background: var(--surface); }
[role="switch"]:checked { background: var(--accent); justify-items: end; }

/* Narrow screens. */
@media (max-width: 64rem) {
  .button.review-toggle { display: inline-flex !important; }
  .review:not(.open) .review-controls { display: none; }
}
@media (max-width: 45rem) {
  .screen { padding-block: 1rem 6rem; }
  h1 { font-size: 1.625rem; }
  .head { margin-bottom: 1rem; }
  .search { max-width: none; flex-basis: 100%; }
  .frame { grid-template: auto 1fr / minmax(0, 1fr) !important; }
  .top-row { justify-content: space-between; min-height: 2.75rem; }
  .board { grid-template-columns: minmax(0, 1fr); }
  .column { min-height: 0; }
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: .75rem; }
  .tile { padding: .75rem 1rem; }
  .inbox { grid-template-columns: minmax(0, 1fr); min-height: 0; }
  .inbox > ul { max-height: none; border: 0; }
  .inbox > .state, .reading > ul { display: none; }
  .inbox .back { display: inline-flex; }
  .steps li:not([aria-current]) > span:last-child { display: none; }
  .review-list > div { grid-template-columns: 1fr auto; }
  .review-list dt { grid-column: 1 / -1; }
  .setting { grid-template-columns: minmax(0, 1fr); }
  dialog {
    width: 100vw; max-width: none; height: 100vh; max-height: none; margin: 0; border: 0; border-radius: 0;
  }
}
@media (prefers-reduced-motion: no-preference) {
  .bone span { animation: pulse 1.6s ease-in-out infinite alternate; }
  @keyframes pulse { from { opacity: .5; } }
}
@media (forced-colors: active) {
  .badge, .event, .nav-item[aria-current], .segmented :checked + span, .pill:has(:checked) {
    border: 1px solid;
  }
  .fill, .span-bar, .dot, .pip, .swatch, .ring, .stroke, [role="switch"] { forced-color-adjust: none; }
}
@media print {
  :root { color-scheme: light !important; }
  .review { position: static; background: none; color: #000; }
  .review-controls, .review-toggle, .flow, .top, .toolbar, .actions, .toasts, .skip, .back, .pager, .button,
  td.end {
    display: none !important;
  }
  .frame, .detail, .with-side { display: block; }
  .mark { position: fixed; top: 0; inset-inline-end: 0; }
  .block, .card, tr { break-inside: avoid; margin-bottom: .75rem; }
}
"""

SHELF_CSS = r"""
/* The pages around prototypes: variants side by side, and the gallery. */
.shelf-bar {
  position: sticky; top: 0; z-index: 3; padding: .5rem clamp(1rem, 4vw, 3rem); background: #16181c;
  color: #f2f3f5; font-size: var(--xs);
}
.shelf { max-width: 90rem; margin-inline: auto; padding: 3rem clamp(1rem, 4vw, 3rem); }
.eyebrow { color: var(--accent-ink); font-size: var(--s); font-weight: 650; }
h1 { font-size: clamp(1.75rem, 4vw, 2.75rem); letter-spacing: -.02em; margin-block: .25rem .75rem; }
.brief { max-width: 70ch; color: var(--muted); font-size: var(--l); }
.answers {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr)); gap: 2rem;
  margin-top: 3rem;
}
.answers > li { display: grid; grid-template-columns: minmax(0, 1fr); }
.answer {
  display: flex; flex-direction: column; gap: 1rem; padding: 1.25rem; background: var(--surface);
  border: var(--rule); border-radius: 14px; position: relative;
}
.answer:hover { border-color: var(--accent); box-shadow: var(--lift); }
.answer h2 { font-size: 1.25rem; line-height: 1.3; }
.answer h2 a { color: var(--ink); text-decoration: none; }
.answer h2 a::after { content: ""; position: absolute; inset: 0; border-radius: 14px; }
.answer:hover h2 a { text-decoration: underline; text-decoration-color: var(--accent); }
.answer h2 a:focus-visible { outline: none; }
.answer h2 a:focus-visible::after { outline: 2px solid var(--accent-ink); outline-offset: 2px; }
.letter { color: var(--accent-ink); font-size: var(--s); font-weight: 650; }
.why, .cost { color: var(--muted); font-size: var(--s); }
.cost b { color: var(--ink); font-weight: 600; }
.axes {
  display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: .75rem 1rem; margin-top: auto;
  padding-top: 1rem; border-top: var(--rule); font-size: var(--s);
}
.axes dt { color: var(--muted); font-size: var(--xs); }
.axes dd { font-weight: 550; }
.letters { display: flex; gap: .5rem; margin-top: auto; position: relative; z-index: 1; }
.letters a {
  display: grid; place-items: center; min-width: 2rem; min-height: 2rem; border: 1px solid var(--edge);
  border-radius: 8px; text-decoration: none; font-weight: 600; font-size: var(--s);
}
.letters a:hover { background: var(--accent-soft); }
.lines { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; }
.home { display: inline-block; padding-block: .25rem; font-size: var(--s); }
/* A sketch of a variant's first screen: b is the menu, each i a piece of content. */
.sketch {
  display: grid; grid-template: 1fr / 22% 1fr; height: 11rem; border-radius: 8px; overflow: hidden;
  background: var(--bg); border: var(--rule);
}
.sketch b { background: var(--nav); }
.sketch[data-layout="topbar"] { grid-template: 18% 1fr / 1fr; }
.sketch[data-layout="topbar"] b { background: var(--surface); border-bottom: 3px solid var(--accent); }
.sketch[data-layout="tabs"] { grid-template: 1fr / 12% 1fr; }
.sketch span { display: grid; gap: 6px; padding: 14px; grid-template: repeat(6, 1fr) / 1fr; }
.sketch i { background: var(--surface); border: var(--rule); border-radius: 3px; }
.sketch i:first-child { background: var(--accent); border-color: var(--accent); width: 40%; }
.sketch[data-main="board"] span {
  grid-template: 12% repeat(2, 1fr) / repeat(3, 1fr); grid-auto-flow: column;
}
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
.sketch[data-main="inbox"] i:first-child {
  width: auto; grid-area: 1 / 2 / -1 / 3; background: var(--accent-soft); border-color: var(--line);
}
.sketch[data-main="form"] span { grid-template: repeat(6, 1fr) / minmax(0, 60%); justify-content: center; }
.sketch[data-main="form"] i:first-child { order: 1; }
@media (prefers-reduced-motion: no-preference) { .answer { transition: box-shadow .2s, border-color .2s; } }
@media (forced-colors: active) { .sketch b { background: CanvasText; } }
@media print {
  .shelf-bar { position: static; background: none; color: #000; border-bottom: 1px solid;
  } .answer { break-inside: avoid; };
}
"""

# The interface's words by language; a language that is not there gets the first.
PAGE_WORDS = r"""
{
"en": {
"mark": "Prototype · fictional data", "review": "Review", "role": "Role", "flow": "Flow",
"no_flow": "No flow", "state": "State", "state_normal": "Normal", "state_empty": "Empty",
"state_loading": "Loading", "state_error": "Error", "state_many": "Many rows", "mode": "Colours",
"mode_auto": "As the device", "mode_light": "Light", "mode_dark": "Dark", "reset": "Reset",
"was_reset": "Everything is as it was at first", "step_of": "Step {step} of {all}", "finish": "Finish",
"skip": "Skip to content", "menu": "Menu", "more": "More", "signed_in": "Signed in as", "yes": "Yes",
"no": "No", "rating": "{value} of {most}", "no_value": "None", "gone": "Deleted record",
"overdue": "Overdue", "today": "Today", "this_week": "This week", "next_30_days": "Next 30 days",
"search_in": "Search {plural}", "search_and_filter": "Search and filter",
"clear_filters": "Clear search and filters", "filters_cleared": "Search and filters cleared",
"count_of": "{shown} of {all}", "new_one": "New {label}", "new_on": "New {label} on {day}", "open": "Open",
"edit": "Edit", "delete": "Delete", "mark_as": "Mark as {value}", "actions_for": "Actions for {title}",
"undo": "Undo", "undone": "Change undone", "dismiss": "Dismiss", "close": "Close",
"open_page": "Open as a page", "changed_to": "{field} set to {value}",
"changed": "{title}: {field} is now {value}", "deleted": "{title} deleted", "saved": "{title} saved",
"created": "{title} created", "log_edited": "Edited", "log_created": "Created",
"nothing_yet": "No {plural} yet", "nothing_yet_hint": "As soon as there are {plural}, they show up here.",
"nothing_found": "Nothing matches", "nothing_found_hint": "Try another word, or take a filter away.",
"loading": "Loading", "error_title": "This could not be loaded",
"error_text": "The connection was lost on the way. Nothing that you entered is gone.",
"try_again": "Try again", "sort_by": "Sort by", "usual_order": "Usual order",
"ascending": "{label}, ascending", "descending": "{label}, descending", "pages": "Pages",
"page_of": "{from}–{to} of {all}", "previous": "Previous", "next": "Next", "view_all": "View all {count}",
"unread": "{count} unread", "unread_mark": "unread", "choose_one": "Choose one on the list to read it",
"mark_unread": "Mark as unread", "column": "{name}, {count}", "column_empty": "Nothing here",
"move_card": "Move {title}", "moved": "{title} moved to {value}", "view": "View", "month": "Month",
"week": "Week", "agenda": "Agenda", "earlier": "Earlier", "later": "Later", "more_events": "{count} more",
"all_day": "All day", "nothing_in": "Nothing in {range}",
"nothing_in_hint": "Go earlier or later, or take a filter away.", "zoom": "Zoom", "two_weeks": "Two weeks",
"quarter": "Quarter", "key_facts": "Key facts", "add": "Add", "history": "History",
"not_there": "This {label} is not there",
"not_there_hint": "It may have been deleted, or the link is from other data.",
"refused": "Not for this role",
"refused_hint": "{role} may not see or change this. Choose another role in the review bar.",
"to_start": "To the start", "edit_title": "Edit {title}",
"required_note": "Fields marked with * are required.", "create": "Create {label}", "save": "Save {label}",
"cancel": "Cancel", "continue": "Continue", "back": "Back", "check_answers": "Check and send",
"progress": "Progress", "change": "Change", "change_field": "Change {field}", "choose": "Choose …",
"tags_hint": "Separate with commas", "minutes": "min", "between": "Between {low} and {high}",
"at_least": "At least {low}", "at_most": "At most {high}", "missing": "{label} is missing",
"bad_email": "{label} must look like name@example.com", "bad_url": "{label} must start with https://",
"bad_number": "{label} must be a number", "bad_date": "{label} must be a full date",
"too_small": "{label} must be at least {low}", "too_big": "{label} must be at most {high}",
"problem_title": "Please check what you entered", "not_saved": "It could not be saved",
"not_saved_hint": "What you entered is still here. Try again in a moment.", "value": "Value",
"others": "Others", "as_table": "Show as table", "total": "Total", "average": "Average", "count": "Count",
"share": "Share", "all_clear": "All clear", "number_of": "Number of {plural}", "all_time": "All time",
"this_month": "This month", "past_90": "Past 90 days", "this_year": "This year", "print": "Print",
"group_by": "Group by", "measure": "Measure", "period": "Period", "chart": "Chart", "bars": "Bars",
"over_time": "Over time", "by": "By {field}", "the_numbers": "The numbers", "csv": "Export CSV",
"exported": "{name} exported", "settings_note": "Changes are kept at once.", "no_settings": "No settings",
"no_settings_hint": "The brief names no numbers or limits.", "from_brief": "From the brief: “{words}”",
"was": "It was {value}", "marks": "Marks {count} records",
"tone_bad": "overdue|reject|fail|lost|block|urgent|critical|breach|expired|missed|damag|no.show|disput|exceed|major|unsafe|high\\b",
"tone_good": "done|complete|paid|approv|active|resolv|deliver|accept|won\\b|available|ready|confirm|signed|cleared|passed|live\\b|return|hired|enrol|fulfil|vetted|repaired|publish",
"tone_warn": "wait|pending|hold|risk|due|review|partial|draft|suspend|snooz|expiring|low stock|medium|moderate|maintenance|quarantine",
"tone_info": "progress|schedul|sent|open|assign|submit|process|plan|under|transit|started|triag|contact|quali|checked|loan|shipped|book|new\\b",
"tone_plain": "cancel|closed|archiv|retired|void|inactive|withdrawn|low\\b|normal|left|declin",
"closing": "^(done|completed?|closed|paid|cancell?ed|resolved|rejected|returned|archived|delivered|void|won|lost|ended|retired|expired|declined|withdrawn|refunded|invoiced|left|no.show|hired|implemented|reimbursed)$",
"week_start": "1", "due": "due|deadline|expir|until|respond|renew|deliver|return|back|needed",
"lead_date": "due|deadline|expir|until|renew|schedul|appoint|start|when"
}
}
"""  # noqa: E501

# Drawings on a grid of 24, stroked: first the names that a blueprint may use (ICONS), then the page's own.
PAGE_ICONS = r"""
{
"person": "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.5 20.5c.8-3.8 3.8-5.5 7.5-5.5s6.7 1.7 7.5 5.5",
"people": "M9 11.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM2.5 19.5c.6-3.4 3.2-5 6.5-5s5.9 1.6 6.5 5M16 4.800a3.5 3.5 0 0 1 0 6.5M18 14.900c1.9.7 3.1 2.2 3.5 4.6",
"building": "M5 21V5.5L13 3v18M13 9l6 2v10M3 21h18M8 9h2M8 13h2M8 17h2M16 14v.01M16 17v.01",
"briefcase": "M4 8h16v11H4ZM9 8V5h6v3M4 13h16M12 12v2",
"box": "M12 3l8 4.5v9L12 21l-8-4.5v-9ZM4 7.5l8 4.5 8-4.5M12 12v9",
"cart": "M3 4h2.5l2 11.5h10l2-8H6.200M9 20a1 1 0 1 0 0-2 1 1 0 0 0 0 2ZM16.5 20a1 1 0 1 0 0-2 1 1 0 0 0 0 2Z",
"card": "M3 6h18v12H3ZM3 10h18M7 14.5h4",
"coin": "M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM14.5 9.300c-.5-1-1.4-1.5-2.5-1.5-1.5 0-2.6.8-2.6 2 0 3 5.3 1.5 5.3 4.4 0 1.3-1.2 2.1-2.7 2.1-1.2 0-2.2-.5-2.7-1.5M12 6.300v1.5M12 16.300v1.5",
"file": "M6 3h8l4 4v14H6ZM14 3v4h4M9 12h6M9 16h6", "folder": "M3 6h6l2 2.5h10V19H3Z",
"check": "M4.5 12.5l5 5L19.5 7", "flag": "M6 21V4M6 4.5c4-2 7 2 12 0v9c-5 2-8-2-12 0",
"calendar": "M4 6h16v14H4ZM4 10.5h16M8.5 3.5v4M15.5 3.5v4",
"clock": "M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM12 7.5V12l3 2.5",
"bell": "M6 16.5V11a6 6 0 0 1 12 0v5.5l1.5 1.5h-15ZM10 20.5h4", "chat": "M4 5h16v11h-8.5L7 20v-4H4Z",
"mail": "M3 6h18v12.5H3ZM3.5 6.5L12 13l8.5-6.5",
"phone": "M6 3.5h3l1.5 4.5-2 1.5c1 2.5 3.5 5 6 6l1.5-2 4.5 1.5v3c0 1-.8 2-2 2C10.5 20 4 13.5 4 5.5c0-1.2 1-2 2-2Z",
"map": "M12 21c4.5-4.8 6.5-8 6.5-11a6.5 6.5 0 0 0-13 0c0 3 2 6.2 6.5 11ZM12 12.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z",
"truck": "M2.5 6h11v10.5h-11ZM13.5 10h4l3.5 3.5v3h-7.5M7 19a1.8 1.8 0 1 0 0-3.600A1.8 1.8 0 0 0 7 19ZM17 19a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.600Z",
"car": "M3.5 16.5v-4l2-1 2-4.5h9l2 4.5 2 1v4ZM6 16.5v2M18 16.5v2M6 11.5h12M7 14v.01M17 14v.01",
"wrench": "M19.8 8.300a5 5 0 0 1-6.5 6L7.5 20 4 16.5l5.7-5.800a5 5 0 0 1 6-6.5L12.8 7.100l.6 3.5 3.5.6Z",
"gear": "M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM12 18.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM12 2.5v3M12 18.5v3M2.5 12h3M18.5 12h3M5.3 5.300l2.1 2.100M16.6 16.600l2.1 2.100M5.3 18.700l2.1-2.100M16.6 7.400l2.1-2.1",
"chart": "M4 20h16M7 16v-5M12 16V5M17 16V8",
"heart": "M12 20C6 15.5 3.5 12.3 3.5 9a4.3 4.3 0 0 1 8.5-1 4.3 4.3 0 0 1 8.5 1c0 3.3-2.5 6.5-8.5 11Z",
"leaf": "M5 19C4 9.5 9.5 4.5 20 5c.5 10-4.5 15-12 14M4.5 21c1-5 4-8.5 9-10.5",
"paw": "M12 12.5c2.5 0 5 3.5 5 5.5 0 1.5-1 2-2.2 2-1 0-1.7-.5-2.8-.5s-1.8.5-2.8.5c-1.2 0-2.2-.5-2.2-2 0-2 2.5-5.5 5-5.5ZM5 12.5a1.5 2 0 1 0 0-4 1.5 2 0 0 0 0 4ZM9.3 8.5a1.5 2 0 1 0 0-4 1.5 2 0 0 0 0 4ZM14.7 8.5a1.5 2 0 1 0 0-4 1.5 2 0 0 0 0 4ZM19 12.5a1.5 2 0 1 0 0-4 1.5 2 0 0 0 0 4Z",
"book": "M12 6.5C10 5 7 4.5 4 5v13.5c3-.5 6 0 8 1.5 2-1.5 5-2 8-1.5V5c-3-.5-6 0-8 1.5ZM12 6.5V20",
"cap": "M2.5 9.5L12 5l9.5 4.5L12 14ZM6.5 11.5V16c2.5 2.5 8.5 2.5 11 0v-4.5M21.5 9.5V15",
"home": "M4 11l8-7 8 7M6 9.5V20h12V9.5M10 20v-6h4v6", "door": "M6 21V3.5h12V21M3.5 21h17M14.5 12v.5",
"star": "M12 3.5l2.6 5.4 5.9.8-4.3 4.1 1 5.900L12 16.900l-5.2 2.8 1-5.9-4.3-4.1 5.9-.8Z",
"shield": "M12 3l7.5 3v5.5c0 4.5-3 7.8-7.5 9.5-4.5-1.7-7.5-5-7.5-9.5V6ZM8.5 12l2.5 2.5 4.5-5",
"flask": "M9 3.5h6M10 3.5v6L4.5 19c-.5 1 0 1.5 1 1.5h13c1 0 1.5-.5 1-1.5L14 9.5v-6M7.5 15h9",
"food": "M4.5 3v4.5a2.5 2.5 0 0 0 5 0V3M7 3v18M17 21v-7c-2 0-3-1.5-3-5s1.5-6 3-6Z",
"ball": "M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM12 8.5l3.5 2.5-1.3 4H9.800L8.5 11ZM12 3.5v5M3.8 10l4.7 1M7 19l2.8-4M17 19l-2.8-4M20.2 10l-4.7 1",
"tag": "M4 4h8l8.5 8.5-8 8L4 12ZM8.5 8.5v.01",
"link": "M10 14a4 4 0 0 0 5.7 0l3.5-3.5a4 4 0 0 0-5.7-5.700l-1 1M14 10a4 4 0 0 0-5.7 0l-3.5 3.5a4 4 0 0 0 5.7 5.700l1-1",
"circle": "M12 19a7 7 0 1 0 0-14 7 7 0 0 0 0 14Z", "blank": "M0 0",
"search": "M11 17.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM16 16l4.5 4.5", "plus": "M12 5v14M5 12h14",
"close": "M6 6l12 12M18 6L6 18", "next": "M9 5l7 7-7 7", "previous": "M15 5l-7 7 7 7",
"down": "M6 9l6 6 6-6", "up": "M6 15l6-6 6 6", "sort": "M8 10l4-4 4 4M8 14l4 4 4-4",
"menu": "M4 7h16M4 12h16M4 17h16", "more": "M4.5 12h1M11.5 12h1M18.5 12h1",
"edit": "M4 20l1-4.5L16 4.5 19.5 8l-11 11ZM13.5 7L17 10.5",
"trash": "M5 7h14M9 7V4.5h6V7M7 7l1 13h8l1-13M10.5 11v5.5M13.5 11v5.5", "move": "M4 12h15M14 7l5 5-5 5",
"download": "M12 4v11M7 10.5l5 5 5-5M5 20h14", "print": "M7 9V4h10v5M7 17H4V9h16v8h-3M7 14h10v6H7Z",
"undo": "M8 5L4 9l4 4M4 9h10a5.5 5.5 0 0 1 0 11h-4", "alert": "M12 4l9 16H3ZM12 10v4.5M12 17v.01",
"expand": "M14 4h6v6M20 4l-7 7M10 20H4v-6M4 20l7-7",
"dashboard": "M4 4h7v9H4ZM13 4h7v5h-7ZM13 11h7v9h-7ZM4 15h7v5H4Z",
"board": "M4 4h4.5v16H4ZM10 4h4.5v11H10ZM16 4h4.5v7H16Z", "timeline": "M4 6h9M8 12h9M12 18h8",
"inbox": "M4 14l3-9h10l3 9v5H4ZM4 14h5l1 2.5h4l1-2.5h5",
"sliders": "M4 7h9M17 7h3M15 9.5v-5M4 17h3M11 17h9M9 19.5v-5", "form": "M12 5v14M5 12h14",
"report": "M4 20h16M7 16v-5M12 16V5M17 16V8",
"settings": "M4 7h9M17 7h3M15 9.5v-5M4 17h3M11 17h9M9 19.5v-5"
}
"""  # noqa: E501

PAGE_JS_PARTS: Mapping[str, str] = {
    "dom": r"""
// Elements are made here and nowhere else: text goes in as text, handlers as listeners, styles as
// properties. `what` is a tag (else a span) with its classes, "p.note"; attributes may follow, then
// children. `mute` hides an element from readers, `key` finds it again after it was drawn anew, `css`
// sets style properties.
function el(what, ...rest) {
  const [tag, ...classes] = what.split(".");
  const node = document.createElement(tag || "span");
  if (classes.length) node.className = classes.join(" ");
  return fill(node, rest);
}

function svg(tag, ...rest) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), rest);
}

function fill(node, rest) {
  if (rest[0] && Object.getPrototypeOf(rest[0]) === Object.prototype) setAttributes(node, rest.shift());
  node.append(...rest.flat(Infinity).filter(child => child || child === 0));
  return node;
}

function setAttributes(node, attrs) {
  const properties = ["value", "checked", "disabled", "selected"];
  for (const [name, value] of Object.entries(attrs)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (name === "css") Object.entries(value).forEach(pair => node.style.setProperty(...pair));
    else if (name === "class") value.split(" ").forEach(one => one && node.classList.add(one));
    else if (name === "key") node.dataset.key = value;
    else if (name === "mute") node.ariaHidden = "true";
    else if (properties.includes(name)) node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
}

// A drawing of the page's table; a name that is not there gives the circle.
function icon(name, extra = "") {
  const path = svg("path", { d: app.icons.get(name) || app.icons.get("circle") });
  return svg("svg", { class: "icon " + extra, viewBox: "0 0 24 24", mute: true }, path);
}

function hidden(text) {
  return el(".sr-only", text);
}

// A button, or a link when `act` is an address. With a `label` its icon stands alone.
function button(text, act, { icon: name, label, kind = "", ...more } = {}) {
  const link = typeof act === "string";
  const attrs = {
    class: "button " + kind + (label ? " alone" : ""),
    "aria-label": label,
    title: label,
    ...more
  };
  const own = link ? { href: act } : { type: "button", onclick: act };
  return el(link ? "a" : "button", { ...own, ...attrs }, name && icon(name), text && el("span", text));
}

function byId(id) {
  return document.getElementById(id);
}

function byKey(key) {
  return key && document.querySelector('[data-key="' + CSS.escape(key) + '"]');
}

function say(text) {
  app.live.textContent = "";
  setTimeout(() => {
    app.live.textContent = text;
  }, 30);
}

// A button with a menu behind it. `items` is a function, so that the menu knows the latest state; an item
// is [text, icon, act, whether it is the current one]. Arrow keys move in the menu, Escape and Tab close
// it.
function menuButton(label, items, { text, ...options }) {
  const opener = button(text, null, {
    label,
    "aria-haspopup": "menu",
    "aria-expanded": "false",
    ...options
  });
  opener.addEventListener("click", event => {
    event.stopPropagation();
    const again = app.menu && app.menu.opener === opener;
    closeMenu();
    if (!again) openMenu(opener, items());
  });
  return opener;
}

function openMenu(opener, items) {
  const rows = items.map(([text, name, act, current]) =>
    el(
      "button.menu-item",
      {
        type: "button",
        tabindex: -1,
        role: current === undefined ? "menuitem" : "menuitemradio",
        "aria-checked": current === undefined ? null : String(current),
        onclick: () => {
          closeMenu();
          opener.focus();
          act();
        }
      },
      icon(current ? "check" : name),
      el("span", text)
    )
  );
  const menu = el(
    "div.menu",
    {
      role: "menu",
      "aria-label": opener.textContent || opener.title,
      onkeydown: event => onMenuKey(event, rows, opener)
    },
    rows
  );
  opener.closest("dialog, main, header").append(menu);
  placeMenu(menu, opener.getBoundingClientRect(), menu.getBoundingClientRect());
  opener.setAttribute("aria-expanded", "true");
  app.menu = { menu, opener };
  (rows.find(row => row.getAttribute("aria-checked") === "true") || rows[0]).focus();
}

function placeMenu(menu, box, size) {
  const most = app.root.clientWidth - size.width - 8;
  const start = app.root.dir === "rtl" ? box.left : box.right - size.width;
  const below = box.bottom + size.height + 4 < innerHeight;
  menu.style.setProperty("left", Math.max(8, Math.min(most, start)) + "px");
  menu.style.setProperty("top", (below ? box.bottom + 4 : Math.max(8, box.top - size.height - 4)) + "px");
}

function onMenuKey(event, rows, opener) {
  const place = rows.indexOf(document.activeElement);
  const moves = new Map([
    ["ArrowDown", place + 1],
    ["ArrowUp", place - 1],
    ["Home", 0],
    ["End", -1]
  ]);
  if (event.key === "Escape" || event.key === "Tab") {
    closeMenu();
    opener.focus();
  } else if (moves.has(event.key)) {
    rows[(moves.get(event.key) + rows.length) % rows.length].focus();
  } else {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
}

function closeMenu() {
  if (!app.menu) return;
  app.menu.menu.remove();
  app.menu.opener.setAttribute("aria-expanded", "false");
  app.menu = null;
}

function segmented(label, name, chosen, choices, choose) {
  return el(
    "fieldset.segmented",
    el("legend.sr-only", label),
    choices.map(([value, text]) =>
      el(
        "label",
        el("input", {
          type: "radio",
          name,
          value,
          checked: value === chosen,
          key: name + value,
          onchange: () => choose(value)
        }),
        el("span", text)
      )
    )
  );
}

function selectBox(label, id, chosen, choices, choose) {
  return el(
    "label.select-box",
    el("span", label),
    el(
      "select",
      { id, onchange: event => choose(event.target.value) },
      choices.map(([value, text]) => el("option", { value, selected: value === chosen }, text))
    )
  );
}
""",
    "format": r"""
// A word of the interface, with {names} filled in; numbers as the language writes them.
function t(key, values = {}) {
  const text = name => (typeof values[name] === "number" ? num(values[name]) : values[name]);
  return (app.words.get(key) || key).replace(/\{(\w+)\}/g, (all, name) =>
    Object.hasOwn(values, name) ? text(name) : all
  );
}

// Intl objects are dear, so each is made once. A language tag that the browser refuses falls back to
// English.
function intl(kind, options) {
  const key = kind + JSON.stringify(options);
  if (!app.formats.has(key)) {
    let lang = app.lang;
    try {
      new Intl.Locale(lang);
    } catch (error) {
      lang = "en";
    }
    app.formats.set(key, new Intl[kind](lang, options));
  }
  return app.formats.get(key);
}

// Dates are text, as in the blueprint; they are reckoned and written in UTC, so that every place sees the
// same.
function toDate(text) {
  return new Date(text.length > 10 ? text + "Z" : text + "T00:00Z");
}

function addDays(day, count) {
  return new Date(toDate(day).getTime() + count * 86400000).toISOString().slice(0, 10);
}

function addMonths(day, count) {
  const date = toDate(day.slice(0, 8) + "01");
  date.setUTCMonth(date.getUTCMonth() + count);
  return date.toISOString().slice(0, 10);
}

function daysBetween(from, to) {
  return Math.round((toDate(to.slice(0, 10)) - toDate(from.slice(0, 10))) / 86400000);
}

// Weeks start as the words of the language say (0 is Sunday): not every browser knows.
function startOfWeek(day) {
  return addDays(day, -((toDate(day).getUTCDay() - Number(t("week_start")) + 7) % 7));
}

// The year is left out when it is this one.
function formatDate(day, shape = { day: "numeric", month: "short", year: yearOf(day) }) {
  return intl("DateTimeFormat", { ...shape, timeZone: "UTC" }).format(toDate(day));
}

function yearOf(day) {
  return day.slice(0, 4) === app.today.slice(0, 4) ? undefined : "numeric";
}

function formatTime(value) {
  return formatDate(value, { hour: "numeric", minute: "2-digit" });
}

function formatRange(from, to) {
  const shape = { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" };
  return intl("DateTimeFormat", shape).formatRange(toDate(from), toDate(to));
}

function dayNumber(day) {
  return formatDate(day, { day: "numeric" }).replace(/\D+$/u, "") || formatDate(day, { day: "numeric" });
}

function monthName(day) {
  return capital(formatDate(day, { month: "long", year: "numeric" }));
}

// "in 3 days", "2 weeks ago", seen from the blueprint's today.
function formatDistance(day) {
  const days = daysBetween(app.today, day);
  const [size, unit] = Math.abs(days) < 14 ? [1, "day"] : Math.abs(days) < 60 ? [7, "week"] : [30, "month"];
  return intl("RelativeTimeFormat", { numeric: "auto" }).format(Math.round(days / size), unit);
}

function num(value, options = { maximumFractionDigits: 2 }) {
  return intl("NumberFormat", options).format(value);
}

function percent(part) {
  return num(part, { style: "percent", maximumFractionDigits: 0 });
}

// A number of a field as text; `short` drops the cents, for tiles and axes.
function figure(value, field, short) {
  const digits = short ? 0 : 2;
  const money = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const unit = (field && field.unit) || "";
  if (field && field.type === "percent") return percent(value / 100);
  if (field && field.type === "duration") return duration(value);
  if (!field || field.type !== "money") return num(value) + (unit && "\u00a0" + unit);
  if (/^[A-Z]{3}$/.test(unit)) return num(value, { style: "currency", currency: unit, ...money });
  return num(value, money) + (unit && "\u00a0" + unit);
}

function duration(minutes) {
  const say = (value, unit) =>
    num(value, { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: 0 });
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return [hours && say(hours, "hour"), (rest || !hours) && say(rest, "minute")].filter(Boolean).join(" ");
}

// Labels are written as headings; inside a sentence most languages want them small.
function small(label) {
  return app.lang.startsWith("de") || /^.[A-Z]/.test(label)
    ? label
    : label.charAt(0).toLowerCase() + label.slice(1);
}

function capital(value) {
  const text = String(value);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function countOf(entity, count) {
  return num(count) + " " + small(count === 1 ? entity.label : entity.plural);
}

function initials(name) {
  const words = name
    .trim()
    .split(/\s+/)
    .map(word => Array.from(word)[0] || "?");
  return (words[0] + (words.length > 1 ? words[words.length - 1] : "")).toUpperCase();
}

// One of six hues, always the same for the same text.
function hue(text) {
  let hash = 7;
  for (const letter of text) hash = (hash * 31 + letter.codePointAt(0)) % 100003;
  return "hue-" + (hash % 6);
}
""",
    "model": r"""
// Look-ups over the blueprint. Maps, never plain objects: an id may be "constructor".
function indexBlueprint(blueprint) {
  const byId = items => new Map(items.map(item => [item.id, item]));
  for (const group of ["roles", "entities", "screens", "flows"]) app[group] = byId(blueprint[group]);
  app.fields = new Map(blueprint.entities.map(entity => [entity.id, byId(entity.fields)]));
  app.blueprint = blueprint;
  app.navigation = blueprint.navigation;
  app.axes = blueprint.variant.axes;
  app.today = blueprint.asOf;
  app.kinds = new WeakMap();
}

function fieldOf(entity, id) {
  return app.fields.get(entity.id).get(id);
}

function entityOf(screen) {
  return app.entities.get(screen.entity);
}

// Every record knows its entity, without a member of its own for that.
function kindOf(record) {
  return app.kinds.get(record);
}

function withKind(entity, record) {
  app.kinds.set(record, entity);
  return record;
}

// A record's value of a field, "" when it has none.
function get(record, field) {
  return Object.hasOwn(record, field.id) && record[field.id] !== null ? record[field.id] : "";
}

function isEmpty(value) {
  return value === "" || value === undefined || (Array.isArray(value) && !value.length);
}

function has(record, field) {
  return !isEmpty(get(record, field));
}

function dayOf(record, field) {
  return get(record, field).slice(0, 10);
}

function isNumeric(field) {
  return ["number", "money", "percent", "duration", "rating"].includes(field.type);
}

function isDated(field) {
  return field.type === "date" || field.type === "datetime";
}

function ofType(entity, ...types) {
  return entity.fields.filter(field => types.includes(field.type));
}

// The date that a record is mostly asked for: when it is due before when it began.
function leadDate(entity) {
  const dated = entity.fields.filter(isDated);
  return dated.find(field => new RegExp(t("lead_date")).test(field.id)) || dated[0];
}

// What charts count by when nothing else is said.
function groupField(entity) {
  const kinds = ["status", "choice", "ref", "boolean", "rating", "person"];
  return kinds.map(kind => ofType(entity, kind)[0]).find(Boolean) || entity.fields[0];
}

// The `count` fields that say most about a record beside its name and its status, in their own order.
function keyFields(entity, count) {
  const rank = (
    "ref date datetime person money choice address number rating percent duration phone email text " +
    "boolean tags url"
  ).split(" ");
  const fields = ofType(entity, ...rank).filter(field => field.id !== entity.display);
  const best = fields
    .slice()
    .sort((a, b) => rank.indexOf(a.type) - rank.indexOf(b.type))
    .slice(0, count);
  return fields.filter(field => best.includes(field));
}

function columnsOf(screen) {
  const entity = entityOf(screen);
  if (screen.columns && screen.columns.length) return screen.columns.map(id => fieldOf(entity, id));
  return [
    ...new Set([
      fieldOf(entity, entity.display),
      ...ofType(entity, "status").slice(0, 1),
      ...keyFields(entity, 5)
    ])
  ];
}

// What a record is called: its display field, through references at most three deep.
function titleOf(record, depth = 0) {
  const entity = kindOf(record);
  const field = fieldOf(entity, entity.display);
  if (!has(record, field)) return entity.label + " " + record.id;
  const target = field.type === "ref" && depth < 3 && getRecord(field.entity, get(record, field));
  return target ? titleOf(target, depth + 1) : textOf(field, get(record, field));
}

// A value as plain text.
function textOf(field, value) {
  if (isEmpty(value)) return "";
  const write = {
    ref: () => {
      const found = getRecord(field.entity, value);
      return found ? titleOf(found, 1) : t("gone");
    },
    boolean: () => t(value ? "yes" : "no"),
    date: () => formatDate(value),
    datetime: () => formatDate(value) + ", " + formatTime(value),
    tags: () => value.join(", "),
    rating: () => t("rating", { value, most: 5 }),
    status: () => capital(value),
    choice: () => capital(value)
  };
  if (Object.hasOwn(write, field.type)) return write[field.type]();
  return isNumeric(field) ? figure(value, field) : String(value);
}

function textIn(record, field) {
  return textOf(field, get(record, field));
}

// The colour of a status: by its words where they are known, by its place in the order where not.
function toneOf(field, value) {
  const word = String(value).toLowerCase();
  const place = field.type === "status" ? field.values.indexOf(value) : 0;
  if (!app.tones.has(word)) {
    app.tones.set(
      word,
      ["bad", "good", "warn", "info", "plain"].find(tone => new RegExp(t("tone_" + tone)).test(word))
    );
  }
  return app.tones.get(word) || (!place ? "plain" : place === field.values.length - 1 ? "good" : "info");
}

function statusOf(record) {
  const field = ofType(kindOf(record), "status")[0];
  const value = field && get(record, field);
  return value ? { field, value, tone: toneOf(field, value) } : null;
}

// Closed records are never late: their status is the last of its order, or one of the known closing words.
function isClosed(record) {
  const status = statusOf(record);
  if (!status) return false;
  return (
    status.value === status.field.values[status.field.values.length - 1] ||
    new RegExp(t("closing")).test(status.value.toLowerCase())
  );
}

// Whether a date lies in one of the blueprint's named times.
function isWhen(record, field, when) {
  if (!has(record, field)) return false;
  const day = dayOf(record, field);
  if (when === "overdue") return day < app.today && !isClosed(record);
  if (when === "today") return day === app.today;
  if (when === "next_30_days") return day >= app.today && day <= addDays(app.today, 30);
  return startOfWeek(day) === startOfWeek(app.today);
}

// "late", "near" or "" for a date by which something has to be done. A setting may say what near is.
function urgency(record, field) {
  const due = new RegExp(t("due")).test(field.id);
  if (!due || !has(record, field) || isClosed(record)) return "";
  const setting = app.blueprint.settings.find(
    one => one.type === "number" && /^(day|tag|jour|d.a|giorn)/i.test(one.unit || "")
  );
  const days = daysBetween(app.today, get(record, field));
  return days < 0 ? "late" : days <= (setting ? app.settings.get(setting.id) : 3) ? "near" : "";
}

// A filter is {field, values} or {field, when}, in the blueprint and in the address alike.
function matches(record, filter) {
  const field = fieldOf(kindOf(record), filter.field);
  if (!field) return true;
  if (filter.when) return isWhen(record, field, filter.when);
  return [get(record, field)].flat().some(value => filter.values.includes(String(value)));
}

function searchText(record) {
  if (!app.haystacks.has(record)) {
    app.haystacks.set(
      record,
      kindOf(record)
        .fields.map(field => textIn(record, field))
        .join(" ")
        .toLowerCase()
    );
  }
  return app.haystacks.get(record);
}

function sortBy(records, field, down) {
  const collator = intl("Collator", { numeric: true, sensitivity: "base" });
  const order = record => {
    const value = get(record, field);
    if (isEmpty(value)) return null;
    if (field.values) return field.values.indexOf(value);
    return isNumeric(field) || typeof value === "boolean"
      ? Number(value)
      : isDated(field)
        ? value
        : textOf(field, value);
  };
  const compare = ([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null);
    const result = typeof a === "number" ? a - b : collator.compare(a, b);
    return down ? -result : result;
  };
  return records
    .map(record => [order(record), record])
    .sort(compare)
    .map(([, record]) => record);
}

// Who is looking: the role of the address, else the first; without roles anybody may do anything.
function currentRole() {
  return app.roles.get(param("role")) || app.blueprint.roles[0] || { label: "" };
}

function maySee(screenId) {
  const { screens } = currentRole();
  return app.screens.has(screenId) && (!screens || screens.includes(screenId));
}

function may(right) {
  const { rights } = currentRole();
  return !rights || rights.includes(right);
}

// The screen of a type for an entity that the role may see; one of the menu first.
function screenFor(entity, ...types) {
  const rank = screen => (app.navigation.includes(screen.id) ? 0 : 100) + types.indexOf(screen.type);
  return app.blueprint.screens
    .filter(one => one.entity === entity.id && types.includes(one.type) && maySee(one.id))
    .sort((a, b) => rank(a) - rank(b))[0];
}

function listScreen(entity) {
  return screenFor(entity, "list", "cards", "inbox", "board", "calendar", "timeline");
}

// The states that a record may go to: one step on, what closes it, one step back.
function nextStates({ field, value }) {
  const place = field.values.indexOf(value);
  const closing = field.values.filter((one, index) => index > place + 1 && toneOf(field, one) === "plain");
  return [
    ...new Set([
      ...field.values.slice(place + 1, place + 2),
      ...closing,
      ...field.values.slice(Math.max(0, place - 1), Math.max(0, place))
    ])
  ];
}

// A setting may watch a number of a record: "Cost limit" marks a "Cost" above it, "Low stock" a "Stock"
// below it.
function watchOf(field, value) {
  return app.blueprint.settings.find(setting => {
    const bound = app.settings.get(setting.id);
    const about = field.id.split("_").some(word => word.length > 3 && setting.id.split("_").includes(word));
    const same = setting.type === field.type || setting.type === "number";
    const low = /min|low|least|reorder|below|under/.test(setting.id);
    return typeof bound === "number" && about && same && (low ? value < bound : value > bound);
  });
}
""",
    "store": r"""
// The data: what the blueprint brought, changed in memory and kept in the browser's storage where that is
// allowed. listRecords, getRecord, saveRecord and removeRecord are the whole interface: a real back end
// can stand in.
function loadData() {
  const kept = storage("getItem") || {};
  const saved = new Map(kept.data);
  app.data = new Map(
    app.blueprint.entities.map(entity => [
      entity.id,
      saved.get(entity.id) || (entity.records || []).slice()
    ])
  );
  app.settings = new Map([
    ...app.blueprint.settings.map(setting => [setting.id, setting.value]),
    ...(kept.settings || [])
  ]);
  app.seen = new Set(kept.seen);
  app.log = kept.log || [];
  forgetCaches();
}

// Storage may be forbidden, full or spoilt; the page then simply forgets on reload.
function storage(action, value) {
  try {
    const text = localStorage[action]("protoyard:" + app.digest, value && JSON.stringify(value));
    return text ? JSON.parse(text) : null;
  } catch (error) {
    return null;
  }
}

// A project made of this page has a back end, which is told of each record that changed and then keeps it.
function changed(entity, id) {
  forgetCaches();
  if (app.backend && entity) app.backend.changed(entity, id);
  storage("setItem", {
    data: app.backend ? [] : [...app.data],
    settings: [...app.settings],
    seen: [...app.seen],
    log: app.log.slice(-200)
  });
}

function forgetCaches() {
  app.haystacks = new WeakMap();
  app.byId = new Map(
    [...app.data].map(([id, records]) => [
      id,
      new Map(records.map(one => [one.id, withKind(app.entities.get(id), one)]))
    ])
  );
}

// The rows that a screen works with: the review bar's state may empty or multiply them.
function listRecords(entity) {
  const records = app.data.get(entity.id);
  const copies = { empty: 0, many: Math.ceil(500 / Math.max(1, records.length)) }[param("state")];
  return copies === undefined ? records : Array.from({ length: copies }, () => records).flat();
}

function getRecord(entityId, id) {
  return app.byId.get(entityId).get(id) || null;
}

// The present state of a record that a view was drawn with.
function latest(record) {
  return getRecord(kindOf(record).id, record.id) || record;
}

// Saves a record (new when its id is not known) and returns a function that takes the change back.
function saveRecord(entity, record, what) {
  const records = app.data.get(entity.id);
  const place = id => records.findIndex(one => one.id === id);
  const before = getRecord(entity.id, record.id);
  if (before) records[place(record.id)] = record;
  else records.unshift(record);
  app.log.push([entity.id, record.id, what]);
  changed(entity, record.id);
  return () => {
    records.splice(place(record.id), 1, ...(before ? [before] : []));
    app.log.push([entity.id, record.id, t("undone")]);
    changed(entity, record.id);
  };
}

function removeRecord(entity, id) {
  const records = app.data.get(entity.id);
  const place = records.findIndex(one => one.id === id);
  const [before] = records.splice(place, 1);
  changed(entity, id);
  return () => {
    records.splice(place, 0, before);
    changed(entity, id);
  };
}

function freshId(entity) {
  let number = app.data.get(entity.id).length + 1;
  while (getRecord(entity.id, entity.id + "-new-" + number)) number += 1;
  return entity.id + "-new-" + number;
}

// One field of a record changes, with a toast that can take it back.
function changeField(record, field, value) {
  const entity = kindOf(record);
  const stored = latest(record);
  const text = textOf(field, value);
  const undo = saveRecord(
    entity,
    { ...stored, [field.id]: value },
    t("changed_to", { field: field.label, value: text })
  );
  toast(t("changed", { title: titleOf(stored), field: small(field.label), value: text }), undo);
  redraw();
}
""",
    "route": r"""
// The address: #/screen/record?role=... What a reviewer chose travels along, the rest belongs to the
// screen.
function readRoute() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [screen, record] = path.split("/").map(decode);
  app.route = { screen, record: record || "", params: new URLSearchParams(query || "") };
  if (!["empty", "loading", "error", "many"].includes(param("state"))) app.route.params.delete("state");
  if (!app.screens.has(screen)) app.route.screen = homeScreen();
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    return "";
  }
}

function homeScreen() {
  return app.navigation.find(maySee) || app.navigation[0];
}

function param(name) {
  return app.route.params.get(name) || "";
}

// Parameters with changes: a list gives several of one name, nothing takes the name away.
function changedParams(params, changes) {
  const result = new URLSearchParams(params);
  for (const [name, value] of Object.entries(changes || {})) {
    result.delete(name);
    for (const one of [value].flat()) if (!isEmpty(one)) result.append(name, one);
  }
  return result;
}

function address(screen, record, params) {
  const query = params.toString();
  return (
    "#/" +
    encodeURIComponent(screen) +
    (record && "/" + encodeURIComponent(record)) +
    (query && "?" + query)
  );
}

// The address of a screen, with what the reviewer chose and with `local`.
function hrefTo(screen, record = "", local = {}) {
  const kept = [...app.route.params].filter(([name]) => /^(role|flow|step|state|mode)$/.test(name));
  return address(screen, record, changedParams(kept, local));
}

// The present address with other parameters.
function hrefWith(changes) {
  return address(app.route.screen, app.route.record, changedParams(app.route.params, changes));
}

function goTo(href) {
  location.hash = href;
}

// Other parameters without a new entry in the history.
function setParams(changes) {
  const href = hrefWith(changes);
  app.route.params = changedParams(app.route.params, changes);
  try {
    history.replaceState(null, "", href);
  } catch (error) {
    goTo(href);
  }
}

function change(changes) {
  setParams(changes);
  redraw();
}

function filtersInRoute() {
  const names = [...new Set(app.route.params.keys())].filter(name => /^[fw]\./.test(name));
  return names.map(name => ({
    field: name.slice(2),
    [name[0] === "w" ? "when" : "values"]: name[0] === "w" ? param(name) : app.route.params.getAll(name)
  }));
}

function filterParams(filter) {
  return filter ? { [(filter.when ? "w." : "f.") + filter.field]: filter.when || filter.values } : {};
}

// How a record opens depends on the variant: as a page, in a panel beside the rows, or in a dialog.
function recordHref(record) {
  const entity = kindOf(record);
  const screen = screenFor(entity, "detail");
  if (!screen) return "";
  const page = app.axes.detail === "page" || (app.axes.detail === "panel" && app.narrow);
  if (page || app.screens.get(app.route.screen).type === "detail") return hrefTo(screen.id, record.id);
  return hrefWith({ open: entity.id + "/" + record.id, edit: "" });
}

// Where a record is made or changed: on a form's page or in a dialog. `presets` are values to start with.
function formHref(entity, record, presets = {}) {
  const screen = screenFor(entity, "form");
  const local = Object.fromEntries(Object.entries(presets).map(([name, value]) => ["set." + name, value]));
  if (screen && app.axes.entry !== "dialog") return hrefTo(screen.id, record ? record.id : "", local);
  return hrefWith({ edit: entity.id + "/" + (record ? record.id : ""), ...local });
}

// What a parameter like open=entity/record names.
function named(name) {
  const [entityId, id] = param(name).split("/");
  const entity = app.entities.get(entityId);
  const record = entity && id ? getRecord(entityId, id) : null;
  return entity && (record || !id) ? { entity, record } : null;
}
""",
    "ui": r"""
// Small pieces that every screen is made of.
function pageHead(title, { back, note, actions, before } = {}) {
  return el(
    "header.head",
    back && el("a.back", { href: back.href }, icon("previous", "flip"), el("span", back.text)),
    el(
      "div.head-row",
      before,
      el("div.head-text", el("h1", { id: "title", tabindex: -1 }, title), note && el("div.note", note)),
      actions && el("div.actions", actions)
    )
  );
}

function backTo(screen) {
  return screen && { href: hrefTo(screen.id), text: screen.title };
}

function block(title, body, { count, action, kind = "" } = {}) {
  const head = [el("h2", title), count !== undefined && el(".count", num(count)), action];
  return el("section", { class: "block " + kind }, el("div.block-head", head), body);
}

function badge(text, tone) {
  return el("span", { class: "badge " + tone }, text);
}

function statusBadge(record) {
  const status = statusOf(record);
  return status && badge(capital(status.value), status.tone);
}

function avatar(name) {
  return el("span", { class: "avatar " + hue(name), mute: true }, initials(name));
}

function glyph(record, extra = "") {
  return el("span", { class: "glyph " + hue(record.id) + extra, mute: true }, icon(kindOf(record).icon));
}

function nothing() {
  return el(".quiet", el("span", { mute: true }, "\u2013"), hidden(t("no_value")));
}

// A record's value, drawn by its type; `plain` keeps links out.
function view(record, field, plain) {
  const value = get(record, field);
  if (isEmpty(value)) return nothing();
  const text = textOf(field, value);
  const tone = field.type === "choice" ? toneOf(field, value) : "plain";
  const draw = {
    status: () => badge(text, toneOf(field, value)),
    choice: () => (tone === "plain" ? text : badge(text, tone + " flat")),
    person: () => el(".person", avatar(value), el("span", value)),
    ref: () => refView(getRecord(field.entity, value), text, plain),
    boolean: () =>
      el("span", { class: "yesno" + (value ? " yes" : "") }, icon(value ? "check" : "close"), text),
    rating: () =>
      el(
        ".stars",
        [1, 2, 3, 4, 5].map(one => icon("star", one > value ? "" : "full")),
        hidden(text)
      ),
    percent: () =>
      el(
        ".meter",
        el(
          ".track",
          { mute: true },
          el(".fill", { css: { width: Math.max(0, Math.min(100, value)) + "%" } })
        ),
        text
      ),
    date: () => dateView(record, field, text),
    datetime: () => dateView(record, field, text),
    tags: () =>
      el(
        ".tags",
        value.map(tag => el(".tag", tag))
      )
  };
  if (Object.hasOwn(draw, field.type)) return draw[field.type]();
  const watch = isNumeric(field) && watchOf(field, value);
  return watch
    ? el(".watched", el("span", text), badge(watch.label, "warn flat"))
    : el("span", { dir: "auto" }, text);
}

function refView(target, text, plain) {
  const href = !plain && target && recordHref(target);
  return href ? el("a", { href }, text) : el("span", text);
}

function dateView(record, field, text) {
  const urgent = urgency(record, field);
  const time = el("time", { datetime: get(record, field) }, text);
  const note =
    urgent && el(".due-note", urgent === "late" ? t("overdue") : formatDistance(get(record, field)));
  return urgent ? el("span", { class: "due " + urgent }, time, note) : time;
}

function titleLink(record) {
  const href = recordHref(record);
  return el(
    href ? "a.title" : "span.title",
    { href: href || null, key: href && "open-" + record.id },
    titleOf(record)
  );
}

// Names and values of the fields that a record has.
function factList(record, fields, kind = "facts") {
  const shown = fields.filter(field => has(record, field));
  return (
    shown.length > 0 &&
    el(
      "dl",
      { class: kind },
      shown.map(field => el("div", el("dt", field.label), el("dd", view(record, field))))
    )
  );
}

// One line for a record: something before it, its name with a second line, its status, what else and its
// menu.
function rowOf(record, { before, sub, facts, menu } = {}) {
  return el(
    "li.row",
    before,
    el("div.row-text", titleLink(record), sub && el("div.sub", sub)),
    el("div.row-facts", facts, statusBadge(record)),
    menu && recordMenu(record)
  );
}

function subText(record, count = 2) {
  const fields = keyFields(kindOf(record), 5).filter(field => !isDated(field) && has(record, field));
  return fields
    .slice(0, count)
    .map(field => textIn(record, field))
    .join(" \u00b7 ");
}

function longText(record) {
  const field = ofType(kindOf(record), "longtext")[0];
  return field && has(record, field) ? textIn(record, field) : subText(record);
}

// --- states: nothing there, still loading, gone wrong

function stateBox(name, title, text, ...actions) {
  return el(
    "div",
    { class: "state " + (name === "alert" ? "bad" : "") },
    el("div.state-art", { mute: true }, icon(name)),
    el("h2", title),
    el("p", text),
    actions
  );
}

function emptyState(entity, clear) {
  const plural = small(entity.plural);
  if (clear)
    return stateBox(
      "search",
      t("nothing_found"),
      t("nothing_found_hint"),
      button(t("clear_filters"), clear, { icon: "close" })
    );
  return stateBox(
    entity.icon,
    t("nothing_yet", { plural }),
    t("nothing_yet_hint", { plural }),
    newButton(entity)
  );
}

function loadingState(kind) {
  const bones = Array.from({ length: 8 }, () => el("div.bone", el("span"), el("span"), el("span")));
  return el("div", { class: "bones " + kind, "aria-busy": "true" }, el("p.sr-only", t("loading")), bones);
}

function errorState() {
  const again = () => {
    setReview("state", "");
    focusTitle();
  };
  return stateBox(
    "alert",
    t("error_title"),
    t("error_text"),
    button(t("try_again"), again, { kind: "primary", icon: "undo" })
  );
}

function refusedState() {
  return stateBox(
    "shield",
    t("refused"),
    t("refused_hint", { role: currentRole().label }),
    button(t("to_start"), hrefTo(homeScreen()), { kind: "primary" })
  );
}

// --- toast: what just happened, and the way back; it stays until it is dismissed or two screens further on

function toast(text, undo) {
  const done = () => {
    app.toasts.replaceChildren();
    focusTitle();
  };
  const back = () => {
    undo();
    redraw();
    done();
    say(t("undone"));
  };
  app.toasts.replaceChildren(
    el(
      "div.toast",
      icon("check"),
      el("span", text),
      undo && button(t("undo"), back),
      button("", done, { icon: "close", label: t("dismiss") })
    )
  );
  app.toastAge = 0;
}

function focusTitle() {
  (app.dialog.open ? byId("quick-title") : byId("title")).focus();
}

// --- what one can do with a record

function newButton(entity, kind = "primary") {
  return (
    may("create") &&
    button(t("new_one", { label: small(entity.label) }), formHref(entity), {
      kind,
      icon: "plus",
      key: "new"
    })
  );
}

function statusItems(record) {
  const status = may("edit") && statusOf(record);
  return status
    ? nextStates(status).map(value => [
        t("mark_as", { value: capital(value) }),
        "move",
        () => changeField(record, status.field, value)
      ])
    : [];
}

function removeItem(record, after) {
  return may("delete")
    ? [
        [
          t("delete"),
          "trash",
          () => {
            toast(t("deleted", { title: titleOf(record) }), removeRecord(kindOf(record), record.id));
            after();
          }
        ]
      ]
    : [];
}

function recordMenu(record) {
  const items = () => {
    const stored = latest(record);
    const href = recordHref(stored);
    return [
      ...(href ? [[t("open"), "expand", () => goTo(href)]] : []),
      ...(may("edit") ? [[t("edit"), "edit", () => goTo(formHref(kindOf(stored), stored))]] : []),
      ...statusItems(stored),
      ...removeItem(stored, redraw)
    ];
  };
  return (
    items().length > 0 &&
    menuButton(t("actions_for", { title: titleOf(record) }), items, {
      kind: "quiet",
      icon: "more",
      key: "menu-" + record.id
    })
  );
}

// The one thing to do next with a record: its status one step on.
function nextButton(record, kind) {
  const status = statusOf(record);
  const next = status && status.field.values[status.field.values.indexOf(status.value) + 1];
  if (!next || isClosed(record) || !may("edit")) return null;
  return button(t("mark_as", { value: capital(next) }), () => changeField(record, status.field, next), {
    kind,
    icon: "move",
    key: "next-" + record.id
  });
}

// --- search and filters above the rows of a screen

function byText(pairs) {
  return pairs.sort((a, b) => intl("Collator", { numeric: true }).compare(a[1], b[1]));
}

// What a filter of a field offers: [value, text] pairs.
function filterChoices(entity, field) {
  if (isDated(field)) return ["overdue", "today", "this_week", "next_30_days"].map(when => [when, t(when)]);
  if (field.values) return field.values.map(value => [value, capital(value)]);
  if (!["boolean", "person", "ref", "rating", "tags"].includes(field.type)) return [];
  const values = new Set(
    app.data
      .get(entity.id)
      .flatMap(record => get(record, field))
      .filter(value => !isEmpty(value))
  );
  return byText(
    [...values].map(value => [String(value), field.type === "tags" ? value : textOf(field, value)])
  );
}

function screenFilters(screen, entity) {
  const usual = ofType(entity, "status", "choice")
    .slice(0, 3)
    .map(field => field.id);
  const ids = screen.filters && screen.filters.length ? screen.filters : usual;
  const all = new Set([...ids, ...filtersInRoute().map(filter => filter.field)]);
  return [...all]
    .map(id => fieldOf(entity, id))
    .filter(field => field && filterChoices(entity, field).length);
}

// The rows that search and filters leave over.
function shownRecords(entity) {
  const words = param("q").toLowerCase().split(/\s+/).filter(Boolean);
  const filters = filtersInRoute();
  return listRecords(entity).filter(
    record =>
      filters.every(filter => matches(record, filter)) &&
      words.every(word => searchText(record).includes(word))
  );
}

function clearFilters() {
  const names = [...app.route.params.keys()].filter(name => /^[fw]\.|^q$|^page$|^period$/.test(name));
  setParams(Object.fromEntries(names.map(name => [name, ""])));
  redraw();
  focusTitle();
  say(t("filters_cleared"));
}

function toolbar(screen, entity, update, extras) {
  const label = t("search_in", { plural: small(entity.plural) });
  const oninput = event => {
    setParams({ q: event.target.value, page: "" });
    update();
  };
  return el(
    "div.toolbar",
    { role: "search", "aria-label": t("search_and_filter") },
    el(
      "div.search",
      icon("search"),
      el("input", {
        type: "search",
        id: "search",
        value: param("q"),
        placeholder: label,
        "aria-label": label,
        oninput
      })
    ),
    screenFilters(screen, entity).map(field => filterBox(entity, field, update)),
    extras && el("div.extras", extras)
  );
}

// One filter: a button that shows how many are chosen, and checkmarks behind it; of times one alone.
function filterBox(entity, field, update) {
  const name = (isDated(field) ? "w." : "f.") + field.id;
  const chosen = () => app.route.params.getAll(name);
  const count = el(".count");
  const show = () => {
    count.textContent = chosen().length ? num(chosen().length) : "";
    box.classList.toggle("on", chosen().length > 0);
  };
  const onchange = event => {
    if (isDated(field)) for (const input of inputs) if (input !== event.target) input.checked = false;
    setParams({ [name]: inputs.filter(input => input.checked).map(input => input.value), page: "" });
    show();
    update();
  };
  const choices = filterChoices(entity, field);
  const inputs = choices.map(([value]) =>
    el("input", { type: "checkbox", value, checked: chosen().includes(value), onchange })
  );
  const box = el(
    "details.filter",
    { onkeydown: onFilterKey, ontoggle: onFilterToggle },
    el("summary.button", { key: "filter-" + field.id }, el("span", field.label), count, icon("down")),
    el(
      "fieldset.filter-box",
      el("legend.sr-only", field.label),
      inputs.map((input, place) => el("label.choice", input, el("span", choices[place][1])))
    )
  );
  show();
  return box;
}

function onFilterKey(event) {
  if (event.key !== "Escape") return;
  event.currentTarget.open = false;
  event.currentTarget.firstChild.focus();
}

function closeFilters(target) {
  for (const box of document.querySelectorAll("details.filter[open]"))
    if (!box.contains(target)) box.open = false;
}

function onFilterToggle(event) {
  const box = event.currentTarget;
  if (!box.open) return;
  closeFilters(box);
  box.classList.remove("to-end");
  const { left, right } = box.lastChild.getBoundingClientRect();
  box.classList.toggle("to-end", left < 0 || right > app.root.clientWidth);
}

// A screen of records: a heading, search and filters, and rows that `draw` makes anew with each of them.
function recordScreen(screen, entity, draw, { note, extras, actions = [] } = {}) {
  const results = el("div");
  const count = el("p");
  const update = quiet => {
    const records = shownRecords(entity);
    const all = listRecords(entity).length;
    const filtered = param("q") || filtersInRoute().length;
    count.textContent =
      records.length === all
        ? countOf(entity, all)
        : t("count_of", { shown: records.length, all: countOf(entity, all) });
    results.replaceChildren(
      records.length ? draw(records, update) : emptyState(entity, all && filtered && clearFilters)
    );
    if (quiet !== true) say(count.textContent);
  };
  const head = pageHead(screen.title, {
    note: note || count,
    actions: [actions, newButton(entity, "primary create")]
  });
  if (app.blocked) return [head, app.blocked(screen.type)];
  update(true);
  return [head, toolbar(screen, entity, update, extras), results];
}

// Which of `total` rows are on the present page, and buttons for the pages before and after.
function pager(total, update) {
  const size = { compact: 25, comfortable: 20, roomy: 12 }[app.blueprint.theme.density];
  const pages = Math.ceil(total / size);
  const page = Math.min(pages, Math.max(1, Number(param("page")) || 1));
  const from = (page - 1) * size;
  const turn = to => () => {
    setParams({ page: to > 1 ? to : "" });
    update();
    byKey("page").focus();
  };
  return {
    from,
    to: from + size,
    view:
      pages > 1 &&
      el(
        "nav.pager",
        { "aria-label": t("pages") },
        el(
          "span",
          { key: "page", tabindex: -1 },
          t("page_of", { from: from + 1, to: Math.min(total, from + size), all: total })
        ),
        button(t("previous"), turn(page - 1), { icon: "previous", disabled: page <= 1 }),
        button(t("next"), turn(page + 1), { icon: "next", disabled: page >= pages })
      )
  };
}

// A table of texts: the first column names the row, the others are numbers.
function numbersTable(caption, head, rows, foot) {
  const line = (cells, tag) =>
    el(
      "tr",
      cells.map((text, place) =>
        place && tag === "td"
          ? el("td.number", text)
          : el(place ? "th.number" : "th", { scope: tag === "td" ? "row" : "col" }, text)
      )
    );
  return el(
    "table.table.plain",
    el("caption.sr-only", caption),
    el("thead", line(head, "th")),
    el(
      "tbody",
      rows.map(cells => line(cells, "td"))
    ),
    foot && el("tfoot", line(foot, "td"))
  );
}
""",
    "rows": r"""
// Lists, cards, boards and the inbox.
function listView(screen, entity) {
  return recordScreen(
    screen,
    entity,
    (records, update) => {
      const sorted = sortedRecords(screen, records);
      const { from, to, view: pages } = pager(sorted.length, update);
      const rows = sorted.slice(from, to);
      return el(
        "div.sheet",
        app.narrow
          ? el(
              "ul",
              rows.map(one => el("li.row-card", cardOf(one, columnsOf(screen))))
            )
          : recordTable(screen, rows, update),
        pages
      );
    },
    { extras: app.narrow && sortSelect(screen) }
  );
}

function sortedRecords(screen, records) {
  const field = fieldOf(entityOf(screen), param("sort").replace("-", ""));
  return field ? sortBy(records, field, param("sort").startsWith("-")) : records;
}

function sortSelect(screen) {
  const choices = columnsOf(screen).flatMap(({ id, label }) => [
    [id, t("ascending", { label })],
    ["-" + id, t("descending", { label })]
  ]);
  return selectBox(t("sort_by"), "sort", param("sort"), [["", t("usual_order")], ...choices], sort => {
    change({ sort, page: "" });
  });
}

function isRight(field) {
  return isNumeric(field) && field.type !== "rating" && field.type !== "percent";
}

function recordTable(screen, records, update) {
  const room = Math.max(3, Math.floor((app.main.clientWidth - (param("open") ? 640 : 100)) / 128));
  const columns = columnsOf(screen).slice(0, room);
  return el(
    "div.wide",
    el(
      "table.table",
      el("caption.sr-only", screen.title),
      el(
        "thead",
        el(
          "tr",
          columns.map(field => sortHeader(field, update)),
          el("td")
        )
      ),
      el(
        "tbody",
        records.map(record => tableRow(record, columns))
      )
    )
  );
}

function sortHeader(field, update) {
  const on = param("sort").replace("-", "") === field.id;
  const down = on && param("sort").startsWith("-");
  const onclick = () => {
    setParams({ sort: down ? "" : (on ? "-" : "") + field.id, page: "" });
    update();
    byKey("sort-" + field.id).focus();
  };
  return el(
    "th",
    {
      scope: "col",
      class: isRight(field) ? "number" : "",
      "aria-sort": on ? (down ? "descending" : "ascending") : null
    },
    el(
      "button.sort",
      { type: "button", key: "sort-" + field.id, onclick },
      el("span", field.label),
      icon(on ? (down ? "down" : "up") : "sort")
    )
  );
}

function tableRow(record, columns) {
  const href = recordHref(record);
  const cells = columns.map((field, place) => {
    if (place) return el("td", { class: isRight(field) ? "number" : "" }, view(record, field));
    const text = textIn(record, field) || titleOf(record);
    return el(
      "th",
      { scope: "row" },
      href ? el("a.title", { href, key: "open-" + record.id }, text) : text
    );
  });
  const onclick = event => {
    if (href && !event.target.closest("a, button") && !String(getSelection()))
      byKey("open-" + record.id).click();
  };
  const current = param("open").endsWith("/" + record.id);
  return el(
    "tr",
    { class: (href ? "can-open" : "") + (current ? " current" : ""), onclick },
    cells,
    el("td.end", recordMenu(record))
  );
}

function cardsView(screen, entity) {
  return recordScreen(
    screen,
    entity,
    (records, update) => {
      const { from, to, view: pages } = pager(records.length, update);
      const fields = screen.columns ? columnsOf(screen) : keyFields(entityOf(screen), 4);
      const cards = sortedRecords(screen, records)
        .slice(from, to)
        .map(one => el("li.card", cardOf(one, fields, glyph(one), nextButton(one, "quiet"))));
      return el("div", el("ul.cards", cards), pages);
    },
    { extras: sortSelect(screen) }
  );
}

function cardOf(record, fields, before, next) {
  const { display } = kindOf(record);
  const shown = fields
    .filter(field => field.id !== display && field.type !== "status" && has(record, field))
    .slice(0, 4);
  return [
    el("div.card-head", before, el("h2", titleLink(record)), recordMenu(record)),
    factList(record, shown),
    (next || statusOf(record)) && el("div.card-foot", statusBadge(record), next)
  ];
}

// --- boards: a column for each value; a card moves by dragging or by its menu

function boardView(screen, entity) {
  return recordScreen(screen, entity, records => {
    const field = fieldOf(entityOf(screen), screen.groupBy);
    const inColumn = value => records.filter(record => get(record, field) === value);
    const rest = records.filter(record => !field.values.includes(get(record, field)));
    const columns = field.values.map(value => boardColumn(field, value, inColumn(value)));
    return el(
      "div.board",
      { css: { "--columns": columns.length + (rest.length ? 1 : 0) } },
      columns,
      rest.length > 0 && boardColumn(field, "", rest)
    );
  });
}

function boardColumn(field, value, records) {
  const name = value ? capital(value) : t("no_value");
  return el(
    "section.column",
    {
      "aria-label": t("column", { name, count: records.length }),
      ...dropTarget(record => moveCard(record, field, value))
    },
    el("h2", el("span", { class: "pip " + toneOf(field, value) }), name, el(".count", num(records.length))),
    records.length
      ? el(
          "ul.stack",
          records.map(record => ticket(record, field))
        )
      : el("p.quiet", t("column_empty"))
  );
}

function ticket(record, field) {
  const fields = keyFields(kindOf(record), 5).filter(one => one !== field && has(record, one));
  const person = fields.find(one => one.type === "person");
  const date = fields.find(isDated);
  const rest = fields.filter(one => one !== person && one !== date).slice(0, 2);
  const items = () =>
    field.values.map(value => [
      capital(value),
      "blank",
      () => moveCard(record, field, value),
      get(latest(record), field) === value
    ]);
  const move =
    may("edit") &&
    menuButton(t("move_card", { title: titleOf(record) }), items, {
      kind: "quiet",
      icon: "move",
      key: "move-" + record.id
    });
  return el(
    "li.ticket",
    dragSource(record),
    el("div.card-head", el("h3", titleLink(record)), move),
    el(
      "div.sub",
      rest.map(one => el("span", view(record, one, true)))
    ),
    el(
      "div.card-foot",
      date ? view(record, date) : el("span"),
      person &&
        el("span", { title: get(record, person) }, avatar(get(record, person)), hidden(get(record, person)))
    )
  );
}

function moveCard(record, field, value) {
  if (get(record, field) === value) return;
  changeField(record, field, value);
  say(t("moved", { title: titleOf(record), value: capital(value) }));
}

function dragSource(record) {
  if (!may("edit")) return {};
  return {
    draggable: "true",
    ondragstart: event => event.dataTransfer.setData("text/plain", kindOf(record).id + "/" + record.id)
  };
}

function dropTarget(act) {
  const over = on => event => {
    event.preventDefault();
    event.currentTarget.classList.toggle("over", on);
  };
  return {
    ondragover: over(true),
    ondragleave: over(false),
    ondrop: event => {
      over(false)(event);
      const [entity, id] = event.dataTransfer.getData("text/plain").split("/");
      const record = app.entities.has(entity) && getRecord(entity, id);
      if (record && may("edit")) act(record);
    }
  };
}

// --- inbox: the messages on one side, the chosen one on the other

function inboxView(screen, entity) {
  return recordScreen(
    screen,
    entity,
    records => {
      const date = leadDate(entity);
      const sorted = date ? sortBy(records, date, true) : records;
      const opened = sorted.find(record => record.id === app.route.record);
      const chosen = opened || (!app.narrow && sorted[0]);
      if (opened && isUnread(opened)) {
        app.seen.add(entity.id + "/" + opened.id);
        changed();
      }
      return el(
        "div",
        { class: "inbox sheet" + (opened ? " reading" : "") },
        el(
          "ul",
          { "aria-label": screen.title },
          sorted.slice(0, 100).map(record => inboxRow(screen, record, date, chosen))
        ),
        chosen
          ? el("section", { "aria-labelledby": "quick-title" }, inboxReader(screen, chosen))
          : el("div.state", icon("inbox"), el("p", t("choose_one")))
      );
    },
    { note: t("unread", { count: unreadCount(entity) }) }
  );
}

// Unread is what nobody opened here and what is not dealt with; some were read before.
function isUnread(record) {
  return (
    !app.seen.has(kindOf(record).id + "/" + record.id) && !isClosed(record) && hue(record.id) > "hue-1"
  );
}

function unreadCount(entity) {
  return listRecords(entity).filter(isUnread).length;
}

function inboxRow(screen, record, date, chosen) {
  const person = ofType(kindOf(record), "person").find(field => has(record, field));
  const unread = isUnread(record);
  const { params } = app.route;
  return el(
    "li",
    el(
      "a.inbox-row",
      {
        class: unread ? "inbox-row unread" : "inbox-row",
        href: address(screen.id, record.id, params),
        "aria-current": record === chosen ? "true" : null,
        key: "row-" + record.id
      },
      el(
        ".inbox-top",
        el(
          "span",
          unread && el(".dot"),
          unread && hidden(t("unread_mark")),
          person ? textIn(record, person) : kindOf(record).label
        ),
        date &&
          has(record, date) &&
          el("time", formatDate(get(record, date), { day: "numeric", month: "short" }))
      ),
      el("strong", titleOf(record)),
      el(".clip", longText(record)),
      statusBadge(record)
    )
  );
}

function inboxReader(screen, record) {
  const unread = () => {
    app.seen.delete(kindOf(record).id + "/" + record.id);
    changed();
    goTo(hrefTo(screen.id));
  };
  return quickView(
    record,
    el("a.back", { href: hrefTo(screen.id) }, icon("previous", "flip"), el("span", screen.title)),
    button(t("mark_unread"), unread, { icon: "mail" })
  );
}
""",
    "dates": r"""
// Calendars and timelines.
function calendarView(screen, entity) {
  const kinds = ["month", "week", "agenda"];
  const kind = app.narrow ? "agenda" : kinds.find(one => one === param("view")) || "month";
  const choose = value => {
    change({ view: value === "month" ? "" : value });
  };
  return recordScreen(
    screen,
    entity,
    records => {
      const at = dayInRoute();
      const range = calendarRange(kind, at);
      const days = recordsByDay(screen, records, range);
      const step = count => (kind === "week" ? addDays(at, 7 * count) : addMonths(at, count));
      const draw = kind === "agenda" ? agendaList : dayTable;
      return el("div", periodBar(range.title, step), draw(screen, days, range));
    },
    {
      extras:
        !app.narrow &&
        segmented(
          t("view"),
          "view",
          kind,
          kinds.map(one => [one, t(one)]),
          choose
        )
    }
  );
}

function dayInRoute() {
  return /^\d{4}-\d\d-\d\d$/.test(param("at")) && !Number.isNaN(toDate(param("at")).getTime())
    ? param("at")
    : app.today;
}

function calendarRange(kind, at) {
  const week = startOfWeek(at);
  if (kind === "week")
    return { from: week, to: addDays(week, 6), title: formatRange(week, addDays(week, 6)) };
  const first = at.slice(0, 8) + "01";
  const last = addDays(addMonths(at, 1), -1);
  const whole = kind === "month";
  return {
    from: whole ? startOfWeek(first) : first,
    to: whole ? addDays(startOfWeek(last), 6) : last,
    title: monthName(first),
    month: at.slice(0, 7)
  };
}

// The heading of a span of time with buttons for earlier, today and later; `step` reckons the day to go to.
function periodBar(title, step) {
  const turn = day => () => {
    change({ at: day === app.today ? "" : day });
    say(byId("range").textContent);
  };
  return el(
    "div.period",
    el("h2", { id: "range" }, title),
    el(
      "div.actions",
      button("", turn(step(-1)), { kind: "flip", icon: "previous", label: t("earlier"), key: "earlier" }),
      button(t("today"), turn(app.today), { key: "today" }),
      button("", turn(step(1)), { kind: "flip", icon: "next", label: t("later"), key: "later" })
    )
  );
}

// Which records lie on which day; one with an end lies on every day of its span.
function recordsByDay(screen, records, range) {
  const days = new Map();
  for (const span of spansOf(screen, records)) {
    for (
      let day = span.from < range.from ? range.from : span.from;
      day <= span.to && day <= range.to;
      day = addDays(day, 1)
    ) {
      days.set(day, [...(days.get(day) || []), span.record]);
    }
  }
  return days;
}

function spansOf(screen, records) {
  const entity = entityOf(screen);
  const [start, stop] = [
    fieldOf(entity, screen.dateField),
    fieldOf(entity, screen.endField || screen.dateField)
  ];
  return sortBy(
    records.filter(record => has(record, start)),
    start
  ).map(record => {
    const from = dayOf(record, start);
    const to = dayOf(record, stop);
    return { record, from, to: to > from ? to : from };
  });
}

function dateOf(screen) {
  return fieldOf(entityOf(screen), screen.dateField);
}

function daysFrom(day, count) {
  return Array.from({ length: count }, (none, place) => addDays(day, place));
}

function dayTable(screen, days, range) {
  const dates = daysFrom(range.from, daysBetween(range.from, range.to) + 1);
  const weeks = dates.filter((day, place) => place % 7 === 0);
  const heads = dates
    .slice(0, 7)
    .map(day =>
      el(
        "th",
        { scope: "col", abbr: formatDate(day, { weekday: "long" }) },
        formatDate(day, { weekday: "short" })
      )
    );
  return el(
    "table.sheet",
    { class: range.month ? "month" : "month tall" },
    el("caption.sr-only", screen.title + ", " + range.title),
    el("thead", el("tr", heads)),
    el(
      "tbody",
      weeks.map(week =>
        el(
          "tr",
          daysFrom(week, 7).map(day => dayCell(screen, days.get(day) || [], day, range))
        )
      )
    )
  );
}

function dayCell(screen, records, day, range) {
  const date = dateOf(screen);
  const outside = range.month && day.slice(0, 7) !== range.month;
  const most = range.month ? 3 : records.length;
  const { plus, label } = newOn(screen, day);
  return el(
    "td",
    {
      class: "day" + (outside ? " outside" : "") + (day === app.today ? " is-today" : ""),
      ...dropTarget(record => moveTo(record, date, day))
    },
    el(
      "div.day-head",
      el("time", { datetime: day }, el(".day-number", { mute: true }, dayNumber(day)), hidden(label)),
      !outside && plus
    ),
    el(
      "ul",
      records.slice(0, most).map(record => el("li", eventLink(screen, record, !range.month)))
    ),
    records.length > most &&
      button(t("more_events", { count: records.length - most }), () => change({ view: "week", at: day }), {
        kind: "quiet tiny",
        key: "day-" + day
      })
  );
}

function newOn(screen, day) {
  const entity = entityOf(screen);
  const date = dateOf(screen);
  const label =
    formatDate(day, { weekday: "long", day: "numeric", month: "long" }) +
    (day === app.today ? ", " + t("today") : "");
  const href =
    may("create") &&
    formHref(entity, null, { [date.id]: day + (date.type === "datetime" ? "T09:00" : "") });
  return {
    label,
    plus:
      href &&
      el(
        "a.day-new",
        { href, "aria-label": t("new_on", { label: small(entity.label), day: formatDate(day) }) },
        icon("plus")
      )
  };
}

// A record that is dropped on a day keeps its time of day.
function moveTo(record, date, day) {
  if (dayOf(record, date) !== day) changeField(record, date, day + get(record, date).slice(10));
}

// A bare number says little in a calendar: what it is about says more.
function eventName(record) {
  const title = titleOf(record);
  return (/^[A-Z]{1,6}-[\d-]+$/.test(title) && subText(record, 1)) || title;
}

function eventLink(screen, record, who) {
  const date = dateOf(screen);
  const status = statusOf(record);
  const person = who && ofType(kindOf(record), "person").find(field => has(record, field));
  const href = recordHref(record);
  return el(
    href ? "a" : "span",
    {
      class: "event " + (status ? status.tone : "info"),
      href: href || null,
      key: "event-" + record.id,
      ...dragSource(record)
    },
    date.type === "datetime" && el("b", formatTime(get(record, date))),
    el(".clip", eventName(record)),
    person && el(".sub", textIn(record, person))
  );
}

function agendaList(screen, days, range) {
  const time = record =>
    el(
      "time.when",
      dateOf(screen).type === "datetime" ? formatTime(get(record, dateOf(screen))) : t("all_day")
    );
  return days.size
    ? rowGroups(
        [...days.keys()]
          .sort()
          .map(day => [
            [
              capital(formatDate(day, { weekday: "long", day: "numeric", month: "long" })),
              day === app.today && badge(t("today"), "info")
            ],
            days
              .get(day)
              .map(record => rowOf(record, { before: time(record), sub: subText(record), menu: true }))
          ])
      )
    : nothingIn(range.title);
}

function rowGroups(groups) {
  return el(
    "div.groups",
    groups.map(([title, rows]) => el("section", el("h2", title), el("ul.sheet", rows)))
  );
}

function nothingIn(range) {
  return stateBox("calendar", t("nothing_in", { range }), t("nothing_in_hint"));
}

// --- timeline: spans on a scale when there is an end, else a dated story

function timelineView(screen, entity) {
  const spans = screen.endField && !app.narrow;
  const lengths = [
    ["14", t("two_weeks")],
    ["35", t("month")],
    ["91", t("quarter")]
  ];
  const length = lengths.map(([value]) => value).find(value => value === param("view")) || "35";
  const choose = value => {
    change({ view: value });
  };
  return recordScreen(
    screen,
    entity,
    records => (spans ? spanChart(screen, records, Number(length)) : story(screen, records)),
    { extras: spans && segmented(t("zoom"), "zoom", length, lengths, choose) }
  );
}

function spanChart(screen, records, length) {
  const at = dayInRoute();
  const from = addDays(startOfWeek(at), -7 * Math.round(length / 28));
  const to = addDays(from, length - 1);
  const spans = spansOf(screen, records).filter(span => span.to >= from && span.from <= to);
  const place = day => (daysBetween(from, day) / length) * 100 + "%";
  const today = () =>
    app.today >= from &&
    app.today <= to &&
    el(".span-today", { css: { "inset-inline-start": place(app.today) } });
  const marks = daysFrom(from, length).filter((day, number) => number % (length > 50 ? 14 : 7) === 0);
  const scale = marks.map(day =>
    el(
      "span",
      { css: { "inset-inline-start": place(day) } },
      formatDate(day, { day: "numeric", month: "short" })
    )
  );
  const bar = ({ record, from: first, to: last }) => {
    const start = first < from ? from : first;
    const width = ((daysBetween(start, last > to ? to : last) + 1) / length) * 100 + "%";
    const status = statusOf(record);
    return el(
      "li.span-row",
      el("div.clip", titleLink(record)),
      el(
        "div.span-track",
        today(),
        el("span", {
          class: "span-bar " + (status ? status.tone : "info"),
          css: { "inset-inline-start": place(start), width }
        }),
        hidden(formatRange(first, last) + (status ? ", " + status.value : ""))
      )
    );
  };
  return el(
    "div",
    periodBar(formatRange(from, to), count => addDays(at, count * Math.ceil(length / 14) * 7)),
    spans.length
      ? el(
          "div.sheet",
          { css: { "--weeks": length / 7 } },
          el(
            "div.span-row.span-top",
            { mute: true },
            el("span", kindOf(spans[0].record).label),
            el("div.span-track", scale)
          ),
          el("ul", spans.slice(0, 200).map(bar))
        )
      : nothingIn(formatRange(from, to))
  );
}

function story(screen, records) {
  const date = dateOf(screen);
  const sorted = sortBy(
    records.filter(record => has(record, date)),
    date,
    true
  );
  const months = [...new Set(sorted.map(record => dayOf(record, date).slice(0, 7)))];
  const row = record =>
    rowOf(record, {
      sub: longText(record),
      menu: true,
      before: el("time.when", formatDate(get(record, date), { day: "numeric", month: "short" }))
    });
  return rowGroups(
    months.map(month => [
      monthName(month + "-01"),
      sorted.filter(record => dayOf(record, date).startsWith(month)).map(row)
    ])
  );
}
""",
    "detail": r"""
// One record: what it is, what is to be done next, what it is linked with.
function detailView(screen, entity) {
  const { record: id } = app.route;
  const record = id ? getRecord(entity.id, id) : listRecords(entity)[0];
  const back = backTo(listScreen(entity));
  if (app.blocked) return [pageHead(screen.title, { back }), app.blocked("detail")];
  if (!record || param("state") === "empty")
    return [pageHead(screen.title, { back }), id && !record ? missingState(entity) : emptyState(entity)];
  return [
    pageHead(titleOf(record), {
      back,
      before: glyph(record, " large"),
      note: [entity.label, " ", statusBadge(record)],
      actions: recordActions(record, () => goTo(back ? back.href : hrefTo(homeScreen())))
    }),
    el(
      "div.detail",
      el("div", statusTrack(record), factsBlock(record), notesOf(record)),
      el("div", relatedBlocks(record), historyBlock(record))
    )
  ];
}

function missingState(entity) {
  return stateBox(
    "search",
    t("not_there", { label: small(entity.label) }),
    t("not_there_hint"),
    button(t("to_start"), hrefTo(homeScreen()), { kind: "primary" })
  );
}

function recordActions(record, leave) {
  const items = () => [...statusItems(record), ...removeItem(record, leave)];
  return [
    nextButton(record, "primary"),
    may("edit") && button(t("edit"), formHref(kindOf(record), record), { icon: "edit", key: "edit" }),
    items().length > 0 &&
      menuButton(t("actions_for", { title: titleOf(record) }), items, { icon: "more", key: "more" })
  ];
}

// Steps in their order; what lies behind is checked.
function stepList(label, names, place) {
  return el(
    "ol.steps",
    { "aria-label": label },
    names.map((name, index) =>
      el(
        "li",
        { class: index < place ? "past" : "", "aria-current": index === place ? "step" : null },
        el(".step-mark", { mute: true }, index < place ? icon("check") : String(index + 1)),
        el("span", name)
      )
    )
  );
}

function statusTrack(record) {
  const status = statusOf(record);
  if (!status) return null;
  const main = status.field.values.filter(
    (value, place) => value === status.value || !place || !/plain|bad/.test(toneOf(status.field, value))
  );
  return block(
    status.field.label,
    stepList(status.field.label, main.map(capital), main.indexOf(status.value)),
    { kind: "track-block" }
  );
}

function factFields(record) {
  return kindOf(record).fields.filter(
    field => !["longtext", "status"].includes(field.type) && field.id !== kindOf(record).display
  );
}

function factsBlock(record) {
  const facts = factList(record, factFields(record), "fact-grid");
  return facts && block(t("key_facts"), facts);
}

function notesOf(record) {
  return ofType(kindOf(record), "longtext")
    .filter(field => has(record, field))
    .map(field => block(field.label, el("p.prose", { dir: "auto" }, get(record, field))));
}

// Records that refer to this one, each kind with a way to add another.
function relatedBlocks(record) {
  const refs = app.blueprint.entities.flatMap(entity =>
    ofType(entity, "ref").map(field => [entity, field])
  );
  return refs
    .filter(([, field]) => field.entity === kindOf(record).id)
    .map(([entity, field]) => {
      const rows = listRecords(entity).filter(one => get(one, field) === record.id);
      const list = listScreen(entity);
      const all = list && rows.length > 5 && hrefTo(list.id, "", { ["f." + field.id]: record.id });
      const add =
        may("create") &&
        button(t("add"), formHref(entity, null, { [field.id]: record.id }), {
          kind: "quiet",
          icon: "plus",
          key: "add-" + field.id,
          "aria-label": t("add") + " " + small(entity.label)
        });
      return block(
        entity.plural,
        [
          rows.length
            ? el(
                "ul",
                rows
                  .slice(0, 5)
                  .map(one => rowOf(one, { facts: leadDate(entity) && view(one, leadDate(entity)) }))
              )
            : el("p.quiet", t("nothing_yet", { plural: small(entity.plural) })),
          all && el("a.more", { href: all }, t("view_all", { count: rows.length }))
        ],
        { count: rows.length, action: add }
      );
    });
}

// What was done here, then the dates that lie behind.
function historyBlock(record) {
  const { id, fields } = kindOf(record);
  const done = app.log
    .filter(([entity, one]) => entity === id && one === record.id)
    .map(([, , text]) => text)
    .reverse();
  const past = fields.filter(
    field => isDated(field) && has(record, field) && dayOf(record, field) <= app.today
  );
  const dates = past
    .sort((a, b) => (dayOf(record, a) < dayOf(record, b) ? 1 : -1))
    .map(field => field.label + " \u00b7 " + textIn(record, field));
  const entries = [...done, ...dates].slice(0, 12);
  return (
    entries.length > 0 &&
    block(
      t("history"),
      el(
        "ol.log",
        entries.map(text => el("li", text))
      )
    )
  );
}

// The same record beside the rows that it was opened from: in a panel, in a dialog, in an inbox with a
// way back.
function quickView(record, back, more) {
  const page = screenFor(kindOf(record), "detail");
  const close = () => goTo(hrefWith({ open: "" }));
  return el(
    "div.quick",
    el(
      "div.quick-bar",
      back || el("span", kindOf(record).label),
      page &&
        button("", hrefTo(page.id, record.id), { kind: "quiet", icon: "expand", label: t("open_page") }),
      !back && button("", close, { kind: "quiet", icon: "close", label: t("close") })
    ),
    el("h2", { id: "quick-title", tabindex: -1 }, titleOf(record)),
    el("div", statusBadge(record)),
    el("div.actions", recordActions(record, close), more),
    notesOf(record),
    factsBlock(record),
    relatedBlocks(record),
    historyBlock(record)
  );
}
""",
    "form": r"""
// Forms: one page or step by step, with hints, checks, a summary of what is wrong, and a draft that
// survives leaving.
function formView(screen, entity) {
  const record = app.route.record ? getRecord(entity.id, app.route.record) : null;
  const list = listScreen(entity);
  const head = pageHead(record ? t("edit_title", { title: titleOf(record) }) : screen.title, {
    back: backTo(list),
    note: t("required_note")
  });
  if (app.route.record && !record) return [head, missingState(entity)];
  if (param("state") === "loading") return [head, loadingState("form")];
  const leave = saved => {
    const next = (saved && screenFor(entity, "detail")) || list;
    goTo(next ? hrefTo(next.id, next.type === "detail" ? saved.id : "") : hrefTo(homeScreen()));
  };
  return [head, formPane(screen, entity, record, leave)];
}

// The form in a dialog over the screen that it was called from.
function formDialog({ entity, record }) {
  const presets = [...app.route.params.keys()].filter(name => name.startsWith("set."));
  const leave = () =>
    goTo(hrefWith({ edit: "", part: "", ...Object.fromEntries(presets.map(name => [name, ""])) }));
  const title = record
    ? t("edit_title", { title: titleOf(record) })
    : t("new_one", { label: small(entity.label) });
  const screen = app.blueprint.screens.find(one => one.type === "form" && one.entity === entity.id);
  return el(
    "div.quick",
    el(
      "div.quick-bar",
      el("h2", { id: "quick-title", tabindex: -1 }, title),
      button("", () => leave(), { kind: "quiet", icon: "close", label: t("close") })
    ),
    formPane(screen, entity, record, leave)
  );
}

function formSteps(screen, entity) {
  const steps = ((screen && screen.steps) || []).map(step => step.map(id => fieldOf(entity, id)));
  const fields = steps[0] || entity.fields;
  if (steps.length > 1 || app.axes.entry !== "guided") return steps.length > 1 ? steps : [fields];
  const size = Math.ceil(fields.length / Math.ceil(fields.length / 4));
  return Array.from({ length: Math.ceil(fields.length / size) }, (none, place) =>
    fields.slice(place * size, place * size + size)
  );
}

function formPane(screen, entity, record, leave) {
  if (!may(record ? "edit" : "create")) return refusedState();
  const key =
    entity.id +
    "/" +
    (record ? record.id : [...app.route.params].filter(([name]) => name.startsWith("set.")));
  const start = field =>
    record
      ? get(record, field)
      : param("set." + field.id) || (field.default === undefined ? "" : field.default);
  if (!app.drafts.has(key))
    app.drafts.set(key, new Map(entity.fields.map(field => [field.id, start(field)])));
  const form = {
    entity,
    record,
    leave,
    key,
    values: app.drafts.get(key),
    steps: formSteps(screen, entity),
    errors: new Map(),
    failed: false
  };
  form.node = el("form.form", {
    novalidate: true,
    onsubmit: event => {
      event.preventDefault();
      onSubmit(form);
    }
  });
  drawForm(form);
  return form.node;
}

// Which part is shown, from 0; the one after the last step is the review.
function partOf(form) {
  return form.steps.length > 1 ? Math.max(0, Math.min(form.steps.length, Number(param("part")) || 0)) : 0;
}

function drawForm(form) {
  const { steps, errors, record, entity } = form;
  const part = partOf(form);
  const guided = steps.length > 1;
  const review = part === steps.length;
  const names = [...steps.map(stepTitle), t("check_answers")];
  const cancel = () => {
    app.drafts.delete(form.key);
    form.leave(null);
  };
  const send =
    review || !guided ? t(record ? "save" : "create", { label: small(entity.label) }) : t("continue");
  form.node.replaceChildren(
    ...[
      guided && stepList(t("progress"), names, part),
      (errors.size > 0 || form.failed) && errorSummary(form),
      el(
        "div.form-body",
        guided && el("h2", { id: "step", tabindex: -1 }, names[part]),
        review ? reviewList(form) : steps[part].map(field => fieldRow(form, field))
      ),
      el(
        "div.actions",
        button(send, null, { kind: "primary", type: "submit", key: "submit" }),
        guided && part > 0 && button(t("back"), () => toPart(form, part - 1), { key: "back" }),
        button(t("cancel"), cancel, { kind: "quiet", key: "cancel" })
      )
    ].filter(Boolean)
  );
}

function stepTitle(fields) {
  return intl("ListFormat", { type: "conjunction" }).format(
    fields.slice(0, 3).map(({ label }, place) => (place ? small(label) : label))
  );
}

function toPart(form, part) {
  form.errors = new Map();
  setParams({ part: part || "" });
  drawForm(form);
  byId("step").focus();
}

function reviewList(form) {
  const record = withKind(form.entity, Object.fromEntries(form.values));
  return el(
    "dl.review-list",
    form.steps.flatMap((fields, place) =>
      fields.map(field =>
        el(
          "div",
          el("dt", field.label),
          el("dd", view(record, field, true)),
          el(
            "dd",
            button(t("change"), () => toPart(form, place), {
              kind: "quiet",
              "aria-label": t("change_field", { field: small(field.label) })
            })
          )
        )
      )
    )
  );
}

// --- one field: label, hint, input, what is wrong with it

function fieldRow(form, field) {
  const id = "field-" + field.id;
  const error = form.errors.get(field.id);
  const hint = field.hint || hintOf(field);
  const attrs = {
    id,
    "aria-describedby": [hint && id + "-hint", error && id + "-error"].filter(Boolean).join(" ") || null,
    "aria-invalid": error ? "true" : null,
    required: field.required
  };
  const label = [field.label, field.required && el(".required", { mute: true }, " *")];
  const help = [
    hint && el("p.hint", { id: id + "-hint" }, hint),
    error && el("p.field-error", { id: id + "-error" }, icon("alert"), error)
  ];
  const wide = ["longtext", "tags"].includes(field.type) || field.id === form.entity.display;
  const input = inputOf(
    field,
    form.values.get(field.id),
    attrs,
    value => form.values.set(field.id, value),
    form.entity
  );
  const choices =
    field.type === "rating"
      ? [1, 2, 3, 4, 5]
      : field.type === "choice" && field.values.length < 5
        ? field.values
        : null;
  return el(
    "div",
    { class: "field" + (error ? " wrong" : "") + (wide ? " full" : "") },
    choices
      ? radios(form, field, choices, label, help, attrs)
      : field.type === "boolean"
        ? [el("label.choice", input, el("span", label)), help]
        : [el("label", { for: id }, label), input, help]
  );
}

function hintOf(field) {
  const [low, high] = [field.min, field.max].map(bound =>
    bound === undefined ? "" : figure(bound, field)
  );
  if (field.type === "tags") return t("tags_hint");
  return low && high
    ? t("between", { low, high })
    : low
      ? t("at_least", { low })
      : high && t("at_most", { high });
}

function radios(form, field, choices, label, help, { id, ...attrs }) {
  const now = String(form.values.get(field.id));
  return el(
    "fieldset",
    {
      role: "radiogroup",
      "aria-describedby": attrs["aria-describedby"],
      "aria-required": field.required ? "true" : null
    },
    el("legend", label),
    el(
      "div.radios",
      choices.map((choice, place) =>
        el(
          "label.choice.pill",
          el("input", {
            type: "radio",
            id: place ? null : id,
            name: id,
            value: choice,
            checked: String(choice) === now,
            onchange: () => form.values.set(field.id, choice)
          }),
          el("span", capital(choice))
        )
      )
    ),
    help
  );
}

// The input of a field or a setting; `set` is told each new value.
function inputOf(field, value, attrs, set, entity) {
  const typed = event => set(event.target.value);
  const input = (type, more) =>
    el("input", { ...attrs, type, value, maxlength: 4000, oninput: typed, ...more });
  const select = pairs =>
    el(
      "select",
      { ...attrs, onchange: typed },
      el("option", { value: "" }, t("choose")),
      pairs.map(([one, text]) => el("option", { value: one, selected: one === value }, text))
    );
  const tags = event =>
    set(
      event.target.value
        .split(",")
        .map(tag => tag.trim())
        .filter(Boolean)
    );
  const unit = field.type === "percent" ? "%" : field.type === "duration" ? t("minutes") : field.unit;
  const make = {
    boolean: () =>
      input("checkbox", { checked: String(value) === "true", oninput: event => set(event.target.checked) }),
    longtext: () => el("textarea", { ...attrs, rows: 4, dir: "auto", value, oninput: typed }),
    ref: () => select(byText(app.data.get(field.entity).map(one => [one.id, titleOf(one)]))),
    tags: () => input("text", { value: [value].flat().join(", "), oninput: tags }),
    person: () => personInput(field, input, entity),
    date: () => input("date"),
    datetime: () => input("datetime-local"),
    email: () => input("email"),
    phone: () => input("tel"),
    url: () => input("url")
  };
  if (field.values) return select(field.values.map(one => [one, capital(one)]));
  if (Object.hasOwn(make, field.type)) return make[field.type]();
  const box = input("text", { inputmode: isNumeric(field) ? "decimal" : null });
  return unit && isNumeric(field) ? el(".with-unit", box, el(".unit", { mute: true }, unit)) : box;
}

// People who are known already are offered while one types.
function personInput(field, input, entity) {
  const known = new Set(
    app.data
      .get(entity.id)
      .map(record => get(record, field))
      .filter(Boolean)
  );
  const list = field.id + "-people";
  return el(
    "span",
    input("text", { list, autocomplete: "off" }),
    el(
      "datalist",
      { id: list },
      [...known].sort().map(value => el("option", { value }))
    )
  );
}

// --- checks and saving

function checkField(field, raw, input) {
  const { label } = field;
  const value = typeof raw === "string" && isNumeric(field) ? toNumber(raw) : raw;
  if (input && input.validity.badInput) return t("bad_date", { label });
  if (isEmpty(raw) || !String(raw).trim()) return field.required ? t("missing", { label }) : "";
  if (field.type === "email" && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(raw)) return t("bad_email", { label });
  if (field.type === "url" && !/^https?:\/\/\S+$/i.test(raw)) return t("bad_url", { label });
  if (!isNumeric(field)) return "";
  if (Number.isNaN(value)) return t("bad_number", { label });
  if (value < field.min) return t("too_small", { label, low: figure(field.min, field) });
  return value > field.max ? t("too_big", { label, high: figure(field.max, field) }) : "";
}

// Numbers as people type them: with the language's own decimal mark or a point, with or without thousands.
function toNumber(text) {
  const mark = intl("NumberFormat", {})
    .formatToParts(1.5)
    .find(part => part.type === "decimal").value;
  const bare = text.replace(/[\s\u00a0\u202f']/g, "");
  const plain = bare
    .split(mark)
    .map(part => part.replace(/[.,](?=\d{3})/g, ""))
    .join(".");
  return plain ? Number(plain) : NaN;
}

function onSubmit(form) {
  const part = partOf(form);
  const fields = form.steps[part] || form.steps.flat();
  const wrong = fields.map(field => [
    field.id,
    checkField(field, form.values.get(field.id), byId("field-" + field.id))
  ]);
  const last = form.steps.length === 1 || part === form.steps.length;
  form.errors = new Map(wrong.filter(([, error]) => error));
  form.failed = last && !form.errors.size && param("state") === "error";
  if (form.errors.size || form.failed) {
    drawForm(form);
    form.node.querySelector(".error-summary").focus();
  } else if (last) {
    saveForm(form);
  } else {
    toPart(form, part + 1);
  }
}

function saveForm({ entity, record, values, key, leave }) {
  const saved = record ? { ...record } : { id: freshId(entity) };
  for (const field of entity.fields) {
    const raw = values.get(field.id);
    saved[field.id] = typeof raw !== "string" ? raw : isNumeric(field) && raw ? toNumber(raw) : raw.trim();
  }
  const undo = saveRecord(entity, saved, t(record ? "log_edited" : "log_created"));
  app.drafts.delete(key);
  toast(t(record ? "saved" : "created", { title: titleOf(saved) }), undo);
  leave(saved);
}

function errorSummary(form) {
  const rows = [...form.errors].map(([id, text]) =>
    el(
      "li",
      el(
        "a",
        {
          href: "#field-" + id,
          onclick: event => {
            event.preventDefault();
            byId("field-" + id).focus();
          }
        },
        text
      )
    )
  );
  return el(
    "div.error-summary",
    { tabindex: -1, role: "alert" },
    el("h2", icon("alert"), t(form.failed ? "not_saved" : "problem_title")),
    form.failed ? el("p", t("not_saved_hint")) : el("ul", rows)
  );
}

// --- settings: the numbers and limits of the brief; a change is kept at once and shows where it matters

function settingsView(screen) {
  const head = pageHead(screen.title, { note: t("settings_note") });
  if (app.blocked) return [head, app.blocked("form")];
  const { settings } = app.blueprint;
  return [
    head,
    settings.length
      ? el("ul.settings", settings.map(settingRow))
      : stateBox("sliders", t("no_settings"), t("no_settings_hint"))
  ];
}

function settingRow(setting) {
  const id = "setting-" + setting.id;
  const value = app.settings.get(setting.id);
  const marks = record =>
    kindOf(record).fields.some(field => isNumeric(field) && watchOf(field, get(record, field)) === setting);
  const count = app.blueprint.entities.flatMap(listRecords).filter(marks).length;
  const notes = [
    setting.because && el("", t("from_brief", { words: setting.because })),
    value !== setting.value && el("", t("was", { value: textOf(setting, setting.value) })),
    count > 0 && badge(t("marks", { count }), "warn flat")
  ];
  const attrs = {
    id,
    key: id,
    disabled: !may("edit"),
    "aria-describedby": id + "-hint",
    role: setting.type === "boolean" ? "switch" : null
  };
  return el(
    "li.block.setting",
    { onchange: event => onSetting(setting, event.target) },
    el("div", el("label", { for: id }, setting.label), el("p.hint", { id: id + "-hint" }, notes)),
    inputOf(setting, value, attrs, () => {})
  );
}

function onSetting(setting, control) {
  const before = app.settings.get(setting.id);
  const value =
    setting.type === "boolean"
      ? control.checked
      : isNumeric(setting)
        ? toNumber(control.value)
        : control.value;
  const put = next => {
    app.settings.set(setting.id, next);
    changed();
  };
  const wrong = Number.isNaN(value);
  control.ariaInvalid = String(wrong);
  if (wrong) return say(t("bad_number", { label: setting.label }));
  put(value);
  toast(t("changed_to", { field: setting.label, value: textOf(setting, value) }), () => put(before));
  return redraw();
}
""",
    "charts": r"""
// Charts, each with a table that says the same; the dashboard and the report that are made of them.

// Records counted, or a number of theirs added up, by the values of a field: [{key, text, count, value}].
function groupRecords(records, field, measure, most) {
  const groups = new Map((field.values || []).map(key => [key, { key, count: 0, value: 0 }]));
  for (const record of records) {
    for (const one of has(record, field) ? [get(record, field)].flat() : [""]) {
      const key = isDated(field) ? String(one).slice(0, 7) : one;
      const group = groups.get(key) || { key, count: 0, value: 0 };
      group.count += 1;
      group.value += measure ? Number(get(record, measure)) || 0 : 1;
      groups.set(key, group);
    }
  }
  const text = key =>
    isEmpty(key)
      ? t("no_value")
      : isDated(field)
        ? monthName(key + "-01")
        : field.type === "tags"
          ? key
          : textOf(field, key);
  const list = [...groups.values()].map(group => ({
    ...group,
    text: text(group.key),
    tone: field.type === "status" ? toneOf(field, group.key) : ""
  }));
  if (!field.values)
    list.sort((a, b) =>
      isDated(field) || field.type === "rating" ? (a.key < b.key ? -1 : 1) : b.value - a.value
    );
  if (!most || list.length <= most) return list;
  const rest = list.splice(most - 1);
  return [...list, { text: t("others"), tone: "", count: sum(rest, "count"), value: sum(rest, "value") }];
}

function sum(groups, name) {
  return groups.reduce((total, group) => total + group[name], 0);
}

// Values by month, gaps as nothing, so that the line tells the truth; two years at most.
function trendGroups(records, date, measure) {
  const groups = groupRecords(
    records.filter(record => has(record, date)),
    date,
    measure
  ).slice(-24);
  const byMonth = new Map(groups.map(group => [group.key, group]));
  const filled = [];
  for (
    let month = groups.length ? groups[0].key : "9";
    month <= groups[groups.length - 1].key && filled.length < 60;
    month = addMonths(month + "-01", 1).slice(0, 7)
  ) {
    filled.push(byMonth.get(month) || { key: month, text: monthName(month + "-01"), count: 0, value: 0 });
  }
  return filled;
}

function drawChart(kind, groups, format) {
  const draw = { bars: barsChart, donut: donutChart, trend: lineChart }[kind];
  return el("div", { class: kind, mute: true }, draw(groups, format));
}

function barsChart(groups, format) {
  const most = Math.max(1, ...groups.map(group => group.value));
  return groups.map(group =>
    el(
      "div.bar-row",
      el(".clip", group.text),
      el(
        ".track",
        el("span", {
          class: "fill " + (group.tone || ""),
          css: { width: (Math.max(0, group.value) / most) * 100 + "%" }
        })
      ),
      el("b", format(group.value))
    )
  );
}

function donutChart(groups, format) {
  const shown = groups.filter(group => group.value > 0);
  const total = sum(shown, "value");
  let turned = 25;
  const rings = shown.map((group, place) => {
    const share = (group.value / total) * 100;
    const length = Math.max(0.4, share - (shown.length > 1 ? 0.8 : 0));
    const ring = svg("circle", {
      class: "ring s" + (place % 6),
      cx: 21,
      cy: 21,
      r: 15.9155,
      "stroke-dasharray": length + " " + (100 - length),
      "stroke-dashoffset": turned
    });
    turned -= share;
    return ring;
  });
  return [
    el(
      "div.ring-box",
      svg("svg", { viewBox: "0 0 42 42" }, rings),
      el("p", el("b", format(total, true)), t("total"))
    ),
    el(
      "ul.legend",
      shown.map((group, place) =>
        el(
          "li",
          el("span", { class: "swatch s" + (place % 6) }),
          el("span", group.text),
          el("b", format(group.value)),
          el(".quiet", percent(group.value / total))
        )
      )
    )
  ];
}

function lineChart(groups, format) {
  const top = Math.max(1, ...groups.map(group => group.value));
  const size = 10 ** Math.floor(Math.log10(top));
  const most = [1, 2, 2.5, 5, 10].map(step => step * size).find(one => one >= top);
  const points = groups.map((group, place) => [
    groups.length > 1 ? (place / (groups.length - 1)) * 600 : 0,
    170 - (Math.max(0, group.value) / most) * 160
  ]);
  if (points.length === 1) points.push([600, points[0][1]]);
  const line = points.map(point => point.join(",")).join(" ");
  return [
    el(
      "div.line-y",
      [1, 0.5, 0].map(part => el("span", format(most * part, true)))
    ),
    svg(
      "svg",
      { viewBox: "0 0 600 180", preserveAspectRatio: "none" },
      [10, 90, 170].map(y => svg("path", { class: "grid", d: "M0 " + y + "H600" })),
      svg("polygon", { class: "area", points: "0,170 " + line + " 600,170" }),
      svg("polyline", { class: "stroke", points: line })
    ),
    el(
      "div.line-x",
      groups.map((group, place) =>
        el(
          "span",
          place % Math.ceil(groups.length / 8) ? "" : formatDate(group.key + "-01", { month: "short" })
        )
      )
    )
  ];
}

// --- dashboard

function dashboardView(screen) {
  const tiles = screen.widgets.filter(widget => ["count", "sum"].includes(widget.kind));
  const panels = screen.widgets.filter(widget => !tiles.includes(widget));
  const lead = screen.widgets[0] && app.entities.get(screen.widgets[0].entity);
  const note = capital(formatDate(app.today, { weekday: "long", day: "numeric", month: "long" }));
  return [
    pageHead(screen.title, { note, actions: lead && newButton(lead, "primary create") }),
    app.blocked
      ? app.blocked("dashboard")
      : [tiles.length > 0 && el("ul.tiles", tiles.map(tileOf)), el("div.panels", panels.map(panelOf))]
  ];
}

// What a widget is about: its records, how its numbers are written, and the rows that it counts.
function widgetParts(widget) {
  const entity = app.entities.get(widget.entity);
  const measure = widget.measure && fieldOf(entity, widget.measure);
  const records = listRecords(entity).filter(record => !widget.filter || matches(record, widget.filter));
  const list = listScreen(entity);
  return {
    entity,
    measure,
    records,
    href: list && hrefTo(list.id, "", filterParams(widget.filter)),
    format: value => figure(value, measure, true)
  };
}

function tileOf(widget) {
  const { entity, measure, records, href, format } = widgetParts(widget);
  const value =
    widget.kind === "sum"
      ? records.reduce((total, record) => total + (Number(get(record, measure)) || 0), 0)
      : records.length;
  const late = widget.filter && widget.filter.when === "overdue" && value > 0;
  return el(
    "li",
    el(
      href ? "a" : "div",
      { class: "tile" + (late ? " bad" : ""), href: href || null },
      el("span", widget.title),
      el("b", format(value)),
      el(".sub", icon(entity.icon), widget.kind === "sum" ? countOf(entity, records.length) : entity.plural)
    )
  );
}

function panelOf(widget) {
  const { entity, measure, records, href, format } = widgetParts(widget);
  const more =
    href &&
    widget.kind === "list" &&
    records.length > 0 &&
    el("a.more", { href }, t("view_all", { count: records.length }), hidden(": " + widget.title));
  const date = leadDate(entity);
  const kind = widget.kind === "trend" && !date ? "bars" : widget.kind;
  const field = kind === "trend" ? date : groupField(entity);
  const groups = () =>
    kind === "trend"
      ? trendGroups(records, date, measure)
      : groupRecords(records, field, measure, kind === "donut" ? 6 : 8);
  const body = !records.length
    ? el("p.clear", icon("check"), t("all_clear"))
    : kind === "list"
      ? attentionList(widget, entity, records)
      : chartWithTable(kind, widget.title, field.label, groups(), format);
  return block(widget.title, body, { action: more, kind });
}

function chartWithTable(kind, title, label, groups, format) {
  return [
    drawChart(kind, groups, format),
    el(
      "details.twin",
      el("summary", t("as_table"), hidden(": " + title)),
      numbersTable(
        title,
        [label, t("value")],
        groups.map(group => [group.text, format(group.value)])
      )
    )
  ];
}

function attentionList(widget, entity, records) {
  const named = widget.filter && fieldOf(entity, widget.filter.field);
  const date = named && isDated(named) ? named : leadDate(entity);
  const person = ofType(entity, "person")[0];
  return el(
    "ul",
    (date ? sortBy(records, date) : records).slice(0, 6).map(record =>
      rowOf(record, {
        before: person && has(record, person) && avatar(get(record, person)),
        sub: person ? textIn(record, person) : subText(record),
        facts: date && view(record, date)
      })
    )
  );
}

// --- report

function reportView(screen, entity) {
  const fields = entity.fields.filter(
    field =>
      !isNumeric(field) &&
      !["longtext", "email", "phone", "url", "address"].includes(field.type) &&
      field.id !== entity.display
  );
  const field = fieldOf(entity, param("by") || screen.groupBy) || groupField(entity);
  const measure = fieldOf(entity, param("sum") || screen.measure);
  const date = leadDate(entity);
  const kind = ["donut", "trend"].find(one => one === param("kind") && (one === "donut" || date)) || "bars";
  const choose = name => value => change({ [name]: value });
  const pairs = list => list.map(one => [one.id, one.label]);
  return recordScreen(
    screen,
    entity,
    records =>
      reportBody(
        screen,
        records.filter(record => inPeriod(record, date)),
        { field, measure, date, kind }
      ),
    {
      actions: button(t("print"), () => print(), { icon: "print" }),
      extras: [
        selectBox(t("group_by"), "by", field.id, pairs([...new Set([field, ...fields])]), choose("by")),
        selectBox(
          t("measure"),
          "sum",
          measure ? measure.id : "-",
          [
            ["-", t("number_of", { plural: small(entity.plural) })],
            ...pairs(entity.fields.filter(isNumeric))
          ],
          choose("sum")
        ),
        date &&
          selectBox(
            t("period"),
            "period",
            param("period"),
            [
              ["", t("all_time")],
              ["month", t("this_month")],
              ["past", t("past_90")],
              ["year", t("this_year")]
            ],
            choose("period")
          ),
        segmented(
          t("chart"),
          "kind",
          kind,
          [["bars", t("bars")], ["donut", t("share")], ...(date ? [["trend", t("over_time")]] : [])],
          choose("kind")
        )
      ]
    }
  );
}

function inPeriod(record, date) {
  const day = date ? dayOf(record, date) : "";
  const lengths = new Map([
    ["month", 7],
    ["year", 4]
  ]);
  const length = lengths.get(param("period"));
  if (length) return day.slice(0, length) === app.today.slice(0, length);
  return param("period") !== "past" || (day && day <= app.today && day >= addDays(app.today, -90));
}

function reportBody(screen, records, { field, measure, date, kind }) {
  const entity = entityOf(screen);
  const groups =
    kind === "trend"
      ? trendGroups(records, date, measure)
      : groupRecords(records, field, measure, kind === "donut" ? 6 : 0);
  if (!groups.length || !records.length) return emptyState(entity, clearFilters);
  const label = kind === "trend" ? t("month") : field.label;
  const total = sum(groups, "value");
  const format = (value, short) => figure(Math.round(value * 100) / 100, measure, short);
  const figures = [
    [t("total"), format(total)],
    [entity.plural, num(records.length)],
    ...(measure ? [[t("average"), format(total / records.length)]] : [])
  ];
  const columns = [
    [label, group => group.text, String],
    [t("count"), group => group.count, num],
    ...(measure ? [[measure.label, group => group.value, format]] : []),
    [t("share"), group => (total ? group.value / total : 0), percent]
  ];
  const cells = group => columns.map(([, read, write]) => write(read(group)));
  const head = columns.map(([name]) => name);
  const csv = button(
    t("csv"),
    () => saveCsv(screen, [head, ...groups.map(group => columns.map(([, read]) => read(group)))]),
    { kind: "quiet", icon: "download", key: "csv" }
  );
  return el(
    "div.report",
    el(
      "dl.figures",
      figures.map(([name, value]) => el("div", el("dt", name), el("dd", value)))
    ),
    block(t("by", { field: small(label) }), drawChart(kind, groups, format)),
    block(
      t("the_numbers"),
      el(
        "div.wide",
        { tabindex: 0, role: "region", "aria-label": screen.title },
        numbersTable(
          screen.title,
          head,
          groups.map(cells),
          cells({ text: t("total"), count: sum(groups, "count"), value: total })
        )
      ),
      { action: csv }
    )
  );
}

// RFC 4180; a cell that a spreadsheet would run as a formula gets an apostrophe.
function saveCsv(screen, rows) {
  const cell = value =>
    '"' +
    String(
      typeof value === "number" ? Math.round(value * 1e4) / 1e4 : value.replace(/^[=+@-]/, "'$&")
    ).replace(/"/g, '""') +
    '"';
  const text = "\ufeff" + rows.map(row => row.map(cell).join(",") + "\r\n").join("");
  const href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const download = screen.id + ".csv";
  el("a", { href, download }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
  toast(t("exported", { name: download }));
}
""",
    "shell": r"""
// The page itself: the review bar, the product's own bar and menu, and the screen in the middle.
function start({ blueprint, words, icons, digest }) {
  Object.assign(app, {
    root: document.documentElement,
    words: new Map(Object.entries(words)),
    icons: new Map(Object.entries(icons)),
    formats: new Map(),
    drafts: new Map(),
    tones: new Map(),
    lang: blueprint.lang,
    digest,
    narrow: isNarrow(),
    toastAge: 0
  });
  indexBlueprint(blueprint);
  readRoute();
  loadData();
  buildShell();
  render(false);
  listen();
  app.root.dataset.ready = "true";
}

function isNarrow() {
  return matchMedia("(max-width: 45rem)").matches;
}

function buildShell() {
  const skip = event => {
    event.preventDefault();
    byId("title").focus();
  };
  app.live = el("div.sr-only", { role: "status" });
  app.toasts = el("div.toasts", { role: "status" });
  app.main = el("main", { id: "main" });
  app.nav = el("nav", { "aria-label": t("menu") });
  app.who = el("div.who");
  app.dialog = el("dialog", { "aria-labelledby": "quick-title", onclose: onDialogClose });
  app.toggle = button(t("menu"), () => openNav(app.toggle.getAttribute("aria-expanded") !== "true"), {
    kind: "quiet menu-toggle",
    icon: "menu",
    "aria-expanded": "false"
  });
  app.brand = el(
    "a.brand",
    el(".brand-mark", { mute: true }, initials(app.blueprint.title).slice(0, 1)),
    el("span", app.blueprint.title)
  );
  document.body.append(
    el("a.skip", { href: "#main", onclick: skip }, t("skip")),
    buildReview(),
    el("div.frame", el("header.top", el("div.top-row", app.brand, app.toggle), app.nav, app.who), app.main),
    app.dialog,
    app.toasts,
    app.live
  );
}

function openNav(open) {
  app.toggle.setAttribute("aria-expanded", String(open));
  app.root.classList.toggle("nav-open", open);
}

// --- review bar: what a reviewer chooses, all of it in the address

function buildReview() {
  const { roles, flows } = app.blueprint;
  const select = (name, choices) =>
    selectBox(t(name), "review-" + name, "", choices, value => setReview(name, value));
  const pairs = list => list.map(one => [one.id, one.label]);
  const toggle = button(
    t("review"),
    () => {
      const open = app.review.classList.toggle("open");
      toggle.setAttribute("aria-expanded", String(open));
    },
    { kind: "review-toggle", icon: "sliders", "aria-expanded": "false" }
  );
  app.flow = el("div.flow");
  app.review = el(
    "aside.review",
    { "aria-label": t("review") },
    el(
      "div.review-row",
      el("p.mark", t("mark")),
      toggle,
      el(
        "div.review-controls",
        roles.length > 0 && select("role", pairs(roles)),
        flows.length > 0 && select("flow", [["", t("no_flow")], ...pairs(flows)]),
        select("state", [
          ["", t("state_normal")],
          ...["empty", "loading", "error", "many"].map(state => [state, t("state_" + state)])
        ]),
        select(
          "mode",
          ["auto", "light", "dark"].map(mode => [mode, t("mode_" + mode)])
        ),
        button(t("reset"), onReset, { icon: "undo" })
      )
    ),
    app.flow
  );
  return app.review;
}

function syncReview() {
  const mode = param("mode") || app.blueprint.theme.mode;
  const values = { role: currentRole().id, flow: param("flow"), state: param("state"), mode };
  for (const [name, value] of Object.entries(values))
    if (byId("review-" + name)) byId("review-" + name).value = value;
  app.root.dataset.mode = mode;
  drawFlow();
}

function setReview(name, value) {
  const usual = { role: (app.blueprint.roles[0] || {}).id, mode: app.blueprint.theme.mode }[name];
  if (name === "flow" && value) return startFlow(app.flows.get(value));
  setParams({ [name]: value === usual ? "" : value, page: "", step: name === "flow" ? "" : param("step") });
  if (!maySee(app.route.screen)) return goTo(hrefTo(homeScreen()));
  render(false);
  return say(byId("review-" + name).selectedOptions[0].textContent);
}

function onReset() {
  storage("removeItem");
  app.drafts.clear();
  app.toasts.replaceChildren();
  app.route = { screen: app.route.screen, record: "", params: new URLSearchParams() };
  if (!maySee(app.route.screen)) app.route.screen = homeScreen();
  setParams({});
  if (app.backend) return app.backend.reset();
  loadData();
  render(false);
  return say(t("was_reset"));
}

function stepHref(flow, number) {
  const { screen, record } = flow.steps[number - 1];
  return hrefTo(screen, record, { flow: flow.id, step: number > 1 ? number : "" });
}

function startFlow(flow) {
  setParams({
    role: flow.role === (app.blueprint.roles[0] || {}).id ? "" : flow.role,
    flow: flow.id,
    step: ""
  });
  goStep(flow, 1);
}

function goStep(flow, number) {
  const href = stepHref(flow, number);
  if (href === location.hash) render(true);
  goTo(href);
  say(t("step_of", { step: number, all: flow.steps.length }) + ". " + (flow.steps[number - 1].hint || ""));
}

// The bar of a flow. Whoever comes to the next station by way of the product itself is there.
function drawFlow() {
  const flow = app.flows.get(param("flow"));
  app.flow.hidden = !flow;
  if (!flow) return;
  const all = flow.steps.length;
  const at = place => flow.steps[place - 1] && flow.steps[place - 1].screen === app.route.screen;
  let step = Math.min(all, Math.max(1, Math.floor(Number(param("step"))) || 1));
  if (!at(step) && at(step + 1)) setParams({ step: (step += 1) });
  const title = one => app.screens.get(one.screen).title;
  const now = flow.steps[step - 1];
  app.flow.replaceChildren(
    el("p", el("b", t("step_of", { step, all })), " ", now.hint || title(now)),
    el(
      "ol",
      { "aria-label": flow.label },
      flow.steps.map((one, place) =>
        el(
          "li",
          el(
            "a",
            {
              href: stepHref(flow, place + 1),
              "aria-current": place + 1 === step ? "step" : null,
              "aria-label": t("step_of", { step: place + 1, all }) + ": " + title(one)
            },
            String(place + 1)
          )
        )
      )
    ),
    el(
      "div.actions",
      button(t("previous"), () => goStep(flow, step - 1), { disabled: step <= 1 }),
      button(
        t(step < all ? "next" : "finish"),
        () => (step < all ? goStep(flow, step + 1) : setReview("flow", "")),
        { kind: "strong" }
      )
    )
  );
}

// --- the product's menu

function screenIcon(screen) {
  return app.icons.has(screen.type) ? screen.type : app.entities.get(screen.entity).icon;
}

function drawMenu() {
  const screens = app.navigation.filter(maySee).map(id => app.screens.get(id));
  const here = app.screens.get(app.route.screen);
  const current =
    screens.find(screen => screen === here) ||
    screens.find(screen => here.entity && screen.entity === here.entity);
  const room = {
    sidebar: 99,
    topbar: app.narrow ? 99 : Math.floor((innerWidth - 480) / 150),
    tabs: app.narrow ? 4 : 8
  };
  const fits = room[app.blueprint.theme.layout];
  const most = screens.length > fits + 1 ? fits : screens.length;
  const unread = screen => screen.type === "inbox" && unreadCount(entityOf(screen));
  const item = screen =>
    el(
      "li",
      el(
        "a.nav-item",
        { href: hrefTo(screen.id), "aria-current": screen === current ? "page" : null },
        icon(screenIcon(screen)),
        el("span", screen.title),
        unread(screen) > 0 && el(".nav-count", num(unread(screen)), hidden(" " + t("unread_mark")))
      )
    );
  const more = () =>
    screens.slice(most).map(screen => [screen.title, screenIcon(screen), () => goTo(hrefTo(screen.id))]);
  app.nav.replaceChildren(
    el(
      "ul",
      screens.slice(0, most).map(item),
      screens.length > most &&
        el(
          "li",
          menuButton(null, more, {
            text: t("more"),
            icon: "more",
            kind: "nav-item" + (screens.indexOf(current) >= most ? " on" : "")
          })
        )
    )
  );
  const { label } = currentRole();
  app.who.replaceChildren(
    ...(label ? [avatar(label), el("span", el(".sub", t("signed_in")), el("b", label))] : [])
  );
  app.brand.href = hrefTo(homeScreen());
  openNav(false);
}

// --- the screen in the middle

function drawMain() {
  const views = {
    dashboard: dashboardView,
    list: listView,
    cards: cardsView,
    detail: detailView,
    form: formView,
    board: boardView,
    calendar: calendarView,
    timeline: timelineView,
    inbox: inboxView,
    report: reportView,
    settings: settingsView
  };
  const screen = app.screens.get(app.route.screen);
  const side = panelRecord();
  app.blocked = { loading: loadingState, error: errorState }[param("state")] || null;
  closeMenu();
  app.main.className = side ? "with-side" : "";
  app.main.replaceChildren(
    el(
      "div",
      { class: "screen screen-" + screen.type },
      maySee(screen.id)
        ? views[screen.type](screen, app.entities.get(screen.entity))
        : [pageHead(screen.title), refusedState()]
    ),
    ...(side ? [el("aside.side", { "aria-labelledby": "quick-title" }, quickView(side))] : [])
  );
  document.title = byId("title").textContent + " \u00b7 " + app.blueprint.title;
  drawDialog(side);
}

function panelRecord() {
  const found = app.axes.detail === "panel" && !app.narrow && !param("edit") && named("open");
  return found && found.record;
}

function drawDialog(side) {
  const edit = named("edit");
  const open = !side && named("open");
  const content = edit ? formDialog(edit) : open && open.record && quickView(open.record);
  app.dialog.replaceChildren(...(content ? [content] : []));
  if (content && !app.dialog.open) {
    app.dialog.showModal();
    byId("quick-title").focus();
  } else if (!content && app.dialog.open) {
    app.dialog.close();
  }
}

// Escape closed the dialog: the address follows.
function onDialogClose() {
  if (param("edit")) goTo(hrefWith({ edit: "" }));
  else if (param("open") && !panelRecord()) goTo(hrefWith({ open: "" }));
}

function render(moved) {
  syncReview();
  drawMenu();
  drawMain();
  const before = app.place || {};
  app.place = { screen: app.route.screen, record: app.route.record, quick: param("open") + param("edit") };
  if (moved) moveFocus(before, app.place);
}

// To the heading of another screen, of a record that opened, or back to what opened it.
function moveFocus(before, now) {
  const same = before.screen === now.screen && before.record === now.record;
  if (same && before.quick === now.quick) return;
  if (!same) {
    app.toastAge += 1;
    if (app.toastAge > 1) app.toasts.replaceChildren();
  }
  const reading = now.record && before.screen === now.screen;
  if (!same && !reading) scrollTo(0, 0);
  const target =
    ((now.quick || reading) && byId("quick-title")) || (same && byKey(app.opener)) || byId("title");
  target.focus({ preventScroll: !reading });
}

// Draws the screen anew after a change of data and puts the focus back where it was.
function redraw() {
  const { id, dataset } = document.activeElement;
  drawMenu();
  drawMain();
  const again = byKey(dataset.key) || (id && byId(id));
  if (again) again.focus({ preventScroll: true });
}

function listen() {
  addEventListener("hashchange", () => {
    readRoute();
    render(true);
  });
  addEventListener("scroll", closeMenu, { passive: true });
  addEventListener("resize", () => {
    if (isNarrow() === app.narrow) return;
    app.narrow = !app.narrow;
    render(false);
  });
  addEventListener("storage", event => {
    if (event.key !== "protoyard:" + app.digest) return;
    loadData();
    redraw();
  });
  document.addEventListener("click", event => {
    const key = event.target.closest("main [data-key]");
    if (key) app.opener = key.dataset.key;
    if (app.menu && !app.menu.menu.contains(event.target)) closeMenu();
    closeFilters(event.target);
  });
  document.addEventListener("keydown", event => {
    if (event.key === "Escape" && panelRecord() && !app.menu) goTo(hrefWith({ open: "" }));
  });
}
""",
}


def _hash_source(text: str) -> str:
    """What the Content-Security-Policy calls an inline block: `sha256-` and the digest in base 64."""
    import base64
    import hashlib

    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _lighten(text: str) -> str:
    """An asset without indentation, comment lines and breaks after "(": each page carries it."""
    lines = (line.strip() for line in text.splitlines())
    kept = "\n".join(line for line in lines if line and not line.startswith(("// ", "/* ")))
    return re.sub(r"(?<=[(\[])\n", "", kept) + "\n"


@once
def _script() -> str:
    parts = _lighten("".join(PAGE_JS_PARTS.values()))
    data = '{ ...JSON.parse(byId("blueprint").textContent), digest: byId("blueprint").dataset.digest }'
    return f'\n(function () {{\n"use strict";\nconst app = {{}};\n{parts}start({data});\n}})();\n'


@cache  # as many as there are looks
def _style(*assets: str) -> str:
    """Style sheets joined, a rule a line; the blanks around marks go (none of our strings holds a mark)."""
    text = re.sub(r"\s*([{},;>])\s*|(:) ", r"\1\2", _lighten("".join(assets)))
    return "\n" + text.replace(";}", "}").replace("}", "}\n")


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
    theme = blueprint["theme"]
    own = [THEME_CSS.get(theme[name], "") for name in ("corners", "density")]
    style = _style(TOKENS_CSS, *own, PALETTE_CSS[theme["palette"]], PAGE_CSS, LAYOUT_CSS[theme["layout"]])
    data = {"words": words_for(blueprint["lang"]), "icons": json.loads(PAGE_ICONS), "blueprint": blueprint}
    values = {
        **theme,
        "lang": blueprint["lang"],
        "dir": blueprint["dir"],
        "title": _text(blueprint["title"]),
        "digest": digest(blueprint),
        "style": style,
        "style_hash": _hash_source(style),
        "script": _script(),
        "script_hash": _hash_source(_script()),
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


def _render_shelf(title: str, palette: str, body: str) -> str:
    style = _style(TOKENS_CSS, *PALETTE_CSS.values(), SHELF_CSS)
    values = {"title": _text(title), "palette": palette, "body": body}
    return _fill(SHELF_HTML, {**values, "style": style, "style_hash": _hash_source(style)})


def _render_answer(blueprint: Mapping[str, Any]) -> str:
    variant, theme = blueprint["variant"], blueprint["theme"]
    letter = variant["id"]
    axes = "".join(
        f"<div><dt>{label}</dt><dd>{_AXIS_VALUES.get(value, value.capitalize())}</dd></div>"
        for label, value in ((label, variant["axes"][name]) for name, label in _AXIS_LABELS.items())
    )
    cost = variant.get("cost") and f'<p class="cost"><b>What it costs:</b> {_text(variant["cost"])}</p>'
    return (
        f'<li><article class="answer" data-palette="{theme["palette"]}">'
        f'<div class="sketch" data-layout="{theme["layout"]}" data-main="{variant["axes"]["main"]}" '
        f'aria-hidden="true"><b></b><span>{"<i></i>" * SKETCH_PIECES}</span></div>'
        f'<p class="letter">Variant {letter.upper()}</p>'
        f'<h2 dir="auto"><a href="{letter}/index.html">{_text(variant["question"])}</a></h2>'
        f'<p class="why" dir="auto">{_text(variant.get("rationale", ""))}</p>{cost or ""}'
        f'<dl class="axes">{axes}</dl></article></li>'
    )


def render_variants_page(manifest: Mapping[str, Any], blueprints: Sequence[Mapping[str, Any]]) -> str:
    """The page of one prototype: its variants side by side, each with its question and its cost."""
    first = blueprints[0]
    answers = "\n".join(_render_answer(blueprint) for blueprint in blueprints)
    count = f"{len(blueprints)} answers to one brief" if len(blueprints) > 1 else "One answer to a brief"
    body = (
        f'<p class="eyebrow">{count}</p>\n<h1 dir="auto">{_text(manifest["title"])}</h1>\n'
        f'<p class="brief" dir="auto">{_text(manifest["brief"])}</p>\n'
        f'<ul class="answers">\n{answers}\n</ul>\n'
        '<p><a class="home" href="../index.html">All prototypes</a></p>'
    )
    return _render_shelf(manifest["title"], first["theme"]["palette"], body)


def _render_entry(entry: Mapping[str, Any]) -> str:
    slug, title = entry["slug"], _text(entry["title"])
    letters = "".join(
        f'<a href="{slug}/{letter}/index.html" aria-label="{letter.upper()}, a variant of {title}">'
        f"{letter.upper()}</a>"
        for letter in entry["variants"]
    )
    return (
        f'<li><article class="answer"><h2 dir="auto"><a href="{slug}/index.html">{title}</a></h2>'
        f'<p class="why lines" dir="auto">{_text(entry["brief"])}</p>'
        f'<p class="letter">{_text(entry["created"][:10])}</p>'
        f'<div class="letters">{letters}</div></article></li>'
    )


def render_gallery(entries: Sequence[Mapping[str, Any]]) -> str:
    """The gallery: a card for each {"slug", "title", "brief", "variants", "created"}, in the order given."""
    cards = "\n".join(map(_render_entry, entries))
    shown = f'<ul class="answers">\n{cards}\n</ul>' if entries else '<p class="brief">Nothing here yet.</p>'
    body = f'<p class="eyebrow">Gallery</p>\n<h1>Prototypes</h1>\n{shown}'
    return _render_shelf("Prototypes", PALETTES[0], body)


# ======================================================================
# §12 store: prototypes on disk
# ======================================================================
# Rules: uses §01-07, §10-11; knows no brief: it is handed blueprints. The layout is that of TOOLS §2. A
# prototype is staged whole and renamed into place. A revision is committed by the replace of the manifest:
# its history file is durable before, blueprint.json and pages are refreshed after. A refresh that was cut
# off shows in the digest of an earlier revision and is rolled forward; for the next writer of anything to
# find it, a mark lies in staging while a revision is under way. Who writes holds the lock from reading the
# manifest on.

_REVISING = ".revising"  # how the name of a mark ends; before it stand slug and letter


def _manifest_part(**members: Any) -> dict[str, Any]:
    required = list(members)
    return {"type": "object", "required": required, "additionalProperties": False, "properties": members}


_ANY_TEXT = {"type": "string"}
_REVISION = _manifest_part(
    revision={"type": "integer", "minimum": 1},
    digest={"type": "string", "pattern": "sha256:[0-9a-f]{64}"},
    summary=_ANY_TEXT,
)
_MANIFEST_VARIANT = _manifest_part(
    id={"type": "string", "enum": list(VARIANT_LETTERS)},
    question=_ANY_TEXT,
    revisions={"type": "array", "items": _REVISION, "minItems": 1},
)
_MANIFEST = _manifest_part(
    prototype={"const": 1},
    title=_ANY_TEXT,
    brief=_ANY_TEXT,
    seed={"type": "integer", "minimum": 0, "maximum": SEED_MAX},
    version=_ANY_TEXT,
    created={"type": "string", "pattern": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"},
    variants={"type": "array", "items": _MANIFEST_VARIANT, "minItems": 1},
    promotions={"type": "array", "items": {"type": "object"}},
)


def check_manifest(value: Any) -> list[Problem]:
    """Every problem of a parsed manifest: its schema's, then those of letters and revision numbers."""
    made_by = value.get("prototype") if isinstance(value, dict) else None
    if type_name(made_by) == "integer" and made_by > 1:
        return [Problem("/prototype", f"is {made_by}: written by a newer Protoyard, which can read it")]
    problems = check_schema(value, _MANIFEST)
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


def _folder_of(slug: str) -> str:
    if not re.fullmatch(SLUG_PATTERN, slug):
        raise Failure("not_found", f'"{slug}" is no slug', "see: protoyard list")
    return f"{PROTOTYPES_DIR}/{slug}"


def _history_file(folder: str, revision: int) -> str:
    return f"{folder}/{HISTORY_DIR}/{revision:0{HISTORY_DIGITS}}.json"


def _encode_manifest(manifest: Mapping[str, Any]) -> bytes:
    return render_document(manifest).encode("utf-8", "replace")


def _encode_blueprint(blueprint: Mapping[str, Any]) -> bytes:
    return render_blueprint(blueprint).encode("utf-8", "replace")


def _encode_page(blueprint: Mapping[str, Any]) -> bytes:
    """The page of the blueprint as its file has it: whatever order the members came in, the same bytes."""
    return render_page(parse_json(render_blueprint(blueprint))).encode("utf-8", "replace")


# --- reading --------------------------------------------------------------------------------------


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


def _list_entry(slug: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What list and gallery say about a prototype."""
    letters = [variant["id"] for variant in manifest["variants"]]
    shown = {name: manifest[name] for name in ("title", "brief", "created")}
    return {"slug": slug, **shown, "variants": letters}


def _read_slugs(workspace: Workspace, after: str = "") -> Iterator[str]:
    """The slugs that sort after `after`, in order; names are looked at one by one, as they are asked for."""
    if workspace.kind(PROTOTYPES_DIR) in ("missing", "file"):
        return
    is_slug = re.compile(SLUG_PATTERN).fullmatch
    yield from (name for name in workspace.read_names(PROTOTYPES_DIR) if name > after and is_slug(name))


def read_list(workspace: Workspace, *, limit: int, after: str = "") -> dict[str, Any]:
    """One page: the next `limit` folders by slug after `after`; only their manifests are read.

    {"prototypes": [{"slug", "title", "created", "variants"}]}, and where there are any "damaged": [{"slug",
    "problem"}] and "next", the `after` of the next page.
    """
    slugs = list(islice(_read_slugs(workspace, after), limit + 1))
    good: list[dict[str, Any]] = []
    damaged: list[dict[str, Any]] = []
    for slug in slugs[:limit]:
        try:
            entry = _list_entry(slug, read_manifest(workspace, slug))
            del entry["brief"]
            good.append(entry)
        except Failure as failure:
            damaged.append({"slug": slug, "problem": failure.message})
    more = {"next": slugs[limit - 1]} if len(slugs) > limit else {}
    return {"prototypes": good, **({"damaged": damaged} if damaged else {}), **more}


def _parse_blueprint(file: str, data: bytes, known: Sequence[str]) -> tuple[dict[str, Any], str]:
    """A blueprint file's value and digest; `invalid_blueprint` with all problems; a known digest has none."""
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
    """The blueprint of a manifest's revision from a variant's history; `io_error` when it was changed."""
    file = _history_file(folder, revision["revision"])
    data = workspace.read_bytes(file, max_bytes=BLUEPRINT_FILE_MAX_BYTES)
    blueprint, mark = _parse_blueprint(file, data, [revision["digest"]])
    if mark != revision["digest"]:
        raise Failure("io_error", f"{file} is not what was recorded", f"see: protoyard validate {folder}")
    return blueprint


def _read_committed(workspace: Workspace, folder: str, manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each variant's current blueprint, from the history; none when one of them is damaged."""
    try:
        return [
            read_revision(workspace, f"{folder}/{entry['id']}", entry["revisions"][-1])
            for entry in manifest["variants"]
        ]
    except Failure:
        return []


class Variant(Row):
    """A variant as it is; `state` is "current", "edited" (by hand) or "behind" (a refresh was cut off)."""

    folder: str
    blueprint: dict[str, Any]
    revisions: list[dict[str, Any]]
    state: str


def load_variant(workspace: Workspace, folder: str, entry: Mapping[str, Any]) -> Variant:
    """The variant of a manifest's entry, from blueprint.json or, where that is behind, from the history."""
    file, revisions = f"{folder}/{BLUEPRINT_NAME}", entry["revisions"]
    known = [revision["digest"] for revision in revisions]
    if workspace.kind(file) != "missing":
        data = workspace.read_bytes(file, max_bytes=BLUEPRINT_FILE_MAX_BYTES)
        blueprint, mark = _parse_blueprint(file, data, known)
        if mark == known[-1]:
            return Variant(folder, blueprint, revisions, "current")
        if mark not in known:
            return Variant(folder, blueprint, revisions, "edited")
    return Variant(folder, read_revision(workspace, folder, revisions[-1]), revisions, "behind")


def _outline_variant(variant: Variant) -> dict[str, Any]:
    """What `show` says about a variant without showing its blueprint."""
    bp = variant.blueprint
    return {
        **({"edited": True} if variant.state == "edited" else {}),
        "roles": [{name: role[name] for name in ("id", "label")} for role in bp["roles"]],
        "entities": [
            {"id": entity["id"], "label": entity["label"], "records": len(entity.get("records", ()))}
            for entity in bp["entities"]
        ],
        "screens": [{name: screen[name] for name in ("id", "title", "type")} for screen in bp["screens"]],
    }


def _read_settled(workspace: Workspace, folder: str, read: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What `read` returns, again while its prototype's manifest changes under it: readers hold no lock."""
    for _ in range(READ_TRIES):
        before = _peek(workspace, f"{folder}/{MANIFEST_NAME}")
        found = read()
        if _peek(workspace, f"{folder}/{MANIFEST_NAME}") == before:
            break
    return found


def _peek(workspace: Workspace, file: str) -> bytes | None:
    try:
        return workspace.read_bytes(file, max_bytes=MANIFEST_MAX_BYTES)
    except Failure:
        return None


def read_prototype(workspace: Workspace, slug: str) -> dict[str, Any]:
    """The manifest with folder and page; each variant with its last revisions, roles, entities, screens."""
    return _read_settled(workspace, _folder_of(slug), lambda: _describe_prototype(workspace, slug))


def _describe_prototype(workspace: Workspace, slug: str) -> dict[str, Any]:
    manifest, folder, variants = read_manifest(workspace, slug), _folder_of(slug), []
    for entry in manifest["variants"]:
        own = f"{folder}/{entry['id']}"
        shown = {
            "id": entry["id"],
            "question": entry["question"],
            "folder": own,
            "page": f"{own}/{PAGE_NAME}",
        }
        shown["revision"] = len(entry["revisions"])
        shown["revisions"] = entry["revisions"][-REVISIONS_SHOWN:]
        try:
            shown.update(_outline_variant(load_variant(workspace, own, entry)))
        except Failure as failure:
            shown["problem"] = failure.message
        variants.append(shown)
    head = {"slug": slug, "folder": folder, "page": f"{folder}/{PAGE_NAME}"}
    return {**head, **manifest, "variants": variants}


def find_variant(manifest: Mapping[str, Any], slug: str, letter: str) -> dict[str, Any]:
    """The manifest's entry of a variant; `not_found` names those that there are."""
    for entry in manifest["variants"]:
        if entry["id"] == letter:
            return entry
    letters = ", ".join(entry["id"] for entry in manifest["variants"])
    raise Failure("not_found", f"{slug} has no variant {letter}", f"its variants: {letters}")


def read_variant(workspace: Workspace, slug: str, letter: str) -> dict[str, Any]:
    """{"slug", "variant", "folder", "page", "revision", "digest", "edited" if so, "blueprint" (whole)}."""
    return _read_settled(workspace, _folder_of(slug), lambda: _describe_variant(workspace, slug, letter))


def _describe_variant(workspace: Workspace, slug: str, letter: str) -> dict[str, Any]:
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


# --- making a prototype ---------------------------------------------------------------------------


def _gallery_slugs(workspace: Workspace, new: str) -> list[str]:
    """Those that the gallery may show: `new` and the ones it shows, where that leaves none out; else all.

    So one more prototype among ten thousand costs the reading of GALLERY_MAX_PROTOTYPES manifests.
    """
    names = set(workspace.read_names(PROTOTYPES_DIR)) - {PAGE_NAME}
    try:
        page = workspace.read_bytes(f"{PROTOTYPES_DIR}/{PAGE_NAME}", max_bytes=PAGE_MAX_BYTES)
    except Failure:
        page = b""
    link = r'<h2 dir="auto"><a href="([a-z0-9-]+)/index\.html">'
    shown = dict.fromkeys([new, *re.findall(link, page.decode("utf-8", "replace"))])
    is_whole = len(shown) >= min(len(names), GALLERY_MAX_PROTOTYPES + 1) and shown.keys() <= names
    return list(shown if is_whole else _read_slugs(workspace))


def write_gallery(workspace: Workspace, call: Call, new: str) -> None:
    """Renders prototypes/index.html with the GALLERY_MAX_PROTOTYPES newest; damaged ones are left out."""
    entries = []
    for slug in _gallery_slugs(workspace, new):
        call.check()
        try:
            entries.append(_list_entry(slug, read_manifest(workspace, slug)))
        except Failure:
            continue
    entries.sort(key=lambda entry: entry["slug"])
    entries.sort(key=lambda entry: entry["created"], reverse=True)  # stable: by slug within a second
    page = render_gallery(entries[:GALLERY_MAX_PROTOTYPES])
    workspace.write_file(f"{PROTOTYPES_DIR}/{PAGE_NAME}", page.encode("utf-8", "replace"), call)


def _publish_new(workspace: Workspace, stage: Stage, slug: str, derived: bool) -> str:
    """Puts a staged prototype at its slug, a derived one at the next free number; the slug that it got."""
    number, free = 1, slug
    while derived and workspace.kind(_folder_of(free)) != "missing":
        number += 1
        free = f"{slug[: SLUG_MAX_CHARS - len(f'-{number}')].rstrip('-')}-{number}"
    try:
        stage.publish(_folder_of(free))
    except Failure as failure:
        if failure.code != "already_exists":
            raise
        hint = "choose another slug, or leave it out to get a numbered one"
        raise Failure("already_exists", f"{_folder_of(free)} is there already", hint) from failure
    return free


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

    A taken slug gets a number when it was `derived`, else it is `already_exists`. `created` is UTC.
    {"slug", "folder", "page", "created", "variants": [{"id", "question", "page", "revision", "digest"}]}
    """
    call.step("render")
    files, variants = {}, []
    for blueprint in blueprints:
        call.check()
        letter, text = blueprint["variant"]["id"], _encode_blueprint(blueprint)
        files.update({f"{letter}/{BLUEPRINT_NAME}": text, _history_file(letter, 1): text})
        files[f"{letter}/{PAGE_NAME}"] = _encode_page(blueprint)
        first = {"revision": 1, "digest": digest(blueprint), "summary": "First draft."}
        variants.append({"id": letter, "question": blueprint["variant"]["question"], "revisions": [first]})
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
    files[MANIFEST_NAME] = _encode_manifest(manifest)
    files[PAGE_NAME] = render_variants_page(manifest, blueprints).encode("utf-8", "replace")
    call.step("lock")
    with workspace.lock(call):
        recover(workspace, call)
        call.step("store")
        with workspace.stage(call) as stage:
            for name, data in files.items():
                stage.write(name, data)
            slug = _publish_new(workspace, stage, slug, derived)
        call.step("gallery")
        write_gallery(workspace, call, slug)
    return _describe_new(slug, manifest)


def _describe_new(slug: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
    folder, variants = _folder_of(slug), []
    for entry in manifest["variants"]:
        shown = {"id": entry["id"], "question": entry["question"]}
        shown["page"] = f"{folder}/{entry['id']}/{PAGE_NAME}"
        variants.append({**shown, "revision": 1, "digest": entry["revisions"][-1]["digest"]})
    head = {"slug": slug, "folder": folder, "page": f"{folder}/{PAGE_NAME}", "created": manifest["created"]}
    return {**head, "variants": variants}


# --- revisions ------------------------------------------------------------------------------------


class Revised(Row):
    """What `revise` did: the blueprint before and after, and the variant's current revision."""

    before: dict[str, Any]
    after: dict[str, Any]
    revision: int
    taken_up: bool  # an edit by hand became a revision of its own first


def _refresh(workspace: Workspace, call: Call, slug: str, letter: str, blueprint: dict[str, Any]) -> None:
    """Brings blueprint.json and the pages up to the committed revision; a file that is so is left alone."""
    manifest, folder = read_manifest(workspace, slug), _folder_of(slug)
    files = {
        f"{folder}/{letter}/{BLUEPRINT_NAME}": _encode_blueprint(blueprint),
        f"{folder}/{letter}/{PAGE_NAME}": _encode_page(blueprint),
    }
    current = _read_committed(workspace, folder, manifest)
    if current:
        files[f"{folder}/{PAGE_NAME}"] = render_variants_page(manifest, current).encode("utf-8", "replace")
    for file, data in files.items():
        try:
            same = workspace.read_bytes(file, max_bytes=len(data)) == data
        except Failure:  # missing, longer, or a link: what cannot be replaced is refused by the write
            same = False
        if not same:
            workspace.write_file(file, data, call)


def _read_staged(workspace: Workspace) -> list[str]:
    return workspace.read_names(STAGING_DIR) if workspace.kind(STAGING_DIR) == "folder" else []


def recover(workspace: Workspace, call: Call) -> None:
    """What every writer does first, with the lock held: finishes or drops what a killed one had under way."""
    for name in _read_staged(workspace):
        slug, _, letter = name.rpartition(_REVISING)[0].rpartition(".")
        try:
            if letter:
                _roll_forward(workspace, call, slug, letter)
        except Failure:  # the prototype is gone or damaged meanwhile: for `validate` to tell
            continue
    workspace.sweep(call)


def _roll_forward(workspace: Workspace, call: Call, slug: str, letter: str) -> None:
    entry = find_variant(read_manifest(workspace, slug), slug, letter)
    variant = load_variant(workspace, f"{_folder_of(slug)}/{letter}", entry)
    for ahead in (1, 2):  # written and not committed: the edit by hand that was taken up, and the revision
        workspace.remove(_history_file(variant.folder, len(variant.revisions) + ahead))
    if variant.state != "edited":
        _refresh(workspace, call, slug, letter, variant.blueprint)


def _commit_revisions(
    workspace: Workspace,
    call: Call,
    slug: str,
    manifest: Mapping[str, Any],
    entry: dict[str, Any],
    new: Sequence[tuple[dict[str, Any], str]],
) -> None:
    """Makes each new blueprint durable in the history, then commits all by the replace of the manifest."""
    for blueprint, summary in new:
        number = len(entry["revisions"]) + 1
        file = _history_file(f"{_folder_of(slug)}/{entry['id']}", number)
        workspace.write_file(file, _encode_blueprint(blueprint), call)
        entry["revisions"].append({"revision": number, "digest": digest(blueprint), "summary": summary})
        entry["question"] = blueprint["variant"]["question"]
    workspace.write_file(f"{_folder_of(slug)}/{MANIFEST_NAME}", _encode_manifest(manifest), call)


def _check_size(blueprint: Mapping[str, Any]) -> None:
    """Refuse a blueprint whose file nobody could read again."""
    size = len(_encode_blueprint(blueprint))
    if size > BLUEPRINT_FILE_MAX_BYTES:
        message = (
            f"/: the blueprint would be {size:,} bytes; at most {BLUEPRINT_FILE_MAX_BYTES:,} are allowed"
        )
        raise Failure(
            "invalid_blueprint", message, "nothing was written; keep fewer records or shorter texts"
        )


def revise(
    workspace: Workspace,
    call: Call,
    slug: str,
    letter: str,
    change: Callable[[Variant], tuple[dict[str, Any], str]] | None,
    *,
    base: int | None = None,
    dry_run: bool = False,
) -> Revised:
    """Adds what `change` makes of a variant, a checked blueprint and a summary, as its next revision.

    An edit by hand becomes a revision of its own first, its missing values filled. Without `change` that is
    all; the pages are rendered anew in any case. `base` is the revision that the caller has seen: `conflict`
    when another one is current or there is an edit by hand. Whatever `change` raises, and `dry_run`, leave
    everything as it is.
    """
    with workspace.lock(call):
        if not dry_run:
            recover(workspace, call)
        manifest, folder = read_manifest(workspace, slug), f"{_folder_of(slug)}/{letter}"
        entry = find_variant(manifest, slug, letter)
        variant = load_variant(workspace, folder, entry)
        number, edited = len(entry["revisions"]), variant.state == "edited"
        if edited:
            variant = variant._replace(blueprint=fill_records(variant.blueprint)[0])
        if base is not None and (base != number or edited):
            state = f"{number}, edited by hand since" if edited else f"{number}"
            raise Failure("conflict", f"the current revision of {folder} is {state}", "see: protoyard show")
        after, summary = change(variant) if change else (variant.blueprint, "")
        new = [(variant.blueprint, "Edited by hand.")] if edited else []
        new += [(after, summary)] if digest(after) != digest(variant.blueprint) else []
        for blueprint, _ in new:
            _check_size(blueprint)
        if not dry_run:
            mark = f"{STAGING_DIR}/{slug}.{letter}{_REVISING}"
            workspace.create_file(mark, b"")
            call.step("commit")
            if new:
                _commit_revisions(workspace, call, slug, manifest, entry, new)
            call.step("refresh")
            _refresh(workspace, call, slug, letter, after)
            workspace.discard(mark)
        return Revised(variant.blueprint, after, number + len(new), edited)


def previous_revision(workspace: Workspace, variant: Variant) -> dict[str, Any]:
    """What an undo goes back to: the revision before the current one; the current one after a hand edit."""
    back = -1 if variant.state == "edited" else -2
    if len(variant.revisions) < -back:
        raise Failure("not_found", f"{variant.folder} has no earlier revision to go back to")
    return read_revision(workspace, variant.folder, variant.revisions[back])


def record_promotion(workspace: Workspace, call: Call, slug: str, promotion: Mapping[str, Any]) -> None:
    """Adds a promotion to the manifest."""
    with workspace.lock(call):
        recover(workspace, call)
        manifest = read_manifest(workspace, slug)
        manifest["promotions"].append(dict(promotion))
        workspace.write_file(f"{_folder_of(slug)}/{MANIFEST_NAME}", _encode_manifest(manifest), call)


# --- verifying ------------------------------------------------------------------------------------


class _Report:
    """What `verify` has found: `problems` make it invalid, `notes` are for people."""

    __slots__ = ("call", "notes", "problems", "staged", "workspace")

    def __init__(self, workspace: Workspace, call: Call | None) -> None:
        self.workspace = workspace
        self.call = call
        self.staged = _read_staged(workspace)
        self.problems: list[dict[str, str]] = []
        self.notes: list[str] = []

    def add(self, file: str, code: str, message: str, pointer: str = "") -> None:
        self.problems.append({"file": file, "pointer": pointer, "code": code, "message": message})

    def note(self, text: str, advice: str) -> None:
        """A note on something unfinished: it may be in progress unless a probe says that nobody writes."""
        free = self.workspace.lock_is_free()
        self.notes.append(f"{text}; {advice}" if free else f"{text} (may be in progress)")

    def read(self, file: str, max_bytes: int) -> bytes | None:
        """The file's bytes; None, with a problem added, when they cannot be had. A cancellation point."""
        if self.call is not None:
            self.call.check()
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

    def compare(self, file: str, version: str, pages: Sequence[bytes]) -> None:
        """Is a page what it may be? It may be older while a revision is under way, or of another version."""
        data = self.read(file, PAGE_MAX_BYTES)
        if data is None or data in pages:
            return
        slug = file[len(PROTOTYPES_DIR) + 1 :].partition("/")[0]
        if any(name.startswith(f"{slug}.") and name.endswith(_REVISING) for name in self.staged):
            self.note(f"{file} is behind its blueprint", "the next writing command refreshes it")
        elif version != __version__:
            self.notes.append(
                f"{file} is of version {version}, as the manifest says; iterate renders it anew"
            )
        else:
            self.add(file, "page_differs", "is not what its blueprint renders to; iterate renders it anew")


def _verify_history(
    report: _Report, folder: str, revisions: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """Each revision's file against its digest; the current one's blueprint, None when it cannot be had."""
    blueprint = None
    for revision in revisions:
        file = _history_file(folder, revision["revision"])
        data = report.read(file, BLUEPRINT_FILE_MAX_BYTES)
        try:
            blueprint = None if data is None else _parse_blueprint(file, data, [revision["digest"]])[0]
            differs = blueprint is not None and digest(blueprint) != revision["digest"]
        except Failure:
            differs = True
        if differs:
            blueprint = None
            report.add(file, "history_differs", "is not what the manifest recorded for this revision")
    ahead = _history_file(folder, len(revisions) + 1)
    if report.workspace.kind(ahead) != "missing":
        report.note(f"{ahead} is not in the manifest, a revision that was not committed", "iterate clears it")
    return blueprint


def _verify_variant(
    report: _Report, folder: str, manifest: Mapping[str, Any], entry: Mapping[str, Any]
) -> None:
    """A variant's history, blueprint.json and page against its manifest entry and each other."""
    file, known = f"{folder}/{BLUEPRINT_NAME}", [revision["digest"] for revision in entry["revisions"]]
    current = _verify_history(report, folder, entry["revisions"])
    blueprint = report.parse(file, "invalid_blueprint", BLUEPRINT_FILE_MAX_BYTES, check_blueprint)
    if blueprint is None:
        return
    mark = digest(blueprint)
    if mark != known[-1] and mark in known:
        report.note(
            f"{file} is still revision {known.index(mark) + 1} of {len(known)}", "iterate refreshes it"
        )
    elif mark != known[-1]:
        advice = "it is valid, and iterate takes it up"
        report.notes.append(f"{file} was edited by hand since revision {len(known)}; {advice}")
    if blueprint["variant"]["id"] != entry["id"]:
        report.add(file, "manifest_differs", f'must be "{entry["id"]}", as in the manifest', "/variant/id")
    shown = [current or blueprint] + ([blueprint] if mark in known[:-1] else [])
    report.compare(f"{folder}/{PAGE_NAME}", manifest["version"], [_encode_page(one) for one in shown])


def _verify_prototype(report: _Report, folder: str, only: str = "") -> None:
    """A prototype's manifest, then every variant and the page above them; or one variant only."""
    file = f"{folder}/{MANIFEST_NAME}"
    manifest = report.parse(file, "invalid_manifest", MANIFEST_MAX_BYTES, check_manifest)
    if manifest is None:
        return
    letters = [entry["id"] for entry in manifest["variants"]]
    for name in report.workspace.read_names(folder):
        if name in set(only or VARIANT_LETTERS) - set(letters):
            report.add(file, "manifest_differs", f"does not know the variant {name}", "/variants")
    for entry in manifest["variants"]:
        if only in ("", entry["id"]):
            _verify_variant(report, f"{folder}/{entry['id']}", manifest, entry)
    current = [] if only else _read_committed(report.workspace, folder, manifest)
    if current:  # else the history's problems are listed already
        page = render_variants_page(manifest, current).encode("utf-8", "replace")
        report.compare(f"{folder}/{PAGE_NAME}", manifest["version"], [page])


def _is_prototype(workspace: Workspace, path: str) -> bool:
    """A folder in prototypes/, or a copy elsewhere."""
    above = path.rpartition("/")[0]
    return bool(path) and (above == PROTOTYPES_DIR or workspace.kind(f"{path}/{MANIFEST_NAME}") == "file")


def verify(workspace: Workspace, path: str, call: Call | None = None) -> dict[str, Any]:
    """What is wrong with a prototype's folder, a variant's folder or a blueprint .json file (path resolved).

    {"folder", "valid", "problems": [{"file", "pointer", "code", "message"}], "notes": [text]}. Codes:
    `missing`, `invalid_manifest`, `invalid_blueprint`, `history_differs`, `manifest_differs`, `page_differs`,
    or a Failure's for a file that cannot be read. A valid edit by hand, a refresh that was cut off and
    leftovers are notes.
    """
    folder = path if _is_prototype(workspace, path) else path.rpartition("/")[0]
    return _read_settled(workspace, folder, lambda: _verify_once(workspace, path, call))


def _verify_once(workspace: Workspace, path: str, call: Call | None) -> dict[str, Any]:
    report = _Report(workspace, call)
    above, _, name = path.rpartition("/")
    kind = workspace.kind(path)
    if kind == "missing":
        raise Failure("not_found", f"{path} does not exist")
    if kind == "other" or (kind == "file" and name.endswith(".json")):
        workspace.read_bytes(path, max_bytes=BLUEPRINT_FILE_MAX_BYTES)  # what is wrong here is the argument
        report.parse(path, "invalid_blueprint", BLUEPRINT_FILE_MAX_BYTES, check_blueprint)
    elif kind == "folder" and _is_prototype(workspace, path):
        _verify_prototype(report, path)
    elif kind == "folder" and name in list(VARIANT_LETTERS) and _is_prototype(workspace, above):
        _verify_prototype(report, above, only=name)
    else:
        message = f"folder: {path or '.'} is no prototype's folder, no variant's folder and no .json file"
        raise Failure("invalid_arguments", message, "see: protoyard list")
    if report.staged:
        report.note(f"{STAGING_DIR} holds unfinished work", "the next writing command clears it")
    return {"folder": path, "valid": not report.problems, "problems": report.problems, "notes": report.notes}


# ======================================================================
# §13 handover: a prototype as a project that engineers carry on
# ======================================================================
# Rules: uses §01-07, §11-12. The first half makes text of a blueprint and touches nothing: one code runs the
# page and the project, whose modules are §11's table of parts with import and export lines made from it. The
# second half puts a project in its place, whole or not at all, and runs pnpm there.

STACKS = ("static", "vite")

PROJECT_HTML = r"""<!doctype html>
<html lang="$lang" dir="$dir" data-palette="$palette" data-layout="$layout" data-density="$density"
  data-corners="$corners" data-mode="$mode">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="styles.css">
<script type="module" src="src/main.js"></script>
</head>
<body>
<!-- Seen while nothing has started: from disk, without JavaScript. src/main.js removes it. -->
<main class="start-notice" id="start-notice" lang="en" dir="ltr">
<h1>$title</h1>
<p>Opened as a file, this project cannot load its parts: it has to be served.
Run this in its folder, then open <a href="$address">$address</a> in a browser with JavaScript.</p>
<pre>$commands</pre>
</main>
</body>
</html>
"""

PROJECT_CSS = r"""
/* The notice of a page that has not started. It waits a moment, so as not to flash up on a good start. */
.start-notice { max-width: 40rem; margin: 12vh auto; padding: 1.5rem; animation: start-notice .2s .5s both; }
.start-notice h1 { margin-bottom: 1rem; font-size: var(--xxl); }
.start-notice pre { padding: 1rem; border-radius: var(--r); background: var(--sunken); overflow: auto; }
@keyframes start-notice { from { opacity: 0; } }
"""

# The modules that only a project has. app.js holds what the others share.
PROJECT_JS: Mapping[str, str] = {
    "app": r"""
// What the modules share: the blueprint with its look-ups, the records, the route, parts of the page.
export const app = {};
""",
    "data": r"""
// The data. list, get, save and remove are all that the application knows of it: put a real back end behind
// these four, and nothing else has to change. As it comes, records are read from data/*.json, and what is
// changed stays in this browser. An entity is named by its id, a record is an object with an id, and each
// function is asynchronous.
import { dataFiles, digest } from "./files.js";

const place = "protoyard:" + digest + ":records";
const changes = readChanges();
const seeds = new Map();

// What was saved (a record) or removed (null) in this browser, by entity and id. Storage may be forbidden.
function readChanges() {
  try {
    return new Map(JSON.parse(window.localStorage.getItem(place)));
  } catch (error) {
    return new Map();
  }
}

function keepChange(entity, id, record) {
  changes.delete(entity + "/" + id);
  changes.set(entity + "/" + id, record);
  try {
    window.localStorage.setItem(place, JSON.stringify([...changes]));
  } catch (error) {
    return; // forbidden or full: the change lasts until the page is loaded anew
  }
}

async function readSeeds(entity) {
  if (!dataFiles.has(entity)) throw new Error("there is no entity " + entity);
  const response = await fetch(dataFiles.get(entity));
  if (!response.ok) throw new Error("data of " + entity + ": status " + response.status);
  return response.json();
}

// All records of an entity, those that were made here first.
export async function list(entity) {
  if (!seeds.has(entity)) seeds.set(entity, await readSeeds(entity));
  const records = new Map(seeds.get(entity).map((record) => [record.id, record]));
  const made = [];
  for (const [name, record] of changes) {
    const [owner, id] = name.split("/");
    if (owner !== entity) continue;
    if (!record) records.delete(id);
    else if (records.has(id)) records.set(id, record);
    else made.unshift(record);
  }
  return [...made, ...records.values()];
}

// One record, null when it is not there.
export async function get(entity, id) {
  return (await list(entity)).find((record) => record.id === id) || null;
}

// Stores a record, a new one or another state of one that is there, and returns it.
export async function save(entity, record) {
  keepChange(entity, record.id, record);
  return record;
}

export async function remove(entity, id) {
  keepChange(entity, id, null);
}

// For the review bar's reset alone: forgets what was changed here. With a real back end it has nothing to do.
export async function reset() {
  changes.clear();
  window.localStorage.removeItem(place);
}
""",
    "main": r"""
// Reads the blueprint and the records, then starts the application. What changes there goes to the data.
import { app } from "./app.js";
import { list, remove, reset, save } from "./data.js";
import { blueprintFile, digest } from "./files.js";
import { t } from "./format.js";
import { icons } from "./icons.js";
import { start } from "./shell.js";
import { getRecord } from "./store.js";
import { toast } from "./ui.js";
import { words } from "./words.js";

const notice = document.getElementById("start-notice");

async function read() {
  const response = await fetch(blueprintFile);
  if (!response.ok) throw new Error("blueprint.json: status " + response.status);
  const blueprint = await response.json();
  for (const entity of blueprint.entities) entity.records = await list(entity.id);
  return blueprint;
}

function begin(blueprint) {
  notice.remove();
  app.backend = { changed: onChanged, reset: onReset };
  start({ blueprint, words, icons, digest });
}

// A record was made, changed or removed on a screen.
function onChanged(entity, id) {
  const record = getRecord(entity.id, id);
  entity.records = app.data.get(entity.id);
  const done = record ? save(entity.id, record) : remove(entity.id, id);
  done.catch(() => toast(t("not_saved")));
}

async function onReset() {
  await reset();
  window.location.reload();
}

function onFailure(error) {
  notice.querySelector("p").textContent = "The application could not start: " + error.message;
  console.error(error);
}

read().then(begin).catch(onFailure);
""",
}

PROJECT_README = r"""# $title

$question

> $brief

A web application made from a prototype: its screens work, its records are fictional.

## Run it

```sh
$commands
```

Then open <$address>. $run_note

## What is where

| file | what it is |
| --- | --- |
| `index.html`, `styles.css` | the page around the screens, and how they look |
| `src/main.js` | the start: reads the blueprint and the records |
| `src/data.js` | the data: `list`, `get`, `save`, `remove` |
| `src/shell.js` | the bars and the menu around the screens |
| `src/*.js` | the screens by kind, and what they are made of; `src/words.js` has their words |
| `data/*.json` | the records, one file an entity |
| `blueprint.json` | roles, entities, fields, screens and flows: what the screens are drawn from |
| `schema.sql` | the same entities as SQLite tables with keys, checks and all records |
| `.protoyard.json` | where each file came from, with its digest: what has been changed since shows |

## What comes next

1. Put a real back end behind the four functions of `src/data.js`; as they come, changes stay in the browser.
   `sqlite3 app.db < schema.sql` makes a database to start from.
2. Add signing in, and check rights where the data is kept: the roles here only choose what is seen.
3. Take the review bar out of `src/shell.js` once nobody reviews, and its mark once the records are real.
4. A field or a screen is changed in `blueprint.json`; a field also in `schema.sql` and `data/`.

## Where it came from

Protoyard $version, prototype `$slug`, variant `$variant`, revision $revision$edited.
`blueprint.json` has the digest `$digest`.
"""

PROJECT_IGNORE = """\
node_modules/
dist/
*.db
.DS_Store
"""

# How a stack is run: the commands in its folder, where it is then to be seen, what else to say.
_RUNNING: Mapping[str, tuple[tuple[str, ...], str, str]] = {
    "static": (
        ("python3 -m http.server",),
        "http://localhost:8000/",
        "Any web server will do: there is nothing to build and nothing to install.",
    ),
    "vite": (
        ("pnpm install", "pnpm dev"),
        "http://localhost:5173/",
        "`pnpm build` writes `dist/`, which any web server can serve. vite is all that it asks for.",
    ),
}


def render_run(stack: str, target: str, *, installed: bool) -> str:
    """The command line that starts a project from the workspace's folder."""
    folder = target if re.fullmatch(r"[\w./-]+", target) else f'"{target}"'
    commands = _RUNNING[stack][0][1 if installed else 0 :]
    return " && ".join([f"cd {folder}", *commands])


# --- modules: the runtime's parts with import and export lines ------------------------------------


def _free_names(function: str) -> set[str]:
    """The names that a function of the runtime uses and does not bind itself: what it may have to import."""
    code = re.sub(r"^ *//.*", "", function, flags=re.MULTILINE)
    bound = re.findall(r"const (\w+|[\[{][^=]*[\]}]) =", code) + re.findall(r"^function \w+\((.*)\) \{", code)
    plain = re.sub(r'"(?:[^"\\\n]|\\.)*"|/[\w|]+/', '""', code)
    # Calls are looked for in the whole text: a quotation mark in a pattern may hide what follows it.
    used = re.findall(r"(?:(?<![.\w])|(?<=\.\.\.))(\w+)\(", code)
    used += re.findall(r"(?:(?<![.\w])|(?<=\.\.\.))(\w+)(?![\w:])", plain)
    # Of `{ icon: name, kind = "" }` it is name and kind that are bound.
    names = (re.sub("= [^,}]*", "", listed) for listed in bound)
    return set(used).difference(*(re.findall(r"\w+\b(?!:)", listed) for listed in names))


@once
def render_modules() -> dict[str, str]:
    """The runtime's parts as ES modules by file name: all is exported, and imported where it is used."""
    given = {part: re.findall(r"^function (\w+)", text, re.MULTILINE) for part, text in PAGE_JS_PARTS.items()}
    modules = {}
    for part, text in PAGE_JS_PARTS.items():
        chunks = re.split(r"^(?=function )", text, flags=re.MULTILINE)
        used = set().union(*map(_free_names, chunks[1:]))
        needed = {"app": ["app"], **{other: given[other] for other in given if other != part}}
        lines = [
            f'import {{ {", ".join(name for name in names if name in used)} }} from "./{other}.js";\n'
            for other, names in needed.items()
            if used.intersection(names)
        ]
        body = re.sub(r"^function ", "export function ", text.strip("\n"), flags=re.MULTILINE)
        modules[f"src/{part}.js"] = "".join([*lines, "\n" if lines else "", body, "\n"])
    return modules


def _data_file(entity: Mapping[str, Any]) -> str:
    """An entity's file; the names that Windows keeps for its devices get a mark that no id ends with."""
    device = re.fullmatch("con|prn|aux|nul|(com|lpt)[0-9]", entity["id"])
    return f"data/{entity['id']}{'_' if device else ''}.json"


def _render_files_module(blueprint: Mapping[str, Any]) -> str:
    """The module that says where blueprint and records lie; written out, so that bundlers find them too."""
    rows = [
        f'  ["{entity["id"]}", new URL("../{_data_file(entity)}", import.meta.url)],\n'
        for entity in blueprint["entities"]
    ]
    return (
        "// Where blueprint and records lie. The digest tells this project's storage from that of others.\n"
        f'export const digest = "{digest(blueprint)}";\n'
        f'export const blueprintFile = new URL("../{BLUEPRINT_NAME}", import.meta.url);\n'
        f"export const dataFiles = new Map([\n{''.join(rows)}]);\n"
    )


def _render_table_module(name: str, about: str, table: Mapping[str, Any]) -> str:
    return f"// {about}\nexport const {name} = {render_document(table).rstrip()};\n"


# --- schema.sql: tables, keys, checks and all records ---------------------------------------------

# By field type: the column's type and its check; IS and the type "null" let an empty value pass.
_SQL_NUMBER = ("NUMERIC", "typeof({0}) IN ('integer', 'real', 'null')")
_SQL_TYPES: Mapping[str, tuple[str, str]] = {
    "number": _SQL_NUMBER,
    "money": _SQL_NUMBER,
    "percent": _SQL_NUMBER,
    "duration": _SQL_NUMBER,
    "rating": ("INTEGER", f"{{0}} IN ({', '.join(map(str, range(1, RATING_MAX + 1)))})"),
    "boolean": ("INTEGER", "{0} IN (0, 1)"),
    "date": ("TEXT", "{0} IS date({0}, '+0 days')"),  # reckoning makes 30 February another day
    "datetime": ("TEXT", "{0} IS strftime('%Y-%m-%dT%H:%M', {0}, '+0 days')"),
    "tags": ("TEXT", "{0} GLOB '[[]*]'"),
}


def _sql_value(value: Any) -> str:
    """A value as an SQL literal; what is empty is NULL, a list is its JSON text."""
    if value in ("", [], None):
        return "NULL"
    if isinstance(value, (bool, int, float)):
        return render_json(int(value) if isinstance(value, bool) else value)
    text = value if isinstance(value, str) else render_json(value)
    # A NUL would end the statement for whoever reads it.
    return "'" + text.replace("'", "''").replace("\0", "' || char(0) || '") + "'"


def _sql_table(entity_id: str) -> str:
    """A quoted table name; those that begin as SQLite's own get a mark that no id begins with."""
    return f'"{"_" if entity_id.startswith("sqlite_") else ""}{entity_id}"'


def _sql_checks(field: Mapping[str, Any], values: Sequence[Any]) -> Iterator[str]:
    """A column's conditions. Seeded rows may lack what a form asks for: then there is no such condition."""
    column, kind = f'"{field["id"]}"', field["type"]
    given = [value for value in values if value not in ("", [], None)]
    if field.get("required") and len(given) == len(values):
        yield "NOT NULL"
    if kind in _SQL_TYPES:
        yield f"CHECK ({_SQL_TYPES[kind][1].format(column)})"
    if kind in CHOICE_TYPES:
        yield f"CHECK ({column} IN ({', '.join(map(_sql_value, field['values']))}))"
    if "min" in field and all(value >= field["min"] for value in given):
        yield f"CHECK ({column} >= {_sql_value(field['min'])})"
    if "max" in field and all(value <= field["max"] for value in given):
        yield f"CHECK ({column} <= {_sql_value(field['max'])})"


def _render_sql_column(field: Mapping[str, Any], values: Sequence[Any], before: Iterable[str]) -> str:
    """A column's line; a reference to a table that is not there `before` is checked at the end only."""
    parts = [f'"{field["id"]}"', _SQL_TYPES.get(field["type"], ("TEXT",))[0], *_sql_checks(field, values)]
    if field.get("default", "") != "":
        parts.append(f"DEFAULT ({_sql_value(field['default'])})")
    if field["type"] == "ref":
        parts.append(f'REFERENCES {_sql_table(field["entity"])} ("id")')
        parts += [] if field["entity"] in before else ["DEFERRABLE INITIALLY DEFERRED"]
    return " ".join(parts)


def _render_sql_table(entity: Mapping[str, Any], before: Iterable[str]) -> str:
    table, fields = _sql_table(entity["id"]), entity["fields"]
    columns = ['"id" TEXT PRIMARY KEY NOT NULL']
    for field in fields:
        values = [record.get(field["id"], "") for record in entity["records"]]
        columns.append(_render_sql_column(field, values, before))
    text = f"CREATE TABLE {table} (\n  " + ",\n  ".join(columns) + "\n);\n"
    for field in fields:
        if field["type"] == "ref":  # the dot keeps an index's name from being a table's
            text += f'CREATE INDEX "{entity["id"]}.{field["id"]}" ON {table} ("{field["id"]}");\n'
    return text


def _render_sql_rows(entity: Mapping[str, Any]) -> str:
    names = ["id", *(field["id"] for field in entity["fields"])]
    values = [[_sql_value(record.get(name, "")) for name in names] for record in entity["records"]]
    if not values:
        return ""
    columns = ", ".join(f'"{name}"' for name in names)
    rows = ",\n  ".join(f"({', '.join(row)})" for row in values)
    return f"INSERT INTO {_sql_table(entity['id'])} ({columns}) VALUES\n  {rows};\n"


def _in_order_of_reference(entities: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The entities, each after those that it refers to where that is possible: some refer in a circle."""
    placed, left = [], list(entities)
    while left:
        names = {entity["id"] for entity in left}
        free = (
            entity
            for entity in left
            if all(field.get("entity") not in names - {entity["id"]} for field in entity["fields"])
        )
        placed.append(next(free, left[0]))
        left.remove(placed[-1])
    return placed


def render_sql(blueprint: Mapping[str, Any]) -> str:
    """A blueprint whose records are filled as an SQLite script: its entities' tables, checks and all rows.

    References in a circle, and of an entity to itself, are checked at the end of a transaction.
    """
    entities = _in_order_of_reference(blueprint["entities"])
    names = [entity["id"] for entity in entities]
    tables = [_render_sql_table(entity, names[:place]) for place, entity in enumerate(entities)]
    rows = [_render_sql_rows(entity) for entity in entities]
    body = "\n".join(part for part in [*tables, *rows] if part)
    head = "-- SQLite. Dates are ISO 8601 text, durations minutes, booleans 0 and 1, tags JSON lists.\n"
    return f"{head}PRAGMA foreign_keys = ON;\nBEGIN;\n\n{body}\nCOMMIT;\n"


# --- the whole project ----------------------------------------------------------------------------


def _markdown(text: str) -> str:
    """Text for one line of Markdown that shows as it is."""
    line = " ".join(clean_text(text).split())
    return re.sub(r"[\\`*_\[\]<>~$]|&(?=#?\w+;)|^[-+#]|^\d+(?=[.)])", r"\\\g<0>", line)


def _render_package(slug: str) -> str:
    build = "vite build --base ./ --assetsInlineLimit 0"
    package = {
        "name": slug,
        "private": True,
        "version": "0.0.0",
        "type": "module",
        "scripts": {"dev": "vite", "build": build, "preview": "vite preview"},
        "devDependencies": {"vite": VITE_VERSION},
    }
    return render_document(package)


def _render_readme(blueprint: Mapping[str, Any], stack: str, source: Mapping[str, Any]) -> str:
    commands, address, note = _RUNNING[stack]
    values = {
        **source,
        "title": _markdown(blueprint["title"]),
        "question": _markdown(blueprint["variant"]["question"]),
        "brief": _markdown(blueprint["brief"]),
        "commands": "\n".join(commands),
        "address": address,
        "run_note": note,
        "version": __version__,
        "edited": ", edited by hand since" if source.get("edited") else "",
    }
    return _fill(PROJECT_README, values).lstrip("\n")


def _render_index(blueprint: Mapping[str, Any], stack: str) -> str:
    commands, address, _ = _RUNNING[stack]
    head = {"lang": blueprint["lang"], "dir": blueprint["dir"], "title": _text(blueprint["title"])}
    values = {**blueprint["theme"], **head, "address": address, "commands": "\n".join(commands)}
    return _fill(PROJECT_HTML, values)


def render_project(blueprint: dict[str, Any], *, stack: str, source: Mapping[str, Any]) -> dict[str, str]:
    """Every file of a project by its path: the text of a valid blueprint, whose records are filled.

    `source` is {"slug", "variant", "revision", "digest", "edited" if so}, where the blueprint came from.
    """
    text = render_blueprint(blueprint)
    bp, theme = parse_json(text), blueprint["theme"]
    styles = (TOKENS_CSS, PALETTE_CSS[theme["palette"]], PAGE_CSS, LAYOUT_CSS[theme["layout"]], PROJECT_CSS)
    words, icons = words_for(bp["lang"]), json.loads(PAGE_ICONS)
    files = {
        "README.md": _render_readme(bp, stack, source),
        PAGE_NAME: _render_index(bp, stack),
        "styles.css": "".join(styles).lstrip("\n"),
        **{f"src/{name}.js": module.lstrip("\n") for name, module in PROJECT_JS.items()},
        "src/files.js": _render_files_module(bp),
        "src/words.js": _render_table_module("words", "The words of the interface.", words),
        "src/icons.js": _render_table_module("icons", "The drawings: paths in a square of 24 by 24.", icons),
        **render_modules(),
        **{_data_file(entity): render_document(entity["records"]) for entity in bp["entities"]},
        BLUEPRINT_NAME: text,
        "schema.sql": render_sql(bp),
        ".gitignore": PROJECT_IGNORE,
    }
    if stack == "vite":
        files["package.json"] = _render_package(source["slug"])
    digests = {path: _digest_text(files[path]) for path in sorted(files)}
    record = {"protoyard": __version__, "stack": stack, "source": dict(source), "files": digests}
    return {**files, PROJECT_RECORD_NAME: render_document(record)}


def _digest_text(text: str) -> str:
    import hashlib

    return "sha256:" + hashlib.sha256(text.encode("utf-8")).hexdigest()


# --- putting it in its place ----------------------------------------------------------------------


def check_target(workspace: Workspace, target: str) -> None:
    """Failure already_exists unless the target is missing or an empty folder, and folders are above it."""
    parts = target.split("/")
    for depth in range(1, len(parts) + 1):
        path = "/".join(parts[:depth])
        kind = workspace.kind(path)
        if kind == "missing":
            return
        if kind != "folder" or (path == target and workspace.read_names(path)):
            what = "and is not empty" if kind == "folder" else "and is no folder"
            hint = "name another place: --target DIR"
            raise Failure("already_exists", f"{path} is there already {what}", hint)


def write_project(workspace: Workspace, call: Call, target: str, files: Mapping[str, str]) -> None:
    """Puts a project's files in the target, which appears whole or not at all; steps `stage` and `rename`."""
    call.step("stage")
    with workspace.lock(call):
        recover(workspace, call)
        with workspace.stage(call) as stage:
            for path, text in files.items():
                stage.write(path, text.encode("utf-8"))
            call.step("rename")
            stage.publish(target)


def _is_bare_script(path: str) -> bool:
    """A script without a first line that says by what to run it, as npm installs pnpm 12; a shell knows."""
    try:
        with open(path, "rb") as file:
            start = file.read(2)
    except OSError:  # it may be run and not read: a program
        return False
    return start.startswith(b"#") and start != b"#!"


def find_pnpm(environ: Mapping[str, str]) -> list[str]:
    """How pnpm is called: its absolute path, found on PATH; Failure missing_dependency without it."""
    names = ["pnpm.cmd", "pnpm.exe"] if os.name == "nt" else ["pnpm"]
    for folder in filter(os.path.isabs, environ.get("PATH", "").split(os.pathsep)):
        for path in (os.path.join(folder, name) for name in names):
            if os.path.isfile(path) and os.access(path, os.X_OK):
                return ["/bin/sh", path] if os.name != "nt" and _is_bare_script(path) else [path]
    hint = "install pnpm (https://pnpm.io), or leave install out and install later"
    raise Failure("missing_dependency", "install needs pnpm, which is not on PATH; nothing was written", hint)


def run_install(workspace: Workspace, call: Call, pnpm: Sequence[str], target: str) -> None:
    """Installs what a project depends on, without the lock; step `install`. May be dependency_failed."""
    call.step("install")
    # A workspace of pnpm's further up is left alone: only the target is installed and written to.
    argv, hint = [*pnpm, "install", "--ignore-workspace"], f"run pnpm install in {target} yourself"
    stands = f"the project itself stands in {target}"
    try:
        ran = run_child(call, argv, cwd=workspace.absolute(target))
    except Failure as failure:
        raise Failure("dependency_failed", f"{failure.message}; {stands}", hint) from failure
    if ran.status != 0:
        said = redact((ran.stdout + b"\n" + ran.stderr).decode("utf-8", "replace"))
        last = "\n".join(line for line in said.splitlines() if line.strip())[-LAST_WORDS_BYTES:]
        said = f". It said:\n{last}" if last else ""
        raise Failure("dependency_failed", f"pnpm install ended with {ran.status}; {stands}{said}", hint)


# ======================================================================
# §14 browser: find a browser, drive it by its pipe, take screenshots
# ======================================================================
# Rules: uses §01-06. One browser per call, spoken to over two pipes (Chrome DevTools Protocol: JSON messages,
# each ended by a NUL byte); pictures come back through the pipe and are written like any other file. Where a
# process cannot be given pipes (Windows) one process takes one picture. The user's profile is not touched.

# Names on PATH, then the usual places of each platform (sys.platform), the most open first.
_BROWSER_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "brave",
)
_BROWSER_PLACES: Mapping[str, tuple[str, ...]] = {
    "darwin": (
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
        "/Applications/Brave Browser.app/Contents/MacOS/Brave Browser",
    ),
    "win32": (
        r"{PROGRAMFILES}\Google\Chrome\Application\chrome.exe",
        r"{PROGRAMFILES(X86)}\Google\Chrome\Application\chrome.exe",
        r"{LOCALAPPDATA}\Google\Chrome\Application\chrome.exe",
        r"{PROGRAMFILES(X86)}\Microsoft\Edge\Application\msedge.exe",
        r"{PROGRAMFILES}\BraveSoftware\Brave-Browser\Application\brave.exe",
    ),
}
# fmt: off
_BROWSER_FLAGS = (
    "--headless", "--no-first-run", "--no-default-browser-check", "--disable-gpu", "--disable-quic",
    "--mute-audio", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-extensions",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--password-store=basic", "--use-mock-keychain",
    "--force-color-profile=srgb", f"--window-size={SCREENSHOT_WIDTH_PX},{SCREENSHOT_HEIGHT_PX}",
)
# fmt: on


class Shot(Row):
    """One picture to take: a page's path in the workspace, the fragment of a screen, where it goes."""

    page: str
    fragment: str
    target: str


def _browser_places(environ: Mapping[str, str], platform: str) -> Iterator[str]:
    suffix = ".exe" if platform == "win32" else ""
    for folder in environ.get("PATH", "").split(os.pathsep):
        yield from (os.path.join(folder, name + suffix) for name in _BROWSER_NAMES if os.path.isabs(folder))
    for place in _BROWSER_PLACES.get(platform, ()):
        yield re.sub(r"\{(.+?)\}", lambda match: environ.get(match[1], ""), place)


def find_browser(environ: Mapping[str, str], platform: str = sys.platform) -> str:
    """The path of PROTOYARD_BROWSER or of the first browser found; Failure missing_dependency without one."""
    named = environ.get("PROTOYARD_BROWSER")
    for path in [named] if named else _browser_places(environ, platform):
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    what = "PROTOYARD_BROWSER names no program" if named else "no Chromium, Chrome, Edge or Brave was found"
    hint = "install Chromium, or set PROTOYARD_BROWSER to the path of a browser, or leave screenshots out"
    raise Failure("missing_dependency", f"screenshots need a browser: {what}; nothing was written", hint)


def _browser_argv(program: str, profile: str, *more: str) -> list[str]:
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0  # its sandbox does not work for root
    return [
        program,
        *_BROWSER_FLAGS,
        *(["--no-sandbox"] if is_root else []),
        f"--user-data-dir={profile}",
        *more,
    ]


def _browser_environ(profile: str) -> dict[str, str]:
    """Our environment with every home and cache in the throw-away profile."""
    return {**os.environ, **dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"), profile)}


class _Tab:
    """A tab of a browser that is spoken to over its debugging pipe."""

    __slots__ = ("_browser", "_number", "_received", "_session")

    def __init__(self, browser: Child) -> None:
        self._browser = browser
        self._number = 0
        self._received = b""
        self._session = ""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        size = {"width": SCREENSHOT_WIDTH_PX, "height": SCREENSHOT_HEIGHT_PX}
        self.ask("Emulation.setDeviceMetricsOverride", **size, deviceScaleFactor=1, mobile=False)
        calm = [{"name": "prefers-reduced-motion", "value": "reduce"}]
        self.ask("Emulation.setEmulatedMedia", features=calm)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and wait for its result; Failure dependency_failed when it is refused."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        session = {"sessionId": self._session} if self._session else {}
        self._browser.send(render_json({**message, **session}).encode("utf-8") + b"\0")
        deadline = time.monotonic() + BROWSER_ANSWER_SECONDS
        answer = self._next_message(deadline)
        while answer.get("id") != self._number:  # an event, which nobody waits for
            answer = self._next_message(deadline)
        if "error" in answer:
            what = clean_text(str(answer["error"].get("message", "")))
            raise Failure("dependency_failed", f"the browser refused {method}: {what}")
        return answer["result"]

    def _next_message(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._received:
            self._received += self._browser.receive(deadline - time.monotonic())
        message, _, self._received = self._received.partition(b"\0")
        return json.loads(message.decode("utf-8", "replace"))

    def shoot(self, call: Call, url: str) -> bytes:
        """The picture of a page, as PNG, once it says that it is ready."""
        from base64 import b64decode

        self.ask("Page.navigate", url=url)
        deadline = time.monotonic() + BROWSER_ANSWER_SECONDS
        while not self._is_ready():
            if time.monotonic() > deadline:
                raise Failure("dependency_failed", "the browser did not finish the page")
            call.wait(BROWSER_POLL_SECONDS)
        return b64decode(self.ask("Page.captureScreenshot", format="png")["data"])

    def _is_ready(self) -> bool:
        found = self.ask("Runtime.evaluate", expression="document.documentElement.dataset.ready")
        return found["result"].get("value") == "true"


def _url(workspace: Workspace, shot: Shot, number: int) -> str:
    """The page's address; the number makes the next screen another document, which is loaded afresh."""
    from urllib.parse import quote

    path = workspace.absolute(shot.page).replace(os.sep, "/")
    return f"file://{quote(path if path.startswith('/') else '/' + path)}?{number}#/{shot.fragment}"


def _shoot_alone(workspace: Workspace, call: Call, program: str, profile: str, url: str) -> bytes:
    """One picture by a process of its own (Windows)."""
    picture = f"{profile}/{PICTURE_NAME}"
    flag = f"--screenshot={workspace.absolute(picture)}"
    argv = _browser_argv(program, workspace.absolute(profile), flag, url)
    done = run_child(
        call, argv, env=_browser_environ(workspace.absolute(profile)), seconds=BROWSER_ANSWER_SECONDS
    )
    if done.status != 0:
        words = redact(done.stderr[-LAST_WORDS_BYTES:].decode("utf-8", "replace").strip())
        raise Failure("dependency_failed", f"the browser ended with {done.status}: {words}")
    return workspace.read_bytes(picture, max_bytes=PICTURE_MAX_BYTES)


def write_screenshots(
    workspace: Workspace, call: Call, program: str, shots: Sequence[Shot], *, piped: bool = os.name != "nt"
) -> list[str]:
    """Take and write every picture, each a step of the call; returns their paths.

    The browser runs without the lock, which is held only while a picture is written.
    """
    profile = f"{STATE_DIR}/{BROWSER_NAME}/{os.getpid()}-{os.urandom(STAGING_SALT_BYTES).hex()}"
    workspace.create_file(f"{profile}/{PAGE_NAME}", b"")
    call.planned += len(shots) + piped  # each picture, and the start of a browser that takes them all
    try:
        if not piped:
            shoot = lambda url: _shoot_alone(workspace, call, program, profile, url)  # noqa: E731
            return _write_all(workspace, call, shots, shoot)
        place = workspace.absolute(profile)
        argv = _browser_argv(program, place, "--remote-debugging-pipe", "about:blank")
        call.step("start the browser")
        with start_child(call, argv, env=_browser_environ(place), pipes=True) as browser:
            tab = _Tab(browser)
            return _write_all(workspace, call, shots, lambda url: tab.shoot(call, url))
    finally:
        workspace.discard(profile)


def _write_all(
    workspace: Workspace, call: Call, shots: Sequence[Shot], shoot: Callable[[str], bytes]
) -> list[str]:
    for number, shot in enumerate(shots, 1):
        call.step(f"screenshot {number} of {len(shots)}: {shot.target}")
        picture = shoot(_url(workspace, shot, number))
        with workspace.lock(call):
            workspace.write_file(shot.target, picture, call)
    return [shot.target for shot in shots]


# ======================================================================
# §15 operations: the rows that are tools and commands
# ======================================================================
# Rules: uses §01-14. One row is the only source of a tool's name, texts, arguments and annotations, of its
# command, its options and the argument vector that the server builds. `patchFile` is `--patch-file`.


class Argument(Row):
    """One argument: its MCP name (camelCase), its JSON Schema, and how the command line takes it."""

    name: str
    schema: Mapping[str, Any]
    required: bool = False
    positional: bool = False
    piped: str = (
        ""  # on the command line `-` means standard input, whose text goes to the argument of this name
    )

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


class Operation(Row):
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
    constant: bool = False  # the data never changes: the server prepares its answer once
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
    browser = find_browser(os.environ) if values["screenshots"] else ""
    plain = clean_text(values["brief"]).strip()
    brief = redact(plain)[:BRIEF_MAX_CHARS]
    if brief != plain:
        warnings.append(
            "The brief held what looks like a secret; it was replaced by [redacted] before anything else."
        )
    call.planned = len(QUICK_STEPS)
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
    shots = _plan_shots(created["folder"], blueprints) if browser else []
    taken = {"screenshots": _take_screenshots(context, browser, created["folder"], shots)} if shots else {}
    lead = blueprints[0]
    return {
        **created,
        **taken,
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


def _plan_shots(folder: str, blueprints: Sequence[Mapping[str, Any]]) -> list[Shot]:
    """A picture of each screen of each variant's navigation, seen by the first role that may see it."""
    shots = []
    for blueprint in blueprints:
        own = f"{folder}/{blueprint['variant']['id']}"
        for screen in blueprint["navigation"]:
            seers = [role["id"] for role in blueprint["roles"] if screen in role.get("screens", [screen])]
            fragment = f"{screen}?role={seers[0]}" if seers else screen
            shots.append(Shot(f"{own}/{PAGE_NAME}", fragment, f"{own}/{SCREENSHOTS_DIR}/{screen}.png"))
    return shots


def _take_screenshots(context: Context, browser: str, folder: str, shots: Sequence[Shot]) -> list[str]:
    try:
        return write_screenshots(context.workspace, context.call, browser, shots)
    except Failure as failure:
        message = f"{failure.message}; the prototype itself stands in {folder}"
        raise Failure(failure.code, message, failure.hint) from failure


def _find_folder(workspace: Workspace, argument: str) -> tuple[str, str]:
    """The slug and the letter of a variant's folder as the caller names it."""
    path = workspace.resolve(argument, field="folder")
    found = re.fullmatch(f"{PROTOTYPES_DIR}/([^/]+)/([{VARIANT_LETTERS}])", path)
    if not found:
        hint = f"name a variant's folder, such as {PROTOTYPES_DIR}/my-app/a (see: protoyard list)"
        raise Failure("not_found", f"folder: {path or '.'} is no variant's folder", hint)
    return found[1], found[2]


def _wanted_patch(context: Context, values: Mapping[str, Any]) -> list[Any] | dict[str, Any] | None:
    """The patch that was given as text or as a file; None without one."""
    if "patch" in values:
        return parse_patch(values["patch"])
    if "patchFile" not in values:
        return None
    path = context.workspace.resolve(values["patchFile"], field="patchFile")
    return parse_patch(context.workspace.read_bytes(path, max_bytes=PATCH_FILE_MAX_BYTES))


def _check_round_trip(old: Any, new: Any, pointer: str = "") -> None:
    """Refuse a string that was replaced by its own redacted form: what was shown is not what is stored."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in new:
            _check_round_trip(old.get(name), new[name], render_pointer(pointer, name))
    elif isinstance(old, list) and isinstance(new, list):
        for index, (was, now) in enumerate(zip(old, new)):
            _check_round_trip(was, now, render_pointer(pointer, index))
    elif isinstance(old, str) and isinstance(new, str) and old != new and redact(old) == new:
        message = f"{pointer}: the patch would replace a value by its own redacted form"
        raise Failure("invalid_patch", message, "leave what reads [redacted] out of the patch")


def _reshaped(old: dict[str, Any], patch: list[Any] | dict[str, Any]) -> tuple[dict[str, Any], int]:
    """The patched blueprint, gaps in its records filled, and how many; Failure names all problems."""
    new = apply_patch(old, patch)
    problems = check_blueprint(new)
    if problems:
        raise Failure("invalid_blueprint", describe_problems(problems), "nothing was written; mend the patch")
    _check_round_trip(old, new)
    return fill_records(new)


def run_iterate(context: Context, values: dict[str, Any]) -> dict[str, Any]:
    """Patch, undo or re-render a variant; data: revision, summary, inverse (RFC 6902), filled, warnings …"""
    workspace, call = context.workspace, context.call
    browser = find_browser(os.environ) if values["screenshots"] else ""
    slug, letter = _find_folder(workspace, values["folder"])
    patch, filled = _wanted_patch(context, values), []
    call.planned = len(ITERATE_STEPS)

    def change(variant: Variant) -> tuple[dict[str, Any], str]:
        if values["undo"]:
            return previous_revision(workspace, variant), "Undone."
        new, count = _reshaped(variant.blueprint, patch)
        filled.append(count)
        return new, render_summary(summarise_change(variant.blueprint, new))

    done = revise(
        workspace,
        call,
        slug,
        letter,
        change if patch is not None or values["undo"] else None,
        base=values.get("base"),
        dry_run=values["dryRun"],
    )
    folder = f"{PROTOTYPES_DIR}/{slug}"
    shots = _plan_shots(folder, [done.after]) if browser and not values["dryRun"] else []
    taken = {"screenshots": _take_screenshots(context, browser, folder, shots)} if shots else {}
    return {
        "folder": f"{folder}/{letter}",
        "page": f"{folder}/{letter}/{PAGE_NAME}",
        "revision": done.revision,
        "dryRun": values["dryRun"],
        "takenUp": done.taken_up,
        "summary": summarise_change(done.before, done.after),
        "inverse": render_patch(done.after, done.before),
        "filled": sum(filled),
        "warnings": find_warnings(done.after),
        **taken,
    }


def run_promote(context: Context, values: dict[str, Any]) -> dict[str, Any]:
    """Make a project of a variant; data: target, stack, files, run, installed, source, dryRun, warnings."""
    workspace, call, slug, stack = context.workspace, context.call, values["slug"], values["stack"]
    call.planned = len(PROMOTE_STEPS)
    call.step("check")
    target = workspace.resolve(values.get("target", f"{APPS_DIR}/{slug}"), field="target", write=True)
    found = read_variant(workspace, slug, values["variant"])
    check_target(workspace, target)
    pnpm = find_pnpm(os.environ) if values["install"] else []
    blueprint = fill_records(found["blueprint"])[0]
    edited = {"edited": True} if "edited" in found else {}
    source = {"slug": slug, "variant": values["variant"], "revision": found["revision"]}
    source.update(digest=digest(blueprint), **edited)
    files = render_project(blueprint, stack=stack, source=source)
    file = f"{found['folder']}/{BLUEPRINT_NAME}"
    installed = bool(pnpm) and not values["dryRun"]
    data = {
        "target": target,
        "stack": stack,
        "files": list(files),
        "run": render_run(stack, target, installed=installed),
        "installed": installed,
        "source": source,
        "dryRun": values["dryRun"],
        "warnings": [f"{file} was edited by hand since its last revision; it was taken as it is."]
        if edited
        else [],
    }
    if not values["dryRun"]:
        write_project(workspace, call, target, files)
        if pnpm:
            run_install(workspace, call, pnpm, target)
        call.step("record")
        kept = {name: source[name] for name in source if name != "slug"}
        promotion = {**kept, "target": target, "stack": stack, "installed": installed, "version": __version__}
        record_promotion(workspace, call, slug, promotion)
    return data


def run_list(context: Context, values: dict[str, Any]) -> dict[str, Any]:
    """One page of prototypes by slug; data: prototypes, and `next` (for `after`) when there are more."""
    return read_list(context.workspace, limit=values["limit"], after=values.get("after", ""))


def run_show(context: Context, values: dict[str, Any]) -> dict[str, Any]:
    """The manifest and a summary of each variant, or one variant's blueprint with its records cut short."""
    letter = values.get("variant")
    if letter is None:
        return read_prototype(context.workspace, values["slug"])
    shown = read_variant(context.workspace, values["slug"], letter)
    if "against" in values:
        shown.update(_compare(context.workspace, shown, values["against"]))
    if not values["records"]:
        shown["blueprint"] = _cut_records(shown["blueprint"])
    return shown


def _compare(workspace: Workspace, shown: Mapping[str, Any], number: int) -> dict[str, Any]:
    """The patch from revision `number` to the blueprint that is shown, and its inverse (RFC 6902)."""
    entry = find_variant(read_manifest(workspace, shown["slug"]), shown["slug"], shown["variant"])
    if number > len(entry["revisions"]):
        message = f"{shown['folder']} has no revision {number}"
        raise Failure("not_found", message, f"its revisions: 1 to {len(entry['revisions'])}")
    then, now = read_revision(workspace, shown["folder"], entry["revisions"][number - 1]), shown["blueprint"]
    changes = {"summary": summarise_change(then, now), "patch": render_patch(then, now)}
    return {"against": number, **changes, "inverse": render_patch(now, then)}


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
    return verify(context.workspace, path, context.call)


def run_blueprint_schema(context: Context, values: dict[str, Any]) -> dict[str, Any]:
    """The blueprint's JSON Schema (draft 2020-12)."""
    return blueprint_schema()


def _check_quick(values: Mapping[str, Any]) -> Iterator[Problem]:
    brief = values.get("brief")
    if isinstance(brief, str) and brief and not clean_text(brief).strip():
        yield Problem("/brief", "holds white space only; say in a sentence who does what with which things")


def _check_iterate(values: Mapping[str, Any]) -> Iterator[Problem]:
    given = [name for name in ("patch", "patchFile", "undo") if values.get(name, False) is not False]
    if len(given) > 1:
        yield Problem("/" + given[-1], f"cannot go with {given[0]}: give one of patch, patchFile, undo")


def _check_promote(values: Mapping[str, Any]) -> Iterator[Problem]:
    if values.get("install") is True and values.get("stack", STACKS[0]) != "vite":
        yield Problem("/install", "needs the stack vite: a static project has nothing to install")


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


def _iterate_text(data: Mapping[str, Any]) -> str:
    head = f"{data['folder']}: revision {data['revision']}" + (
        " (dry run: nothing written)" if data["dryRun"] else ""
    )
    lines = [head, *(["An edit by hand was taken up as a revision of its own."] if data["takenUp"] else [])]
    for how in ("added", "changed", "removed"):
        lines += [f"{how:8} {name}" for name in data["summary"][how]]
    untouched = ", ".join(f"{count} {kind}" for kind, count in data["summary"]["untouched"].items() if count)
    lines += [f"untouched: {untouched}", *(f"Warning: {warning}" for warning in data["warnings"])]
    return "\n".join(lines)


def _promote_text(data: Mapping[str, Any]) -> str:
    source = data["source"]
    whence = f"{source['slug']} {source['variant']}, revision {source['revision']}"
    lines = [f"{data['target']}  ({data['stack']}, from {whence})", ""]
    if data["dryRun"]:
        lines += ["Nothing was written. These files would be:", *(f"  {name}" for name in data["files"]), ""]
    else:
        installed = " and what they need" if data["installed"] else ""
        lines += [
            f"{len(data['files'])} files{installed}; {data['target']}/README.md says what is where.",
            "",
        ]
    lines += [f"Warning:  {warning}" for warning in data["warnings"]]
    return "\n".join([*lines, f"Run:  {data['run']}"])


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


def _whole(description: str, least: int, most: int | None = None, **more: int) -> dict[str, Any]:
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
                piped="brief",
            ),
            Argument("seed", _whole("Decides the fictional data; default: from the brief.", 0, SEED_MAX)),
            Argument(
                "variants",
                _whole("How many variants.", 1, len(VARIANT_LETTERS), default=VARIANTS_DEFAULT),
            ),
            Argument(
                "slug", {**_SLUG, "description": "Folder name; default: from the title, numbered if taken."}
            ),
            Argument("screenshots", _flag("Also take a picture of each screen of the menu.")),
        ),
        run=run_quick,
        render=_quick_text,
        writes=True,
        idempotent=False,
        check=_check_quick,
    ),
    Operation(
        name="iterate",
        title="Reshape a variant",
        description=(
            "Change one variant through its blueprint: `patch` is the JSON text of an RFC 6902 patch "
            "(array) or of an RFC 7396 merge patch (object), `patchFile` a file with one, `undo` goes "
            "back to the revision before (undo of an undo redoes). None of them takes up a hand edit "
            "of blueprint.json and renders it. The result must be a valid blueprint or nothing is "
            "written and every problem is named with its JSON pointer. New fields and records without "
            "values are filled with fictional data. Answers with the revision, what changed in words, "
            "what stayed, the inverse patch, and warnings. `base` refuses when another revision is "
            "current; `dryRun` does all but the writing. Read `blueprint_schema` and `show` first. "
            "History is kept: every revision can be brought back."
        ),
        arguments=(
            Argument(
                "folder",
                {
                    "type": "string",
                    "description": "A variant's folder, for example prototypes/inspections/a.",
                },
                required=True,
                positional=True,
            ),
            Argument(
                "patch",
                {
                    "type": "string",
                    "description": "JSON text of a JSON Patch (array) or a merge patch (object).",
                    "maxLength": PATCH_MAX_CHARS,
                },
            ),
            Argument(
                "patchFile",
                {"type": "string", "description": "Path in the workspace of a file with such a text."},
                piped="patch",
            ),
            Argument("undo", _flag("Go back to the revision before the current one, as a new revision.")),
            Argument("base", _whole("The revision that the caller has seen; another one is a conflict.", 1)),
            Argument("dryRun", _flag("Do everything but the writing.")),
            Argument("screenshots", _flag("Also take a picture of each screen of the menu.")),
        ),
        run=run_iterate,
        render=_iterate_text,
        writes=True,
        idempotent=False,
        check=_check_iterate,
    ),
    Operation(
        name="promote",
        title="Prototype to project",
        description=(
            "Turn one variant of a prototype into a project that engineers carry on, in a new folder: "
            "readable ES modules, styles, data/*.json, the blueprint, schema.sql (SQLite, with keys, "
            "checks and all records) and a README. `static` needs no build and no package, only a web "
            "server; `vite` is the same source and a package.json with vite. Answers with the target, "
            "its files, the command that starts it and where it came from (revision, digest). A valid "
            "edit of blueprint.json by hand is promoted too, with a warning. Never overwrites: a "
            "target with anything in it is refused. `install` runs pnpm install there and needs the "
            "network; should it fail or take too long for one call, the project stays and can be "
            "installed by hand. `dryRun` lists the files."
        ),
        arguments=(
            Argument(
                "slug", {**_SLUG, "description": "The prototype's slug, as `list` gives it."}, True, True
            ),
            Argument(
                "variant", {**_LETTER, "description": "The variant's letter.", "default": VARIANT_LETTERS[0]}
            ),
            Argument(
                "target",
                {
                    "type": "string",
                    "description": "Folder in the workspace, missing or empty; default: apps/<slug>.",
                },
            ),
            Argument(
                "stack",
                {
                    "type": "string",
                    "description": "static: plain files. vite: with a bundler.",
                    "enum": list(STACKS),
                    "default": STACKS[0],
                },
            ),
            Argument("install", _flag("Run pnpm install in the target (stack vite only).")),
            Argument("dryRun", _flag("Only list the files that would be written.")),
        ),
        run=run_promote,
        render=_promote_text,
        writes=True,
        idempotent=False,
        check=_check_promote,
    ),
    Operation(
        name="list",
        title="List prototypes",
        description=(
            "List the prototypes of the workspace by slug, with title, variants and time of creation. "
            "Pages: when the answer holds `next`, call again with it as `after`."
        ),
        arguments=(
            Argument("limit", _whole("How many at most.", 1, LIST_LIMIT_MAX, default=LIST_LIMIT_DEFAULT)),
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
            Argument(
                "against",
                _whole("An earlier revision: also the patch from it to the current one, and its inverse.", 1),
            ),
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
        constant=True,
    ),
)

# ======================================================================
# §16 cli: parser from the rows, execute, printing for people
# ======================================================================
# Rules: uses §01-07, §15; knows rows only as they are handed in. `parse_command_line` only splits, by hand
# since argparse would be an eighth of every start: every value stays a string until §04 has judged it, so
# that all problems come at once. `execute` is the one entry of both doors.

_COMMON = (
    Argument(
        "workspace",
        {
            "type": "string",
            "description": "The folder to work in; default: PROTOYARD_WORKSPACE, else the current one.",
        },
    ),
    Argument("json", {"type": "boolean", "description": "Print the envelope as JSON."}),
)


class Invocation(Row):
    """A parsed command line: its row, the values given (not yet checked), and --workspace."""

    row: Operation
    values: dict[str, Any]
    workspace: str | None


def _typed(argument: Argument, given: Any) -> Any:
    """What an option's text means under its schema; text that is no integer stays text, for §04 to refuse."""
    if argument.schema["type"] == "integer" and re.fullmatch("-?[0-9]{1,20}", given):
        return int(given)
    return given


def _split_words(words: Sequence[str], row: Operation) -> tuple[dict[str, Any], list[str]]:
    """The text given for each argument by its name, and what is wrong with the words."""
    options = {argument.option: argument for argument in (*row.arguments, *_COMMON)}
    free = [argument.name for argument in row.arguments if argument.positional]
    given: dict[str, Any] = {}
    problems: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        option, equals, text = word.partition("=")
        argument = options.get(option) if word.startswith("--") else None
        if word == "--" or not word.startswith("-") or word == "-":
            for value in rest if word == "--" else [word]:
                problems += [] if free else [f"{value}: is one argument too many (quote a brief)"]
                given.update({free.pop(0): value} if free else {})
            rest = [] if word == "--" else rest
        elif argument is None:
            guess = nearest(option, options)
            problems.append(f"{word}: is no option" + (f"; did you mean {guess}?" if guess else ""))
        elif argument.schema["type"] == "boolean":
            problems += [f"{option}: takes no value"] if equals else []
            given[argument.name] = True
        elif equals or (rest and not rest[0].startswith("--")):
            given[argument.name] = text if equals else rest.pop(0)
        else:
            problems.append(f"{option}: needs a value")
    return given, problems


def render_command_help(row: Operation) -> str:
    """What `protoyard COMMAND --help` prints."""
    from textwrap import fill

    positionals = [argument for argument in row.arguments if argument.positional]
    usage = " ".join(["usage: protoyard", row.command, "[OPTION...]", *(a.name.upper() for a in positionals)])
    lines = []
    for argument in (*row.arguments, *_COMMON):
        kind = argument.schema["type"].upper() if not argument.positional else ""
        value = "" if kind == "BOOLEAN" else " " + "|".join(argument.schema.get("enum", [kind]))
        name = argument.name.upper() if argument.positional else argument.option + value
        lines.append(["  " + name.rstrip(), argument.schema["description"]])
    return f"{usage}\n\n{fill(row.description, HELP_WIDTH_CHARS)}\n\n{render_columns(lines)}"


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
    given, problems = _split_words(argv[1:], row)
    values = {a.name: _typed(a, given[a.name]) for a in row.arguments if a.name in given}
    if problems:
        message = "; ".join(problems + _argument_problems(row, values))
        raise Failure("invalid_arguments", message, f"see: protoyard {row.command} --help")
    return Invocation(row, values, given.get("workspace"))


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
            del taken[argument.name]
            taken[argument.piped] = context.stdin().decode("utf-8", "replace").removeprefix("\ufeff")
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
    """[7/9] Run one command and return its envelope (WIRE §6); raises only Stopped. Both doors lead here."""
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


def _progress_printer(after: float) -> Callable[[float, float | None, str], None]:
    """Prints steps on stderr, but only those that begin later than `after`: quick work stays silent."""

    def show(done: float, total: float | None, message: str) -> None:
        if time.monotonic() >= after:
            write_text(sys.stderr, f"{message} …")

    return show


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


def run_command_line(
    argv: Sequence[str], rows: Sequence[Operation], *, render_version: Callable[[], str]
) -> int:
    """Run one command line and print its outcome; returns the exit status."""
    first = argv[0] if argv else ""
    if first in ("", "-h", "--help", "help"):
        write_text(sys.stdout if first else sys.stderr, render_help(rows))
        return EXIT_DONE if first else EXIT_USAGE
    if first in ("-V", "--version"):
        write_text(sys.stdout, render_version())
        return EXIT_DONE
    words = argv[: argv.index("--")] if "--" in argv else argv
    row = next((row for row in rows if row.command == first), None)
    if row and ("--help" in words or "-h" in words):
        write_text(sys.stdout, render_command_help(row))
        return EXIT_DONE
    call = Call(on_progress=_progress_printer(time.monotonic() + PROGRESS_AFTER_SECONDS))
    envelope = execute(argv, rows=rows, call=call, stdin=lambda: sys.stdin.buffer.read())
    return print_outcome(envelope, rows, "--json" in words)


# ======================================================================
# §17 protocol: sans-I/O JSON-RPC and MCP core for both revisions
# ======================================================================
# Rules: uses §01-04; the tools' table is an argument; pure. Bytes go in, effects come out (WIRE §1-7); the
# choke point is `Session.receive`. Which ids are in flight, cancelled or answered is known here and nowhere
# else. What the revisions do differently are columns of METHODS; what never changes is rendered only once.


class ToolCall(Row):
    """One `tools/call` in flight; two calls are the same only if they are the same object."""

    id: str | int
    name: str
    arguments: dict[str, Any]
    progress_token: str | int | None
    revision: str


class Send(Row):
    """Effect: write this line to the client."""

    line: bytes


class Start(Row):
    """Effect: start this call and bring its outcome to `Session.finish`."""

    call: ToolCall


class Cancel(Row):
    """Effect: stop this call; nobody waits for its answer."""

    call: ToolCall


class Fault(Row):
    """Effect: tell the operator about a fault of ours; the client got its -32603."""

    trace: str


Effect = Row  # Send | Start | Cancel | Fault: a union of classes cannot be written in an alias on 3.9


class Refused(Exception):
    """A message that is answered with a JSON-RPC error: to which id (None: null), code, message, data."""

    def __init__(self, identity: str | int | None, code: int, message: str, **data: Any) -> None:
        super().__init__(message)
        self.identity = identity
        self.code = code
        self.message = message
        self.data = data


# --- framing (WIRE §1) ----------------------------------------------------------------------------


class Framer:
    """Bytes in any split become lines without their endings; None stands for a line that was too long."""

    __slots__ = ("_head", "_is_dropping", "_limit", "_line")

    def __init__(self, limit: int = LINE_MAX_BYTES) -> None:
        self._limit = limit
        self._line = bytearray()  # of a line whose end has not come: limit + 1 bytes and one read at most
        self._is_dropping = False
        self._head: bytes | None = (
            b""  # the stream's first bytes, as long as they may become a byte order mark
        )

    def feed(self, data: bytes) -> list[bytes | None]:
        """The lines that `data` completes, blank ones left out."""
        if self._head is not None:
            data = self._head + data
            if len(data) < len(BYTE_ORDER_MARK) and BYTE_ORDER_MARK.startswith(data):
                self._head = data
                return []
            self._head = None
            data = data.removeprefix(BYTE_ORDER_MARK)
        return self._split(data)

    def end(self) -> list[bytes | None]:
        """The line that the end of input completes, if there is one."""
        data, self._head = self._head or b"", None
        lines = self._split(data)
        if len(self._line) > self._limit:  # only a line feed makes a carriage return part of the ending
            return [*lines, None]
        return [*lines, *self._split(b"\n")]

    def _split(self, data: bytes) -> list[bytes | None]:
        lines: list[bytes | None] = []
        pieces = data.split(b"\n")
        rest = pieces.pop()
        for piece in pieces:
            if self._line or self._is_dropping:
                self._keep(piece, lines)
                piece = bytes(self._line)
                self._line.clear()
            is_over = len(piece) - piece.endswith(b"\r") > self._limit
            if is_over or (piece.strip(JSON_BLANKS) and not self._is_dropping):
                lines.append(None if is_over else piece)
            self._is_dropping = False
        self._keep(rest, lines)
        return lines

    def _keep(self, piece: bytes, lines: list[bytes | None]) -> None:
        """Add to the unfinished line; one that is too long is told at once, then dropped to its end."""
        if self._is_dropping:
            return
        self._line += piece
        if len(self._line) - self._line.endswith(b"\r") > self._limit:
            self._line.clear()
            self._is_dropping = True
            lines.append(None)


# --- one message (WIRE §3) ------------------------------------------------------------------------

_ABSENT: Any = object()
_ONE_OF_BOTH = " or ".join(REVISIONS)


class Message(Row):
    """A well-formed message; without `id` a notification. A request that is answered has its revision."""

    id: Any
    method: str
    params: Any
    revision: str = ""


def _is_id(value: Any) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def _shown(value: str | int) -> str:
    """A name or an id as a message shows it: as JSON, cut."""
    text = json.dumps(value)
    return text if len(text) <= TOOL_NAME_SHOWN_CHARS else text[:TOOL_NAME_SHOWN_CHARS] + "…"


def check_message(message: Any) -> Message | None:
    """The parts of a message, None for a response (nobody asked for it); Refused in the order of WIRE §3."""
    if isinstance(message, list):
        text = "a message must be an object; batches are no part of this protocol: send one message per line"
        raise Refused(None, INVALID_REQUEST, text)
    if not isinstance(message, dict):
        raise Refused(None, INVALID_REQUEST, f"a message must be an object, not {type_name(message)}")
    if "method" not in message and ("result" in message or "error" in message):
        return None
    identity = message.get("id", _ABSENT)
    known = identity if _is_id(identity) else None
    if message.get("jsonrpc") != "2.0":
        raise Refused(known, INVALID_REQUEST, 'the member "jsonrpc" must be "2.0"')
    if known is None and identity is not _ABSENT:
        text = 'the member "id" must be a string or an integer; a notification has none'
        raise Refused(None, INVALID_REQUEST, text)
    if not isinstance(message.get("method"), str):
        raise Refused(known, INVALID_REQUEST, 'the member "method" must be a string')
    return Message(identity, message["method"], message.get("params", _ABSENT))


def _check_object(identity: str | int, owner: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A member that must be an object where it is present; the empty one where it is not."""
    value = owner.get(name, _ABSENT)
    if value is not _ABSENT and not isinstance(value, dict):
        raise Refused(identity, INVALID_PARAMS, f'"{name}" must be an object, not {type_name(value)}')
    return {} if value is _ABSENT else value


def _check_text(identity: str | int, owner: Mapping[str, Any], name: str, which: str) -> str:
    value = owner.get(name)
    if not isinstance(value, str):
        raise Refused(identity, INVALID_PARAMS, f'"{name}" must be a string: {which}')
    return value


def _check_supported(identity: str | int, named: str) -> None:
    if named not in REVISIONS:
        text = "Unsupported protocol version"
        raise Refused(identity, UNSUPPORTED_VERSION, text, supported=list(REVISIONS), requested=named)


def check_revision(message: Message, params: Mapping[str, Any], is_greeted: bool) -> str:
    """The revision that serves a request other than `initialize`; Refused in the order of WIRE §4."""
    meta = _check_object(message.id, params, "_meta")
    named = _check_text(message.id, meta, META_VERSION, _ONE_OF_BOTH) if META_VERSION in meta else None
    if named is not None:
        _check_supported(message.id, named)
    for name in (META_CAPABILITIES, META_CLIENT):
        _check_object(message.id, meta, name)
    if named is not None:
        return named
    if is_greeted or message.method == "ping":
        return LEGACY
    text = f'name a revision in params._meta["{META_VERSION}"], or send "initialize" first'
    raise Refused(message.id, INVALID_PARAMS, text, supported=list(REVISIONS))


# --- what goes out --------------------------------------------------------------------------------


def _render_id(identity: str | int) -> bytes:
    return render_wire(identity)[:-1] if isinstance(identity, str) else b"%d" % identity


def _render_result(identity: str | int, result: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}\n' % (_render_id(identity), result)


def _render_error(refused: Refused) -> bytes:
    error = {
        "code": refused.code,
        "message": refused.message,
        **({"data": refused.data} if refused.data else {}),
    }
    return render_wire({"jsonrpc": "2.0", "id": refused.identity, "error": clean(error)})


_CACHE = {"ttlMs": LIST_TTL_MS, "cacheScope": "public"}  # of what never changes, in the modern revision


class Facts(Row):
    """What the results are made of: the tools as `tools/list` shows them, who we are, how to use us."""

    tools: Sequence[Mapping[str, Any]]
    server_info: Mapping[str, str]
    instructions: str


def _bare(facts: Facts) -> dict[str, Any]:
    return {}


def _modern(facts: Facts) -> dict[str, Any]:
    return {"resultType": "complete", "_meta": {META_SERVER: facts.server_info}}


def _legacy_list(facts: Facts) -> dict[str, Any]:
    return {"tools": facts.tools}


def _modern_list(facts: Facts) -> dict[str, Any]:
    return {**_legacy_list(facts), **_CACHE, **_modern(facts)}


def _discovery(facts: Facts) -> dict[str, Any]:
    about = {"supportedVersions": REVISIONS, "capabilities": {"tools": {}}}
    return {**about, "instructions": facts.instructions, **_CACHE, **_modern(facts)}


def _greeting(facts: Facts) -> dict[str, Any]:
    about = {"protocolVersion": LEGACY, "capabilities": {"tools": {}}, "serverInfo": facts.server_info}
    return {**about, "instructions": facts.instructions}


# --- the session ----------------------------------------------------------------------------------


class _Flight:
    """A call in flight and how far its progress was told."""

    __slots__ = ("call", "done", "told_at")

    def __init__(self, call: ToolCall) -> None:
        self.call = call
        self.done = self.told_at = float("-inf")


class Session:
    """One client on one stream: bytes in, effects out. One method at a time, `render` excepted."""

    def __init__(
        self, tools: Sequence[Mapping[str, Any]], server_info: Mapping[str, str], instructions: str
    ) -> None:
        self._facts = Facts(tools, server_info, instructions)
        self._framer = Framer()
        self._flights: dict[str | int, _Flight] = {}  # by id: 1 and "1" differ, nothing else is an id
        self._prepared: dict[tuple[str, str], bytes] = {}
        self.is_greeted = False

    def receive(self, data: bytes) -> list[Effect]:
        """[2/9] The effects of the client's next bytes, split anywhere. The choke point of all input."""
        return [effect for line in self._framer.feed(data) for effect in self._on_line(line)]

    def end_of_input(self) -> list[Effect]:
        """The effects of a last line without its newline."""
        return [effect for line in self._framer.end() for effect in self._on_line(line)]

    def finish(self, call: ToolCall, reply: bytes | None) -> list[Effect]:
        """[9/9] A call is over: its answer, rendered, goes out, unless it was cancelled; its id is free.

        Completed, failed and timed out calls all end here; `reply` None gives no answer.
        """
        if not self._is_in_flight(call):
            return []
        del self._flights[call.id]
        return [] if reply is None else [Send(reply)]

    def render(self, call: ToolCall, text: str, *, is_error: bool) -> bytes:
        """The answer to a call, for `finish`, with `text` as its one item; may be called from any thread."""
        return self.address(call, self.render_result(call.revision, text, is_error=is_error))

    def render_result(self, revision: str, text: str, *, is_error: bool) -> bytes:
        """The result of a call without its id: where it is always the same, it is made once."""
        more = self.prepared("tools/call", revision)[1:-1]
        shape = b'{"content":[{"type":"text","text":%b}],"isError":%b%b%b}'
        error = b"true" if is_error else b"false"
        return shape % (render_wire(text)[:-1], error, b"," if more else b"", more)

    def address(self, call: ToolCall, result: bytes) -> bytes:
        """The answer to a call with a result that was made before."""
        return _render_result(call.id, result)

    def progress(
        self, call: ToolCall, done: float, total: float | None, message: str, now: float
    ) -> list[Effect]:
        """A progress notification, if one was asked for and is due; `now` in seconds of any steady clock."""
        if call.progress_token is None or not self._is_in_flight(call):
            return []
        flight = self._flights[call.id]
        if done <= flight.done or now - flight.told_at < PROGRESS_INTERVAL_SECONDS:
            return []
        flight.done, flight.told_at = done, now
        params = {"progressToken": call.progress_token, "progress": done}
        params.update({} if total is None else {"total": total}, message=clean(message))
        return [Send(render_wire({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))]

    def prepared(self, method: str, revision: str) -> bytes:
        """The JSON of a method's fixed members in one revision, rendered on first use."""
        key = (method, revision)
        if key not in self._prepared:
            self._prepared[key] = render_wire(METHODS[method].column(revision)(self._facts))[:-1]
        return self._prepared[key]

    def cancel(self, call_id: Any) -> list[Effect]:
        """The client gives up a call: its id is free at once, no answer follows; unknown ids are ignored."""
        flight = self._flights.pop(call_id, None) if _is_id(call_id) else None
        return [] if flight is None else [Cancel(flight.call)]

    def fly(self, call: ToolCall) -> list[Effect]:
        """A call begins; its id is taken until `finish` or `cancel`."""
        self._flights[call.id] = _Flight(call)
        return [Start(call)]

    def _is_in_flight(self, call: ToolCall) -> bool:
        flight = self._flights.get(call.id)
        return flight is not None and flight.call is call

    def _on_line(self, line: bytes | None) -> list[Effect]:
        """One line, whatever it holds: the border at which every exception ends."""
        message = None
        try:
            if line is None:
                text = (
                    f"a line is longer than {LINE_MAX_BYTES} bytes; name a file instead of sending its text"
                )
                raise Refused(None, INVALID_REQUEST, text)
            message = check_message(decode_message(line))
            if message is None:
                return []
            return on_notification(self, message) if message.id is _ABSENT else self._on_request(message)
        except JsonError as error:
            return [Send(_render_error(Refused(None, error.code, error.message)))]
        except Refused as refused:
            return [Send(_render_error(refused))]
        except Exception:
            return self._on_fault(message)

    def _on_fault(self, message: Message | None) -> list[Effect]:
        from traceback import format_exc

        effects: list[Effect] = [Fault(format_exc())]
        if message is None or message.id is not _ABSENT:
            text = "internal error; its details are on the server's standard error"
            effects.append(Send(_render_error(Refused(message and message.id, INTERNAL_ERROR, text))))
        return effects

    def _on_request(self, message: Message) -> list[Effect]:
        given = {} if message.params is _ABSENT else {"params": message.params}
        params = _check_object(message.id, given, "params")
        if message.id in self._flights:
            text = f"the id {_shown(message.id)} is that of a call still in flight; use another one"
            raise Refused(None, INVALID_REQUEST, text)
        row = METHODS.get(message.method)
        revision = (row and row.always) or check_revision(message, params, self.is_greeted)
        return answer_request(self, Message(message.id, message.method, params, revision))


# --- the methods (WIRE §5) ------------------------------------------------------------------------


def on_notification(session: Session, message: Message) -> list[Effect]:
    """A message without id: only a cancellation has an effect, and nothing is ever answered."""
    if message.method == "notifications/cancelled" and isinstance(message.params, dict):
        return session.cancel(message.params.get("requestId"))
    return []


def on_fixed(session: Session, request: Message) -> list[Effect]:
    """Answer with what never changes: `ping`, `server/discover`."""
    return [Send(_render_result(request.id, session.prepared(request.method, request.revision)))]


def on_initialize(session: Session, request: Message) -> list[Effect]:
    """The handshake, which exists in the legacy revision only, whichever of the two is named."""
    named = _check_text(request.id, request.params, "protocolVersion", _ONE_OF_BOTH)
    for name in ("capabilities", "clientInfo"):
        _check_object(request.id, request.params, name)
    _check_supported(request.id, named)
    session.is_greeted = True
    return on_fixed(session, request)


def on_tools_list(session: Session, request: Message) -> list[Effect]:
    """All tools at once: no cursor is ever issued, so none is accepted."""
    if "cursor" in request.params:
        raise Refused(request.id, INVALID_PARAMS, 'there is one page only: leave "cursor" out')
    return on_fixed(session, request)


def on_tools_call(session: Session, request: Message) -> list[Effect]:
    """[5/9] A well-formed call becomes Start(ToolCall); what its tool wants is not known here."""
    name = _check_text(request.id, request.params, "name", "one that tools/list names")
    arguments = _check_object(request.id, request.params, "arguments")
    token = request.params.get("_meta", {}).get("progressToken")
    call = ToolCall(request.id, name, arguments, token if _is_id(token) else None, request.revision)
    return session.fly(call)


class Method(Row):
    """A row: who answers, the fixed members of the result in each revision (None: no such method there)."""

    answer: Callable[[Session, Message], list[Effect]]
    modern: Callable[[Facts], dict[str, Any]] | None
    legacy: Callable[[Facts], dict[str, Any]] | None
    always: str | None = None  # the revision that serves it whatever the request names

    def column(self, revision: str) -> Callable[[Facts], dict[str, Any]] | None:
        """The column of a revision."""
        return self.modern if revision == MODERN else self.legacy


def answer_request(session: Session, request: Message) -> list[Effect]:
    """[4/9] Let the method's row answer; Refused when the request's revision has no such method."""
    row = METHODS.get(request.method)
    if row is None or row.column(request.revision) is None:
        known = ", ".join(name for name, other in METHODS.items() if other.column(request.revision))
        text = f"no method {_shown(request.method)} in {request.revision}; there are: {known}"
        raise Refused(request.id, METHOD_NOT_FOUND, text)
    return row.answer(session, request)


# fmt: off
METHODS: Mapping[str, Method] = {
    #                         answer         2026-07-28     2025-11-25
    "server/discover": Method(on_fixed,      _discovery,    None),
    "initialize":      Method(on_initialize, None,          _greeting,    LEGACY),
    "ping":            Method(on_fixed,      _modern,       _bare),
    "tools/list":      Method(on_tools_list, _modern_list,  _legacy_list),
    "tools/call":      Method(on_tools_call, _modern,       _bare),
}
# fmt: on


# ======================================================================
# §18 server: the stdio loop
# ======================================================================
# Rules: uses §01-06, §15-17. The main thread reads, feeds the session and carries its effects out; it waits
# for no tool and for no client that does not read. Tools run in worker threads. `Outbox.write` is the choke
# point of stdout. One lock guards session and queue; what is costly (running, cleaning, encoding) is outside.

SERVER_INFO = {"name": "protoyard", "title": "Protoyard", "version": __version__}
INSTRUCTIONS = (
    "Protoyard turns a short brief into clickable HTML prototypes with fictional data, by rules: no model, "
    "no network. Start with `quick` and a brief in plain words; it answers with the pages to open in a "
    "browser. Look closer with `list` and `show`; change a variant with `iterate`, which keeps every "
    "revision; turn one into a project with `promote`. Check hand edits with `validate`, and read "
    "`blueprint_schema` before you write or change a blueprint. Everything lives under prototypes/ in the "
    "workspace and nothing is ever overwritten. A failure says what was wrong and what to do next."
)
READ_ONLY_NOTE = "This server was started with --read-only: it lists and serves only the tools that read. "
TERMINAL_HINT = (
    "protoyard mcp speaks the Model Context Protocol with an agent host, not with people.\n"
    "Register it: protoyard mcp-config --client NAME. Check it: protoyard doctor. Ctrl-D ends it.\n"
)


class Limits(Row):
    """The server's limits; other values are for tests."""

    workers: int = WORKERS_MAX
    queue: int = QUEUE_MAX
    abandoned: int = ABANDONED_MAX
    stop_seconds: float = CALL_STOP_SECONDS
    outbox_bytes: int = OUTBOX_MAX_BYTES


# --- the log: stderr, where hosts show every line as trouble --------------------------------------

_LOG_LEVELS = ("debug", "info", "warning")
_LOG_LOCK = threading.Lock()  # the room that one thread finds must not be taken by another


def _find_room(fd: int) -> int:
    """How many bytes a descriptor takes for certain without blocking; Windows promises nothing."""
    if os.name == "nt":
        return 0
    import select

    return select.PIPE_BUF if select.select([], [fd], [], 0)[1] else 0


def _write_stderr(text: str) -> None:
    """As much of a text as goes out without waiting."""
    data = text.encode("utf-8", "replace")
    try:
        with _LOG_LOCK:
            room = len(data) if os.name == "nt" else _find_room(STDERR_FD)
            while data and room:
                data = data[os.write(STDERR_FD, data[:room]) :]
                room = len(data) if os.name == "nt" else _find_room(STDERR_FD)
    except OSError:
        return


def write_log(level: str, text: str) -> None:
    """A diagnostic on stderr, redacted, if PROTOYARD_LOG asks for its level; cut off where nobody reads."""
    wanted = os.environ.get("PROTOYARD_LOG", "")
    if _LOG_LEVELS.index(level) < _LOG_LEVELS.index(wanted if wanted in _LOG_LEVELS else "warning"):
        return
    _write_stderr(f"protoyard: {redact(clean_text(text))}\n")


# --- what comes in --------------------------------------------------------------------------------


def _read_input(fd: int) -> bytes | None:
    try:
        return os.read(fd, READ_CHUNK_BYTES)
    except BlockingIOError:
        return None
    except OSError as error:
        write_log("warning", f"standard input cannot be read: {error.strerror}; taken as its end")
        return b""


class SelectInput:
    """Waits for bytes, wake-ups and signals in one place, on the thread that asks (POSIX)."""

    def __init__(self, fd: int) -> None:
        import select

        self._fd = fd
        self._select = select.select
        self._wake_fd, self.signal_fd = os.pipe()
        os.set_blocking(self._wake_fd, False)
        os.set_blocking(self.signal_fd, False)

    def read(self, seconds: float | None, *, is_paused: bool) -> bytes | None:
        """The next bytes, b"" at the end; None when woken, after `seconds`, and always while paused."""
        sources = [self._wake_fd] if is_paused else [self._wake_fd, self._fd]
        ready = self._select(sources, [], [], seconds)[0]
        if self._wake_fd in ready:
            os.read(self._wake_fd, READ_CHUNK_BYTES)
        return _read_input(self._fd) if self._fd in ready else None

    def wake(self) -> None:
        """Let `read` return; from any thread."""
        try:
            os.write(self.signal_fd, b"\0")
        except BlockingIOError:
            return  # it is full of wake-ups


class ThreadInput:
    """The same where pipes cannot be selected (Windows): a thread reads; who asks looks up for signals."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._changed = threading.Condition()
        self._data: list[bytes] = []  # one read at most
        self._is_woken = False
        threading.Thread(target=self._pump, daemon=True).start()

    def _pump(self) -> None:
        data: bytes | None = None
        while data != b"":
            data = _read_input(self._fd)
            with self._changed:
                self._data += [] if data is None else [data]
                self._changed.notify_all()
                self._changed.wait_for(lambda: not self._data)

    def read(self, seconds: float | None, *, is_paused: bool) -> bytes | None:
        """As SelectInput.read."""
        most = SIGNAL_POLL_SECONDS if seconds is None else min(seconds, SIGNAL_POLL_SECONDS)
        with self._changed:
            self._changed.wait_for(lambda: self._is_woken or (self._data and not is_paused), most)
            self._is_woken = False
            self._changed.notify_all()
            return self._data.pop() if self._data and not is_paused else None

    def wake(self) -> None:
        """As SelectInput.wake."""
        with self._changed:
            self._is_woken = True
            self._changed.notify_all()


# --- what goes out --------------------------------------------------------------------------------


class Outbox:
    """The way to stdout: whole messages, one after the other, and no caller ever waits for the client."""

    def __init__(self, fd: int, on_change: Callable[[], None]) -> None:
        """`on_change` is called, from any thread, when something that waited has gone out or nothing can."""
        self._fd = fd
        self._on_change = on_change
        self._changed = threading.Condition(threading.Lock())
        self._queue: list[memoryview] = []  # the writer thread is at the first one
        self._writer: threading.Thread | None = None
        self.waiting_bytes = 0
        self.error: OSError | None = None  # why nothing can go out any more

    def write(self, data: bytes) -> None:
        """Send whole messages. The choke point of stdout.

        They are written here only while that cannot block, else by the writer thread.
        """
        with self._changed:
            rest = memoryview(b"" if self.error else data)
            count = 1
            while rest and count and not self._queue:
                count = self._write_piece(rest[: _find_room(self._fd)])  # without room: nothing
                rest = rest[count:]
            if rest and self.error is None:
                self._queue.append(rest)
                self.waiting_bytes += len(rest)
                self._changed.notify()
                if self._writer is None:
                    self._writer = threading.Thread(target=self._write_waiting, daemon=True)
                    self._writer.start()

    def _write_piece(self, piece: memoryview) -> int:
        """How much of it went out; 0 when a pipe that somebody made non-blocking is full, or on an error."""
        try:
            return os.write(self._fd, piece)
        except BlockingIOError:
            return 0
        except OSError as error:
            self.error = error
            self._on_change()
            return 0

    def _write_waiting(self) -> None:
        while self.error is None:
            with self._changed:
                self._changed.wait_for(lambda: self._queue)
            count = self._write_piece(self._queue[0][:READ_CHUNK_BYTES])
            if not count:
                time.sleep(OUTBOX_RETRY_SECONDS)
            with self._changed:
                self._queue[0] = self._queue[0][count:]
                self.waiting_bytes -= count
                if not self._queue[0]:
                    del self._queue[0]
            self._on_change()


# --- the calls ------------------------------------------------------------------------------------


def check_call(
    request: ToolCall, rows: Mapping[str, Operation], *, read_only: bool, problem: Failure | None
) -> list[str]:
    """The argument vector of a call; the first Failure in WIRE §6's order (`problem`: the workspace's)."""
    row = rows.get(request.name)
    if row is None:
        name = request.name[:TOOL_NAME_SHOWN_CHARS]
        raise Failure("unknown_tool", f'there is no tool "{name}"', f"there are: {', '.join(rows)}")
    size = json_bytes(request.arguments)
    if size > ARGUMENTS_MAX_BYTES:
        message = f"the arguments are {size} bytes of JSON; at most {ARGUMENTS_MAX_BYTES} are allowed"
        raise Failure("arguments_too_large", message, "send less at once")
    values = check_arguments(row, request.arguments)
    if read_only and row.writes:
        hint = "start the server without --read-only to write"
        raise Failure("read_only", f"{row.name} writes, and this server only reads", hint)
    if problem is not None:
        raise Failure(problem.code, problem.message, problem.hint)
    return build_argv(row, values)


def render_envelope(envelope: Mapping[str, Any]) -> tuple[str, bool]:
    """The text of an envelope as it may go out, cleaned (WIRE §9) and measured; whether it is a success."""
    shown = clean(envelope)
    text = render_json(shown)
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > ENVELOPE_MAX_BYTES:
        message = (
            f"the call was carried out, but its result is {size} bytes; at most {ENVELOPE_MAX_BYTES} are sent"
        )
        hint = "see what it wrote with `show`; ask for less: a smaller `limit`, one `variant`, no `records`"
        shown = failed(shown["command"], Failure("output_too_large", message, hint))
        text = render_json(shown)
    return text, shown["ok"]


def render_reply(session: Session, request: ToolCall, envelope: Mapping[str, Any]) -> bytes:
    """The answer to a call."""
    text, is_ok = render_envelope(envelope)
    return session.render(request, text, is_error=not is_ok)


def describe_stop(stopped: Stopped, seconds: float) -> Failure:
    """What a call that was stopped at its bound is answered."""
    message = (
        f'stopped after {seconds:g} s at the step "{stopped.step}"; what had been written until then stays'
    )
    return Failure("timeout", message, "look at what is there (list, show), then ask for less at once")


def find_place(directory: str) -> tuple[str, Failure | None]:
    """The canonical path of a workspace, or why the directory is none."""
    try:
        return Workspace(directory).directory, None
    except Failure as failure:
        return "", failure


class _Job:
    """A call on its way through the queue and a worker."""

    def __init__(self, request: ToolCall, row: Operation, argv: list[str], call: Call) -> None:
        self.request = request
        self.row = row
        self.argv = argv
        self.call = call
        self.is_stopping = False
        self.is_over = threading.Event()  # no thread works on it, or ever will


class Server:
    """One session with its queue and its workers; `run` is the loop of the main thread."""

    def __init__(
        self,
        rows: Sequence[Operation],
        directory: str,
        source: SelectInput | ThreadInput,
        stdout_fd: int,
        *,
        read_only: bool = False,
        limits: Limits | None = None,
    ) -> None:
        self._rows = {row.name: row for row in rows if row.served}
        self._directory = directory
        self._place, self._problem = find_place(directory)
        self._prepared: dict[tuple[str, str], bytes] = {}  # results of constant rows, by name and revision
        self._read_only = read_only
        self._limits = limits or Limits()
        self._source = source
        self._outbox = Outbox(stdout_fd, source.wake)
        tools = [render_tool(row) for row in self._rows.values() if not (read_only and row.writes)]
        instructions = READ_ONLY_NOTE + INSTRUCTIONS if read_only else INSTRUCTIONS
        self._session = Session(tools, SERVER_INFO, instructions)
        self._changed = threading.Condition(threading.Lock())  # guards the session and all that follows
        self._jobs: dict[int, _Job] = {}  # not yet answered, by the id() of the request, the oldest first
        self._waiting: list[_Job] = []  # in the queue
        self._ready: list[_Job] = []  # have a slot, no worker has picked them up yet
        self._running: list[_Job] = []  # have a slot
        self._given_up: list[_Job] = []  # lost their slot: their workers did not come back in time
        self._writer: _Job | None = None  # whose turn it is to write
        self._idle_workers = 0
        self._stoppers = 0
        self._is_closing = False
        self.signals: list[int] = []  # the exit statuses that they ask for

    # --- the loop ---

    def run(self) -> int:
        """Serve until the input ends, a signal comes or the client is gone; returns the exit status."""
        try:
            while not self._is_done():
                is_full = self._outbox.waiting_bytes >= self._limits.outbox_bytes
                data = self._source.read(self._stop_overdue(), is_paused=is_full or self._is_closing)
                if data is not None:
                    self._take(data)
        finally:
            with self._changed:
                self._waiting.clear()
                jobs = [*self._jobs.values(), *self._running, *self._given_up]
            stop_calls([job.call for job in jobs], CANCELLED)
        error = self._outbox.error
        if self.signals or error is None or isinstance(error, BrokenPipeError):
            return self.signals[0] if self.signals else EXIT_DONE
        write_log("warning", f"standard output cannot be written: {error.strerror}")
        return EXIT_FAILED

    def _is_done(self) -> bool:
        if self.signals or self._outbox.error is not None:
            return True
        if not self._is_closing:
            return False
        with self._changed:
            return not (self._jobs or self._stoppers or self._outbox.waiting_bytes)

    def _take(self, data: bytes) -> None:
        with self._changed:
            effects = self._session.receive(data) if data else self._session.end_of_input()
            self._is_closing = not data
        lines = []
        for effect in effects:
            if self.signals:
                return  # hundreds of calls may have come at once
            if type(effect) is Send:
                lines.append(effect.line)
            elif type(effect) is Start:
                self.start_call(effect.call)
            elif type(effect) is Cancel:
                self._cancel(effect.call)
            else:
                write_log("warning", effect.trace)
        if lines:
            self._outbox.write(b"".join(lines))

    # --- a call begins ---

    def start_call(self, request: ToolCall) -> None:
        """[6/9] Check a call in the order of WIRE §6 and queue it; what is refused is answered at once."""
        reply = self._attempt(request, lambda: self._admit(request))
        if reply is not None:
            self._finish(request, reply)

    def _admit(self, request: ToolCall) -> bytes | None:
        argv = check_call(request, self._rows, read_only=self._read_only, problem=self._problem)
        if not os.path.isdir(self._place):  # it was one when the server started
            raise Failure("io_error", "the workspace is not there any more", "bring it back, then call again")
        result = self._prepared.get((request.name, request.revision))
        if result is not None:
            return self._session.address(request, result)
        call = Call(
            deadline=time.monotonic() + self._limits.stop_seconds,
            on_progress=lambda *told: self._progress(request, *told),
            on_child=lambda: self._pass_turn(job),
        )
        call.current_step = "waiting in the queue"
        job = _Job(request, self._rows[request.name], argv, call)
        with self._changed:
            is_open = len(self._given_up) < self._limits.abandoned
            if is_open and self._may_run(job):
                self._give_slot(job)
            elif is_open and len(self._waiting) < self._limits.queue:
                self._waiting.append(job)
            else:
                hint = "wait for their answers, then call again"
                raise Failure("busy", "too many calls are running and waiting", hint)
            self._jobs[id(request)] = job
        return None

    def _may_run(self, job: _Job) -> bool:
        """A writer needs the turn as well, and waits for it in the queue: readers pass it."""
        return len(self._running) < self._limits.workers and not (job.row.writes and self._writer)

    def _give_slot(self, job: _Job) -> None:
        if len(self._ready) >= self._idle_workers:
            threading.Thread(target=self._work, daemon=True).start()
        self._running.append(job)
        self._ready.append(job)
        if job.row.writes:
            self._writer = job
        self._changed.notify()

    # --- in a worker ---

    def _work(self) -> None:
        """A worker thread: job after job, until it comes back too late from one."""
        job = None
        while job is None or self._release(job):
            with self._changed:
                self._idle_workers += 1
                self._changed.wait_for(lambda: self._ready)
                self._idle_workers -= 1
                job = self._ready.pop(0)
            write_log("debug", f"{job.row.name} starts")
            self._finish(job.request, self._attempt(job.request, lambda job=job: self._execute(job)))

    def _execute(self, job: _Job) -> dict[str, Any]:
        job.call.check()
        job.call.current_step = "start"
        rows, request = tuple(self._rows.values()), job.request
        envelope = execute(job.argv, rows=rows, call=job.call, directory=self._directory)
        if job.row.constant and envelope["ok"]:  # from now on the loop answers it, like tools/list
            result = self._session.render_result(
                request.revision, render_envelope(envelope)[0], is_error=False
            )
            self._prepared[request.name, request.revision] = result
        return envelope

    def _attempt(self, request: ToolCall, work: Callable[[], dict[str, Any] | bytes | None]) -> bytes | None:
        """The reply to a call, or envelope, that `work` makes: the border at which every exception ends."""
        name = request.name[:TOOL_NAME_SHOWN_CHARS]
        try:
            made = work()
            return render_reply(self._session, request, made) if isinstance(made, dict) else made
        except Stopped as stopped:
            if stopped.reason != TIMEOUT:
                return None
            failure = describe_stop(stopped, self._limits.stop_seconds)
        except Failure as refused:
            failure = refused
        except (Exception, SystemExit):
            import traceback

            write_log("warning", traceback.format_exc())
            hint = "the details are on the server's standard error"
            failure = Failure("internal_error", f"a fault of Protoyard in {name}", hint)
        return render_reply(self._session, request, failed(name, failure))

    def _finish(self, request: ToolCall, reply: bytes | None) -> None:
        """Answer a call, unless it has been answered or cancelled; in order with its progress."""
        with self._changed:
            self._jobs.pop(id(request), None)
            for effect in self._session.finish(request, reply):
                self._outbox.write(effect.line)
        if self._is_closing:
            self._source.wake()

    def _progress(self, request: ToolCall, done: float, total: float | None, message: str) -> None:
        with self._changed:
            for effect in self._session.progress(request, done, total, message, time.monotonic()):
                self._outbox.write(effect.line)

    def _release(self, job: _Job) -> bool:
        """A worker comes back from a job; False when its slot has been taken from it."""
        with self._changed:
            job.is_over.set()
            is_late = job in self._given_up
            (self._given_up if is_late else self._running).remove(job)
            self._pass_on(job)
        return not is_late

    def _pass_on(self, job: _Job) -> None:
        """The job's slot, or its turn to write, is free for those that wait."""
        if self._writer is job:
            self._writer = None
        for waiting in list(self._waiting):
            if self._may_run(waiting):
                self._waiting.remove(waiting)
                self._give_slot(waiting)

    def _pass_turn(self, job: _Job) -> None:
        """A child runs without the workspace lock (WIRE §7): meanwhile the next writer may run."""
        with self._changed:
            self._pass_on(job)

    # --- a call is stopped ---

    def _cancel(self, request: ToolCall) -> None:
        with self._changed:
            job = self._jobs.pop(id(request), None)
            if job is not None and not job.is_stopping:  # at its bound it is seen off already
                self._stop(job, CANCELLED)

    def _stop_overdue(self) -> float | None:
        """Stop the calls at their bound; the seconds until the next one comes to it."""
        if not self._jobs:
            return None
        with self._changed:
            for job in [job for job in self._jobs.values() if not job.is_stopping]:
                seconds = job.call.remaining()
                if seconds:
                    return seconds
                self._stop(job, TIMEOUT)
        return None

    def _stop(self, job: _Job, reason: str) -> None:
        """Shut the gate now; what may take its time, children and a commit under way, is another thread's."""
        job.is_stopping = True
        job.call.cancel(reason)
        if job in self._waiting:
            self._waiting.remove(job)
            job.is_over.set()
        self._stoppers += 1
        threading.Thread(target=self._see_off, args=(job, reason), daemon=True).start()

    def _see_off(self, job: _Job, reason: str) -> None:
        """Stop a job, answer it if that is due, and take the slot from a worker that does not come back."""
        job.call.stop(reason)
        self._finish(job.request, self._attempt(job.request, job.call.check))
        job.is_over.wait(ABANDON_SECONDS)
        with self._changed:
            if not job.is_over.is_set():
                self._running.remove(job)
                self._given_up.append(job)
                release_lock(job.call)
                self._pass_on(job)
            self._stoppers -= 1
        self._source.wake()


# --- the process ----------------------------------------------------------------------------------


def take_streams() -> tuple[int, int]:
    """Move the client's pipes to private descriptors: 0 becomes the null device, 1 goes where stderr goes.

    Nothing that a tool or a child reads or prints can then touch the channel (WIRE §1).
    """
    for fd in (STDIN_FD, STDOUT_FD, STDERR_FD):
        try:
            os.fstat(fd)
        except OSError:  # closed: the lowest free descriptor, which open takes, is this one
            os.open(os.devnull, os.O_RDWR)
    stdin_fd, stdout_fd = os.dup(STDIN_FD), os.dup(STDOUT_FD)  # children do not inherit them
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, STDIN_FD)
    os.close(null)
    os.dup2(STDERR_FD, STDOUT_FD)
    if os.name == "nt":
        import msvcrt

        for fd in (stdin_fd, stdout_fd):
            msvcrt.setmode(fd, os.O_BINARY)
    return stdin_fd, stdout_fd


def _catch_signals(server: Server, source: SelectInput | ThreadInput) -> None:
    """A signal only leaves the exit status that it asks for; the loop wakes and ends in order."""
    import signal

    for name, status in EXIT_SIGNALLED.items():
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_, status=status: server.signals.append(status))
    if isinstance(source, SelectInput):
        signal.set_wakeup_fd(source.signal_fd, warn_on_full_buffer=False)


def _end_process(status: int) -> None:
    """Leave at once: no daemon thread, wherever it is parked, can then abort the interpreter."""
    for stream in (sys.stdout, sys.stderr):  # what tools printed; both lead to stderr
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            continue
    os._exit(status)


def serve(
    *,
    rows: Sequence[Operation],
    directory: str,
    read_only: bool = False,
    limits: Limits | None = None,
) -> int:
    """[1/9] Serve MCP on the process's own streams until the input ends, then end the process.

    Exit status: 0; 128 + the signal's number; 1 when stdout failed otherwise than by the client's leaving.
    """
    stdin_fd, stdout_fd = take_streams()
    if os.isatty(stdin_fd):
        _write_stderr(TERMINAL_HINT)
    source = ThreadInput(stdin_fd) if os.name == "nt" else SelectInput(stdin_fd)
    server = Server(rows, directory, source, stdout_fd, read_only=read_only, limits=limits)
    _catch_signals(server, source)
    status = server.run()
    _end_process(status)
    return status


# ======================================================================
# §19 machine: the rows that only the command line has
# ======================================================================
# Rules: uses §01-06, §14-18. Same row type as §15, never listed over MCP. Hosts and checks are tables.
# Nothing changes the machine: `mcp-config` prints what a person puts in place, `doctor` removes its probes.

# --- the program's own file -----------------------------------------------------------------------

# fmt: off
_PYTHONS: Mapping[str, str] = {  # by bytecode magic number in hex, as the archive's code/* members are named
    "610d0d0a": "3.9",  "6f0d0d0a": "3.10", "a70d0d0a": "3.11",
    "cb0d0d0a": "3.12", "f30d0d0a": "3.13", "2b0e0d0a": "3.14",
}
# fmt: on


def _is_archived() -> bool:
    return hasattr(__loader__, "archive")


def find_program() -> str:
    """The absolute path of what Python was started with: the archive, or the module's own file."""
    return os.path.abspath(__loader__.archive if _is_archived() else __file__)


def read_archive(path: str) -> list[str]:
    """The names of all members of a protoyard.pyz; Failure io_error where it is damaged."""
    from zipfile import BadZipFile, ZipFile

    try:
        with ZipFile(path) as archive:
            # Nothing in it is compressed; a member that says so is damaged where no checksum tells.
            wrong = [entry.filename for entry in archive.infolist() if entry.compress_type]
            damaged = wrong[0] if wrong else archive.testzip()
            names = archive.namelist()
    except (BadZipFile, EOFError, OSError, RuntimeError, ValueError) as error:
        raise Failure("io_error", f"{path} is damaged: {error}") from error
    if damaged:
        raise Failure("io_error", f"{path} is damaged at {damaged}")
    return names


def list_ready_pythons(names: Sequence[str]) -> list[str]:
    """The Pythons that an archive of these members has ready code for; unknown ones by magic number."""
    magics = [name.rpartition("/")[2] for name in names if name.startswith("code/")]
    known = [python for magic, python in _PYTHONS.items() if magic in magics]
    return known + [magic for magic in magics if magic not in _PYTHONS]


def describe_version() -> str:
    """What `--version` prints: of an archive also how its SHA-256 begins and what it has ready code for."""
    plain = f"protoyard {__version__}"
    if not _is_archived():
        return plain
    import hashlib

    try:
        names = read_archive(find_program())
        with open(find_program(), "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()[:BUILD_DIGEST_CHARS]
    except (Failure, OSError) as error:
        return f"{plain} ({error})"
    pythons = ", ".join(list_ready_pythons(names))
    return f"{plain} (build {digest}, {f'ready code for Python {pythons}' if pythons else 'no ready code'})"


# --- mcp-config: the snippet of a host ------------------------------------------------------------


class Host(Row):
    """How a host is told of a server: the file's format, the member that holds servers, the file's place.

    In `place` and `note` a path begins with ~ or {workspace} and has /; `darwin` and `win32` are exceptions.
    """

    format: str
    top: str
    place: str
    note: str
    more: Mapping[str, str] = {}
    darwin: str = ""
    win32: str = ""


_MERGE = " Merge it into what is there, as UTF-8 without a byte order mark, then start the host again."
_STDIO = {"type": "stdio"}
# fmt: off
HOSTS: Mapping[str, Host] = {
    "claude-desktop": Host("json", "mcpServers", "~/.config/Claude/claude_desktop_config.json",
                           "Settings, Developer, Edit Config opens it. Quit the app." + _MERGE,
                           darwin="~/Library/Application Support/Claude/claude_desktop_config.json",
                           win32=r"%APPDATA%\Claude\claude_desktop_config.json"),
    "claude-code":    Host("json", "mcpServers", "{workspace}/.mcp.json",
                           "For every project: the same in ~/.claude.json." + _MERGE, _STDIO),
    "cursor":         Host("json", "mcpServers", "{workspace}/.cursor/mcp.json",
                           "For every project: the same in ~/.cursor/mcp.json." + _MERGE),
    "vscode":         Host("json", "servers", "{workspace}/.vscode/mcp.json",
                           "For every project: the command MCP: Open User Configuration." + _MERGE, _STDIO),
    "codex":          Host("toml", "mcp_servers", "~/.codex/config.toml",
                           "For one trusted project: the same in {workspace}/.codex/config.toml." + _MERGE),
    "gemini":         Host("json", "mcpServers", "~/.gemini/settings.json",
                           "For one project: the same in {workspace}/.gemini/settings.json." + _MERGE),
    "zed":            Host("json", "context_servers", "~/.config/zed/settings.json",
                           "The command zed: open settings file opens it." + _MERGE,
                           win32=r"%APPDATA%\Zed\settings.json"),
    "windsurf":       Host("json", "mcpServers", "~/.codeium/windsurf/mcp_config.json",
                           "Settings, Cascade, MCP Servers leads to it." + _MERGE),
    "generic":        Host("json", "mcpServers", "where the host keeps its MCP servers",
                           "Most hosts read this; some name the outer member otherwise."),
}
# fmt: on


def _render_toml(text: str) -> str:
    """A TOML basic string: JSON's escapes are TOML's, but TOML has DEL escaped too."""
    return render_json(text).replace("\x7f", r"\u007f")


def _render_snippet(host: Host, command: Sequence[str]) -> str:
    if host.format == "toml":
        program, *arguments = map(_render_toml, command)
        return f"[{host.top}.protoyard]\ncommand = {program}\nargs = [{', '.join(arguments)}]"
    entry = {**host.more, "command": command[0], "args": list(command[1:])}
    return render_document({host.top: {"protoyard": entry}}).rstrip("\n")


def _render_paths(text: str, workspace: str, platform: str) -> str:
    """A text of the table with its paths as the platform writes them."""
    is_windows = platform == "win32"
    roots = {"~": "%USERPROFILE%" if is_windows else "~", "{workspace}": workspace}

    def spell(match: re.Match[str]) -> str:
        return roots[match[1]] + (match[2].replace("/", "\\") if is_windows else match[2])

    return re.sub(r"(~|\{workspace\})(/\S+)", spell, text)


def render_registration(client: str, command: Sequence[str], platform: str) -> dict[str, str]:
    """The data of mcp-config: client, format, snippet, place, note. `command` ends with the workspace."""
    host = HOSTS[client]
    place = {"darwin": host.darwin, "win32": host.win32}.get(platform) or host.place
    return {
        "client": client,
        "format": host.format,
        "snippet": _render_snippet(host, command),
        "place": _render_paths(place, command[-1], platform),
        "note": _render_paths(host.note, command[-1], platform),
    }


def run_mcp_config(context: Context, values: dict[str, Any]) -> dict[str, str]:
    """How a host is told to start this program in this workspace; data: see render_registration."""
    context.workspace  # noqa: B018  refused under the name that was given, and below under its full one
    directory = os.path.abspath(os.path.expanduser(context.directory))
    Workspace(directory)
    command = [sys.executable, "-I", find_program(), "mcp", "--workspace", directory]
    if clean(command) != command:
        message = "a path holds what no configuration can: half a character, a control character, a secret"
        raise Failure("unsafe_path", message, "give the workspace or the program another place")
    return render_registration(values["client"], command, sys.platform)


def _registration_text(data: Mapping[str, str]) -> str:
    mark = "# " if data["format"] == "toml" else ""  # a comment where there are comments
    return f"{data['snippet']}\n\n{mark}Put it in: {data['place']}\n{mark}{data['note']}"


# --- doctor: what may be broken on this machine ---------------------------------------------------


class Check(Row):
    """One look: `examine` returns what it found or raises Failure; `remedy` where that has no hint itself."""

    name: str
    examine: Callable[[Context], str]
    is_needed: bool
    remedy: str


def _examine_workspace(context: Context) -> str:
    """A file can be made and removed where prototypes are built and kept, or where those folders would be."""
    workspace = context.workspace
    for folder in (STAGING_DIR, PROTOTYPES_DIR):
        while folder and workspace.kind(folder) == "missing":
            folder = folder.rpartition("/")[0]
        probe = f"{folder}/.{_unique_name()}".lstrip("/")
        try:
            workspace.create_file(probe, bytes(PROBE_BYTES))
        finally:
            workspace.discard(probe)
    return f"{workspace.directory} can be written"


def _examine_lock(context: Context) -> str:
    deadline = time.monotonic() + DOCTOR_LOCK_SECONDS
    while not context.workspace.lock_is_free():
        if time.monotonic() >= deadline:
            raise Failure("busy", f"another process is writing here, or {LOCK_PATH} cannot be read")
        context.call.wait(LOCK_POLL_SECONDS)
    return "free"


def _examine_archive(context: Context) -> str:
    if not _is_archived():
        return f"none: this is the module {find_program()}"
    read_archive(find_program())
    return f"{find_program()} is whole"


def _examine_code(context: Context) -> str:
    from importlib.util import MAGIC_NUMBER

    if not _is_archived():
        return "not needed without an archive"
    names = read_archive(find_program())
    pythons = ", ".join(list_ready_pythons(names)) or "none"
    if f"code/{MAGIC_NUMBER.hex()}" not in names:
        raise Failure("not_found", f"not for this Python, so that it starts more slowly; for: {pythons}")
    return f"for Python {pythons}"


def _render_handshake(revision: str) -> bytes:
    meta = {"_meta": {META_VERSION: revision}}
    client = {"name": "protoyard doctor", "version": __version__}
    hello = {"protocolVersion": revision, "capabilities": {}, "clientInfo": client}
    modern = (("server/discover", meta), ("tools/list", meta))
    asked = modern if revision == MODERN else (("initialize", hello), ("tools/list", {}))
    return b"".join(
        render_wire({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        for number, (method, params) in enumerate(asked)
    )


def _examine_server(context: Context, revision: str) -> str:
    """Start this program as a host would, shake hands and list the tools in one revision."""
    command = [sys.executable, "-I", find_program(), "mcp", f"--workspace={context.directory}"]
    stdin = _render_handshake(revision)
    ended = run_child(context.call, command, stdin=stdin, seconds=DOCTOR_ANSWER_SECONDS)
    try:
        messages = map(decode_message, ended.stdout.splitlines())
        answers = {message["id"]: message["result"] for message in messages}
        if revision in answers[0].get("supportedVersions", [answers[0].get("protocolVersion")]):
            return f"serves {', '.join(tool['name'] for tool in answers[1]['tools'])}"
        said = f"it answered {answers[0]}"
    except (AttributeError, LookupError, TypeError, ValueError):
        said = (ended.stderr or ended.stdout).decode("utf-8", "replace").strip().rpartition("\n")[2]
    how = "no end in time" if ended.status is None else f"exit status {ended.status}"
    raise Failure("internal_error", f"{how}: {said[-LAST_WORDS_BYTES:]}")


def _examine_pnpm(context: Context) -> str:
    from shutil import which

    path = which("pnpm")
    if path is None:
        raise Failure("missing_dependency", "pnpm is not on PATH")
    return path


_BY_HAND = "see what it says: protoyard mcp"
CHECKS: tuple[Check, ...] = (  # what is not needed warns
    Check("python", lambda context: f"{sys.version.split()[0]}, {sys.executable}", True, ""),
    Check("workspace", _examine_workspace, True, "choose a folder that you may write to: --workspace DIR"),
    Check("lock", _examine_lock, True, "wait for that process, or end it"),
    Check("archive", _examine_archive, True, "put a fresh copy in its place; compare its .sha256"),
    Check("ready code", _examine_code, False, "build it where that Python is: ./build.sh"),
    Check(f"handshake {MODERN}", lambda context: _examine_server(context, MODERN), True, _BY_HAND),
    Check(f"handshake {LEGACY}", lambda context: _examine_server(context, LEGACY), True, _BY_HAND),
    Check("browser", lambda context: find_browser(os.environ), False, ""),
    Check("pnpm", _examine_pnpm, False, "it is for installing promoted projects only"),
)


def run_doctor(context: Context, values: dict[str, Any]) -> dict[str, Any]:
    """Every check, whatever the others find; data: ok, checks of name, status, detail and remedy."""
    found = []
    for check in CHECKS:
        context.call.step(check.name)
        status, remedy = "ok", ""
        try:
            detail = check.examine(context)
        except Failure as failure:
            status = "fail" if check.is_needed else "warn"
            detail, remedy = failure.message, failure.hint or check.remedy
        found.append({"name": check.name, "status": status, "detail": detail, "remedy": remedy})
    return {"ok": all(check["status"] != "fail" for check in found), "checks": found}


def _doctor_text(data: Mapping[str, Any]) -> str:
    rows = [
        [check["status"], check["name"], "; ".join(filter(None, (check["detail"], check["remedy"])))]
        for check in data["checks"]
    ]
    broken = [check["name"] for check in data["checks"] if check["status"] == "fail"]
    verdict = f"Broken: {', '.join(broken)}." if broken else "All that is needed works."
    return f"{render_columns(rows)}\n\n{verdict}"


# --- the rows -------------------------------------------------------------------------------------


def run_mcp(context: Context, values: dict[str, Any]) -> int:
    """Serve MCP on stdin and stdout until the input ends; the exit status."""
    return serve(rows=OPERATIONS, directory=context.directory, read_only=values["readOnly"])


COMMANDS: tuple[Operation, ...] = (
    Operation(
        name="mcp",
        title="Serve MCP over stdio",
        description=(
            "Serve the tools over the Model Context Protocol on standard input and output, revisions "
            "2026-07-28 and 2025-11-25. Register it in an agent host as a command; it is not for "
            "typing."
        ),
        arguments=(Argument("readOnly", _flag("Serve only the tools that read.")),),
        run=run_mcp,
        render=None,
        served=False,
        exit_status=lambda status: status,
    ),
    Operation(
        name="mcp_config",
        title="Show how to register it in a host",
        description=(
            "Print the exact snippet that registers this program, in this workspace, in an agent "
            "host, and where to put it. Nothing is written."
        ),
        arguments=(
            Argument(
                "client",
                {"type": "string", "enum": list(HOSTS), "description": f"One of {', '.join(HOSTS)}."},
                required=True,
            ),
        ),
        run=run_mcp_config,
        render=_registration_text,
        served=False,
    ),
    Operation(
        name="doctor",
        title="Check that it works on this machine",
        description=(
            "Check Python, the workspace and its lock, the archive, the server in both revisions of "
            "the protocol, and what is optional: a browser for screenshots, pnpm for promoted "
            "projects. Nothing is left behind. Exit status 1 when something that is needed is broken."
        ),
        arguments=(),
        run=run_doctor,
        render=_doctor_text,
        served=False,
        exit_status=lambda data: EXIT_DONE if data["ok"] else EXIT_FAILED,
    ),
)

# ======================================================================
# §20 main: the joined table and the guard
# ======================================================================
# Rules: uses all. The outermost of the three borders where any exception ends.


def main(argv: Sequence[str] | None = None) -> int:
    """The command line: `argv` without the program's name; returns the exit status."""
    set_digit_limit()
    try:
        words = sys.argv[1:] if argv is None else argv
        return run_command_line(words, OPERATIONS + COMMANDS, render_version=describe_version)
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
