"""Pictures of every page of the console, light and dark, for the docs.

python -m tests.browser.pictures --into docs/pictures

A real overlord, a worker with Spark, and a topic that was read: it takes a few minutes.  Look at
each picture before it is committed.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
from playwright.sync_api import Browser, Page, expect, sync_playwright

from supervisor.dev.broker import Broker
from supervisor.ports.reports.dead_letters import DeadLetter
from tests.browser.persisters.answering import answering
from tests.browser.persisters.on_kafka import flows_on_kafka
from tests.browser.planted.conftest import HANDLED_BY_NOBODY, Planted
from tests.browser.planted.flows import (
    DAY,
    EXECUTIONS,
    apply_flow,
    asking_flow,
    asking_runs,
    await_asking,
    await_state,
    failing_flow,
    start_flow,
    triggered_flow,
)
from tests.browser.planted.stored import failed_task, store_records
from tests.browser.rows.conftest import Published, publish_twice
from tests.browser.test_login import REQUIRED, create_token, log_in
from tests.environment.brokers import create_topic, produce, start_test_broker
from tests.environment.chromium import ARGUMENTS, ensure_chromium
from tests.integration.cluster import Cluster, running
from tests.integration.oracle import record, spec
from tests.integration.overlords import SUPERVISORS, Overlord, Overlords
from tests.supervisor.cli.overlord import overlord as a_server
from tests.supervisor.reports.desks import a_persister
from tests.waiting import wait_until

SCHEMES = ("light", "dark")
_ROOT = 0
_LETTERS = "dead-letters"
_OF_EXECUTORS = {"executors": "/ui/executors", "dead-inputs": "/ui/executors/dead-inputs"}
_OF_CALLERS = ("login", "denied")
_WIDTH, _HEIGHT = 1280, 800
_IS_SETTLED = """() => {
  const busy = document.querySelector('[role="status"][aria-label="Loading"]') !== null;
  window.quietSince = busy ? undefined : (window.quietSince ?? performance.now());
  return !busy && performance.now() - window.quietSince > 500;
}"""
"""Nothing has been loading for half a second: a page's parts come one after the other."""


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description="Take pictures of all pages of the console.")
    parser.add_argument("--into", type=Path, required=True, help="the folder of the pictures")
    parser.add_argument("--only", default="", help="take those whose names begin so, or so: a,b")
    chosen = parser.parse_args()
    into: Path = chosen.into
    for scheme in SCHEMES:
        (into / scheme).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, _browser() as browser:
        wanted = tuple(chosen.only.split(","))
        if _LETTERS.startswith(wanted):
            _take_letters(browser, Path(folder), into)
        if any(name.startswith(wanted) for name in _OF_EXECUTORS):
            _take_executors(browser, Path(folder), into, wanted)
        if any(name.startswith(wanted) for name in _OF_CALLERS):
            _take_callers(browser, Path(folder), into)
        apart = (_LETTERS, *_OF_EXECUTORS, *_OF_CALLERS)
        if any(not each.startswith(apart) for each in wanted):
            _take_all(browser, Path(folder), into, wanted)


@contextmanager
def _browser() -> Iterator[Browser]:
    ours = ensure_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=ours.program,
            args=ARGUMENTS,
            env={**os.environ, **ours.environment},
            chromium_sandbox=os.geteuid() != _ROOT,
        )
        yield browser
        browser.close()


def _take_letters(browser: Browser, folder: Path, into: Path) -> None:
    """Take the page of dead letters; its overlord has no workers, whose reports would be lost."""
    spoiled = DeadLetter(b"orders", b'{"v": 9}', "completed.default", 2, 7, "unknown version 9")
    home = folder / "letters"
    home.mkdir()
    with (
        a_server() as server,
        a_persister(home, spoiled) as persister,
        answering(server, persister),
        Overlords(home, f"sqlite:///{home / 'metadata.db'}") as overlords,
    ):
        leader = overlords.start_leader(TIDEGATE_REPORTS_PERSISTER=server.url)
        for scheme in SCHEMES:
            url = f"{leader.url}/ui/logs/dead-letters"
            _take(browser, url, scheme, into / scheme / f"{_LETTERS}.png")
            sys.stdout.write(f"{_LETTERS}, {scheme}\n")


def _take_executors(browser: Browser, folder: Path, into: Path, only: tuple[str, ...]) -> None:
    """Take the pages of executors; flows of all other pictures run in the database."""
    home = folder / "executors"
    home.mkdir()
    with (
        start_test_broker(home / "kafka") as broker,
        flows_on_kafka(home, broker.bootstrap, "tidegate.executions.", {}) as flows,
    ):
        flows.spoil('{"v": 1, "given": {"kill"', "orders-day:24", "orders-day:25")
        wait_until(flows.rests)
        for name, address in _OF_EXECUTORS.items():
            for scheme in SCHEMES if name.startswith(only) else ():
                url = flows.overlord.url + address
                _take(browser, url, scheme, into / scheme / f"{name}.png")
                sys.stdout.write(f"{name}, {scheme}\n")


