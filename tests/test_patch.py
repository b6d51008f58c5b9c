"""§07: RFC 6902, RFC 7396, differences and their words; compared with others in the interop group."""

from __future__ import annotations

import copy
import json
import random

import pytest
from samples import small_blueprint

from protoyard import (
    Failure,
    apply_patch,
    digest,
    find_warnings,
    parse_patch,
    render_patch,
    same_json,
    summarise_change,
)

# document, patch, result (RFC 6902 appendix A in our own words and more)
APPLIES = {
    "add a member": ({"a": 1}, [{"op": "add", "path": "/b", "value": 2}], {"a": 1, "b": 2}),
    "add replaces a member": ({"a": 1}, [{"op": "add", "path": "/a", "value": 2}], {"a": 2}),
    "add inserts into an array": (
        {"a": [1, 3]},
        [{"op": "add", "path": "/a/1", "value": 2}],
        {"a": [1, 2, 3]},
    ),
    "add at the end with a number": ([1], [{"op": "add", "path": "/1", "value": 2}], [1, 2]),
    "add at the end with a dash": ([1], [{"op": "add", "path": "/-", "value": [2]}], [1, [2]]),
    "add null": ({}, [{"op": "add", "path": "/a", "value": None}], {"a": None}),
    "replace the whole document": ({"a": 1}, [{"op": "add", "path": "", "value": [1]}], [1]),
    "remove a member": ({"a": 1, "b": 2}, [{"op": "remove", "path": "/a"}], {"b": 2}),
    "remove an item": ([1, 2, 3], [{"op": "remove", "path": "/1"}], [1, 3]),
    "replace an item": ([1, 2], [{"op": "replace", "path": "/0", "value": 9}], [9, 2]),
    "move a member": (
        {"a": {"x": 1}, "b": {}},
        [{"op": "move", "from": "/a/x", "path": "/b/y"}],
        {"a": {}, "b": {"y": 1}},
    ),
    "move an item backwards": ([1, 2, 3], [{"op": "move", "from": "/2", "path": "/0"}], [3, 1, 2]),
    "move an item forwards": ([1, 2, 3], [{"op": "move", "from": "/0", "path": "/2"}], [2, 3, 1]),
    "move onto itself": ({"a": 1}, [{"op": "move", "from": "/a", "path": "/a"}], {"a": 1}),
    "copy an object does not share it": (
        {"a": {"x": 1}},
        [{"op": "copy", "from": "/a", "path": "/b"}, {"op": "replace", "path": "/b/x", "value": 2}],
        {"a": {"x": 1}, "b": {"x": 2}},
    ),
    "test that holds": (
        {"a": [1, {"b": None}]},
        [{"op": "test", "path": "/a", "value": [1, {"b": None}]}],
        {"a": [1, {"b": None}]},
    ),
    "test numbers by value": ({"a": 1}, [{"op": "test", "path": "/a", "value": 1.0}], {"a": 1}),
    "an escaped slash and tilde": (
        {"a/b": {"c~d": 1}},
        [{"op": "replace", "path": "/a~1b/c~0d", "value": 2}],
        {"a/b": {"c~d": 2}},
    ),
    "an escape that looks like another": ({"~1": 1}, [{"op": "remove", "path": "/~01"}], {}),
    "an empty member name": ({"": 1}, [{"op": "replace", "path": "/", "value": 2}], {"": 2}),
    "a number as a member name": ({"0": 1}, [{"op": "replace", "path": "/0", "value": 2}], {"0": 2}),
    "a dash as a member name": ({"-": 1}, [{"op": "remove", "path": "/-"}], {}),
    "members that it does not know": ({"a": 1}, [{"op": "remove", "path": "/a", "why": "x"}], {}),
    "no operation": ({"a": 1}, [], {"a": 1}),
}

REFUSED = {
    "an operation that is no object": ([7], "an operation is an object"),
    "an unknown operation": ([{"op": "spam", "path": "/a"}], "op must be one of"),
    "no path": ([{"op": "remove"}], "needs path"),
    "a path that is no pointer": ([{"op": "remove", "path": "a"}], "no JSON pointer"),
    "a tilde that escapes nothing": ([{"op": "remove", "path": "/~2"}], "no JSON pointer"),
    "no value": ([{"op": "add", "path": "/x"}], "needs a value"),
    "no from": ([{"op": "move", "path": "/x"}], "needs from"),
    "a member that is not there": ([{"op": "remove", "path": "/items2"}], 'did you mean "items"?'),
    "a parent that is not there": ([{"op": "add", "path": "/x/y", "value": 1}], "does not exist"),
    "an index past the end": ([{"op": "add", "path": "/items/3", "value": 1}], "has 2 items"),
    "an index of the end in remove": ([{"op": "remove", "path": "/items/2"}], "has 2 items"),
    "an index with a leading zero": ([{"op": "remove", "path": "/items/01"}], "no array index"),
    "an index with a sign": ([{"op": "remove", "path": "/items/-1"}], "no array index"),
    "an index of foreign digits": ([{"op": "remove", "path": "/items/\u0661"}], "no array index"),
    "an index of a million digits": ([{"op": "remove", "path": "/items/" + "9" * 100_000}], "has 2 items"),
    "a dash where something must be": ([{"op": "replace", "path": "/items/-", "value": 1}], "no array index"),
    "a way through a number": ([{"op": "add", "path": "/n/x", "value": 1}], "what holds it is integer"),
    "a test that fails": ([{"op": "test", "path": "/n", "value": 2}], "test failed"),
    "a test of true against 1": ([{"op": "test", "path": "/n", "value": True}], "test failed"),
    "a test of a string against a number": ([{"op": "test", "path": "/n", "value": "1"}], "test failed"),
    "a move into itself": ([{"op": "move", "from": "/items", "path": "/items/0"}], "into itself"),
    "the whole document removed": ([{"op": "remove", "path": ""}], "cannot be removed"),
    "the second operation": ([{"op": "remove", "path": "/n"}, {"op": "remove", "path": "/n"}], "/1:"),
}

