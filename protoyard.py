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
RECORD_ID_MAX_CHARS = 64
RATING_MAX = 5

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
# Rules: uses §01-04; pure. BLUEPRINT_SCHEMA is published and checked; what a schema cannot say (references, values
# that fit their field) is in the check functions below it, each problem with its JSON pointer (RFC 6901).

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
    "person", "people", "building", "briefcase", "box", "cart", "card", "coin", "file", "folder", "check", "flag",
    "calendar", "clock", "bell", "chat", "mail", "phone", "map", "truck", "car", "wrench", "gear", "chart", "heart",
    "leaf", "paw", "book", "cap", "home", "door", "star", "shield", "flask", "food", "ball", "tag", "link", "circle",
)
# fmt: on

_TITLES = {
    "asOf": "Today",
    "lang": "Language",
    "dir": "Writing direction",
    "id": "Identifier",
    "because": "Reason",
}


def _member_title(name: str) -> str:
    return _TITLES.get(name) or re.sub("([A-Z])", lambda m: " " + m[1].lower(), name).capitalize()


def _object(description: str, members: Mapping[str, dict[str, Any]], required: str) -> dict[str, Any]:
    """A closed object schema; each member gets its title from its name."""
    properties = {name: {"title": _member_title(name), **schema} for name, schema in members.items()}
    head = {"type": "object", "description": description, "required": required.split()}
    return {**head, "properties": properties, "additionalProperties": False}


def _text(description: str, most: int = TEXT_MAX_CHARS, least: int = 0) -> dict[str, Any]:
    return {"type": "string", "description": description, "minLength": least, "maxLength": most}


def _label(description: str) -> dict[str, Any]:
    return _text(description, LABEL_MAX_CHARS, 1)


def _id(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description, "pattern": ID_PATTERN, "maxLength": ID_MAX_CHARS}


def _one_of(description: str, values: Iterable[str]) -> dict[str, Any]:
    return {"type": "string", "description": description, "enum": list(values)}


def _many(
    description: str, items: dict[str, Any], most: int = LIST_ITEMS_MAX, least: int = 0
) -> dict[str, Any]:
    return {"type": "array", "description": description, "items": items, "minItems": least, "maxItems": most}