def _take_callers(browser: Browser, folder: Path, into: Path) -> None:
    """Take the login and what was refused; nobody is asked who calls in all other pictures."""
    home = folder / "callers"
    home.mkdir()
    url = f"sqlite:///{home / 'metadata.db'}"
    roles = {"admin": "admin", "alice": "viewer"}
    tokens = {name: create_token(home, url, name, role, "*") for name, role in roles.items()}
    with Overlords(home, url, more=dict(REQUIRED)) as overlords:
        leader = overlords.start_leader(tokens["admin"], TIDEGATE_TOKEN="")
        for verb in ("suspend", "terminate", "terminate"):
            _try(leader.http, f"{SUPERVISORS}/orders/{verb}", tokens["alice"])
        _try(leader.http, f"{SUPERVISORS}/suspendAll", tokens["alice"])
        _try(leader.http, f"{SUPERVISORS}/suspendAll", "tdg_of_last_year")
        for scheme in SCHEMES:
            page = _page(browser, scheme)
            page.goto(f"{leader.url}/ui/login?next=%2Faudit%2Fdenied")
            _settle(page)
            page.screenshot(path=into / scheme / "login.png")
            log_in(page, tokens["admin"])
            expect(page.get_by_role("table", name="Denied tries")).to_be_visible()
            _settle(page)
            page.screenshot(path=into / scheme / "denied.png")
            page.close()
            sys.stdout.write(f"login and denied, {scheme}\n")


def _try(http: httpx.Client, path: str, token: str) -> None:
    """Call without the right to."""
    answer = http.post(path, headers={"Authorization": f"Bearer {token}"})
    assert answer.is_client_error, answer.text


def _take_all(browser: Browser, folder: Path, into: Path, only: tuple[str, ...]) -> None:
    more = {"TIDEGATE_SUPERVISOR_PERIOD": "PT1S"}
    with (
        start_test_broker(folder / "kafka") as broker,
        running(Cluster(folder / "tidegate", more=more)) as cluster,
    ):
        published = publish_twice(cluster, broker, "clicks")
        _terminate(cluster, broker, "returns")  # before others take all slots
        _add_troubles(cluster, broker)
        _run_flows(cluster)
        metadata = f"sqlite:///{cluster.folder}/metadata.db"
        _damage_a_queue(cluster, metadata)
        store_records(metadata, [*failed_task(published.id), *failed_task("orders")])
        wait_until(lambda: _is_something_stored(cluster))
        pages = [each for each in _pages(cluster, published) if each[0].startswith(only)]
        for name, address in pages:
            for scheme in SCHEMES:
                _take(browser, cluster.url + address, scheme, into / scheme / f"{name}.png")
                sys.stdout.write(f"{name}, {scheme}\n")


def _add_troubles(cluster: Cluster, broker: Broker) -> None:
    """Add a supervisor whose topic is not there, one that waits for slots, and a suspended one."""
    cluster.apply(spec(broker.bootstrap, "payments", task_count=1))
    create_topic(broker.bootstrap, "orders", partitions=4)
    produce(broker.bootstrap, "orders", (record(n, "o") for n in range(2_000)))
    cluster.apply(spec(broker.bootstrap, "orders", task_count=4, task_duration="PT1H"))
    create_topic(broker.bootstrap, "refunds", partitions=1)
    cluster.apply(spec(broker.bootstrap, "refunds", task_count=1))
    cluster.post("refunds", "suspend")
    wait_until(lambda: _state(cluster, "payments").startswith("UNHEALTHY"))
    wait_until(lambda: _state(cluster, "refunds") == "SUSPENDED")


def _terminate(cluster: Cluster, broker: Broker, name: str) -> None:
    """Terminate a supervisor that has published, with a reason."""
    publish_twice(cluster, broker, name)
    asked = {"reason": "returns come with the orders from now on"}
    headers = {"X-Druid-Author": "alice"}
    path = f"{SUPERVISORS}/{name}/terminate"
    cluster.http.post(path, params=asked, headers=headers).raise_for_status()
    status = f"{SUPERVISORS}/{name}/status"
    wait_until(lambda: cluster.http.get(status).status_code == httpx.codes.NOT_FOUND)


def _damage_a_queue(cluster: Cluster, metadata: str) -> None:
    """Have the queue of a suspended supervisor dead, with an event set aside."""
    overlord = Overlord("overlord", cluster.port, cluster.children["overlord"], cluster.http)
    planted = Planted(overlord, metadata)
    queue = planted.queue("supervisor:refunds", events=3)
    payload = b'{"task": "index_kafka_refunds_6c1e0d", "files": 2, "rows": 1200}'
    planted.set_aside(queue, 1, payload, "the disk is full")
    planted.kill(queue, "its checksum does not fit")


