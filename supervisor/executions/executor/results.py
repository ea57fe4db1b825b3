"""Results that nobody has taken yet: kept in a file, for the next life of this executor.

    a call ends ─► reported within a moment: nothing is kept
                 └ Kafka is away ─► kept in the file ─► taken ─► forgotten
                                      └ the process dies ─► the next life of its name reports it

What a former life has done is reported as its own, and not lost before that: the row of this
executor names the lives whose results it offers.  Without room results are held in memory alone,
and the runner takes no more calls, so that no more may be done twice.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import structlog

from supervisor.core.executions.entities import Execution
from supervisor.core.executions.records import NewerRecord, UnreadableRecord
from supervisor.core.executions.states import AttemptState
from supervisor.executions.engine import CallReport
from supervisor.executions.runner import CallRunner
from supervisor.ports.flows.results import ResultsFull, ResultStore, WaitingResult
from supervisor.ports.store_problems import StoreAway, StoreRefuses

__all__ = ["EACH_S", "WaitingResults"]

log = structlog.get_logger()

EACH_S = 0.25
"""What is not taken within twice this is kept."""
SETTLED_S = 60.0
"""A result that was taken is worked in before long, also if the tables cannot show it."""
_UNREPORTED = {AttemptState.SUBMITTED, AttemptState.RUNNING}
_Key = tuple[str, str, int]


@dataclass
class WaitingResults:
    """The duty; `offers` and `kept` are for any thread, the rest for one."""

    runner: CallRunner
    store: ResultStore
    shown: Callable[[str], Execution | None]
    """An execution as the tables show it, which may be behind; raises StoreAway, StoreRefuses,
    UnreadableRecord, NewerRecord."""
    monotonic: Callable[[], float] = time.monotonic
    trouble: str = ""
    """Why results are in memory alone; empty: they need not be, or are kept."""
    _kept: dict[_Key, WaitingResult] = field(default_factory=dict)
    _pending: frozenset[_Key] = frozenset()
    """What waited the last time."""
    _taken: dict[_Key, float] = field(default_factory=dict)
    """Results of former lives that were taken, and since when."""

    def open(self) -> None:
        """Let the runner report what former lives have left."""
        try:
            left = self.store.open()
        except ResultsFull as error:
            self._note(str(error))
            return
        self._kept = {_key(each): each for each in left}
        if left:
            log.info("results of a former life are reported", results=len(left))
            self.runner.offer([CallReport(each.execution, each.given) for each in left])

    def offers(self) -> Sequence[str]:
        """Return the former lives of this name whose results are not worked in yet."""
        own = self.runner.runner
        lives = {one.given.runner for one in list(self._kept.values())} - {own, None}
        return sorted(one.incarnation for one in lives if one is not None and one.name == own.name)

    @property
    def kept(self) -> int:
        """How many results are in the file."""
        return len(self._kept)

    def run_once(self) -> None:
        """Keep what waits for long, and forget what was taken."""
        waiting = {_key(each): each for each in map(_result, self.runner.unreported()) if each}
        late = [one for key, one in waiting.items() if key in self._pending - self._kept.keys()]
        self._pending = frozenset(waiting)
        if late:
            self._keep(late)
        elif self.trouble and not waiting.keys() - self._kept.keys():
            self._note("")
        self._forget(waiting.keys() & self._kept.keys())

    def close(self) -> None:
        """Keep whatever was not taken, and leave it to the next life."""
        waiting = [one for one in map(_result, self.runner.unreported()) if one is not None]
        late = [one for one in waiting if _key(one) not in self._kept]
        if late:
            self._keep(late)
        self.store.close()

    def _keep(self, results: Sequence[WaitingResult]) -> None:
        try:
            self.store.put(results)
        except ResultsFull as error:
            self._note(f"results of calls cannot be kept: {error}")
            return
        self._kept.update({_key(each): each for each in results})
        self._note("")

    def _forget(self, waiting: set[_Key]) -> None:
        """Forget what was taken; of former lives, what was worked in."""
        own, now = self.runner.runner, self.monotonic()
        taken = {key: one for key, one in self._kept.items() if key not in waiting}
        done = []
        for key, one in taken.items():
            since = self._taken.setdefault(key, now)
            if one.given.runner == own or now - since > SETTLED_S or self._is_worked_in(one):
                done.append(one)
        if done:
            self.store.forget(done)
        for one in done:
            del self._taken[_key(one)], self._kept[_key(one)]

    def _is_worked_in(self, result: WaitingResult) -> bool:
        """Whether the tables show that the attempt is over; what they do not show yet is not."""
        try:
            execution = self.shown(result.execution)
        except (StoreAway, StoreRefuses, UnreadableRecord, NewerRecord):
            return False
        if execution is None:
            return False
        run = execution.runs.get(result.given.run)
        if execution.state.ended or run is None or run.attempt is None:
            return execution.state.ended
        shown, reported = run.attempt, result.given.attempt
        if shown.number == reported:
            return shown.state not in _UNREPORTED
        return shown.number > reported

    def _note(self, trouble: str) -> None:
        if trouble and trouble != self.trouble:
            log.warning("results wait in memory", why=trouble)
        self.trouble = trouble
        self.runner.hold(on=bool(trouble))


def _result(report: CallReport) -> WaitingResult | None:
    """Return what is kept of a report; None: of a look, which is made again."""
    is_call = report.given.check == 0 and report.given.runner is not None
    return WaitingResult(report.execution, report.given) if is_call else None


def _key(result: WaitingResult) -> _Key:
    return result.execution, result.given.run, result.given.attempt
