"""The engine over Kafka's topics, as a scenario drives it: one owner of the one partition.

What is asked of it is read from the topics, by a reader of committed records.
"""

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from supervisor.adapters.executions.kafka.log import KafkaPartitionLog
from supervisor.adapters.executions.kafka.transactions import PartitionProducer
from supervisor.core.executions.entities import Execution
from supervisor.core.executions.inputs import ExecutionInput
from supervisor.core.executions.plan import FlowPlan
from supervisor.core.executions.records import CALL_FORM, Restored, StateRecord, restore
from supervisor.core.executions.reduced import ClaimReply, ExecutionEvent, StepCall
from supervisor.core.flows.children import CalledFlow
from supervisor.executions.sequencer.batch import PartitionPlan
from supervisor.executions.sequencer.letters import (
    LETTER_FORM,
    POSITION_FORM,
    RESULT_FORM,
    ExecutionGiven,
    ExecutionStart,
    Letter,
    PartitionPosition,
)
from supervisor.executions.sequencer.loop import PartitionOwner
from supervisor.ports.flows.execution_log import POSITION_KEY, LogTopic
from tests.environment.execution_topics import TopicsOfTest
from tests.supervisor.core.crashes.world.world import BEGAN, LANGUAGE
from tests.supervisor.core.executions.called import flow_of


class _Died(BaseException):
    """The process ends here."""


class _Dies(PartitionProducer):
    """Lets its owner die once the brokers have everything of a transaction but its commit."""

    def commit(self) -> None:
        """Be gone."""
        self._producer.flush(30)
        raise _Died


class OnKafka:
    """Implements `EngineInTest`."""

    def __init__(
        self, topics: TopicsOfTest, flows: dict[str, FlowPlan | CalledFlow] | None = None
    ) -> None:
        """Let the first owner begin."""
        self.now: datetime = BEGAN
        self.topics = topics
        self.flows: dict[str, FlowPlan | CalledFlow] = {} if flows is None else flows
        self._taken = 0
        self._results: dict[str, list[object]] = {}
        """Execution -> its events; under the empty name everything else."""
        self._results_read = 0
        self._restored: tuple[int, Restored] | None = None
        self._sent = -1
        """The offset of the newest letter."""
        self._logs: list[KafkaPartitionLog] = []
        self.owner = self.new_owner()
        self.owner.take_over()

    def new_owner(
        self, log: Callable[..., KafkaPartitionLog] = KafkaPartitionLog
    ) -> PartitionOwner:
        """Return an owner of the partition that has not taken it over yet."""
        self._logs.append(log(self.topics.client, self.topics.topics, 0))
        return PartitionOwner(
            0,
            PartitionPlan(1, 1),
            self._logs[-1],
            LANGUAGE,
            flow_of(self.flows),
            now=lambda: self.now,
        )

    def start(self, plan: FlowPlan, execution: str) -> None:
        """Start an execution, or repeat the start of one."""
        self.append(execution, ExecutionStart(Execution(execution, plan, {}, self.now)))
        self.work()

    def send(self, execution: str, *inputs: ExecutionInput) -> None:
        """Give inputs to an execution, in their order."""
        for given in inputs:
            self.append(execution, ExecutionGiven(given))
        self.work()

    def append(self, entity: str, letter: Letter) -> None:
        """Write a letter, which nobody reads yet."""
        self._sent = self.topics.send(LogTopic.HISTORY, 0, entity, LETTER_FORM.write(letter))

    def work(self) -> None:
        """Let the owner work until nothing is left."""
        while (self.owner.held.position.next or 0) <= self._sent or self._is_due():
            self.owner.turn(within_s=0.005)

    def _is_due(self) -> bool:
        due = self.owner.held.next_due()
        return due is not None and bool(self.owner.held.due(self.now, 1))

    def restored(self) -> Restored:
        """Return what the state topic has."""
        count = len(self.topics.read(LogTopic.STATE))
        if self._restored is None or self._restored[0] != count:
            newest = self.topics.newest(LogTopic.STATE)
            newest.pop(POSITION_KEY, None)
            records = (StateRecord(key, value) for key, value in newest.items())
            self._restored = count, restore(records)
        return self._restored[1]

    def position(self) -> PartitionPosition:
        """Return the position that the state topic has."""
        value = self.topics.newest(LogTopic.STATE).get(POSITION_KEY)
        return PartitionPosition() if value is None else POSITION_FORM.read(value)

    def get(self, execution: str) -> Execution:
        """Return an execution as the topic has it."""
        return self.restored().executions[execution]

    def take_calls(self) -> list[StepCall]:
        """Return the calls that are new since the last time."""
        records = self.topics.read(LogTopic.CALLS)
        new, self._taken = records[self._taken :], len(records)
        return [CALL_FORM.read(one.value or b"") for one in new]

    def replies(self) -> list[ClaimReply]:
        """Return every answer to a claim."""
        self._read_results()
        return [one for one in self._results.get("", ()) if isinstance(one, ClaimReply)]

    def events(self, execution: str) -> list[ExecutionEvent]:
        """Return every event of an execution."""
        self._read_results()
        return [one for one in self._results.get(execution, ()) if isinstance(one, ExecutionEvent)]

    def _read_results(self) -> None:
        """Read on: the topic has one partition, so that what is new is behind what was read."""
        records = self.topics.read(LogTopic.RESULTS)
        for record in records[self._results_read :]:
            result = RESULT_FORM.read(record.value or b"")
            whose = record.key if isinstance(result, ExecutionEvent) else ""
            self._results.setdefault(whose, []).append(result)
        self._results_read = len(records)

    def dropped(self) -> Counter[str]:
        """Return how many inputs changed nothing, by reason."""
        return Counter(self.position().drops)

    def pass_time(self, by: timedelta) -> None:
        """Let time go on."""
        self.now += by
        self.work()

    def die_before_commit(self, execution: str, *inputs: ExecutionInput) -> int:
        """Produce all that comes of them, and commit nothing; the next owner has taken over."""
        dying = self.new_owner(partial(KafkaPartitionLog, writer=_Dies))
        dying.take_over()
        for given in inputs:
            self.append(execution, ExecutionGiven(given))
        try:
            while True:
                dying.turn(within_s=0.005)
        except _Died:
            self.owner = self.new_owner()
            self.owner.take_over()
        return len(inputs)

    def restart(self) -> None:
        """Let another owner begin; the old one does not know of it."""
        self.owner = self.new_owner()
        self.owner.take_over()
        self.work()

    def unread(self) -> int:
        """Return how many letters are behind the stored position."""
        following = self.position().next or 0
        return sum(one.offset >= following for one in self.topics.read(LogTopic.HISTORY))

    def close(self) -> None:
        """Close every connection."""
        for each in self._logs:
            each.close()
        self.topics.close()