_FILTER = _object(
    "Which records count: those whose field has one of the values, or whose date falls in a time.",
    {
        "field": _id("A field of the widget's entity."),
        "values": _many("The values that count (status or choice).", _label("One value."), least=1),
        "when": _one_of("Where a date lies, seen from the blueprint's asOf.", FILTER_TIMES),
    },
    "field",
)
_WIDGET = _object(
    "One tile or chart of a dashboard.",
    {
        "kind": _one_of(
            "count and sum are tiles, list shows rows, bars, donut and trend are charts.", WIDGET_KINDS
        ),
        "entity": _id("The entity that is counted or shown."),
        "title": _label("The tile's heading."),
        "filter": _FILTER,
        "measure": _id(
            "sum, bars, trend: the numeric field that is added up; without it records are counted."
        ),
    },
    "kind entity title",
)
_ROLE = _object(
    "Somebody who uses the product; the page can be seen through each role's eyes.",
    {
        "id": _id("Unique among the roles."),
        "label": _label("What the role is called."),
        "because": _text("The words of the brief that caused it."),
        "screens": _many("Ids of the screens the role may see; absent: all.", _id("A screen id.")),
        "rights": _many("What the role may do to records; absent: all.", _one_of("A right.", RIGHTS)),
    },
    "id label",
)
_FIELD = _object(
    "One member of an entity's records.",
    {
        "id": _id('Unique within the entity; never "id".'),
        "label": _label("The field's name in forms and columns."),
        "type": _one_of("What the values are; duration is in minutes, rating is 1 to 5.", FIELD_TYPES),
        "required": {"type": "boolean", "description": "Whether a form insists on it."},
        "hint": _text("Help beside the input.", LABEL_MAX_CHARS),
        "min": {"type": "number", "description": "The smallest value a form accepts (numeric types)."},
        "max": {"type": "number", "description": "The largest value a form accepts (numeric types)."},
        "values": _many(
            "status, choice: the allowed values; a status in its order.", _label("A value."), least=1
        ),
        "entity": _id("ref: the entity whose record is referred to."),
        "unit": _text("What a number counts, for example km or EUR.", LABEL_MAX_CHARS),
        "default": {"description": "The value a new record starts with; it must fit the type."},
    },
    "id label type",
)
_RECORD = {
    "type": "object",
    "title": "Record",
    "description": "One record: its id and a value for each field id. A missing member is filled with fictional data.",
    "required": ["id"],
    "properties": {
        "id": {
            "type": "string",
            "title": "Identifier",
            "description": "Unique within the entity; refs use it.",
            "pattern": RECORD_ID_PATTERN,
            "maxLength": RECORD_ID_MAX_CHARS,
        }
    },
    "additionalProperties": {"description": "The value of the field with this id."},
}
_ENTITY = _object(
    "A kind of record.",
    {
        "id": _id("Unique among the entities."),
        "label": _label("One of them, for example Inspection."),
        "plural": _label("Several of them."),
        "icon": _one_of("A drawing of the page.", ICONS),
        "because": _text("The words of the brief that caused it."),
        "fields": _many("The fields in their order.", _FIELD, FIELDS_MAX, 1),
        "display": _id("The field that names a record."),
        "records": _many("The fictional records.", _RECORD, RECORDS_PER_ENTITY_MAX),
    },
    "id label plural fields display",
)
_SCREEN = _object(
    "One screen. Which members belong to which type: "
    + "; ".join(f"{name}: {', '.join(members) or 'none'}" for name, members in SCREEN_TYPES.items())
    + " (* is required).",
    {
        "id": _id("Unique among the screens."),
        "title": _label("The screen's heading."),
        "type": _one_of("What kind of screen it is.", SCREEN_TYPES),
        "because": _text("The words of the brief that caused it."),
        "entity": _id("The entity it shows (all but dashboard and settings)."),
        "columns": _many("list, cards, inbox: the field ids shown, in order.", _id("A field id.")),
        "groupBy": _id("board: the status or choice field of its columns. report: the field it groups by."),
        "dateField": _id("calendar, timeline: the date or datetime field."),
        "endField": _id("calendar, timeline: the field with the end of a span."),
        "measure": _id("report, dashboard: the numeric field that is added up."),
        "steps": _many(
            "form: lists of field ids; more than one list makes it guided.",
            _many("One step.", _id("A field id."), FIELDS_MAX, 1),
        ),
        "filters": _many("The field ids offered as filters.", _id("A field id.")),
        "widgets": _many("dashboard: its tiles and charts.", _WIDGET),
    },
    "id title type",
)
_FLOW = _object(
    "A journey through screens that a reviewer can follow.",
    {
        "id": _id("Unique among the flows."),
        "label": _label("What the journey is called."),
        "role": _id("The role that makes it."),
        "steps": _many(
            "The stations in order.",
            _object(
                "One station.",
                {
                    "screen": _id("A screen id."),
                    "record": {
                        "type": "string",
                        "description": "The record shown, by id.",
                        "pattern": RECORD_ID_PATTERN,
                        "maxLength": RECORD_ID_MAX_CHARS,
                    },
                    "hint": _text("What to do here.", LABEL_MAX_CHARS),
                },
                "screen",
            ),
            least=1,
        ),
    },
    "id label steps",
)
_SETTING = _object(
    "A number, limit or switch of the product that can be changed on a settings screen.",
    {
        "id": _id("Unique among the settings."),
        "label": _label("The setting's name."),
        "type": _one_of("What its value is.", SETTING_TYPES),
        "value": {"description": "The value; it must fit the type."},
        "unit": _text("What a number counts.", LABEL_MAX_CHARS),
        "because": _text("The words of the brief that caused it."),
    },
    "id label type value",
)
_AXES = _object(
    "Where this variant stands on the axes in which variants differ.",
    {
        "navigation": _one_of("The main navigation.", LAYOUTS),
        "home": _one_of("The type of the first screen.", SCREEN_TYPES),
        "main": _one_of("How the lead record is mainly seen.", MAIN_VIEWS),
        "detail": _one_of("How one record opens.", DETAIL_FORMS),
        "entry": _one_of("How a record is entered.", ENTRY_FORMS),
        "density": _one_of("How much fits on a screen.", DENSITIES),
    },
    "navigation home main detail entry density",
)
_VARIANT = _object(
    "Which of the variants this is.",
    {
        "id": _one_of("Its letter.", VARIANT_LETTERS),
        "question": _text("The question that this variant answers.", LABEL_MAX_CHARS, 1),
        "rationale": _text("Whom it serves, in one paragraph."),
        "cost": _text("What one pays for it."),
        "axes": _AXES,
    },
    "id question axes",
)
_THEME = _object(
    "How the page looks.",
    {
        "palette": _one_of("The family of colours.", PALETTES),
        "layout": _one_of("Where the navigation is.", LAYOUTS),
        "density": _one_of("How much fits on a screen.", DENSITIES),
        "mode": _one_of("Light, dark, or as the device says.", MODES),
        "corners": _one_of("How round corners are.", CORNERS),
    },
    "palette layout density mode corners",
)
BLUEPRINT_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Protoyard blueprint",
    **_object(
        "The source of truth of one prototype variant. References go by id.",
        {
            "blueprint": {"const": 1, "description": "The version of this format."},
            "title": _label("The product's name."),
            "brief": _text("The brief it was drawn from.", BRIEF_MAX_CHARS),
            "lang": {
                "type": "string",
                "description": "BCP 47 tag of the interface language.",
                "pattern": LANG_PATTERN,
                "maxLength": LABEL_MAX_CHARS,
            },
            "dir": _one_of("The script's direction.", ("ltr", "rtl")),
            "seed": {
                "type": "integer",
                "description": "Decides the fictional data.",
                "minimum": 0,
                "maximum": SEED_MAX,
            },
            "asOf": {
                "type": "string",
                "description": "The date that the prototype takes for today.",
                "pattern": DATE_PATTERN,
            },
            "variant": _VARIANT,
            "roles": _many("Who uses it.", _ROLE),
            "entities": _many(
                f"The kinds of record; at most {RECORDS_MAX} records in all.", _ENTITY, ENTITIES_MAX, 1
            ),
            "screens": _many("The screens.", _SCREEN, SCREENS_MAX, 1),
            "navigation": _many(
                "Screen ids of the menu in order; the first is home.", _id("A screen id."), least=1
            ),
            "flows": _many("Journeys.", _FLOW),
            "settings": _many("Numbers and limits found in the brief.", _SETTING),
            "theme": _THEME,
        },
        "blueprint title brief lang dir seed asOf variant roles entities screens navigation flows settings theme",
    ),
}


