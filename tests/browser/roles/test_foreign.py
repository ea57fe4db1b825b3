"""What is foreign is nowhere: no page, list, dialog, filter, stream, and no answer shows it.

Whoever may read all sees it on the same pages, so each of them has something to hide.

Slow: a reader opens every page, and asks for every address of another table.
"""

import json
import re

import pytest
from playwright.sync_api import Page, Response, expect

from tests.browser.contact.places import every_address
from tests.browser.roles.conftest import FOREIGN, MOVED, OURS, Roles, enter
from tests.browser.roles.heard import Heard
from tests.browser.watch import Watch
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.kafka]

_STREAM = "/api/v1/events/stream"
_REQUEST = re.compile(r"request (\w{32})")
_DIALOGS = ("do=reset&to=earliest", "do=suspend", "do=handoff", "do=terminate")
_SHOWN_TO_ALL = (
    "/ui/",
    "/ui/supervisors",
    "/ui/tasks",
    "/ui/tables",
    "/ui/workers/w1",
    "/ui/queues",
    "/ui/work",
    "/ui/logs",
    "/ui/logs/reports",
    "/ui/audit",
    f"/ui/supervisors/{MOVED}/history",
)
"""Where somebody who may read all sees the foreign table."""


def _visit(page: Page, heard: Heard, address: str) -> str:
    """Return all that a page has once it has loaded: texts, titles and links."""
    heard.at = address
    page.goto(address)
    expect(page.get_by_role("heading", level=1).first).to_be_visible()
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    if "do=" in address:
        expect(page.get_by_role("dialog").get_by_text("Undo", exact=True)).to_be_visible()
    return page.content()


def _addresses(roles: Roles) -> list[str]:
    """Return every page of what is ours, with the dialogs of its supervisor."""
    ours = every_address(roles.names[OURS])
    moved = [each.replace(OURS, MOVED) for each in ours if each.startswith("/ui/supervisors/")]
    overview = f"/ui/supervisors/{OURS}/overview"
    return [*ours, *moved, *(f"{overview}?{dialog}" for dialog in _DIALOGS)]


@pytest.mark.long
def test_no_page_of_ones_own_shows_what_is_foreign(
    page: Page, watch: Watch, roles: Roles, heard: Heard
) -> None:
    """Goal: not even to who may do all to one table; the past of what has moved is not all its."""
    watch.allow_status(404, f"/api/v1/supervisors/{MOVED}/")
    enter(page, watch, roles, "keeper", "/ui/settings")
    for address in _addresses(roles):
        assert FOREIGN not in _visit(page, heard, address), address
    assert heard.with_text(OURS) != []
    assert heard.with_text(FOREIGN) == []


def test_where_some_see_it_others_do_not(
    page: Page, watch: Watch, roles: Roles, heard: Heard
) -> None:
    enter(page, watch, roles, "admin", "/ui/settings")
    for address in _SHOWN_TO_ALL:
        page.goto(address)
        expect(page.locator("body"), address).to_contain_text(FOREIGN)
    page.context.clear_cookies()
    watch.allow_status(404, f"/api/v1/supervisors/{MOVED}/")
    heard.answers.clear()
    enter(page, watch, roles, "viewer", "/ui/settings")
    for address in _SHOWN_TO_ALL:
        assert FOREIGN not in _visit(page, heard, address), address
    assert heard.with_text(FOREIGN) == []


def test_an_address_of_what_is_foreign_is_answered_as_one_of_nothing(
    page: Page, watch: Watch, roles: Roles, heard: Heard
) -> None:
    """Goal: nobody finds out by the answers, or by a page, whether a name is there."""
    watch.expect_status(404, "/")
    enter(page, watch, roles, "operator", "/ui/settings")
    tabs = ("supervisors/{}/partitions", "tables/{}/files", "queues/table:{}/export-delta")
    names = (FOREIGN, roles.names[""].table)
    pairs = [tuple(f"/ui/{tab.format(name)}" for name in names) for tab in tabs]
    assert sum(_are_answered_alike(page, heard, roles, one, other) for one, other in pairs) > 0


@pytest.mark.long
def test_every_address_of_what_is_foreign_is_answered_as_one_of_nothing(
    page: Page, watch: Watch, roles: Roles, heard: Heard
) -> None:
    watch.expect_status(404, "/")
    enter(page, watch, roles, "operator", "/ui/settings")
    ours = {*every_address(roles.names[OURS])}
    pairs = zip(every_address(roles.names[FOREIGN]), every_address(roles.names[""]), strict=True)
    foreign = [pair for pair in pairs if pair[0] not in ours]
    assert sum(_are_answered_alike(page, heard, roles, *pair) for pair in foreign) > len(foreign)


