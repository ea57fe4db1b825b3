"""What a soak has to have done is counted from its own start, and what it lacks is told."""

from collections import Counter
from dataclasses import replace
from itertools import repeat

import pytest

from tests.chaos.judges.amount import Amount, Wanted, by_family, kills_of
from tests.chaos.judges.report import PAGE, Result
from tests.chaos.judges.rereads import Rereads, Span
from tests.chaos.points import OVERLORD_POINTS, POINTS, ROWS
from tests.chaos.processes.still import Still
from tests.chaos.runs.run import Run
from tests.chaos.runs.schedule import BRIEF, KILLS, Fault, Kind, kinds_of, schedule
from tests.chaos.runs.soak import MODES, Soak
from tests.chaos.runs.walk import LONG, Plan, Walk

pytestmark = pytest.mark.chaos
KILL = Fault(0.0, Kind.KILL_LEADER, 0.0, 0.0)


def test_the_walks_kills_are_not_the_soaks(run: Run) -> None:
    """Found by an audit: a soak of 200 kills ended before its first, for the walk had 201."""
    soak = Soak(run)

    amount = soak.run(repeat(KILL), Wanted(kills=200), within_s=60)

    assert (amount.kills, run.faults.kills()) == (200, 401)
    assert amount.kinds == {"kill-leader": 200}
    assert amount.records == 1_000


def test_a_soak_that_lacks_something_ends_and_names_it(run: Run) -> None:
    """Goal: never an endless loop: what did not come until the deadline is a trouble."""
    wanted = Wanted(kinds=("kill-leader", "broker-hole"), kills=1, records=2_000)

    amount = Soak(run).run(repeat(KILL), wanted, within_s=0.05)

    assert wanted.short_of(amount) == ["1000 of 2000 records", "broker-hole never struck"]


def test_it_is_enough_only_with_everything() -> None:
    """Goal: kills, records, time and each kind; none stands for another."""
    wanted = Wanted(kinds=("kill-leader",), kills=2, records=10, minutes=1.0)
    had = Amount(kinds={"kill-leader": 2}, records=10, minutes=1.0)
    assert wanted.short_of(had) == []
    assert wanted.short_of(replace(had, kinds={"kill-leader": 1})) == ["1 of 2 kills"]
    assert wanted.short_of(replace(had, kinds={"kill": 2})) == ["kill-leader never struck"]
    assert wanted.short_of(replace(had, records=9)) == ["9 of 10 records"]
    assert wanted.short_of(replace(had, minutes=0.5)) == ["0.5 of 1.0 minutes"]


def test_an_armed_start_is_no_death_at_its_point(run: Run) -> None:
    """Goal: the kind `failpoint` has struck when a process died at one, not when it was armed."""
    soak = Soak(run)
    amount = soak.run([Fault(0.0, Kind.FAILPOINT, 0.0, 0.5)], Wanted(kinds=("failpoint",)), 60)
    assert amount.kinds == {"kill": 1}

    assert soak.failpoint_for("o1")
    soak.ended("o1", -9)

    assert soak.amount.kinds == {"kill": 1, "failpoint": 1}


class Dying(Still):
    """Its processes have always just ended, so a kill starts them again first, as a run does."""

    def kill(self, name: str, kind: str) -> None:
        """Hear of the end before, and kill the start that follows it."""
        self.arming.ended(name, -9)
        self.arming.failpoint_for(name)
        super().kill(name, kind)


def test_a_kill_of_one_that_had_just_ended_counts_once(run: Run) -> None:
    """Found by a soak: 200 kills were counted, and 198 processes had died."""
    run.__class__ = Dying
    soak = Soak(run)
    run.arming = soak

    arming = Fault(0.0, Kind.FAILPOINT, 0.0, 0.5)
    wanted = Wanted(kinds=("failpoint",))

    assert soak.run([arming, KILL], wanted, 60).kinds == {"kill": 1, "kill-leader": 1}

    soak.run([arming], wanted, 60)
    assert soak.failpoint_for("o1"), "the next start is armed, not the one that was killed"


def test_a_schedule_begins_with_each_kind_once() -> None:
    """Goal: a short soak has them all, whatever their weights."""
    for broker in (True, False):
        kinds = kinds_of(broker=broker)
        first = schedule(3, 300, broker=broker)[: len(kinds)]
        assert {fault.kind for fault in first} == set(kinds)
    assert len(schedule(3, 4, broker=True)) == 4


