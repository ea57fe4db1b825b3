"""Whatever happens to a supervisor, in whatever order: its published ranges tile the topic."""

from collections.abc import Callable
from datetime import timedelta

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from supervisor.core.planning.observed import Liveness
from supervisor.core.spec.spec import SupervisorSpec
from tasks.contract.messages import PublishOutcome, TaskPhase
from tests.sqlite_memory import SqliteInMemory
from tests.supervisor.core.snapshots import MINUTE, TOPIC, spec
from tests.supervisor.scenarios.promises import assert_promises
from tests.supervisor.world import Crash, World

PARTITIONS = 3
PARTITIONS_MAX = 6
DURATION = 10 * MINUTE
HEALED_AFTER = 40
"""Turns without faults; far more than a handoff takes."""


class ExactlyOnce(RuleBasedStateMachine):
    """Planner, shell and publishing over SQLite in memory; the rules are what may happen."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World(SqliteInMemory(), self.wanted(2), PARTITIONS)

    def wanted(
        self, task_count: int, replicas: int = 1, *, suspended: bool = False
    ) -> SupervisorSpec:
        """The spec that the story asks for."""
        return spec(task_count, replicas, duration=DURATION, suspended=suspended)

    @initialize(task_count=st.integers(1, PARTITIONS_MAX), replicas=st.integers(1, 2))
    def a_supervisor_reads(self, task_count: int, replicas: int) -> None:
        self.world.set_spec(self.wanted(task_count, replicas))
        self.world.write(10)
        self.settles()
        self.world.sync()

    # ------------------------------------------------------------ the world

    @rule(seconds=st.sampled_from([1, 15, 21, 31, 61, 300, 600]))
    def time_passes(self, seconds: int) -> None:
        self.world.clock.advance(seconds * MINUTE / 60)

    @rule(records=st.integers(1, 9))
    def records_come(self, records: int) -> None:
        self.world.write(records)

    @rule(records=st.integers(1, 9), data=st.data())
    def records_come_to_one_partition(self, records: int, data: st.DataObject) -> None:
        """The others stay as they are: ranges are empty in some of their partitions."""
        self.world.write_to(data.draw(st.sampled_from(sorted(self.world.ends))), records)

    @rule(records=st.integers(1, 30))
    def replicas_read(self, records: int) -> None:
        self.world.read(records)

    @rule(name=st.sampled_from(["w1", "w2"]), records=st.integers(1, 9))
    def one_worker_reads_faster(self, name: str, records: int) -> None:
        for hand, replica in self.world.replicas():
            if hand.id == name and replica.phase is TaskPhase.READING:
                replica.position = {
                    p: max(at, min(at + records, self.world.ends[p]))
                    for p, at in replica.position.items()
                }

    @rule(name=st.sampled_from(["w1", "w2"]))
    def a_worker_syncs(self, name: str) -> None:
        self.world.sync(name)

    @rule(
        name=st.sampled_from(["w1", "w2"]),
        liveness=st.sampled_from([Liveness.UNKNOWN, Liveness.LOST]),
    )
    def a_worker_falls_silent(self, name: str, liveness: Liveness) -> None:
        self.world.hands.all[name].liveness = liveness

    @precondition(lambda self: any(self.world.replicas()))
    @rule(data=st.data())
    def a_task_fails(self, data: st.DataObject) -> None:
        tasks = [replica for _, replica in self.world.replicas()]
        data.draw(st.sampled_from(tasks)).phase = TaskPhase.FAILED

    @precondition(lambda self: bool(self.world.ready_to_publish()))
    @rule(data=st.data())
    def a_replica_publishes(self, data: st.DataObject) -> None:
        """In any order; also one that the overlord has ended, and whose worker it has lost."""
        hand, replica = data.draw(st.sampled_from(self.world.ready_to_publish()))
        self._survives(lambda: self._publish(hand.id, replica.wanted.task_id))

    @rule(
        task_count=st.integers(1, PARTITIONS_MAX),
        replicas=st.integers(1, 2),
        suspended=st.sampled_from([False, False, True]),
    )
    def the_spec_changes(self, *, task_count: int, replicas: int, suspended: bool) -> None:
        self.world.set_spec(self.wanted(task_count, replicas, suspended=suspended))

    @rule(suspended=st.booleans())
    def it_is_suspended_or_resumed(self, *, suspended: bool) -> None:
        if (newest := self._newest()) is not None:
            self.world.set_spec(newest.model_copy(update={"suspended": suspended}))

    @rule()
    def a_handoff_is_requested(self) -> None:
        """Of every group that reads, also again and again."""
        with self.world.store.sound.leading(self.world.leadership.term()) as tx:
            for generation in tx.generations.live(TOPIC):
                tx.generations.ask_handoff(generation.id, "a story")

    @rule(name=st.sampled_from(["w1", "w2"]))
    def tasks_stand_still(self, name: str) -> None:
        """For longer than any limit, as their worker tells (P15)."""
        hand = self.world.hands.all[name]
        hand.heard = {
            task_id: report.model_copy(update={"stalled_for": timedelta(days=1)})
            for task_id, report in hand.heard.items()
        }

    @rule()
    def it_is_terminated(self) -> None:
        self.world.set_spec(None)

    @precondition(lambda self: len(self.world.ends) < PARTITIONS_MAX)
    @rule(partitions=st.integers(1, 2))
    def partitions_are_added(self, partitions: int) -> None:
        self.world.add_partitions(TOPIC, partitions)

    # ------------------------------------------------------------ the overlord

    @rule()
    def makes_one_pass(self) -> None:
        self._survives(self.world.one_pass)

    @rule()
    def settles(self) -> None:
        self._survives(self.world.settle)

    @rule(turns=st.integers(1, 4))
    def works_for_a_while(self, turns: int) -> None:
        for _ in range(turns):
            self._turn()

    @rule(calls=st.integers(0, 5), before=st.booleans())
    def will_crash(self, calls: int, *, before: bool) -> None:
        when = self.world.store.before if before else self.world.store.after
        when.add(self.world.store.calls + calls)

    @rule()
    def another_takes_over(self) -> None:
        self.world.take_over()

    def _turn(self) -> None:
        self._survives(self.world.settle)
        self.world.sync()
        for hand, replica in self.world.ready_to_publish():
            self._survives(lambda h=hand.id, t=replica.wanted.task_id: self._publish(h, t))  # type: ignore[misc]

    def _publish(self, name: str, task_id: str) -> None:
        hand = self.world.hands.all[name]
        answer = self.world.publish(hand, hand.held[task_id])
        assert answer.outcome is not PublishOutcome.STALE, f"{task_id}: {answer}"

    def _survives(self, step: Callable[[], object]) -> None:
        try:
            step()
        except Crash:
            self.world.take_over()

    def _newest(self) -> SupervisorSpec | None:
        with self.world.store.reading() as tx:
            newest = tx.specs.newest(TOPIC)
        assert newest is not None
        return newest.spec

    # ------------------------------------------------------------ what is promised

    @invariant()
    def published_ranges_tile_each_partition(self) -> None:
        assert_promises(self.world.store)

    def teardown(self) -> None:
        """Once faults end, everything is published: nothing waits for ever, nothing is lost."""
        world = self.world
        world.store.before.clear()
        world.store.after.clear()
        world.set_spec(self.wanted(2))
        self._heal(self._all_read)
        world.set_spec(self.wanted(2, suspended=True))
        self._heal(lambda: not self._live())
        assert_promises(world.store)
        with world.store.reading() as tx:
            assert {p: r.next_offset for p, r in tx.offsets.of(TOPIC).items()} == world.ends
            assert tx.tasks.active(TOPIC) == []

    def _heal(self, healed: Callable[[], bool]) -> None:
        for _ in range(HEALED_AFTER):
            self._turn()
            self.world.read(1_000)
            self.world.sync()
            if healed():
                return
            self._turn()
            self.world.clock.advance(MINUTE)
        raise AssertionError(f"it does not come to rest: {self._live()}")

    def _live(self) -> list[object]:
        with self.world.store.reading() as tx:
            return [*tx.generations.live(TOPIC), *tx.tasks.active(TOPIC)]

    def _all_read(self) -> bool:
        """Some open generation has read each partition to its end, under the newest spec."""
        reached = dict.fromkeys(self.world.ends, 0)
        for _, replica in self.world.replicas():
            if replica.phase is TaskPhase.READING:
                reached |= replica.position
        return reached == self.world.ends


def examples(share: int, least: int) -> int:
    """Return a share of a property's examples: `least` at least, unless only the fast tests run."""
    of_a_property = settings().max_examples
    return max(of_a_property // share, min(least, of_a_property * least // DEVELOPER))


DEVELOPER = 30
"""Examples per property in `scripts/test`."""
TestExactlyOnce = ExactlyOnce.TestCase
# Each example makes some hundred passes.
TestExactlyOnce.settings = settings(max_examples=examples(2, least=20))
