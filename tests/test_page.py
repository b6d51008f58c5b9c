"""§11: what a page is made of, checked without a browser: its policy, its escaping, its size, its assets."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess

import page_samples
import pytest

import protoyard

KIB = 1024
PAGE_MAX_BYTES = 120 * KIB
LETTERS = page_samples.LETTERS
HOSTILE = (
    "</script><script>alert(1)</script><!-- <img src=x onerror=alert(1)> & \u2028\u2029 ${x} $title {{y}}"
)


def hash_of(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def part(page: str, opening: str, closing: str) -> str:
    """What stands between two marks that each occur once after each other."""
    assert page.count(opening) == 1, opening
    return page.split(opening)[1].split(closing)[0]


def policy_of(page: str) -> dict[str, str]:
    found = re.search('Content-Security-Policy" content="([^"]+)"', page)
    return dict(rule.strip().split(" ", 1) for rule in found[1].split(";"))


def data_of(page: str) -> str:
    return re.search(r'(?s)<script type="application/json"[^>]*>(.*?)</script>', page)[1]


def variants_page() -> str:
    blueprints = [page_samples.rich_blueprint(letter) for letter in LETTERS]
    return protoyard.render_variants_page({"title": "Quayside", "brief": "A <b>brief</b>."}, blueprints)


def gallery() -> str:
    entry = {"slug": "quayside", "title": "Quay <side>", "brief": "x", "variants": ["a", "b"]}
    return protoyard.render_gallery([{**entry, "created": "2026-06-15T10:00:00Z"}])


@pytest.mark.parametrize("letter", LETTERS)
def test_the_policy_lets_only_the_pages_own_style_and_script_run(letter):
    page = protoyard.render_page(page_samples.rich_blueprint(letter))
    assert policy_of(page) == {
        "default-src": "'none'",
        "style-src": f"'{hash_of(part(page, '<style>', '</style>'))}'",
        "script-src": f"'{hash_of(part(page, '<script>', '</script>'))}'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


@pytest.mark.parametrize("render", [variants_page, gallery], ids=["the variants", "the gallery"])
def test_the_pages_around_have_a_style_of_their_own_and_no_script(render):
    page = render()
    assert policy_of(page)["style-src"] == f"'{hash_of(part(page, '<style>', '</style>'))}'"
    assert "script-src" not in policy_of(page)
    assert "<script" not in page
    assert "Prototype · fictional data" in page


@pytest.mark.parametrize("letter", LETTERS)
def test_a_page_stays_under_120_kib_before_the_data(letter):
    page = protoyard.render_page(page_samples.rich_blueprint(letter))
    assert len(page.encode("utf-8")) - len(data_of(page).encode("utf-8")) <= PAGE_MAX_BYTES


def test_any_look_stays_under_120_kib_before_the_data():
    def largest(table):
        return max(table, key=lambda name: len(protoyard._style(table[name])))

    blueprint = page_samples.rich_blueprint("a")
    blueprint["theme"].update(
        palette=largest(protoyard.PALETTE_CSS),
        layout=largest(protoyard.LAYOUT_CSS),
        density="roomy",
        corners="round",
    )
    page = protoyard.render_page(blueprint)
    assert len(page.encode("utf-8")) - len(data_of(page).encode("utf-8")) <= PAGE_MAX_BYTES


def test_equal_blueprints_give_equal_bytes():
    first, second = (protoyard.render_page(page_samples.rich_blueprint("b")) for _ in range(2))
    assert first == second


def test_hostile_text_stays_inside_the_data_and_comes_back_whole():
    blueprint = page_samples.rich_blueprint("a")
    blueprint["title"] = HOSTILE
    blueprint["brief"] = HOSTILE
    blueprint["entities"][0]["records"][0]["name"] = HOSTILE
    page = protoyard.render_page(blueprint)
    data = data_of(page)
    assert not set("<>&\u2028\u2029") & set(data)
    assert json.loads(data)["blueprint"] == blueprint
    assert page.count("<script") == 2
    assert part(page, "<title>", "</title>") == html.escape(HOSTILE)


def test_hostile_text_is_text_on_the_pages_around():
    blueprint = page_samples.rich_blueprint("a")
    for name in ("question", "rationale", "cost"):
        blueprint["variant"][name] = HOSTILE
    shelf = protoyard.render_variants_page({"title": HOSTILE, "brief": HOSTILE}, [blueprint])
    entry = {"slug": "x", "title": HOSTILE, "brief": HOSTILE, "variants": ["a"], "created": "2026-06-15"}
    for page in (shelf, protoyard.render_gallery([entry])):
        assert "<script" not in page
        assert "<img" not in page
        assert html.escape(HOSTILE) in page


def test_a_lone_surrogate_can_still_be_written():
    blueprint = page_samples.rich_blueprint("a")
    blueprint["title"] = "half \ud83d"
    protoyard.render_variants_page({"title": "\ud83d", "brief": ""}, [blueprint]).encode("utf-8")
    assert "half ?" in protoyard.render_page(blueprint)


def test_nothing_is_filled_into_style_or_script():
    plain = protoyard.render_page(page_samples.rich_blueprint("a"))
    other = page_samples.rich_blueprint("a", rows=3, rtl=True, lang="ar")
    other["title"] = "Another"
    changed = protoyard.render_page(other)
    for opening, closing in (("<style>", "</style>"), ("<script>", "</script>")):
        assert part(plain, opening, closing) == part(changed, opening, closing)
    assert '<html lang="ar" dir="rtl"' in changed


def test_the_page_asks_for_nothing_from_outside():
    page = protoyard.render_page(page_samples.rich_blueprint("a"))
    page = page.replace(data_of(page), "")
    addresses = set(re.findall(r"https?://[^\s\"'<>)]*", page))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    for way in (
        "url(",
        "@import",
        "fetch(",
        "XMLHttpRequest",
        "import(",
        "WebSocket",
        "sendBeacon",
        "<link",
        "<img",
    ):
        assert way not in page, way


# --- the assets


@pytest.mark.parametrize("name", list(protoyard.PAGE_JS_PARTS))
def test_a_part_holds_function_declarations_and_comments_only(name):
    for line in protoyard.PAGE_JS_PARTS[name].splitlines():
        assert re.match(r"(function \w+\(|\}$|\) \{$|//|  |$)", line), line


def test_no_function_is_there_twice():
    names = re.findall(r"(?m)^function (\w+)\(", "".join(protoyard.PAGE_JS_PARTS.values()))
    assert len(names) == len(set(names))


def test_every_function_is_used():
    source = "".join(protoyard.PAGE_JS_PARTS.values())
    unused = [
        name
        for name in re.findall(r"(?m)^function (\w+)\(", source)
        if name != "start" and len(re.findall(rf"\b{name}\b", source)) < 2
    ]
    assert unused == []


@pytest.mark.parametrize(
    "way", ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("]
)
def test_the_runtime_never_makes_markup_or_code_of_text(way):
    assert way not in "".join(protoyard.PAGE_JS_PARTS.values())


def test_the_runtime_draws_every_screen_type():
    views = re.search(r"(?s)const views = \{(.*?)\};", protoyard.PAGE_JS_PARTS["shell"])[1]
    assert set(re.findall(r"(\w+): \w+View", views)) == set(protoyard.SCREEN_TYPES)


def test_the_runtime_writes_every_field_type():
    source = "".join(protoyard.PAGE_JS_PARTS.values())
    plain = {"text", "address", "number", "money", "duration"}
    assert [
        kind for kind in protoyard.FIELD_TYPES if f'"{kind}"' not in source and f"{kind}:" not in source
    ] == []
    assert plain <= set(protoyard.FIELD_TYPES)


def test_every_icon_is_drawn_and_every_drawing_is_wanted():
    drawn = json.loads(protoyard.PAGE_ICONS)
    source = "".join(protoyard.PAGE_JS_PARTS.values())
    own = [name for name in drawn if name not in protoyard.ICONS]
    assert set(protoyard.ICONS) <= set(drawn)
    assert [name for name in own if f'"{name}"' not in source and name not in protoyard.SCREEN_TYPES] == []
    assert all(re.fullmatch(r"[MLHVCSQTAZmlhvcsqtaz0-9., -]+", path) for path in drawn.values())


def test_every_language_has_every_word_and_keeps_its_places():
    languages = json.loads(protoyard.PAGE_WORDS)
    first = languages["en"]
    for lang, words in languages.items():
        assert list(words) == list(first), lang
        for key, text in words.items():
            assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", first[key])), (
                lang,
                key,
            )


def test_every_word_that_the_runtime_says_is_in_the_table():
    source = "".join(protoyard.PAGE_JS_PARTS.values())
    words = json.loads(protoyard.PAGE_WORDS)["en"]
    said = set(re.findall(r'\bt\("(\w+)"', source))
    assert {word for word in said if not word.endswith("_")} <= set(words)
    made = ("state_", "mode_", "tone_")
    assert [word for word in words if f'"{word}"' not in source and not word.startswith(made)] == []


@pytest.mark.parametrize(
    ("lang", "reset"),
    [("en", "Reset"), ("en-GB", "Reset"), ("zz", "Reset")],
    ids=["known", "regional", "unknown"],
)
def test_words_are_chosen_by_language(lang, reset):
    assert protoyard.words_for(lang)["reset"] == reset


def test_every_choice_of_a_theme_has_its_style():
    assert set(protoyard.PALETTE_CSS) == set(protoyard.PALETTES)
    assert set(protoyard.LAYOUT_CSS) == set(protoyard.LAYOUTS)
    assert set(protoyard.THEME_CSS) == (set(protoyard.CORNERS) | set(protoyard.DENSITIES)) - {
        "soft",
        "comfortable",
    }


def test_styles_know_no_left_and_right():
    physical = re.compile(
        r"(margin|padding|border|inset)-(left|right)|text-align: (left|right)|float:|[^-]\b(left|right): "
    )
    for style in (
        protoyard.TOKENS_CSS,
        protoyard.PAGE_CSS,
        protoyard.SHELF_CSS,
        *protoyard.LAYOUT_CSS.values(),
    ):
        assert not physical.search(style)


def test_the_runtime_is_sound_javascript(tmp_path):
    node = shutil.which("node")
    if not node:
        pytest.skip("no node")
    path = tmp_path / "page.js"
    path.write_text(protoyard._script(), "utf-8")
    done = subprocess.run([node, "--check", str(path)], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.returncode == 0


# --- colours: the pairs that meet, in both modes (WCAG 1.4.3 and 1.4.11)

TEXT, SHAPE = 4.5, 3.0
GROUNDS = ("bg", "surface", "sunken", "accent-soft")
PAIRS = [
    *((text, ground, TEXT) for text in ("ink", "muted", "accent-ink") for ground in GROUNDS),
    *((tone, f"{tone}-soft", TEXT) for tone in ("good", "warn", "bad", "info")),
    *((tone, ground, TEXT) for tone in ("good", "warn", "bad", "info") for ground in ("bg", "surface")),
    ("on-accent", "accent", TEXT),
    ("on-accent", "accent-hover", TEXT),
    ("nav-ink", "nav", TEXT),
    ("nav-muted", "nav", TEXT),
    ("nav-ink", "nav-on", TEXT),
    ("nav", "nav-mark", TEXT),
    *(("edge", ground, SHAPE) for ground in ("bg", "surface", "sunken")),
    *((f"c{n}", "surface", SHAPE) for n in range(1, 6)),
    ("accent", "surface", SHAPE),
]


def colours_of(css: str) -> dict[str, tuple[str, str]]:
    found = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", css)
    return {name: (light, dark) for name, light, dark in found}


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("palette", list(protoyard.PALETTES))
@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_colours_that_meet_can_be_told_apart(palette, mode):
    colours = {**colours_of(protoyard.TOKENS_CSS), **colours_of(protoyard.PALETTE_CSS[palette])}
    for front, back, least in PAIRS:
        light, dark = sorted((luminance(colours[front][mode]), luminance(colours[back][mode])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= least, (front, back)


# --- the pages around


def test_the_variants_page_leads_to_each_variant_with_its_question_and_axes():
    page = variants_page()
    assert re.findall(r'<a href="([a-f])/index\.html">', page) == list(LETTERS)
    assert page.count("Can the office see at a glance what is late?") == len(LETTERS)
    assert page.count("<dt>Navigation</dt>") == len(LETTERS)
    assert "A &lt;b&gt;brief&lt;/b&gt;." in page


def test_the_gallery_leads_to_each_prototype_and_its_variants():
    page = gallery()
    links = ["quayside/index.html", "quayside/a/index.html", "quayside/b/index.html"]
    assert re.findall(r'href="([^"]+)"', page) == links
    assert "Quay &lt;side&gt;" in page
    assert "2026-06-15" in page


def test_an_empty_gallery_says_so():
    assert "Nothing here yet." in protoyard.render_gallery([])


@pytest.mark.parametrize("kind", ["page", "variants", "gallery"])
def test_every_custom_property_that_a_style_uses_is_defined_in_it(kind):
    blueprints = [page_samples.rich_blueprint(letter) for letter in "ab"]
    revisions = [{"revision": 1, "digest": "sha256:0", "summary": ""}]
    variants = [{"id": letter, "question": "What?", "revisions": revisions} for letter in "ab"]
    manifest = {"title": "T", "brief": "B", "variants": variants}
    entry = {"slug": "t", "title": "T", "brief": "B", "created": "2026-06-15T00:00:00Z", "variants": ["a"]}
    page = {
        "page": lambda: protoyard.render_page(blueprints[0]),
        "variants": lambda: protoyard.render_variants_page(manifest, blueprints),
        "gallery": lambda: protoyard.render_gallery([entry]),
    }[kind]()
    style = re.search(r"<style>(.*?)</style>", page, re.S)[1]
    set_by_script = set(re.findall(r'"(--[\w-]+)"', page))
    assert (
        set(re.findall(r"var\((--[\w-]+)\)", style))
        <= set(re.findall(r"(--[\w-]+) ?:", style)) | set_by_script
    )
