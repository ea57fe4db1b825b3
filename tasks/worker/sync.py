"""The sync of a worker with its overlord: two loops over the same call.

    long poll   known = newest revision, waits ~10 s: brings news the moment there are any
    reporter    waits for nothing: carries news up at once, else every second

Answers can overtake each other, and the overlord may answer the newer request first.  An answer
counts whole if its request was sent after the last such answer had come.  From any other answer of
the same term only the orders count, because an order has a rank of its own; a fresh report then
fetches the rest.  An answer of a lower term counts for nothing.
"""

from collections.abc import Callable
from datetime import timedelta
from threading import Condition, Thread

import structlog

from tasks.contract.messages import CompactionReport, SyncRequest, SyncResponse, TaskReport
from tasks.ports import Fenced, OverlordClient, OverlordUnavailable
from tasks.worker.compaction import Compactor
from tasks.worker.incarnations import Incarnation
from tasks.worker.metrics import DONE, FAILED, UNANSWERED, WorkerMeters
from tasks.worker.options import WorkerOptions
from tasks.worker.roster import Roster
from tasks.worker.sampler import WorkerSamples

_RETRY_FIRST_S = 0.5
_RETRY_MAX_S = 5.0
_POLL_PERIOD_MIN_S = 0.2
_SAMPLES_CHARS_MAX = 2_000_000
"""Most characters of rejected records in one sync: up to 12 MB when escaped, of the 16 MiB that an
overlord takes.  A larger request would be refused as a whole, with all its reports."""


