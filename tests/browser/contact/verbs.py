"""Verbs of the console: where the dialog of each is opened, and what is on record of it."""

import re
from dataclasses import dataclass
from urllib.parse import quote

from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.contact.conftest import Site

__all__ = [
    "BACK",
    "END",
    "HANDOFF",
    "OUT",
    "RESUME",
    "SUSPEND",
    "TERMINATE",
    "UNUSED",
    "Sent",
    "Verb",
    "open_dialog",
    "reasons",
]


@dataclass(frozen=True)
class Verb:
    """A verb of the console: where its dialog is opened, and the words on its buttons."""

    page: str
    opens: str | re.Pattern[str]
    does: str
    path: str
    """How the path of its request ends."""

    @property
    def address(self) -> re.Pattern[str]:
        """The address of its request, not of its previews."""
        return re.compile(rf"/{self.path}\?(?!.*dryRun)")


_PAGE = "/ui/supervisors/{id}/events"
SUSPEND = Verb(_PAGE, "Suspend…", "Suspend", "suspend")
RESUME = Verb(_PAGE, "Resume…", "Resume", "resume")
TERMINATE = Verb(_PAGE, "Terminate…", "Terminate", "terminate")
HANDOFF = Verb(_PAGE, "Hand off…", "Hand off", "handoff")
END = Verb("/ui/tasks/{task}/payload", "End task…", "End task", "shutdown")
OUT = Verb("/ui/workers/w1", "Take out…", "Take out", "disable")
BACK = Verb("/ui/workers/w1", "Bring back…", "Enable", "enable")
UNUSED = Verb("/ui/tables/{id}/files", re.compile(r"^Take out \d+…$"), "Take out", "markUnused")


def reasons(site: Site, why: str) -> list[str]:
    """Return the actions that are on record with this reason."""
    answer = site.cluster.http.get("/api/v1/audit", params={"limit": 100}).raise_for_status()
    return [each["action"] for each in answer.json()["entries"] if each["reason"] == why]


def open_dialog(page: Page, site: Site, verb: Verb, why: str) -> Locator:
    """Open the dialog of a verb, and fill in all but the click."""
    task = site.names().task if verb is END else ""
    page.goto(verb.page.format(id=site.id, task=quote(task)))
    if verb is UNUSED:
        page.get_by_role("checkbox", name="Select all rows that are shown").check()
    if verb is TERMINATE:
        page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem" if verb is TERMINATE else "button", name=verb.opens).last.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("Command line")).to_be_visible()
    dialog.get_by_label("Reason").fill(why)
    if verb is UNUSED:
        words = dialog.locator("label").filter(has_text="to confirm").inner_text()
        dialog.get_by_label("to confirm").fill(re.findall(r"\d+", words)[0])
    return dialog


class Sent:
    """The requests of a verb that a page sends: their keys, and the answers that are lost."""

    def __init__(self, page: Page, verb: Verb, *, lost: int = 0) -> None:
        """Listen; the overlord gets the first `lost` requests, and their answers do not come."""
        self.keys: list[str] = []

        def pass_on(route: Route) -> None:
            self.keys.append(route.request.headers["idempotency-key"])
            if len(self.keys) <= lost:
                assert route.fetch().ok
                route.abort("connectionreset")
            else:
                route.continue_()

        page.route(verb.address, pass_on)
