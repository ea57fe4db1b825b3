"""Which offsets are suspected after the engine's process has ended, and how the record is found."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.contract.messages import TaskReport
from tasks.contract.offsets import Offsets, TopicPartition, clip
from tasks.ingest.spark.source import POLL_RECORDS
from tasks.machine.events import ReadBatch
from tasks.machine.state import report
from tasks.machine.suspects import (
    CONDEMNED,
    ENGINE_DIED,
    PROCESS_DIED,
    REACH,
    RECORDS_MAX,
    RunningBatch,
    Suspect,
    blamed,
    caution,
    cleared,
    describe_suspect,
    reach_of,
)
from tasks.ports import Care
from tests.tasks.machine.machines import bench, until
from tests.tasks.memory import P0, P1, at

Place = tuple[TopicPartition, int]


@dataclass
class Reader:
    """A task whose process ends at each deadly record that a batch unpacks."""

    stable: Offsets
    deadly: frozenset[Place]
    rows_max: int = 20_000
    position: Offsets = field(default_factory=dict)
    suspects: tuple[Suspect, ...] = ()
    ends: int = 0
    read: list[Place] = field(default_factory=list)
    skipped: list[Place] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.position = self.position or dict.fromkeys(self.stable, 0)

    def next(self) -> tuple[RunningBatch, Offsets, Care]:
        bounds = caution(self.position, self.stable, self.suspects)
        rows_max = min(self.rows_max, bounds.rows_max)
        to = clip(self.position, self.stable, end=bounds.end, rows_max=rows_max)
        reach = reach_of(self.position, to, self.stable, bounds.care)
        note = RunningBatch(
            task_id="t",
            supervisor_id="s",
            start=dict(self.position),
            reach=dict(reach),
            alone=bounds.care.exclusive,
        )
        return note, to, bounds.care

    def go_on(self, *, weight: int = ENGINE_DIED, killed: bool = False) -> None:
        """Read the next batch; the process ends by a record of it, or is killed."""
        note, to, care = self.next()
        batch = [(p, o) for p in sorted(to) for o in range(self.position[p], to[p])]
        assert batch, "a batch without an offset would be read for ever"
        unpacked = {(p, o) for p, o in self.deadly if self.position[p] <= o < note.reach[p]}
        if killed or (unpacked and care is not Care.SKIP):
            self.ends += 1
            self.suspects = blamed(self.suspects, [note], weight)
            return
        (self.skipped if care is Care.SKIP else self.read).extend(batch)
        self.position = to
        self.suspects = cleared(self.suspects, note)

    def read_all(self) -> None:
        for _ in range(2_000):
            if self.position == self.stable:
                return
            self.go_on()
        raise AssertionError(f"it does not end: {self.position}, {self.suspects[:3]}")


def everything(stable: Offsets) -> list[Place]:
    return [(p, o) for p in sorted(stable) for o in range(stable[p])]


def test_the_one_record_that_ends_the_process_is_found_by_halves() -> None:
    reader = Reader(at(20_000), frozenset({(P0, 12_345)}))

    reader.read_all()

    assert reader.skipped == [(P0, 12_345)]
    assert sorted(reader.read + reader.skipped) == everything(at(20_000))
    assert reader.ends <= 2 + RECORDS_MAX.bit_length() + 2


@given(
    stable=st.lists(st.integers(1, 9_000), min_size=1, max_size=3).map(lambda ends: at(*ends)),
    rows_max=st.sampled_from([1, 7, 500, 20_000]),
    data=st.data(),
)
def test_each_record_is_read_once_or_is_deadly_and_skipped(
    stable: Offsets, rows_max: int, data: st.DataObject
) -> None:
    """Goal: no innocent record is rejected, wherever the deadly ones lie."""
    places = st.sampled_from(sorted(stable)).flatmap(
        lambda p: st.tuples(st.just(p), st.integers(0, stable[p] - 1))
    )
    deadly = data.draw(st.frozensets(places, max_size=3))
    reader = Reader(stable, deadly, max(rows_max, max(stable.values()) // 300))

    reader.read_all()

    assert sorted(reader.skipped) == sorted(deadly)
    assert sorted(reader.read + reader.skipped) == everything(stable)


@given(
    size=st.integers(1, 300),
    kills=st.lists(st.booleans(), max_size=60),
)
def test_kills_of_the_worker_condemn_nothing_unless_they_hit_one_offset_often(
    size: int, kills: list[bool]
) -> None:
    """Goal: people who kill workers lose no record."""
    reader = Reader(at(size), frozenset())
    in_a_row = 0
    for killed in kills:
        if reader.position == reader.stable:
            break
        in_a_row = in_a_row + 1 if killed else 0
        reader.go_on(weight=PROCESS_DIED, killed=killed and in_a_row < CONDEMNED)

    reader.read_all()

    assert reader.skipped == []
    assert sorted(reader.read) == everything(at(size))


def test_a_range_that_ran_beside_the_culprit_is_read_alone_once_and_then_as_ever() -> None:
    reader = Reader(at(30_000), frozenset())
    reader.go_on(killed=True)
    care = reader.next()[2]
    reader.go_on()

    assert care is Care.ALONE
    assert reader.position == at(20_000)
    assert reader.suspects == ()
    assert reader.next()[2] is Care.NONE


def test_records_that_came_later_are_no_suspects() -> None:
    """Goal: a slow topic is not read with care for its next 5,000 records."""
    reader = Reader(at(10), frozenset())
    for _ in range(2):
        reader.go_on(killed=True)
    reader.read_all()

    assert reader.suspects == ()


def test_only_partitions_of_the_suspect_are_read_with_care() -> None:
    reader = Reader(at(100, 100), frozenset())
    suspect = Suspect(supervisor_id="s", start=at(0), end=at(100), ends=2)
    reader.suspects = (suspect,)

    note, to, care = reader.next()

    assert (to, care, note.reach) == ({P0: 50, P1: 0}, Care.RECORDS, to)


def test_a_condemned_record_is_skipped_by_every_later_task() -> None:
    """Goal: a range that is read again, as after a failure, ends the process no more."""
    first = Reader(at(50), frozenset({(P0, 31)}))
    first.read_all()
    again = Reader(at(50), frozenset({(P0, 31)}), suspects=first.suspects)

    again.read_all()

    assert (again.ends, again.skipped) == (0, [(P0, 31)])


def test_replicas_that_read_the_same_offset_condemn_nothing_by_one_end() -> None:
    one, other = (
        RunningBatch(task_id=task_id, supervisor_id="s", start=at(3), reach=at(4))
        for task_id in ("t-1", "t-2")
    )

    suspects = blamed((), [one, other], ENGINE_DIED)

    assert [(s.ends, s.condemned) for s in suspects] == [(1, False), (1, False)]
    alone = one.model_copy(update={"alone": True})
    [left] = blamed(suspects, [alone], ENGINE_DIED)
    assert (left.ends, left.condemned) == (2, False)
    [found] = blamed([left], [alone], ENGINE_DIED)
    assert found.condemned


def test_the_suspects_of_one_supervisor_say_nothing_of_another() -> None:
    suspect = Suspect(supervisor_id="other", start=at(0), end=at(10), ends=1)
    note = RunningBatch(task_id="t", supervisor_id="s", start=at(0), reach=at(10))

    assert cleared((suspect,), note) == (suspect,)
    assert [s.ends for s in blamed((suspect,), [note], ENGINE_DIED)] == [1, 1]


def test_one_poll_unpacks_no_more_than_the_reach() -> None:
    assert REACH >= POLL_RECORDS


def test_two_ends_are_reported_with_partition_and_offsets() -> None:
    once = Suspect(supervisor_id="clicks", start=at(3), end=at(9), ends=1)
    b = bench(20)
    b.state = replace(b.state, suspects=(once,))
    quiet = report(b.state, b.now)
    b.state = replace(b.state, suspects=(once.model_copy(update={"ends": 2}),))
    warned = report(b.state, b.now)

    assert quiet.suspect == ""
    assert "suspect" not in quiet.to_json(), "an overlord of the release before reads it"
    assert TaskReport.from_json(warned.to_json()) == warned
    assert "ended 2 times while it read clicks:0 [3, 9)" in warned.suspect
    assert describe_suspect(b.state.suspects, at(9)) == "", "it lies behind"


@pytest.mark.parametrize(
    ("ends", "weight", "care", "end"),
    [(1, 0, Care.ALONE, 8), (2, 0, Care.RECORDS, 4), (3, CONDEMNED, Care.SKIP, 1)],
)
def test_a_task_reads_a_suspect_as_its_ends_demand(
    ends: int, weight: int, care: Care, end: int
) -> None:
    """Goal: the same in the machine: the effect has the care, the end and the reach."""
    until_end = 1 if weight else 8
    suspect = Suspect(
        supervisor_id="clicks", start=at(0), end=at(until_end), ends=ends, weight=weight
    )
    b = bench(20)
    b.state = replace(b.state, suspects=(suspect,))

    until(b, ReadBatch)

    [read] = b.todo
    assert isinstance(read, ReadBatch)
    assert (read.care, read.end) == (care, at(end))
    assert read.reach == (at(20) if care is Care.ALONE else at(end))
    b.run(10)
    assert b.state.position == at(20)
