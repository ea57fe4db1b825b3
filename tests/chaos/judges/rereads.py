"""What an overlord's crash makes workers read twice, by the workers' own counters.

    calm for a while ── the same with overlords killed, and nothing else ── the difference

A task that goes on through a crash reads a record twice if a batch was given up for a pause or lies
beyond the end that was fixed; `tidegate_worker_records_total` counts both.  What a failed task had
read is read by another one, and no counter of a worker tells that.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random

import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.chaos.judges.books import TaskRow
from tests.chaos.processes.fleet import OVERLORDS
from tests.chaos.runs.run import Run
from tests.chaos.runs.schedule import Kind

_BOTH = 0.15
_PUBLISHED_WITHIN_S = 120.0
_FAMILY, _SAMPLE = "tidegate_worker_records", "tidegate_worker_records_total"
_TWICE = frozenset({"cancelled", "taken_back"})
_ASK_S = 10.0


@dataclass(frozen=True)
class Part:
    """How much of a run kills overlords and nothing else."""

    kills: int
    calm_s: float = 40.0
    """So long nothing is killed first; 0: what handoffs cost by themselves counts as well."""
    rest_max_s: float = 9.0
    """At most so long after a publication the next kill comes: at any moment of a range."""


BRIEF_PART = Part(kills=2, calm_s=0.0, rest_max_s=0.0)
"""In the time that a test has.  It deducts nothing, so its share is not lower than a long one's."""


@dataclass(frozen=True)
class Counted:
    """What the workers have counted: records, of all replicas together."""

    read: int = 0
    """Of journaled batches."""
    given_up: int = 0
    """Read, and read again by the same task."""

    def since(self, before: "Counted") -> "Counted":
        """Return what was counted between two looks.

        Raises:
            AssertionError: a counter went back, so a worker was started in between.
        """
        more = Counted(self.read - before.read, self.given_up - before.given_up)
        assert min(more.read, more.given_up) >= 0, f"a worker began anew: {before} became {self}"
        return more


@dataclass(frozen=True)
class Span:
    """One part of a run."""

    kills: int
    publications: int
    seconds: float
    read: int
    given_up: int
    failed: int
    """How far tasks had read that ended FAILED in it."""

    @property
    def share(self) -> float:
        """Records that were read twice, of all that were read."""
        return (self.given_up + self.failed) / max(1, self.read)


@dataclass(frozen=True)
class Rereads:
    """The same fleet without a fault, and with overlords killed."""

    calm: Span
    struck: Span

    @property
    def share(self) -> float:
        """What the crashes add to what handoffs cost by themselves, of all that was read."""
        return max(0.0, self.struck.share - self.calm.share)


def counted(scrape: str) -> Counted:
    """Return what one worker's metrics tell."""
    read = given_up = 0.0
    for family in text_string_to_metric_families(scrape):
        for sample in family.samples if family.name == _FAMILY else ():
            if sample.name == _SAMPLE and sample.labels["outcome"] == "processed":
                read += sample.value
            elif sample.name == _SAMPLE and sample.labels["outcome"] in _TWICE:
                given_up += sample.value
    return Counted(int(read), int(given_up))


def failed_in(
    tasks: list[TaskRow], begin: datetime, end: datetime, furthest: dict[str, int]
) -> int:
    """Return what tasks had read that ended FAILED between two moments."""
    return sum(
        furthest.get(task.id, 0)
        for task in tasks
        if task.status == "FAILED" and task.ended_at is not None and begin <= task.ended_at <= end
    )


class OverlordsOnly:
    """Kills overlords and leaves workers and wires alone."""

    def __init__(self, run: Run, seed: int) -> None:
        """Kill nobody yet."""
        self._run = run
        self._chance = Random(seed)

    def measure(self, part: Part) -> Rereads:
        """Be calm, then kill; no worker may end meanwhile."""
        run = self._run
        run.until_all_serve()  # the walk ends with the death of every worker
        left = run.books.living()  # what those deaths cost their ranges is no overlord's doing
        run.tick_until(lambda: not left & run.books.living(), _PUBLISHED_WITHIN_S)
        calm = self._span(lambda: run.go_on(part.calm_s))
        struck = self._span(lambda: self._kill(part))
        found = Rereads(calm, struck)
        run.say(f"only overlords killed: {found.share:.2%} read again; {found}")
        return found

    def _kill(self, part: Part) -> None:
        run, begun = self._run, len(self._run.faults.injected)
        while len(run.faults.injected) - begun < part.kills:
            both = self._chance.random() < _BOTH
            leader = run.leader() or OVERLORDS[0]
            for name in OVERLORDS if both else (leader,):
                run.kill(name, Kind.KILL_BOTH if both else Kind.KILL_LEADER)
            known = run.books.look().publications
            self._wait_for_a_publication(known)  # else nothing is handed off, and nothing to repeat
            run.go_on(self._chance.uniform(0.0, part.rest_max_s))

    def _wait_for_a_publication(self, known: int) -> None:
        run = self._run
        run.tick_until(lambda: run.books.look().publications > known, _PUBLISHED_WITHIN_S)

    def _span(self, happens: Callable[[], None]) -> Span:
        run = self._run
        kills, published = run.faults.kills(), run.books.look().publications
        began, before = datetime.now(UTC), self._scrape()
        happens()
        more, ended = self._scrape().since(before), datetime.now(UTC)
        return Span(
            kills=run.faults.kills() - kills,
            publications=run.books.look().publications - published,
            seconds=round((ended - began).total_seconds(), 1),
            read=more.read,
            given_up=more.given_up,
            failed=failed_in(run.books.tasks(), began, ended, run.reads.furthest),
        )

    def _scrape(self) -> Counted:
        found = [self._scraped(name) for name in self._run.fleet.shape.workers]
        return Counted(sum(c.read for c in found), sum(c.given_up for c in found))

    def _scraped(self, worker: str) -> Counted:
        url = f"{self._run.fleet.direct(worker)}/metrics"
        return counted(httpx.get(url, timeout=_ASK_S).raise_for_status().text)