# --- values ---------------------------------------------------------------------------------------------------


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
    """What is wrong with a value of `field` (references apart), or "": an empty string is an explicit empty."""
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


# --- semantic checks: each yields Problems for one part of a blueprint that fits the schema --------------------


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
    """Every problem of a parsed blueprint, schema first; only one that fits the schema is checked for meaning."""
    problems = check_schema(value, BLUEPRINT_SCHEMA)
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


# --- text and digest ------------------------------------------------------------------------------------------


def render_blueprint(blueprint: Mapping[str, Any]) -> str:
    """The text of a blueprint file: the members in the schema's order, indented, one newline at the end."""
    return render_document(_ordered(blueprint, BLUEPRINT_SCHEMA))


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
# Rules: uses §01-04, §07-08; pure. A brief goes one way: characters → clauses → words with a part of speech → noun
# phrases → things, roles, signals → plan → blueprints. Each step is linear in the text; no hash order, no locale.
# Weights say how surely a noun is a record; they and the word lists are the place to change what briefs mean.

# Letters, digits and marks that Unicode 13 (Python 3.9) lacks and a later version has or may get: noise on every Python.
_LATER = """
86B-89F 8B5 8C8-8D2 C3A-C3C C5B-C5F CD7-CDD CF3-CFF ECE-ECF 170D 1715-171F 180F 1AC1-1AFF 1B4C-1B4F 1C89-1C8F
1DFA 2C2F 2C5F 9FFD-9FFF A7C0-A7C1 A7CB-A7F4 10570-105FF 10768-107FF 10940-1097F 10D3A-10E5F 10EAE-10EAF
10EB2-10EFF 10F28-10F2F 10F5A-10FAF 11070-1107E 110C2-110CC 1123F-1127F 11375-113FF 116B9-116BF 116CA-116FF
1173C-117FF 11AA3-11ABF 11AF9-11BFF 11DAA-11EDF 11EF9-11FAF 12544-12FFF 1342F 13439-143FF 14647-167FF
16A70-16ACF 16AF6-16AFF 16B90-16E3F 16E9B-16EFF 187F8-187FF 18CD6-18CFF 18D09-1AFFF 1B11F-1B14F 1B153-1B163
1BCA4-1CFFF 1D246-1D2DF 1DAB0-1DFFF 1E02B-1E0FF 1E150-1E2BF 1E300-1E7FF 2A6DE-2A6FF 2B735-2B73F 2EBE1-2F7FF
3134B-E0000
"""
# Word lists, a key and its words a line (a line that starts with a space goes on). Parts of speech: D determiner,
# I preposition, C conjunction, R pronoun, X auxiliary, A adverb, J adjective that names no record, - negation, V verb,
# B verb and noun; all else is a noun. Then what nouns are (archetypes.md §5; -er, -ly, -men: what only ends that way),
# words that mean something, those that ask for a screen, other forms, deeds that imply a record, what products hold.
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
 avoid become begin believe belong borrow bring browse build bundle buy calculate cancel capture carry
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
 share show sign sit solve speak specify spend split stand start stay submit subscribe suggest summarise
 supervise suspend take talk teach tell terminate think throw tick translate treat triage try turn understand
 unlock update upload use vaccinate validate verify wait want warn weigh welcome win withdraw write reinvent
 experience earn sew wear bake
B answer audit harvest bill book call care change charge chart check claim comment contact contract control
 cost cover deal design dispatch document draft drive drop email e-mail estimate exchange exercise feed file
 flag forecast form fund grade grant group guide hand hold host interview issue judge label land lead lease
 leave link list load loan log mark match measure message mix model mount move name note notice number offer
 order pack park pass pay permit plan plant play pledge point post practice present press price print process
 program project pump purchase question quote race rank rate record refund register release rent repair report
 request research reserve return review ride risk round route run sample save scan schedule score screen
 search service set shift ship shop signal sort source sponsor staff stage state step stock stop store study
 supply support survey swap tag target taste test tour track trade train transfer transport travel trust view
 visit vote walk wash watch water work rule head scale volunteer block filter cook clock trap patrol roll
 touch copy cut sum count break ring star
