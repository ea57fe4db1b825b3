"""Compactions, from the wish to a settled folder, and the rules that ask for them."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from supervisor.core.model.rows import TaskStatus
from supervisor.core.tables.compaction import Compaction, CompactionRule, Share
from supervisor.core.values.intervals import Interval
from tasks.contract.messages import OffsetSpan
from tests.conformance.stories import CLICKS, COLUMNS, HOUR, MINUTE, NOON, Leader

RULE = CompactionRule(
    "table",
    skip_offset_from_latest=timedelta(hours=2),
    target_rows=5_000_000,
    target_bytes=2**40,
    files_min=4,
    author="ann",
    set_at=NOON,
)
SPAN = OffsetSpan(topic="topic", partition=3, first=2**40, last=2**40 + 9, rows=7)


class _RollbackError(Exception):
    """Ends a block that is not to be kept."""


def compaction(compaction_id: str, at: datetime = NOON) -> Compaction:
    """One that waits for a worker."""
    return Compaction(
        compaction_id,
        "table",
        CLICKS,
        Interval(NOON, NOON + HOUR),
        inputs=("t1/0", "t2/0"),
        columns=COLUMNS,
        shares=(Share("g1", 2**40, (SPAN, SPAN)), Share("g2", 3, ())),
        reason="4 small files of an hour",
        created_at=at,
    )


def add(leader: Leader, *rows: Compaction) -> None:
    with leader.writes() as tx:
        assert [tx.compactions.add(row) for row in rows] == [True] * len(rows)


def read(leader: Leader, compaction_id: str) -> Compaction:
    with leader.reads() as tx:
        found = tx.compactions.get(compaction_id)
    assert found is not None
    return found


def end(
    leader: Leader,
    compaction_id: str,
    status: TaskStatus,
    at: datetime = NOON,
    *,
    blamed: bool = False,
) -> bool:
    with leader.writes() as tx:
        return tx.compactions.end(compaction_id, status, "a story", at, blamed=blamed)


def test_a_compaction_is_read_back_whole(leader: Leader) -> None:
    whole = replace(
        compaction("c1"),
        status=TaskStatus.FAILED,
        worker_id="w1",
        incarnation=2**40,
        token="secret",
        assigned_at=NOON + MINUTE,
        ended_at=NOON + HOUR,
        detail="\N{SNOWMAN}",
        blamed=True,
        folder_deleted_at=NOON + 2 * HOUR,
    )
    add(leader, whole, compaction("c2"))

    assert read(leader, "c1") == whole
    assert read(leader, "c2") == compaction("c2")
    with leader.reads() as tx:
        assert tx.compactions.get("never") is None


def test_an_attempt_is_added_once(leader: Leader) -> None:
    """Goal: a pass that crashed runs again, and its second insert changes nothing."""
    add(leader, compaction("c1"))
    with leader.writes() as tx:
        assert not tx.compactions.add(replace(compaction("c1"), reason="another"))
        assert tx.compactions.add(compaction("c2"))

    assert read(leader, "c1") == compaction("c1")


def test_many_are_read_at_once(leader: Leader) -> None:
    add(leader, compaction("c1"), compaction("c2"))
    many = [f"never {number}" for number in range(70_000)]

    with leader.reads() as tx:
        found = tx.compactions.rows_of([*many, "c2", "c1", "c2"])

    assert found == {"c1": compaction("c1"), "c2": compaction("c2")}


def test_one_that_waits_is_given_to_one_worker(leader: Leader) -> None:
    add(leader, compaction("c2"), compaction("c1"))
    given = replace(
        compaction("c1"), worker_id="w1", incarnation=7, token="secret", assigned_at=NOON + MINUTE
    )
    with leader.writes() as tx:
        assert tx.compactions.assign("c1", "w1", 7, "secret", NOON + MINUTE)
        assert not tx.compactions.assign("c1", "w2", 1, "other", NOON + HOUR)
        assert not tx.compactions.assign("never", "w2", 1, "other", NOON)

    with leader.reads() as tx:
        assert tx.compactions.live() == [compaction("c2"), given]
        assert tx.compactions.live(worker_id="w1") == [given]
        assert tx.compactions.live(worker_id="w2") == []


def test_one_that_has_ended_is_neither_given_away_nor_ended_again(leader: Leader) -> None:
    add(leader, compaction("c1"))
    assert end(leader, "c1", TaskStatus.FAILED, NOON + MINUTE, blamed=True)

    assert not end(leader, "c1", TaskStatus.SUCCESS, NOON + HOUR)
    assert not end(leader, "never", TaskStatus.SUCCESS)
    with leader.writes() as tx:
        assert not tx.compactions.assign("c1", "w1", 1, "secret", NOON)
        assert tx.compactions.live() == []

    assert read(leader, "c1") == replace(
        compaction("c1"),
        status=TaskStatus.FAILED,
        detail="a story",
        ended_at=NOON + MINUTE,
        blamed=True,
    )


def test_a_folder_is_unsettled_until_it_was_found_empty_after_the_end(leader: Leader) -> None:
    """Goal: whoever looks after the warehouse hears of every folder that may hold something."""
    add(leader, compaction("c2"), compaction("c1"), compaction("c3"))
    end(leader, "c1", TaskStatus.FAILED)
    end(leader, "c2", TaskStatus.SUCCESS)
    with leader.writes() as tx:
        tx.compactions.folder_deleted("c2", NOON + HOUR)
        tx.compactions.folder_deleted("c3", NOON + HOUR)  # it is live: no word of its end
        tx.compactions.folder_deleted("never", NOON)

    with leader.reads() as tx:
        assert [row.id for row in tx.compactions.unsettled()] == ["c1", "c3"]
    assert read(leader, "c2").folder_deleted_at == NOON + HOUR
    assert read(leader, "c3") == compaction("c3")


def test_the_newest_come_first_and_bounded(leader: Leader) -> None:
    other = replace(compaction("o"), data_source="other")
    add(leader, compaction("c2"), other, compaction("c1"))
    end(leader, "c2", TaskStatus.FAILED)

    with leader.reads() as tx:
        recent = tx.compactions.recent
        assert [row.id for row in recent(None, 9)] == ["c1", "o", "c2"]
        assert [row.id for row in recent(None, 2)] == ["c1", "o"]
        assert [row.id for row in recent("table", 9)] == ["c1", "c2"]
        assert [row.id for row in recent("table", 1)] == ["c1"]
        assert (recent("never", 9), recent(None, 0)) == ([], [])


def test_pages_of_the_newest_lead_to_the_first_while_others_are_added(leader: Leader) -> None:
    other = replace(compaction("o"), data_source="other")
    add(leader, compaction("c1"), other, compaction("c2"), compaction("c3"))
    with leader.reads() as tx:
        first = tx.compactions.page(2)
    add(leader, compaction("c4"))

    with leader.reads() as tx:
        page = tx.compactions.page
        assert [row.id for _, row in first] == ["c3", "c2"]
        assert [row.id for _, row in page(9, before=first[-1][0])] == ["o", "c1"]
        mine = page(9, before=first[-1][0], data_source="table")
        assert [row.id for _, row in mine] == ["c1"]
        assert page(9, before=mine[-1][0]) == []


def test_it_is_kept_which_failed_by_themselves(leader: Leader) -> None:
    """Goal: what cannot be compacted is not tried again and again."""
    add(leader, *(compaction(f"c{n}") for n in range(4)))
    for name, blamed in (("c2", True), ("c0", True), ("c1", False)):
        end(leader, name, TaskStatus.FAILED, blamed=blamed)

    with leader.reads() as tx:
        blamed_by_id = {row.id: row.blamed for row in tx.compactions.recent(None, 9)}
    assert blamed_by_id == {"c0": True, "c1": False, "c2": True, "c3": False}


def test_the_last_rule_of_a_table_counts_until_it_is_dropped(leader: Leader) -> None:
    changed = replace(
        RULE, skip_offset_from_latest=timedelta(0), files_min=2, author="bob", set_at=NOON + HOUR
    )
    with leader.writes() as tx:
        tx.compactions.put_rule(RULE)
        assert tx.compactions.rule("table") == RULE
    with leader.writes() as tx:
        tx.compactions.put_rule(changed)
    with leader.reads() as tx:
        assert tx.compactions.rule("table") == changed
        assert tx.compactions.rules() == [changed]
    with leader.writes() as tx:
        dropped = [tx.compactions.drop_rule("table") for _ in range(2)]
        assert (dropped, tx.compactions.rule("table")) == ([True, False], None)


def test_rules_are_listed_by_table_and_kept_to_the_second(leader: Leader) -> None:
    skip = timedelta(seconds=1.5)
    with leader.writes() as tx:
        for name in ("b", "B", "a"):
            rule = replace(RULE, data_source=name, skip_offset_from_latest=skip)
            tx.compactions.put_rule(rule)

    with leader.reads() as tx:
        rules = tx.compactions.rules()
    assert [rule.data_source for rule in rules] == ["B", "a", "b"]
    assert {rule.skip_offset_from_latest for rule in rules} == {timedelta(seconds=1)}


def test_what_is_rolled_back_was_never_there(leader: Leader) -> None:
    def rolled_back() -> None:
        with leader.writes() as tx:
            tx.compactions.add(compaction("c1"))
            tx.compactions.put_rule(RULE)
            raise _RollbackError

    with pytest.raises(_RollbackError):
        rolled_back()

    with leader.reads() as tx:
        assert (tx.compactions.live(), tx.compactions.rules()) == ([], [])


def test_those_that_run_and_those_that_wait_are_told_apart(leader: Leader) -> None:
    """Goal: a look at what runs costs what the workers do, however many wait."""
    add(leader, *(compaction(name) for name in ("c1", "c2", "c3", "c4")))
    with leader.writes() as tx:
        assert tx.compactions.assign("c2", "w1", 1, "token", NOON)
    end(leader, "c3", TaskStatus.FAILED)

    with leader.reads() as tx:
        assert [row.id for row in tx.compactions.live(assigned=True)] == ["c2"]
        assert tx.compactions.waiting() == ["c1", "c4"]
        assert [row.id for row in tx.compactions.live()] == ["c1", "c2", "c4"]
        assert len(tx.compactions.live_attempts("table")) == 3
