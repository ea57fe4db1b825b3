"""The two loops of a worker's exchange with its overlord, as events: long poll and reporter.

What is asked and what is done with an answer is the product's; only when to ask is here.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, cast

from tasks.contract.messages import SyncRequest, SyncResponse
from tasks.ports import Fenced, OverlordClient
from tasks.worker.compaction import Compactor
from tasks.worker.graceful_end import GracefulEnd
from tasks.worker.incarnations import Incarnation
from tasks.worker.options import WorkerOptions
from tasks.worker.roster import Roster
from tasks.worker.sampler import WorkerSamples
from tasks.worker.sync import _POLL_PERIOD_MIN_S, Sync, _retry_s
from tests.simulation.world.network import Reply

if TYPE_CHECKING:
    from tests.simulation.processes.worker import WorkerProcess

Ask = Callable[[SyncRequest, Reply], None]


class SimSync(Sync):
    """The product's `Sync` without threads."""

    def __init__(
        self, worker: "WorkerProcess", options: WorkerOptions, roster: Roster, *, ask: Ask
    ) -> None:
        compactor = Compactor(worker.world, options.limits, worker.incarnation)
        super().__init__(
            options,
            cast("OverlordClient", None),
            roster,
            compactor=compactor,
            sampling=WorkerSamples(worker.world, None, options),
            url=f"http://{worker.name}",
            life=Incarnation(options.data_dir, worker.incarnation),
            fenced=worker.fenced,
            monotonic=worker.monotonic,
        )
        self._worker = worker
        self._ask = ask
        self._waits = False
        """The reporter has nothing to tell."""
        self._due = 0.0
        self._unheard = {"poll": 0, "report": 0}

    def begin(self) -> None:
        """Start both loops."""
        self._worker.later(self._worker.random.uniform(0, 0.2), self._next_poll)
        self._worker.later(self._worker.random.uniform(0, 0.2), self._next_report)

    def leaving(self, grace: timedelta) -> GracefulEnd:
        """Return the steps with which this worker ends in order."""
        return GracefulEnd(
            grace, self, self._roster, compactor=self._compactor, sampling=self._sampling
        )

    def stopping(self) -> None:
        """Report at once that this worker is about to end."""
        super().stopping()
        self.wake()

    def send_last_report(self) -> None:
        """Send it; nobody waits for an answer."""
        self._ask(self._request(timedelta(0)), lambda _: None)

    def wake(self) -> None:
        """Let the reporter see whether there is news."""
        if self._waits:
            self._waits = False
            self._worker.later(0.0, self._look_for_news)

    def _next_poll(self) -> None:
        began, known = self._worker.monotonic(), self._known

        def then(heard: bool) -> None:
            self._unheard["poll"] = 0 if heard else self._unheard["poll"] + 1
            least = _POLL_PERIOD_MIN_S if known == self._known else 0.0
            spent = self._worker.monotonic() - began
            self._worker.later(max(_retry_s(self._unheard["poll"]), least - spent), self._next_poll)

        self._start(self._options.long_poll, then)

    def _next_report(self) -> None:
        began = self._worker.monotonic()

        def then(heard: bool) -> None:
            self._unheard["report"] = 0 if heard else self._unheard["report"] + 1
            self._due = began + self._options.report_period.total_seconds()
            rest = self._options.report_period_min.total_seconds()
            self._worker.later(rest + _retry_s(self._unheard["report"]), self._look_for_news)

        self._start(timedelta(0), then)

    def _look_for_news(self) -> None:
        now, due = self._worker.monotonic(), self._due
        if self._ask_again or now >= due or self._worker.news() != self._reported:
            self._next_report()
            return
        self._waits = True
        self._worker.later(due - now, lambda: self._is_due(due))

    def _is_due(self, due: float) -> None:
        if self._waits and due == self._due:
            self._waits = False
            self._next_report()

    def _start(self, wait: timedelta, then: Callable[[bool], None]) -> None:
        if self._closed:
            return
        self._worker.reach("sync:before")
        request = self._request(wait)

        def answered(answer: object) -> None:
            if isinstance(answer, Fenced):
                self._worker.fenced()
                return
            self.is_answered = isinstance(answer, SyncResponse)
            if isinstance(answer, SyncResponse):
                self._worker.reach("sync:after")
                with self._changed:
                    if not self._closed:
                        self._act_on(answer, request.sequence)
            then(isinstance(answer, SyncResponse))

        self._ask(request, answered)
