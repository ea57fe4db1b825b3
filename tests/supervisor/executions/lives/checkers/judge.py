"""What must never be after a commit, and what must have come at the end.

X1 and so on are the names of the checks in docs/explanation/proof-of-executions.md.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from supervisor.core.executions.entities import Execution, TaskRun
from supervisor.core.executions.plan import CallWork
from tests.supervisor.core.crashes.checkers.history import History
from tests.supervisor.core.crashes.checkers.rules import ENDS, STEP_ENDS, ExecutionRules
from tests.supervisor.core.crashes.world.log import Record
from tests.supervisor.core.crashes.world.messages import EventOf
from tests.supervisor.executions.lives.checkers.gates import GateChecker
from tests.supervisor.executions.lives.checkers.reruns import check_rerun
from tests.supervisor.executions.lives.checkers.rows import Rows
from tests.supervisor.executions.lives.checkers.starts import StartChecker
from tests.supervisor.executions.lives.processes.outside import Wish
from tests.supervisor.executions.lives.world.world import KEPT, KEPT_OF_EACH, World

_ANSWERED = ("pause", "resume", "retry", "skip", "answer", "kill")


@dataclass
class SqlJudge:
    """Looks at the rows after each commit, and at the sink's ledger."""

    world: World
    rows: Rows
    wishes: list[Wish]
    history: History = field(default_factory=History)
    gates: GateChecker = field(default_factory=GateChecker)
    past: dict[str, tuple[Execution, dict[str, TaskRun]]] = field(default_factory=dict)
    """Executions that were purged."""
    doers: set[str] = field(default_factory=set)
    """Who has asked for something, as events name them."""
    steps: int = 0
    term: int = 0

    def __post_init__(self) -> None:
        """Make what needs the world."""
        self.rules = ExecutionRules(self.history, self.world.sink)
        self.starts = StartChecker(self.world, self.wishes)

    def see(self, life: str, term: int) -> list[str]:
        """Return what is wrong after a commit of a life in a term."""
        return list(self._see(life, term))

    def _see(self, life: str, term: int) -> Iterator[str]:
        if term < self.term:
            yield f"X1 {life} has written in term {term}, after term {self.term}"
        self.term = max(term, self.term)
        yield from self._purged(self.rows.gone())
        records = list(self.rows.records())
        born = [
            one.value
            for one in records
            if isinstance(one.value, Execution) and one.value.id not in self.history.heads
        ]
        yield from self.history.see(records)
        yield from self.rows.wrong
        yield from self.rules.effects()
        changed = {one.value.id for one in records if isinstance(one.value, Execution)}
        heads = self.history.heads
        for new in born:
            yield from self.starts.born(new, heads)
            if new.rerun is not None:
                yield from self._rerun(new)
        if changed:
            yield from self.rules.slots()
        yield from self.gates.see(self.rows.gates(), heads, changed)
        yield from self._calls()
        self._note(records)

    def others(self, life: str) -> list[str]:
        """X3: who leads lets every call be lost that another life holds."""
        others = sorted({holder for _, _, holder in self.rows.held()} - {life})
        return [f"X3 {life} leads, and {others} hold calls still"] if others else []

    def _note(self, records: list[Record]) -> None:
        for record in records:
            if isinstance(record.value, EventOf):
                self.doers.add(str(record.value.event.about.get("by")))

    def _rerun(self, new: Execution) -> Iterator[str]:
        assert new.rerun is not None
        name = new.rerun.execution
        if name in self.history.heads:
            old, runs = self.history.heads[name], self.history.runs[name]
        else:
            old, runs = self.past[name]
        yield from check_rerun(new, old, runs)

    def _purged(self, gone: list[str]) -> Iterator[str]:
        """A purge takes what has ended, is old or too many, and takes it whole."""
        for name in gone:
            head = self.history.heads[name]
            if head.state not in ENDS:
                yield f"the purge has removed {name}, which is {head.state}"
                continue
            yield from self.rules.execution(name)
            yield from self.rules.ledger([name])
            left = [
                one
                for one in self.history.heads.values()
                if one.flow == head.flow and one.state in ENDS and one.id not in gone
            ]
            old = head.ended_at is not None and head.ended_at < self.world.now - KEPT
            if not old and len(left) < KEPT_OF_EACH:
                yield f"the purge has removed {name} too early"
        for name in gone:
            self.steps += len(self.history.runs[name])
            self.past[name] = self.history.heads[name], self.history.runs[name]
            self.rules.forget(name)
        if gone and (orphans := self.rows.orphans()):
            yield f"the purge has left rows in {orphans}"

    def _calls(self) -> Iterator[str]:
        """X3: what waits for a runner has a call, what runs has a claim, and nothing else has."""
        calls, held = self.rows.calls(), self.rows.held()
        wanted: set[tuple[str, int, str]] = set()
        for name, head in self.history.heads.items():
            if head.state in ENDS:
                continue
            for run in self.history.runs[name].values():
                if not isinstance(head.plan.step(run.step).work, CallWork) or not run.attempts:
                    continue
                newest = run.attempts[-1]
                waits = run.state in ("SUBMITTED", "RUNNING")
                if waits and (run.id, newest.number, 0) not in calls:
                    yield f"X3 {run.step} of {name} is {run.state}, and there is no call"
                if run.state in ("RUNNING", "KILLING") and newest.runner is not None:
                    wanted.add((run.id, newest.number, newest.runner.incarnation))
        if wanted != held:
            yield f"X3 claims are {sorted(held)}, and should be {sorted(wanted)}"

    def at_end(self, schedule: Mapping[str, object]) -> list[str]:
        """Return what is not as it must be once all is over."""
        return list(self._at_end(schedule))

    def _at_end(self, schedule: Mapping[str, object]) -> Iterator[str]:
        yield from self.rest()
        yield from self.rules.effects()
        for name in self.history.heads:
            yield from self.rules.execution(name)
        yield from self.rules.ledger(self.history.heads)
        yield from self.starts.at_end(schedule, self.rows.trigger("three", "cron"))
        yield from self._answers()

    def rest(self) -> Iterator[str]:
        """X10: yield what has not come to its end."""
        for name, head in self.history.heads.items():
            if head.state not in ENDS:
                runs = self.history.runs[name].values()
                left = [f"{one.step} {one.state}" for one in runs if one.state not in STEP_ENDS]
                yield f"X10 {name} is {head.state} and goes no further: {', '.join(left)}"
        for kind, rows in (
            ("calls", self.rows.calls()),
            ("claims", self.rows.held()),
            ("gates", self.rows.gates()),
        ):
            if rows:
                yield f"X10 {kind} are left: {sorted(rows)}"
        queue = self.world.metadata
        if queue.handled < len(queue.events):
            yield f"X10 {len(queue.events) - queue.handled} publishes are not handled"
        for flow, name in (("two", "coalesced"), ("three", "each")):
            row = self.rows.trigger(flow, name)
            if row is not None and row.waiting:
                yield f"X10 {row.waiting} publishes wait for {flow}"
        for wish in self.wishes:
            if not wish.over:
                yield f"X10 {wish.by} has no answer: {wish.kind} {wish.about}"

    def _answers(self) -> Iterator[str]:
        """X4: what was answered as done is in the events; what was refused at once is not."""
        for wish in self.wishes:
            if wish.kind not in _ANSWERED:
                continue
            seen = wish.by in self.doers
            is_done = seen or (wish.kind == "kill" and _is_over(wish.answer))
            if wish.answer is not None and not is_done:
                yield f"X4 {wish.by} heard that {wish.kind} is done, and it is not"
            if wish.refused and wish.tries == 1 and seen:
                yield f"X4 {wish.by} heard that {wish.kind} is refused, and it is done"


def _is_over(answer: object) -> bool:
    """Whether an execution had ended, or was killed by somebody else already."""
    return isinstance(answer, Execution) and (answer.killed or answer.state in ENDS)