ing booking viewing meeting reading training screening hearing listing rating opening building drawing sitting
 painting filing fitting landing mailing posting recording ruling sailing setting showing sighting housing
 catering accounting billing marketing briefing wedding outing offering crossing finding mooring planting
 tasting string ring king spring evening morning ceiling clothing wing pricing engineering sampling parking
 sibling
heads attempt detail sheet line item entry level list plan request report template result note type log
 history card form code step slot record package point movement score rating status schedule order job ticket
 limit room page window fee paper system
product app application system tool portal platform software solution website webapp page thing module mvp
 prototype tracker planner database spreadsheet diary suite hub organiser organizer manager scheduler register
 registry book place program workflow process assistant helpdesk crm erp management tracking planning
 administration operations handling
screens dashboard calendar board chart overview view report wall screen queue inbox timeline graph kanban
 pipeline funnel feed cockpit map list directory index homepage button tab widget profile agenda roadmap
 filter search export form history curve table ranking statistics notification setting preference
 configuration log gantt column stage summary
place company agency clinic shop club department office team city business firm hospital hotel ward farm
 museum factory plant charity municipality council university studio salon bakery cafe café startup bank
 festival league hall village town region area country district county daycare kennel garage cemetery school
 college library gym kitchen restaurant bar pub theatre theater laboratory lab community neighbourhood
 association society foundation institute centre center organisation organization headquarters desk street
 network market world fleet industry nursery kindergarten church lodge camp resort practice household
 workplace ngo nonprofit co-op cooperative enterprise brand band house housing ground yard campus port harbour
 marina zoo facility authority ministry bureau
time day week month year quarter morning evening afternoon night weekend hour minute second moment season
 winter summer autumn spring monday tuesday wednesday thursday friday saturday sunday january february march
 april june july august september october november december time date decade century today tomorrow phase end
 start beginning term semester future glance
metric kpi rate percentage workload average statistic trend total figure metric ratio turnover throughput
 amount progress percent share value level usage volume balance revenue profit margin capacity utilisation
 count sum number countdown eur usd gbp euro dollar pound
field name title price date status address photo picture image phone telephone colour color size type category
 quantity duration priority id identifier description code unit birthday weight height temperature reason
 condition mileage warranty barcode currency signature language gender age link url label expiry detail
 information info data content property heat power electricity water
filler mission passion slogan change movement right purpose vision dream idea benefit advantage experience
 quality way case story example fact problem mess chaos error hassle pain help support advice need requirement
 scope weather everybody internet web tablet mobile smartphone computer desktop browser wifi paper notebook
 telephone excel whatsapp airtable trello notion access outlook sap salesforce cupboard attention look feel
 style design theme clock half public wag tail root hand mind life love heart stakeholder audience security
 performance speed reliability login password permission duplicate ring safety bit side front rest cause chain
 scratch back top bottom middle plenty variety range set pair laptop-screen scene use person people color user
 interface
people nurse vet patient guest client staff clerk chef cook guide pilot coach judge parent pupil student
 tenant resident agent lead escort secretary boss friend person child kid admin head chair captain mentor
 apprentice intern architect midwife physio mechanic host pm po scout participant applicant consultant
 accountant assistant attendant merchant courier expert analyst specialist therapist dentist artist florist
 arborist hygienist receptionist pharmacist stylist librarian technician electrician musician physician
 citizen colleague crew-member paralegal warden sales-rep rep foreman recruit delegate cashier athlete
 volunteer donor witness trustee referee employee attendee trainee appointee nominee owner partner
party patient guest client customer pupil student tenant owner donor member candidate applicant resident
 citizen volunteer visitor participant attendee player contact buyer passenger child kid learner trainee
 borrower subscriber supplier vendor holder friend athlete sponsor driver guide household juror
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
making add create request record log submit file book plan schedule write report register enter
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
being be is are was were been being
unchanged run put set cut split read
indefinite a an any some each every
clausal but because so while when if though who since until
joining and & + , / or plus
vendors contractor supplier vendor bidder provider
ownlife report log form card template chart sheet
stages stage status state column step phase outcome result
listing want need have include hold keep store track manage organise organize cover require list
human send enter tick assign update edit mark request write sign note add create submit file report approve
 check pick record see view read review decide confirm reject log book schedule order export monitor raise
 prepare measure plan inspect visit
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
 enrol:enrolment
unit inventory:inventory_item stock:stock_item livestock:animal
implied crm:contact,deal sales:deal,customer erp:order,product inventory:inventory_item,supplier
 stock:stock_item,supplier warehouse:stock_item,location cemetery:grave,burial graveyard:grave,burial
 helpdesk:ticket,customer support:ticket,customer library:book,loan gym:member,class
 restaurant:table,reservation hotel:room,reservation hostel:room,reservation school:student,course
 clinic:patient,appointment hospital:patient,appointment dental:patient,appointment salon:client,appointment
 hairdresser:client,appointment recruiting:candidate,job_opening recruitment:candidate,job_opening
 hiring:candidate,job_opening ats:candidate,job_opening fleet:vehicle,driver garage:vehicle,work_order
 rental:item,rental shop:product,order store:product,order bakery:product,order farm:animal,field
 zoo:animal,enclosure kennel:dog,booking church:member,event club:member,event conference:session,speaker
 wedding:guest,task museum:object,exhibition construction:project,task agency:client,project law:case,client
 legal:case,client accounting:invoice,expense invoicing:invoice,customer billing:invoice,customer
 finance:invoice,budget hr:employee,leave_request leave:leave_request,employee payroll:employee,payslip
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


