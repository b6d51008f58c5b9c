"""The library of record types: every row is well formed, and a noun finds the row that it means."""

from __future__ import annotations

import re

import pytest

import protoyard as p

KINDS = {kind.name: kind for kind in p.archetypes().values() if kind.name}


def test_the_library_holds_more_than_a_hundred_kinds():
    assert len(KINDS) > 100


@pytest.mark.parametrize("name", sorted(KINDS))
def test_a_kind_is_well_formed(name):
    kind = KINDS[name]
    assert kind.icon in p.ICONS
    assert kind.fields
    assert len({field.id for field in kind.fields}) == len(kind.fields)
    assert len(set(kind.status)) == len(kind.status)
    assert set(kind.screens) <= set(p.SCREEN_TYPES) - {"list", "cards", "detail", "form"}
    for field in kind.fields:
        assert re.fullmatch(p.ID_PATTERN, field.id)
        assert field.id not in ("id", "status")
        assert field.type in p.FIELD_TYPES
        assert bool(field.values) == (field.type == "choice")
        assert bool(field.target) == (field.type == "ref")
        assert not field.target or field.target in p.archetypes(), f"{field.target} is no kind"


def test_references_between_kinds_never_run_in_a_circle():
    edges = {name: {f.target for f in kind.fields if f.target != name} for name, kind in KINDS.items()}
    seen: set[str] = set()
    while len(seen) < len(edges):
        ready = {name for name in edges if name not in seen and edges[name] & set(KINDS) <= seen | {""}}
        assert ready, f"a circle among {sorted(set(edges) - seen)}"
        seen |= ready


# fmt: off
FINDS = {
    "an exact name": ("purchase order", "purchase order"),
    "another name": ("defect", "finding"),
    "an abbreviation": ("capa", "corrective action"),
    "the last word of an unknown compound": ("garden tool", "tool"),
    "the longest end that is known": ("urgent work order", "work order"),
    "a pet by its species": ("dog", "animal"),
}
# fmt: on


@pytest.mark.parametrize("noun, kind", FINDS.values(), ids=FINDS)
def test_a_noun_finds_its_kind(noun, kind):
    assert p.find_archetype(noun).name == kind


# fmt: off
BORROWS = {
    "an unknown request can be approved": ("training requisition", "approver"),
    "a compound is not what its last word alone would be": ("treatment plan", "valid_from"),
    "an unknown fee has an amount": ("mooring fee", "amount"),
    "an unknown score has a value": ("jury score", "value"),
    "an unknown test has a result": ("stress test", "result"),
    "an unknown thing has an owner": ("zyzzyva", "owner"),
    "no name at all is a thing too": ("", "owner"),
}
# fmt: on


@pytest.mark.parametrize("noun, field", BORROWS.values(), ids=BORROWS)
def test_an_unknown_noun_borrows_by_its_last_word(noun, field):
    assert field in [spec.id for spec in p.find_archetype(noun).fields]


def test_an_unknown_person_gets_a_name_and_ways_to_be_reached():
    fields = [spec.id for spec in p.find_archetype("falconer", person=True).fields]
    assert fields[:3] == ["name", "email", "phone"]


# fmt: off
CAPITALS = {"latin": ("order", "Order"), "accents": ("élève", "Élève"), "greek": ("ώρα", "Ώρα"),
            "a later capital stays away": ("\u019b", "\u019b"), "japanese": ("予約", "予約"),
            "nothing": ("", "")}
# fmt: on


@pytest.mark.parametrize("text, shown", CAPITALS.values(), ids=CAPITALS)
def test_a_capital_only_where_all_unicode_versions_agree(text, shown):
    assert p.capitalised(text) == shown
