"""The sampler: some records of a topic, decoded by a worker as its tasks would decode them.

    asked ─► look at the topic ─► listed for one worker ─► its answer, or too late
                └ no records: answered at once       (in its sync's answer; it POSTs the sample)

Samples are soft state of the leader: few, short-lived, and lost with the leader, so that a caller
has to ask again.
"""

import hashlib
import hmac
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from supervisor.control.wakeups import Wakeups
from supervisor.core.planning.dry_run import Probed
from supervisor.core.planning.observed import Liveness
from supervisor.core.planning.wished_offsets import TimedOffsets
from supervisor.core.spec.sample_request import SampleRequest
from supervisor.core.spec.sections.io_config import KafkaIoConfig
from supervisor.core.spec.spec import SupervisorSpec, ingest_spec
from supervisor.core.values.errors import (
    NotAllowed,
    NoWorker,
    SampleNotFound,
    TooManyLooks,
)
from supervisor.ports.clock import Clock
from supervisor.ports.store import Workers
from supervisor.ports.topic_probe import Probe
from tasks.contract.ingest_spec import Discovery, IngestSpec
from tasks.contract.messages import SyncResponse
from tasks.contract.offsets import Offsets
from tasks.contract.sample import DesiredSample, SampleAnswer
from tasks.contract.sample_ranges import parts

_Seen = TypeVar("_Seen")
AT_ONCE_MAX = 8
"""The maximum of looks and samples at once: each may hold a thread."""
LOOK_WITHIN = timedelta(seconds=5)
READ_WITHIN = timedelta(seconds=3)
"""For a look that answers a read: a follower that passes a read on waits five seconds for it, and
Kafka's client may take a second longer than it was given."""


@dataclass(frozen=True)
class PendingSample:
    """A sample that a caller waits for."""

    request: SampleRequest
    until: float
    """The deadline, on the monotonic clock of this process."""
    sample_id: str = ""
    """The id for the worker; empty: it was answered at once, without a worker."""
    worker_id: str = ""
    answer: "Future[SampleAnswer]" = field(default_factory=Future)

    def left_s(self) -> float:
        """Return the seconds until the deadline."""
        return max(0.0, self.until - time.monotonic())


