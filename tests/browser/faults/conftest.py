"""Faults made for real, and what Home says of each: cause, since when, and the step that mends it.

    a fault is made ──► the overlord knows of it ──► Home says it in words within 10 s
                                                     its button leads to the dialog with its values

One overlord, one broker and two workers serve most tests.  The workers are the product's, but for
Spark: a consumer reads and pyarrow writes, so that they start in two seconds and can be killed.
One of them writes other rows than the other, so that replicas diverge.  A pass over a supervisor is
made every second: in production it may take `TIDEGATE_SUPERVISOR_PERIOD` until the overlord knows.

Home is open before the fault is made, and is never reloaded.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.browser.accessible import assert_accessible
from tests.chaos.processes.light_worker import DRIFT
from tests.environment.brokers import create_topic, produce
from tests.integration.cluster import SUPERVISORS, Cluster, running
from tests.integration.oracle import ends_of, record, spec
from tests.integration.overlords import Overlord
from tests.waiting import HANGS_AFTER_S, wait_until

# A machine that is all used up answers late: only what hangs fails.
expect.set_options(timeout=HANGS_AFTER_S * 1_000)

SLOTS = 2
"""Of each worker."""
_NUMBERS = itertools.count(1)
_SKEW = timedelta(seconds=2)
"""A time on the page is a whole second, and an overlord's clock is read before it writes."""


@dataclass(frozen=True)
class Home:
    """The page that somebody looks at who was just woken up."""

    page: Page
    overlord: Overlord
    opened_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def open(self) -> None:
        """Go there from another page of the console, without a reload."""
        self.page.get_by_role("navigation").get_by_role("link", name="Home").click()

    def row(self, words: str) -> Locator:
        """Return the item with these words in its sentence."""
        items = self.page.get_by_role("region", name="Needs somebody").get_by_role("listitem")
        return items.filter(has_text=words)

    def shows(self, kind: str, about: str, *words: str, earlier: timedelta = _SKEW) -> Locator:
        """Wait until the overlord knows of a fault that began since Home was opened, then see it.

        `kind` and `about` as the overview names them; `words` are in the sentence of its item.
        `earlier`: how long before Home was opened it may have begun.
        """
        wait_until(lambda: self._knows(kind, about))
        row = self.row(words[0])
        expect(row).to_have_count(1)
        for each in words[1:]:
            expect(row).to_contain_text(each)
        since = row.locator("time").get_attribute("datetime")
        assert since is not None
        began = datetime.fromisoformat(since)
        assert self.opened_at - earlier <= began <= datetime.now(UTC) + _SKEW
        assert_accessible(self.page)
        return row

    def _knows(self, kind: str, about: str) -> bool:
        answer = self.overlord.http.get("/api/v1/overview")
        if answer.status_code != httpx.codes.OK:
            return False  # between two leaders
        items = answer.json()["attention"]
        return any(each["kind"] == kind and each["about"]["id"] == about for each in items)


@dataclass
class Cause:
    """Supervisors of a test, each with a topic of its own; id, topic and table have one name."""

    cluster: Cluster
    bootstrap: str
    names: list[str] = field(default_factory=list)

    def topic(self, word: str, *, partitions: int = 1, records: int = 0) -> str:
        """Return a new topic with so many records in all."""
        name = f"fault-{word}-{next(_NUMBERS)}"
        create_topic(self.bootstrap, name, partitions=partitions)
        self.send(name, range(records))
        return name

    def send(self, name: str, numbers: range) -> None:
        """Send records to a topic."""
        produce(self.bootstrap, name, (record(n) for n in numbers))

    def apply(self, name: str, **options: int | str) -> None:
        """Create the supervisor of a topic and wait until its first offsets are stored."""
        document = spec(
            self.bootstrap,
            name,
            task_count=int(options.get("task_count", 1)),
            replicas=int(options.get("replicas", 1)),
            task_duration="PT1H",
        )
        self.cluster.apply(document)
        self.names.append(name)
        wait_until(lambda: self.status(name)["committedOffsets"] != {})

    def status(self, name: str) -> Mapping[str, JsonValue]:
        """Return the payload of its status."""
        return self.cluster.status(name)

    def publish(self, name: str) -> None:
        """Wait until its tasks have read all, suspend it, and wait until all is published."""
        wait_until(lambda: self.cluster.has_read(name, ends_of(self.bootstrap, name)))
        self.rest(name)

    def rest(self, name: str) -> None:
        """Suspend it and wait until all that it has read is published."""
        self.cluster.post(name, "suspend")
        wait_until(lambda: self.cluster.is_suspended_and_quiet(name))

    def end(self) -> None:
        """Terminate all, and wait until none of them holds a slot."""
        for name in self.names:
            answer = self.cluster.http.post(f"{SUPERVISORS}/{name}/terminate")
            assert answer.status_code in {httpx.codes.OK, httpx.codes.NOT_FOUND}, answer.text
        wait_until(self._is_over)

    def _is_over(self) -> bool:
        running: JsonValue = self.cluster.http.get("/druid/indexer/v1/runningTasks").json()
        return running == []


@pytest.fixture(scope="package")
def cluster(_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """An overlord and two workers of `SLOTS` slots each; `w2` writes other rows than `w1`."""
    more = {"TIDEGATE_SUPERVISOR_PERIOD": "PT1S", "TIDEGATE_WORKER_TIMEOUT": "PT10S"}
    folder = tmp_path_factory.mktemp("faults")
    cluster = Cluster(folder, light=True, slots=SLOTS, more=more)
    with running(cluster, workers=("w1",)):
        cluster.more = more | {DRIFT: "-drifted"}
        cluster.start_worker("w2")
        cluster.more = more
        yield cluster


@pytest.fixture(scope="package")
def overlord(cluster: Cluster) -> Overlord:
    """The overlord whose pages the browser opens."""
    return Overlord("overlord", cluster.port, cluster.children["overlord"], cluster.http)


@pytest.fixture
def cause(cluster: Cluster, broker: Broker) -> Iterator[Cause]:
    """Make causes; what they leave behind is ended afterwards."""
    causing = Cause(cluster, broker.bootstrap)
    yield causing
    causing.end()


@pytest.fixture
def home(page: Page, overlord: Overlord) -> Home:
    """Home, before the fault."""
    page.goto("/ui/")
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    return Home(page, overlord)