DOUBLED = [{"op": "copy", "from": "/a", "path": "/a/-"}]
WRAPPED = [
    {"op": "add", "path": "/b", "value": {}},
    {"op": "move", "from": "/a", "path": "/b/c"},
    {"op": "move", "from": "/b", "path": "/a"},
]
TOO_MUCH = {
    "a value that is copied into itself again and again": (DOUBLED * 60, "/", "4,194,304 bytes"),
    "a nest built by moves": (WRAPPED * 80, "/1", "deeper than 64 levels"),
    "a nest that a test would have to show": (
        [*WRAPPED * 2000, {"op": "test", "path": "/a", "value": 1}],
        "/1",
        "deeper than 64 levels",
    ),
    "a deep value put deep": (
        [
            {"op": "add", "path": "/b", "value": json.loads("[" * 40 + "]" * 40)},
            {"op": "add", "path": "/b" + "/0" * 30, "value": json.loads("[" * 40 + "]" * 40)},
        ],
        "/1",
        "deeper than 64 levels",
    ),
}


@pytest.mark.parametrize("case", TOO_MUCH.values(), ids=TOO_MUCH)
def test_a_patch_that_builds_without_measure_is_refused(case):
    patch, place, part = case
    with pytest.raises(Failure, match=part) as caught:
        apply_patch({"a": ["text"]}, patch)
    assert caught.value.code == "invalid_patch"
    assert caught.value.message.startswith(place)


def test_a_patch_may_build_up_to_the_limit_of_levels():
    nest = json.loads("[" * 63 + "]" * 63)
    assert apply_patch({}, [{"op": "add", "path": "/a", "value": nest}]) == {"a": nest}
    with pytest.raises(Failure, match="deeper"):
        apply_patch({}, [{"op": "add", "path": "/a", "value": [nest]}])


def test_of_a_pointer_without_end_the_message_shows_only_a_part():
    with pytest.raises(Failure, match="…") as caught:
        apply_patch({}, [{"op": "remove", "path": "/a" * 100_000}])
    assert len(caught.value.message) < 3000
    assert "does not exist" in caught.value.message


MERGES = {  # RFC 7396 appendix A
    "replace": ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    "add": ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    "remove": ({"a": "b"}, {"a": None}, {}),
    "remove one": ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    "array replaced": ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    "array in": ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    "deep": ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    "array whole": ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    "null kept where it was": ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    "array by object": ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    "nulls inside a new object": ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
}


@pytest.mark.parametrize("case", APPLIES.values(), ids=APPLIES)
def test_a_json_patch_applies_and_leaves_its_inputs_alone(case):
    document, patch, result = case
    before = copy.deepcopy((document, patch))
    assert apply_patch(document, patch) == result
    assert (document, patch) == before


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_a_json_patch_that_does_not_apply_is_refused_whole(case):
    patch, message = case
    document = {"n": 1, "items": [1, 2]}
    with pytest.raises(Failure) as raised:
        apply_patch(document, patch)
    assert raised.value.code == "invalid_patch"
    assert message in raised.value.message
    assert document == {"n": 1, "items": [1, 2]}


@pytest.mark.parametrize("case", MERGES.values(), ids=MERGES)
def test_a_merge_patch(case):
    document, patch, result = case
    assert apply_patch(document, patch) == result


@pytest.mark.parametrize("text", ["", "{", "7", '"x"', "null", "[1,]", '{"a":1,"a":2}', "NaN"])
def test_a_text_that_is_no_patch_is_refused(text):
    with pytest.raises(Failure) as raised:
        parse_patch(text)
    assert raised.value.code == "invalid_patch"


