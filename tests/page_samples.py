"""Blueprints for the page's tests: every screen type, every field type, made by hand, no randomness."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

TODAY = date(2026, 6, 15)
PEOPLE = ("Ada Novak", "Bo Lindqvist", "Chidi Okafor", "Dana Whitfield", "Elif Arslan", "Farid Haddad")
PLACES = (
    "North Quay",
    "Granary Dock",
    "Tidewater Yard",
    "Old Lock",
    "Signal Pier",
    "Coal Basin",
    "East Mole",
)
STREETS = ("Mill Lane", "Harbour Road", "Chapel Street", "Station Square")
FINDINGS = ("Worn hoist rope", "Oil under the gearbox", "Brake pads thin", "Ladder rung loose", "Lamp out")
STATUSES = ("planned", "in progress", "waiting for parts", "done", "cancelled")
PRIORITIES = ("low", "normal", "urgent")
LETTERS = "abcdef"

# What differs from variant to variant: layout, palette, corners, density, mode, navigation, detail, entry.
LOOKS = {
    "a": (
        "sidebar",
        "harbour",
        "soft",
        "comfortable",
        "auto",
        ["home", "inspections", "inspection_board", "sites", "plan", "spans", "desk", "figures", "options"],
        "page",
        "page",
    ),
    "b": (
        "topbar",
        "plum",
        "round",
        "comfortable",
        "auto",
        ["inspection_board", "home", "inspections", "figures", "options"],
        "panel",
        "dialog",
    ),
    "c": (
        "topbar",
        "sand",
        "sharp",
        "roomy",
        "light",
        ["plan", "spans", "inspections", "sites", "figures"],
        "dialog",
        "page",
    ),
    "d": (
        "tabs",
        "ember",
        "round",
        "roomy",
        "auto",
        ["sites", "plan", "desk", "inspections", "home", "options"],
        "page",
        "guided",
    ),
    "e": (
        "sidebar",
        "slate",
        "sharp",
        "compact",
        "dark",
        ["desk", "figures", "inspections", "home"],
        "panel",
        "page",
    ),
    "f": (
        "tabs",
        "moss",
        "soft",
        "comfortable",
        "auto",
        ["inspection_form", "inspections", "plan", "home"],
        "page",
        "guided",
    ),
}


def _day(offset: int) -> str:
    return (TODAY + timedelta(days=offset)).isoformat()


def _field(name: str, label: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "label": label, "type": kind, **more}


def _sites() -> list[dict[str, Any]]:
    return [
        {
            "id": f"site-{n + 1}",
            "name": place,
            "address": f"{n * 7 + 3} {STREETS[n % len(STREETS)]}",
            "keeper": PEOPLE[n % len(PEOPLE)],
            "email": f"{PEOPLE[n % len(PEOPLE)].split()[0].lower()}@example.com",
            "phone": f"555-01{n + 10}",
            "website": "https://example.com/site",
            "rating": n % 5 + 1,
            "indoor": n % 3 == 0,
            "constructor": f"Builder {n + 1}",
        }
        for n, place in enumerate(PLACES)
    ]


def _inspections(rows: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"inspection-{n + 1}",
            "title": f"{FINDINGS[n % len(FINDINGS)]} at {PLACES[n % len(PLACES)]}",
            "site": f"site-{n % len(PLACES) + 1}",
            "status": STATUSES[(n * 7 + n // 5) % len(STATUSES)],
            "priority": PRIORITIES[(n * 5) % 3],
            "inspector": PEOPLE[(n * 3 + 1) % len(PEOPLE)],
            "due": _day(n * 3 % 46 - 15),
            "starts": f"{_day(n * 5 % 38 - 12)}T{8 + n % 9:02}:{n % 2 * 30:02}",
            "ends": _day(n * 5 % 38 - 12 + n % 6),
            "cost": round(120 + n * 137.5 % 2400, 2),
            "progress": n * 17 % 101,
            "minutes": 30 + n % 7 * 25,
            "crew": n % 4 + 1,
            "labels": [("crane", "lift", "electric", "yearly")[(n + k) % 4] for k in range(n % 3)],
            "notes": "Look at the rope first, then at the brake. Bring the long ladder." if n % 2 else "",
        }
        for n in range(rows)
    ]


def _messages() -> list[dict[str, Any]]:
    return [
        {
            "id": f"message-{n + 1}",
            "subject": f"About {FINDINGS[n % len(FINDINGS)].lower()}",
            "sender": PEOPLE[n % len(PEOPLE)],
            "inspection": f"inspection-{n + 1}",
            "sent": f"{_day(-n)}T{9 + n % 8:02}:15",
            "state": ("new", "answered", "closed")[n % 3],
            "body": "The part will come on Thursday. Shall we keep the appointment?",
        }
        for n in range(12)
    ]


def _entities(rows: int) -> list[dict[str, Any]]:
    return [
        {
            "id": "site",
            "label": "Site",
            "plural": "Sites",
            "icon": "map",
            "display": "name",
            "because": "sites",
            "fields": [
                _field("name", "Name", "text", required=True),
                _field("address", "Address", "address"),
                _field("keeper", "Keeper", "person"),
                _field("email", "E-mail", "email"),
                _field("phone", "Phone", "phone"),
                _field("website", "Website", "url"),
                _field("rating", "Rating", "rating"),
                _field("indoor", "Indoors", "boolean"),
                _field("constructor", "Constructor", "text"),
            ],
            "records": _sites(),
        },
        {
            "id": "inspection",
            "label": "Inspection",
            "plural": "Inspections",
            "icon": "shield",
            "display": "title",
            "because": "inspections of cranes",
            "fields": [
                _field("title", "Title", "text", required=True, hint="What was found, and where"),
                _field("site", "Site", "ref", entity="site", required=True),
                _field("status", "Status", "status", values=list(STATUSES), default="planned"),
                _field(
                    "priority", "Priority", "choice", values=["low", "normal", "urgent"], default="normal"
                ),
                _field("inspector", "Inspector", "person"),
                _field("due", "Due", "date", required=True),
                _field("starts", "Starts", "datetime"),
                _field("ends", "Ends", "date"),
                _field("cost", "Cost", "money", unit="EUR", min=0, max=5000),
                _field("progress", "Progress", "percent", min=0, max=100),
                _field("minutes", "Time spent", "duration"),
                _field("crew", "Crew", "number", unit="people", min=1, max=8),
                _field("labels", "Labels", "tags"),
                _field("notes", "Notes", "longtext"),
            ],
            "records": _inspections(rows),
        },
        {
            "id": "message",
            "label": "Message",
            "plural": "Messages",
            "icon": "mail",
            "display": "subject",
            "fields": [
                _field("subject", "Subject", "text", required=True),
                _field("sender", "From", "person"),
                _field("inspection", "Inspection", "ref", entity="inspection"),
                _field("sent", "Sent", "datetime"),
                _field("state", "State", "status", values=["new", "answered", "closed"]),
                _field("body", "Message", "longtext"),
            ],
            "records": _messages(),
        },
    ]


def _widgets() -> list[dict[str, Any]]:
    open_ones = {"field": "status", "values": ["planned", "in progress", "waiting for parts"]}
    late = {"field": "due", "when": "overdue"}
    return [
        {"kind": "count", "entity": "inspection", "title": "Open inspections", "filter": open_ones},
        {"kind": "count", "entity": "inspection", "title": "Overdue", "filter": late},
        {
            "kind": "count",
            "entity": "inspection",
            "title": "Due this week",
            "filter": {"field": "due", "when": "this_week"},
        },
        {
            "kind": "sum",
            "entity": "inspection",
            "title": "Cost of open work",
            "measure": "cost",
            "filter": open_ones,
        },
        {"kind": "list", "entity": "inspection", "title": "Needs attention", "filter": late},
        {"kind": "donut", "entity": "inspection", "title": "Inspections by status"},
        {"kind": "trend", "entity": "inspection", "title": "Cost over time", "measure": "cost"},
        {"kind": "bars", "entity": "site", "title": "Sites by rating"},
    ]


def _screens() -> list[dict[str, Any]]:
    lead = ["title", "status", "site", "priority", "inspector", "due", "cost"]
    return [
        {"id": "home", "title": "Overview", "type": "dashboard", "widgets": _widgets()},
        {
            "id": "inspections",
            "title": "Inspections",
            "type": "list",
            "entity": "inspection",
            "columns": lead,
            "filters": ["status", "priority", "inspector", "due"],
            "because": "track inspections",
        },
        {
            "id": "inspection_board",
            "title": "Board",
            "type": "board",
            "entity": "inspection",
            "groupBy": "status",
            "filters": ["priority"],
        },
        {"id": "inspection_detail", "title": "Inspection", "type": "detail", "entity": "inspection"},
        {"id": "inspection_form", "title": "New inspection", "type": "form", "entity": "inspection"},
        {"id": "sites", "title": "Sites", "type": "cards", "entity": "site", "filters": ["indoor"]},
        {"id": "site_detail", "title": "Site", "type": "detail", "entity": "site"},
        {
            "id": "site_form",
            "title": "New site",
            "type": "form",
            "entity": "site",
            "steps": [["name", "address"], ["keeper", "email", "phone"], ["rating", "indoor"]],
        },
        {
            "id": "plan",
            "title": "Calendar",
            "type": "calendar",
            "entity": "inspection",
            "dateField": "starts",
            "filters": ["status"],
        },
        {
            "id": "spans",
            "title": "Timeline",
            "type": "timeline",
            "entity": "inspection",
            "dateField": "starts",
            "endField": "ends",
        },
        {"id": "desk", "title": "Messages", "type": "inbox", "entity": "message"},
        {"id": "message_detail", "title": "Message", "type": "detail", "entity": "message"},
        {"id": "message_form", "title": "New message", "type": "form", "entity": "message"},
        {"id": "diary", "title": "Diary", "type": "timeline", "entity": "message", "dateField": "sent"},
        {
            "id": "figures",
            "title": "Report",
            "type": "report",
            "entity": "inspection",
            "groupBy": "status",
            "measure": "cost",
        },
        {"id": "options", "title": "Settings", "type": "settings"},
    ]


def rich_blueprint(
    letter: str = "a", *, rows: int = 48, rtl: bool = False, lang: str = "en"
) -> dict[str, Any]:
    """A blueprint with every screen type; `letter` picks one of six looks, `rtl` turns the page around."""
    layout, palette, corners, density, mode, navigation, detail, entry = LOOKS[letter]
    screens = _screens()
    kinds = {screen["id"]: screen["type"] for screen in screens}
    home = kinds[navigation[0]]
    axes = {
        "navigation": layout,
        "home": home,
        "main": home if home in ("board", "calendar", "inbox") else "table",
        "detail": detail,
        "entry": entry,
        "density": density,
    }
    return {
        "blueprint": 1,
        "title": "Quayside",
        "brief": "Inspectors track inspections of cranes at sites; the office plans the week.",
        "lang": lang,
        "dir": "rtl" if rtl else "ltr",
        "seed": 7,
        "asOf": TODAY.isoformat(),
        "variant": {
            "id": letter,
            "question": "Can the office see at a glance what is late?",
            "rationale": "For the desk: everything that is open, sorted by when it has to be done.",
            "cost": "Less suited to a phone in the yard.",
            "axes": axes,
        },
        "roles": [
            {"id": "office", "label": "Office"},
            {
                "id": "inspector",
                "label": "Inspector",
                "rights": ["edit"],
                "screens": [
                    "inspections",
                    "inspection_detail",
                    "inspection_board",
                    "plan",
                    "home",
                    "desk",
                    "inspection_form",
                ],
            },
            {"id": "guest", "label": "Guest", "rights": []},
        ],
        "entities": _entities(rows),
        "screens": screens,
        "navigation": navigation,
        "flows": [
            {
                "id": "close_one",
                "label": "Close an inspection",
                "role": "office",
                "steps": [
                    {"screen": "inspections", "hint": "Find what is late"},
                    {"screen": "inspection_detail", "record": "inspection-2", "hint": "Read the notes"},
                    {"screen": "inspection_board", "hint": "Move it to done"},
                ],
            }
        ],
        "settings": [
            {
                "id": "warn_days",
                "label": "Warn before the due date",
                "type": "number",
                "value": 7,
                "unit": "days",
                "because": "warn a week ahead",
            },
            {"id": "cost_limit", "label": "Cost limit", "type": "money", "value": 2000, "unit": "EUR"},
            {"id": "send_mail", "label": "Send e-mail", "type": "boolean", "value": True},
            {"id": "season_start", "label": "Season starts", "type": "date", "value": "2026-04-01"},
            {"id": "signature", "label": "Signature", "type": "text", "value": "Kind regards"},
        ],
        "theme": {"palette": palette, "layout": layout, "density": density, "mode": mode, "corners": corners},
    }
