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

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
JSON_BLANKS = b" \t\r"

# JSON (WIRE §2): CPython's own digit limit, set explicitly so that every interpreter agrees.
JSON_DEPTH_MAX = 64
INTEGER_MAX_DIGITS = 4300
PARSE_ERROR = -32700
INVALID_REQUEST = -32600

# Strings out (WIRE §9): how much of a name is looked at and shown, what still is a word or a plain number, how
# often a string is gone over until nothing more is found (one time finds all but what is built for it).
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

# Fictional data (§10). A walk by the golden section meets distant places one after the other.
ROLL_BYTES = 8
HASH_PRIME = 2**61 - 1
GOLDEN_PERCENT = 62
CENTS = 100
FINE = 10_000
ENDLESS = 10**12
VAT_PERCENT = 20
NAME_GROUP = 8
STAFF_COUNT = 11
FIRST_NUMBERS = 400
EMPTY_EVERY = 9
STEM_CHARS = 5
FEW_TYPES = 3
QUARTER_MINUTES = 15
WEEK_DAYS = 7
WORK_DAYS = 5
MONTH_DAYS = 30
YEAR_DAYS = 365
MADE_DAYS = 18
DUE_DAYS = 12
OVER_DAYS = 5

# The brief (TOOLS §4): what a first draft holds at most, how long its names are, what a screen shows of a record.
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
_NO_SECRET_NAME = ".*(?:(?:design|brand|page|next|cursor|continuation|progress)_?token|[^_]pass)"
_DIGITS = "0123456789"
_IGNORE = re.IGNORECASE | re.ASCII


def _is_secret_name(name: str) -> bool:
    word_ends = "[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
    words = re.sub(word_ends, "_", name[-NAME_TAIL_CHARS:]).rstrip("_" + _DIGITS).lower()
    return words.replace("_", "").endswith(_NAME_ENDS) and not re.fullmatch(_NO_SECRET_NAME, words)


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
    r"(?:process\.env|import\.meta\.env|env|self|this|args|config|settings|secrets|props|req|request|options|form)"
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
_FORMS = (  # the same, and what is spared
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
    *((False, hints.split(), form, spares) for _, hints, form, spares in _FORMS),
    *((True, hints.split(), rf"{_EDGE}(?P<S>{token}{_REST})", _is_words) for _, hints, token in _TOKENS),
    (True, ["eyJ"], _JWT, _is_words),
)


def _redact_shapes(text: str) -> str:
    def hide(found: re.Match[str]) -> str:
        start, end = (place - found.start() for place in found.span("S"))
        return found[0] if spares(found["S"]) else found[0][:start] + REDACTED + found[0][end:]

    has_run = bool(re.search(r"[\w-]{16}", text, re.ASCII))  # every token has one, and ordinary text has not
    for needs_run, hints, pattern, spares in _SHAPES:
        if needs_run > has_run:
            break  # only tokens are left
        for hint in hints:
            if hint in text:
                text = re.sub(pattern, hide, text, flags=re.ASCII)
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
    shown, done = "", 0
    for head in re.compile(_HEAD, _IGNORE).finditer(text):
        span = _secret_span(text, head) if head.start() >= done else None
        if span:
            shown += text[done : span[0]] + REDACTED
            done = span[1]
    return shown + text[done:]


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
# Rules: uses §01-03. Only this section starts processes; `start_child` is the choke point. A Call is shared by the
# thread that works and the threads that may stop it. Whatever makes work visible or starts a process passes the
# call's gate, which never opens again once the call is stopped: a call that cannot be interrupted is harmless.


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
    """One running operation: its cancel token, deadline, progress, commit gate and children; safe from any thread."""

    __slots__ = (
        "_deadline",
        "_gate",
        "_on_child",
        "_on_progress",
        "_reasons",
        "_steps",
        "_token",
        "children",
        "current_step",
    )

    def __init__(
        self,
        *,
        deadline: float | None = None,
        on_progress: Callable[[float, float | None, str], None] | None = None,
        on_child: Callable[[], None] | None = None,
    ) -> None:
        """`deadline` is a time.monotonic(); `on_progress(done, total, message)`; `on_child()` before each child."""
        self._deadline = deadline
        self._on_progress = on_progress
        self._on_child = on_child
        self._gate = _Gate(self)
        self._token = threading.Event()
        self._reasons: list[str] = []  # the first one counts; appending is atomic
        self._steps = 0
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

        Without a `total` the steps are counted; an operation numbers all of its steps or none.
        """
        self.check()
        self.current_step = name
        self._steps += 1
        self.progress(done if total else self._steps, total or None, name)

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


class ChildResult(NamedTuple):
    """How a child ended: its exit status (negative: the signal; None: over its time), the ends of its outputs."""

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
        # What a child that has ended leaves running gets no time of grace.
        _stop_children([self], KILL_GRACE_SECONDS if self.process.poll() is None else 0)
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
        """What the child wrote to its descriptor 4; Failure dependency_failed at its end or after `seconds`."""
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
    """Start a process in a session of its own; with `pipes` (POSIX) it can be talked with over descriptors 3 and 4.

    `env` None is our own. Failure missing_dependency or dependency_failed when it cannot be started; Stopped.
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
    """The live processes that `children` started, on Linux: by session, group, mark and parent; zombies are gone."""
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
    """What to send signals to: processes on Linux, elsewhere whole groups (negative) that have a live member."""
    for child in children:
        child.process.poll()  # takes a zombie of ours away
    if sys.platform == "linux":
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
    nothing = {name: subprocess.DEVNULL for name in ("stdin", "stdout", "stderr")}
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
    while targets and time.monotonic() < kill_at + DEATH_WAIT_SECONDS:
        if time.monotonic() < kill_at:
            _signal(targets - asked, signal.SIGTERM)
        else:
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
        """Empties the folder. Inner folders are brought up first: no depth exhausts stack or handles."""
        names = self.names()
        while names:
            for name in (name for name in names if not self.unlink(name)):
                with self.open(name) as inner:
                    for child in (child for child in inner.names() if not inner.unlink(child)):
                        risen = self.at(_unique_name())
                        os.rename(inner.at(child), risen, src_dir_fd=inner.fd, dst_dir_fd=self.fd)
                os.rmdir(self.at(name), dir_fd=self.fd)
            names = self.names()


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
        name = _last_part(path)
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
# Rules: uses §01, §07; pure. Tables are text, parsed on first use. A kind of record is
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
~|request,requisition|bell|reference requester! submitted_at@ reason* approver!|requested,approved,declined,done|i;
~|report,log,entry,record,diary,history,journal|chat|title recorded_at@ recorded_by! value# body*||t;
~|score,result,rating|chart|title value# recorded_at@ recorded_by! remarks*||r;
~|plan,programme,schedule,list,sheet,template,catalogue,guide,policy|file|name version# owner! valid_from^
remarks*|draft,in use,retired|;
~|test,check,examination,analysis,trial|check|title planned_for@ inspector! done_at@ result(pass/fail) score%
remarks*|planned,in progress,passed,failed|cr;
~|slot,sitting,class,screening,hearing,pickup|calendar|title starts_at@ duration~ with! place|requested,confirmed,
done,no-show|c;
~|charge,fee,fine,instalment,allowance,payout|coin|title amount$ due_date^ paid_on^ remarks|due,paid,waived|r;
~|pass,card,badge|card|number holder! issued_on^ expires_on^|issued,expiring,expired|;
~|step,stage,item,line,part,component|box|name position# quantity# remarks|open,done|;
~|deadline,reminder,closure,renewal|clock|title due_on^ owner! remarks*|upcoming,due,done,missed|c;
~|~person|person|name email phone since^ notes*|active,away,left|;
~|~|circle|name owner! category() created_on^ notes*|new,active,done|
"""
_CHOICES = """
sector:Retail/Health/Education/Industry tier:Basic/Standard/Premium source:Website/Referral/Agency zone:A/B/C
region:North/East/South/West ticket_type:Regular/Reduced/Group genre:Fiction/Non-fiction/Reference area:Data/Reports
audience:Everyone/Staff/Members position:Front/Middle/Back role:Early/Late/Night section:A/B/C species:Common/Rare
department:Sales/Operations/Finance plan:Basic/Standard/Premium kind:First/Follow-up/Routine
"""
_MARKS = dict(
    zip(
        "*#$%^@~!?+=&",
        "longtext number money percent date datetime duration person boolean tags rating url".split(),
    )
)
_SCREEN_LETTERS = {name[0]: name for name in SCREEN_TYPES if name not in ("list", "cards", "detail", "form")}


class FieldSpec(NamedTuple):
    """A field of an archetype: `target` is the kind that a ref means, `values` those of a choice."""

    id: str
    type: str
    values: tuple[str, ...] = ()
    target: str = ""


class Archetype(NamedTuple):
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
    """The archetypes by every name they go by (singular, lower case); "~word" are those by last word, "~" the generic."""
    table: dict[str, Archetype] = {}
    for row in f"{_ARCHETYPES};{_FALLBACKS}".replace("\n", " ").split(";"):
        name, others, icon, fields, status, screens = row.strip().split("|")
        last_word = name == "~"
        kind = Archetype(
            "" if last_word else name,
            icon,
            tuple(map(_parse_field, fields.split())),
            tuple(capitalised(value.strip()) for value in status.split(",") if value),
            tuple(_SCREEN_LETTERS[letter] for letter in screens),
        )
        for other in [*([] if last_word else [name]), *others.split(",")]:
            table.setdefault(f"~{other.strip().lstrip('~')}" if last_word else other.strip(), kind)
    return table


def find_archetype(name: str, *, person: bool = False) -> Archetype:
    """The kind of a noun (singular, lower case): by name, by its last words, by its last word's class, or the generic one."""
    words = name.split() or ["~"]
    names = [" ".join(words[start:]) for start in range(len(words))]
    names += [f"~{words[-1]}", "~person" if person else "~"]
    return next(archetypes()[one] for one in names if one in archetypes())


# ======================================================================
# §09 brief: text to roles, entities, screens, flows, variants
# ======================================================================
# Rules: uses §01-04, §07-08; pure. A brief goes one way: characters → clauses → words with a part of speech → noun phrases
# → things, roles, signals → plan → blueprints. Each step is linear in the text; no hash order, no locale. Weights say how
# surely a noun is a record; they and the word lists are the place to change what briefs mean.

# Letters, digits and marks that Unicode 13 (Python 3.9) lacks and a later version has or may get: noise on every Python.
_LATER = """
86B-89F 8B5 8C8-8D2 C3A-C3C C5B-C5F CD7-CDD CF3-CFF ECE-ECF 170D 1715-171F 180F 1AC1-1AFF 1B4C-1B4F 1C89-1C8F 1DFA 2C2F 2C5F
9FFD-9FFF A7C0-A7C1 A7CB-A7F4 10570-105FF 10768-107FF 10940-1097F 10D3A-10E5F 10EAE-10EAF 10EB2-10EFF 10F28-10F2F 10F5A-10FAF
11070-1107E 110C2-110CC 1123F-1127F 11375-113FF 116B9-116BF 116CA-116FF 1173C-117FF 11AA3-11ABF 11AF9-11BFF 11DAA-11EDF
11EF9-11FAF 12544-12FFF 1342F 13439-143FF 14647-167FF 16A70-16ACF 16AF6-16AFF 16B90-16E3F 16E9B-16EFF 187F8-187FF 18CD6-18CFF
18D09-1AFFF 1B11F-1B14F 1B153-1B163 1BCA4-1CFFF 1D246-1D2DF 1DAB0-1DFFF 1E02B-1E0FF 1E150-1E2BF 1E300-1E7FF 2A6DE-2A6FF
2B735-2B73F 2EBE1-2F7FF 3134B-E0000
"""
# Word lists, a key and its words a line (a line that starts with a space goes on). Parts of speech: D determiner, I
# preposition, C conjunction, R pronoun, X auxiliary, A adverb, J adjective that names no record, - negation, V verb, B verb
# and noun; all else is a noun. Then what nouns are (archetypes.md §5), and sets of verbs that mean something.
_WORDS = """
D a an the this that these those each every all any some its their our your my his her another both either such whose which
 what many few several more most much other own same half dozen
I of in on at by for with from to into onto over under above below within between among across through during before after
 against about around near per via as than until since off out up down towards toward behind beside besides upon like
 including plus versus w/ along alongside inside outside concerning
C and or but so because when while if then where whether although though unless whenever wherever how why & +
R i we you they he she it us them him me who whom one ones somebody someone anybody anyone everyone everybody nobody something
 anything everything nothing mine ours theirs themselves itself there here people persons folks things stuff lot lots kind sort
X be is are was were been being am do does did have has had having can could will would shall should may might must let's lets
 i'm we're they're it's that's i'd we'd i've we've i'll we'll it'll
A only just also too very still now today soon already always often sometimes usually currently actually really maybe perhaps
 please again together back away etc e.g i.e eg ie hey hello hi thanks yes ok okay well even ever else twice once though rather
 quite almost least instead however therefore thus first finally asap ahead apart abroad home tomorrow yesterday tonight online
 offline anywhere everywhere somewhere yet far better best worst overnight later afterwards
- no not never without cannot can't don't doesn't won't isn't aren't didn't shouldn't wouldn't nor neither except excluding none
 wont dont doesnt cant
J new old big small tiny large huge open closed good bad great high higher low lower full free late early overdue due current
 next last daily weekly monthly yearly annual quarterly simple easy fast quick nice clear live single double main personal
 shared private local regional different various important missing available printable digital internal external basic modern
 smart complete existing real whole entire ready able busy happy proud unanswered unpaid recent upcoming past future final
 total average key top short long hot cold dead lost fallen broken damaged hourly biweekly urgent critical necessary possible
 useful helpful usual common typical specific certain separate individual multiple numerous amateur friendly lovely beautiful
 passionate innovative leading seasonal temporary permanent two three four five six seven eight nine ten eleven twelve twenty
 hundred thousand visible red green yellow second third
V accept accession acknowledge add admit agree allocate aliquot allow amend analyse analyze announce apply appoint approve
 archive arrange arrive ask assess assign attach attend authorise authorize avoid become begin believe belong borrow bring
 browse build bundle buy calculate cancel capture carry categorise choose classify clean close collect come compare complain
 complete confirm configure connect consult contain convert coordinate create customise customize decide decline deduct define
 delete deliver depend deploy describe detect determine diagnose discharge discuss display distribute donate download drag edit
 enable enrol enroll ensure enter escalate evaluate examine execute expire explain export extend fall fetch fill find finish fix
 follow forget forward gather generate get give go grow handle happen harvest hear help hire identify import improve include
 inform inspect install introduce invite involve join keep know learn lend live look lose maintain make manage meet merge miss
 monitor need negotiate notify obtain occur onboard operate organise organize oversee owe paste pause perform pick postpone
 prepare prescribe prevent prioritise prioritize produce promote propose protect prove provide publish pull push put qualify
 raise reach read rebook receive reconcile recruit redeem reduce refer reject remember remind remove renew reopen replace replant
 reply require reschedule resolve respond retire revise revoke roster say see sell send serve settle share show sign sit solve
 speak specify spend split stand start stay submit subscribe suggest summarise supervise suspend take talk teach tell terminate
 think throw tick translate treat triage try turn understand unlock update upload use vaccinate validate verify wait want warn
 weigh welcome win withdraw write reinvent experience configure earn sew wear bake
B answer audit bill book call care change charge chart check claim comment contact contract control cost cover deal design
 dispatch document draft drive drop email e-mail estimate exchange exercise feed file flag forecast form fund grade grant group
 guide hand hold host interview issue judge label land lead lease leave link list load loan log mark match measure message mix
 model mount move name note notice number offer order pack park pass pay permit plan plant play pledge point post practice
 present press price print process program project pump purchase question quote race rank rate record refund register release
 rent repair report request research reserve return review ride risk round route run sample save scan schedule score screen
 search service set shift ship shop signal sort source sponsor staff stage state step stock stop store study supply support
 survey swap tag target taste test tour track trade train transfer transport travel trust view visit vote walk wash watch water
 work rule head scale volunteer block filter cook clock trap patrol roll touch copy cut sum count break ring star
ing booking viewing meeting reading training screening hearing listing rating opening building drawing sitting painting filing
 fitting landing mailing posting recording ruling sailing setting showing sighting housing catering accounting billing marketing
 briefing wedding outing offering crossing finding mooring planting tasting string ring king spring evening morning ceiling
 clothing wing pricing engineering sampling parking sibling
heads attempt detail sheet line item entry level list plan request report template result note type log history card form code
 step slot record package point movement score rating status schedule order job ticket limit room page window fee paper system
product app application system tool portal platform software solution website webapp page thing module mvp prototype tracker
 planner database spreadsheet diary suite hub organiser organizer manager scheduler register registry book place program
 workflow process assistant helpdesk desk office crm erp management tracking planning administration operations handling
screen dashboard calendar board chart overview view report wall screen queue inbox timeline graph kanban pipeline funnel feed
 cockpit map list directory index homepage button tab widget profile agenda roadmap filter search export form history curve
 table ranking statistics notification setting preference configuration log gantt column stage summary
place company agency clinic shop club department office team city business firm hospital hotel ward farm museum factory plant
 charity municipality council university studio salon bakery cafe café startup bank festival league hall village town region
 area country district county daycare kennel garage cemetery school college library gym kitchen restaurant bar pub theatre
 theater laboratory lab community neighbourhood association society foundation institute centre center organisation organization
 headquarters street network market world fleet industry nursery kindergarten church lodge camp resort practice household
 workplace ngo nonprofit co-op cooperative enterprise brand band house housing ground yard campus port harbour marina zoo
 facility authority ministry bureau
time day week month year quarter morning evening afternoon night weekend hour minute second moment season winter summer autumn
 spring monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october
 november december time date decade century today tomorrow phase end start beginning term semester future glance
metric kpi rate percentage workload average statistic trend total figure metric ratio turnover throughput amount progress percent
 share value level usage volume balance revenue profit margin capacity utilisation count sum number countdown eur usd gbp euro
 dollar pound
field name title price date status address photo picture image phone telephone colour color size type category quantity duration
 priority id identifier description code unit birthday weight height temperature reason condition mileage warranty barcode
 currency signature language gender age link url label expiry detail information info data content property heat power
 electricity water
filler mission passion slogan change movement right purpose vision dream idea benefit advantage experience quality way case story
 example fact problem mess chaos error hassle pain help support advice need requirement scope weather everybody internet web
 tablet mobile smartphone computer desktop browser wifi paper notebook telephone excel whatsapp airtable trello notion access
 outlook sap salesforce cupboard attention look feel style design theme clock half public wag tail root hand mind life love heart
 stakeholder audience security performance speed reliability login password permission duplicate ring safety bit side front rest
 cause chain scratch back top bottom middle plenty variety range set pair laptop-screen public scene use person people color
 user interface experience
people nurse vet patient guest client staff clerk chef cook guide pilot coach judge parent pupil student tenant resident agent
 lead escort secretary boss friend person child kid admin head chair captain mentor apprentice intern architect midwife physio
 mechanic host pm po scout participant applicant consultant accountant assistant attendant merchant courier expert analyst
 specialist therapist dentist artist florist arborist hygienist receptionist pharmacist stylist librarian technician electrician
 musician physician citizen colleague crew-member paralegal warden sales-rep rep foreman recruit delegate cashier athlete
 volunteer donor witness trustee referee employee attendee trainee appointee nominee owner partner
party patient guest client customer pupil student tenant owner donor member candidate applicant resident citizen volunteer
 visitor participant attendee player contact buyer passenger child kid learner trainee borrower subscriber supplier vendor
 holder friend athlete sponsor driver guide household juror
-er order number paper letter computer folder container meter filter timer tracker printer scanner server trailer charger water
 weather winter summer quarter chapter matter offer answer transfer reminder newsletter voucher poster sticker locker shelter
 tower power river corner center sensor monitor error floor door color motor tractor indicator factor mirror register calendar
 ladder counter booster header footer buffer layer cover banner barrier burner boiler elevator generator freezer cooler heater
 dryer washer bumper tender ledger cluster disaster character parameter router adapter connector detector calculator sector
 harbor flavor labor anchor corridor flower dinner supper chamber tier litter planner scheduler organiser organizer manager-tool
 finger border shower slider user-id fever cancer liver tiger beer deer career volunteer-hour gear year parlor gutter hanger
 checklist list mist waitlist playlist wishlist shortlist twist committee fee coffee tree degree bee guarantee knee refugee-camp
departments finance hr dispatch reception accounting it procurement purchasing sales marketing legal logistics controlling
 front-desk back-office customer-service human-resources facilities compliance payroll
scope need want require build include support cover offer sell use handle plan do
failing lose forget miss know find see sign return arrive reply answer exceed overlap overspend fit show
asking ask apply look wait link belong connect attach refer assign add sign register search
managing roster manage assign hire train invite recruit schedule track list onboard add register rate
reading see view read look browse watch monitor search find check follow
deciding approve decline accept reject validate confirm sign decide review assess triage
making add create request record log submit file book plan schedule write report register enter
calendar schedule book reserve reschedule roster rota appoint calendar agenda timetable planner slot availability plan
 appointment booking shift viewing diary
board drag triage dispatch board kanban pipeline funnel column swimlane stage backlog move progress track approve
timeline trace audit timeline history chain milestone roadmap gantt journey sequence phase
inbox message reply answer notify remind forward escalate inbox thread chat notification respond write conversation
report measure compare sum count total analyse analyze export forecast rank report chart statistics kpi graph trend curve
 ranking score best statistic average
dashboard monitor watch oversee alert dashboard cockpit overview glance kpi low overdue red
settings configure customise customize toggle setting configuration preference parameter threshold template rate allowance
"""
# Other forms: irregular verbs, irregular plurals; nouns whose plural looks the same; verbs that imply a record.
_FORMS = """
sent:send kept:keep held:hold sold:sell bought:buy taken:take took:take given:give gave:give made:make got:get seen:see saw:see
written:write wrote:write paid:pay ran:run lent:lend broke:break broken:break drawn:draw driven:drive known:know knew:know
said:say told:tell found:find left:leave met:meet brought:bring built:build taught:teach chosen:choose gone:go went:go came:come
begun:begin became:become grown:grow worn:wear shown:show thrown:throw stood:stand done:do spent:spend won:win fed:feed fell:fall
felled:fall dealt:deal understood:understand withdrawn:withdraw
"""
_PLURALS = """
people:person children:child men:man women:woman feet:foot teeth:tooth geese:goose mice:mouse oxen:ox calves:calf halves:half
knives:knife shelves:shelf leaves:leaf loaves:loaf wolves:wolf lives:life wives:wife theses:thesis analyses:analysis
diagnoses:diagnosis crises:crisis hypotheses:hypothesis criteria:criterion phenomena:phenomenon indices:index matrices:matrix
vertices:vertex appendices:appendix curricula:curriculum memoranda:memorandum alumni:alumnus cacti:cactus fungi:fungus
stimuli:stimulus larvae:larva formulae:formula quizzes:quiz movies:movie cookies:cookie ties:tie pies:pie menus:menu
potatoes:potato tomatoes:tomato heroes:hero vetoes:veto cargoes:cargo buses:bus gases:gas lenses:lens viruses:virus
campuses:campus bonuses:bonus statuses:status caches:cache axes:axe
"""
_SAME = """
series species sheep fish aircraft premises means headquarters works equipment staff luggage furniture inventory stock feedback
software knowledge training medication housing livestock material news data media status bus gas class address process access
business analysis basis lens campus bonus virus diabetes sales goods glass physics thesis maintenance laundry cash mail research
"""
_DEEDS = "inspect:inspection lend:loan borrow:loan donate:donation vaccinate:vaccination enrol:enrolment subscribe:subscription"
# A noun without a plural stands for a unit of it (archetypes.md §6).
_UNITS_OF = "inventory:inventory_item stock:stock_item staff:employee livestock:animal"
# What a product holds when its name is all that the brief says.
_IMPLIED = """
crm:contact,deal sales:deal,customer erp:order,product inventory:inventory_item,supplier stock:stock_item,supplier
warehouse:stock_item,location cemetery:grave,burial graveyard:grave,burial helpdesk:ticket,customer support:ticket,customer
library:book,loan gym:member,class restaurant:table,reservation hotel:room,reservation hostel:room,reservation
school:student,course clinic:patient,appointment hospital:patient,appointment dental:patient,appointment
salon:client,appointment hairdresser:client,appointment recruiting:candidate,job_opening recruitment:candidate,job_opening
hiring:candidate,job_opening ats:candidate,job_opening fleet:vehicle,driver garage:vehicle,work_order rental:item,rental
shop:product,order store:product,order bakery:product,order farm:animal,field zoo:animal,enclosure kennel:dog,booking
church:member,event club:member,event conference:session,speaker wedding:guest,task museum:object,exhibition
construction:project,task agency:client,project law:case,client legal:case,client accounting:invoice,expense
invoicing:invoice,customer billing:invoice,customer finance:invoice,budget hr:employee,leave_request leave:leave_request,employee
payroll:employee,payslip maintenance:work_order,equipment lab:sample,result laboratory:sample,result podcast:episode,guest
blog:post,author charity:donation,donor fundraising:donation,campaign grant:application,grant garden:plot,plant
parking:parking_space,permit taxi:trip,driver delivery:parcel,route logistics:shipment,route insurance:policy,claim
bank:account,transaction budget:expense,budget todo:task,project project:project,task habit:habit,entry training:course,participant
survey:survey,response league:team,fixture tournament:team,match kitchen:recipe,ingredient incident:incident,action
quality:finding,corrective_action compliance:audit,finding asset:asset,assignment bug:bug,release volunteer:volunteer,shift
daycare:child,check-in nursery:child,check-in pharmacy:prescription,patient property:property,lease
"""


