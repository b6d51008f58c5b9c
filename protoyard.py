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

import json
import os
import re
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
SHOWN_VALUE_CHARS = 80

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
# Rules: uses §01-03, §05. Only this section opens or resolves a caller's path.

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
    for number, operation in enumerate(patch):
        try:
            _apply_operation(box, operation)
        except _PatchFault as fault:
            raise Failure("invalid_patch", f"/{number}: {fault}; nothing was changed") from None
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
    if pointer and not pointer.startswith("/") or re.search("~(?![01])", pointer):
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
    return type_name(one) in (type_name(other), *_NUMBERS) and bool(one == other)


_NUMBERS = ("integer", "number")


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


def _apply_operation(box: dict[str, Any], operation: Any) -> None:
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
        action(box, operation["path"], *([operation[member]] if member else []))
    except ValueError as error:
        raise _PatchFault(str(error)) from None


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
    """A key for each item, the same for what is the same thing: its id, else its text; repeats are numbered."""
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
_COUNTED = {"roles": "label", "entities": "label", "screens": "title", "flows": "label", "settings": "label"}


def _named_items(blueprint: Mapping[str, Any]) -> dict[str, dict[str, tuple[str, Any]]]:
    """kind -> key -> (name for people, the item without its countable parts)."""
    found: dict[str, dict[str, tuple[str, Any]]] = {}
    for kind, label in _COUNTED.items():
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
    rest = {name: value for name, value in blueprint.items() if name not in _COUNTED}
    found["rest"] = {name: (name, value) for name, value in rest.items()}
    return found


def summarise_change(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """What changed in words: lists `added`, `changed`, `removed`, and `untouched` counts by kind."""
    before, after = _named_items(old), _named_items(new)
    summary: dict[str, Any] = {"added": [], "changed": [], "removed": [], "untouched": {}}
    for kind in after:
        one = "" if kind == "rest" else f"{kind[:-3] + 'y' if kind == 'entities' else kind[:-1]} "
        was, now = before[kind], after[kind]
        summary["added"] += [f"{one}{now[key][0]}" for key in now if key not in was]
        summary["removed"] += [f"{one}{was[key][0]}" for key in was if key not in now]
        both = [key for key in now if key in was]
        changed = [key for key in both if not same_json(was[key][1], now[key][1])]
        summary["changed"] += [f"{one}{now[key][0]}" for key in changed]
        if kind != "rest":
            summary["untouched"][kind] = len(both) - len(changed)
    return summary


def find_warnings(blueprint: Mapping[str, Any]) -> list[str]:
    """What is allowed but probably not meant: unreachable screens, empty boards, entities without a screen."""
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


def render_blueprint(blueprint: Mapping[str, Any]) -> str:
    """The text of a blueprint file: the members in the schema's order, indented, one newline at the end."""
    return render_document(_ordered(blueprint, blueprint_schema()))


def _ordered(value: Any, schema: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_ordered(item, schema.get("items", {})) for item in value]
    if not isinstance(value, dict):
        return value
    known = schema.get("properties", {})
    names = [name for name in known if name in value] + [name for name in value if name not in known]
    return {name: _ordered(value[name], known.get(name, {})) for name in names}


def digest(blueprint: Mapping[str, Any]) -> str:
    """`sha256:` and the hex digest of the blueprint file's bytes."""
    import hashlib

    return "sha256:" + hashlib.sha256(render_blueprint(blueprint).encode("utf-8")).hexdigest()


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
