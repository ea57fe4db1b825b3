"""What must hold of the topics after each transaction, and at the end."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from supervisor.core.executions.entities import Execution, Runner
from supervisor.core.executions.records import CALL_FORM, StateRecord, restore
from supervisor.core.executions.reduced import ExecutionEvent
from supervisor.executions.sequencer.letters import (
    POSITION_FORM,
    RESULT_FORM,
)
from supervisor.ports.flows.execution_log import POSITION_KEY, LogEntry, LogTopic
from supervisor.ports.flows.executions import CallPlace, HeldCall
from tests.supervisor.core.crashes.checkers.history import History
from tests.supervisor.core.crashes.checkers.rules import ENDS, STEP_ENDS, ExecutionRules
from tests.supervisor.core.crashes.world.log import Record
from tests.supervisor.core.crashes.world.messages import CALLS, RESULTS, STATE, EventOf, Position
from tests.supervisor.executions.topics.executor import ExecutorLife
from tests.supervisor.executions.topics.world import PARTITIONS, TopicWorld


@dataclass
class TopicJudge:
    """Reads what owners write, by a reader of its own."""

    world: TopicWorld
    wanted: set[str] = field(default_factory=set)
    """Ids of executions that somebody wants."""
    history: History = field(default_factory=History)
    state: dict[int, dict[str, bytes]] = field(default_factory=dict)
    """Partition -> key -> its newest record."""

    def __post_init__(self) -> None:
        """Make what needs the world."""
        self.rules = ExecutionRules(self.history, self.world.sink)

    def see(self, part: int, life: str, entries: Sequence[LogEntry]) -> list[str]:
        """Return what is wrong after a transaction."""
        records = list(self._records(part, entries))
        wrong = [*self._fenced(part, life), *self.history.see(records), *self.rules.effects()]
        if any(isinstance(record.value, Execution) for record in records):
            wrong += self.rules.slots()
        return wrong + list(self._dead(entries))

    def _fenced(self, part: int, life: str) -> Iterator[str]:
        """X1: whoever writes is the one that took the partition over last."""
        owner = self.world.topics.owners[part]
        if getattr(owner, "life", "") != life:
            yield f"X1 {life} has written partition {part}, which is another's"

    def _dead(self, entries: Sequence[LogEntry]) -> Iterator[str]:
        """X4: only what somebody made up is a dead letter."""
        for each in entries:
            if each.topic is LogTopic.DEAD and b'"nothing"' not in (each.value or b""):
                yield f"X4 a letter of {each.key.decode()} is dead: {dict(each.headers)}"

    def _records(self, part: int, entries: Sequence[LogEntry]) -> Iterator[Record]:
        state = self.state.setdefault(part, {})
        touched: dict[str, list[str]] = {}
        for each in entries:
            key = each.key.decode()
            match each.topic:
                case LogTopic.STATE if key == POSITION_KEY:
                    state[key] = each.value or b""
                    yield Record((STATE, part), 0, key, _position(state[key]))
                case LogTopic.STATE if each.value is None:
                    state.pop(key, None)
                    yield Record((STATE, part), 0, key, None)
                case LogTopic.STATE:
                    assert each.value is not None
                    state[key] = each.value
                    name = "/".join(key.split("/")[:2]) if key[:2] == "e/" else key
                    touched.setdefault(name, []).append(key)
                case LogTopic.CALLS:
                    yield Record((CALLS, 0), 0, key, CALL_FORM.read(each.value or b""))
                case LogTopic.RESULTS:
                    read_result = RESULT_FORM.read(each.value or b"")
                    if isinstance(read_result, ExecutionEvent):
                        yield Record((RESULTS, part), 0, key, EventOf(key, read_result))
                    else:
                        yield Record((RESULTS, part), 0, key, read_result)
                case _:
                    pass
        for name, keys in touched.items():
            yield from self._entity(part, name, keys)

    def _entity(self, part: int, name: str, keys: Sequence[str]) -> Iterator[Record]:
        state = self.state[part]
        mine = [key for key in state if key == name or key.startswith(f"{name}/")]
        restored = restore(StateRecord(key, state[key]) for key in mine)
        for gate in restored.gates.values():
            yield Record((STATE, part), 0, name, gate)
        for execution in restored.executions.values():
            yield Record((STATE, part), 0, name, execution)
            for run in sorted({key.split("/")[3] for key in keys if "/r/" in key}):
                key = f"e/{execution.id}/r/{run}"
                yield Record((STATE, part), 0, key, execution.runs[run])

    def claims(self, runner: Runner) -> Sequence[HeldCall]:
        """Return the calls that a runner holds, by what is committed."""
        return [
            HeldCall(CallPlace(name, run.id, newest.number), runner, run.state == "KILLING")
            for name, head in self.history.heads.items()
            if head.state not in ENDS
            for run in self.history.runs[name].values()
            if run.state in ("RUNNING", "KILLING")
            and (newest := run.attempt) is not None
            and newest.runner == runner
        ]

    def rest(self, lives: Sequence[ExecutorLife]) -> Iterator[str]:
        """X10: yield what has not come to its end."""
        history = self.history
        for name, head in history.heads.items():
            if head.state not in ENDS:
                runs = history.runs[name].values()
                left = [f"{one.step} {one.state}" for one in runs if one.state not in STEP_ENDS]
                yield f"X10 {name} is {head.state} and goes no further: {', '.join(left)}"
            elif name not in history.gone:
                yield f"X10 {name} is never forgotten"
        for gate in history.gates.values():
            if gate.holders or gate.queue:
                yield f"X7 the gate {gate.name} is held by {sorted(gate.holders)}"
        nexts = [getattr(history.positions.get(part), "next", 0) for part in range(PARTITIONS)]
        if self.world.has_letters(nexts):
            yield "X10 letters are left"
        owners = {part for life in lives for part, one in life.owners.items() if not one.failed}
        if owners != set(range(PARTITIONS)):
            yield f"X10 partitions {sorted(owners)} have owners"
        missing = self.wanted - set(history.heads)
        if missing:
            yield f"X5 {sorted(missing)} never began"
        for part, state in self.state.items():
            if left_over := sorted(set(state) - {POSITION_KEY}):
                yield f"X11 partition {part} keeps {left_over[:3]}"

    def at_end(self, lives: Sequence[ExecutorLife]) -> list[str]:
        """Return what is not as it must be once all is over."""
        return [
            *self.rest(lives),
            *self._starts(),
            *(line for name in self.history.heads for line in self.rules.execution(name)),
            *self.rules.ledger(self.history.heads),
            *self._held(lives),
        ]

    def _starts(self) -> Iterator[str]:
        roots = {name for name, head in self.history.heads.items() if head.parent is None}
        if roots != self.wanted:
            yield f"X5 wanted were {sorted(self.wanted)}, there are {sorted(roots)}"

    def _held(self, lives: Sequence[ExecutorLife]) -> Iterator[str]:
        """X11: what an owner holds in memory is what is written."""
        for life in lives:
            for part, one in life.owners.items():
                if self.world.topics.owners[part] is not one.log:
                    continue  # it was fenced, and has not noticed yet
                held, state = one.owner.held, self.state.get(part, {})
                written = restore(
                    StateRecord(key, value) for key, value in state.items() if key != POSITION_KEY
                )
                if held.restored.executions != written.executions:
                    yield f"X11 the owner of {part} holds other executions than are written"
                if held.restored.gates != written.gates:
                    yield f"X11 the owner of {part} holds other gates than are written"


def _position(value: bytes) -> Position:
    read = POSITION_FORM.read(value)
    assert read.last is not None
    return Position(read.next or 0, read.last)
