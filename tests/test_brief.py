"""A brief in, blueprints out: what is recognised, what is left out, that any text gives sound ones."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
import re
import subprocess
import sys
import unicodedata

import pytest
from conftest import MODULE, PYTHONS

import protoyard as p

SEED = 20260615
FUZZ_BRIEFS = 10_000 if os.environ.get("PROTOYARD_FULL") else 600


def draft(brief: str, variants: int = 6) -> p.Draft:
    return p.draft_blueprints(brief, seed=1, variants=variants)


def names(items: list[dict]) -> list[str]:
    return [item["label"].lower() for item in items]


def entity(brief: str, label: str) -> dict:
    return next(e for e in draft(brief, 1).blueprints[0]["entities"] if e["label"].lower() == label)


def fields(one: dict) -> dict[str, dict]:
    return {field["id"]: field for field in one["fields"]}


# --- records and roles --------------------------------------------------------------------------------------

# fmt: off
RECORDS = {  # brief; records that must be there; words that must not be
    "objects of verbs are records": (
        "Beekeepers log hive inspections and plan honey harvests.", ["hive inspection", "honey harvest"],
        ["honey"]),
    "a list after a colon is a list of records": (
        "Podcast planner: episodes, guests, sponsors and show notes.", ["episode", "guest", "sponsor",
        "show note"], ["planner"]),
    "bullets are records": (
        "Choir tool\n- members with attendance\n- rehearsals\n- concerts", ["member", "rehearsal",
        "concert"], ["tool", "attendance"]),
    "numbered lines are records": (
        "1. vessels\n2. berths\n3. invoices", ["vessel", "berth", "invoice"], []),
    "capitals are only loud": (
        "TRACK VESSELS AND BERTH INVOICES", ["vessel", "berth invoice"], []),
    "Title Case is only style": (
        "Harbour App: Vessels, Berths, Harbour Fees.", ["vessel", "berth", "harbour fee"], ["app"]),
    "a compound stays whole and eats its bare head": (
        "Buyers create purchase orders. The clerk files the order.", ["purchase order"], ["order"]),
    "plurals of every kind become singular": (
        "Keep track of theses, criteria, families, boxes and knives.", ["thesis", "criterion", "family",
        "box", "knife"], []),
    "a noun without a plural stands for a unit": (
        "inventory with low stock alerts", ["inventory item"], ["inventory"]),
    "no X is out": (
        "Members book courts. No payments and no user accounts.", ["member", "court"], ["payment",
        "user account", "account"]),
    "what is done elsewhere is out": (
        "Clerks record permits. Invoices are sent elsewhere.", ["permit"], ["invoice"]),
    "what stays in another system is out": (
        "Nurses note visits. Claims stay in the current system.", ["visit"], ["claim"]),
    "a section of things not wanted is out up to the next heading": (
        "## Must have\n- plots\n## Out of scope\n- ticket sales\n## Also\n- tools", ["plot", "tool"],
        ["ticket sale", "ticket", "sale"]),
    "what the product does not need is out": (
        "We track tanks and batches. We do not need a webshop.", ["tank", "batch"], ["webshop"]),
    "a failure that must not happen is no negation of its record": (
        "Clerks must not lose parcels.", ["parcel"], []),
    "filler goes, the useful sentence stays": (
        "We are on a mission to reinvent care! Vets book appointments.", ["appointment"], ["mission",
        "care"]),
    "screens, times, metrics, devices are no records": (
        "Show visits in a calendar per week, a dashboard with KPIs, on a tablet.", ["visit"],
        ["calendar", "week", "dashboard", "kpi", "tablet"]),
    "what is in brackets is no record": (
        "Drag deals across stages (Lead, Qualified, Won).", ["deal"], ["lead", "qualified", "won", "stage"]),
    "an abbreviation keeps its capitals and its singular": (
        "log NCRs, run CAPAs", ["ncr", "capa"], []),
    "a product's name alone implies what it holds": (
        "CRM", ["contact", "deal"], ["crm"]),
    "nothing recognised still gives a tracker": (
        "!!!", ["item"], []),
    "the organisation that speaks is no record": (
        "We run a small brewery and need batches and recipes.", ["batch", "recipe"], ["brewery"]),
    "several of a place are records": (
        "Inspectors visit 12 depots and log defects.", ["depot", "defect"], []),
    "a tender's vendor is nobody": (
        "The Supplier shall provide a system to record vessels and berths.", ["vessel", "berth"],
        ["supplier", "system"]),
    "a team that schedules is no plural": (
        "A small team schedules inspections.", ["inspection"], ["team schedule", "schedule"]),
    "an unknown verb after its subject is no record": (
        "She pencils the appointment in. A probe reveals a leak.", ["appointment", "leak"], ["pencil",
        "probe reveal"]),
    "the club votes: a verb at the end of its clause, and a record": (
        "A member proposes a book, the club votes, and the host sets a date.", ["book", "vote"],
        ["club vote"]),
    "what exists already is out": (
        "We already have a webshop. Clerks record permits.", ["permit"], ["webshop"]),
    "what is left alone is out": (
        "Nurses note visits. Invoices live in the old package, so leave those alone.", ["visit"],
        ["invoice"]),
    "a question put off is out": (
        "- vessels\n- berths\n- mooring fees? maybe later", ["vessel", "berth"], ["mooring fee", "fee"]),
    "a tool that somebody wants is the product": (
        "I want a tool where cleaners see rooms.", ["room"], ["tool"]),
    "comparatives are nobody": (
        "Clerks answer messages older than a day, however much shorter than others.", ["message"], ["older",
        "shorter"]),
    "a rota implies shifts and people": (
        "Rota", ["shift", "employee"], ["rota"]),
    "a meter reading brings its meter": (
        "Record meter readings.", ["meter reading", "meter"], []),
}
ROLES = {
    "people who do something": ("Wardens scan plates, clerks approve permits.", ["warden", "clerk"]),
    "user stories": ("As a landlord I want to see rents. As a tenant I want to report repairs.",
        ["landlord", "tenant"]),
    "one word of two": ("The bed manager approves transfers.", ["bed manager"]),
    "a department": ("Finance exports invoices and HR sets allowances.", ["finance", "hr"]),
    "whoever does what people do": ("The sexton opens and closes the hall.", ["sexton"]),
    "somebody the brief describes": ("Each call goes to a locksmith, who records the parts.", ["locksmith"]),
    "an unknown deed of known people": ("Librarians chase overdue loans.", ["librarian"]),
    "whom something is grouped by": ("appointments per therapist", ["therapist"]),
    "somebody whose noun does not end like a person": ("The concierge extends the loan.", ["concierge"]),
    "hands": ("Stable hands feed and groom horses.", ["stable hand"]),
    "a team that acts": ("A repair crew closes faults.", ["crew member"]),
    "a subject with more behind it": ("The porter on duty approves transfers.", ["porter"]),
    "two of one kind": ("Nurses see shifts. The head nurse approves swaps.", ["nurse", "head nurse"]),
    "one named in short and in full": ("The ward clerk files forms; a list per clerk.", ["ward clerk"]),
    "somebody enabled": ("A tool enabling harbour masters to register vessels.", ["harbour master"]),
}
# fmt: on


@pytest.mark.parametrize("brief, wanted, unwanted", RECORDS.values(), ids=RECORDS)
def test_records(brief, wanted, unwanted):
    found = names(draft(brief, 1).blueprints[0]["entities"])
    assert set(wanted) <= set(found)
    assert not set(unwanted) & set(found)


@pytest.mark.parametrize("brief, wanted", ROLES.values(), ids=ROLES)
def test_roles(brief, wanted):
    assert set(wanted) <= set(names(draft(brief, 1).blueprints[0]["roles"]))


def test_not_students_limits_the_role_and_nothing_else():
    blueprint = draft(
        "Student housing: leases, room offers. Wardens, not students, enter the data.", 1
    ).blueprints[0]
    assert names(blueprint["roles"]) == ["warden"]
    assert {"lease", "room offer"} <= set(names(blueprint["entities"]))


def test_whoever_may_only_see_something_sees_its_screens_only():
    brief = "Members place orders. The treasurer may only see payments. Packers see packing lists."
    for blueprint in draft(brief).blueprints:
        roles = {role["label"]: role for role in blueprint["roles"]}
        screens = {screen["id"]: screen for screen in blueprint["screens"]}
        assert {screens[name]["entity"] for name in roles["Treasurer"]["screens"]} == {"payment"}
        assert roles["Treasurer"]["rights"] == []
        assert "screens" not in roles["Member"]
        assert "screens" not in roles["Packer"]


def test_a_flow_ends_at_a_record_where_the_brief_counts_them():
    steps = [
        flow["steps"] for flow in draft("Clerks inspect 3 depots. They file forms.", 1).blueprints[0]["flows"]
    ]
    assert {"record": "depot-1"}.items() <= steps[0][-1].items()


def test_the_teller_of_a_user_story_does_what_it_tells():
    flows = draft("As a tenant I want to report faults.", 1).blueprints[0]["flows"]
    assert flows[0]["steps"][0]["screen"] == "fault_list"


def test_what_is_left_out_is_told_with_its_reason():
    told = {item["text"]: item["reason"] for item in draft("Members book courts. No payments.").left_out}
    assert "not wanted" in told["payment"]


def test_a_first_draft_holds_nine_records_at_most_and_tells_of_the_rest():
    nouns = (
        "tanks, batches, recipes, permits, visits, vessels, invoices, parcels, routes, animals, trees, meters"
    )
    result = draft(f"Keep {nouns}.")
    assert len(result.blueprints[0]["entities"]) == p.DRAFT_ENTITIES_MAX
    assert sum("first draft" in item["reason"] for item in result.left_out) == 3


def test_everything_says_why_it_is_there():
    for blueprint in draft("Clerks schedule visits and approve permits. Reports per month.").blueprints:
        for group in ("entities", "screens", "roles"):
            assert all(item["because"] for item in blueprint[group])


# --- fields, references, settings, counts -------------------------------------------------------------------


def test_a_bracket_of_states_becomes_the_status_in_its_order():
    deal = entity("Drag deals across stages (Lead, Qualified, Won).", "deal")
    assert fields(deal)["status"]["values"] == ["Lead", "Qualified", "Won"]


def test_a_bracket_of_outcomes_belongs_to_the_record_before_it():
    attempt = entity("- call attempts (no answer / booked / declined)\n- patients", "call attempt")
    assert fields(attempt)["status"]["values"] == ["No answer", "Booked", "Declined"]


def test_a_bracket_of_examples_becomes_a_choice():
    tool = entity("Members borrow tools (drill, tent, ladder).", "tool")
    assert fields(tool)["kind"]["values"] == ["Drill", "Tent", "Ladder"]


# fmt: off
LINKS = {
    "with": ("patients with a treatment plan", "treatment plan", "patient"),
    "per": ("Log readings per tank. Keep tanks.", "reading", "tank"),
    "a kind's own reference": ("Customers get invoices.", "invoice", "customer"),
}
# fmt: on


@pytest.mark.parametrize("brief, child, parent", LINKS.values(), ids=LINKS)
def test_one_record_refers_to_another(brief, child, parent):
    by_id = {e["id"]: e["label"].lower() for e in draft(brief, 1).blueprints[0]["entities"]}
    assert parent in [by_id.get(field.get("entity")) for field in entity(brief, child)["fields"]]


def test_a_reference_without_its_record_becomes_text_or_a_person():
    assert {field["type"] for field in entity("Send invoices", "invoice")["fields"]} & {"ref"} == set()


# fmt: off
SETTINGS = {
    "money": ("Buyers create orders above 500 EUR.", "money", 500, "EUR"),
    "a currency sign": ("Reservations with a £1,250 fee.", "money", 1250, "GBP"),
    "hours are minutes": ("Messages older than 2h turn red.", "duration", 120, "minutes"),
    "days": ("Renew permits after 90 days.", "number", 90, "days"),
    "percent": ("Clerks grant discounts up to 15%.", "percent", 15, "%"),
}
# fmt: on


@pytest.mark.parametrize("brief, kind, value, unit", SETTINGS.values(), ids=SETTINGS)
def test_numbers_with_a_unit_are_settings(brief, kind, value, unit):
    blueprint = draft(brief, 1).blueprints[0]
    assert (kind, value, unit) in [(s["type"], s["value"], s["unit"]) for s in blueprint["settings"]]
    assert "settings" in [screen["type"] for screen in blueprint["screens"]]


def test_counts_give_that_many_records_up_to_a_page_full():
    brief = "12 drivers, 3 depots and 48,000 parcels."
    counts = {e["id"]: len(e["records"]) for e in draft(brief, 1).blueprints[0]["entities"]}
    assert counts == {"driver": 12, "depot": 3, "parcel": p.DRAFT_ROWS_MAX}


# fmt: off
NEIGHBOURS = {
    "a job that is repaired": ("Technicians finish jobs.", "job", "asset"),
    "a job that is applied for": ("Candidates see jobs.", "job", "openings"),
    "an order of goods": ("The buyer sends orders.", "order", "approver"),
    "an order of a customer": ("Customers place orders.", "order", "ordered_at"),
}
# fmt: on


@pytest.mark.parametrize("brief, label, field", NEIGHBOURS.values(), ids=NEIGHBOURS)
def test_an_ambiguous_name_is_decided_by_the_words_around_it(brief, label, field):
    assert field in fields(entity(brief, label))


# --- screens and variants -----------------------------------------------------------------------------------

# fmt: off
SIGNALS = {
    "schedule": ("Clerks schedule visits.", "calendar"), "drag": ("Drag deals across stages.", "board"),
    "history": ("Show the history of each patient.", "timeline"), "reply": ("Staff reply to messages.",
        "inbox"),
    "statistics": ("Statistics of donations per month.", "report"),
        "overview": ("An overview of incidents.", "dashboard"),
    "rates": ("Daily rates live in settings. Employees file claims.", "settings"),
}
# fmt: on


@pytest.mark.parametrize("brief, kind", SIGNALS.values(), ids=SIGNALS)
def test_verbs_and_nouns_ask_for_screens(brief, kind):
    found = {screen["type"] for variant in draft(brief, 3).blueprints for screen in variant["screens"]}
    assert kind in found


def test_the_six_variants_differ_on_three_axes_at_least_and_share_their_data():
    blueprints = draft("Clerks schedule visits, approve permits and answer messages.").blueprints
    assert [b["variant"]["id"] for b in blueprints] == list("abcdef")
    for one, other in itertools.combinations(blueprints, 2):
        assert sum(one["variant"]["axes"][k] != v for k, v in other["variant"]["axes"].items()) >= 3
        assert all(one[group] == other[group] for group in ("entities", "roles", "flows", "settings"))
    homes = [next(s["type"] for s in b["screens"] if s["id"] == b["navigation"][0]) for b in blueprints]
    assert homes == ["dashboard", "board", "calendar", "cards", "inbox", "form"]


def test_a_variant_speaks_of_the_brief_s_own_records():
    for blueprint in draft("Beekeepers log inspections of hives.").blueprints:
        text = blueprint["variant"]["question"] + blueprint["variant"]["rationale"]
        assert re.search("inspection|hive", text.lower())
        assert blueprint["variant"]["cost"]


def test_changing_one_variant_leaves_the_others_alone():
    one, other = draft("Clerks record permits.", 2).blueprints
    one["entities"][0]["label"] = "Changed"
    assert other["entities"][0]["label"] != "Changed"


# fmt: off
TITLES = {
    "what stands before the colon": ("Leave planner: people request holidays.", "Leave planner",
        "leave-planner"),
    "a heading": ("# Clinic recalls\n- patients", "Clinic recalls", "clinic-recalls"),
    "else the records": ("Clerks record permits and book visits.", "Permits & visits", "permits-visits"),
    "one record of another": ("Volunteers lend tools to members.", "Tool loans", "tool-loans"),
    "a heading that every brief has": ("## Goal\nClerks record permits.", "Permits", "permits"),
    "a slug of whole words": ("Clerks record swimming badges, harbour mooring fees and shelter keys.",
        "Swimming badges & harbour mooring fees", "swimming-badges-harbour-mooring-fees"),
    "a slug that would be cut in a word": ("Neighbourhood lending libraries and seed exchange: loans",
        "Neighbourhood lending libraries and seed exchange", "neighbourhood-lending-libraries-and-seed"),
    "accents leave the slug": ("Café Zoë: orders", "Café Zoë", "cafe-zoe"),
    "nothing left for a slug": ("予約、備品", "予約 & 備品", "prototype"),
}
# fmt: on


@pytest.mark.parametrize("brief, title, slug", TITLES.values(), ids=TITLES)
def test_title_and_slug(brief, title, slug):
    result = draft(brief, 1)
    assert (result.title, result.slug) == (title, slug)


# --- other languages ----------------------------------------------------------------------------------------

# fmt: off
LANGUAGES = {
    "Spanish": ("Los mecánicos anotan reparaciones y los clientes piden citas. Sin pagos.", "es", "ltr",
                ["reparación", "cliente", "cita"], ["pago"], ["mecánico"]),
    "French": ("Une ludothèque prête des jeux aux adhérents. Le bénévole note les prêts. Pas de réservation.",
               "fr", "ltr",
               ["jeu", "adhérent", "prêt"], ["réservation"], ["bénévole"]),
    "German": ("Wir verwalten Mitglieder, Mannschaften und Spiele. Trainer sehen Termine. Keine Zahlungen.",
               "de", "ltr",
               ["mitglied", "mannschaft", "spiel"], ["zahlung"], ["trainer"]),
    "Portuguese": ("Clientes abrem ordens de serviço. O mecânico usa peças. Não precisa de pagamento.",
        "pt", "ltr",
                   ["ordem de serviço", "cliente"], ["pagamento"], ["mecânico"]),
    "Japanese": ("備品の予約管理アプリ。社員は備品を予約する。購入機能は不要。", "ja", "ltr",
                 ["備品"], ["購入", "アプリ"], ["社員"]),
    "Chinese": ("教练安排课程，家长预约课程。不需要支付。", "zh", "ltr", ["课程"], ["支付"], ["教练"]),
    "Arabic": ("المواعيد والمرضى. يرى الطبيب المواعيد. لا نحتاج الفواتير.", "ar", "rtl", ["مواعيد"],
        ["فواتير"], ["طبيب"]),
    "Hebrew": ("תורים, מטופלים, טיפולים", "he", "rtl", ["תורים", "מטופלים"], [], []),
    "Russian": ("Записи, пациенты, врачи", "ru", "ltr", ["записи", "пациенты"], [], []),
}
# fmt: on


@pytest.mark.parametrize("brief, lang, direction, wanted, unwanted, roles", LANGUAGES.values(), ids=LANGUAGES)
def test_other_languages(brief, lang, direction, wanted, unwanted, roles):
    blueprint = draft(brief, 1).blueprints[0]
    found = names(blueprint["entities"])
    assert (blueprint["lang"], blueprint["dir"]) == (lang, direction)
    assert set(wanted) <= set(found)
    assert not set(unwanted) & set(found)
    assert set(roles) <= set(names(blueprint["roles"]))


# fmt: off
WORDS = {
    "Spanish": ("Los clientes piden citas.", "cita", {"Referencia", "Estado", "Cliente"}, "Confirmado"),
    "French": ("Les bénévoles notent les prêts.", "prêt", {"Objet", "Statut", "Rendu le"}, "Rendu"),
    "German": ("Mieter melden Schäden.", "schaden", {"Titel", "Status", "Schwere", "Fällig am"}, "Offen"),
    "Portuguese": ("O cliente aprova orçamentos.", "orçamento", {"Número", "Situação", "Total"}, "Rascunho"),
}
# fmt: on


@pytest.mark.parametrize("brief, label, labels, state", WORDS.values(), ids=WORDS)
def test_fields_and_states_speak_the_brief_s_language(brief, label, labels, state):
    found = fields(entity(brief, label))
    assert labels <= {field["label"] for field in found.values()}
    assert state in found["status"]["values"]


def test_a_state_in_another_language_means_what_the_english_one_means():
    for kind in {id(kind): kind for kind in p.archetypes().values()}.values():
        for lang in ("es", "fr", "de", "pt"):
            values = [p.terms()[lang].get(value.lower(), "") for value in kind.status]
            if values and all(values) and len(set(values)) == len(values):
                stages = [stage.name for stage in p._read_stages(kind.status)]
                assert [stage.name for stage in p._read_stages(values)] == stages, (kind.name, lang)


# fmt: off
TAGS = {  # one word each time that reads as a verb or as a noun
    "Spanish": ("es", "Los socios eligen cestas", "N V N"), "a singular": ("es", "El guarda cierra los pozos",
        "N V N"),
    "an adjective": ("es", "Cestas grandes y cajas pequeñas", "N A N A"),
    "German": ("de", "Gärtner gießen große Beete", "N V A N"),
    "the verb at the end": ("de", "Die Gruppe möchte Beete gießen", "N N G"),
    "French": ("fr", "Les grutiers déplacent des poutres", "N V N"),
    "Portuguese": ("pt", "Zeladores trocam lâmpadas queimadas", "N V N A"),
}
# fmt: on


@pytest.mark.parametrize("lang, text, tags", TAGS.values(), ids=TAGS)
def test_parts_of_speech_in_other_languages(lang, text, tags):
    assert [t.tag for t in p._foreign_tokens(text, lang) if t.tag in "NVJAG"] == tags.split()


# --- any text at all ----------------------------------------------------------------------------------------

SEEDS = [*(row[0] for row in RECORDS.values()), *(row[0] for row in LANGUAGES.values())]
SHARDS = (
    '<script>alert(1)</script>|SELECT * FROM orders;|{"a":[1,{}]}|(((|)))|[]|\u202e|a\u0301|1,000 €|-5%|...|'
    "🐶|\ud83d|\t|\n|## |- |No |not |won't have\n|£500|٣٤|१२|'s|id|status|reference|ﷺ|ß|İ|\u2028|x:|:|/|\x00"
).split("|")


def _mutated(chance: random.Random) -> str:
    text = list(chance.choice(SEEDS))
    for _ in range(chance.randrange(1, 30)):
        text.insert(chance.randrange(len(text) + 1), chance.choice(SHARDS))
    return "".join(text)


def _one_block(chance: random.Random) -> str:
    start = chance.randrange(0x1100) * 256
    return "".join(map(chr, (chance.randrange(start, start + 256) for _ in range(chance.randrange(1, 200)))))


# fmt: off
KINDS_OF_TEXT = (
    _mutated,
    _one_block,
    lambda chance: " ".join(chance.choices(" ".join(SEEDS).split(), k=chance.randrange(1, 300))),
    lambda chance: "".join(chance.choices("abcdefghijklmnopqrstuvwxyz     ,.;:()-\n'/&",
        k=chance.randrange(1, 2000))),
    lambda chance: "".join(chance.choices(SHARDS, k=chance.randrange(1, 60))),
    lambda chance: chance.choice(SHARDS) * 1000,
    lambda chance: chance.choice(SEEDS).upper(),
)
# fmt: on


def texts(count: int) -> list[str]:
    chance = random.Random(SEED)
    made = (chance.choice(KINDS_OF_TEXT)(chance)[: p.BRIEF_MAX_CHARS] for _ in range(count))
    return [text or "x" for text in made]


def check(brief: str) -> None:
    """Sound blueprints, shared data, names within their bounds, three axes between any two variants."""
    result = p.draft_blueprints(brief, seed=None, variants=6)
    assert 1 <= len(result.title) <= p.DRAFT_TITLE_CHARS
    assert re.fullmatch(p.SLUG_PATTERN, result.slug)
    assert len(result.slug) <= p.DRAFT_SLUG_CHARS
    assert 0 <= result.seed <= p.SEED_MAX
    for blueprint in result.blueprints:
        assert p.check_blueprint(blueprint) == []
        assert blueprint["brief"] == brief
        assert blueprint["entities"] == result.blueprints[0]["entities"]
    axes = [blueprint["variant"]["axes"] for blueprint in result.blueprints]
    for one, other in itertools.combinations(axes, 2):
        assert sum(one[name] != other[name] for name in one) >= 3


def test_any_text_gives_sound_blueprints():
    for number, text in enumerate(texts(FUZZ_BRIEFS)):
        try:
            check(text)
        except Exception as fault:
            raise AssertionError(f"brief {number}: {text[:200]!r}") from fault


# fmt: off
HOSTILE = {
    "one letter": "x", "one space": " ", "only marks": "?!.,;:" * 600, "only emoji": "🐶✊" * 2000,
        "only line ends": "\n" * 4000,
    "one word of 4,000 letters": "a" * 4000, "one noun again and again": "orders " * 571,
        "an open bracket": "(" * 4000,
    "html": "<b onclick='x()'>orders</b>" * 100, "sql": "DROP TABLE orders; --" * 100,
        "json": '{"orders":[{"id":1}]}' * 100,
    "lone surrogates": "\ud83d orders \udc00", "combining marks": "a" + "\u0301" * 3999,
        "digits": "1234567890" * 400,
    "the member names of a record": "id, status, records, entity, __proto__",
        "control characters": "\x00\x1b[31m orders",
}
# fmt: on


@pytest.mark.parametrize("brief", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text(brief):
    check(brief)


# --- the same everywhere ------------------------------------------------------------------------------------


def fingerprint(count: int) -> str:
    """A digest of everything that `count` briefs give."""
    digest = hashlib.sha256()
    for text in [*SEEDS, *texts(count)]:
        digest.update(json.dumps(p.draft_blueprints(text, seed=None, variants=6)).encode())
    return digest.hexdigest()


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("hash_seed", ["0", "4711"])
def test_the_same_bytes_on_every_python_whatever_the_hash_order(python, hash_seed, tmp_path):
    given = tmp_path / "texts.json"
    given.write_text(json.dumps([*SEEDS, *texts(150)]), encoding="ascii")
    code = (
        "import hashlib, json, sys; sys.path.insert(0, sys.argv[1]); import protoyard as p\n"
        "d = hashlib.sha256()\n"
        "for text in json.load(open(sys.argv[2])):\n"
        "    d.update(json.dumps(p.draft_blueprints(text, seed=None, variants=6)).encode())\n"
        "print(d.hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "LC_ALL": "C"}
    argv = [python, "-c", code, str(MODULE.parent), str(given)]
    done = subprocess.run(argv, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == fingerprint(150)


def test_letters_that_unicode_13_lacks_are_noise():
    ranges = [[int(end, 16) for end in (part.split("-") * 2)[:2]] for part in p._LATER.split()]
    assert all(first <= last for first, last in ranges)
    assert ranges == sorted(ranges)
    if unicodedata.unidata_version.startswith("13."):
        for first, last in ranges:
            assert {unicodedata.category(chr(code)) for code in range(first, last + 1)} == {"Cn"}
    plain = draft("Clerks record permits.").blueprints
    noisy = draft("Clerks \U00010570\U0001df00 record permits.").blueprints
    assert [b["entities"][0]["fields"] for b in plain] == [b["entities"][0]["fields"] for b in noisy]


def test_a_seed_is_taken_as_given_and_else_comes_from_the_brief():
    given, derived = (
        p.draft_blueprints("Clerks record permits.", seed=seed, variants=1) for seed in (7, None)
    )
    assert given.blueprints[0]["seed"] == 7
    assert derived.seed == p.draft_blueprints("Clerks record permits.", seed=None, variants=1).seed
    assert derived.seed != p.draft_blueprints("Clerks record visits.", seed=None, variants=1).seed


@pytest.mark.parametrize("count", range(1, 7))
def test_as_many_variants_as_asked_for(count):
    assert len(p.draft_blueprints("Clerks record permits.", seed=1, variants=count).blueprints) == count


def test_import_reads_no_table():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import protoyard; print('unicodedata' in sys.modules)"
    )
    argv = [sys.executable, "-I", "-c", code, str(MODULE.parent)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