def random_value(rng, depth=3):
    """Any JSON value, small, with names and items that often collide."""
    kind = rng.randrange(7 if depth else 5)
    if kind < 5:
        return rng.choice([None, True, False, 0, 1, -2, 1.5, "", "a", "b", "~", "/", "é"])
    if kind == 5:
        return [random_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {
        rng.choice(["a", "b", "a/b", "~x", "", "0"]): random_value(rng, depth - 1)
        for _ in range(rng.randrange(4))
    }


def pointers(value, here=""):
    """Every pointer into a value."""
    yield here
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for token, member in members:
        yield from pointers(member, f"{here}/{str(token).replace('~', '~0').replace('/', '~1')}")


def random_operation(rng, document):
    """An operation that often fits the document."""
    places = [*pointers(document), "/nope", "/0", "/a/-"]
    operation = {
        "op": rng.choice(["add", "remove", "replace", "move", "copy", "test"]),
        "path": rng.choice(places),
    }
    if rng.random() < 0.3:
        operation["path"] += rng.choice(["/-", "/0", "/new"])
    if operation["op"] in ("move", "copy"):
        operation["from"] = rng.choice(places)
    else:
        operation["value"] = random_value(rng, 2)
    return operation


def test_a_difference_makes_the_new_of_the_old_and_its_inverse_the_old_of_the_new():
    rng = random.Random(1)
    for _ in range(3000):
        old, new = random_value(rng, 4), random_value(rng, 4)
        assert same_json(apply_patch(old, render_patch(old, new)), new)
        assert same_json(apply_patch(new, render_patch(new, old)), old)


def shuffled_blueprint(rng):
    """The sample with items moved, taken out and changed."""
    blueprint = small_blueprint()
    for items in (blueprint["screens"], blueprint["navigation"], blueprint["entities"][0]["records"]):
        rng.shuffle(items)
        if rng.random() < 0.5:
            items.pop()
    blueprint["entities"][0]["records"].append({"id": "tool-9", "name": rng.choice("xyz")})
    return blueprint


def test_a_difference_of_blueprints_keeps_the_digest():
    rng = random.Random(2)
    for _ in range(200):
        old, new = shuffled_blueprint(rng), shuffled_blueprint(rng)
        assert digest(apply_patch(old, render_patch(old, new))) == digest(new)


def test_one_changed_value_is_one_operation():
    old, new = small_blueprint(), small_blueprint()
    new["entities"][0]["records"][1]["name"] = "Long ladder"
    new["screens"].insert(0, new["screens"].pop())
    assert render_patch(old, new) == [
        {"op": "replace", "path": "/entities/0/records/1/name", "value": "Long ladder"},
        {"op": "move", "from": "/screens/7", "path": "/screens/0"},
    ]


def test_a_change_is_told_in_words():
    old, new = small_blueprint(), small_blueprint()
    new["screens"][1]["title"] = "All tools"
    new["entities"][0]["fields"].append({"id": "place", "label": "Place", "type": "text"})
    new["entities"][1]["records"] = []
    new["theme"]["palette"] = "moss"
    summary = summarise_change(old, new)
    assert summary["added"] == ["field Tool.Place"]
    assert summary["changed"] == ["screen All tools", "theme"]
    assert summary["removed"] == ["record Loan L-1"]
    assert summary["untouched"]["screens"] == 7
    assert summary["untouched"]["entities"] == 2


def test_what_is_allowed_but_odd_is_warned_about():
    blueprint = small_blueprint()
    assert find_warnings(blueprint) == []
    blueprint["navigation"].remove("worth")
    blueprint["screens"] = [s for s in blueprint["screens"] if s.get("entity") != "loan"]
    blueprint["navigation"].remove("loans")
    blueprint["entities"][0]["records"] = []
    words = " ".join(find_warnings(blueprint))
    assert "nothing leads to the screen Worth" in words
    assert "the board Board has no records" in words
    assert "no screen shows Loans" in words


def test_json_patch_agrees_with_another_implementation():
    jsonpatch = pytest.importorskip("jsonpatch", reason="needs the interop group")
    rng = random.Random(3)
    for _ in range(4000):
        document = random_value(rng, 4)
        patch = [random_operation(rng, document) for _ in range(rng.randrange(1, 3))]
        if any(operation["path"] == "" or operation.get("from") == "" for operation in patch):
            continue  # the other one has opinions of its own about the root
        try:
            theirs = jsonpatch.apply_patch(copy.deepcopy(document), copy.deepcopy(patch))
        except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError, AttributeError):
            theirs = Failure
        try:
            ours = apply_patch(document, patch)
        except Failure:
            ours = Failure
        agree = ours is theirs if Failure in (ours, theirs) else json.dumps(ours) == json.dumps(theirs)
        assert agree, (document, patch, ours, theirs)


def test_merge_patch_agrees_with_another_implementation():
    other = pytest.importorskip("json_merge_patch", reason="needs the interop group")
    rng = random.Random(4)
    for _ in range(4000):
        document, patch = random_value(rng, 4), random_value(rng, 4)
        if isinstance(patch, dict):
            assert apply_patch(document, patch) == other.merge(copy.deepcopy(document), copy.deepcopy(patch))
