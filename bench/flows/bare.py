"""A bare loop over the records of steps: consume, transform, produce, in transactions.

    executors run some executions ─► their records ─┬─► as outputs of the loop, as many per step
    claims and reports as letters ──────────────────┴─► as inputs of the loop, two per step

The loop keeps no state and decides nothing: it reads each input's JSON, writes each output's JSON
anew, and commits its offsets with the outputs, as many inputs at once as an executor's transaction
has.
"""

import itertools
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from pydantic import JsonValue

from bench.result import Spread, spread
from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.core.executions.entities import Runner
from supervisor.core.executions.inputs import Claim, Report, Succeeded
from supervisor.core.executions.records import CALL_FORM
from supervisor.core.executions.reduced import StepCall
from supervisor.executions.sequencer.letters import LETTER_FORM, ExecutionGiven
from supervisor.executions.sequencer.loop import INPUTS_MAX
from supervisor.ports.flows.execution_log import LogTopic
from tests.environment.brokers import create_topic
from tests.environment.execution_topics import ReadRecord, TopicsOfTest

__all__ = ["StepRecords", "measure_bare", "record_ends", "records_between"]

_OUTPUTS = (LogTopic.STATE, LogTopic.CALLS, LogTopic.RESULTS)
_WITHIN_S = 30.0
_RUNNER = Runner("bare", "one")
_PARTS = 5

Ends = dict[tuple[LogTopic, int], int]
"""Topic and partition -> where it ended."""


@dataclass(frozen=True)
class StepRecords:
    """What executors have written of some steps."""

    calls: Sequence[StepCall]
    """One per step."""
    outputs: Sequence[tuple[ReadRecord, LogTopic]]

    @property
    def per_step(self) -> float:
        """Records per step."""
        return len(self.outputs) / len(self.calls)

    @property
    def bytes_per_step(self) -> float:
        """Bytes of keys and values per step."""
        sizes = (len(one.key) + len(one.value or b"") for one, _ in self.outputs)
        return sum(sizes) / len(self.calls)


def record_ends(topics: TopicsOfTest) -> Ends:
    """Return where the topics end now."""
    return {
        (topic, part): topics.end(topic, part)
        for topic in _OUTPUTS
        for part in range(topics.topics.all[topic].partitions)
    }


def records_between(topics: TopicsOfTest, before: Ends) -> StepRecords:
    """Return what was committed behind these ends."""
    outputs = [
        (one, topic)
        for topic in _OUTPUTS
        for one in topics.read(topic)
        if one.offset >= before[topic, one.partition]
    ]
    calls = [CALL_FORM.read(one.value or b"") for one, of in outputs if of is LogTopic.CALLS]
    return StepRecords(calls, outputs)


def measure_bare(bootstrap: str, prefix: str, records: StepRecords, steps: int) -> Spread:
    """Run the loop over the inputs of that many steps; return steps per second of its fifths."""
    loop = _BareLoop(bootstrap, ExecutionTopics(prefix), records)
    loop.prepare(steps)
    try:
        rates = [loop.run(2 * steps * part // _PARTS) for part in range(1, _PARTS + 1)]
    finally:
        loop.close()
    return spread(rates[1:])  # connections open in the first


class _BareLoop:
    """One consumer and one transactional producer, in one thread."""

    def __init__(self, bootstrap: str, topics: ExecutionTopics, records: StepRecords) -> None:
        self._client = {"bootstrap.servers": bootstrap, "log_level": 0}
        self._bootstrap = bootstrap
        self._topics = topics
        self._records = records
        self._debt = 0.0
        self._done = 0
        self._outputs = itertools.cycle(_parsed(records))
        self._history = topics.name(LogTopic.HISTORY)
        self._consumer = Consumer(
            {
                **self._client,
                "group.id": topics.group,
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "fetch.wait.max.ms": 100,
            }
        )
        self._producer = Producer(
            {
                **self._client,
                "transactional.id": topics.transactional_id(0),
                "compression.type": "lz4",
            }
        )

    def prepare(self, steps: int) -> None:
        """Make topics, and write the inputs of that many steps."""
        for topic in self._topics.all.values():
            create_topic(
                self._bootstrap, topic.name, partitions=topic.partitions, config=topic.config
            )
        producer = Producer({**self._client, "linger.ms": 5})
        for number, call in zip(range(steps), itertools.cycle(self._records.calls)):
            report = Report(call.run, call.attempt, Succeeded(), _RUNNER)
            for given in (Claim(call.run, call.attempt, _RUNNER), report):
                letter = LETTER_FORM.write(ExecutionGiven(given))
                place = number % self._topics.entities
                producer.produce(self._history, letter, call.execution.encode(), place)
                producer.poll(0)
        assert producer.flush(_WITHIN_S) == 0
        self._producer.init_transactions(_WITHIN_S)
        places = range(self._topics.entities)
        self._consumer.assign(
            [TopicPartition(self._history, part, OFFSET_BEGINNING) for part in places]
        )

    def run(self, until: int) -> float:
        """Work inputs until so many are done; return steps per second."""
        began, before = time.perf_counter(), self._done
        while self._done < until:
            first = self._consumer.poll(_WITHIN_S)
            assert first is not None, "the inputs are at their end"
            messages = [first, *self._consumer.consume(INPUTS_MAX - 1, 0)]
            self._producer.begin_transaction()
            for message in messages:
                assert message.error() is None, message.error()
                json.loads(message.value() or b"")
                self._produce()
            group = self._consumer.consumer_group_metadata()
            places = self._consumer.position(self._consumer.assignment())
            self._producer.send_offsets_to_transaction(places, group, _WITHIN_S)
            self._producer.commit_transaction(_WITHIN_S)
            self._done += len(messages)
        return (self._done - before) / 2 / (time.perf_counter() - began)

    def close(self) -> None:
        """Close the consumer."""
        self._consumer.close()

    def _produce(self) -> None:
        """Write what follows from one input: half of what a step has."""
        self._debt += self._records.per_step / 2
        while self._debt >= 1:
            self._debt -= 1
            topic, partition, key, value = next(self._outputs)
            body = None if value is None else json.dumps(value).encode()
            self._producer.produce(self._topics.name(topic), body, key.encode(), partition)
            self._producer.poll(0)


def _parsed(records: StepRecords) -> Iterator[tuple[LogTopic, int, str, JsonValue]]:
    for one, topic in records.outputs:
        value = None if one.value is None else json.loads(one.value)
        yield topic, one.partition, one.key, value
