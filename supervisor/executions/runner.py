"""A runner: takes calls of steps, makes each in a thread, and reports what came of it.

    serve ─► begin ─► a thread per call ─► report ─┐
      ▲        stop ─► its cancel is set           │
      └────────────────────────────────────────────┘

A call that shall stop and does not is left after the grace that it carries: it is reported as
stopped, and whatever its thread gives later is ignored.  Such threads are bounded, too.

What was not taken is reported again, for as long as the process lives; `executor/results.py` keeps
it for the next life.  A runner that dies is known by its name and incarnation: what it held and has
no result of is lost, and the step says what follows.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from supervisor.core.executions.entities import Runner, StepError
from supervisor.core.executions.inputs import Fails, Outcome, Report, Stopped
from supervisor.core.executions.reduced import StepCall
from supervisor.core.values.errors import LeaseLost
from supervisor.executions.engine import CallReport, RunnerOrders, place_of
from supervisor.executions.hidden import hidden
from supervisor.ports.flows.executions import CallPlace

__all__ = ["CallRunner", "CallThreads", "RunnerLink", "StepVerb"]

log = structlog.get_logger()

StepVerb = Callable[[StepCall, threading.Event], Outcome]
"""Makes one call; the event is set once it shall stop.  What it raises fails the step."""

_LEFT_AFTER_S = 1.0
"""A call of a verb that cannot stop is left after so long: with two looks, less than 2 s after the
request.  Calls of other verbs have the `killGrace` of their flow."""
_LOOK_S = 0.25
"""Between two round trips of a runner that has nothing to report."""
_BACKOFF_MAX_S = 10.0
_FOLLOWS_S = 1.0
"""Between two tries while this overlord does not lead."""


class RunnerLink(Protocol):
    """The way to whoever grants calls."""

    def serve(
        self,
        runner: Runner,
        makes: Sequence[CallPlace],
        reports: Sequence[CallReport] = (),
        free: int = 0,
    ) -> RunnerOrders:
        """See `StoredEngine.serve`; whatever it raises, the same is sent again."""
        ...


class CallThreads:
    """A thread per call; none keeps its process from ending."""

    def submit(
        self,
        make: Callable[[StepCall, threading.Event], None],
        call: StepCall,
        cancel: threading.Event,
    ) -> None:
        """Make a call in a thread of its own."""
        name = f"step-call-{call.verb}"
        threading.Thread(target=make, args=(call, cancel), name=name, daemon=True).start()


@dataclass
class _CallUnderWay:
    """A call under way."""

    call: StepCall
    cancel: threading.Event = field(default_factory=threading.Event)
    left_at: float | None = None
    """When it is left, by the monotonic clock; None: it may go on."""


@dataclass
class CallRunner:
    """Makes up to `threads` calls at once; of calls that were left as many may still run."""

    link: RunnerLink
    runner: Runner
    verbs: Mapping[str, StepVerb]
    threads: int = 8
    look_s: float = _LOOK_S
    others: StepVerb | None = None
    """Makes the calls of every other verb; None: they fail."""
    quick: Collection[str] = ()
    """Verbs that are done at once, without a thread."""
    leaves: Collection[str] = ()
    """Verbs that cannot stop; their calls are left a second after a cancel.

    What they have begun must be known by the key of the call, as `ProductStep` says.
    """
    _news: threading.Condition = field(default_factory=threading.Condition)
    _makes: dict[CallPlace, _CallUnderWay] = field(default_factory=dict)
    _left: set[threading.Event] = field(default_factory=set)
    """The cancels of calls that were left, and whose threads have not ended."""
    _reports: deque[CallReport] = field(default_factory=deque)
    _ending: bool = False
    _looks: bool = False
    _holds: bool = False

    def __post_init__(self) -> None:
        """Start no thread yet."""
        self._pool = CallThreads()
        self._loop = threading.Thread(target=self._run, name="step-runner")

    def start(self) -> None:
        """Begin to take calls."""
        self._loop.start()

    def drain(self) -> None:
        """Take nothing more; what runs goes on."""
        with self._news:
            self._ending = True
            self._news.notify_all()

    def stop(self, within_s: float = 2.0) -> None:
        """Take nothing more, and wait for what runs.

        What does not end by itself is cancelled, and what does not stop either is left.
        """
        self.drain()
        with self._news:
            self._news.wait_for(lambda: not self._makes, within_s)
            self.cancel(list(self._makes))
            self._news.wait_for(lambda: not self._makes, within_s)
            self._leave(list(self._makes))
        self._loop.join(within_s)

    def look(self) -> None:
        """Ask for calls now: something has begun."""
        with self._news:
            self._looks = True
            self._news.notify_all()

    @property
    def running(self) -> int:
        """How many calls it makes."""
        return len(self.makes)

    @property
    def free(self) -> int:
        """How many calls it can take."""
        with self._news:
            if self._ending or self._holds:
                return 0
            left_too_many = max(0, len(self._left) - self.threads)
            return max(0, self.threads - len(self._makes) - left_too_many)

    @property
    def makes(self) -> Sequence[CallPlace]:
        """The calls that it makes."""
        with self._news:
            return list(self._makes)

    def knows(self) -> set[CallPlace]:
        """Return the calls that it makes, and those of which it still has to report."""
        with self._news:
            reports = {
                CallPlace(one.execution, one.given.run, one.given.attempt, one.given.check)
                for one in self._reports
            }
            return reports | set(self._makes)

    def unreported(self) -> Sequence[CallReport]:
        """Return what nobody has taken yet, oldest first."""
        with self._news:
            return list(self._reports)

    def offer(self, reports: Sequence[CallReport]) -> None:
        """Report what an earlier life of this runner has done."""
        with self._news:
            self._reports.extendleft(reversed(reports))
            self._news.notify_all()

    def hold(self, *, on: bool) -> None:
        """Take no more calls for now, or take them again."""
        with self._news:
            self._holds = on

    def cancel(self, places: Sequence[CallPlace]) -> None:
        """Let these calls stop, if it makes them; each is left when its grace is over."""
        now = time.monotonic()
        with self._news:
            for place in places:
                making = self._makes.get(place)
                if making is None or making.left_at is not None:
                    continue
                grace_s = making.call.grace.total_seconds()
                if making.call.verb in self.leaves:
                    grace_s = min(_LEFT_AFTER_S, grace_s)
                making.left_at = now + grace_s
                making.cancel.set()

    def round_trip(self) -> RunnerOrders:
        """Report, then take and stop what is ordered; return the orders.

        Raises:
            Whatever the link has: the next round trip reports the same again.
        """
        with self._news:
            reports, makes, free = list(self._reports), list(self._makes), self.free
        orders = self.link.serve(self.runner, makes, reports, free)
        self._obey(orders, len(reports))
        return orders

    def _run(self) -> None:
        wait_s = self.look_s
        while True:
            with self._news:
                if self._ending and not self._makes and not self._reports:
                    return
                self._leave(self._overdue())
            try:
                orders = self.round_trip()
            except Exception as error:  # noqa: BLE001 -- a runner outlives whatever its link has
                wait_s = self._put_off(error, wait_s)
                if self._ending:
                    return  # its claims are lost: nobody could be told
                continue
            wait_s = self.look_s
            if not orders.begin:
                self._pause(wait_s, for_reports=not orders.unheard)

    def _put_off(self, error: Exception, wait_s: float) -> float:
        """Wait before the same is sent again; return how long to wait the next time."""
        if isinstance(error, LeaseLost):  # whoever leads takes over what is held here
            self._pause(_FOLLOWS_S, for_reports=False)
            return self.look_s
        log.warning("calls wait", runner=self.runner.name, error=str(error))
        self._pause(wait_s, for_reports=False)
        return min(wait_s * 2, _BACKOFF_MAX_S)

    def _pause(self, seconds: float, *, for_reports: bool) -> None:
        """Wait until there is news, and no longer; what waits to be reported may be none."""
        with self._news:
            self._news.wait_for(
                lambda: self._looks or self._ending or (for_reports and bool(self._reports)),
                seconds,
            )
            self._looks = False

    def _obey(self, orders: RunnerOrders, reported: int) -> None:
        with self._news:
            for _ in range(reported):
                self._reports.popleft()
            self._reports.extendleft(reversed(orders.unheard))
            begin = [call for call in orders.begin if place_of(call) not in self._makes]
            calls = [_CallUnderWay(call) for call in begin]
            self._makes.update({place_of(each.call): each for each in calls})
        self.cancel(orders.stop)
        for each in calls:
            if each.call.verb not in self.quick:
                self._pool.submit(self._make, each.call, each.cancel)
        for each in calls:
            if each.call.verb in self.quick:
                self._make(each.call, each.cancel)

    def _overdue(self) -> list[CallPlace]:
        now = time.monotonic()
        return [
            place
            for place, making in self._makes.items()
            if making.left_at is not None and now >= making.left_at
        ]

    def _leave(self, places: Sequence[CallPlace]) -> None:
        """Report calls as stopped whose threads go on."""
        for place in places:
            making = self._makes.pop(place)
            call = making.call
            log.warning("a call does not stop", execution=call.execution, step=call.step)
            self._left.add(making.cancel)
            self._keep(call, Stopped())

    def _make(self, call: StepCall, cancel: threading.Event) -> None:
        outcome = self._outcome(call, cancel)
        place = place_of(call)
        with self._news:
            making = self._makes.get(place)
            if making is not None and making.cancel is cancel:
                del self._makes[place]
                self._keep(call, outcome)
            else:
                self._left.discard(cancel)
            self._news.notify_all()

    def _keep(self, call: StepCall, outcome: Outcome) -> None:
        """Keep what is to be reported."""
        # What ends with this process is no failure of the step: it is lost, and tried again.
        if not (self._ending and isinstance(outcome, Stopped)):
            holder = None if call.check else self.runner
            given = Report(call.run, call.attempt, outcome, holder, call.check)
            self._reports.append(CallReport(call.execution, given))

    def _outcome(self, call: StepCall, cancel: threading.Event) -> Outcome:
        verb = self.verbs.get(call.verb, self.others)
        if verb is None:
            known = ", ".join(sorted(self.verbs))
            return Fails(StepError("unknown-verb", f"there is no verb {call.verb}; known: {known}"))
        try:
            return hidden(verb(call, cancel))
        except Exception as error:
            log.exception("a call failed", execution=call.execution, step=call.step)
            # How far it came is not known, so that a retry repeats the key.
            why = f"{type(error).__name__}: {error}"
            return hidden(Fails(StepError("internal", why, passes=False, known=False)))
