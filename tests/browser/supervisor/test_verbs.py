"""A verb does what its dialog has shown, once, and keeps the reason; else it does nothing."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, Route, expect
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.browser.accessible import assert_accessible
from tests.browser.supervisor.conftest import PARTITIONS, RECORDS, Reader, all_at, new_reader
from tests.browser.watch import Watch
from tests.integration.cluster import SUPERVISORS, Cluster, running
from tests.integration.overlords import Overlord
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.kafka]

_WHY = "broker 3 is moved; see <b>ops</b> & 50 %"
_DIALOGS = {"handoff": "hand off", "suspend": "suspend", "terminate": "terminate"}
_AUDITED = {"handoff": "ask-handoff"}
_BUTTONS = {"handoff": "Hand off", "suspend": "Suspend", "terminate": "Terminate"}


@pytest.fixture(scope="module")
def cluster(_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """An overlord with a worker without a JVM: ranges are read, and published if they end."""
    folder = tmp_path_factory.mktemp("verbs")
    started = Cluster(folder, more={"TIDEGATE_SUPERVISOR_PERIOD": "PT1S"}, light=True, slots=20)
    with running(started):
        yield started


@pytest.fixture(scope="module")
def overlord(cluster: Cluster) -> Overlord:
    """The overlord of the cluster, in the place of the one without a worker."""
    return Overlord("overlord", cluster.port, cluster.children["overlord"], cluster.http)


@pytest.fixture
def busy(reader: Reader, cluster: Cluster) -> Reader:
    """A supervisor whose tasks have read all of its topic, and published nothing."""
    reader.overlord.http.post(f"{SUPERVISORS}/{reader.id}/resume")
    wait_until(lambda: cluster.has_read(reader.id, _read(RECORDS)))
    return reader


def _read(each: int) -> dict[str, int]:
    return {str(n): each for n in range(PARTITIONS)}


def _published(topic: str) -> JsonValue:
    """Return the ends of a range that holds all, as the ledger has them."""
    return {f"{topic}:{n}": RECORDS for n in range(PARTITIONS)}


def _open(page: Page, reader: Reader, verb: str) -> Locator:
    """Open a dialog by its address, and wait for its preview."""
    page.goto(f"{reader.page}?do={verb}")
    dialog = page.get_by_role("dialog", name=_DIALOGS.get(verb, verb))
    expect(dialog.get_by_text("Command line")).to_be_visible()
    return dialog


def _rows(dialog: Locator) -> list[list[str]]:
    rows = dialog.get_by_role("region", name="What it does").locator("tbody tr")
    expect(rows).to_have_count(PARTITIONS)
    return [row.locator("td").all_inner_texts() for row in rows.all()]


def _audit(reader: Reader, action: str) -> list[JsonValue]:
    """Return the reasons of each time that this was done to the supervisor."""
    params = {"supervisor": reader.id, "action": _AUDITED.get(action, action)}
    answer = reader.overlord.http.get("/api/v1/audit", params=params).raise_for_status()
    return [entry["reason"] for entry in answer.json()["entries"]]


@pytest.mark.parametrize("verb", ["handoff", "suspend", "terminate"])
def test_it_does_what_was_shown_once_and_keeps_the_reason(
    page: Page, busy: Reader, cluster: Cluster, verb: str
) -> None:
    dialog = _open(page, busy, verb)
    rows = _rows(dialog)
    assert [row[0] for row in rows] == ["is published"] * PARTITIONS
    assert [row[3:] for row in rows] == [["0", f"{RECORDS} so far", str(RECORDS)]] * PARTITIONS
    expect(dialog.get_by_text(f"{PARTITIONS * RECORDS} offsets read so far")).to_be_visible()
    dialog.get_by_label("Reason").fill(_WHY)
    command = dialog.get_by_text(re.compile(r"--expect [0-9a-f]+ --reason '"))
    expect(command).to_contain_text(_WHY)

    dialog.get_by_role("button", name=_BUTTONS[verb]).dblclick()

    expect(dialog).to_have_count(0)
    assert page.get_by_role("alert").count() == 1, "one click, one toast"
    wait_until(lambda: len(cluster.publications(busy.id)) == 1)
    assert cluster.publications(busy.id)[0]["end"] == _published(busy.id)
    assert _audit(busy, verb) == [_WHY]
    if verb == "suspend":
        assert busy.status()["suspended"] is True
        _resume(page, busy)


def _resume(page: Page, reader: Reader) -> None:
    dialog = _open(page, reader, "resume")
    expect(dialog).to_contain_text("It reads on at its committed offsets")
    dialog.get_by_role("button", name="Resume", exact=True).click()
    expect(dialog).to_have_count(0)
    assert reader.status()["suspended"] is False
    assert _audit(reader, "resume") == [None]


def test_an_act_of_an_outdated_preview_does_nothing(
    page: Page, busy: Reader, cluster: Cluster, watch: Watch
) -> None:
    """Goal: what is new is marked, and has to be read before the button does anything."""
    dialog = _open(page, busy, "suspend")
    _rows(dialog)
    held: list[Route] = []
    page.route("**/suspend?dryRun=true", lambda route: held.append(route))  # noqa: PLW0108 -- Playwright takes no method of a list
    busy.go_on_at(40)
    wait_until(lambda: busy.committed() == all_at(40) and cluster.has_read(busy.id, _read(RECORDS)))
    watch.expect_status(409, f"{SUPERVISORS}/{busy.id}/suspend")
    button = dialog.get_by_role("button", name="Suspend", exact=True)

    button.click()

    expect(dialog.get_by_role("alert")).to_contain_text("Nothing was done")
    expect(button).to_be_disabled()
    assert busy.status()["suspended"] is False
    assert [row[3] for row in _rows(dialog)] == ["40"] * PARTITIONS
    expect(dialog.locator("tr[data-changed=true]")).to_have_count(PARTITIONS)
    dialog.get_by_role("button", name="I have read it").click()
    button.click()
    expect(dialog).to_have_count(0)
    assert busy.status()["suspended"] is True


def test_a_lost_answer_is_asked_for_again_by_itself(page: Page, busy: Reader, watch: Watch) -> None:
    """Goal: the connection breaks after the commit; it is done once, and the page says so."""
    keys: list[str] = []

    def lose_the_first(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) == 1:
            assert route.fetch().ok
            route.abort("connectionreset")
        else:
            route.continue_()

    page.route("**/suspend?expect=*", lose_the_first)
    watch.expect_console("net::ERR_CONNECTION_RESET")
    dialog = _open(page, busy, "suspend")

    dialog.get_by_role("button", name="Suspend", exact=True).click()

    expect(page.get_by_text(f"{busy.id} is suspended.", exact=True)).to_be_visible()
    expect(dialog).to_have_count(0)
    assert len(keys) == 2
    assert len(set(keys)) == 1
    assert _audit(busy, "suspend") == [None]


def test_several_are_handed_off_at_once_and_the_end_is_said_for_all(
    page: Page, cluster: Cluster, overlord: Overlord, broker: Broker
) -> None:
    """Goal: what was left out reads on; what was chosen publishes all that it has read, once."""
    *chosen, left = (new_reader(overlord, broker, "PT1H") for _ in range(3))
    ends = _read(RECORDS)
    wait_until(lambda: all(cluster.has_read(each.id, ends) for each in (*chosen, left)))
    page.goto("/ui/supervisors?q=orders-&sort=id")
    for each in chosen:
        page.get_by_label(f"Select {each.id}", exact=True).check()
    page.get_by_role("toolbar").get_by_role("button", name="Hand off…").click()
    dialog = page.get_by_role("dialog", name="Hand off 2 supervisors")
    expect(dialog.get_by_text("2 would change, 0 would be left as they are")).to_be_visible()
    effects = dialog.get_by_role("region", name="What would become of each").get_by_role("listitem")
    for each in chosen:
        expect(effects.filter(has_text=each.id)).to_contain_text("1 range hands off")
    names = " ".join(sorted(each.id for each in chosen))
    expect(dialog.get_by_text(re.compile(f"tidegate supervisor handoff {names}"))).to_be_visible()
    dialog.get_by_label("Reason").fill(_WHY)
    assert_accessible(page)

    dialog.get_by_role("button", name="Hand off", exact=True).dblclick()

    expect(dialog.get_by_text("2 done, 0 failed, 0 to go")).to_be_visible()
    expect(page.get_by_text("Hand off: 2 of 2 supervisors are done.")).to_be_visible()
    for each in chosen:
        [publication] = cluster.publications(each.id)
        assert publication["end"] == _published(each.id)
        assert _audit(each, "handoff") == [_WHY]
    assert cluster.publications(left.id) == []
    assert _audit(left, "handoff") == []
