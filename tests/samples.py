"""A small blueprint made by hand: two entities, every kind of reference, no records filled in."""

from __future__ import annotations

import copy
from typing import Any

_BLUEPRINT: dict[str, Any] = {
    "blueprint": 1,
    "title": "Tool library",
    "brief": "Volunteers lend tools to members.",
    "lang": "en",
    "dir": "ltr",
    "seed": 7,
    "asOf": "2026-06-15",
    "variant": {
        "id": "a",
        "question": "What has to be done next?",
        "rationale": "For the desk.",
        "cost": "Little overview.",
        "axes": {
            "navigation": "sidebar",
            "home": "dashboard",
            "main": "table",
            "detail": "page",
            "entry": "page",
            "density": "comfortable",
        },
    },
    "roles": [
        {"id": "volunteer", "label": "Volunteer"},
        {"id": "member", "label": "Member", "screens": ["tools", "tool_detail"], "rights": []},
    ],
    "entities": [
        {
            "id": "tool",
            "label": "Tool",
            "plural": "Tools",
            "icon": "wrench",
            "fields": [
                {"id": "name", "label": "Name", "type": "text", "required": True},
                {
                    "id": "state",
                    "label": "State",
                    "type": "status",
                    "values": ["available", "on loan", "retired"],
                },
                {"id": "worth", "label": "Worth", "type": "money", "unit": "EUR", "min": 0, "max": 900},
            ],
            "display": "name",
            "records": [
                {"id": "tool-1", "name": "Drill", "state": "available", "worth": 80},
                {"id": "tool-2", "name": "Ladder", "state": "on loan", "worth": 45.5},
            ],
        },
        {
            "id": "loan",
            "label": "Loan",
            "plural": "Loans",
            "icon": "calendar",
            "fields": [
                {"id": "reference", "label": "Reference", "type": "text"},
                {"id": "tool", "label": "Tool", "type": "ref", "entity": "tool"},
                {"id": "due_back", "label": "Due back", "type": "date"},
                {"id": "handed_out", "label": "Handed out", "type": "datetime"},
                {"id": "care", "label": "Care", "type": "rating"},
                {"id": "marks", "label": "Marks", "type": "tags"},
            ],
            "display": "reference",
            "records": [
                {
                    "id": "loan-1",
                    "reference": "L-1",
                    "tool": "tool-2",
                    "due_back": "2026-06-20",
                    "handed_out": "2026-06-12T10:30",
                    "care": 4,
                    "marks": ["first loan"],
                }
            ],
        },
    ],
    "screens": [
        {
            "id": "home",
            "title": "Today",
            "type": "dashboard",
            "widgets": [
                {
                    "kind": "count",
                    "entity": "tool",
                    "title": "On loan",
                    "filter": {"field": "state", "values": ["on loan"]},
                },
                {
                    "kind": "list",
                    "entity": "loan",
                    "title": "Late",
                    "filter": {"field": "due_back", "when": "overdue"},
                },
                {"kind": "sum", "entity": "tool", "title": "Worth", "measure": "worth"},
            ],
        },
        {
            "id": "tools",
            "title": "Tools",
            "type": "list",
            "entity": "tool",
            "columns": ["name", "state"],
            "filters": ["state"],
        },
        {"id": "tool_detail", "title": "Tool", "type": "detail", "entity": "tool"},
        {
            "id": "tool_form",
            "title": "New tool",
            "type": "form",
            "entity": "tool",
            "steps": [["name"], ["state", "worth"]],
        },
        {"id": "tool_board", "title": "Board", "type": "board", "entity": "tool", "groupBy": "state"},
        {"id": "loans", "title": "Loans", "type": "calendar", "entity": "loan", "dateField": "due_back"},
        {
            "id": "worth",
            "title": "Worth",
            "type": "report",
            "entity": "tool",
            "groupBy": "state",
            "measure": "worth",
        },
        {"id": "rules", "title": "Rules", "type": "settings"},
    ],
    "navigation": ["home", "tools", "tool_board", "loans", "worth", "rules"],
    "flows": [
        {
            "id": "lend",
            "label": "Lend a tool",
            "role": "volunteer",
            "steps": [
                {"screen": "tools"},
                {"screen": "tool_detail", "record": "tool-1", "hint": "Look at its state"},
            ],
        }
    ],
    "settings": [{"id": "loan_days", "label": "Loan period", "type": "number", "value": 28, "unit": "days"}],
    "theme": {
        "palette": "harbour",
        "layout": "sidebar",
        "density": "comfortable",
        "mode": "auto",
        "corners": "soft",
    },
}


def small_blueprint() -> dict[str, Any]:
    """A fresh copy, so that a test may spoil it."""
    return copy.deepcopy(_BLUEPRINT)


def at(value: Any, pointer: str) -> Any:
    """What a JSON pointer points to."""
    for token in pointer.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        value = value[int(token)] if isinstance(value, list) else value[token]
    return value


def put(value: Any, pointer: str, new: Any) -> None:
    """Set (or add, or with `...` delete) what a JSON pointer points to."""
    parent, _, token = pointer.rpartition("/")
    holder = at(value, parent)
    key = int(token) if isinstance(holder, list) else token
    if new is ...:
        del holder[key]
    elif isinstance(holder, list) and key == len(holder):
        holder.append(new)
    else:
        holder[key] = new