class Sync:
    """The exchange of one incarnation of a worker with the overlord that leads."""

    def __init__(
        self,
        options: WorkerOptions,
        overlord: OverlordClient,
        roster: Roster,
        *,
        compactor: Compactor,
        sampling: WorkerSamples,
        url: str,
        life: Incarnation,
        fenced: Callable[[], None],
        monotonic: Callable[[], float],
        meters: WorkerMeters | None = None,
    ) -> None:
        self._options = options
        self._overlord = overlord
        self._roster = roster
        self._compactor = compactor
        self._sampling = sampling
        self._url = url
        self._life = life
        self._fenced = fenced
        self._monotonic = monotonic
        self._meters = meters or WorkerMeters()
        self._changed = Condition()
        self._sequence = 0
        self._newest = (-1, -1)
        """(term, newest request sent) at the arrival of the last answer that counted."""
        self._ignored: int | None = None
        """The earlier term that the last warning named."""
        self._known: str | None = None
        self._reported: tuple[object, ...] = ()
        self._ask_again = False
        self._news = False
        self._stopping = False
        self._closed = False
        self.is_answered = False
        """Whether an overlord answered the last finished request."""

    def start(self) -> tuple[Thread, Thread]:
        """Start both loops; they end some time after `close`, at once if nothing is in flight."""
        loops = (("sync long poll", self._poll), ("sync reporter", self._report))
        threads = [Thread(target=loop, name=name, daemon=True) for name, loop in loops]
        for thread in threads:
            thread.start()
        return threads[0], threads[1]

    def wake(self) -> None:
        """Let the reporter check whether there is news; returns at once."""
        with self._changed:
            self._news = True
            self._changed.notify_all()

    def stopping(self) -> None:
        """Report from now on that this worker is about to end."""
        with self._changed:
            self._stopping = True
            self._ask_again = True
            self._changed.notify_all()

    def close(self) -> None:
        """End both loops; answers that still arrive are ignored."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def send_last_report(self) -> None:
        """Send the last report, once, after `close`; nothing depends on its arrival."""
        try:
            self._overlord.sync(self._request(timedelta(0)))
        except (OverlordUnavailable, Fenced) as error:
            structlog.get_logger().info("no overlord took the last report", why=str(error))

    def _poll(self) -> None:
        unanswered = 0
        while not self._closed:
            began, known = self._monotonic(), self._known
            unanswered = 0 if self._exchange(self._options.long_poll) else unanswered + 1
            least = _POLL_PERIOD_MIN_S if known == self._known else 0.0
            self._rest(max(_retry_s(unanswered), least - (self._monotonic() - began)))

    def _report(self) -> None:
        unanswered = 0
        while not self._closed:
            self._rest(_retry_s(unanswered))
            began = self._monotonic()
            unanswered = 0 if self._exchange(timedelta(0)) else unanswered + 1
            self._rest(self._options.report_period_min.total_seconds())
            try:
                self._await_news(began)
            except Exception as error:  # noqa: BLE001 -- the next exchange is tried in any case
                structlog.get_logger().error("the reporter failed to look for news", exc_info=error)
                unanswered += 1

    def _exchange(self, wait: timedelta) -> bool:
        """Send a request and act on the answer; False if none came, or acting on it failed."""
        try:
            return self._exchanged(wait)
        except Exception as error:  # noqa: BLE001 -- a failed exchange is repeated
            self.is_answered = False
            self._meters.synced(FAILED)
            structlog.get_logger().error("sync failed", exc_info=error)
            return False

    def _exchanged(self, wait: timedelta) -> bool:
        if self._closed:
            return False
        request = self._request(wait)
        try:
            response = self._overlord.sync(request)
        except OverlordUnavailable as error:
            self.is_answered = False
            self._meters.synced(UNANSWERED)
            structlog.get_logger().warning("no overlord answers", why=str(error))
            return False
        except Fenced:
            self._meters.synced("fenced")
            self._fenced()
            self.close()
            return False
        self._meters.synced(DONE)
        self.is_answered = True
        with self._changed:
            if not self._closed:
                self._act_on(response, request.sequence)
        return True

    def _request(self, wait: timedelta) -> SyncRequest:
        with self._changed:
            self._sequence += 1
            tasks, compactions = self._reports()
            self._reported = _news_of(tasks, compactions)
            self._ask_again = False
            return SyncRequest(
                worker_id=self._options.worker_id,
                incarnation=self._life.incarnation,
                previous_end=self._life.previous_end,
                sequence=self._sequence,
                url=self._url,
                slots=self._options.slots,
                stopping=self._stopping,
                tasks=_with_newest_samples(tasks),
                compactions=compactions,
                known=self._known,
                wait=wait,
            )

    def _act_on(self, response: SyncResponse, sequence: int) -> None:
        if response.term < self._newest[0]:
            self._warn_of_earlier_term(response.term)
            return
        if (response.term, sequence) > self._newest:
            # The overlord may have answered pending requests before this one, so those count less.
            self._newest = (response.term, self._sequence)
            self._roster.apply(response.tasks, response.kept)
            self._roster.direct(response.kept_orders)
            self._roster.disabled = response.disabled
            self._compactor.apply(response.compactions)
            self._sampling.apply(response.samples)
            self._known = response.revision
        elif response.revision != self._known:
            self._roster.pass_orders_on((*response.tasks, *response.kept_orders))
            self._ask_again = True
            self._changed.notify_all()

    def _warn_of_earlier_term(self, term: int) -> None:
        """Warn once per term that its answers are ignored; after a restore that is for ever."""
        if term != self._ignored:
            self._ignored = term
            structlog.get_logger().warning(
                "answers of an earlier term are not followed: a leader of before, or the metadata "
                "database was restored from a copy, and this worker is to be started again",
                term=term,
                follows=self._newest[0],
            )

    def _await_news(self, since: float) -> None:
        """Wait until a phase or an order has changed, or a periodic report is due."""
        until = since + self._options.report_period.total_seconds()
        with self._changed:
            while not (self._closed or self._ask_again):
                self._news = False
                left = until - self._monotonic()
                if left <= 0 or _news_of(*self._reports()) != self._reported:
                    return
                self._changed.wait_for(lambda: self._news or self._closed, left)

    def _reports(self) -> tuple[tuple[TaskReport, ...], tuple[CompactionReport, ...]]:
        return self._roster.reports(), self._compactor.reports()

    def _rest(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._closed, max(0.0, seconds))


def _retry_s(unanswered: int) -> float:
    if unanswered == 0:
        return 0.0
    return min(_RETRY_MAX_S, _RETRY_FIRST_S * 2.0 ** min(unanswered - 1, 10))


def _with_newest_samples(tasks: tuple[TaskReport, ...]) -> tuple[TaskReport, ...]:
    """Return the reports with as many of the newest rejected records as fit into one sync."""
    share = _SAMPLES_CHARS_MAX // max(1, len(tasks))
    return tuple(_with_samples_up_to(task, share) for task in tasks)


def _with_samples_up_to(task: TaskReport, chars_max: int) -> TaskReport:
    chars = 0
    for kept, sample in enumerate(reversed(task.samples)):
        chars += sum(map(len, (sample.topic, sample.reason, sample.input, sample.detail)))
        if chars > chars_max:
            newest = task.samples[len(task.samples) - kept :]
            return task.model_copy(update={"samples": newest})
    return task


def _news_of(
    tasks: tuple[TaskReport, ...], compactions: tuple[CompactionReport, ...]
) -> tuple[object, ...]:
    """Return the parts of reports that an overlord waits for."""
    task_fields = ((r.task_id, r.phase, r.order_term, r.order_sequence, r.digest) for r in tasks)
    return (*task_fields, *((r.compaction_id, r.failure) for r in compactions))