@once
def _words() -> Mapping[str, Mapping[str, None]]:
    rows = (row.split() for row in _WORDS.replace("\n ", " ").strip().splitlines())
    return {row[0]: dict.fromkeys(row[1:]) for row in rows}


def _is(group: str, word: str) -> bool:
    return word in _words()[group]


@once
def _tables() -> Mapping[str, Mapping[str, Any]]:
    """What is looked up by word: its part of speech, the verb it is a form of, its singular, its class, the screens it asks for."""
    words = _words()
    verbs = {form: (base, kind) for tag in "BV" for base in words[tag] for form, kind in _verb_forms(base)}
    verbs.update({pair.split(":")[0]: (pair.split(":")[1], "ed") for pair in _FORMS.split()})
    signals: dict[str, tuple[str, ...]] = {}
    for kind in ("calendar", "board", "timeline", "inbox", "report", "dashboard", "settings"):
        for word in words[kind]:
            signals[word] = (*signals.get(word, ()), kind)
    classes = ("field", "filler", "metric", "time", "screen", "place", "product")
    return {
        "part": {word: tag for tag in "JAXRCID-" for word in words[tag]},
        "verb": verbs,
        "singular": dict(pair.split(":") for pair in _PLURALS.split()),
        "class": {word: kind for kind in classes for word in words[kind]},
        "signal": signals,
        "deed": dict(pair.split(":") for pair in _DEEDS.split()),
        "unit": {
            name: unit.replace("_", " ") for name, unit in (pair.split(":") for pair in _UNITS_OF.split())
        },
        "implied": {
            name: kinds.replace("_", " ").split(",")
            for name, kinds in (p.split(":") for p in _IMPLIED.split())
        },
    }


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
    if word in _tables()["singular"]:
        return _tables()["singular"][word]
    if (
        word.endswith("men")
        and len(word) > SHORT_WORD_CHARS
        and word not in ("specimen", "regimen", "acumen")
    ):
        return word[:-3] + "man"
    if (
        len(word) < SHORT_WORD_CHARS
        or not word.endswith("s")
        or word.endswith(("ss", "us", "is"))
        or word in _SAME.split()
    ):
        return word
    if word.endswith("ies") and len(word) > SHORT_WORD_CHARS:
        return word[:-3] + "y"
    return word[:-2] if re.search("(ss|sh|ch|x|zz)es$", word) else word[:-1]


def _plural(name: str) -> str:
    """The plural of an English noun or compound."""
    head = name.split(" ")[-1]
    irregular = {one: many for many, one in _tables()["singular"].items()}
    if head in _SAME.split() or head in irregular:
        return name[: len(name) - len(head)] + irregular.get(head, head)
    if re.search("[^aeiou]y$|man$", head) and head != "human":
        return name[:-1] + "ies" if head.endswith("y") else name[:-3] + "men"
    return name + ("es" if re.search("(s|sh|ch|x|z)$", head) else "s")


def _is_person(word: str) -> bool:
    """Whether a noun is somebody: listed, or by its ending and no thing that ends alike (archetypes.md §2)."""
    named = _is("people", word) or _is("party", word) or _is("departments", word)
    return named or bool(
        re.search("([^e]er|or|ist|man|woman|logist|eer)$", word)
        and not _is("-er", word)
        and len(word) > SHORT_WORD_CHARS
    )


