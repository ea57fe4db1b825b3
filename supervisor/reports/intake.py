"""The thread that reads topics: records into the pipeline, and commits of what is done.

    feed ─► tracker ─► pipeline ─► done ─► tracker ─► commit of the lowest unfinished offset

Reading never stops for a store: at the bound the fullest partitions pause, and polling goes on, so
the group keeps this member.  A commit never passes a record that is not done.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

import structlog

from supervisor.core.reports.flow import FlowBounds, InFlight, to_pause
from supervisor.core.reports.status import PersisterState, StoreOutcome
from supervisor.core.reports.tracker import Tracker
from supervisor.ports.reports.feed import Feed, FeedEvents, FeedPartition, FeedRecord, TopicLag
from supervisor.ports.store_problems import StoreAway, StoreRefuses
from supervisor.reports.incoming import Incoming
from supervisor.reports.pipeline import Pipeline

__all__ = ["Intake", "IntakeOptions", "IntakeStatus"]

log = structlog.get_logger()


@dataclass(frozen=True)
class IntakeOptions:
    """Bounds and beats, in seconds."""

    bounds: FlowBounds = field(default_factory=FlowBounds)
    records: int = 500
    """Taken from the feed at once."""
    poll_s: float = 0.1
    commit_s: float = 1.0
    revoke_s: float = 5.0
    """How long a partition that goes waits for what is being stored of it."""
    away_s: float = 1.0
    """Between two tries while the brokers do not answer."""


@dataclass(frozen=True)
class IntakeStatus:
    """The reading now."""

    partitions: int = 0
    paused: int = 0
    lost_offsets: Mapping[str, int] = field(default_factory=dict)
    """Topic -> offsets that retention deleted before they were read, since the start."""
    lag: Mapping[str, TopicLag] = field(default_factory=dict)
    trouble: str = ""
    """Why nothing is read; empty: it is."""


@dataclass
class _Assigned:
    """A partition that is assigned."""

    tracker: Tracker | None = None
    """None: nothing was read of it."""
    under_way: InFlight = field(default_factory=InFlight)


class Intake:
    """One feed into one pipeline; `start` and `stop` for the composition root."""

    def __init__(
        self, feed: Feed, pipeline: Pipeline, options: IntakeOptions | None = None
    ) -> None:
        """Prepare; `start` joins the group."""
        self._feed, self._pipeline = feed, pipeline
        self._options = options or IntakeOptions()
        self._places: dict[FeedPartition, _Assigned] = {}
        self._paused: frozenset[FeedPartition] = frozenset()
        self._done: SimpleQueue[tuple[Incoming, StoreOutcome]] = SimpleQueue()
        self._lost: dict[str, int] = defaultdict(int)
        self._lag: Mapping[str, TopicLag] = {}
        self._trouble = ""
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="report-intake", daemon=True)
        self._committed_at = time.monotonic()

    def start(self) -> None:
        """Read from now on."""
        self._thread.start()

    def stop(self, within_s: float) -> None:
        """Take nothing more, finish what waits, commit, and leave."""
        self._stopping.set()
        self._thread.join(within_s)

    def is_running(self) -> bool:
        """Return whether it still reads; False: it was stopped, or was refused for good."""
        return self._thread.is_alive()

    def status(self) -> IntakeStatus:
        """Return what it reads, and how far behind it is."""
        return IntakeStatus(
            len(self._places),
            len(self._paused),
            dict(self._lost),
            self._lag,
            self._trouble or self._feed.trouble,
        )

    def read_lag(self) -> None:
        """Ask the brokers how far the group is behind; may take seconds, in a thread of its own."""
        with suppress(StoreAway):  # the last known lag is shown, and the trouble beside it
            self._lag = self._feed.lag()

    def _run(self) -> None:
        events = FeedEvents(self._assigned, self._revoked, self._lost_to, self._skipped)
        try:
            self._feed.open(events)
            while not self._stopping.is_set():
                self._turn()
            self._revoked(tuple(self._places))
        except StoreRefuses as error:
            self._trouble = str(error)
            log.warning("reports are not read any more", why=str(error))
            self._pipeline.pause(str(error))
        except Exception as error:
            self._trouble = f"{type(error).__name__}: {error}"
            log.exception("reports are not read any more")
            self._pipeline.pause(self._trouble)
        finally:
            self._feed.close()

    def _turn(self) -> None:
        try:
            records = self._feed.take(self._options.records, self._options.poll_s)
        except StoreAway as error:
            self._trouble = str(error)
            self._stopping.wait(self._options.away_s)
            return
        self._trouble = ""
        self._begin(records)
        self._finish()
        self._throttle()
        now = time.monotonic()
        if now - self._committed_at >= self._options.commit_s:
            self._committed_at = now
            self._commit(self._places)

    def _begin(self, records: Sequence[FeedRecord]) -> None:
        items = []
        for each in records:
            place = self._places.get(each.place)
            if place is None:
                continue  # it was revoked while these records were on their way
            if place.tracker is None:
                place.tracker = Tracker(each.offset)
            if place.tracker.begin(each.offset):
                place.under_way += InFlight(1, len(each.body))
                items.append(_incoming(each, self._note_done))
        if items:
            self._pipeline.submit(items)

    def _note_done(self, item: Incoming, outcome: StoreOutcome) -> None:
        self._done.put((item, outcome))

    def _finish(self) -> None:
        while True:
            try:
                item, _ = self._done.get_nowait()
            except Empty:
                return
            place = self._places.get(FeedPartition(item.topic, item.partition))
            if place is None or place.tracker is None:
                continue
            before = place.tracker.in_flight
            place.tracker.finish(item.offset)
            if place.tracker.in_flight < before:
                place.under_way += InFlight(-1, -len(item.body))

    def _throttle(self) -> None:
        stopped = self._pipeline.state is PersisterState.STOPPED
        under_way = {place: each.under_way for place, each in self._places.items()}
        wanted = (
            frozenset(under_way)
            if stopped
            else to_pause(under_way, self._paused, self._options.bounds)
        )
        if more := wanted - self._paused:
            self._feed.pause(more)
        if fewer := (self._paused - wanted) & self._places.keys():
            self._feed.resume(fewer)
        self._paused = wanted

    def _commit(self, places: Collection[FeedPartition]) -> None:
        due = {
            place: offset
            for place in places
            if (tracker := self._places[place].tracker) is not None
            and (offset := tracker.due()) is not None
        }
        if due and self._feed.commit(due):
            for place, offset in due.items():
                tracker = self._places[place].tracker
                if tracker is not None:
                    tracker.committed = offset

    def _assigned(self, places: Collection[FeedPartition]) -> None:
        self._paused -= frozenset(places)
        self._places.update((place, _Assigned()) for place in places)

    def _revoked(self, places: Collection[FeedPartition]) -> None:
        """Finish what is being stored of them, commit it, and forget them."""
        self._pipeline.discard(places, self._options.revoke_s)
        self._finish()
        self._commit([place for place in places if place in self._places])
        self._lost_to(places)

    def _lost_to(self, places: Collection[FeedPartition]) -> None:
        """Forget them without a commit: another member reads them."""
        for place in places:
            self._places.pop(place, None)
        self._paused -= frozenset(places)

    def _skipped(self, place: FeedPartition, number: int) -> None:
        self._lost[place.topic] += number
        log.error(
            "reports were deleted by the topic's retention before they were stored",
            topic=place.topic,
            partition=place.partition,
            lost_offsets=number,
        )


def _incoming(record: FeedRecord, done: Callable[[Incoming, StoreOutcome], None]) -> Incoming:
    return Incoming(
        record.place.topic,
        record.place.partition,
        record.offset,
        record.key,
        record.body,
        done,
    )
