"""Small prototypes for the store's tests; imported by their helper processes too, so without pytest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from samples import small_blueprint

import protoyard
from protoyard import Call, Workspace

CREATED = "2026-01-02T03:04:05Z"


def blueprints(letters: str = "ab") -> list[dict[str, Any]]:
    """A blueprint for each letter, alike but for the variant's letter and question."""
    made = []
    for letter in letters:
        blueprint = small_blueprint()
        blueprint["variant"]["id"] = letter
        blueprint["variant"]["question"] = f"Question of {letter}?"
        made.append(blueprint)
    return made


def create(workspace: Workspace, call: Call, slug: str = "demo", **changes: Any) -> dict[str, Any]:
    """Creates a prototype of variants a and b; `changes` are other arguments of `create_prototype`."""
    values = {
        "slug": slug,
        "derived": True,
        "title": "Tool library",
        "brief": "Volunteers lend tools.",
        "seed": 7,
    }
    values.update({"blueprints": blueprints(), "created": CREATED, **changes})
    return protoyard.create_prototype(workspace, call, **values)


def retitle(title: str) -> Callable[[protoyard.Variant], tuple[dict[str, Any], str]]:
    """A change that only sets the title."""
    return lambda variant: ({**variant.blueprint, "title": title}, f"Title: {title}.")