@once
def _words() -> Mapping[str, Mapping[str, None]]:
    rows = (row.split() for row in _WORDS.replace("\n ", " ").strip().splitlines())
    return {row[0]: dict.fromkeys(row[1:]) for row in rows}


def _is(group: str, word: str) -> bool:
    return word in _words()[group]


@once
def _tables() -> Mapping[str, Mapping[str, Any]]:
    """What is looked up by word: part of speech, the verb it is a form of, singular, class, the screens it asks for."""
    words = _words()
    names = ("forms", "plurals", "deeds", "unit", "implied")
    tables: dict[str, dict[str, Any]] = {
        name: dict(pair.split(":") for pair in words[name]) for name in names
    }
    tables["part"] = {word: tag for tag in "JAXRCID-" for word in words[tag]}
    classes = ("field", "filler", "metric", "time", "screens", "place", "product")
    tables["class"] = {word: kind for kind in classes for word in words[kind]}
    tables["verb"] = {f: (base, kind) for tag in "BV" for base in words[tag] for f, kind in _verb_forms(base)}
    tables["verb"].update({form: (base, "ed") for form, base in tables["forms"].items()})
    tables["signal"] = {}
    for kind in (kind for kind in SCREEN_TYPES if kind in words):
        for word in words[kind]:
            tables["signal"].setdefault(word, []).append(kind)
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
    """Whether a noun is somebody: listed, or by its ending and no thing that ends alike (archetypes.md §2)."""
    ends = re.search("([^e]er|or|ist|man|woman|eer|lord)$", word) and len(word) > SHORT_WORD_CHARS
    return (
        any(_is(group, word) for group in ("people", "party", "departments"))
        or bool(ends)
        and not _is("-er", word)
    )


class _Token:
    """A word or mark: as written, lower case, its part of speech, the base form of a verb or singular of a noun."""

    __slots__ = ("base", "low", "owns", "tag", "text")

    def __init__(self, text: str) -> None:
        low = text.lower().replace("’", "'")
        self.text, self.tag = text, _tables()["part"].get(low, "")
        self.owns = low.endswith("'s") and not self.tag
        self.low = self.base = low[:-2] if self.owns else low

    @property
    def many(self) -> bool:
        """Whether it is a noun in the plural."""
        return self.tag == "N" and self.base != self.low

    @property
    def proper(self) -> bool:
        """Whether inside a sentence its capital marks the name of somebody or something: no known word, no abbreviation."""
        known = self.base in archetypes() or _class_of(self.base)
        return self.text != self.text.lower() and sum(map(str.isupper, self.text)) == 1 and not known


def _tokens(text: str) -> list[_Token]:
    """The words and marks of a sentence, each with its part of speech."""
    tokens = [_Token(word) for word in re.findall(r"\bw/|[^\W_]+(?:['’\-‑][^\W_]+)*|[^\w\s]", text)]
    nothing = _Token("")
    for n, token in enumerate(tokens):
        before, after = tokens[n - 1] if n else nothing, tokens[n + 1] if n + 1 < len(tokens) else nothing
        token.tag = _part_of(tokens, n, before, after)
        if token.tag == "N":
            token.base = token.low[:-1] if re.fullmatch("[A-Z]{2,}s", token.text) else _singular(token.low)
        elif token.tag in ("V", "G", "P"):
            token.base = _tables()["verb"].get(token.low, (token.low, ""))[0]
    return tokens


def _part_of(tokens: list[_Token], n: int, before: _Token, after: _Token) -> str:
    """The part of speech of word `n`: from the lists, from its form, for a verb's form from its neighbours."""
    token = tokens[n]
    if not token.low[:1].isalnum() or token.low[0].isdigit():
        return "#" if token.low[:1].isdigit() else token.tag or token.text
    if token.tag == "D" and before.tag == "N" and _is("relative", token.low):
        return "R"
    commanded = token.tag == "J" and (after.tag in ("D", "R") or before.many)
    if token.low in _tables()["verb"] and not token.owns and (commanded or not token.tag):
        return _verb_tag(tokens, n, after)
    if token.tag:
        return "N" if token.text == "IT" else token.tag
    if before.many and _is_person(before.base) and after.tag in ("D", "J") and not token.low.endswith("s"):
        return "V"  # an unknown word between people and an object: what they do
    return "A" if token.low.endswith("ly") and not _is("-ly", token.low) else "N"