def _run_flows(cluster: Cluster) -> None:
    """Run a flow that asks somebody, one that was answered, and one that fails."""
    http = cluster.http
    apply_flow(http, asking_flow("orders-day"))
    apply_flow(http, failing_flow("judge-day"))
    apply_flow(http, triggered_flow("pack-published"))
    await_state(http, start_flow(http, "judge-day", "25"), "FAILED")
    for key, day in (("24", "2026-11-24"), ("25", DAY)):
        await_asking(http, start_flow(http, "orders-day", key, day=day))
    [run] = asking_runs(http, "orders-day:24")
    address = f"{EXECUTIONS}/orders-day:24/runs/{run}/answer"
    http.post(address, json={"yes": True}).raise_for_status()
    await_state(http, "orders-day:24", "SUCCESS")


def _is_something_stored(cluster: Cluster) -> bool:
    """Whether the overlord knows of the records: it looks every few seconds."""
    answer = cluster.http.get("/api/v1/overview").raise_for_status()
    return answer.json()["nothingStored"] is None


def _state(cluster: Cluster, supervisor_id: str) -> str:
    return str(cluster.status(supervisor_id)["state"])


def _pages(cluster: Cluster, published: Published) -> Iterator[tuple[str, str]]:
    """Yield name and address of each page."""
    ours, task = published.id, _ended_task(cluster, published)
    yield "home", "/ui/"
    yield "supervisors", "/ui/supervisors"
    one = f"/ui/supervisors/{ours}"
    tabs = ("overview", "partitions", "timeline", "why", "spec", "history", "bad-records", "tasks")
    for tab in (*tabs, "events"):
        yield f"supervisor-{tab}", f"{one}/{tab}"
    yield "supervisor-partition", f"{one}/partitions?open={ours}:0"
    yield "supervisor-in-trouble", "/ui/supervisors/payments/overview"
    yield "supervisor-terminated", "/ui/supervisors/returns/overview"
    yield "dialog-bulk", "/ui/supervisors"
    yield "dialog-reset", f"{one}/overview?do=reset&to=earliest"
    for verb in ("suspend", "terminate", "handoff"):
        yield f"dialog-{verb}", f"{one}/overview?do={verb}"
    yield "tasks", "/ui/tasks"
    for tab in ("summary", "log", "report", "payload"):
        yield f"task-{tab}", f"/ui/tasks/{task}/{tab}"
    yield "tables", "/ui/tables"
    for tab in ("summary", "coverage", "time", "files", "exports", "rules", "code"):
        yield f"table-{tab}", f"/ui/tables/{ours}/{tab}"
    yield "flows", "/ui/flows"
    yield "flow", "/ui/flows/orders-day"
    yield "flow-triggers", "/ui/flows/pack-published"
    yield "flow-start", "/ui/flows/orders-day?start=true"
    yield "executions", "/ui/executions"
    yield "execution", "/ui/executions/orders-day:25"
    yield "workers", "/ui/workers"
    yield "worker", "/ui/workers/w1"
    for name in ("queues", "work", "audit", "logs", "settings"):
        yield name, f"/ui/{name}"
    yield "queue", f"/ui/queues/supervisor:refunds/{HANDLED_BY_NOBODY}"
    yield "reports", "/ui/logs/reports"


def _ended_task(cluster: Cluster, published: Published) -> str:
    params: Mapping[str, str] = {"supervisor": published.id, "status": "SUCCESS"}
    answer = cluster.http.get("/api/v1/tasks", params=params).raise_for_status()
    return str(answer.json()["tasks"][0]["id"])


def _page(browser: Browser, scheme: str) -> Page:
    return browser.new_page(
        viewport={"width": _WIDTH, "height": _HEIGHT},
        locale="en-GB",
        timezone_id="UTC",
        reduced_motion="reduce",
        color_scheme="dark" if scheme == "dark" else "light",
    )


def _take(browser: Browser, url: str, scheme: str, file: Path) -> None:
    page = _page(browser, scheme)
    page.goto(url)
    _settle(page)
    if (prepare := _BY_HAND.get(file.stem)) is not None:
        prepare(page)
    page.screenshot(path=file)
    page.close()


def _open_bulk(page: Page) -> None:
    """Open the dialog that would terminate several."""
    for name in ("payments", "orders", "refunds"):
        page.get_by_label(f"Select {name}").check()
    toolbar = page.get_by_role("toolbar", name="Selected supervisors")
    toolbar.get_by_role("button", name="Terminate…").click()
    expect(page.get_by_role("dialog").get_by_text("would change")).to_be_visible(timeout=60_000)
    page.wait_for_function(_IS_SETTLED, timeout=60_000)


def _show_triggers(page: Page) -> None:
    page.get_by_role("region", name="Triggers").scroll_into_view_if_needed()


def _settle(page: Page) -> None:
    """Wait until the page shows what it has to."""
    expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=60_000)
    page.wait_for_function(_IS_SETTLED, timeout=60_000)
    if "do=" in page.url:
        expect(page.get_by_role("dialog").get_by_text("Undo", exact=True)).to_be_visible(
            timeout=60_000
        )
        page.wait_for_function(_IS_SETTLED, timeout=60_000)


_BY_HAND = {"dialog-bulk": _open_bulk, "flow-triggers": _show_triggers}
"""Name of a picture -> what is done on its page first."""


if __name__ == "__main__":
    main()
