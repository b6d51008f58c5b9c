#!/usr/bin/env python3
# ======================================================================
# §00 head: what this is, the map, the way of one request
# ======================================================================
"""Protoyard: a brief in, clickable HTML prototypes out; an MCP server and a command line in one module."""

from __future__ import annotations

import sys

if sys.version_info < (3, 9):  # parsed by 3.7 and 3.8: no walrus, no positional-only mark in this file
    sys.stderr.write(
        "protoyard needs Python 3.9 or newer, but %s is Python %d.%d\n"
        % ((sys.executable,) + sys.version_info[:2])
    )
    sys.exit(3)

import json
import os
import re
import threading
import time
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Sequence

__version__ = "0.1.0"
__all__ = ["__version__", "main"]

# ======================================================================
# §01 limits: every size, time, count, fixed name and revision id
# ======================================================================
# Rules: constants only, the unit in the name, the reason above. A number that appears anywhere below is a bug.

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

# Operations (TOOLS §1).
BRIEF_MAX_CHARS = 4000
PATCH_MAX_CHARS = 200_000
SEED_MAX = 2**31 - 1
VARIANT_LETTERS = "abcdef"
VARIANTS_DEFAULT = 3
LIST_LIMIT_MAX = 200
LIST_LIMIT_DEFAULT = 50
RECORDS_SHOWN = 3

# The blueprint (TOOLS §3). The prototype's "today" is a constant, a Monday, so that equal briefs give equal bytes.
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

# ======================================================================
# §02 errors: the closed table of failure codes
# ======================================================================
# Rules: uses §01. A failure is data for people and agents: what was wrong, where, what to do next.

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_USAGE = 2


class FailureKind(NamedTuple):
    """One row of the closed table: the command line's exit status and when the code is given."""

    exit_status: int
    when: str


# fmt: off
FAILURES: Mapping[str, FailureKind] = {  # the order is that of WIRE §6
    "unknown_tool":        FailureKind(EXIT_USAGE,  "no such tool; the hint lists the registered ones"),
    "invalid_arguments":   FailureKind(EXIT_USAGE,  "the arguments break the tool's schema; every problem is listed"),
    "arguments_too_large": FailureKind(EXIT_USAGE,  "the arguments exceed 256 KiB as compact JSON"),
    "unsafe_path":         FailureKind(EXIT_FAILED, "a path is not provably inside the workspace, or is spelled unsafely"),
    "not_found":           FailureKind(EXIT_FAILED, "what was named does not exist"),
    "already_exists":      FailureKind(EXIT_FAILED, "something is in the way"),
    "conflict":            FailureKind(EXIT_FAILED, "`base` names another revision than the current one"),
    "invalid_blueprint":   FailureKind(EXIT_FAILED, "the blueprint breaks its rules; JSON pointers name each problem"),
    "invalid_patch":       FailureKind(EXIT_FAILED, "the patch is no patch or does not apply"),
    "missing_dependency":  FailureKind(EXIT_FAILED, "a browser or pnpm is needed and not there; nothing was written"),
    "dependency_failed":   FailureKind(EXIT_FAILED, "the browser or pnpm ran and failed"),
    "busy":                FailureKind(EXIT_FAILED, "another process holds the workspace, or too many calls wait"),
    "read_only":           FailureKind(EXIT_FAILED, "a writing tool on a server started with --read-only"),
    "timeout":             FailureKind(EXIT_FAILED, "the call was stopped at its time limit"),
    "output_too_large":    FailureKind(EXIT_FAILED, "the result exceeds 512 KiB; the hint says how to ask for less"),
    "no_workspace":        FailureKind(EXIT_FAILED, "the workspace is no usable directory; pass --workspace DIR"),
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
# draft 2020-12: type (one name), enum, const, pattern (matched whole), minLength, maxLength (code points), minimum,
# maximum, properties, required, additionalProperties (false or a schema), items, minItems, maxItems.


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
    """Every problem of a parsed JSON value under a schema of our subset, in document order; empty when it fits."""
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
# Rules: uses §01-03, §05. Only this section opens or resolves a caller's path.

# ======================================================================
# §07 blueprint: schema, semantic checks, patches, differences in words
# ======================================================================
# Rules: uses §01-04; pure.

# ======================================================================
# §08 archetypes: tables of record types, fields, statuses, words
# ======================================================================
# Rules: uses §01, §07; pure.

# ======================================================================
# §09 brief: text to roles, entities, screens, flows, variants
# ======================================================================
# Rules: uses §01-04, §07-08; pure.

# ======================================================================
# §10 records: seeded fictional data, consistent across entities
# ======================================================================
# Rules: uses §01, §07-08; pure.

# ======================================================================
# §11 page: style, runtime and markup; blueprint to one self-contained page
# ======================================================================
# Rules: uses §01, §03, §07; pure.

# ======================================================================
# §12 store: prototypes on disk
# ======================================================================
# Rules: uses §01-07, §10-11; knows no brief: it is handed blueprints.

# ======================================================================
# §14 browser: find a browser, drive it by its pipe, take screenshots
# ======================================================================
# Rules: uses §01-06.

# ======================================================================
# §15 operations: the rows that are tools and commands
# ======================================================================
# Rules: uses §01-14.

# ======================================================================
# §16 cli: parser from the rows, execute, printing for people
# ======================================================================
# Rules: uses §01-07, §15.

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
# Rules: uses §01-06, §14-18.

# ======================================================================
# §20 main: the joined table and the guard
# ======================================================================
# Rules: uses all.