class _Token:
    """A word or mark: as written, lower case, its part of speech, the base form of a verb or singular of a noun."""

    __slots__ = ("base", "low", "tag", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.low = self.base = re.sub("'s$", "", text.lower().replace("’", "'"))
        self.tag = ""

    @property
    def owns(self) -> bool:
        """Whether it stands in the possessive."""
        return self.text[-2:] in ("'s", "’s") or self.text[-2:] in ("s'", "s’")


def _tokens(text: str) -> list[_Token]:
    """The words and marks of a sentence, each with its part of speech."""
    tokens = [_Token(word) for word in re.findall(r"\bw/|[^\W_]+(?:['’\-‑][^\W_]+)*|[^\w\s]", text)]
    for n, token in enumerate(tokens):
        after = tokens[n + 1] if n + 1 < len(tokens) else _Token("")
        whole = token.text.lower().replace("’", "'")
        part = _tables()["part"].get(whole) or _tables()["part"].get(token.low, "")
        if not token.low[:1].isalnum():
            token.tag = token.text if len(token.text) == 1 else "I"
        elif token.low[0].isdigit():
            token.tag = "#"
        elif part == "D" and n and tokens[n - 1].tag == "N" and token.low in ("that", "which", "whose"):
            token.tag = "R"
        elif part and not (
            part == "J" and token.low in _tables()["verb"] and _tables()["part"].get(after.low) in ("D", "R")
        ):
            token.tag = part
        elif token.low in _tables()["verb"] and not token.owns:
            token.tag = _verb_tag(tokens, n, after)
        elif (
            token.low.endswith("ly")
            and len(token.low) > SHORT_WORD_CHARS + 1
            and token.low not in ("family", "assembly", "supply")
        ):
            token.tag = "A"
        else:
            token.tag = "N"
        if token.tag == "N":
            token.base = token.low[:-1] if re.fullmatch("[A-Z]{2,}s", token.text) else _singular(token.low)
        elif token.tag in tuple("VGP"):
            token.base = _tables()["verb"][token.low][0]
    return tokens


def _verb_tag(tokens: list[_Token], n: int, after: _Token) -> str:
    """V verb, G gerund, P participle, J adjective or N noun for a word that looks like a verb: its neighbours decide."""
    base, kind = _tables()["verb"][tokens[n].low]
    both = _is("B", base)
    earlier = [token for token in tokens[max(0, n - 3) : n] if token.tag != "A"]
    before = earlier[-1] if earlier else _Token("")
    prev = before.tag
    next_tag = _tables()["part"].get(after.low) or ("N" if after.low[:1].isalpha() else after.low[:1])
    follows = next_tag in ("D", "R", "#") or (next_tag == "J" and kind == "s")
    if (
        prev == "X"
        or before.low in ("to", "not")
        or (prev == "-" and before.low not in ("no", "without"))
        or prev == "R"
    ):
        being = prev == "X" and before.low in ("be", "is", "are", "was", "were", "been", "being")
        if being and kind == "base":
            return (
                "P"
                if before.low != "be" and base in ("run", "put", "set", "cut", "split", "read")
                else "N"
                if both
                else "V"
            )
        return {"ing": "G", "ed": "P", "s": "N" if before.low == "to" else "V"}.get(kind, "V")
    if prev in ("D", "J", "#") or before.owns or before.low in ("no", "without"):
        return {
            "ed": "J" if next_tag == "N" else "P",
            "ing": "J" if not _is("ing", tokens[n].low) and next_tag == "N" else "N",
        }.get(kind, "N")
    if kind == "ing":
        return "N" if _is("ing", tokens[n].low) and next_tag not in ("D", "R") else "G"
    if kind == "ed":
        return "J" if next_tag == "N" and prev != "N" else "P"
    if prev == "I":
        return "N"
    series = any(token.tag == "V" for token in tokens[:n]) and (
        prev == "," or before.low in ("and", "or", "then")
    )
    if kind == "s":
        pair = f"{earlier[-2].low}-{before.low}" if len(earlier) > 1 else ""
        somebody = (
            prev == "N"
            and (_is_person(before.base) or _is("departments", pair))
            and before.base == before.low
        )
        led = (
            any(token.tag == "D" for token in tokens[max(0, n - 4) : n])
            or _is("departments", before.low)
            or pair
        )
        verb = (
            not both
            or (follows and prev == "N")
            or (somebody and led and next_tag not in (",", "C", "."))
            or (somebody and n > 1)
        )
        return "V" if prev != "V" and (verb or (series and next_tag in ("N", "D", "J", "R"))) else "N"
    if prev == "N":
        many = before.base != before.low or before.low == "staff"
        return "V" if not both or follows or many else "N"
    if prev in ("V", "G", "P") or not both or follows:
        return "N" if both and not follows else "V"
    return _opening_tag(tokens, n, after, next_tag)


def _opening_tag(tokens: list[_Token], n: int, after: _Token, next_tag: str) -> str:
    """The first word of a phrase: a command ("book rooms") or part of a name ("order lines")."""
    commands = [
        t
        for k, t in enumerate(tokens[:n])
        if t.tag == "V" and (k == 0 or tokens[k - 1].tag not in tuple("NRXA"))
    ]
    head = _singular(after.low)
    if next_tag == "C":
        return "V" if commands and n and tokens[n - 1].tag in ",C" else "N"
    if next_tag not in ("N", "J") or f"{tokens[n].low} {head}" in archetypes():
        return "N"
    if _is("heads", head) or (
        after.low in _tables()["verb"] and not _is("B", _tables()["verb"][after.low][0])
    ):
        return "V" if commands else "N"
    return "V" if commands or head != after.low or next_tag == "J" or n == 0 else "N"


class _Noun(NamedTuple):
    """A noun phrase: singular name, how a label shows it, its head, what stands before that, its form, its number."""

    name: str
    label: str
    head: str
    modifiers: list[str]
    form: str
    number: int
    person: bool


def _noun(words: list[_Token], capitals: bool) -> _Noun | None:
    """The noun phrase in a run of determiners, adjectives, numbers and nouns; None when nothing of it can be a name.

    `capitals`: they mean nothing here, otherwise a capital inside a sentence marks a proper name, which is no record.
    """
    tables = _tables()
    someone = words[-1].tag == "N" and _is_person(words[-1].base)
    nouns = [
        token
        for token in words
        if token.tag == "N"
        and (capitals or someone or token.text == token.text.lower() or sum(map(str.isupper, token.text)) > 1
             or token.base in archetypes() or _class_of(token.base))
    ]  # fmt: skip
    while (
        len(nouns) > 1
        and _class_of(nouns[0].base) == "time"
        and " ".join(t.base for t in nouns) not in archetypes()
    ):
        nouns = nouns[1:]
    if not nouns or nouns[-1] is not words[-1] or len(nouns[-1].base) < 2:
        return None
    head, nouns = nouns[-1], nouns[-DRAFT_NAME_WORDS:]
    articles = {token.low for token in words if token.tag == "D"}
    number = max([0, *(_number(token.low) for token in words)])
    form = (
        "plural"
        if head.base != head.low
        else "a"
        if articles & {"a", "an", "any", "some", "each", "every"}
        else "the"
        if articles
        else "bare"
    )
    before = [token.low for token in nouns[:-1]]
    name = " ".join([*before, head.base])
    label = " ".join(
        re.sub("([A-Z]{2,})s?$", r"\1", t.text) if re.fullmatch("[A-Z]{2,5}s?", t.text) else t.low
        for t in nouns[:-1]
    )
    last = re.sub("s$", "", head.text) if re.fullmatch("[A-Z]{2,5}s?", head.text) else head.base
    unit = tables["unit"].get(name) if form != "plural" else None
    person = someone or _is("departments", "-".join(name.split()))
    return _Noun(unit or name, unit or f"{label} {last}".strip(), head.base, before, form, number, person)


def _number(word: str) -> int:
    names = "zero one two three four five six seven eight nine ten eleven twelve".split(" ")
    plain = word.replace(",", "").replace(".", "")
    return names.index(word) if word in names else int(plain) if re.fullmatch("[0-9]{1,6}", plain) else 0


class _Thing:
    """A noun of the brief and, in the end, an entity: the words for it, how surely it is a record, what hangs on it."""

    def __init__(self, name: str, label: str, plural: str, because: str, *, person: bool = False) -> None:
        self.name, self.label, self.plural, self.because, self.person = name, label, plural, because, person
        self.kind, self.id = find_archetype(name, person=person), ""
        self.weight, self.times, self.count = 0.0, 0, 0
        self.status: tuple[str, ...] = ()
        self.extra: list[FieldSpec] = []
        self.links: list[str] = []


class _Role(NamedTuple):
    """Somebody who uses the product: the verbs of what they do (base form), the names of the things they do it to."""

    name: str
    because: str
    verbs: list[str]
    things: list[str]


# How surely a noun phrase is a record: by where it stands, times by its form, plus what the library knows of it.
_STANDS = {
    "list": 1,
    "object": 1,
    "subject": 0.7,
    "with": 0.9,
    "to": 0.7,
    "for": 0.7,
    "into": 0.8,
    "topic": 0.55,
    "place": 0.2,
}
_FORMED = {"plural": 1, "a": 0.9, "the": 0.7, "bare": 0.5}
_ELSE, _COUNTED, _KNOWN, _KIN, _AGAIN, _DEED = 0.5, 0.2, 0.3, 0.15, 0.15, 0.7
_SURE, _SPARE = 0.65, 0.5


class _Reader:
    """Collects things, roles and signals while the sentences of an English brief pass through `read`."""

    def __init__(self) -> None:
        self.things: dict[str, _Thing] = {}
        self.roles: dict[str, _Role] = {}
        self.signals: dict[str, tuple[str, str]] = {}
        self.blocked: dict[str, str] = {}
        self.because = self.last = ""
        self.begin(topic=False, negated=False)

    def begin(self, *, topic: bool, negated: bool) -> None:
        """A new sentence: `topic` when it names the product, `negated` when all of it is out of scope."""
        self.topic, self.always, self.negated = topic, negated, negated
        self.capitals = False
        self.clause()

    def clause(self) -> None:
        """A new clause: no verb, no preposition, nobody acting; a negation ends."""
        self.verb = self.preposition = self.form = ""
        self.subjects: list[_Noun] = []
        self.actors: list[_Role] = []
        self.negated = self.always

    def read(self, tokens: list[_Token], because: str, *, topic: bool = False, negated: bool = False) -> None:
        """One sentence."""
        self.begin(topic=topic, negated=negated)
        self.because = because
        long = [token for token in tokens if len(token.text) >= SHORT_WORD_CHARS and token.text.isalpha()]
        self.capitals = 2 * sum(token.text[0] != token.low[0] for token in long) > len(long)
        place = 0
        while place < len(tokens):
            place = self._step(tokens, place)

    def _step(self, tokens: list[_Token], n: int) -> int:
        token, before = tokens[n], tokens[n - 1] if n else None
        if token.tag in ("D", "J", "#", "N"):
            end = n + 1
            while end < len(tokens) and tokens[end].tag in ("J", "#", "N") and not tokens[end - 1].owns:
                end += 1
            self._on_phrase(tokens[n:end], [t for t in tokens[end : end + 4] if t.tag != "A"], before)
            return end
        if token.text in ("(", "["):
            return self._on_bracket(tokens, n)
        if token.tag in ("V", "G", "P"):
            self._on_verb(token, before)
        elif token.tag == "I":
            such = token.low == "as" and before is not None and before.low == "such"
            self.preposition = "example" if such or token.low == "like" and self.verb != "like" else token.low
        elif token.tag == "R":
            self.subjects, self.actors, self.preposition = [], [], ""
        elif token.tag == "-":
            self.negated = self.negated or self._denies(tokens, n)
        elif token.low in ("but", "because", "so", "while", "when", "if", "though", "who"):
            self.clause()
        elif token.low in ("and", "&", "+", "plus") and self.form not in ("plural", "") and not self.verb:
            self.preposition = ""
        elif token.text in ",;:|–—•.":
            follows = tokens[n + 1].tag if n + 1 < len(tokens) else ""
            self.preposition = self.preposition if self.preposition == "example" and token.text == "," else ""
            if token.text != "," or follows in ("R", "X"):
                self.clause()
        return n + 1

    def _denies(self, tokens: list[_Token], n: int) -> bool:
        """Whether a negation takes what follows out of the product, rather than tell what does not happen in it."""
        after = tokens[n + 1 : n + 4]
        if tokens[n].low in ("no", "without", "except", "excluding", "none", "neither", "nor"):
            return True
        if (
            tokens[n].low == "not"
            and n
            and tokens[n - 1].text in ",(–—"
            and after
            and after[0].tag in ("N", "D", "J")
        ):
            return True
        verbs = [token.base for token in after if token.tag in ("V", "P")]
        ours = not self.subjects or _class_of(self.subjects[-1].head) in ("product", "filler")
        return bool(verbs) and (_is("scope", verbs[0]) or (ours and not _is("failing", verbs[0])))

    def _signal(self, word: str, name: str) -> None:
        for kind in () if self.negated else _tables()["signal"].get(word, ()):
            self.signals.setdefault(kind, (self.because, name))

    def _on_verb(self, token: _Token, before: _Token | None) -> None:
        self.preposition = ""
        if token.tag == "P" and before is not None and before.tag == "N" and not self.subjects:
            return
        if self.subjects and token.tag != "P":
            self.actors = [role for role in map(self._role, self.subjects) if role]
            self.subjects = []
        self.verb = token.base
        self._signal(token.base, self.last)
        if not self.negated:
            for role in self.actors:
                role.verbs.append(token.base)
            deed = _tables()["deed"].get(token.base)
            if deed and token.tag == "V":
                self._mention(deed, deed, False, _DEED)

    def _role(self, noun: _Noun) -> _Role | None:
        vendor = "shall" in self.because and noun.head in (
            "contractor",
            "supplier",
            "vendor",
            "bidder",
            "provider",
        )
        if self.negated or vendor or not noun.person:
            return None
        return self.roles.setdefault(noun.name, _Role(noun.name, self.because, [], []))

    def _on_phrase(self, words: list[_Token], after: list[_Token], before: _Token | None) -> None:
        noun = _noun(words, self.capitals or before is None or before.text in ".:•")
        tags = [token.tag for token in after]
        acts = tags[:1] in (["V"], ["X"], ["-"])
        if noun is None:
            return
        joined = before is not None and before.low in ("and", "&", ",", "/", "or")
        enabled = (
            noun.person
            and after[:1]
            and after[0].low == "to"
            and tags[1:2] == ["V"]
            and self.preposition != "to"
        )
        if acts or enabled:
            self.subjects = [*(self.subjects if joined else []), noun]
            self.verb, self.preposition = "", "" if self.preposition != "per" else "per"
        elif joined or not self.verb:
            self.subjects = [*self.subjects, noun][-2:] if noun.person else []
        context = "subject" if acts else self.preposition or ("object" if self.verb else "list")
        context = "topic" if self.topic and context == "list" else context
        if self.negated:
            for name in (noun.name, noun.head):
                self.blocked.setdefault(name, "the brief says that it is not wanted")
        elif context == "as":
            self.actors = [role for role in [self._role(noun)] if role]
            self.subjects = [noun]
        elif context != "example":
            self.form = noun.form
            self._on_noun(noun, context, words[-1].owns)

    def _on_noun(self, noun: _Noun, context: str, owner: bool) -> None:
        known = noun.name in archetypes()
        certain = (
            known
            and (noun.form in ("plural", "a") or bool(noun.modifiers))
            and not (noun.form == "a" and self.preposition)
        )
        kind = "" if certain else _class_of(noun.head)
        several = noun.form == "plural" or noun.number > 0 or (context == "per" and noun.form == "bare")
        if kind == "place" and several and context != "topic":
            kind = ""
        if (
            noun.head in ("report", "log", "form", "card", "template", "chart")
            and noun.modifiers
            and context != "topic"
        ):
            kind = (
                ""
                if not _class_of(noun.modifiers[-1]) or known or _class_of(noun.modifiers[-1]) == "field"
                else kind
            )
        self._signal(noun.head, noun.name if not kind else self.last)
        for word in noun.modifiers:
            self._signal(word, self.last)
        if kind:
            self._on_class(noun, kind)
            return
        managed = _is("managing", self.verb) and context == "object"
        if noun.person and (
            managed or context in ("list", "by", "per", "to", "object") and not _is("party", noun.head)
        ):
            self._role(noun)
        if noun.person and not _is("party", noun.head) and not (noun.number or managed or context == "list"):
            return
        strong = (
            owner
            or (_is("asking", self.verb) and context in ("for", "to"))
            or (context == "for" and self.verb == "" and known)
        )
        weight = _STANDS.get("object" if strong else context, _ELSE) * _FORMED[noun.form]
        weight += (_COUNTED if noun.number else 0) + (
            _KNOWN if known else _KIN if noun.head in archetypes() else 0
        )
        thing = self._mention(noun.name, noun.label, noun.person, weight)
        thing.count = max(thing.count, noun.number)
        if (
            context in ("with", "per", "for", "of", "to", "by")
            and self.last in self.things
            and self.last != noun.name
        ):
            child, parent = (thing, self.last) if context == "with" else (self.things[self.last], noun.name)
            child.links.append(parent)
        if noun.modifiers and known and thing.kind.fields[0].target == " ".join(noun.modifiers):
            self._mention(thing.kind.fields[0].target, thing.kind.fields[0].target, False, _DEED)
        for role in self.actors if context == "object" else ():
            role.things.append(noun.name)
        self.last = noun.name

    def _on_class(self, noun: _Noun, kind: str) -> None:
        """A noun that is no record: a field goes to the record before it, what qualifies a screen or the product is a hint."""
        if kind == "field" and self.last in self.things and not self.topic:
            self.things[self.last].extra.append(_guess_field(noun.name))
        words = list(noun.modifiers)
        while words and _class_of(words[-1]) in ("product", "place", "time", "screen", "filler", "metric"):
            words.pop()
        name = " ".join([*words[:-1], _singular(words[-1])]) if words else ""
        if name and kind in ("product", "screen", "place") and not _class_of(words[-1]):
            weight = _STANDS["place" if kind == "place" else "topic"] + (
                _KNOWN if name in archetypes() else 0
            )
            name = _tables()["unit"].get(name, name)
            self._mention(name, name, _is_person(words[-1]), weight)
            self.last = self.last or name
        if kind == "product":
            self.verb = "track"

    def _mention(self, name: str, label: str, person: bool, weight: float) -> _Thing:
        thing = self.things.get(name)
        if thing is None:
            thing = self.things[name] = _Thing(name, label, _plural(label), self.because, person=person)
        thing.weight = max(thing.weight, weight) + (_AGAIN if 0 < thing.times < DRAFT_NAME_WORDS else 0)
        thing.times += 1
        return thing

    def _on_bracket(self, tokens: list[_Token], n: int) -> int:
        """What stands in brackets: values of a status in their order, fields, or examples; never records of their own."""
        end = next((k for k in range(n, len(tokens)) if tokens[k].text in ")]"), len(tokens) - 1)
        inside = tokens[n + 1 : end]
        for token in inside:
            self._signal(token.base, self.last)
        values = _bracket_values(inside)
        thing = self.things.get(self.last)
        if thing is None or len(values) < 2 or self.negated:
            return end + 1
        stages = tokens[n - 1].base in (
            "stage",
            "status",
            "state",
            "column",
            "step",
            "phase",
            "outcome",
            "result",
        )
        if all(_class_of(_singular(value.lower().split()[-1])) == "field" for value in values):
            thing.extra += [_guess_field(value.lower()) for value in values]
        elif stages or any(token.tag in ("P", "J", "-") or token.low.endswith("ed") for token in inside):
            thing.status = tuple(values)
        else:
            thing.extra.append(FieldSpec("kind", "choice", tuple(values)))
        return end + 1


def _bracket_values(tokens: Sequence[_Token]) -> list[str]:
    """The values that commas, slashes, bars, arrows or "or" divide; none when a part is more than a few words."""
    parts = re.split(r"\s*[,/|;>→]\s*|\s+or\s+", " ".join(token.text for token in tokens))
    parts = [capitalised(part.strip())[:LABEL_MAX_CHARS] for part in parts if part.strip()]
    fits = all(len(part.split()) <= DRAFT_NAME_WORDS and part[0].isalpha() for part in parts)
    return list(dict.fromkeys(parts)) if fits else []


def _guess_field(name: str) -> FieldSpec:
    kinds = "date:date due:date expiry:date price:money cost:money fee:money amount:money photo:url picture:url image:url link:url "
    kinds += "phone:phone telephone:phone email:email address:address quantity:number weight:number height:number mileage:number "
    kinds += "duration:duration reason:longtext description:longtext"
    kind = next((kind for word, kind in (pair.split(":") for pair in kinds.split()) if word in name), "text")
    return FieldSpec(_identifier(name, "detail"), kind)


# --- the brief as a whole -------------------------------------------------------------------------------------

_OUT_OF_SCOPE = (
    r"(won.?t|will not|out of|not (in|included|needed|required|part|now|wanted)|non-?goals?|no-?gos?|exclu|later|future|"
    r"phase (2|two)|don.?t|do not|without|never|nice.to.have|fuera|hors|nicht|não)\b"
)
_MARKETING = (
    r"\b(mission|reinvent|passion\w*|we believe|movement|slogan|revolutioni[sz]e?|dream|our vision|together,? (let|we)|proud|"
    r"world.class|state.of.the.art|award\w*|motto|change starts|game.chang\w*|cutting.edge|empower\w*|since (19|20)\d\d)\b"
)
_USEFUL = r"\b(needs?|wants?|must|should|tracks?|manages?|records?|takes?|books?|schedules?)\b"
_ELSEWHERE = (
    r"\b(elsewhere|(in|by|with|through|via) (an?other|the (current|existing|old)|a (separate|different)|our (current|existing))\b|"
    r"out of scope|not (yet )?(needed|required|necessary|part|in scope|included|relevant|wanted|planned)|stays? (in|with|where)|"
    r"remains? in|excluded|no longer|later phase|already (handled|covered|done|solved))"
)


def _quiet(text: str) -> str:
    """The text in composed form, without the characters that Unicode 13 does not know."""
    if text.isascii():
        return text
    import unicodedata

    ranges = ("-".join(rf"\U{int(end, 16):08x}" for end in part.split("-")) for part in _LATER.split())
    return unicodedata.normalize("NFC", re.sub(f"[{''.join(ranges)}]", " ", text))


class _Clause(NamedTuple):
    """A sentence or bullet; `negated` when a heading put it out of scope, `topic` when it is a heading itself."""

    text: str
    negated: bool
    topic: bool


def _clauses(text: str) -> Iterator[_Clause]:
    out = False
    for line in re.split(r"[\r\n\v\f\x85\u2028\u2029]+", text):
        bullet = re.match(r"\s*(?:[-*•‣–+]|\d{1,2}[.)]|\[.?\])\s+", line)
        heading = re.match(r"\s*#+\s", line) or re.fullmatch(r"\s*[*_]{0,2}[^.!?:]{1,60}:[*_]{0,2}\s*", line)
        body = re.sub(r"[*_`#>~]+", " ", line[bullet.end() :] if bullet else line).strip()
        if heading or not bullet:
            out = len(body) < DRAFT_TITLE_CHARS and bool(re.match(_OUT_OF_SCOPE, body.lower()))
        for part in re.split(
            r"(?<=[.!?…;])\s+|(?<=[。！？；؟।])|\s+[•·]\s+|(?<=,)\s+(?=but |and we |and the [a-z]+ (?:is|are) )",
            body,
        ):
            if part.strip():
                yield _Clause(part.strip(), out, bool(heading))


def _read_english(text: str) -> tuple[_Reader, list[dict[str, str]]]:
    """The reader after all sentences, and the sentences that say nothing."""
    reader, dropped = _Reader(), []
    for clause in _clauses(text):
        plain = clause.text.lower() if clause.text.isupper() else clause.text
        low, because = plain.lower(), clause.text[:BECAUSE_MAX_CHARS]
        if re.search(_MARKETING, low) and not re.search(_USEFUL, low):
            dropped.append({"text": because, "reason": "filler: it says nothing about records"})
            continue
        gone = clause.negated or bool(re.search(_ELSEWHERE, low))
        head = re.match(r"[^:(]{1,60}:\s", plain)
        if head and not gone and all(token.tag != "V" for token in _tokens(head[0])):
            reader.read(_tokens(head[0]), because, topic=True)
            plain = plain[head.end() :]
        reader.read(_tokens(plain), because, topic=clause.topic and not head, negated=gone)
    return reader, dropped


def _choose(reader: _Reader, text: str, left_out: list[dict[str, str]]) -> list[_Thing]:
    """The things that become records: the strongest, in the order of the brief; why others are not goes to `left_out`."""
    things = [thing for thing in reader.things.values() if thing.name not in reader.blocked]
    for short in [
        thing for thing in things if " " not in thing.name
    ]:  # "order" is the "purchase order" said before
        longer = [
            thing for thing in things if thing.name.endswith(f" {short.name}") and thing.weight >= _SPARE
        ]
        if len(longer) == 1 and find_archetype(short.name).name in ("", longer[0].kind.name):
            longer[0].weight = max(longer[0].weight, short.weight)
            longer[0].count, longer[0].status = (
                longer[0].count or short.count,
                longer[0].status or short.status,
            )
            longer[0].extra, longer[0].links = longer[0].extra + short.extra, longer[0].links + short.links
            things.remove(short)
    ranked = sorted(things, key=lambda thing: -thing.weight)
    sure = [thing for thing in ranked if thing.weight >= _SURE]
    spare = [thing for thing in ranked if _SPARE <= thing.weight < _SURE][
        : max(0, DRAFT_SPARE_MAX - len(sure))
    ]
    best = [*sure, *spare][:DRAFT_ENTITIES_MAX]
    left_out += [{"text": name, "reason": reason} for name, reason in reader.blocked.items()]
    left_out += [
        {"text": thing.name, "reason": "a first draft holds no more"} for thing in sure if thing not in best
    ]
    chosen = [thing for thing in things if thing in best]
    if len(chosen) > 1:
        return chosen
    words = [token.base for token in _tokens(text.lower())]
    implied = next(
        (_tables()["implied"][word] for word in words if word in _tables()["implied"]),
        [] if chosen else ["item"],
    )
    new = [name for name in implied if name not in [*(thing.name for thing in chosen), *reader.blocked]]
    return chosen + [
        _Thing(name, name, _plural(name), text[:BECAUSE_MAX_CHARS], person=_is_person(name))
        for name in new or ([] if chosen else ["item"])
    ]


def _title(text: str, things: Sequence[_Thing]) -> str:
    """The product's name: what the brief opens with, if that is a name; else its first records."""
    first = next((clause.text for clause in _clauses(text)), "")
    head = re.match(r"[^:.!?,;(\n]{3,60}(?=:|\s\(|\.?$|\.\s)", first)
    words = re.findall(r"[^\W_][\w'’&/-]*|&", head[0]) if head else []
    if (
        words
        and len(words) <= DRAFT_TITLE_WORDS
        and not any(token.tag in ("V", "R") for token in _tokens(" ".join(words)))
    ):
        name = " ".join(words)
        return capitalised(name.lower() if name.isupper() and len(words) > 1 else name)[
            :DRAFT_TITLE_CHARS
        ].strip()
    return capitalised(" and ".join(thing.plural for thing in things[:2]))[:DRAFT_TITLE_CHARS].strip()


_AMOUNT = (
    r"(?:(?P<sign>[£$€])\s?)?(?P<number>\d{1,3}(?:,\d{3})+|\d{1,7}(?:[.,]\d{1,2})?)[\s-]?(?:(?P<unit>%|percent|€|£|eur|usd|gbp|"
    r"euros?|dollars?|pounds?|hours?|hrs?|h|minutes?|mins?|min|days?|weeks?|months?|días|dias|jours?|tagen?|stunden?|horas?|heures?)"
    r"(?![^\W_]))?"
)


def _settings_of(text: str) -> list[dict[str, Any]]:
    """Numbers with a unit are rules that a settings screen can change."""
    found: dict[str, dict[str, Any]] = {}
    for clause in _clauses(text):
        for match in re.finditer(_AMOUNT, clause.text.lower()):
            unit = match["unit"] or ""
            kind = (
                "money"
                if match["sign"] or re.match("[€£]|eur|usd|gbp|dol|pou", unit)
                else "percent"
                if unit[:1] in ("%", "p")
                else ""
            )
            minutes = {"h": MINUTES_PER_HOUR, "s": MINUTES_PER_HOUR}.get(
                unit[:1], 1 if unit.startswith("min") else 0
            )
            if not (kind or unit) or len(found) == DRAFT_SETTINGS_MAX:
                continue
            text_number = match["number"]
            plain = text_number.replace(",", "" if re.fullmatch(r"\d{1,3}(,\d{3})+", text_number) else ".")
            value = float(plain) if "." in plain else int(plain)
            before = [
                t.low for t in _tokens(clause.text[: match.start()].lower()) if t.tag in ("N", "V", "P", "G")
            ][-2:]
            after = [t.base for t in _tokens(clause.text[match.end() :].lower())[:1] if t.tag == "N"]
            label = capitalised(" ".join(after or before) or "limit")[:DRAFT_TITLE_CHARS]
            setting = {
                "id": _identifier(label, "limit"),
                "label": label,
                "type": kind or ("duration" if minutes else "number"),
            }
            setting["value"] = value * minutes if minutes and not kind else value
            setting["unit"] = (
                _currency(match[0]) if kind == "money" else "%" if kind else "minutes" if minutes else unit
            )
            found.setdefault(setting["id"], {**setting, "because": clause.text[:BECAUSE_MAX_CHARS]})
    return list(found.values())


def _currency(text: str) -> str:
    known = {"GBP": "£|gbp|pound", "USD": r"\$|usd|dollar", "CHF": "chf"}
    return next((code for code, signs in known.items() if re.search(signs, text.lower())), "EUR")


def _read_brief(brief: str) -> _Reading:
    text = _quiet(brief)
    lang = _language(text)
    left_out: list[dict[str, str]] = []
    if lang == "en":
        reader, left_out = _read_english(text)
        things = _choose(reader, text, left_out)
    else:
        reader = _read_other(text, lang)
        things = _choose(reader, text, left_out)
    roles = [role for role in reader.roles.values() if role.name not in reader.blocked]
    short = [role for role in roles if not any(role.name.endswith(f" {other.name}") for other in roles)]
    direction = "rtl" if lang in ("ar", "he") else "ltr"
    title = _title(text, things)
    return _Reading(
        lang,
        direction,
        title,
        things,
        short[:DRAFT_ROLES_MAX],
        reader.signals,
        _settings_of(text),
        left_out,
        _currency(text),
    )


# --- other languages ------------------------------------------------------------------------------------------
# Small tables: a kind of record or a person in English, Spanish, French, German, Portuguese; then words a language uses
# that name no record, and the stems of words that ask for a screen. Persons after "roles" are staff: roles, no records.
_CONCEPTS = """
appointment cita rendez-vous termin/sprechstunde consulta/marcação; customer cliente client kunde/kundin cliente;
patient paciente patient/patiente patient/patientin paciente; order pedido commande bestellung/auftrag pedido/encomenda;
invoice factura facture rechnung fatura; payment pago paiement/règlement zahlung pagamento; product producto produit produkt
produto; stock_item artículo/existencia article artikel artigo; supplier proveedor fournisseur lieferant fornecedor; employee
empleado employé/salarié mitarbeiter/mitarbeiterin funcionário/colaborador; member socio/miembro adhérent/membre mitglied
sócio/membro; volunteer voluntario bénévole freiwillige/ehrenamtliche voluntário; student alumno/estudiante élève/étudiant
schüler/teilnehmer aluno/estudante; course curso cours/formation kurs curso; lesson clase leçon/séance unterricht aula; room
sala/habitación salle/chambre raum/zimmer sala/quarto; booking reserva réservation buchung/reservierung reserva; loan préstamo
prêt/emprunt ausleihe/leihe empréstimo; equipment equipo/material matériel/équipement gerät/ausrüstung equipamento/material;
tool herramienta outil werkzeug ferramenta; vehicle vehículo/coche véhicule/voiture fahrzeug/auto veículo/carro; route
ruta tournée/trajet route/tour rota; parcel paquete/entrega colis/livraison paket/lieferung pacote/entrega; task tarea tâche
aufgabe tarefa; project proyecto projet projekt projeto; incident incidencia/incidente incident vorfall/störung incidente;
inspection inspección inspection/contrôle prüfung/inspektion/kontrolle inspeção/vistoria; repair reparación réparation
reparatur reparo/conserto; visit visita visite/intervention besuch visita; animal mascota/animal animal tier/haustier
animal/pet; vaccination vacuna vaccin/vaccination impfung vacina; owner dueño/propietario propriétaire besitzer/halter
dono/proprietário/tutor; property vivienda/piso logement/appartement wohnung/immobilie imóvel/apartamento; tenant inquilino
locataire mieter inquilino; contract contrato contrat/bail vertrag contrato; document documento document dokument/unterlage
documento; case expediente/caso dossier akte/fall processo/caso; complaint queja/reclamación réclamation/plainte beschwerde
reclamação; request solicitud/petición demande anfrage/antrag solicitação; event evento événement/sortie veranstaltung evento;
shift turno créneau/garde schicht turno; holiday vacaciones congé urlaub férias; meter contador compteur zähler medidor; recipe
receta recette rezept receita; menu menú menu/carte speiseplan/menü cardápio; table mesa table tisch mesa; guest
huésped/invitado invité/hôte gast hóspede/convidado; donation donación don/donation spende doação; donor donante donateur
spender doador; book libro livre buch livro; message mensaje message nachricht mensagem; reminder recordatorio/aviso rappel/relance
erinnerung lembrete; sample muestra échantillon probe amostra; machine máquina machine maschine máquina; medicine medicamento
médicament medikament medicamento; treatment tratamiento traitement/soin behandlung tratamento; quote presupuesto devis angebot
orçamento; team equipo équipe mannschaft/team equipe; player jugador joueur spieler jogador; match partido match spiel
jogo/partida; plot parcela parcelle parzelle/beet lote/canteiro; tree árbol arbre baum árvore; family familia famille familie
família; child niño enfant kind criança; site obra/sede chantier baustelle/standort obra; defect defecto défaut mangel defeito;
note nota/historial note/fiche notiz nota/prontuário; result resultado résultat ergebnis/messwert resultado; roles r r r r;
vet veterinario vétérinaire tierarzt/tierärztin veterinário; receptionist recepcionista/recepción réceptionniste/accueil empfang
recepcionista/recepção; nurse enfermera/enfermero infirmier/infirmière pflegekraft enfermeiro/enfermeira; doctor médico médecin
arzt/ärztin médico; technician técnico technicien techniker técnico; manager gerente/encargado responsable/gérant leiter/chef
gerente/gestor; administrator administrador administrateur verwaltung administrador; teacher profesor/maestro
professeur/enseignant lehrer/lehrerin professor; driver conductor/chofer chauffeur/conducteur fahrer motorista; secretary
secretaria/secretaría secrétaire/secrétariat sekretariat secretária/secretaria; cook cocinero/cocina cuisinier koch/küche
cozinheiro; caretaker conserje gardien/concierge hausmeister zelador/porteiro; accountant contable comptable buchhaltung
contador; salesperson vendedor/comercial vendeur/commercial verkäufer/vertrieb vendedor; coach entrenador entraîneur trainer
treinador; worker operario/trabajador ouvrier monteur operário; supervisor supervisor superviseur vorarbeiter/meister supervisor;
treasurer tesorero trésorier kassenwart tesoureiro; organizer organizador organisateur organisator organizador
"""
_LANGUAGES = {
    "es": "el la los las un una unos unas de del y o en por para con que se su sus al es lo como cada cuando aquí más todo todas este",
    "fr": "le la les un une des de du et ou en par pour avec que se sa son ses au aux est il elle on nous chaque dans qui pas sur plus l d",
    "de": "der die das den dem des ein eine einen einem einer und oder in im mit für von zu zum zur auf ist sind wir sie wird werden bei",
    "pt": "o a os as um uma de do da dos das e ou em no na por para com que se seu sua ao é como cada quando não nós mais todos aos",
    "en": "the a an of and or in for with to is are we on by from our that their it each as at be can who when",
}
_NO_RECORDS = """
aplicación app sistema herramienta clínica empresa semana día mes año hora agenda lista tabla calendario página web barrio ciudad
línea fecha nombre precio excel teléfono móvil asociación escuela taller tienda oficina panel informe application logiciel outil
semaine jour mois année heure quartier ville ligne date nom prix retour retard permanence association entreprise cabinet école
atelier site tableau calendrier planning liste rapport anwendung werkstatt verein firma woche tag monat jahr uhr datum name preis
kalender liste übersicht bericht tabelle stadt schule praxis büro system aplicativo ferramenta empresa semana dia mês ano hora
agenda lista tabela calendário página bairro cidade linha data nome preço telefone celular associação escola oficina loja painel
relatório vez forma tipo parte manera cosa façon chose weise sache möglichkeit
"""
_STEMS = """
calendar:agend,reserv,réserv,calend,kalend,termin,buch,planif,planen,marcar,turno,schicht,rendez board:aprob,aprov,approuv,valid,
genehm,freigeb,tablero,quadro,kanban,承認,审批,موافق inbox:avis,recordat,notific,notif,rappel,benachricht,erinner,lembr,mensag,
mensaj,messag,nachricht,通知,提醒,تذكير,メッセージ report:inform,rapport,bericht,auswert,statist,estad,estat,export,relat,统计,
报表,集計,レポート,تقرير dashboard:resum,panel,tableau,übersicht,painel,alert,retard,overdue,überfäll,atras,赤,一覧,期限,لوحة
settings:ajust,config,réglag,paramèt,einstell,设置,設定,إعداد calendar:予約,预约,日历,カレンダー,موعد,مواعيد,حجز
"""
_NEGATIONS = r"\b(no|sin|nada|pas|sans|aucune?|jamais|kein\w*|nicht|ohne|não|nao|sem|nem|nunca|без|не)\b|不要|不需要|无需|لا|بدون|בלי|ללא"
_ENDINGS = {  # plural endings and what they become
    "es": "iones:ión ces:z res:r les:l des:d nes:n ses:s s:",
    "fr": "eaux:eau aux:al s: x:",
    "pt": "ões:ão ães:ão ais:al éis:el res:r zes:z ns:m s:",
    "de": "innen:in ungen:ung ionen:ion heiten:heit keiten:keit schaften:schaft äume:aum ände:and äge:ag äte:ät äger:ager "
    "en: e: er: n: s: ",
}
# Scripts: the language that stands for each and its letters, the surer first.
_SCRIPTS = (
    ("ja", "[\u3041-\u30ff]"), ("ko", "[\uac00-\ud7a3\u1100-\u11ff]"), ("zh", "[\u3400-\u9ffc]"), ("ar", "[\u0620-\u06ff]"),
    ("he", "[\u05d0-\u05ea]"), ("ru", "[\u0400-\u052f]"), ("el", "[\u0370-\u03ff]"), ("hi", "[\u0900-\u097f]"), ("th", "[\u0e00-\u0e7f]"),
)  # fmt: skip
# What divides words, what is cut off their ends, who is a person and what denies, in scripts without more grammar here.
_GENERIC = {
    "ja": ("[^\u3400-\u9ffc\u30a1-\u30ff々]+", "^(社内|社外|全|各|新)|(管理|アプリ|システム|機能|画面|確認|情報|一覧|登録|申請書)+$",
           "([員者師長客生係手人]|総務|経理|営業|人事|受付|担当|スタッフ|マネージャー)$", "(不要|しない|なし|ません|含まない)"),
    "zh": ("[^\u3400-\u9ffc]+|的|和|与|及|或|在|对|把|将|给|为|从|到|可以|需要|我们|他们|能|会|要|有|是|每|个|查看|管理|记录|提交|使用|通过|进行|审批|系统|应用|平台",
           "(管理|系统|功能|列表|页面|信息)+$", "([员者师长生]|经理|司机|客户|护士|医生|老师)$", "(不要|不需要|无需|没有|不用)"),
    "ko": (r"[^\uac00-\ud7a3]+", "(에서|으로|에게|까지|부터|들은|들이|들을|은|는|이|가|을|를|의|에|로|과|와|도|들)$", "(사원|직원|관리자|자|사|생|원)$",
           "(없|않|불필요|제외)"),
    "ar": (r"[^\u0620-\u065f\u0670-\u06d3]+", "^(وال|بال|لل|فال|ال)", "(موظف|مدير|طبيب|ممرض|معلم|سائق|عميل)", "(لا نحتاج|لا نريد|بدون|لا )"),
}  # fmt: skip
_GENERIC_NOISE = "表示 承認 赤 行 過 期限 返却期限 一覧 必要 利用 場合 機能 アプリ システム 我们 用户 نحتاج تطبيق نظام إلى على كل في من مع هذا التي الذي يمكن"


def _language(text: str) -> str:
    """The language: by script where letters are not Latin, else by the little words."""
    letters = re.findall(r"[^\W\d_]", text)
    latin = sum(letter < "\u0250" for letter in letters)
    for lang, script in _SCRIPTS:
        if len(re.findall(script, text)) > (0 if lang == "ja" and 2 * latin < len(letters) else latin):
            return lang
    words = re.findall(r"[^\W\d_]+", text.lower())
    votes = {lang: sum(word in little.split() for word in words) for lang, little in _LANGUAGES.items()}
    foreign = max(("es", "fr", "de", "pt"), key=lambda lang: votes[lang])
    return foreign if votes[foreign] > votes["en"] else "en"


@once
def _concepts() -> Mapping[str, Mapping[str, tuple[str, bool]]]:
    """By language: what a word (singular) is in English and whether it is somebody of the staff."""
    tables: dict[str, dict[str, tuple[str, bool]]] = {lang: {} for lang in ("es", "fr", "de", "pt")}
    staff = False
    for row in _CONCEPTS.split(";"):
        english, *columns = row.split()
        staff = staff or english == "roles"
        for lang, words in zip(tables, columns):
            for word in words.split("/"):
                tables[lang].setdefault(word, (english.replace("_", " "), staff))
    return tables


def _known_form(word: str, lang: str) -> tuple[str, str, bool]:
    """The singular of a foreign noun, its English name or "", whether it is a role; German compounds by their last part."""
    table = _concepts()[lang]
    forms = [
        word,
        *(
            word[: -len(end)] + to
            for end, _, to in (e.partition(":") for e in _ENDINGS[lang].split())
            if word.endswith(end)
        ),
    ]
    for form in forms:
        if form in table:
            return form, *table[form]
    if lang == "de":
        for form in forms:
            for known in sorted(table, key=len, reverse=True):
                if form.endswith(known) and len(known) > SHORT_WORD_CHARS:
                    return form, *table[known]
    return (forms[1] if len(forms) > 1 and lang != "de" else word), "", False


def _read_other(text: str, lang: str) -> _Reader:
    """A reader filled from a brief in another language than English."""
    reader = _Reader()
    for clause in _clauses(text):
        reader.because = clause.text[:BECAUSE_MAX_CHARS]
        low = clause.text.lower()
        for row in _STEMS.replace(",\n", ",").split():
            kind, stems = row.split(":")
            if any(stem in low for stem in stems.split(",")):
                reader.signals.setdefault(kind, (reader.because, ""))
        for part in re.split(r"[;:!?]|,? (?:pero|mais|aber|mas|sondern) ", clause.text):
            _read_words(reader, part, lang) if lang in _ENDINGS else _read_script(reader, part, lang)
    return reader


def _read_words(reader: _Reader, text: str, lang: str) -> None:
    """Spanish, French, German, Portuguese: known nouns, and unknown ones that an article or a German capital gives away."""
    words = re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*|[().,]", text)
    little, noise = _LANGUAGES[lang].split(), _NO_RECORDS.split()
    deny = re.search(_NEGATIONS, text.lower())
    denied = deny.start() if deny else len(text)
    if re.search(
        r"nicht (nötig|benötigt|gebraucht|erforderlich|teil)|fuera de|hors |no (hace|es|son) |n'est pas",
        text.lower(),
    ):
        denied = 0
    position, inside = 0, False
    for n, word in enumerate(words):
        position = text.find(word, position) + len(word)
        inside = (inside or word == "(") and word != ")"
        low = word.lower()
        if inside or len(low) < DRAFT_NAME_WORDS or low in little or low in noise:
            continue
        name, english, staff = _known_form(low, lang)
        before = words[n - 1].lower() if n else ""
        capital = lang == "de" and n > 0 and word[0] != low[0]
        if position > denied and (english or capital or before in little):
            reader.blocked.setdefault(name, "the brief says that it is not wanted")
        elif staff or english in ("volunteer", "employee", "tenant"):
            reader.roles.setdefault(name, _Role(name, reader.because, [], []))
        if (
            position > denied
            or staff
            or not (english or capital or (before in little[: 2 * 4] and low.endswith("s") and n))
        ):
            continue
        thing = reader._mention(
            name,
            word if lang == "de" and name == low else capitalised(name) if lang == "de" else name,
            False,
            0.7 if english else _SPARE,
        )
        thing.kind = find_archetype(english or "~", person=_is_person(english)) if english else thing.kind
        thing.plural = word if name != low else name + ("" if lang == "de" else "s")


def _read_script(reader: _Reader, text: str, lang: str) -> None:
    """Other scripts: the words that stand between what divides them, those named twice or as an object before the rest."""
    divide, cut, person, deny = _GENERIC.get(lang, (r"[\W\d_]+", r"$^", r"$^", r"\b(не|без|לא|בלי)\b"))
    for part in re.split("[、，,。.]", text):
        denied = re.search(deny, part)
        for match in re.finditer(rf"(?:(?!{divide}).)+", part):
            word = re.sub(cut, "", match[0])
            after = part[match.end() : match.end() + 1]
            if len(word) < 2 or word in _GENERIC_NOISE.split() or len(word) > DRAFT_ID_CHARS:
                continue
            if denied:
                reader.blocked.setdefault(word, "the brief says that it is not wanted")
            elif re.search(person, word):
                reader.roles.setdefault(word, _Role(word, reader.because, [], []))
            else:
                thing = reader._mention(word, word, False, 0.7 if after in ("を", "の", "し") else _SPARE)
                thing.plural = word


# --- from what was read to entities ---------------------------------------------------------------------------

_PARTIES = (
    "contact customer employee member volunteer candidate patient student guest supplier lead player company"
)
_TITLES = (
    "name title number reference subject code tag registration about passenger barcode recipient medicine vaccine topic purpose "
    "batch_no tag_no tracking_no version place"
)
_PAST = (
    r"since|joined|started|born|date_of|.*(created|installed|purchased|acquired|posted|planted|opened|issued|found|enrolled|"
    r"received|written|updated|last|spent|applied|paid|recorded|ordered|read_at|published|returned|done)"
)
_ENDS = "ends_at ends_on until to departure due_on due_back renews_on valid_to expires_on"


class _Reading(NamedTuple):
    """What a brief says, in its order; `signals` maps a screen type to (words, name of a thing)."""

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
    """`text` in lower-case ASCII letters, digits and single spaces: accents dropped, other scripts gone."""
    import unicodedata

    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss").replace("ø", "o").replace("ł", "l"))
    return re.sub("[^a-z0-9]+", " ", plain.encode("ascii", "ignore").decode("ascii").lower()).strip()


def _identifier(text: str, fallback: str, taken: Sequence[str] = ()) -> str:
    """An id from words: ASCII, underscores, a letter first, new among `taken`."""
    stem = (re.sub("^[0-9 ]+", "", _ascii(text)) or fallback)[:DRAFT_ID_CHARS].strip().replace(" ", "_")
    return next(
        name
        for n in range(1, len(taken) + 2)
        for name in [f"{stem}_{n}" if n > 1 else stem]
        if name not in taken
    )


def _short_ids(names: Sequence[str], fallbacks: Sequence[str]) -> list[str]:
    """Ids for names: the last word where no other name ends in it, else the whole name."""
    ids: list[str] = []
    heads = [_ascii(name).split(" ")[-1] for name in names]
    for name, head, fallback in zip(names, heads, fallbacks):
        ids.append(_identifier(head if heads.count(head) == 1 else name, fallback, ids))
    return ids


def _label_of(name: str) -> str:
    return capitalised(
        " ".join(w.upper() if w in ("sku", "isbn", "eta", "vip", "url") else w for w in name.split("_"))
    )


def _meant(spec: FieldSpec, things: Sequence[_Thing], own: _Thing) -> _Thing | None:
    """The thing that a ref or person field points at, if the prototype has it: by name, by kind, or as another party."""
    if spec.type not in ("ref", "person"):
        return None
    others, words = [thing for thing in things if thing is not own], spec.id.replace("_", " ")
    named = [thing for thing in others if words in (thing.name, thing.kind.name)]
    kin = [thing for thing in others if spec.target and spec.target in (thing.kind.name, thing.name)]
    parties = [t for t in others if spec.target in _PARTIES.split() and t.kind.name in _PARTIES.split()]
    return next(iter([*named, *kin, *parties]), None)


def _field(spec: FieldSpec, target: _Thing | None, currency: str) -> dict[str, Any]:
    kind = spec.type
    if kind in ("ref", "person"):
        kind = (
            "ref" if target else "person" if kind == "person" or spec.target in _PARTIES.split() else "text"
        )
    field: dict[str, Any] = {"id": spec.id, "label": _label_of(spec.id), "type": kind}
    if kind in CHOICE_TYPES:
        field["values"] = list(spec.values)
    if kind in ("number", "money", "percent", "duration"):
        field["min"] = 0
    if kind == "percent":
        field["max"] = PERCENT_MAX
    if kind == "ref" and target:
        field["entity"] = target.id
    if kind == "money":
        field["unit"] = currency
    return field


def _reaches(start: str, goal: str, edges: Mapping[str, Sequence[str]]) -> bool:
    """Whether references lead from one entity to another."""
    seen = [start]
    for name in seen:
        seen += [other for other in edges[name] if other not in seen]
    return goal in seen


def _fields_of(
    thing: _Thing, things: Sequence[_Thing], edges: dict[str, list[str]], currency: str
) -> list[dict[str, Any]]:
    """A thing's fields; `edges` keeps references from running in a circle, so that parents can be made before children."""
    names = [spec.id for spec in thing.kind.fields]
    linked = [
        other
        for other in things
        if other.name in thing.links and other is not thing and other.id not in names
    ]
    fields: dict[str, dict[str, Any]] = {}
    for spec in [
        *thing.kind.fields,
        *thing.extra,
        *(FieldSpec(other.id, "ref", (), other.name) for other in linked),
    ]:
        target = _meant(spec, things, thing)
        again = target is not None and target.id in edges[thing.id] and spec.target != "team"
        if target and (again or _reaches(target.id, thing.id, edges)):
            target, spec = (
                None,
                spec._replace(type="text" if spec.target not in _PARTIES.split() else "person"),
            )
        elif target:
            edges[thing.id].append(target.id)
        if not (again and spec.id not in names) and spec.id not in ("id", "status"):
            fields.setdefault(spec.id, _field(spec, target, currency))
    return list(fields.values())


def _entity(thing: _Thing, fields: list[dict[str, Any]]) -> dict[str, Any]:
    """The entity of a thing: a field that names its records first, then the status, then the rest."""
    naming = [
        f for n, f in enumerate(fields) if f["type"] == "text" and (n == 0 or f["id"] in _TITLES.split())
    ]
    display = naming[0] if naming else {"id": "reference", "label": "Reference", "type": "text"}
    values = list(thing.status or thing.kind.status)
    status = (
        [{"id": "status", "label": "Status", "type": "status", "values": values, "default": values[0]}]
        if values
        else []
    )
    ordered = [display, *status, *(field for field in fields if field["id"] != display["id"])][:FIELDS_MAX]
    for field in ordered[:DRAFT_REQUIRED_FIELDS]:
        if field["type"] not in ("longtext", "boolean", "tags", "rating"):
            field["required"] = True
    names = {
        "label": capitalised(thing.label)[:LABEL_MAX_CHARS],
        "plural": capitalised(thing.plural)[:LABEL_MAX_CHARS],
    }
    entity = {
        "id": thing.id,
        **names,
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


class _Plan(NamedTuple):
    """What every variant shares: the reading, its entities, the place of the lead one, ids of the roles, interface words."""

    reading: _Reading
    entities: list[dict[str, Any]]
    lead: int
    role_ids: list[str]
    words: Mapping[str, str]

    @property
    def ranked(self) -> list[dict[str, Any]]:
        """The entities, the lead one first."""
        return [self.entities[self.lead], *self.entities[: self.lead], *self.entities[self.lead + 1 :]]


def _make_plan(reading: _Reading) -> _Plan:
    things = reading.things
    for thing, name in zip(
        things, _short_ids([t.name for t in things], [t.kind.name or "record" for t in things])
    ):
        thing.id = name
    lead = max(
        range(len(things)), key=lambda n: (things[n].kind.name not in _PARTIES.split(), things[n].weight, -n)
    )
    if not any(len(thing.status or thing.kind.status) >= BOARD_COLUMNS_MIN for thing in things):
        things[lead].status = ("New", "Active", "Done")
    edges: dict[str, list[str]] = {thing.id: [] for thing in things}
    fields = [_fields_of(thing, things, edges, reading.currency) for thing in things]
    if not any(field["type"] in DATE_TYPES for each in fields for field in each):
        fields[lead].append({"id": "due_on", "label": "Due on", "type": "date"})
    entities = [_entity(thing, each) for thing, each in zip(things, fields)]
    names = [role.name for role in reading.roles]
    words = dict(zip(_UI_NAMES.split(), _UI_WORDS.get(reading.lang, _UI_WORDS["en"]).split("|")))
    return _Plan(reading, entities, lead, _short_ids(names, ["role"] * len(names)), words)


# --- screens --------------------------------------------------------------------------------------------------


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
    return {
        "board": BOARD_COLUMNS_MIN <= len(_statuses(entity)) <= BOARD_COLUMNS_MAX,
        "calendar": bool(_plan_date(entity)),
        "timeline": bool(_ids(entity, DATE_TYPES)),
        "inbox": True,
        "report": bool(_ids(entity, (*CHOICE_TYPES, *NUMERIC_TYPES))),
    }[kind]


def _view(plan: _Plan, kind: str) -> Iterator[dict[str, Any]]:
    """A board, calendar, timeline, inbox or report: of the thing that the brief names with it, else of one it suits."""
    because, named = plan.reading.signals.get(kind, ("", ""))
    things = plan.reading.things
    order = [n for n, thing in enumerate(things) if thing.name == named]
    order += [plan.lead] * (kind in things[plan.lead].kind.screens) + [
        n for n, t in enumerate(things) if kind in t.kind.screens
    ]
    entity = next(
        (plan.entities[n] for n in [*order, plan.lead, *range(len(things))] if _fits(kind, plan.entities[n])),
        None,
    )
    if entity is None:
        return
    screen = {
        "id": f"{entity['id']}_{kind}",
        "title": _titled(plan.words[kind], entity["plural"]),
        "type": kind,
    }
    screen.update(because=because or entity["because"], entity=entity["id"])
    groups, measures = (
        _ids(entity, CHOICE_TYPES),
        _ids(entity, ("money", "number", "duration", "rating", "percent")),
    )
    if kind in ("calendar", "timeline"):
        screen["dateField"] = start = _plan_date(entity) or _ids(entity, DATE_TYPES)[0]
        type_of = {field["id"]: field["type"] for field in entity["fields"]}
        ends = [name for name in _ids(entity, (type_of[start],)) if name in _ENDS.split() and name != start]
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


def _titled(pattern: str, name: str) -> str:
    return pattern.replace("%", name)[:LABEL_MAX_CHARS]


def _record_screens(
    plan: _Plan, entity: Mapping[str, Any], kind: str, guided: bool
) -> Iterator[dict[str, Any]]:
    """List (or cards), detail and form of one entity."""
    name, shared = entity["id"], {"because": entity["because"], "entity": entity["id"]}
    shown = {"columns": _columns(entity), "filters": _filters(entity)}
    yield {"id": f"{name}_list", "title": entity["plural"], "type": kind, **shared, **shown}
    yield {"id": f"{name}_detail", "title": entity["label"], "type": "detail", **shared}
    fields = [field["id"] for field in entity["fields"]]
    steps = [fields[n : n + DRAFT_STEP_FIELDS] for n in range(0, len(fields), DRAFT_STEP_FIELDS)]
    label = (
        entity["label"]
        if entity["label"][1:2].isupper() or plan.reading.lang == "de"
        else entity["label"].lower()
    )
    form = {"id": f"{name}_form", "title": _titled(plan.words["form"], label), "type": "form", **shared}
    yield {**form, **({"steps": steps} if guided else {})}


def _widgets(plan: _Plan) -> Iterator[dict[str, Any]]:
    """Tiles that count what is open, a sum, what is late and what comes, then one chart."""
    words, ranked = plan.words, plan.ranked
    for entity in [entity for entity in ranked if _statuses(entity)][:DRAFT_TILES_MAX]:
        values = _statuses(entity)
        still = values[: -2 if len(values) > BOARD_COLUMNS_MIN else -1] or values
        title = _titled(words["open"], entity["plural"])
        yield {
            "kind": "count",
            "entity": entity["id"],
            "title": title,
            "filter": {"field": "status", "values": still},
        }
    for entity in [entity for entity in ranked if _ids(entity, ("money",))][:1]:
        money = _ids(entity, ("money",))[0]
        title = f"{entity['plural']}: {_label_of(money).lower()}"[:LABEL_MAX_CHARS]
        yield {"kind": "sum", "entity": entity["id"], "title": title, "measure": money}
    for when, entity in zip(("overdue", "next_30_days"), [e for e in ranked if _plan_date(e)] * 2):
        chosen = {"field": _plan_date(entity), "when": when}
        yield {
            "kind": "list",
            "entity": entity["id"],
            "title": _titled(words[when], entity["plural"]),
            "filter": chosen,
        }
    yield {
        "kind": "bars",
        "entity": ranked[0]["id"],
        "title": _titled(words["by_status"], ranked[0]["plural"]),
    }


# --- the six variants -----------------------------------------------------------------------------------------
# A paragraph each: letter, axes (in the schema's order), views that it puts first; the question it answers, whom it serves,
# what that costs. %s stands for the lead records, %o for the others, %r for the roles.
_VARIANTS = """
a sidebar dashboard table page page compact
Does it help most to work through %s as one list?
For %r at a desk, with much to get through. The day opens on counts and on what is late; %s stand in one table to search, sort
and filter, and %o are a click away in the side bar.
Dense tables want a wide screen, and how work flows from one step to the next stays in the background.

b topbar board board panel dialog comfortable
Does it help most to see where %s stand and to move them on?
For %r when the question is what happens next. %s lie on a board in the order of their states and move along it; a record opens
beside the board, so that nobody loses their place. %o support it from the top bar.
A board shows fewer records at once than a table, and dates only appear on its cards.

c sidebar calendar calendar panel dialog comfortable timeline
Does it help most to plan %s in time?
For %r who think in days and weeks. Gaps, clashes and what is to come are seen on the calendar first, what has happened on the
timeline; %s and %o hang on the dates.
Whatever has no date is only found through the lists.

d tabs cards cards page page roomy
Does it help most to have %s at hand on the way?
For %r on a telephone, standing up, perhaps with one hand. %s are large cards, the main places are tabs under the thumb, and
every record has a page of its own with %o linked.
Less fits on a screen, so comparing many records takes more scrolling.

e topbar inbox inbox panel page compact report
Does it help most to keep up with what is new in %s?
For %r who answer, approve and keep an overview. What came in waits in an inbox and is dealt with one by one; reports tell how
%s are doing, and %o are looked up when needed.
It suits those who respond; whoever plans ahead has to leave the first screen.

f topbar form form page guided roomy
Does it help most to be led through one task at a time?
For %r who do this seldom or in a hurry. The first screen asks for what a new record needs, a few questions a step; %s and %o
come after that.
Practised people are slowed down by the steps.
"""
# The interface's own words in the languages that the word tables know.
_UI_NAMES = "dashboard board calendar timeline inbox report settings form open overdue next_30_days by_status"
_UI_WORDS = {
    "en": "Overview|% board|% calendar|% timeline|Inbox|% in numbers|Settings|New %|Open: %|Overdue: %|Next 30 days: %|% by status",
    "es": "Resumen|Tablero: %|Calendario: %|Cronología: %|Bandeja de entrada|Informe: %|Ajustes|Alta: %|Abiertos: %|Vencidos: %|"
    "Próximos 30 días: %|% por estado",
    "fr": "Vue d'ensemble|Tableau : %|Calendrier : %|Chronologie : %|Boîte de réception|Rapport : %|Réglages|Saisie : %|En cours : %|"
    "En retard : %|30 prochains jours : %|% par statut",
    "de": "Übersicht|Tafel: %|Kalender: %|Verlauf: %|Eingang|Bericht: %|Einstellungen|Neu: %|Offen: %|Überfällig: %|"
    "Nächste 30 Tage: %|% nach Status",
    "pt": "Visão geral|Quadro: %|Calendário: %|Linha do tempo: %|Caixa de entrada|Relatório: %|Configurações|Cadastro: %|Em aberto: %|"
    "Atrasados: %|Próximos 30 dias: %|% por estado",
}


class _Variant(NamedTuple):
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
        views = [
            kind
            for kind in (axes[1], *axes[len(names) :])
            if kind in ("board", "calendar", "timeline", "inbox", "report")
        ]
        table[letter] = _Variant(dict(zip(names, axes)), views, [question, " ".join(rest[:-1]), rest[-1]])
    return table


def _sentence(plan: _Plan, text: str) -> str:
    """A variant's sentence about the brief's own records and roles."""

    def listed(names: Sequence[str], otherwise: str) -> str:
        few = names[:DRAFT_TILES_MAX]
        return " and ".join(filter(None, [", ".join(few[:-1]), *few[-1:]])) or otherwise

    lead, *others = [entity["plural"] for entity in plan.ranked]
    others = [name if name[1:2].isupper() else name.lower() for name in others]
    roles = listed([f"the {role.name}" for role in plan.reading.roles], "people")
    named = {
        "%s": lead if lead[1:2].isupper() else lead.lower(),
        "%o": listed(others, "all details"),
        "%r": roles,
    }
    text = re.sub("%[sor]", lambda match: named[match[0]], text)
    return re.sub("(^|[.] )(.)", lambda match: match[1] + capitalised(match[2]), text)


def _screens(plan: _Plan, letter: str) -> list[dict[str, Any]]:
    """A variant's screens in the order of its menu: what it puts first, the lists, the other views, the settings."""
    row, signals = _variants()[letter], plan.reading.signals
    others = [
        kind
        for kind in ("board", "calendar", "timeline", "inbox", "report")
        if kind in signals and kind not in row.views
    ]
    first, rest = (
        [screen for kind in kinds for screen in _view(plan, kind)] for kinds in (row.views, others)
    )
    if letter in ("a", "e") or "dashboard" in signals:
        because = signals.get("dashboard", (plan.ranked[0]["because"], ""))[0]
        home = {"id": "home", "title": plan.words["dashboard"], "type": "dashboard", "because": because}
        (first if letter == "a" else rest).append({**home, "widgets": list(_widgets(plan))})
    kind = "cards" if row.axes["home"] == "cards" else "list"
    guided = row.axes["entry"] == "guided"
    records = [screen for entity in plan.ranked for screen in _record_screens(plan, entity, kind, guided)]
    settings = []
    if plan.reading.settings or "settings" in signals:
        because = [
            *(signals.get("settings", ())[:1]),
            *(setting["because"] for setting in plan.reading.settings),
        ][0]
        settings = [
            {"id": "settings", "title": plan.words["settings"], "type": "settings", "because": because}
        ]
    return [*first, *records, *rest, *settings]


def _role(plan: _Plan, role: _Role, name: str) -> dict[str, Any]:
    """A role; one that only looks may change nothing, one that looks and decides may edit."""
    looks = bool(role.verbs) and all(_is("reading", verb) for verb in role.verbs)
    decides = bool(role.verbs) and all(_is("reading", verb) or _is("deciding", verb) for verb in role.verbs)
    rights = {"rights": []} if looks else {"rights": ["edit"]} if decides else {}
    return {"id": name, "label": capitalised(role.name)[:LABEL_MAX_CHARS], "because": role.because, **rights}


def _flow(plan: _Plan, role: _Role | None, name: str) -> dict[str, Any]:
    """A journey: through the list of what the role deals with, to the form unless it only looks or decides, to one record."""
    verbs = role.verbs if role else []
    by_name = {thing.name: entity for thing, entity in zip(plan.reading.things, plan.entities)}
    entity = next(
        (by_name[thing] for thing in (role.things if role else ()) if thing in by_name), plan.ranked[0]
    )
    one, many = entity["label"].lower(), entity["plural"].lower()
    decided = next((verb for verb in verbs if _is("deciding", verb)), "")
    steps = [("list", f"Look through {many}")]
    if any(_is("making", verb) for verb in verbs) or not any(
        _is("reading", verb) or _is("deciding", verb) for verb in verbs
    ):
        steps.append(("form", f"Fill in a new {one}"))
    steps.append(
        ("detail", f"{capitalised(decided)} this {one}" if decided else f"Open one {one} and check it")
    )
    doing = f"{decided or verbs[0]} {many}" if verbs else many
    label = f"{capitalised(role.name)}: {doing}" if role else entity["plural"]
    stations = [{"screen": f"{entity['id']}_{kind}", "hint": hint[:LABEL_MAX_CHARS]} for kind, hint in steps]
    return {
        "id": f"{name}_flow",
        "label": label[:LABEL_MAX_CHARS],
        **({"role": name} if role else {}),
        "steps": stations,
    }


def _blueprint(plan: _Plan, letter: str, seed: int, brief: str) -> dict[str, Any]:
    row, reading, screens = _variants()[letter], plan.reading, _screens(plan, letter)
    axes, lead = dict(row.axes), plan.ranked[0]["id"]
    homes = [s for s in screens if s["type"] == axes["home"] and s.get("entity", lead) == lead]
    homes += [s for s in screens if s["type"] in (axes["home"], *row.views)]
    home = [*homes, *(s for s in screens if s["type"] in ("list", "cards"))][0]
    if home["type"] != axes["home"]:
        axes.update(home=home["type"], main="table" if home["type"] == "list" else home["type"])
    menu = [s["id"] for s in screens if s["type"] not in ("detail", "form") and s is not home]
    question, rationale, cost = (_sentence(plan, text) for text in row.texts)
    roles = list(zip(reading.roles, plan.role_ids))
    theme = {
        "palette": PALETTES[seed % len(PALETTES)],
        "layout": axes["navigation"],
        "density": axes["density"],
        "mode": "auto",
    }
    return {
        "blueprint": 1,
        "title": reading.title,
        "brief": brief,
        "lang": reading.lang,
        "dir": reading.direction,
        "seed": seed,
        "asOf": AS_OF_DATE,
        "variant": {
            "id": letter, "question": question[:LABEL_MAX_CHARS], "rationale": rationale[:TEXT_MAX_CHARS], "cost": cost, "axes": axes,
        },
        "roles": [_role(plan, role, name) for role, name in roles],
        "entities": plan.entities,
        "screens": screens,
        "navigation": [home["id"], *menu],
        "flows": [_flow(plan, role, name) for role, name in roles] or [_flow(plan, None, "first")],
        "settings": reading.settings,
        "theme": {**theme, "corners": "round" if letter == "d" else "soft"},
    }  # fmt: skip


class Draft(NamedTuple):
    """What a brief became: a blueprint a variant (records absent or only ids); `left_out` holds {"text", "reason"}."""

    title: str
    slug: str
    seed: int
    blueprints: tuple[dict[str, Any], ...]
    left_out: tuple[dict[str, str], ...]
    warnings: tuple[str, ...]


def draft_blueprints(brief: str, *, seed: int | None, variants: int) -> Draft:
    """Blueprints for the first `variants` letters from a brief in any language, by rules; the same for the same text.

    Entities, roles and flows are equal over the variants. `seed` None: derived from the brief. Never fails on a legal brief.
    """
    import copy
    import hashlib

    reading = _read_brief(brief)
    plan = _make_plan(reading)
    if seed is None:
        seed = int.from_bytes(hashlib.sha256(brief.encode("utf-8", "replace")).digest()[:4], "big") & SEED_MAX
    slug = _ascii(reading.title).replace(" ", "-")[:DRAFT_SLUG_CHARS].strip("-") or "prototype"
    blueprints = tuple(
        copy.deepcopy(_blueprint(plan, letter, seed, brief)) for letter in VARIANT_LETTERS[:variants]
    )
    warnings = () if reading.roles else ("The brief names nobody who uses it: there are no roles.",)
    return Draft(reading.title, slug, seed, blueprints, tuple(reading.left_out[:LIST_ITEMS_MAX]), warnings)


# ======================================================================
# §10 records: seeded fictional data, consistent across entities
# ======================================================================
# Rules: uses §01, §03, §07; pure. A value is a function of the seed and of the ids of its entity, record and field
# alone: a new field, row or entity changes no other one. What must agree (e-mail and name, totals, dates and status)
# follows from other values of the record or of its parents, which are made on demand.


class _Stage(NamedTuple):
    """How far along a record is: its share of the rows, its planned day seen from today, stems of status values."""

    name: str
    share: int
    low: int
    high: int
    stems: str


# fmt: off
_STAGES = (  # the first one with a fitting stem counts
    _Stage("odd", 5, -24, -15, "cancel|annul|storn|no.?show|miss|void|withdr|dropp|overdue|^late|expired|laps|block"
           "|disput|clawed|stopped|postpon|do not|atras|venc|überf|retard|absent|perdu"),
    _Stage("over", 6, -30, -1, "fail|reject|declin|refus|^lost|rechaz|abgel|recus|rejeit|bounced|unreach"),
    _Stage("over", 24, -30, -1, "done|complet|clos|resolv|paid|deliver|return|finish|pass|archiv|fixed|verif|^over$"
           "|^ended|^left|releas|shipped|^held|worked|attend|hired|^won|answered|graduat|reimburs|taken|checked out"
           "|erledigt|abgeschl|fertig|bezahlt|cerrad|hech|pagad|devuel|entreg|conclu|termin|clôtu|rendu|payé|livr"),
    _Stage("today", 54, 0, 0, "on site|travel|arriv|checked in|in transit|^on the|playing|loading|running|under ?way"),
    _Stage("now", 55, -9, -1, "^active|^available|in service|in stock|^free|healthy|^fit|^live|current|registered"
           "|^vacant|^in use|^activ[oae]|dispon|aktiv|actif"),
    _Stage("ahead", 54, 1, 45, "plan|sched|book|confirm|upcom|reserv|request|draft|expect|invit|assign|announc|agend"
           "|accept|approv|prévu|program|geplant|bestätig|^new|to ?do|solicit|demand"),
    _Stage("now", 54, -9, -1, ""),
)
_FIRST, _LAST = _Stage("ahead", 15, 1, 45, ""), _Stage("over", 25, -30, -1, "")
_UNSTATED = (2, 2, 2, 2, 3, 5, 5, 5, 6, 6)  # the stages of records without a status, as often as they occur
_DATES = (  # what a date means by its field id; with two numbers, a day at that distance from today
    ("born", 0, 0, "birth|born|dob$|nacim|naiss|geburt"),
    ("past", -2400, -60, "since|join|hire[ds]|install|purchas|acquir|plant|built|founded|bought|alta$"),
    ("last", -120, -3, "^last|updated|^prev"),
    ("next", 2, 70, "^next|review|mot_|check_?by"),
    ("later", 6, 400, "expir|renew|warrant|insur|until|valid_to|best_before|caduc|retire"),
    ("due", 0, 0, "due|deadline|_by$|eta$|close_date|respond|remind|fällig|échéance|limit|needed"),
    ("end", 0, 0, "^ends?_|_ends?$|^end$|^to$|_to$|^fin|finish|depart|check_?out|^ende|hasta|salida"),
    ("over", 0, 0, "done|closed|complet|resolv|return|paid|deliver|releas|reach|thank|arrived|signed|dispens|left|fixed"
     "|verif|answer|decided|approved|removed|pagad|cierre|retour|bezahlt|devol"),
    ("made", 0, 0, "creat|open|recei|report|submit|request|appl|regist|rais|order|found|logg|issue|plac|post|sent|writ"
     "|occur|read_|taken|moved|spent|award|publish|enrol|record|enter|measur|collect|added|scan|pledg|given|weigh"
     "|rated|said|asked|erstellt|eingang|créé|out_on"),
    ("start", 0, 0, "start|^from|_from$|begin|arriv|check_?in|valid|inicio|début|beginn|desde"),
    ("plan", 0, 0, ""),
)
_LONG = "lease|tenan|contract|agreement|subscri|polic|permit|licen|membership|season|certific"
_AFTER = "finding|defect|payment|result|feedback|review|corrective|snag|outcome|score|remark|charge|follow"
_LOGS = "entry|_log$|^log|reading|record|diary|note|weight|movement|history|receipt|scrap|expense"
_OUTCOME = "result|outcome|resolution|minutes|feedback|_back$|effective|signed_by|decision_note|root_cause"
_TOTAL, _COPIED, _LENGTH = "total|amount|sum$|^cost$", "price|rent|fee|fare|amount", "^(?!.*(break|notice|lead|estim))"
_TRUE = (  # in which stage a boolean is true, else in how many of a hundred
    ("over", 0, "paid|check|done|compl|return|sign|billed|seal|thank|releas|approv|clos|resolved|arriv"),
    ("ahead", 0, "unread|^new"), ("", 25, "block|urgent|^vip|abnormal|damag|late|private|pinned|auto|estimated"),
    ("", 80, ""),
)
_FANOUT = (0, 255, 60, 130, 90, 170, 40)  # how readily each of seven parents in turn takes a child
_PROGRESS = {"odd": (5, 60), "over": (100, 100), "today": (30, 80), "now": (20, 90), "ahead": (0, 10)}
_ROWS = {"people": (9, 14), "few": (5, 8), "child": (30, 44), "work": (18, 28), "thing": (10, 16)}
_QUARTERS, _UPPER, _RATINGS = (33, 62), (110, 140), (5, 4, 4, 3, 5, 2, 4, 3, 1, 4)
_CODES = (
    ("P-####", "sku|article|^tag|_tag|tag_no"), ("SN-######", "serial"), ("@@ ## @@@", "registration|plate"),
    ("978-0-555-#####-#", "isbn"), ("4000######", "barcode|^ean"), ("v#.#", "version"), ("PY-###", "batch|lot_no"),
    ("TR ### ### ###", "track"), ("@-##", "bed$|_bed|shelf|bin$|position|plot|^bay"),
    ("P-Y-N", "refer|number|_no$|^no$|code$|^nr|numer|número|_ref$|_id$"), ("", ""),
)
_SUMS = (  # money of a parent that is the sum of its children's
    ("^(net|total|subtotal|sum)|_total$", "line|item|position"), ("^(spent|actual)", "expense|cost|purchase"),
    ("^(raised|collected|received)", "donation|gift|pledge|contribution"),
)
_PARTS = (  # a number that is a part of another one of the record
    ("spent|actual", "planned|budget|limit"), ("raised|collected", "goal|target"), ("reached|achieved", "target|goal"),
    ("used|taken|booked|filled|sold", "capacity|places|seats|copies"), ("^paid", "total|amount"),
)
_PERSONS = frozenset("""person contact customer client member volunteer candidate applicant patient student pupil guest
visitor attendee employee worker colleague technician engineer nurse doctor driver teacher tutor coach trainer guide
tenant resident owner holder borrower donor requester reporter recipient passenger author guardian parent speaker
player referee user learner child adult participant buyer seller agent operator inspector officer warden porter
supervisor manager examiner witness artist performer musician chef cook cleaner caretaker dispatcher therapist dentist
physio vet breeder staff lead escort landlord neighbour organiser chair by""".split())
_AREAS, _DOMAINS, _ENDS = ("201", "303", "415", "512", "617"), ("com", "org", "net"), "^ends?_|^to$|depart|check_?out|until"
_STAFF = ("employee", "staff", "staff_member", "team_member", "colleague", "worker", "user", "volunteer")
_SIGNS = {"number": "", "money": "$", "percent": "%", "duration": "~"}
_UNFIT = ("ass", "tit", "cum", "sex", "pis", "die")
_UNSPLIT = {ord("ø"): "o", ord("ł"): "l", ord("ß"): "ss", ord("æ"): "ae", ord("ı"): "i", ord("đ"): "d"}
_TITLED = ("name", "title", "subject", "label", "nombre", "nom", "titre", "titulo")
# Names in groups of eight that go together.
_GIVEN_AND_FAMILY = ("""
Alice Owen Hazel Miles Edith Rufus Nora Callum Mara Henrik Astrid Søren Linnea Mikkel Sigrid Jonas Amara Chidi Ngozi
Emeka Folake Tunde Ifeoma Kelechi Priya Arjun Meera Rohan Kavita Nikhil Leela Dev Yuki Haruto Aiko Kenji Sakura Daichi
Emi Naoki Lucía Mateo Inés Diego Camila Álvaro Paloma Joaquín Agnieszka Tomasz Kasia Marek Zofia Piotr Danuta Wojtek
Leyla Emre Aylin Kerem Defne Baran Selin Cem Giulia Marco Chiara Luca Elisa Matteo Bianca Dario Mei Jian Lan Wei Xiu Bo
Ling Tao Ana Rui Beatriz Tiago Catarina Duarte Joana Nuno Amina Yusuf Halima Idris Salma Karim Noor Tariq Anneke Bram
Femke Joost Sanne Ruben Lotte Daan Siobhán Cormac Aoife Declan Niamh Fergal Orla Eoin Léa Bastien Margaux Hugo Élodie
Rémi Solène Yann""", """
Ashdown Whitlock Pemberly Thornbury Hartwell Fenwick Brackley Lockyer Lindqvist Aaberg Solheim Nygaard Dahlström
Ekeland Hovland Brandvold Okoro Adeyemi Nwankwo Balogun Eze Oyelaran Onwudiwe Afolabi Raghavan Deshmukh Kulkarni
Bhattal Iyengar Solanki Venkatesh Chaudhary Morinaga Takeda Hoshino Kurosaki Ishiwata Nakagome Fujisawa Sonoda
Villaseñor Quiroga Ibarra Montalvo Echeverri Salcedo Zamorano Urrutia Wiśniak Kowalczyk Zielonka Borowska Sadowy
Malinowy Czerniak Gajda Yıldıran Karaca Demirbaş Aksoylu Tuncay Erbil Sezgin Ozanoglu Bellandi Ferraro Montesi
Carbonell Ruggeri Valtorta Brunelli Scarpa Huang Zhao Qiu Fang Shen Lu Cai Tan Figueira Brandão Salgueiro Matoso Teles
Vilhena Carvalhal Pestana Haddad Mansoor Benali Saleh Khoury Rahmani Othman Daher Verhoeven Dijkman Hoekstra Brouwer
Zandstra Kuipers Terpstra Wolthuis Brannigan Cassidy Devaney Fallon Hegarty Kinsella Mulcahy Tierney Beaulieu
Charpentier Delorme Fauvel Lacombe Marchand Perrin Roussel""")
_ARABIC = ("ليلى=layla سامي=sami نور=nour كريم=karim هدى=huda عمر=omar رنا=rana ياسر=yaser",
           "حداد=haddad منصور=mansour نجار=najjar سالم=salem درويش=darwish خطيب=khatib عزام=azzam زيدان=zidan")
_HARD_NAMES = {6: "Maria-Fernanda Alejandra Konstantinopoulou-Villaseñor de la Cruz", 9: "ليلى حداد"}
_RANGES = """
=1:120:1 capacity=8:240:4 places=8:30:2 party_size=1:8:1 party=1:8:1 people=1:12:1 guests=2:60:1 attendees=4:40:1
mileage=4000:180000:10 age=3:88:1 height=150:196:1 tree.height=3:28:1 width=20:240:5 length=20:400:5 depth=10:90:5
weight=1:90:.5 parcel.weight=.3:24:.1 shipment.weight=40:2400:10 container.weight=800:24000:50 score=0:5:1
quantity=1:24:1 stock=0:240:1 hand=0:240:1 reorder=5:40:5 at=5:40:5 minimum=5:40:5 votes=0:140:1 version=1:7:1
seats=1:50:1 employees=4:900:1 rooms=1:6:1 area=28:240:2 stops=4:18:1 distance=3:180:1 attempt=1:3:1 attempts=1:4:1
injured=0:2:1 damaged=0:2:1 scrap=0:9:1 copies=1:8:1 published=1958:2025:1 year=1998:2026:1 serves=2:12:2
portions=2:120:2 dishes=3:9:1 changes=4:60:1 openings=1:4:1 instalments=2:6:1 credits=3:12:1 games=0:34:1 size=3:9:1
items=2:14:1 lines=1:9:1 floor=0:6:1 target=20:200:5 goal=20:200:5 value=40:9800:1 temperature=2:24:.5 days=1:15:1
nights=1:9:1 hours=.25:9:.25 pages=4:320:1 points=0:60:1 position=1:12:1 rank=1:20:1 order=1:12:1 count=1:40:1
withdrawal=3:35:1 reminders=0:3:1 kg=1:90:.5 level=0:100:1 age_days=1:60:1 player.number=1:99:1 tree.age=4:120:1
$=20:2400:5 $price=2.5:180:.1 $cost=12:900:.5 $rent=450:2400:10 $plot.rent=24:160:2 $deposit=300:3000:50
$salary=28000:74000:500 $from=28000:60000:500 $expectation=28000:74000:500 $budget=2000:90000:500
$planned=2000:90000:500 $spent=500:60000:50 $goal=2000:60000:500 $fee=5:240:2.5 $fare=6:90:.5 $hire=60:900:10
$rate=9:120:.5 $total=40:6400:.05 $amount=12:1800:.05 $net=40:5200:.05 $value=500:48000:50 $tool.value=15:900:5
$lifetime=120:9800:5 $annual=4000:240000:500 $insured=200:60000:100 $charge=20:480:5 $effect=0:12000:100
$raised=200:40000:10 %=5:95:5 %discount=0:15:5 %tax=20:20:1 %vat=20:20:1 %attendance=72:100:1 %fte=50:100:10
%score=52:100:1 %yield=84:99:1 %humidity=35:70:1 ~=15:180:15 ~break=15:45:15 ~period=43200:129600:43200
~time=10:120:5 ~lead=2880:30240:1440 ~lead_time=2880:30240:1440 ~runtime=12000:540000:60 ~total=240:13200:60
~hours=240:13200:60 ~estimate=60:960:30 ~length=45:180:15 ~shift.length=420:480:30 ~guest.length=1440:4320:1440
~event.length=120:480:30 born=18:84:1 bornstudent.=7:18:1 born=19:80:1
"""
# `@words: heads + tails`: a phrase is a head and a tail. Words are entities (for titles), fields, or `entity.field`.
_TOPICS = """
@equipment machine unit device lift boiler instrument: Circulation pump|Passenger lift|Air compressor|Gas boiler|
Ventilation unit|Conveyor belt|Packing line|Cold store|Water heater|Emergency generator + A|B|C|north|south
@asset laptop item product article part material stock inventory supply: Folding table|LED work lamp|Oak shelf|Label
roll|Hex bolt M8|Copper pipe 15 mm|Cotton apron|Paint roller|Storage crate|Cable drum|Safety gloves|Filter cartridge
+ |, small|, large|, set of 10|, spare
@tool kit gear prop tent fixture_tool: Cordless drill|Extension ladder|Party tent|Pressure washer|Hedge trimmer|Sewing
machine|Projector|Cargo bike|Carpet cleaner|Folding bench|Tile cutter|Camping stove
@make_model vehicle van bus truck car: Panel van|Electric hatchback|Tipper truck|Minibus, 16 seats|Flatbed truck|Box
van with lift|Estate car|Cargo bike + |, long|, 2023
@room space hall court studio table: Birch|Cedar|Harbour|Orchard|Lantern|Garden|Mill|Summit|River|Attic + room|hall
@venue place site location premises branch depot warehouse property house home building clinic school field farm zone:
Alder Court|Mill Lane|Northbrook|Harbour Gate|Quarry Road|Eastmere|Orchard Row|Station Yard|Fallow Hill|Lower Wharf
+ |, north side|, east wing|, unit 4
@company organisation supplier vendor partner carrier sponsor manufacturer employer: Brightwater|Northgate|Alder & Finch|
Fernhill|Copperfield|Lowland|Tidewell|Oakmere|Stonebridge|Larkfield + Supplies|Logistics|Joinery|Foods|Services|Works
@team crew squad group flock: Red|North|Harbour|Granite|Swift|Valley|Amber|Lowland + team|crew|rovers
@task action milestone step todo errand next_step recall: Confirm|Prepare|Review|Update|Send|Check|Book + the delivery
dates|the access list|the floor plan|the cost estimate|the handover notes|the safety signs|the photographs
@project engagement commission programme work: Harbour hall|Mill Lane|Library|Old bakery|Riverside|Town square|Depot
+ refurbishment|extension|energy survey|relocation|redesign
@ticket subject issue bug message inbox conversation email about: Cannot sign in|Wrong address on the letter|Question
about the booking|Change of date|Invoice is missing|Keys for the side gate|Printer stays offline|Request for a copy
+ |since this morning|for next week|, second request
@incident request problem complaint repair fault call service report case matter dispute emergency: Water under the sink|
Door will not close|Heating stays cold|Light flickers|Alarm without cause|Noise at night|Blocked drain|Broken window
+ in the stairwell|on the second floor|at the north entrance|in the kitchen|near the lift
@finding defect nonconformance ncr observation damage hazard risk snag suspension: Handrail loose|Guard missing|Oil leak|
Worn brake lining|Fire door wedged open|Label unreadable|Cracked tile|Cable unprotected + at gate 2|on landing 3|near
the loading bay|in the plant room
@inspection audit check survey visit test assay: Annual|Safety|Fire|Handover|Follow-up|Spot|Hygiene + inspection|check
@event concert fair camp workshop screening session show: Lantern|Harbour|Spring|Open garden|Winter|Midsummer|Old town
+ concert|fair|reading|open day|workshop
@course class lesson training module: Watercolour|Bookkeeping|First aid|Spanish|Wood turning|Data basics|Choir|Pottery
+ for beginners|, level 2|, evening class|, weekend
@book reading thesis quote film publication: The Quiet|The Last|A Northern|Notes from a|Beyond the|The Paper + Orchard|
Harbour|Winter|Lighthouse|Garden|Railway
@recipe dish menu meal food ingredient: Roast squash soup|Lentil stew|Herb omelette|Bean chilli|Apple crumble|Barley risotto|
Fish pie|Beetroot salad|Spinach pancakes|Rice pudding|Chickpea curry|Potato gratin + |, oven baked|, large batch
@animal pet dog cat horse ewe ram lamb sheep cow mascota: Biscuit|Juno|Pepper|Willow|Otto|Clover|Mabel|Rusty|Hazelnut|
Figaro|Nettle|Poppy|Barley|Saffron|Moss|Tilly
@document file policy sop procedure version checklist template form: Site access|Data handling|Fire safety|Cleaning|
Onboarding|Lone working|Waste sorting|Key handover + policy|procedure|checklist|guide
@campaign appeal drive grant application goal purpose: Winter warmth|Roof repair|School garden|Youth choir|Library bus|
New kitchen|River path + |fund|project|day
@contract agreement subscription: Cleaning|Lift maintenance|Catering|Waste collection|Security|Gardening + contract|services
@budget expense cost charge: Travel|Training|Printing|Catering|Equipment|Venue|Flowers|Transport + |, spring|, summer
@job opening position role job_title occupation: Site|Service|Project|Kitchen|Workshop|Office|Night + supervisor|assistant|
coordinator|lead
@object artefact artwork exhibit: Bronze weight|Harbour at dusk|Clay lamp|Silver thimble|Ship model|Loom shuttle|Carved door|
Field map + |, 1840s|, pair|, fragment
@feature idea suggestion change: Dark theme|Export to a spreadsheet|Saved filters|Weekly digest|Bulk edit|Calendar feed + |on
phones|for teams|per role
@notice announcement alert: Car park closed|New opening hours|Water shut-off|Late buses|Volunteers wanted + on Friday|this
week|until further notice
@meeting: Planning|Safety|Budget|Weekly|Committee + round|meeting|review
@route round tour line: North|River|Market|Hill|Station|Harbour + loop|round|line
@medicine vaccine treatment therapy medication: Paracetamol|Vitamin D|Antibiotic course|Eye drops|Worming tablet|Booster
@species tree plant: Small-leaved lime|Field maple|Silver birch|Hornbeam|Rowan|Wild cherry|Sessile oak|Alder
@breed: Terrier mix|Shorthair|Collie|Mountain sheep|Spaniel|Tabby@dose: 5 ml|10 mg|1 tablet|2 drops@frequency: once a day|
twice a day|every 8 hours|weekly@sector: Construction|Health care|Retail|Education|Food@period: Spring 2026|Summer 2026|2026
@opening_hours hours: Mon-Fri 8:00-17:00|Mon-Sat 9:00-18:00|by appointment@reason cause: Planned work|Family matter|Wear and
tear|Wrong part delivered|Operator error|Customer asked for it@department: Operations|Finance|Service|Kitchen
@tags features skills: indoor|urgent|regular|evening|quiet|accessible|outdoor|first visit@allergens allergies dietary: nuts|
gluten|milk|eggs|celery|none known@thing: Alder ~|Birch ~|Cedar ~|Dune ~|Elm ~|Fern ~|Gorse ~|Heath ~ + |A|B|C|D
@text: as agreed|standard|see file|to be confirmed|usual|special order@address: Alder Lane|Quarry Road|Mill Street|Station
Road|Orchard Row|Harbour Street|Finch Close + , Northbrook|, Eastmere|, Lower Fallow|, Kingsferry|, Marlow End
@description details problem summary: First seen on Monday morning.|Reported by two people independently.|Happens every
few days.|Was repaired once before. + It gets in the way of daily work.|A photograph is on file.|Access is through the
side door.|Please call before coming.
@notes remarks comment note requests: All as expected.|Asked for a call back in the afternoon.|Bring the second key.|
Prefers mornings.|Part ordered, arrives next week.|Spoke to the front desk. + |Next check in four weeks.|No further steps.
@outcome result resolution feedback minutes follow_up: Everything works again.|Two small points remain.|Agreed on the next
date.|Very satisfied, would come again. + |Report sent the same day.|A second visit is planned.
@body reply text: Good morning, could we move this to Thursday?|Thank you, that works for us.|We are still waiting for an
answer.|The key was not where we expected it. + |Kind regards|Please confirm by tomorrow.
@terms conditions method mitigation instructions: Prepare everything the day before.|Keep the passage clear at all times.|
Two people are needed.|Check the label before use. + |Valid until revoked.|Let it rest for ten minutes.
@de: Termin bestätigt.|Unterlagen fehlen noch.|Rückruf am Nachmittag.|Alles in Ordnung.|Ersatzteil bestellt.
@es: Cita confirmada.|Falta un documento.|Llamar por la tarde.|Todo en orden.|Pedir la pieza.@fr: Rendez-vous confirmé.|Il
manque un document.|Rappeler l'après-midi.|Tout est en ordre.|Pièce commandée.@pt: Consulta confirmada.|Falta um documento.|
Ligar à tarde.|Tudo em ordem.@it: Appuntamento confermato.|Manca un documento.|Tutto in ordine.@nl: Afspraak bevestigd.|
Document ontbreekt nog.|Alles in orde.@ja: 確認済み。|書類待ち。|午後に折り返し。|問題なし。@ar: تم التأكيد.|بانتظار المستندات.|
كل شيء على ما يرام.
"""
# fmt: on


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
    parts = (part.split(": ", 1) for part in " ".join(_TOPICS.split()).split("@")[1:])
    halves = (
        (keys, [half.strip().split("|") for half in f"{words} + ".split(" + ")[:2]]) for keys, words in parts
    )
    return {key: pair for keys, pair in halves for key in keys.split()}


_ranges = once(lambda: dict(part.split("=") for part in _RANGES.split()))


def _first(pattern_rows: Iterable[tuple[Any, ...]], name: str) -> tuple[Any, ...]:
    """The first row of a table whose pattern, its last member, is found in the name."""
    return next(row for row in pattern_rows if re.search(row[-1], name))


class _Row:
    """One record in the making: its values so far, and draws that depend on nothing but its ids."""

    def __init__(
        self, world: _World, entity: Mapping[str, Any], record: Mapping[str, Any], place: int
    ) -> None:
        self.world, self.entity, self.given, self.place = world, entity, record, place
        self.record, self.fields = dict(record), {field["id"]: field for field in entity["fields"]}
        self.noun, self.key = entity["id"].split("_")[-1], f"{world.seed} {entity['id']} {record['id']}"
        tail = re.search("[0-9]{1,3}$", record["id"])
        self.number = int(tail[0]) if tail else _roll(self.key) % RECORDS_MAX
        self.salt, self.days = _roll(self.key) | 1, {}

    def draw(self, name: str, low: int, high: int) -> int:
        return low + _roll(self.key, name) % (high - low + 1)

    def pick(self, name: str, choices: Sequence[Any]) -> Any:
        return choices[self.draw(name, 0, len(choices) - 1)]

    def walk(self, name: str, size: int) -> int:
        return _walk(size, self.number, self.world.seed, self.entity["id"], name)

    def phrase(self, name: str, key: str) -> str:
        """A phrase of a topic, another one for each record until all have been used."""
        heads, tails = _topics()[key]
        spot = self.walk(name, len(heads) * len(tails))
        return f"{heads[spot % len(heads)]} {tails[spot // len(heads)]}".strip().replace(" ,", ",")

    def find(self, pattern: str, *types: str) -> str:
        """The id of the first field of one of the types whose id matches, or ""."""
        fields = self.fields.values()
        return next((f["id"] for f in fields if f["type"] in types and re.search(pattern, f["id"])), "")

    def get(self, name: str) -> Any:
        """A field's value, given or made now; "" for no field and for a value that asks for itself."""
        if name not in self.record and name in self.fields:
            self.record[name] = ""
            self.record[name] = _make_value(self, self.fields[name])
        return self.record.get(name, "")

    def cents(self, name: str) -> int:
        return int((self.get(name) or 0) * CENTS + 0.5)

    def parent(self, name: str) -> _Row | None:
        """The row that the ref field `name` points to."""
        return self.world.rows.get(self.fields[name]["entity"], {}).get(self.get(name))

    def parents(self) -> list[_Row]:
        """The rows pointed to; only of entities of lower rank, so that no chain closes."""
        rank = self.world.rank
        refs = [
            f["id"]
            for f in self.fields.values()
            if rank.get(f.get("entity"), CENTS) < rank[self.entity["id"]]
        ]
        return [row for row in map(self.parent, refs) if row]

    def title(self) -> str:
        """What the record is called, where a text says so; a person's whole name."""
        parts = [self.find(f"^({words})", "text") for words in ("first|given", "last|family|sur")]
        name = self.entity["display"]
        if all(parts):
            return f"{self.get(parts[0])} {self.get(parts[1])}"
        return self.get(name) if self.fields[name]["type"] in ("text", "person") else ""

    def stage(self) -> _Stage:
        """How far along the record is: as its status says, else drawn."""
        status = self.find("", "status")
        if not self.get(status):
            return _STAGES[self.pick("stage", _UNSTATED)]
        values = self.fields[status]["values"]
        return _read_stages(values)[values.index(self.get(status))]


class _World:
    """All rows of a blueprint, and what its entities are."""

    def __init__(self, blueprint: Mapping[str, Any]) -> None:
        from datetime import date

        self.seed, self.lang = blueprint["seed"], blueprint["lang"].split("-")[0].lower()
        self.rtl, self.today = blueprint["dir"] == "rtl", date.fromisoformat(blueprint["asOf"]).toordinal()
        self.entities = {entity["id"]: entity for entity in blueprint["entities"]}
        self.people = [name for name, entity in self.entities.items() if _kind_of(entity) == "people"]
        self.crews: dict[str, list[str]] = {}
        self.rank: dict[str, int] = {}
        while len(self.rank) < len(
            self.entities
        ):  # those first whose refs are ranked; a circle is cut where it begins
            left = [name for name in self.entities if name not in self.rank]
            free = [
                name
                for name in left
                if not any(
                    f.get("entity") in left and f["entity"] != name for f in self.entities[name]["fields"]
                )
            ]
            self.rank[(free or left)[0]] = len(self.rank)
        self.taken = {
            name: {record.get(entity["display"]) for record in entity.get("records", ())}
            for name, entity in self.entities.items()
        }
        self.rows = {
            name: {
                record["id"]: _Row(self, self.entities[name], record, place)
                for place, record in enumerate(records)
            }
            for name, records in _plan_records(blueprint).items()
        }

    def person(self, group: str, number: int) -> str:
        """The name of person `number` of a group: an entity, or "staff"."""
        if group == (self.people or ["staff"])[0] and number in _HARD_NAMES and not self.rtl:
            return _HARD_NAMES[number]
        given, family = (
            [word.split("=")[0] for word in names.split()]
            for names in (_ARABIC if self.rtl else _GIVEN_AND_FAMILY)
        )
        groups = len(given) // NAME_GROUP
        spot = _walk(groups * NAME_GROUP * NAME_GROUP, number, self.seed, group)
        first, place = spot % groups * NAME_GROUP, spot // groups
        return f"{given[first + place % NAME_GROUP]} {family[first + place // NAME_GROUP]}"

    def crew(self, field: str) -> list[str]:
        """The names a person field draws from: of the people its words name, else of the staff."""
        if field not in self.crews:
            fits = [name for name in self.people if set(field.split("_")) & set(name.split("_"))]
            fits += [name for name in self.people if name in _STAFF]
            names = [row.title() for row in self.rows[fits[0]].values()] if fits else []
            staff = (self.person("staff", number) for number in range(1, STAFF_COUNT + 1))
            self.crews[field] = [name for name in names if name] or list(staff)
        return self.crews[field]


def _kind_of(entity: Mapping[str, Any]) -> str:
    """What its records are, by its own fields alone: a row of _ROWS."""
    types = {field["type"] for field in entity["fields"]}
    named = next(field for field in entity["fields"] if field["id"] == entity["display"])
    noun = entity["id"].split("_")[-1]
    if named["type"] == "text" and _first(_CODES, named["id"])[0] == "" and noun not in _topics():
        if noun in _PERSONS or types & {"email", "phone"}:
            return "people"
    roles = {_first(_DATES, field["id"])[0] for field in entity["fields"] if field["type"] in DATE_TYPES}
    if "ref" in types and "status" not in types:
        return "child"
    if "status" in types and roles & {"made", "start", "plan", "due"}:
        return "work"
    return "thing" if roles or len(types) > FEW_TYPES else "few"


def _plan_records(blueprint: Mapping[str, Any]) -> dict[str, Sequence[Mapping[str, Any]]]:
    """The records of each entity, new ones as stubs; fewer where they would be too many in all."""
    given = {entity["id"]: entity.get("records") for entity in blueprint["entities"]}
    wanted = {}
    for entity in blueprint["entities"]:
        low, high = _ROWS[_kind_of(entity)]
        if given[entity["id"]] is None:
            wanted[entity["id"]] = low + _roll(blueprint["seed"], entity["id"]) % (high - low + 1)
    room = RECORDS_MAX - sum(len(records) for records in given.values() if records)
    for name, count in wanted.items():
        most = min(count, count * room // sum(wanted.values()))
        given[name] = [{"id": f"{name.replace('_', '-')}-{number}"} for number in range(1, most + 1)]
    return given


def _read_stages(values: Sequence[str]) -> list[_Stage]:
    """The stage of each value of a status: by its words, the first and the last one by their place."""
    found = [_first(_STAGES, value.lower()) for value in values]
    settled = found[0].name == "now" and found[0] is not _STAGES[-1]
    if not settled and found[0].name != "today":
        found[0] = _FIRST
    last = max(place for place, stage in enumerate(found) if place == 0 or stage.name != "odd")
    if last and not settled and found[last].name != "over":
        found[last] = _LAST
    return found


def _make_status(row: _Row, field: Mapping[str, Any]) -> str:
    """The first rows meet every value once, the others as often as its stage is common."""
    values, name = field["values"], field["id"]
    if 0 < row.number <= len(values):
        return values[(_roll(row.world.seed, row.entity["id"], name) + row.number) % len(values)]
    shares = [stage.share for stage in _read_stages(values)]
    return row.pick(
        name, [v for v, share in zip(values, shares) for _ in range(share * 2 // shares.count(share))]
    )


def _days(row: _Row) -> Mapping[str, int]:
    """The hidden course of a record in days from today: made, start, plan, end, due, over."""
    if row.days:
        return row.days
    stage, entity = row.stage(), row.entity["id"]
    plan = row.draw("plan", stage.low, stage.high)
    if plan and (row.world.today + plan - 1) % WEEK_DAYS >= WORK_DAYS:
        plan += 2 if plan > 0 else -2
    since = "plan" if re.search(_AFTER, entity) else "made"
    floors = [min(_days(parent)[since], -1) for parent in row.parents() if _kind_of(parent.entity) == "work"]
    made = max([min(plan, 0) - row.draw("made", 1, MADE_DAYS), *floors])
    plan, span = max(plan, made), row.draw("span", 2, MONTH_DAYS)
    if re.search(_LONG, entity):
        span, made = YEAR_DAYS, made - YEAR_DAYS * 2
    start = {"now": -row.draw("start", 1, span - 1), "over": plan - span, "odd": plan - span}.get(
        stage.name, plan
    )
    start = max(start, made)
    end = plan if stage.name in ("over", "odd") else start + span
    row.days = {
        "made": made,
        "start": start,
        "plan": plan,
        "end": end,
        "due": plan + row.draw("due", 1, DUE_DAYS),
    }
    row.days["over"] = min(plan + row.draw("over", 0, OVER_DAYS), -1)
    return row.days


def _day(row: _Row, name: str) -> int | None:
    """The day that a date field shows, counted from today, or None for what has not happened."""
    role, low, high, _ = _first(_DATES, name)
    days, stage, status = _days(row), row.stage().name, row.get(row.find("", "status"))
    if role in ("made", "over", "plan") and status:
        stems = {word[:STEM_CHARS] for word in name.split("_")}
        values = row.fields[row.find("", "status")]["values"]
        mark = max(
            place for place, value in enumerate(values) if not place or value[:STEM_CHARS].lower() in stems
        )
        reached = values.index(status)
        if mark and (reached < mark or (stage == "odd" and reached != mark)):
            return None
        if mark:
            last = days["over"] if stage == "over" else min(days["plan"], 0)
            return days["made"] + (last - days["made"]) * mark // reached
    if role == "over" and stage != "over":
        return None
    if role == "born":
        return -int(_in_range(row, "born", name, {})) * YEAR_DAYS - row.draw("birthday", 0, YEAR_DAYS)
    if role == "later" and re.search("expired|ended|lapsed", str(status)):
        return -row.draw(name, 1, MONTH_DAYS)
    if role in ("plan", "start") and re.search(_LOGS, row.entity["id"]):
        return days["made"]
    return row.draw(name, low, high) if low < high else days[role]


def _make_date(row: _Row, field: Mapping[str, Any]) -> str:
    """A day, with a quarter of an hour in working hours; what ends or is over comes after the start."""
    from datetime import datetime, timedelta

    name, days = field["id"], _days(row)
    role, day = _first(_DATES, name)[0], _day(row, name)
    if day is None:
        return ""
    quarter = row.draw("quarter", *_QUARTERS)
    if field["type"] == "datetime":
        day = days["plan"] if role in ("start", "end") else day
        length = row.get(row.find(_LENGTH, "duration")) or _in_range(row, "~", "length", {})
        if role == "end" or (role == "over" and day == days["plan"]):
            quarter += max(int(length) // QUARTER_MINUTES, 1)
        elif role in ("made", "over"):
            quarter = (
                _QUARTERS[0] - 1 - row.draw(name, 0, 2) if day == days["plan"] else row.draw(name, *_QUARTERS)
            )
    moment = datetime.fromordinal(max(row.world.today + day, 1)) + timedelta(
        minutes=quarter * QUARTER_MINUTES
    )
    return moment.isoformat()[: len(AS_OF_DATE) if field["type"] == "date" else -len(":00")]


def _in_range(row: _Row, kind: str, name: str, field: Mapping[str, Any]) -> float:
    """A number as type and name suggest, within the field's own limits; small ones are more frequent."""
    words = [*name.split("_")[::-1], ""]
    spans = (_ranges().get(kind + key) for word in words for key in (f"{row.noun}.{word}", word))
    least, most, step = (round(float(part) * CENTS) for part in next(filter(None, spans)).split(":"))
    low, high = (
        round(field.get(limit, other) * CENTS) for limit, other in (("min", -ENDLESS), ("max", ENDLESS))
    )
    if least > high or most < low:  # the field's limits are elsewhere
        least, most = (low, min(high, 2 * low)) if low > -ENDLESS * CENTS else (high, high)
    least, most = max(least, low), min(most, high)
    share = row.draw(name, 0, FINE)
    share = share * share // FINE if most > CENTS * max(least, 1) else share
    value = least + (most - least) // step * share // FINE * step
    return value / CENTS if value % CENTS else value // CENTS


def _children(row: _Row, pattern: str) -> list[_Row] | None:
    """The rows of entities whose noun matches that point here; None where there is no such entity."""
    found, own = None, row.entity["id"]
    for name, rows in row.world.rows.items():
        refs = [f["id"] for f in row.world.entities[name]["fields"] if f.get("entity") == own]
        if refs and name != own and re.search(pattern, name.split("_")[-1]):
            found = (found or []) + [
                child for child in rows.values() if child.get(refs[0]) == row.record["id"]
            ]
    return found


def _derive_money(row: _Row, name: str) -> int | None:
    """Cents that follow from other values: tax, totals, quantity times price, a sum, a parent's price."""
    net, tax, rate = row.find("^net", "money"), row.find("tax|vat", "money"), row.find("tax|vat", "percent")
    price, quantity = row.find("price|unit_cost|rate", "money"), row.find("quantity|qty|hours", "number")
    if net and name == tax:
        return row.cents(net) * VAT_PERCENT // CENTS
    if net and name != net and re.search(_TOTAL, name):
        return row.cents(net) + (row.cents(tax) if tax else row.cents(net) * row.cents(rate) // CENTS**2)
    if price and quantity and name != price and re.search(_TOTAL, name):
        kept = CENTS**2 - row.cents(row.find("discount", "percent"))
        return row.cents(price) * row.cents(quantity) * kept // CENTS**3
    for pattern, noun in _SUMS:
        lines = _children(row, noun) if re.search(pattern, name) else None
        if lines is not None:
            return sum(line.cents(line.find(_TOTAL, "money")) for line in lines)
    wanted = "^total" if name == "amount" else f"(^|_){name.split('_')[-1]}$"
    same = ((parent, parent.find(wanted, "money")) for parent in row.parents() if re.search(_COPIED, name))
    return next((parent.cents(field) for parent, field in same if field), None)


def _derive_number(row: _Row, name: str) -> int | None:
    """Hundredths that follow from other values: a part, a stock level, an upper end, a span, a count."""
    kind, stage, status = (
        row.fields[name]["type"],
        row.stage().name,
        str(row.get(row.find("", "status"))).lower(),
    )
    for part, whole in _PARTS:
        if re.search(part, name) and row.find(whole, kind) not in ("", name):
            return (
                row.cents(row.find(whole, kind)) * row.draw(name, *_PROGRESS[stage]) // CENTS // CENTS * CENTS
            )
    if re.search("stock|on_hand", name) and re.search("out of|^low", status):
        return 0 if "out" in status else row.cents(row.find("reorder|min", kind)) // CENTS // 2 * CENTS
    lower = re.sub("(to|max)$", "(from|min)", name)
    if lower != name and row.find(f"^{lower}$", kind):
        return row.cents(row.find(f"^{lower}$", kind)) * row.draw(name, *_UPPER) // CENTS
    if re.search("^(days|nights)", name) and row.find(_ENDS, *DATE_TYPES):
        return (_days(row)["end"] - _days(row)["start"] + (name[0] == "d")) * CENTS
    children = _children(row, f"^{name.split('_')[-1].rstrip('s')}$") if kind == "number" else None
    return None if children is None else len(children) * CENTS


def _derive_percent(row: _Row, name: str) -> int | None:
    """Hundredths of a percent: one number as a share of another, else as far as the stage says."""
    if not re.search("used|progress|complet|done|probab|spent|reached|filled", name):
        return None
    for part, whole in _PARTS:
        pair = [row.find(pattern, "number", "money") for pattern in (part, whole)]
        if all(pair) and row.get(pair[1]):
            return min(row.cents(pair[0]) * CENTS // row.cents(pair[1]), CENTS) * CENTS
    return row.draw(name, *_PROGRESS[row.stage().name]) * CENTS


def _make_number(row: _Row, field: Mapping[str, Any]) -> float:
    name, kind = field["id"], field["type"]
    derived = next(
        (v for v in (derive(row, name) for derive in _DERIVED.get(kind, ())) if v is not None), None
    )
    if derived is None:
        return _in_range(row, _SIGNS[kind], name, field)
    return derived / CENTS if derived % CENTS else derived // CENTS


def _make_code(row: _Row, name: str, code: str) -> str:
    """An identifier: N running number, Y year, P initials of the entity, # digit, @ letter."""
    from datetime import date

    words, base = row.entity["id"].split("_"), _roll(row.world.seed, row.entity["id"]) % FIRST_NUMBERS
    letters = "".join(word[0] for word in words) if len(words) > 1 else words[0][: len("INV")]
    digits = iter(str(row.walk(name, 10 ** code.count("#"))).zfill(code.count("#")))
    parts: Mapping[str, Callable[[int], str]] = {
        "N": lambda _: f"{row.number + base:04d}",
        "Y": lambda _: str(date.fromordinal(max(row.world.today + _days(row)["made"], 1)).year),
        "P": lambda _: (words[0][:2] if letters in _UNFIT else letters).upper(),
        "#": lambda _: next(digits),
        "@": lambda place: row.pick(f"{name} {place}", "BCDFGHKLMNPRSTVWX"),
    }
    return re.sub("[NYP#@]", lambda match: parts[match[0]](match.start()), code)


def _make_words(row: _Row, field: Mapping[str, Any]) -> str:
    """A text or long text: words of the field's or the entity's topic, in English; else the label and little more."""
    name, entity, world, words = field["id"], row.entity, row.world, field["id"].split("_")[::-1]
    titled = name == entity["display"] or words[0] in _TITLED
    keys = [entity["id"], *entity["id"].split("_")[::-1]] if titled else [f"{row.noun}.{name}", name, *words]
    long = field["type"] == "longtext"
    keys = [key for key in (*keys, "notes" if long else "", world.lang) if key in _topics()]
    if world.lang != "en":
        keys = [world.lang] if long and world.lang in _topics() else []
    if keys:
        return row.phrase(name, keys[0])
    if not titled:
        return (
            row.phrase(name, "text") if world.lang == "en" else f"{field['label']} {row.pick(name, 'ABCDEF')}"
        )
    if world.lang != "en":
        return f"{entity['label']} {row.number}"
    about = [parent.title() for parent in row.parents()] + [row.get(row.find("", "person"))]
    about = [text for text in about if text]
    whole = f"{entity['label']} for {about[0]}" if about else row.phrase("title", "thing")
    return whole.replace("~", entity["label"].lower())[:LABEL_MAX_CHARS]


def _make_text(row: _Row, field: Mapping[str, Any]) -> str:
    """An identifier, a person's name, or words."""
    name, entity, words = field["id"], row.entity["id"], field["id"].split("_")[::-1]
    code, part = _first(_CODES, name)[0], re.search("^(first|given)|^(last|family|sur)", name)
    if code:
        return _make_code(row, name, code)
    if entity in row.world.people and (part or name == row.entity["display"] or words[0] in _TITLED):
        whole = row.world.person(entity, row.number)
        return whole.partition(" ")[0 if part[1] else 2] if part else whole
    if words[0] in _PERSONS or (words[0] == "name" and words[-1] in _PERSONS):
        return row.world.person(f"{entity} {name}", row.number)
    return _make_words(row, field)


def _make_person(row: _Row, field: Mapping[str, Any]) -> str:
    """One of the staff, another one than in the person fields before."""
    people = [f["id"] for f in row.fields.values() if f["type"] == "person"]
    used = [row.get(name) for name in people[: people.index(field["id"])]] + [row.title()]
    return row.pick(field["id"], [name for name in row.world.crew(field["id"]) if name not in used] or [""])


def _make_email(row: _Row, field: Mapping[str, Any]) -> str:
    """An address after the name of the person (or else the record) that it belongs to."""
    import unicodedata

    persons = [row.get(name) for name, f in row.fields.items() if f["type"] == "person" or name in _PERSONS]
    persons += [parent.title() for parent in row.parents() if parent.entity["id"] in row.world.people]
    own = row.entity["id"] in row.world.people or not persons
    latin = dict(pair.split("=") for half in _ARABIC for pair in half.split())
    name = " ".join(
        latin.get(word, word) for word in (row.title() if own else str(persons[0])).lower().split()
    )
    # The tables of Unicode 3.2 are the same in every Python.
    plain = (
        unicodedata.ucd_3_2_0.normalize("NFKD", name.translate(_UNSPLIT)).encode("ascii", "ignore").decode()
    )
    words = re.findall("[a-z0-9]+", plain) or [row.record["id"]]
    domain = _roll(row.world.seed, row.entity["id"]) % len(_DOMAINS)
    return f"{'.'.join(dict.fromkeys((words[0], words[-1])))}@example.{_DOMAINS[domain]}"


def _make_ref(row: _Row, field: Mapping[str, Any]) -> str:
    """A parent: the one that a nearer parent has, else drawn, so that some have many children and one has none."""
    name, own, rank, refs = field["id"], row.entity["id"], row.world.rank, []
    target, rows = field["entity"], list(row.world.rows.get(field["entity"], {}).values())
    for other in row.fields.values():  # the fields before this one that point to the same entity
        if other["id"] == name:
            break
        refs += [other["id"]] * (other.get("entity") == target)
    used = {row.get(other) for other in refs}
    for other in row.fields.values():
        far = row.parent(other["id"]) if rank[target] < rank.get(other.get("entity"), 0) < rank[own] else None
        shared = far and far.get(
            next((f["id"] for f in far.fields.values() if f.get("entity") == target), "")
        )
        if shared and shared not in used:
            return shared
    after = re.search(_AFTER, own)
    rows = rows[: row.place] if target == own else rows
    rows = [
        row
        for row in rows
        if row.record["id"] not in used and not (after and row.stage().name in ("ahead", "today"))
    ]
    dice, turn, cycle = _roll(row.key, name), _roll(row.world.seed, own, name), min(len(rows), len(_FANOUT))
    scores = {r.record["id"]: dice * r.salt % HASH_PRIME * _FANOUT[(r.place + turn) % cycle] for r in rows}
    return max(scores, key=lambda key: (scores[key], key)) if scores else ""


def _make_choice(row: _Row, field: Mapping[str, Any]) -> str:
    """One of the values; where one says what the status says, that one."""
    status, values = str(row.get(row.find("", "status"))).lower()[:STEM_CHARS], field["values"]
    return row.pick(
        field["id"], [v for v in values if status and v.lower()[: STEM_CHARS - 1] == status[:-1]] or values
    )


def _make_boolean(row: _Row, field: Mapping[str, Any]) -> bool:
    stage, percent, _ = _first(_TRUE, field["id"])
    return row.stage().name == stage if stage else row.draw(field["id"], 1, CENTS) <= percent


def _make_tags(row: _Row, field: Mapping[str, Any]) -> list[str]:
    name, key = (
        field["id"],
        next((word for word in field["id"].split("_")[::-1] if word in _topics()), "tags"),
    )
    words = (
        _topics()[key][0] if row.world.lang == "en" else [f"{field['label']} {letter}" for letter in "ABCD"]
    )
    spots = {row.draw(f"{name} {turn}", 0, len(words) - 1) for turn in range(row.draw(name, 1, 3))}
    return [words[spot] for spot in sorted(spots)]


_DERIVED = {
    "money": (_derive_money, _derive_number),
    "number": (_derive_number,),
    "percent": (_derive_percent,),
}
_MAKERS: Mapping[str, Callable[[_Row, Mapping[str, Any]], Any]] = {
    "text": _make_text,
    "longtext": _make_words,
    "number": _make_number,
    "money": _make_number,
    "percent": _make_number,
    "duration": _make_number,
    "date": _make_date,
    "datetime": _make_date,
    "status": _make_status,
    "choice": _make_choice,
    "boolean": _make_boolean,
    "email": _make_email,
    "person": _make_person,
    "tags": _make_tags,
    "ref": _make_ref,
    "rating": lambda row, field: row.pick(field["id"], _RATINGS),
    "phone": lambda row, field: f"({row.pick('area', _AREAS)}) 555-01{row.walk(field['id'], CENTS):02d}",
    "url": lambda row, field: f"https://example.com/{row.noun}/{row.record['id']}",
    "address": lambda row, field: f"{row.draw(field['id'], 1, CENTS)} {row.phrase(field['id'], 'address')}",
}


def _make_value(row: _Row, field: Mapping[str, Any]) -> Any:
    """A value for a field: empty where nothing has come of it yet, and unlike all others where it names the record."""
    name, kind, wanted = field["id"], field["type"], field.get("required")
    if (
        re.search(_OUTCOME, name)
        and not wanted
        and kind != "status"
        and row.stage().name in ("ahead", "today", "now")
    ):
        return ""
    if (
        kind in ("longtext", "url", "phone")
        and not wanted
        and row.draw(f"{name} left out", 1, EMPTY_EVERY) == 1
    ):
        return ""
    value, number = _MAKERS[kind](row, field), row.number
    if name == row.entity["display"] and kind == "text":
        taken = row.world.taken[row.entity["id"]]
        while value in taken and row.number < number + RECORDS_PER_ENTITY_MAX:
            row.number += 1
            value = _MAKERS[kind](row, field)
        row.number = number
        value = f"{value} {row.place + 1}" if value in taken else value
        taken.add(value)
    return value


def fill_records(blueprint: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """A valid blueprint with whole records, and how many values were filled in.

    An entity without `records` gets some; what is given stays, an explicit "" too. The argument is not changed.
    """
    world, entities, filled = _World(blueprint), [], 0
    for name in world.rank:  # names first, parents before children
        for row in world.rows[name].values():
            row.get(row.entity["display"])
    for entity in blueprint["entities"]:
        records = []
        for row in world.rows[entity["id"]].values():
            missing = [name for name in row.fields if name not in row.given]
            made = {"id": row.given["id"], **{name: row.get(name) for name in row.fields}}
            records.append({**made, **row.given} if missing else row.given)
            filled += len(missing)
        entities.append({**entity, "records": records})
    return {**blueprint, "entities": entities}, filled


# ======================================================================
# §11 page: style, runtime and markup; blueprint to one self-contained page
# ======================================================================
# Rules: uses §01, §03, §07; pure.

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
    return render_document(manifest).encode("utf-8")


def _encode_blueprint(blueprint: Mapping[str, Any]) -> bytes:
    return render_blueprint(blueprint).encode("utf-8")


def _encode_page(blueprint: dict[str, Any]) -> bytes:
    return render_page(blueprint).encode("utf-8")


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


def _read_slugs(workspace: Workspace) -> list[str]:
    if workspace.kind(PROTOTYPES_DIR) == "missing":
        return []
    names = workspace.read_names(PROTOTYPES_DIR)
    return [name for name in names if re.fullmatch(SLUG_PATTERN, name)]


def read_list(workspace: Workspace, *, limit: int, after: str = "") -> dict[str, Any]:
    """One page: the next `limit` folders by slug after `after`; only their manifests are read.

    {"prototypes": [{"slug", "title", "created", "variants"}]}, and where there are any "damaged": [{"slug",
    "problem"}] and "next", the `after` of the next page.
    """
    slugs = [slug for slug in _read_slugs(workspace) if slug > after]
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


class Variant(NamedTuple):
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


def read_prototype(workspace: Workspace, slug: str) -> dict[str, Any]:
    """The manifest with folder and page; each variant with its last revisions, roles, entities, screens."""
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


def write_gallery(workspace: Workspace, call: Call) -> None:
    """Renders prototypes/index.html anew: the GALLERY_MAX_PROTOTYPES newest; damaged ones are left out."""
    entries = []
    for slug in _read_slugs(workspace):
        call.check()
        try:
            entries.append(_list_entry(slug, read_manifest(workspace, slug)))
        except Failure:
            continue
    entries.sort(key=lambda entry: entry["created"], reverse=True)  # stable: by slug within a second
    page = render_gallery(entries[:GALLERY_MAX_PROTOTYPES])
    workspace.write_file(f"{PROTOTYPES_DIR}/{PAGE_NAME}", page.encode("utf-8"), call)


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
    files[PAGE_NAME] = render_variants_page(manifest, blueprints).encode("utf-8")
    call.step("lock")
    with workspace.lock(call):
        recover(workspace, call)
        call.step("store")
        with workspace.stage(call) as stage:
            for name, data in files.items():
                stage.write(name, data)
            slug = _publish_new(workspace, stage, slug, derived)
        call.step("gallery")
        write_gallery(workspace, call)
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


class Revised(NamedTuple):
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
        files[f"{folder}/{PAGE_NAME}"] = render_variants_page(manifest, current).encode("utf-8")
    for file, data in files.items():
        try:
            same = workspace.read_bytes(file, max_bytes=len(data)) == data
        except Failure:  # missing, longer, or a link: what cannot be replaced is refused by the write
            same = False
        if not same:
            workspace.write_file(file, data, call)


def recover(workspace: Workspace, call: Call) -> None:
    """What every writer does first, with the lock held: finishes or drops what a killed one had under way."""
    names = workspace.read_names(STAGING_DIR) if workspace.kind(STAGING_DIR) == "folder" else []
    for name in names:
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

    An edit by hand becomes a revision of its own first. Without `change` that is all; the pages are rendered
    anew in any case. `base` is the revision that the caller has seen: `conflict` when another one is current
    or there is an edit by hand. Whatever `change` raises, and `dry_run`, leave everything as it is.
    """
    with workspace.lock(call):
        if not dry_run:
            recover(workspace, call)
        manifest, folder = read_manifest(workspace, slug), f"{_folder_of(slug)}/{letter}"
        entry = find_variant(manifest, slug, letter)
        variant = load_variant(workspace, folder, entry)
        number, edited = len(entry["revisions"]), variant.state == "edited"
        if base is not None and (base != number or edited):
            state = f"{number}, edited by hand since" if edited else f"{number}"
            raise Failure("conflict", f"the current revision of {folder} is {state}", "see: protoyard show")
        after, summary = change(variant) if change else (variant.blueprint, "")
        new = [(variant.blueprint, "Edited by hand.")] if edited else []
        new += [(after, summary)] if digest(after) != digest(variant.blueprint) else []
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

    __slots__ = ("call", "notes", "problems", "workspace")

    def __init__(self, workspace: Workspace, call: Call | None) -> None:
        self.workspace = workspace
        self.call = call
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

    def compare(self, file: str, version: str, pages: Sequence[str]) -> None:
        """Is a page what it may be? One that another version of Protoyard rendered may differ."""
        data = self.read(file, PAGE_MAX_BYTES)
        if data is None or data in [page.encode("utf-8") for page in pages]:
            return
        if version == __version__:
            self.add(file, "page_differs", "is not what its blueprint renders to; iterate renders it anew")
        else:
            self.notes.append(
                f"{file} is of version {version}, as the manifest says; iterate renders it anew"
            )


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
            differs, blueprint = True, None
        if differs:
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
    shown = [blueprint] if mark == known[-1] or current is None else [blueprint, current]
    report.compare(f"{folder}/{PAGE_NAME}", manifest["version"], [render_page(one) for one in shown])


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
        report.compare(
            f"{folder}/{PAGE_NAME}", manifest["version"], [render_variants_page(manifest, current)]
        )


def _is_prototype(workspace: Workspace, path: str) -> bool:
    """A folder in prototypes/, or a copy elsewhere."""
    above = path.rpartition("/")[0]
    return bool(path) and (above == PROTOTYPES_DIR or workspace.kind(f"{path}/{MANIFEST_NAME}") == "file")


def verify(workspace: Workspace, path: str, call: Call | None = None) -> dict[str, Any]:
    """What is wrong with a prototype's folder, a variant's folder or a blueprint .json file (a resolved path).

    {"folder", "valid", "problems": [{"file", "pointer", "code", "message"}], "notes": [text]}. Codes:
    `missing`, `invalid_manifest`, `invalid_blueprint`, `history_differs`, `manifest_differs`, `page_differs`,
    or a Failure's for a file that cannot be read. A valid edit by hand, a refresh that was cut off and
    leftovers are notes.
    """
    report = _Report(workspace, call)
    above, _, name = path.rpartition("/")
    kind = workspace.kind(path)
    if kind == "missing":
        raise Failure("not_found", f"{path} does not exist")
    if kind == "file" and name.endswith(".json"):
        report.parse(path, "invalid_blueprint", BLUEPRINT_FILE_MAX_BYTES, check_blueprint)
    elif kind == "folder" and _is_prototype(workspace, path):
        _verify_prototype(report, path)
    elif kind == "folder" and name in list(VARIANT_LETTERS) and _is_prototype(workspace, above):
        _verify_prototype(report, above, only=name)
    else:
        message = f"folder: {path or '.'} is no prototype's folder, no variant's folder and no .json file"
        raise Failure("invalid_arguments", message, "see: protoyard list")
    if workspace.kind(STAGING_DIR) == "folder" and workspace.read_names(STAGING_DIR):
        report.note(f"{STAGING_DIR} holds unfinished work", "the next writing command clears it")
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
# Rules: uses §01-04; the tools' table is an argument; pure. Bytes go in, effects come out (WIRE §1-7); the choke
# point is `Session.receive`. Which ids are in flight, cancelled or answered is known here and nowhere else. What the
# revisions do differently stands in the columns of METHODS. Results that never change are rendered once, as bytes.


class ToolCall(NamedTuple):
    """One `tools/call` in flight; two calls are the same only if they are the same object."""

    id: str | int
    name: str
    arguments: dict[str, Any]
    progress_token: str | int | None
    revision: str


class Send(NamedTuple):
    """Effect: write this line to the client."""

    line: bytes


class Start(NamedTuple):
    """Effect: start this call and bring its outcome to `Session.finish`."""

    call: ToolCall


class Cancel(NamedTuple):
    """Effect: stop this call; nobody waits for its answer."""

    call: ToolCall


class Fault(NamedTuple):
    """Effect: tell the operator about a fault of ours; the client got its -32603."""

    trace: str


Effect = Any  # Send | Start | Cancel | Fault: a union of classes cannot be written in an alias on 3.9


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
        """Add to the unfinished line; one that has become too long is told at once, then dropped to its end."""
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


class Message(NamedTuple):
    """A well-formed request, or a notification (`id` absent); `params` not yet looked at."""

    id: Any
    method: str
    params: Any


class Request(NamedTuple):
    """A request whose revision is known."""

    id: str | int
    method: str
    params: dict[str, Any]
    revision: str


def _is_id(value: Any) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def _shown(value: str | int) -> str:
    """A name or an id as a message shows it: as JSON, cut."""
    text = json.dumps(value)
    return text if len(text) <= TOOL_NAME_SHOWN_CHARS else text[:TOOL_NAME_SHOWN_CHARS] + "…"


def check_message(message: Any) -> Message | None:
    """The parts of a JSON-RPC message, None for a response (which nobody asked for); Refused in WIRE §3's order."""
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


class Facts(NamedTuple):
    """What the results are made of: the tools as `tools/list` shows them, who we are, how to use us."""

    tools: Sequence[Mapping[str, Any]]
    server_info: Mapping[str, str]
    instructions: str


def _modern(facts: Facts, *, is_cacheable: bool = False) -> dict[str, Any]:
    cache = {"ttlMs": LIST_TTL_MS, "cacheScope": "public"} if is_cacheable else {}
    return {"resultType": "complete", **cache, "_meta": {META_SERVER: facts.server_info}}


def _discovery(facts: Facts) -> dict[str, Any]:
    about = {"supportedVersions": list(REVISIONS), "capabilities": {"tools": {}}}
    return {**about, "instructions": facts.instructions, **_modern(facts, is_cacheable=True)}


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
    """One client on one stream: bytes in, effects out. Its methods are called one at a time, `render` excepted."""

    def __init__(
        self, tools: Sequence[Mapping[str, Any]], server_info: Mapping[str, str], instructions: str
    ) -> None:
        self._facts = Facts(tools, server_info, instructions)
        self._framer = Framer()
        self._flights: dict[str | int, _Flight] = {}  # by id: 1 and "1" differ, nothing else is an id
        self._prepared: dict[tuple[str, str], bytes] = {}
        self.is_greeted = False

    def receive(self, data: bytes) -> list[Effect]:
        """[2/9] The effects of the next bytes from the client, split anywhere. The choke point of all input."""
        return [effect for line in self._framer.feed(data) for effect in self._on_line(line)]

    def end_of_input(self) -> list[Effect]:
        """The effects of a last line without its newline."""
        return [effect for line in self._framer.end() for effect in self._on_line(line)]

    def finish(self, call: ToolCall, reply: bytes | None) -> list[Effect]:
        """[9/9] A call is over: its answer, rendered, goes out and its id is free; nothing if it was cancelled.

        Completed, failed and timed out calls all end here; `reply` None gives no answer.
        """
        if not self._is_in_flight(call):
            return []
        del self._flights[call.id]
        return [] if reply is None else [Send(reply)]

    def render(self, call: ToolCall, envelope: Mapping[str, Any]) -> bytes:
        """The answer to a call, for `finish`; costly for a large envelope, so it may be called from any thread."""
        text = render_wire(render_json(envelope))[:-1]
        more = self.prepared("tools/call", call.revision)[1:-1]
        shape = b'{"content":[{"type":"text","text":%b}],"isError":%b%b%b}'
        is_error = b"false" if envelope["ok"] else b"true"
        return _render_result(call.id, shape % (text, is_error, b"," if more else b"", more))

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
        """The client gives up a call: its id is free at once and no answer follows; unknown ids are ignored."""
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
        return answer_request(self, Request(message.id, message.method, params, revision))


# --- the methods (WIRE §5) ------------------------------------------------------------------------


def on_notification(session: Session, message: Message) -> list[Effect]:
    """A message without id: only a cancellation has an effect, and nothing is ever answered."""
    if message.method == "notifications/cancelled" and isinstance(message.params, dict):
        return session.cancel(message.params.get("requestId"))
    return []


def on_fixed(session: Session, request: Request) -> list[Effect]:
    """Answer with what never changes: `ping`, `server/discover`."""
    return [Send(_render_result(request.id, session.prepared(request.method, request.revision)))]


def on_initialize(session: Session, request: Request) -> list[Effect]:
    """The handshake, which exists in the legacy revision only, whichever of the two is named."""
    named = _check_text(request.id, request.params, "protocolVersion", _ONE_OF_BOTH)
    for name in ("capabilities", "clientInfo"):
        _check_object(request.id, request.params, name)
    _check_supported(request.id, named)
    session.is_greeted = True
    return on_fixed(session, request)


def on_tools_list(session: Session, request: Request) -> list[Effect]:
    """All tools at once: no cursor is ever issued, so none is accepted."""
    if "cursor" in request.params:
        raise Refused(request.id, INVALID_PARAMS, 'there is one page only: leave "cursor" out')
    return on_fixed(session, request)


def on_tools_call(session: Session, request: Request) -> list[Effect]:
    """[5/9] A well-formed call becomes Start(ToolCall); what the tool makes of its arguments is not known here."""
    name = _check_text(request.id, request.params, "name", "one that tools/list names")
    arguments = _check_object(request.id, request.params, "arguments")
    token = request.params.get("_meta", {}).get("progressToken")
    call = ToolCall(request.id, name, arguments, token if _is_id(token) else None, request.revision)
    return session.fly(call)


class Method(NamedTuple):
    """A row: who answers, the fixed members of the result in each revision (None: no such method there)."""

    answer: Callable[[Session, Request], list[Effect]]
    modern: Callable[[Facts], dict[str, Any]] | None
    legacy: Callable[[Facts], dict[str, Any]] | None
    always: str | None = None  # the revision that serves it whatever the request names

    def column(self, revision: str) -> Callable[[Facts], dict[str, Any]] | None:
        """The column of a revision."""
        return self.modern if revision == MODERN else self.legacy


def answer_request(session: Session, request: Request) -> list[Effect]:
    """[4/9] Let the method's row answer; Refused when the request's revision has no such method."""
    row = METHODS.get(request.method)
    if row is None or row.column(request.revision) is None:
        known = ", ".join(name for name, other in METHODS.items() if other.column(request.revision))
        text = f"no method {_shown(request.method)} in {request.revision}; there are: {known}"
        raise Refused(request.id, METHOD_NOT_FOUND, text)
    return row.answer(session, request)


# fmt: off
METHODS: Mapping[str, Method] = {
    #                         answer         2026-07-28                                       2025-11-25
    "server/discover": Method(on_fixed,      _discovery,                                      None),
    "initialize":      Method(on_initialize, None,                                            _greeting, LEGACY),
    "ping":            Method(on_fixed,      _modern,                                         lambda facts: {}),
    "tools/list":      Method(on_tools_list, lambda facts: {"tools": facts.tools, **_modern(facts, is_cacheable=True)},
                                                                                              lambda facts: {"tools": facts.tools}),
    "tools/call":      Method(on_tools_call, _modern,                                         lambda facts: {}),
}
# fmt: on

# ======================================================================
# §18 server: the stdio loop
# ======================================================================
# Rules: uses §01-06, §15-17. The main thread reads, feeds the session and carries its effects out; it never waits
# for a tool or for a client that does not read. Tools run in worker threads. `Outbox.write` is the choke point of
# stdout. One lock guards the session and the queue; what is costly (running, redacting, encoding) happens outside.

SERVER_INFO = {"name": "protoyard", "title": "Protoyard", "version": __version__}
INSTRUCTIONS = (
    "Protoyard turns a short brief into clickable HTML prototypes with fictional data, by rules: no model, no "
    "network. Start with `quick` and a brief in plain words; it answers with the pages to open in a browser. Look "
    "closer with `list` and `show`, check hand edits with `validate`, and read `blueprint_schema` before you write "
    "or change a blueprint. Everything lives under prototypes/ in the workspace and nothing is ever overwritten. "
    "A failure says what was wrong and what to do next."
)
TERMINAL_HINT = (
    "protoyard mcp speaks the Model Context Protocol with an agent host, not with people.\n"
    "Register it: protoyard mcp-config --client NAME. Check it: protoyard doctor. Ctrl-D ends it.\n"
)


class Limits(NamedTuple):
    """The server's limits; other values are for tests."""

    workers: int = WORKERS_MAX
    queue: int = QUEUE_MAX
    abandoned: int = ABANDONED_MAX
    stop_seconds: float = CALL_STOP_SECONDS
    outbox_bytes: int = OUTBOX_MAX_BYTES


# --- the log: stderr, where hosts show every line as trouble --------------------------------------

_LOG_LEVELS = ("debug", "info", "warning")


def _can_write(fd: int) -> bool:
    """Would a write of PIPE_BUF bytes return at once? (On Windows nobody can tell.)"""
    if os.name == "nt":
        return True
    import select

    return bool(select.select([], [fd], [], 0)[1])


def write_log(level: str, text: str) -> None:
    """A diagnostic on stderr, redacted, where PROTOYARD_LOG asks for its level; dropped when nobody reads there."""
    wanted = os.environ.get("PROTOYARD_LOG", "")
    if _LOG_LEVELS.index(level) < _LOG_LEVELS.index(wanted if wanted in _LOG_LEVELS else "warning"):
        return
    try:
        if _can_write(STDERR_FD):
            os.write(STDERR_FD, f"protoyard: {redact(clean_text(text))}\n".encode("utf-8", "replace"))
    except OSError:
        return


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

    __slots__ = ("_fd", "_select", "_wake_fd", "signal_fd")

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
    """The same where pipes cannot be selected (Windows): a thread reads; the asking one wakes for signals."""

    __slots__ = ("_changed", "_data", "_fd", "_is_woken")

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
            if is_paused or not self._data:
                return None
            self._changed.notify_all()
            return self._data.pop()

    def wake(self) -> None:
        """As SelectInput.wake."""
        with self._changed:
            self._is_woken = True
            self._changed.notify_all()


# --- what goes out --------------------------------------------------------------------------------


class Outbox:
    """The way to stdout: whole messages, one after the other, and no caller ever waits for the client."""

    def __init__(self, fd: int, on_change: Callable[[], None]) -> None:
        """`on_change` is called from any thread when everything has gone out, or nothing can any more."""
        self._fd = fd
        self._on_change = on_change
        self._changed = threading.Condition(threading.Lock())
        self._queue: list[memoryview] = []  # the first one is being written by the writer thread
        self._has_writer = False
        self.waiting_bytes = 0
        self.error: OSError | None = None  # the client is gone

    def write(self, data: bytes) -> None:
        """Send whole messages. The choke point of stdout.

        They are written here only while that cannot block, else by the writer thread.
        """
        with self._changed:
            if self.error is not None:
                return
            rest = memoryview(data)
            if not self._queue:
                rest = self._write_ready(rest)
            if rest and self.error is None:
                self._queue.append(rest)
                self.waiting_bytes += len(rest)
                self._start_writer()
                self._changed.notify()

    def _write_ready(self, rest: memoryview) -> memoryview:
        """Write as long as the platform promises not to block: pieces of PIPE_BUF to what is writable."""
        if os.name == "nt":
            return rest
        import select

        try:
            while rest and select.select([], [self._fd], [], 0)[1]:
                rest = rest[os.write(self._fd, rest[: select.PIPE_BUF]) :]
        except BlockingIOError:
            return rest
        except OSError as error:
            self._fail(error)
        return rest

    def _start_writer(self) -> None:
        if not self._has_writer:
            self._has_writer = True
            threading.Thread(target=self._write_waiting, name="outbox", daemon=True).start()

    def _write_waiting(self) -> None:
        while self.error is None:
            with self._changed:
                self._changed.wait_for(lambda: self._queue)
                piece = self._queue[0][:READ_CHUNK_BYTES]
            try:
                self._took(self._write_piece(piece))
            except OSError as error:
                with self._changed:
                    self._fail(error)

    def _write_piece(self, piece: memoryview) -> int:
        try:
            return os.write(self._fd, piece)
        except BlockingIOError:  # a pipe that somebody made non-blocking
            import select

            select.select([], [self._fd], [])
            return 0

    def _took(self, count: int) -> None:
        with self._changed:
            self._queue[0] = self._queue[0][count:]
            if not self._queue[0]:
                del self._queue[0]
            self.waiting_bytes -= count
        self._on_change()

    def _fail(self, error: OSError) -> None:
        self.error = error
        self._queue.clear()
        self.waiting_bytes = 0
        self._on_change()


# --- the calls ------------------------------------------------------------------------------------


class _Job:
    """A call on its way through the queue and a worker."""

    __slots__ = ("argv", "call", "is_over", "is_stopping", "request", "row")

    def __init__(self, request: ToolCall, row: Operation, argv: list[str], call: Call) -> None:
        self.request = request
        self.row = row
        self.argv = argv
        self.call = call
        self.is_stopping = False
        self.is_over = threading.Event()  # no thread works on it any more


def describe_timeout(step: str, seconds: float) -> Failure:
    """What a call that was stopped at its bound is answered."""
    reached = f'at the step "{step}"' if step else "before its first step"
    message = f"stopped after {seconds:g} s {reached}; what had been written until then stays"
    return Failure("timeout", message, "look at what is there (list, show), then ask for less at once")


class Server:
    """One session with its queue and its workers; `run` is the loop of the main thread."""

    def __init__(
        self,
        *,
        rows: Sequence[Operation],
        directory: str,
        read_only: bool,
        limits: Limits,
        source: SelectInput | ThreadInput,
        stdout_fd: int,
    ) -> None:
        self._rows = {row.name: row for row in rows if row.served}
        self._directory = directory
        self._read_only = read_only
        self._limits = limits
        self._source = source
        self._outbox = Outbox(stdout_fd, source.wake)
        self._session = Session([render_tool(row) for row in self._rows.values()], SERVER_INFO, INSTRUCTIONS)
        self._problem = self._find_problem()
        self._changed = threading.Condition(threading.Lock())  # guards the session and all that follows
        self._jobs: dict[int, _Job] = {}  # not yet answered, by the id() of the request, the oldest first
        self._waiting: list[_Job] = []  # in the queue
        self._ready: list[_Job] = []  # have a slot, no worker has picked them up yet
        self._running: list[_Job] = []  # have a slot
        self._given_up: list[_Job] = []  # lost their slot: their workers did not return in time
        self._writer: _Job | None = None  # whose turn it is to write
        self._idle_workers = 0
        self._stoppers = 0
        self._is_closing = False
        self.signals: list[int] = []  # the exit statuses that they ask for

    def _find_problem(self) -> Failure | None:
        try:
            Workspace(self._directory)
        except Failure as failure:
            return failure
        return None

    # --- the loop ---

    def run(self) -> int:
        """Serve until the input ends, a signal comes or the client is gone; returns the exit status."""
        try:
            while not self._is_done():
                is_paused = self._is_closing or self._outbox.waiting_bytes >= self._limits.outbox_bytes
                data = self._source.read(self._seconds_to_next(), is_paused=is_paused)
                if data is not None:
                    self._take(data)
                self._stop_overdue()
        finally:
            with self._changed:
                jobs = [*self._jobs.values(), *self._running, *self._given_up]
                self._waiting.clear()
            stop_calls([job.call for job in jobs], CANCELLED)
        return self.signals[0] if self.signals else self._end_status()

    def _is_done(self) -> bool:
        if self.signals or self._outbox.error is not None:
            return True
        if not self._is_closing:
            return False
        with self._changed:
            return not self._jobs and not self._stoppers and not self._outbox.waiting_bytes

    def _end_status(self) -> int:
        error = self._outbox.error
        if error is None or isinstance(error, BrokenPipeError):
            return EXIT_DONE
        write_log("warning", f"standard output cannot be written: {error.strerror}")
        return EXIT_FAILED

    def _take(self, data: bytes) -> None:
        with self._changed:
            effects = self._session.receive(data) if data else self._session.end_of_input()
            self._is_closing = not data
        lines = []
        for effect in effects:
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

    def _seconds_to_next(self) -> float | None:
        if not self._jobs:
            return None
        with self._changed:
            return next((job.call.remaining() for job in self._jobs.values() if not job.is_stopping), None)

    # --- a call begins ---

    def start_call(self, request: ToolCall) -> None:
        """[6/9] Check a call in the order of WIRE §6 and queue it; what is refused is answered at once."""
        reply = self._attempt(request, lambda: self._admit(request))
        if reply is not None:
            self._finish(request, reply)

    def _admit(self, request: ToolCall) -> None:
        row = self._rows.get(request.name)
        if row is None:
            name = request.name[:TOOL_NAME_SHOWN_CHARS]
            raise Failure("unknown_tool", f'there is no tool "{name}"', f"there are: {', '.join(self._rows)}")
        size = json_bytes(request.arguments)
        if size > ARGUMENTS_MAX_BYTES:
            message = f"the arguments are {size} bytes of JSON; at most {ARGUMENTS_MAX_BYTES} are allowed"
            raise Failure("arguments_too_large", message, "send less at once")
        values = check_arguments(row, request.arguments)
        if self._read_only and row.writes:
            hint = "start the server without --read-only to write"
            raise Failure("read_only", f"{row.name} writes, and this server only reads", hint)
        if self._problem is not None:
            raise Failure(self._problem.code, self._problem.message, self._problem.hint)
        self._queue(request, row, build_argv(row, values))

    def _queue(self, request: ToolCall, row: Operation, argv: list[str]) -> None:
        call = Call(
            deadline=time.monotonic() + self._limits.stop_seconds,
            on_progress=lambda *told: self._progress(request, *told),
            on_child=lambda: self._pass_turn(job),
        )
        job = _Job(request, row, argv, call)
        with self._changed:
            is_free = len(self._given_up) < self._limits.abandoned
            if is_free and self._may_run(job):
                self._give_slot(job)
            elif is_free and len(self._waiting) < self._limits.queue:
                self._waiting.append(job)
            else:
                message = "too many calls are running and waiting"
                raise Failure("busy", message, "wait for their answers, then call again")
            self._jobs[id(request)] = job

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

    def _give_slots(self) -> None:
        for job in list(self._waiting):
            if self._may_run(job):
                self._waiting.remove(job)
                self._give_slot(job)

    # --- in a worker ---

    def _work(self) -> None:
        """A worker thread: job after job, until it comes back too late from one."""
        is_wanted = True
        while is_wanted:
            with self._changed:
                self._idle_workers += 1
                self._changed.wait_for(lambda: self._ready)
                self._idle_workers -= 1
                job = self._ready.pop(0)
            self._finish(job.request, self._attempt(job.request, lambda job=job: self._execute(job)))
            with self._changed:
                is_wanted = self._release(job)

    def _execute(self, job: _Job) -> dict[str, Any]:
        write_log("debug", f"{job.row.name} starts")
        job.call.check()
        rows = tuple(self._rows.values())
        return execute(job.argv, rows=rows, call=job.call, directory=self._directory)

    def _attempt(self, request: ToolCall, work: Callable[[], dict[str, Any] | None]) -> bytes | None:
        """The reply to a call whose envelope `work` makes: the border at which every exception ends."""
        name = request.name[:TOOL_NAME_SHOWN_CHARS]
        try:
            envelope = work()
            return None if envelope is None else self._render(request, envelope)
        except Stopped as stopped:
            if stopped.reason != TIMEOUT:
                return None
            failure = describe_timeout(stopped.step, self._limits.stop_seconds)
        except Failure as refused:
            failure = refused
        except Exception:
            import traceback

            write_log("warning", traceback.format_exc())
            hint = "the details are on the server's standard error"
            failure = Failure("internal_error", f"a fault of Protoyard in {name}", hint)
        return self._render(request, failed(name, failure))

    def _render(self, request: ToolCall, envelope: dict[str, Any]) -> bytes:
        shown = clean(envelope)
        size = json_bytes(shown)
        if size > ENVELOPE_MAX_BYTES:
            message = f"the result is {size} bytes; at most {ENVELOPE_MAX_BYTES} are sent"
            hint = "ask for less: a smaller `limit`, one `variant`, or leave `records` out"
            shown = failed(shown["command"], Failure("output_too_large", message, hint))
        return self._session.render(request, shown)

    def _finish(self, request: ToolCall, reply: bytes | None) -> None:
        """Answer a call, unless it has been answered or cancelled; in order with its progress."""
        with self._changed:
            self._jobs.pop(id(request), None)
            for effect in self._session.finish(request, reply):
                self._outbox.write(effect.line)

    def _release(self, job: _Job) -> bool:
        """A worker returns from a job; False when its slot has been taken from it."""
        job.is_over.set()
        is_mine = job in self._running
        (self._running if is_mine else self._given_up).remove(job)
        if is_mine:
            self._let_go(job)
        if self._is_closing:
            self._source.wake()
        return is_mine

    def _let_go(self, job: _Job) -> None:
        if self._writer is job:
            self._writer = None
        self._give_slots()

    def _pass_turn(self, job: _Job) -> None:
        """A child runs without the workspace lock (WIRE §7): meanwhile the next writer may run."""
        with self._changed:
            if self._writer is job:
                self._let_go(job)

    def _progress(self, request: ToolCall, done: float, total: float | None, message: str) -> None:
        with self._changed:
            for effect in self._session.progress(request, done, total, message, time.monotonic()):
                self._outbox.write(effect.line)

    # --- a call is stopped ---

    def _cancel(self, request: ToolCall) -> None:
        with self._changed:
            job = self._jobs.pop(id(request), None)
            if job is not None:
                self._stop(job, CANCELLED)

    def _stop_overdue(self) -> None:
        if not self._jobs:
            return
        overdue = []
        with self._changed:
            for job in list(self._jobs.values()):
                if not job.is_stopping and job.call.remaining() == 0:
                    overdue.append(job)
                    self._stop(job, TIMEOUT)
        for job in overdue:
            if job.is_over.is_set():
                self._answer_timeout(job)

    def _stop(self, job: _Job, reason: str) -> None:
        """Shut the gate now; what may take its time, children and a commit under way, is another thread's."""
        job.is_stopping = True
        job.call.cancel(reason)
        if job in self._waiting:
            self._waiting.remove(job)
            job.is_over.set()
            return
        self._stoppers += 1
        threading.Thread(target=self._see_off, args=(job, reason), daemon=True).start()

    def _see_off(self, job: _Job, reason: str) -> None:
        """Stop a job, answer it if that is due, and take the slot from a worker that does not come back."""
        job.call.stop(reason)
        if reason == TIMEOUT:
            self._answer_timeout(job)
        job.is_over.wait(ABANDON_SECONDS)
        with self._changed:
            if not job.is_over.is_set():
                self._running.remove(job)
                self._given_up.append(job)
                release_lock(job.call)
                self._let_go(job)
            self._stoppers -= 1
        self._source.wake()

    def _answer_timeout(self, job: _Job) -> None:
        def stopped() -> None:
            raise Stopped(TIMEOUT, job.call.current_step)

        self._finish(job.request, self._attempt(job.request, stopped))


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
    stdin_fd, stdout_fd = os.dup(STDIN_FD), os.dup(STDOUT_FD)  # not inherited by children
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


def serve(
    *,
    rows: Sequence[Operation],
    directory: str,
    read_only: bool = False,
    stdin_fd: int | None = None,
    stdout_fd: int | None = None,
    limits: Limits | None = None,
) -> int:
    """[1/9] Serve MCP until the input ends; the exit status (0; 128 + the signal's number; 1: stdout failed).

    Without descriptors the process's own streams and signals are taken over, and the process ends here: no
    daemon thread, wherever it is parked, can then abort the interpreter.
    """
    owns_process = stdin_fd is None
    if owns_process:
        stdin_fd, stdout_fd = take_streams()
        if os.isatty(stdin_fd):
            os.write(STDERR_FD, TERMINAL_HINT.encode("ascii"))
    source = ThreadInput(stdin_fd) if os.name == "nt" else SelectInput(stdin_fd)
    server = Server(
        rows=rows,
        directory=directory,
        read_only=read_only,
        limits=limits or Limits(),
        source=source,
        stdout_fd=stdout_fd,
    )
    if owns_process:
        _catch_signals(server, source)
    status = server.run()
    if owns_process:
        _end_process(status)
    return status


def _end_process(status: int) -> None:
    for stream in (sys.stdout, sys.stderr):  # what tools printed; both lead to stderr
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            continue
    os._exit(status)

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