class SampleRequests:
    """The pending samples of this overlord; safe to call from many threads."""

    def __init__(
        self,
        *,
        clock: Clock,
        term: Callable[[], int],
        workers: Workers,
        probe: Probe,
        check: Callable[[SupervisorSpec], None],
        changed: Wakeups,
        new_token: Callable[[], str],
    ) -> None:
        """`check` raises InvalidSpec for a spec that the operator does not allow."""
        self._clock = clock
        self._term = term
        self._workers = workers
        self._probe = probe
        self._check = check
        self._changed = changed
        self._new_token = new_token
        self._lock = threading.Lock()
        self._running = 0
        self._listed: dict[str, tuple[str, DesiredSample, PendingSample]] = {}
        """Sample -> its worker, its order for the worker, and its caller's side."""

    # -- callers -------------------------------------------------------------------------------

    def look(self, spec: SupervisorSpec) -> Probed:
        """Look at the topics of a spec; blocks for some seconds at most.

        Raises:
            InvalidSpec: the operator does not allow its hosts.
            SourceUnreadable: its topics cannot be read.
            TooManyLooks: too many looks and samples run already.
            LeaseLost: this overlord does not lead.
        """
        return self._looking(spec, lambda source: self._probe.look(source, LOOK_WITHIN))

    def look_at(self, spec: SupervisorSpec, at: datetime | None) -> TimedOffsets:
        """Look as `look` does, and for the records of a time; raises the same."""
        return self._looking(spec, lambda source: self._probe.look_at(source, at, READ_WITHIN))

    def _looking(self, spec: SupervisorSpec, look: Callable[[KafkaIoConfig], _Seen]) -> _Seen:
        self._term()
        self._check(spec)  # before anything connects
        self._enter()
        try:
            return look(spec.io_config)
        finally:
            self._leave()

    def begin(self, request: SampleRequest, seen: Probed | None = None) -> PendingSample:
        """Order a sample from a worker; blocks while it looks at the topic, unless it is `seen`.

        The caller waits for `answer`, at most `left_s`, and calls `end` in any case.

        Raises:
            NoWorker: no worker is connected.
            The errors of `look`.
        """
        until = time.monotonic() + request.within.total_seconds()
        seen = self.look(request.spec) if seen is None else seen
        earliest, latest = _range(request.spec, seen)
        if not parts(earliest, latest, request.rows, newest=_newest(request.spec)):
            pending = PendingSample(request, until)
            pending.answer.set_result(SampleAnswer(sample_id=""))
            return pending
        self._enter()
        try:
            return self._list(request, seen, until)
        except BaseException:
            self._leave()
            raise

    def end(self, sample: PendingSample) -> None:
        """Forget a sample: its worker is ordered to stop; safe to repeat."""
        with self._lock:
            known = self._listed.pop(sample.sample_id, None)
        if known is not None:
            self._leave()
            self._changed.notify([known[0]])

    # -- workers -------------------------------------------------------------------------------

    def listed(self, answer: SyncResponse, worker_id: str) -> SyncResponse:
        """Return the answer to a worker's sync, with the samples that the worker should read."""
        with self._lock:
            mine = [sample for owner, sample, _ in self._listed.values() if owner == worker_id]
        if not mine:
            return answer
        names = "+".join([answer.revision, *(sample.sample_id for sample in mine)])
        digest = hashlib.sha256(names.encode()).hexdigest()[:20]
        return answer.model_copy(update={"samples": tuple(mine), "revision": digest})

    def running_on(self, worker_id: str) -> int:
        """Return the number of samples that are listed for a worker."""
        with self._lock:
            return sum(owner == worker_id for owner, _, _ in self._listed.values())

    def answered(self, sample_id: str, token: str, answer: SampleAnswer) -> None:
        """Pass a worker's answer to the waiting caller.

        Raises:
            SampleNotFound: no caller waits for this sample.
            NotAllowed: the token is not that of this sample.
            LeaseLost: this overlord does not lead.
        """
        self._term()
        with self._lock:
            known = self._listed.get(sample_id)
        if known is None:
            raise SampleNotFound(sample_id)
        _, sample, pending = known
        if not hmac.compare_digest(sample.token.encode(), token.encode()):
            raise NotAllowed(f"the token is not that of sample {sample_id}")
        with suppress(InvalidStateError):  # the caller has gone, or it is a repeat
            pending.answer.set_result(answer)

    # -- private -------------------------------------------------------------------------------

    def _list(self, request: SampleRequest, seen: Probed, until: float) -> PendingSample:
        with self._lock:
            busy = Counter(owner for owner, _, _ in self._listed.values())
            worker_id = self._choose(busy)
            sample_id = f"sample-{self._new_token()[:20]}"
            pending = PendingSample(request, until, sample_id, worker_id)
            sample = _desired(request, seen, pending, self._new_token(), self._clock.now())
            self._listed[sample_id] = (worker_id, sample, pending)
        self._changed.notify([worker_id])
        return pending

    def _choose(self, busy: Counter[str]) -> str:
        """Return the connected worker with the fewest samples, then the fewest tasks."""
        views = [v for v in self._workers.views() if v.liveness is Liveness.ALIVE]
        ready = [(busy[v.id], len(v.reports), v.id) for v in views if not v.stopping]
        if not ready:
            raise NoWorker
        return min(ready)[2]

    def _enter(self) -> None:
        with self._lock:
            if self._running >= AT_ONCE_MAX:
                raise TooManyLooks(AT_ONCE_MAX)
            self._running += 1

    def _leave(self) -> None:
        with self._lock:
            self._running -= 1


def _newest(spec: SupervisorSpec) -> bool:
    source = spec.io_config
    return not source.use_earliest_offset and source.starts is None


def _range(spec: SupervisorSpec, seen: Probed) -> tuple[Offsets, Offsets]:
    """Return the bounds of a sample: those of a bounded spec, else all records."""
    starts, ends = spec.io_config.starts, spec.io_config.ends
    if starts is None or ends is None:
        return seen.earliest, seen.stable
    here = [p for p in starts if p in seen.earliest]
    return (
        {p: max(starts[p], seen.earliest[p]) for p in here},
        {p: min(ends[p], seen.stable[p]) for p in here},
    )


def _desired(
    request: SampleRequest, seen: Probed, sample: PendingSample, token: str, now: datetime
) -> DesiredSample:
    spec = request.spec
    rows = ingest_spec(spec, now)
    earliest, latest = _range(spec, seen)
    return DesiredSample(
        sample_id=sample.sample_id,
        token=token,
        spec=_without_columns(rows) if request.raw else rows,
        earliest=dict(earliest),
        latest=dict(latest),
        newest=_newest(spec),
        rows=request.rows,
        size_bytes=request.size_bytes,
        within=timedelta(seconds=sample.left_s()),
    )


def _without_columns(spec: IngestSpec) -> IngestSpec:
    """Return the spec without columns, so that one read shows the records as they are."""
    none = {"columns": (), "typed": (), "metrics": (), "discovery": Discovery.NOTHING}
    return spec.model_copy(update=none)
