"""A real Chromium for the page's tests: opens pages from disk, watches console and requests, runs axe."""

from __future__ import annotations

import os
import pathlib
import shutil
from typing import Any

import page_samples

import protoyard

ROOT = pathlib.Path(__file__).resolve().parent.parent
FULL = bool(os.environ.get("PROTOYARD_FULL"))
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Silent: what a browser of its own accord sends or shows has no place in a test of the page.
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
    "--disable-component-update", "--disable-sync", "--disable-quic",
]  # fmt: skip
AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
AXE_RUN = """tags => axe.run(document, {
    runOnly: tags, resultTypes: ["violations"], rules: {"target-size": {enabled: true}},
}).then(result => result.violations.flatMap(found => found.nodes.map(
    node => found.id + " at " + node.target.join(" ") + ": " + node.failureSummary)))"""


def find_browser() -> str:
    """The path of an installed Chromium, "" when there is none."""
    return os.environ.get("PROTOYARD_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), "")


def find_axe() -> pathlib.Path | None:
    """axe-core's script: where .ci/run puts it, or where PROTOYARD_AXE says; None when it is not there."""
    path = pathlib.Path(os.environ.get("PROTOYARD_AXE") or ROOT / ".ci/node_modules/axe-core/axe.min.js")
    return path if path.is_file() else None


class Tab:
    """A page in the browser, with all that it said and asked for."""

    def __init__(self, context: Any, path: pathlib.Path) -> None:
        self.path = path
        self.noise: list[str] = []
        self.page = context.new_page()
        self.page.on("console", lambda message: self.noise.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.noise.append(f"error: {error}"))
        self.page.on("request", self._on_request)

    def _on_request(self, request: Any) -> None:
        if request.url.split("#")[0] != self.path.as_uri() and not request.url.startswith("blob:"):
            self.noise.append(f"request: {request.url}")

    def open(self, fragment: str = "") -> Tab:
        """Load the page at a fragment ("#/inspections"), from the start."""
        self.page.goto("about:blank")
        self.page.goto(self.path.as_uri() + fragment)
        self.page.wait_for_selector("html[data-ready]")
        return self

    def go(self, fragment: str) -> Tab:
        """Go to a fragment as a link in the page would."""
        self.page.evaluate("hash => { location.hash = hash }", fragment)
        self.page.wait_for_function("hash => location.hash === hash", arg=fragment)
        return self

    def button(self, name: str, **more: Any) -> Any:
        """The button of this name in the product."""
        return self.page.locator("main, dialog[open]").get_by_role("button", name=name, **more)

    def link(self, name: str, **more: Any) -> Any:
        """The link of this name in the product."""
        return self.page.locator("main, dialog[open]").get_by_role("link", name=name, **more)

    def heading(self) -> str:
        """The text of the one h1."""
        return self.page.locator("h1").inner_text()

    def toast(self) -> str:
        """What the last toast says."""
        return self.page.locator(".toast > span").first.inner_text()

    def choose(self, control: str, value: str) -> None:
        """A choice in the review bar: "role", "flow", "state" or "mode"."""
        self.page.select_option(f"#review-{control}", value)

    def wait_for_hash(self, part: str) -> None:
        """Until the address holds this."""
        self.page.wait_for_function("part => location.hash.includes(part)", arg=part)

    def overflow(self) -> int:
        """By how many pixels the page can be scrolled sideways."""
        root = "document.documentElement"
        return self.page.evaluate(f"{root}.scrollWidth - {root}.clientWidth")

    def axe(self, source: str) -> list[str]:
        """What axe finds on the page as it is."""
        self.page.evaluate(source)
        return self.page.evaluate(AXE_RUN, AXE_TAGS)


def write_page(folder: pathlib.Path, blueprint: dict[str, Any], name: str = "index") -> pathlib.Path:
    """The page of a blueprint on disk."""
    path = folder / f"{name}.html"
    path.write_text(protoyard.render_page(blueprint), "utf-8")
    return path


def screen_ids() -> list[str]:
    """The screens of the hand-made blueprint, which has every type."""
    return [screen["id"] for screen in page_samples.rich_blueprint("a")["screens"]]