def _are_answered_alike(page: Page, heard: Heard, roles: Roles, *pair: str) -> int:
    """Return how many answers were compared; a page of a table needs none of its own."""
    answers = []
    for address in pair:
        _visit(page, heard, address)
        expect(page.get_by_text("or you may not read it").first, address).to_be_visible()
        answers.append(_answers(heard, address, roles))
    both = answers[0].keys() & answers[1].keys()  # the page is left while others are under way
    assert [answers[0][each] for each in both] == [answers[1][each] for each in both], pair
    return len(both)


def _answers(heard: Heard, window: str, roles: Roles) -> dict[str, set[tuple[int, str]]]:
    """Return address -> statuses and texts of what a page was answered, as if all had one name."""
    names = {name for each in (FOREIGN, "") for name in vars(roles.names[each]).values()}
    texts = sorted((each for each in names if isinstance(each, str)), key=len, reverse=True)
    plain = re.compile("|".join(re.escape(each) for each in texts))
    answers: dict[str, set[tuple[int, str]]] = {}
    for each in heard.answers.values():
        if each.window == window and each.is_whole and plain.search(each.address):
            answer = (each.status, plain.sub("X", each.text))
            answers.setdefault(plain.sub("X", each.address), set()).add(answer)
    return answers


def test_no_search_filter_or_count_finds_what_is_foreign(
    page: Page, watch: Watch, roles: Roles, heard: Heard
) -> None:
    enter(page, watch, roles, "viewer", "/ui/supervisors")
    expect(page.get_by_role("link", name=OURS, exact=True)).to_be_visible()
    expect(page.get_by_text("2 supervisors", exact=False).first).to_be_visible()
    expect(page.get_by_role("link", name="Supervisors")).to_contain_text("2")
    page.keyboard.press("Control+k")
    search = page.get_by_role("textbox", name="Search")
    search.fill("o")
    expect(page.get_by_role("dialog")).to_contain_text(OURS)
    expect(page.get_by_role("dialog")).not_to_contain_text(FOREIGN)
    search.fill(FOREIGN[:7])
    expect(page.get_by_text("Nothing has these letters")).to_be_visible()
    assert heard.with_text(FOREIGN) == []
    for address in (
        f"supervisors?q={FOREIGN}",
        f"supervisors?table={FOREIGN}",
        f"tasks?supervisor={FOREIGN}",
        f"tables?q={FOREIGN}",
        f"logs?supervisor={FOREIGN}",
        f"logs/reports?supervisor={FOREIGN}",
    ):
        _visit(page, heard, f"/ui/{address}")
        for name in ("Supervisors", "Tasks", "Tables", "Lines", "Reports"):
            assert FOREIGN not in "".join(page.get_by_role("table", name=name).all_inner_texts())
    assert heard.with_text(FOREIGN) == []


def test_the_stream_and_the_pages_that_follow_it_keep_quiet_of_it(
    page: Page, watch: Watch, roles: Roles, heard: Heard
) -> None:
    enter(page, watch, roles, "viewer", "/ui/")
    expect(page.get_by_role("banner").get_by_text("live", exact=True)).to_be_visible()

    def ours_came() -> bool:
        # A page that has just been entered may open its stream anew, from then on.
        for name in (FOREIGN, OURS):
            roles.hand_off(name)
        return page.evaluate("true") and OURS in heard.of(_STREAM)

    wait_until(ours_came)
    assert heard.with_text(FOREIGN) == []
    assert FOREIGN not in page.content()


def test_a_spec_for_a_foreign_table_is_refused_as_one_for_a_table_of_nothing(
    page: Page, watch: Watch, roles: Roles
) -> None:
    watch.expect_status(403, "/")
    enter(page, watch, roles, "operator", f"/ui/supervisors/{OURS}/spec?view=json")
    editor = page.get_by_role("textbox", name="The spec as JSON")
    expect(editor).to_contain_text(OURS)
    answer = roles.cluster.http.get(f"/druid/indexer/v1/supervisor/{OURS}").raise_for_status()
    document = {name: answer.json()[name] for name in ("type", "id", "spec")}
    texts = []
    refused: list[str] = []
    page.on("response", lambda response: refused.extend(_refused(response)))
    for name in (FOREIGN, "never-there-at"):
        document["spec"]["dataSchema"]["dataSource"] = name
        editor.click()
        page.keyboard.press("ControlOrMeta+A")
        page.keyboard.insert_text(json.dumps(document))
        alert = page.get_by_role("alert").first
        expect(alert).to_contain_text(name)
        expect(alert).to_contain_text(_REQUEST)
        # A draft may be judged more than once.
        [request] = _REQUEST.findall(alert.text_content() or "")
        assert request in refused
        texts.append([line.replace(name, "X") for line in alert.locator("p").all_inner_texts()][:2])
    assert texts[0] == texts[1]


def _refused(response: Response) -> list[str]:
    """Return the id of a request that was refused."""
    return [response.headers["x-request-id"]] if response.status == 403 else []
