"""Who may compact, what is refused, and what rules begin by themselves."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from supervisor.chores.compaction import compacting
from supervisor.core.planning.observed import Liveness
from supervisor.core.values.errors import (
    CompactionNotFound,
    DataSourceNotFound,
    NotAllowed,
    UnusableFiles,
)
from supervisor.core.values.intervals import Interval
from supervisor.core.values.table_names import errors_table
from supervisor.ports.store import Store
from tasks.contract.messages import PublishOutcome
from tests.supervisor.chores.compactions import TARGET, Dock, dock, outcomes
from tests.supervisor.core.snapshots import HOUR, NOON, TOPIC

__all__ = ["dock"]

COMMITTED, SUPERSEDED = PublishOutcome.COMMITTED, PublishOutcome.SUPERSEDED


# -- who may, and what is refused ------------------------------------------------------------------


def test_only_the_worker_that_was_told_may_publish(dock: Dock) -> None:
    dock.compact()
    [assignment] = dock.assignments()
    file = dock.write_file(assignment)
    stranger = replace(assignment, order=assignment.order.model_copy(update={"token": "another"}))
    with pytest.raises(NotAllowed, match="token"):
        dock.offer(stranger, file)
    with pytest.raises(NotAllowed, match="fenced"):
        dock.offer(assignment, file.model_copy(update={"incarnation": 9}))
    with pytest.raises(NotAllowed, match="names"):
        dock.offer(assignment, file.model_copy(update={"compaction_id": "compact_x"}))
    with pytest.raises(CompactionNotFound):
        dock.swapping.publish("compact_x", assignment.order.token, file)

    assert len(dock.published()) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": 17}, "17 rows"),
        ({"spans": ()}, "its inputs have"),
        ({"interval_end": NOON + 2 * HOUR}, "interval"),
        ({"time_max": NOON + HOUR}, "outside"),
        ({"path": f"{TOPIC}/data/another/segment-00000.parquet"}, "folder"),
        ({"path": f"{TOPIC}/data/x/../segment-00000.parquet"}, "folder"),
    ],
)
def test_a_file_that_is_not_what_its_inputs_are_is_refused(
    dock: Dock, change: dict[str, object], message: str
) -> None:
    dock.compact()
    [order] = dock.assignments()
    compacted = dock.write_file(order)
    wrong = compacted.model_copy(update={"file": compacted.file.model_copy(update=change)})

    with pytest.raises(UnusableFiles, match=message):
        dock.offer(order, wrong)

    [ended] = dock.compactions()
    assert (ended.live, ended.blamed) == (False, True), "its worker is not to offer it for ever"
    assert dock.offer(order, compacted).outcome is SUPERSEDED
    assert len(dock.published()) == 3


def test_unknown_tables_are_refused(dock: Dock) -> None:
    with pytest.raises(DataSourceNotFound):
        dock.compacting.compact("nothing", TARGET, "me")
    with pytest.raises(DataSourceNotFound):
        dock.compacting.set_rule(errors_table("nothing"), TARGET, HOUR, "me")


# -- rules, and who works --------------------------------------------------------------------------


def test_a_rule_compacts_by_itself_and_a_table_without_one_is_left_alone(dock: Dock) -> None:
    assert dock.compacting.run_once() == 0
    dock.compacting.set_rule(TOPIC, TARGET, timedelta(0), "me")

    assert (dock.compacting.run_once(), dock.compacting.run_once()) == (1, 0)
    assert outcomes(dock) == [COMMITTED]
    assert dock.compacting.run_once() == 0

    dock.compacting.drop_rule(TOPIC, "me")
    dock.publish_range()
    assert dock.compacting.run_once() == 0


def test_a_rule_leaves_the_newest_chunks_alone(dock: Dock) -> None:
    dock.compacting.set_rule(TOPIC, TARGET, HOUR, "me")

    assert dock.compacting.run_once() == 0


def test_a_rule_gives_up_what_fails_again_and_again_but_people_may_ask(dock: Dock) -> None:
    dock.compacting.set_rule(TOPIC, TARGET, timedelta(0), "me")
    for _ in range(3):
        assert dock.compacting.run_once() == 1
        [assignment] = dock.assignments()
        dock.fail(assignment, dock.compactions()[-1].worker_id)

    assert dock.compacting.run_once() == 0
    assert len(dock.compact()) == 1


def test_an_interval_narrows_it(dock: Dock) -> None:
    compact = dock.compacting.compact
    assert compact(TOPIC, TARGET, "me", Interval(NOON + HOUR, NOON + 2 * HOUR)) == []
    assert len(compact(TOPIC, TARGET, "me", Interval(NOON, NOON + HOUR))) == 1


def test_each_worker_does_one_at_a_time_and_the_rest_waits(store: Store, tmp_path: Path) -> None:
    dock = Dock(store, tmp_path / "warehouse")
    for _ in range(8):
        dock.publish_range()
    before = dock.all_rows()

    dock.compact(replace(TARGET, rows=13))  # six rows a file: two files each

    assert len(dock.compactions()) == 4
    assert len(dock.assignments()) == 2
    assert outcomes(dock) == [COMMITTED] * 2
    assert len(dock.assignments()) == 2, "whoever has ended one is given the next at once"
    assert outcomes(dock) == [COMMITTED] * 2
    assert (len(dock.published()), dock.all_rows()) == (4, before)


def test_who_stops_or_is_silent_gets_nothing(dock: Dock) -> None:
    for hand in dock.hands.all.values():
        hand.liveness = Liveness.UNKNOWN
    dock.compact()

    assert dock.assignments() == []
    dock.hands.all["w2"].liveness = Liveness.ALIVE
    dock.compacting.run_once()
    assert len(dock.assignments()) == 1


def test_what_waits_is_ended_when_an_input_is_gone(dock: Dock) -> None:
    for hand in dock.hands.all.values():
        hand.liveness = Liveness.UNKNOWN
    dock.compact()
    dock.mark(next(iter(dock.published())), used=False)
    dock.hands.all["w1"].liveness = Liveness.ALIVE
    dock.compacting.run_once()

    [ended] = dock.compactions()
    assert (ended.live, dock.assignments()) == (False, [])


def test_nothing_is_begun_twice_and_what_came_since_does_not_wait_for_it(dock: Dock) -> None:
    assert (len(dock.compact()), len(dock.compact())) == (1, 0)

    for _ in range(2):
        dock.publish_range()

    [begun] = dock.compact()
    assert len(begun.inputs) == 2


def test_one_that_is_cancelled_changes_nothing_any_more(dock: Dock) -> None:
    [row] = dock.compact()
    [assignment] = dock.assignments()
    file = dock.write_file(assignment)

    assert dock.compacting.cancel(row.id, "me").detail == "given up by me"

    assert dock.assignments() == []
    assert dock.offer(assignment, file).outcome is SUPERSEDED
    assert len(dock.published()) == 3
    assert dock.compacting.cancel(row.id, "you").detail == "given up by me"


def test_everything_is_audited(dock: Dock) -> None:
    dock.compacting.set_rule(TOPIC, TARGET, HOUR, "me")
    dock.compact()
    dock.work()
    dock.compacting.drop_rule(TOPIC, "me")

    with dock.store.reading() as tx:
        done = Counter(entry.action for entry in tx.audit.recent(100))
    assert (done["set-compaction"], done["compact"], done["drop-compaction"]) == (1, 1, 1)


def test_no_more_are_live_than_may_be_however_often_the_rule_is_followed(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: a table of very many small files does not fill the database with what waits."""
    monkeypatch.setattr(compacting, "AT_ONCE", 3)
    monkeypatch.setattr(compacting, "BEGUN_AT_ONCE", 2)
    dock = Dock(store, tmp_path / "warehouse")
    for _ in range(12):
        dock.publish_range()
    before = dock.all_rows()
    dock.compacting.set_rule(TOPIC, replace(TARGET, rows=13), timedelta(0), "me")  # two files each

    assert [dock.compacting.run_once() for _ in range(3)] == [3, 0, 0]
    assert dock.compact(replace(TARGET, rows=13)) == []
    assert len(dock.compacting.live()) == 3

    assert outcomes(dock) == [COMMITTED] * 2
    assert dock.compacting.run_once() == 2, "as many as have ended"
    assert len(dock.compacting.live()) == 3
    while dock.compacting.live():
        outcomes(dock)
        dock.compacting.run_once()
    assert (len(dock.published()), dock.all_rows()) == (6, before)