def test_the_brief_faults_are_everything_that_a_wire_can_do() -> None:
    """Goal: what every test run has; a new mode of the proxy is not forgotten there."""
    brief = {fault.kind for fault in BRIEF}
    assert {MODES[kind] for kind in brief & MODES.keys()} == set(MODES.values())
    assert {Kind.POSTGRES_COMMIT, Kind.FREEZE_LEADER} <= brief


def test_every_kind_has_a_family_and_kills_are_kills() -> None:
    """Goal: readers see wires by what was done to them; nothing is left out of the sum."""
    kinds = dict.fromkeys([*Kind, *ROWS, "kill"], 1)
    families = by_family(kinds)
    assert sum(families.values()) == len(kinds)
    assert families["wire cut"] == 3
    assert families["frozen"] == 4  # two kinds, B9 and D2
    assert families["COMMIT's reply lost"] == 1
    assert kills_of(kinds) == families["killed"] + families["died at a point"]
    assert families["killed"] == len(KILLS - {Kind.FAILPOINT}) + 2  # B8, and for the walk's order


RESULT = Result(
    form="long",
    seed=1,
    date="2026-01-01 12:00",
    commit="0123abc",
    faults={"A1": 5, "broker-cut": 2},
    kills=5,
    records=1_000,
    checks=3,
    lost=0,
    duplicated=0,
    recovery_s=(1.0, 2.0, 3.0),
    unrecovered=0,
    caught_up_s=1.0,
    read_again=0,
    read_again_why=(),
    rows_left=0,
    files_verified=True,
    rows_verified=True,
)


def test_a_crash_point_that_was_hit_too_seldom_is_a_trouble() -> None:
    """Goal: the long form promises five deaths at each; one that has none is named as well."""
    hits = {point.name: 5 for point in POINTS}
    assert not replace(RESULT, hits_wanted=5, points_hit=hits).troubles
    name = POINTS[3].name
    few = {**hits, name: 4}
    assert replace(RESULT, hits_wanted=5, points_hit=few).troubles == [f"{name} hit 4 of 5 times"]
    del few[name]
    assert replace(RESULT, hits_wanted=5, points_hit=few).troubles == [f"{name} hit 0 of 5 times"]
    assert not replace(RESULT, points_hit={}).troubles  # the short form promises none


@pytest.mark.parametrize(("plan", "tries"), [(LONG, 1 + 5), (Plan(), 1)])
def test_a_point_that_was_missed_is_tried_again_where_hits_are_promised(
    run: Run, monkeypatch: pytest.MonkeyPatch, plan: Plan, tries: int
) -> None:
    """Goal: one slow moment is no trouble; a point that never comes does not go on for ever."""
    monkeypatch.setattr("tests.chaos.runs.walk._OVERLORD_WITHIN_S", -1.0)
    walk = Walk(run, replace(plan, rounds=1, in_a_row_max=1), seed=1)
    armed = []
    while failpoint := walk.failpoint_for("o1"):
        armed.append(failpoint)
        walk._give_up_who_is_late()

    assert Counter(armed) == dict.fromkeys({p.failpoint for p in OVERLORD_POINTS}, tries)
    assert set(walk.missed.values()) == {tries}


def test_what_a_soak_lacks_is_a_trouble_of_the_result() -> None:
    """Goal: a run whose soak never struck does not pass."""
    result = replace(RESULT, soak_wanted=Wanted(kinds=("broker-cut",), kills=200))
    assert result.troubles == [
        "the soak had 0 of 200 kills",
        "the soak had broker-cut never struck",
    ]


def test_a_row_has_the_commit_the_families_and_a_cell_for_each_column() -> None:
    """Goal: what is written fits the page's table."""
    row = RESULT.row()
    assert "| 0123abc |" in row
    assert "| 5 died at a point, 2 wire cut |" in row
    [header] = [s for s in PAGE.read_text().splitlines() if s.startswith("| date (UTC) |")]
    assert row.count("|") == header.count("|")


def test_what_was_read_twice_is_what_crashes_add_to_handoffs() -> None:
    """Goal: a share of all that was read, and a trouble beyond one in twenty."""
    calm = Span(kills=0, publications=8, seconds=40.0, read=1_000, given_up=10, failed=0)
    struck = Span(kills=9, publications=9, seconds=90.0, read=1_000, given_up=30, failed=20)
    rereads = Rereads(calm, struck)
    assert rereads.share == pytest.approx(0.04)
    assert not replace(RESULT, rereads=rereads).troubles
    assert "4.00%" in replace(RESULT, rereads=rereads).row()
    worse = Rereads(calm, replace(struck, failed=40))
    assert replace(RESULT, rereads=worse).troubles == [
        "6.00% read twice because of overlords that were killed"
    ]
    assert Rereads(struck, calm).share == 0
