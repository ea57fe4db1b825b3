"""Executors share partitions: who joins gets some, who leaves gives them up; nothing is lost."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from supervisor.adapters.executions.kafka.log import KafkaPartitionLog
from supervisor.adapters.executions.kafka.members import GroupMember
from supervisor.adapters.executions.kafka.sender import HistorySender
from supervisor.core.executions.entities import Execution, Runner
from supervisor.core.executions.inputs import KillIt, Report, Succeeded
from supervisor.core.executions.reduced import ExecutionEvent
from supervisor.dev.broker import Broker
from supervisor.dev.ports import free_port
from supervisor.executions.engine import CallReport
from supervisor.executions.sequencer.batch import PartitionPlan
from supervisor.executions.sequencer.engine import PartitionedEngine
from supervisor.executions.sequencer.letters import (
    LETTER_FORM,
    RESULT_FORM,
    ExecutionGiven,
    ExecutionStart,
)
from supervisor.executions.sequencer.loop import PartitionOwner
from supervisor.executions.sequencer.owners import PartitionOwners
from supervisor.executions.sequencer.places import partition_of
from supervisor.ports.flows.execution_log import LogTopic
from tests.conformance.executions.test_topics import PLAN
from tests.environment.execution_topics import TopicsOfTest, make_execution_topics
from tests.supervisor.core.crashes.world.world import BEGAN, LANGUAGE
from tests.waiting import wait_until

PARTITIONS = 4
IDS = [f"e{number}" for number in range(20)]


class Executor:
    """One process: a member of the group, and the owners of what it is given."""

    def __init__(self, topics: TopicsOfTest) -> None:
        """Do nothing yet."""
        self.topics = topics
        self.owners = PartitionOwners(self._new_owner, again_s=0.1)
        self.member = GroupMember(topics.client, topics.topics, self.owners, session_s=6)

    def _new_owner(self, partition: int) -> PartitionOwner:
        log = KafkaPartitionLog(self.topics.client, self.topics.topics, partition)
        plan = PartitionPlan(PARTITIONS, 1)
        return PartitionOwner(partition, plan, log, LANGUAGE, lambda _: None, now=lambda: BEGAN)

    def works(self) -> set[int]:
        """Return the partitions that are taken over."""
        owned = self.owners.owned()
        return {number for number, one in owned.items() if one.owner is not None}

    def get(self, execution: str) -> Execution | None:
        """Return an execution of a partition that is worked here."""
        owner = self.owners.owner(partition_of(execution, PARTITIONS))
        return None if owner is None else owner.held.execution(execution)


@pytest.fixture
def topics(broker: Broker) -> Iterator[TopicsOfTest]:
    """Topics of some partitions."""
    some = make_execution_topics(broker.bootstrap, PARTITIONS)
    yield some
    some.close()


def _send(topics: TopicsOfTest, execution: str, letter: ExecutionStart | ExecutionGiven) -> None:
    place = partition_of(execution, PARTITIONS)
    topics.send(LogTopic.HISTORY, place, execution, LETTER_FORM.write(letter))


def test_runners_ask_the_executor_that_has_the_partition(topics: TopicsOfTest) -> None:
    """Goal: a flow goes to its end through topics, whichever executor hears of it."""
    with ExitStack() as ending:
        first, second = Executor(topics), Executor(topics)
        for each in (first, second):
            each.member.start()
            ending.callback(each.member.stop)
        wait_until(
            lambda: (
                bool(first.works() and second.works())
                and first.works() | second.works() == set(range(PARTITIONS))
            )
        )
        sender = HistorySender(topics.client, topics.topics)
        plan = PartitionPlan(PARTITIONS, 1)
        engines = [PartitionedEngine(one.owners, plan, sender.send) for one in (first, second)]
        engines[0].work(starts=[Execution(name, PLAN, {}, BEGAN) for name in IDS])
        runners = [Runner(f"executor-{number}", "one") for number in range(2)]

        def work() -> bool:
            for engine, runner in zip(engines, runners, strict=True):
                jobs = engine.serve(runner, [], free=8).begin
                reports = [
                    CallReport(job.execution, Report(job.run, job.attempt, Succeeded(), runner))
                    for job in jobs
                ]
                engine.serve(runner, [], reports)
            held = [one.get(name) for name in IDS for one in (first, second)]
            return sum(one is not None and one.state.ended for one in held) == len(IDS)

        wait_until(work)
    events = [RESULT_FORM.read(one.value or b"") for one in topics.read(LogTopic.RESULTS)]
    ends = [one for one in events if isinstance(one, ExecutionEvent)]
    assert sum(one.name == "execution-ended" for one in ends) == len(IDS)
    assert sum(one.name == "attempt-started" for one in ends) == 2 * len(IDS)


def _versions(executors: list[Executor]) -> dict[str, int]:
    held = [one.get(name) for name in IDS for one in executors]
    return {one.id: one.version for one in held if one is not None}


def test_partitions_go_from_one_to_the_other_with_what_lives_there(topics: TopicsOfTest) -> None:
    everything = set(range(PARTITIONS))
    with ExitStack() as ending:
        first, second = Executor(topics), Executor(topics)
        first.member.start()
        ending.callback(first.member.stop)
        wait_until(lambda: first.works() == everything)
        for name in IDS:
            _send(topics, name, ExecutionStart(Execution(name, PLAN, {}, BEGAN)))
        wait_until(lambda: _versions([first]) == dict.fromkeys(IDS, 1))

        second.member.start()
        ending.callback(second.member.stop)
        wait_until(lambda: bool(second.works()) and first.works() | second.works() == everything)
        assert not first.works() & second.works()
        for name in IDS:
            _send(topics, name, ExecutionGiven(KillIt("ann")))
        wait_until(lambda: _versions([first, second]) == dict.fromkeys(IDS, 2))

        first.member.stop()
        assert first.works() == set()
        wait_until(lambda: second.works() == everything)
        assert _versions([second]) == dict.fromkeys(IDS, 2)

    heads = [one.key for one in topics.read(LogTopic.STATE) if one.key.count("/") == 1]
    assert sorted(heads) == sorted([f"e/{name}" for name in IDS] * 2), "each version once"


def test_a_member_that_reaches_no_broker_says_so(topics: TopicsOfTest) -> None:
    nobody = {"bootstrap.servers": f"127.0.0.1:{free_port()}"}
    member = GroupMember(nobody, topics.topics, PartitionOwners(lambda _: pytest.fail("owned")))
    member.start()
    try:
        wait_until(lambda: member.trouble.startswith("Kafka does not answer"))
    finally:
        member.stop()