def _verb_tag(tokens: list[_Token], n: int, after: _Token) -> str:
    """V verb, G gerund, P participle, J adjective or N noun for a word that looks like a verb: its neighbours decide."""
    base, kind = _tables()["verb"][tokens[n].low]
    before = next((token for token in reversed(tokens[max(0, n - 2) : n]) if token.tag != "A"), _Token(""))
    next_tag = after.tag or ("N" if after.low[:1].isalpha() else after.low[:1])
    led = before.tag in ("D", "J", "#") or before.owns or before.low in ("no", "without")
    helped = not led and (before.tag in ("X", "R", "-") or before.low == "to")
    both, follows = _is("B", base), next_tag in ("D", "R", "#") or (next_tag == "J" and kind == "s")
    if kind == "ed":
        return "J" if not helped and next_tag == "N" and (led or before.tag != "N") else "P"
    if kind == "ing":
        named = _is("ing", tokens[n].low)
        if led:
            return "N" if named or next_tag != "N" else "J"
        return "G" if helped or not named or next_tag in ("D", "R") else "N"
    if helped and not (_is("being", before.low) and kind == "base"):
        return "N" if kind == "s" and before.low == "to" else "V"
    if helped and _is("unchanged", base) and before.low != "be":
        return "P"
    if led or (both and (helped or before.tag == "I")):
        return "N"
    if kind == "s":
        return "V" if _is_finite(tokens, n, before, after, next_tag) else "N"
    if before.tag == "N":
        return "V" if not both or follows or before.many or before.low == "staff" else "N"
    if not both or follows or before.tag in ("V", "G", "P"):
        return "N" if both and not follows else "V"
    return _opening_tag(tokens, n, after, next_tag)


def _is_finite(tokens: list[_Token], n: int, before: _Token, after: _Token, next_tag: str) -> bool:
    """Whether a form in -s is a verb ("the clerk records it") rather than a plural ("the clerk's records")."""
    both = _is("B", _tables()["verb"][tokens[n].low][0])
    base, kind = _tables()["verb"].get(after.low, ("", ""))
    acts_next = kind in ("base", "s") and not _is("B", base) and not after.tag
    if before.tag == "V" or (acts_next and before.tag != "N"):
        return False
    pair = "-".join(token.low for token in tokens[max(0, n - 2) : n])
    office = _is("departments", before.low) or _is("departments", pair)
    led = (
        office
        or any(token.tag == "D" for token in tokens[max(0, n - 4) : n])
        or (n == 1 and not _is("party", before.low))
    )
    somebody = office or (before.tag == "N" and not before.many and _is_person(before.base))
    follows = before.tag == "N" and next_tag in ("D", "R", "#", "J")
    series = before.low in (",", "and", "or", "then") and any(token.tag == "V" for token in tokens[:n])
    return (
        not both
        or follows
        or (somebody and led and next_tag.isalpha() and next_tag != "C")
        or (series and next_tag in ("N", "D", "J", "R"))
    )


def _opening_tag(tokens: list[_Token], n: int, after: _Token, next_tag: str) -> str:
    """The first word of a phrase: a command ("book rooms") or part of a name ("order lines")."""
    starts = ("N", "R", "X", "A")
    commands = any(
        t.tag == "V" and (k == 0 or tokens[k - 1].tag not in starts) for k, t in enumerate(tokens[:n])
    )
    head = _singular(after.low)
    if next_tag == "C":
        return "V" if commands and n and tokens[n - 1].tag in (",", "C") else "N"
    if next_tag not in ("N", "J") or f"{tokens[n].low} {head}" in archetypes() or _is_person(head):
        return "N"
    base, _ = _tables()["verb"].get(after.low, ("", ""))
    if _is("heads", head) or (base and not _is("B", base)):
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
    last = words[-1]
    someone = last.tag == "N" and _is_person(last.base)
    nouns = [token for token in words if token.tag == "N" and (capitals or someone or not token.proper)]
    while (
        len(nouns) > 1
        and _class_of(nouns[0].base) == "time"
        and f"{nouns[0].low} {last.base}" not in archetypes()
    ):
        nouns = nouns[1:]
    if not nouns or nouns[-1] is not last or len(last.base) < 2:
        return None
    nouns = nouns[-DRAFT_NAME_WORDS:]
    articles = [token.low for token in words if token.tag == "D"]
    form = "the" if articles else "bare"
    form = "plural" if last.many else "a" if any(_is("indefinite", word) for word in articles) else form
    before = [token.low for token in nouns[:-1]]
    name = " ".join([*before, last.base])
    shown = [t.text.rstrip("s") if re.fullmatch("[A-Z]{2,5}s?", t.text) else t.low for t in nouns[:-1]]
    shown.append(last.text.rstrip("s") if re.fullmatch("[A-Z]{2,5}s?", last.text) else last.base)
    unit = _tables()["unit"].get(name, "").replace("_", " ") if form != "plural" else ""
    person = someone or _is("departments", "-".join(name.split()))
    number = max(_number(token.low) for token in words)
    return _Noun(unit or name, unit or " ".join(shown), last.base, before, form, number, person)


def _number(word: str) -> int:
    names = "zero one two three four five six seven eight nine ten eleven twelve".split(" ")
    plain = re.sub("[.,]", "", word)
    return names.index(word) if word in names else int(plain) if re.fullmatch("[0-9]{1,6}", plain) else 0


