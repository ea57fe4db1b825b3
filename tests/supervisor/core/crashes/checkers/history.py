"""What the topics have shown, kept apart: heads, runs, events, calls, answers, effects."""

from collections import defaultdict
from dataclasses import dataclass, field

from supervisor.core.executions.entities import Execution, Runner, TaskRun
from supervisor.core.executions.gates import Gate
from supervisor.core.executions.reduced import ClaimReply, ExecutionEvent, StepCall
from tests.supervisor.core.crashes.world.log import Record
from tests.supervisor.core.crashes.world.messages import (
    CALLS,
    DEAD,
    HISTORY,
    RESULTS,
    STATE,
    EventOf,
    Position,
)

Key = tuple[str, int]


@dataclass
class History:
    """Everything that was ever visible."""

    heads: dict[str, Execution] = field(default_factory=dict)
    runs: dict[str, dict[str, TaskRun]] = field(default_factory=lambda: defaultdict(dict))
    gone: set[str] = field(default_factory=set)
    gates: dict[str, Gate] = field(default_factory=dict)
    events: dict[str, list[ExecutionEvent]] = field(default_factory=lambda: defaultdict(list))
    calls: dict[tuple[str, int, int], StepCall] = field(default_factory=dict)
    granted: dict[Key, Runner] = field(default_factory=dict)
    positions: dict[int, Position] = field(default_factory=dict)
    epochs: dict[int, int] = field(default_factory=dict)
    letters: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    versions: int = 0
    dead: list[Record] = field(default_factory=list)

    def see(self, records: list[Record]) -> list[str]:
        """Take a batch over, and return what is wrong with it by itself."""
        wrong: list[str] = []
        for record in records:
            match record.place[0]:
                case topic if topic == STATE:
                    wrong += self._state(record)
                case topic if topic == CALLS and isinstance(record.value, StepCall):
                    wrong += self._call(record.value)
                case topic if topic == RESULTS:
                    wrong += self._result(record)
                case topic if topic == HISTORY:
                    self.letters[record.place[1]] += 1
                case topic if topic == DEAD:
                    self.dead.append(record)
        return wrong

    def _state(self, record: Record) -> list[str]:
        part, (writer, epoch) = record.place[1], record.writer
        if writer and epoch < self.epochs.get(part, 0):
            return [f"X1 an old owner has written {record.key}"]
        self.epochs[part] = max(epoch, self.epochs.get(part, 0))
        match record.value:
            case Execution():
                return self._head(record.value)
            case TaskRun():
                return self._run(record.key.split("/")[1], record.value)
            case Gate():
                self.gates[record.value.name] = record.value
            case Position():
                return self._position(part, record.value)
            case None if record.key.startswith("g/"):
                self.gates.pop(record.key[2:], None)
            case None if record.key.count("/") == 1:
                self.gone.add(record.key[2:])
        return []

    def _position(self, part: int, new: Position) -> list[str]:
        old = self.positions.get(part)
        self.positions[part] = new
        if old is not None and (new.next < old.next or new.last < old.last):
            return [f"X1 the position of {part} goes back from {old.next} to {new.next}"]
        return []

    def _head(self, new: Execution) -> list[str]:
        old = self.heads.get(new.id)
        self.heads[new.id] = new
        if new.id in self.gone:
            return [f"X5 {new.id} begins again after it was forgotten"]
        if old is None:
            self.versions += new.version
            return []
        self.versions += new.version - old.version
        if new.version <= old.version:
            return [f"X1 version {new.version} of {new.id} after {old.version}"]
        if old.state in ("SUCCESS", "FAILED", "KILLED"):
            return [f"X2 {new.id} goes on after {old.state}"]
        if len(new.failures) < len(old.failures) or (old.killed and not new.killed):
            return [f"X2 {new.id} forgets a failure or a kill"]
        return []

    def _run(self, execution: str, new: TaskRun) -> list[str]:
        old = self.runs[execution].get(new.id)
        self.runs[execution][new.id] = new
        if old is None:
            return []
        wrong = []
        if old.state in ("SUCCESS", "FAILED", "KILLED", "SKIPPED") and new.state != old.state:
            wrong.append(f"X2 {new.step} goes from {old.state} to {new.state}")
        if len(new.attempts) < len(old.attempts):
            wrong.append(f"X2 {new.step} forgets an attempt")
        for before, after in zip(old.attempts, new.attempts, strict=False):
            ended = before.state in ("SUCCESS", "FAILED", "KILLED", "LOST")
            if ended and before != after:
                wrong.append(f"X6 attempt {before.number} of {new.step} changes after its end")
        return wrong

    def _call(self, job: StepCall) -> list[str]:
        key = (job.run, job.attempt, job.check)
        if key in self.calls:
            return [f"X3 {job.step} attempt {job.attempt} look {job.check} is called twice"]
        self.calls[key] = job
        return []

    def _result(self, record: Record) -> list[str]:
        match record.value:
            case EventOf(execution, event):
                events = self.events[execution]
                events.append(event)
                if event.number != len(events):
                    return [f"X8 event {event.number} of {execution} is number {len(events)}"]
            case ClaimReply(run, attempt, runner, granted) if granted:
                if self.granted.setdefault((run, attempt), runner) != runner:
                    return [f"X3 attempt {attempt} of {run} is granted to two"]
        return []
