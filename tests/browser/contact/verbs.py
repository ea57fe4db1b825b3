"""Verbs of the console: where the dialog of each is opened, what it does, what is on record."""

import re
from dataclasses import dataclass
from urllib.parse import quote

from playwright.sync_api import Locator, Page, Response, Route, expect

from tests.browser.contact.conftest import TABLES, WORKER, Site
from tests.environment.brokers import produce
from tests.integration.oracle import ends_of, record
from tests.waiting import wait_until

__all__ = [
    "BACK",
    "END",
    "HANDOFF",
    "OUT",
    "RESUME",
    "SUSPEND",
    "TERMINATE",
    "UNUSED",
    "USED",
    "Sent",
    "Verb",
    "make_ready",
    "open_dialog",
    "reasons",
    "rows_of",
]


@dataclass(frozen=True)
class Verb:
    """A verb of the console: where its dialog is opened, and the words on its buttons."""

    page: str
    opens: str | re.Pattern[str]
    does: str
    path: str
    """How the path of its request ends."""
    action: str
    """The audit's word for it; its failpoints begin with it."""
    done: str
    """How the sentence of its toast ends."""

    @property
    def address(self) -> re.Pattern[str]:
        """The address of its request, not of its previews."""
        return re.compile(rf"/{self.path}\?(?!.*dryRun)")


_PAGE = "/ui/supervisors/{id}/events"
_FILES = "/ui/tables/{id}/files"
_W1 = "/ui/workers/w1"
SUSPEND = Verb(_PAGE, "Suspend…", "Suspend", "suspend", "suspend", "is suspended.")
RESUME = Verb(_PAGE, "Resume…", "Resume", "resume", "resume", "goes on.")
TERMINATE = Verb(_PAGE, "Terminate…", "Terminate", "terminate", "terminate", "is terminated.")
HANDOFF = Verb(_PAGE, "Hand off…", "Hand off", "handoff", "ask-handoff", "hands off.")
END = Verb("/ui/tasks/{task}/payload", "End task…", "End task", "shutdown", "stop-task", "ends.")
OUT = Verb(_W1, "Take out…", "Take out", "disable", "disable-worker", "gets nothing new.")
BACK = Verb(_W1, "Bring back…", "Enable", "enable", "enable-worker", "takes tasks again.")
UNUSED = Verb(
    _FILES,
    re.compile(r"^Take out \d+…$"),
    "Take out",
    "markUnused",
    "mark-unused",
    "The files leave",
)
USED = Verb(
    f"{_FILES}?used=no",
    re.compile(r"^Put back \d+…$"),
    "Put back",
    "markUsed",
    "mark-used",
    "are part of",
)


def make_ready(site: Site, verb: Verb) -> None:
    """Bring about what the verb takes back, or what it publishes."""
    http, bootstrap = site.cluster.http, site.broker.bootstrap
    if verb is RESUME:
        site.cluster.post(site.id, "suspend")
    elif verb is BACK:
        http.post(f"{WORKER}/disable").raise_for_status()
    elif verb is USED:
        http.delete(f"{TABLES}/{site.id}").raise_for_status()
    elif verb is HANDOFF:
        sent = sum(ends_of(bootstrap, site.id).values())
        produce(bootstrap, site.id, (record(n) for n in range(sent, sent + 4)))
        wait_until(site.is_reading)


def rows_of(site: Site, verb: Verb) -> set[object]:
    """Return what the verb adds to or takes from.

    Versions of the spec, wishes to hand off, failed tasks, workers that are out, or files in use.
    """
    lists = {
        HANDOFF: ("/api/v1/events", {"supervisor": site.id, "type": "handoff-asked"}, "events"),
        END: ("/api/v1/tasks", {"supervisor": site.id, "status": "FAILED"}, "tasks"),
        UNUSED: (f"/api/v1/datasources/{site.id}/segments", {"used": "true"}, "segments"),
        USED: (f"/api/v1/datasources/{site.id}/segments", {"used": "true"}, "segments"),
    }
    if verb in (OUT, BACK):
        workers = site.cluster.http.get("/api/v1/workers").raise_for_status().json()
        return {each["id"] for each in workers if each["disabled"]}
    if verb not in lists:
        return set(range(site.versions()))
    path, params, member = lists[verb]
    answer = site.cluster.http.get(path, params=params | {"limit": "100"}).raise_for_status()
    return {each["id"] for each in answer.json()[member]}


def reasons(site: Site, why: str) -> list[str]:
    """Return the actions that are on record with this reason."""
    answer = site.cluster.http.get("/api/v1/audit", params={"limit": 100}).raise_for_status()
    return [each["action"] for each in answer.json()["entries"] if each["reason"] == why]


def open_dialog(page: Page, site: Site, verb: Verb, why: str) -> Locator:
    """Open the dialog of a verb, and fill in all but the click."""
    task = site.names().task if verb is END else ""
    page.goto(verb.page.format(id=site.id, task=quote(task)))
    if verb in (UNUSED, USED):
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
    """The requests of a verb that a page sends: their keys, lost answers, and what was shown."""

    def __init__(self, page: Page, verb: Verb, *, lost: int = 0) -> None:
        """Listen; the overlord gets the first `lost` requests, and their answers do not come."""
        self.keys: list[str] = []
        self._verb = verb
        self._previews: list[Response] = []

        def pass_on(route: Route) -> None:
            self.keys.append(route.request.headers["idempotency-key"])
            if len(self.keys) <= lost:
                assert route.fetch().ok
                route.abort("connectionreset")
            else:
                route.continue_()

        def note(response: Response) -> None:
            if f"/{verb.path}?dryRun=true" in response.url:
                self._previews.append(response)

        page.route(verb.address, pass_on)
        page.on("response", note)

    def shown(self) -> int:
        """Return how many rows of `rows_of` the dialog's preview changes."""
        preview = self._previews[-1].json()
        if self._verb in (UNUSED, USED):
            files = preview["files"]["n"]
            assert isinstance(files, int)
            return files
        lists = {HANDOFF: "publishes", END: "ends"}
        return len(preview[lists[self._verb]]) if self._verb in lists else 1