# --- English: phrases to things and roles ---------------------------------------------------------------------


class _Thing:
    """A noun of the brief and, in the end, an entity: the words for it, how surely it is a record, what hangs on it."""

    def __init__(self, name: str, label: str, plural: str, because: str, *, person: bool = False) -> None:
        self.name, self.label, self.plural, self.because, self.person = name, label, plural, because, person
        self.kind, self.id, self.gloss = find_archetype(name, person=person), "", name
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
# fmt: off
_STANDS = {"list": 1, "object": 1, "subject": 0.7, "with": 0.9, "to": 0.7, "for": 0.7, "into": 0.8, "topic": 0.55, "place": 0.2}
_FORMED = {"plural": 1, "a": 0.9, "the": 0.7, "bare": 0.5}
_ELSE, _COUNTED, _KNOWN, _KIN, _AGAIN, _DEED, _SURE, _SPARE = 0.5, 0.2, 0.3, 0.15, 0.15, 0.7, 0.65, 0.5
# fmt: on


class _Reader:
    """Collects things, roles and signals while the sentences of an English brief pass through `read`."""

    def __init__(self) -> None:
        self.things: dict[str, _Thing] = {}
        self.roles: dict[str, _Role] = {}
        self.signals: dict[str, tuple[str, str]] = {}
        self.blocked: dict[str, str] = {}
        self.because = self.last = ""

    def read(self, tokens: list[_Token], because: str, *, topic: bool = False, negated: bool = False) -> None:
        """One sentence: `topic` when it names the product, `negated` when all of it is out of scope."""
        self.because, self.topic, self.always = because, topic, negated
        long = [token for token in tokens if len(token.text) >= SHORT_WORD_CHARS and token.text.isalpha()]
        self.capitals = 2 * sum(token.text[0] != token.low[0] for token in long) > len(long)
        self._clause()
        place = 0
        while place < len(tokens):
            place = self._step(tokens, place)

    def _clause(self) -> None:
        """A new clause: no verb, no preposition, nobody acting; a negation ends."""
        self.verb = self.preposition = self.form = ""
        self.subjects: list[_Noun] = []
        self.actors: list[_Role] = []
        self.negated = self.always

    def _step(self, tokens: list[_Token], n: int) -> int:
        token, before = tokens[n], tokens[n - 1] if n else _Token(".")
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
            such = (token.low, before.low) == ("as", "such") or token.low == "like"
            self.preposition = "example" if such else token.low
        elif token.tag == "R":
            self.subjects, self.actors, self.preposition = [], [], ""
        elif token.tag == "-":
            self.negated = self.negated or self._denies(tokens, n)
        elif _is("joining", token.low) and token.text != ",":
            self.preposition = "" if self.form not in ("plural", "") and not self.verb else self.preposition
        elif token.tag == "C" or token.text in ",;:|–—•.":
            self._on_mark(token, tokens[n + 1].tag if n + 1 < len(tokens) else "")
        return n + 1

    def _on_mark(self, token: _Token, next_tag: str) -> None:
        listed = self.preposition == "example" and token.text == ","
        self.preposition = "example" if listed else ""
        if (
            _is("clausal", token.low)
            or token.text in ";:|–—•."
            or (token.text == "," and next_tag in ("R", "X"))
        ):
            self._clause()

    def _denies(self, tokens: list[_Token], n: int) -> bool:
        """Whether a negation takes what follows out of the product, rather than tell what does not happen in it."""
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
            human = _is("human", token.base)
            self.actors = [role for noun in self.subjects for role in self._role(noun, human)]
            self.subjects = []
        self.verb = token.base
        self._signal(token.base, self.last)
        deed = _tables()["deeds"].get(token.base) if token.tag == "V" and not self.negated else None
        if deed:
            self._mention(deed, deed, False, _DEED)
        for role in self.actors:
            role.verbs.append(token.base)

    def _role(self, noun: _Noun, human: bool = False) -> list[_Role]:
        """The role that a noun phrase names: somebody, or whatever does what only people do; none for a tender's vendor."""
        unknown = noun.form != "plural" and not _class_of(noun.head) and noun.head not in archetypes()
        if self.negated or self._sells(noun) or not (noun.person or (human and unknown)):
            return []
        return [self.roles.setdefault(noun.name, _Role(noun.name, self.because, [], []))]

    def _sells(self, noun: _Noun) -> bool:
        return "shall" in self.because and _is("vendors", noun.head)

    def _on_phrase(self, words: list[_Token], after: list[_Token], before: _Token) -> None:
        noun = _noun(words, self.capitals or before.text in ".:•")
        if noun is None or self._sells(noun):
            return
        tags = [token.tag for token in after[:2]]
        enabled = noun.person and tags == ["I", "V"] and after[0].low == "to" and self.preposition != "to"
        acts = tags[:1] in (["V"], ["X"], ["-"]) or enabled
        joined = _is("joining", before.low)
        if acts:
            self.subjects = [*(self.subjects if joined else []), noun]
            self.verb, self.preposition = "", "per" if self.preposition == "per" else ""
        elif joined or not self.verb:
            self.subjects = [*self.subjects, noun][-2:] if noun.person else []
        context = "subject" if acts else self.preposition or ("object" if self.verb else "list")
        context = "topic" if self.topic and context == "list" else context
        if self.negated:
            for name in (noun.name, noun.head):
                self.blocked.setdefault(name, "the brief says that it is not wanted")
        elif context == "as":
            self.actors, self.subjects = self._role(noun, human=True), [noun]
        elif context != "example":
            self.form = noun.form
            self._on_noun(noun, context, words[-1].owns)

    def _kind(self, noun: _Noun, context: str, known: bool) -> str:
        """The class of words that are no record to which a noun phrase belongs, or ""."""
        kind, qualified = _class_of(noun.head), noun.modifiers and _class_of(noun.modifiers[-1])
        certain = known and (
            noun.form == "plural" or noun.modifiers or (noun.form == "a" and not self.preposition)
        )
        several = noun.form == "plural" or noun.number > 0 or (context == "per" and noun.form == "bare")
        own_life = _is("ownlife", noun.head) and noun.modifiers and qualified in ("", "field")
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
        if noun.person and (
            managed or (not party and (listed or context in ("by", "per", "to", "from", "object")))
        ):
            self._role(noun)
        if noun.person and not (party or noun.number or managed or listed):
            return
        strong = owner or (_is("asking", self.verb) and context in ("for", "to"))
        weight = _STANDS.get("object" if strong else context, _ELSE) * _FORMED[noun.form]
        weight += _KNOWN if known else _KIN if noun.head in archetypes() else 0
        thing = self._mention(noun.name, noun.label, noun.person, weight + (_COUNTED if noun.number else 0))
        thing.count = max(thing.count, noun.number)
        if context == "with":
            thing.links.append(self.last)
        elif context in ("per", "for", "of", "to", "by") and self.last in self.things:
            self.things[self.last].links.append(noun.name)
        parent = thing.kind.fields[0].target if known else ""
        if parent and parent == " ".join(noun.modifiers):
            self._mention(parent, parent, False, _DEED)
        for role in self.actors if context == "object" else ():
            role.things.append(noun.name)
        self.last = noun.name

    def _on_class(self, noun: _Noun, kind: str) -> None:
        """No record: a field goes to the record before it; what qualifies a screen or the product is a hint at one."""
        if kind == "field" and self.last in self.things and not self.topic:
            self.things[self.last].extra.append(_guess_field(noun.name))
        words = list(noun.modifiers)
        while words and _class_of(words[-1]) not in ("", "field"):
            words.pop()
        if words and kind in ("product", "screens", "place") and not _class_of(words[-1]):
            name = " ".join([*words[:-1], _singular(words[-1])])
            name = _tables()["unit"].get(name, name).replace("_", " ")
            weight = _STANDS["place" if kind == "place" else "topic"] + (
                _KNOWN if name in archetypes() else 0
            )
            self._mention(name, name, _is_person(words[-1]), weight)
            self.last = self.last or name
        if kind == "product":
            self.verb = "track"  # "a tool for X and Y": as if the brief said what it tracks

    def _mention(self, name: str, label: str, person: bool, weight: float) -> _Thing:
        new = _Thing(name, label, _plural(label), self.because, person=person)
        thing = self.things.setdefault(name, new)
        thing.weight = max(thing.weight, weight) + (_AGAIN if 0 < thing.times < DRAFT_NAME_WORDS else 0)
        thing.times += 1
        return thing

    def _on_bracket(self, tokens: list[_Token], n: int) -> int:
        """What stands in brackets: values of a status in their order, fields, or examples; never records of their own."""
        end = next((k for k in range(n, len(tokens)) if tokens[k].text in ")]"), len(tokens) - 1)
        inside, thing = tokens[n + 1 : end], self.things.get(self.last)
        for token in inside:
            self._signal(token.base, self.last)
        values = _bracket_values(inside)
        if thing is None or len(values) < 2 or self.negated:
            return end + 1
        if all(_class_of(_singular(value.lower().split()[-1])) == "field" for value in values):
            thing.extra += [_guess_field(value.lower()) for value in values]
        elif _is("stages", tokens[n - 1].base) or any(
            t.tag in ("P", "J", "-") or t.low.endswith("ed") for t in inside
        ):
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
    kinds = {"date|due|expir": "date", "price|cost|fee|amount": "money", "photo|picture|image|link": "url"}
    kinds.update(
        {"phone": "phone", "email": "email", "address": "address", "quantity|weight|height": "number"}
    )
    kind = next((kind for words, kind in kinds.items() if re.search(words, name)), "text")
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
    kinds = (
        next((_tables()["implied"][word] for word in words if word in _tables()["implied"]), "")
        .replace("_", " ")
        .split(",")
    )
    new = [
        name for name in kinds if name and name not in [*(thing.name for thing in chosen), *reader.blocked]
    ]
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
