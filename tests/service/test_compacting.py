"""Small files become one, and no reader ever sees a gap or a row twice."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from supervisor.adapters.memory import MemoryStore
from supervisor.compacting import NotCompactable
from supervisor.core.compaction import LASTS_AT_MOST
from supervisor.core.data_source import errors_table
from supervisor.core.errors import NotAllowed
from supervisor.core.intervals import Interval
from supervisor.core.model import TaskStatus
from supervisor.core.observed import Liveness
from supervisor.ports import Store
from supervisor.publishing import UnusableFiles
from supervisor.swapping import CompactionNotFound
from supervisor.views_files import DataSourceNotFound
from tasks.contract import PublishOutcome
from tests.core.snapshots import HOUR, NOON, TOPIC
from tests.service.compactions import TARGET, Dock
from tests.service.exports import DELTA, GRACE, ICEBERG
from tests.service.exports_read import names_in, rows_in
from tests.service.world import Crash

COMMITTED, SUPERSEDED = PublishOutcome.COMMITTED, PublishOutcome.SUPERSEDED


@pytest.fixture
def dock(store: Store, tmp_path: Path) -> Dock:
    """A table of three published files."""
    dock = Dock(store, tmp_path / "warehouse")
    for _ in range(3):
        dock.publish_range()
    return dock


def outcomes(dock: Dock) -> list[PublishOutcome]:
    return [answer.outcome for answer in dock.work()]


# -- the swap --------------------------------------------------------------------------------------


def test_three_files_become_one_with_every_row_once(dock: Dock) -> None:
    before = dock.all_rows()
    [row] = dock.compact()

    assert outcomes(dock) == [COMMITTED]

    [path] = dock.published()
    assert path == f"{TOPIC}/data/{row.id}/segment-00000.parquet"
    assert dock.all_rows() == before
    [ended] = dock.compactions()
    assert (ended.status, ended.detail) == (TaskStatus.SUCCESS, "3 files became one of 18 rows")
    assert dock.told() == []


def test_readers_see_the_old_files_until_the_very_moment_of_the_swap(dock: Dock) -> None:
    before = dock.published()
    dock.compact()
    [told] = dock.told()
    file = dock.write_file(told)
    assert dock.published() == before

    dock.offer(told, file)

    assert len(dock.published()) == 1


def test_a_repeated_request_hears_the_same_and_changes_nothing(dock: Dock) -> None:
    dock.compact()
    [told] = dock.told()
    file = dock.write_file(told)
    answers = [dock.offer(told, file) for _ in range(3)]

    assert [answer.outcome for answer in answers] == [COMMITTED] * 3
    assert len(dock.published()) == 1
    assert len(dock.compactions()) == 1


def test_files_that_are_published_meanwhile_stay_beside_it(dock: Dock) -> None:
    dock.compact()
    [told] = dock.told()
    file = dock.write_file(told)
    newer = dock.publish_range()
    before = dock.all_rows()

    dock.offer(told, file)

    assert newer in dock.published()
    assert (len(dock.published()), dock.all_rows()) == (2, before)


def test_what_was_compacted_is_compacted_again(dock: Dock) -> None:
    dock.compact()
    dock.work()
    dock.publish_range()
    before = dock.all_rows()
    [again] = dock.compact()

    assert outcomes(dock) == [COMMITTED]

    assert (len(dock.published()), dock.all_rows()) == (1, before)
    assert len(again.shares) == 4


def test_an_input_that_was_taken_out_ends_it_and_nothing_changes(dock: Dock) -> None:
    dock.compact()
    [told] = dock.told()
    file = dock.write_file(told)
    gone = next(iter(dock.published()))
    dock.mark(gone, used=False)
    before = dock.published()

    assert dock.told() == [], "a worker is told to stop"
    assert dock.offer(told, file).outcome is SUPERSEDED

    assert dock.published() == before
    [ended] = dock.compactions()
    assert (ended.status, ended.blamed) == (TaskStatus.FAILED, False)
    dock.mark(gone, used=True)
    assert len(dock.all_rows()) == 18


def test_an_input_never_comes_back_beside_the_file_that_holds_it(dock: Dock) -> None:
    """Goal: no row twice, whatever people do."""
    inputs = list(dock.published())
    dock.compact()
    dock.work()
    before = dock.all_rows()

    dock.mark(*inputs, used=True)

    assert dock.all_rows() == before
    assert max(before.values()) == 1


def test_the_file_itself_can_be_taken_out_and_put_back(dock: Dock) -> None:
    dock.compact()
    dock.work()
    [path] = dock.published()
    before = dock.all_rows()

    dock.mark(path, used=False)
    assert dock.published() == {}
    dock.mark(path, used=True)

    assert dock.all_rows() == before


def test_inputs_are_deleted_after_their_grace_time_and_the_file_stays(dock: Dock) -> None:
    inputs = list(dock.published())
    dock.compact()
    dock.work()

    for _ in range(2):
        dock.end_lives(GRACE)

    assert [(dock.root / path).exists() for path in inputs] == [False] * 3
    assert sum(dock.all_rows().values()) == 18


@pytest.mark.parametrize("table_format", [DELTA, ICEBERG])
def test_exports_follow_and_each_version_has_every_row_once(
    tmp_path: Path, table_format: str
) -> None:
    """Goal: readers of Delta and Iceberg see the swap as one commit."""
    chosen = DELTA if table_format == DELTA else ICEBERG
    dock = Dock(MemoryStore(), tmp_path / "warehouse", chosen)
    for _ in range(3):
        dock.publish_range()
    dock.export(chosen)
    before = rows_in(dock, chosen)
    dock.compact()
    dock.work()
    assert rows_in(dock, chosen) == before, "the export has not followed yet"

    dock.export(chosen)

    assert rows_in(dock, chosen) == before
    assert names_in(dock, chosen) == set(dock.published())
    for _ in range(2):
        dock.end_lives(GRACE)
    assert rows_in(dock, chosen) == before


# -- crashes and changes of leader -----------------------------------------------------------------


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_crash_around_the_swap_is_healed_by_asking_again(dock: Dock, moment: str) -> None:
    before = dock.all_rows()
    dock.compact()
    [told] = dock.told()
    file = dock.write_file(told)
    at = dock.store.before if moment == "before" else dock.store.after
    at.add(dock.store.calls)
    with pytest.raises(Crash):
        dock.offer(told, file)
    dock.take_over()

    assert dock.offer(told, file).outcome is COMMITTED

    assert (len(dock.published()), dock.all_rows()) == (1, before)


def test_the_next_leader_goes_on_with_what_waits_and_runs(dock: Dock) -> None:
    dock.compact()
    [told] = dock.told()
    dock.take_over()

    assert dock.told() == [told]
    assert outcomes(dock) == [COMMITTED]


def test_a_worker_that_starts_anew_loses_it_and_another_attempt_begins(dock: Dock) -> None:
    before = dock.all_rows()
    [first] = dock.compact()
    [told] = dock.told()
    file = dock.write_file(told)
    owner = next(n for n, hand in dock.hands.all.items() if _has(dock, n))
    dock.hands.all[owner].incarnation += 1
    dock.compacting.run_once()
    assert dock.offer(told, file).outcome is SUPERSEDED, "it writes on, for nothing"

    [second] = dock.compact()
    assert second.id != first.id, "no two attempts share a folder"
    assert outcomes(dock) == [COMMITTED]

    assert (len(dock.published()), dock.all_rows()) == (1, before)
    assert [each.status for each in dock.compactions()] == [TaskStatus.FAILED, TaskStatus.SUCCESS]


def _has(dock: Dock, worker_id: str) -> bool:
    with dock.store.reading() as tx:
        return bool(tx.compactions.live(worker_id=worker_id))


def test_a_lost_worker_loses_it_a_silent_one_does_not(dock: Dock) -> None:
    dock.compact()
    for liveness, live in ((Liveness.UNKNOWN, True), (Liveness.LOST, False)):
        for hand in dock.hands.all.values():
            hand.liveness = liveness
        dock.compacting.run_once()

        assert [each.live for each in dock.compactions()] == [live]


def test_one_that_runs_far_too_long_is_given_up(dock: Dock) -> None:
    dock.compact()
    dock.clock.advance(LASTS_AT_MOST + HOUR)
    dock.compacting.run_once()

    [ended] = dock.compactions()
    assert (ended.status, ended.blamed) == (TaskStatus.FAILED, True)
    assert ended.detail == "it ran for more than 6 hours"


def test_a_worker_that_cannot_is_believed_only_about_its_own(dock: Dock) -> None:
    dock.compact()
    [told] = dock.told()
    dock.fail(told, "somebody")
    dock.fail(replace(told, incarnation=7), "w1")
    assert [each.live for each in dock.compactions()] == [True]

    dock.fail(told, dock.compactions()[0].worker_id)

    [ended] = dock.compactions()
    assert (ended.live, ended.blamed, ended.detail) == (False, True, "READ_FAILED: no")


# -- who may, and what is refused ------------------------------------------------------------------


def test_only_the_worker_that_was_told_may_publish(dock: Dock) -> None:
    dock.compact()
    [told] = dock.told()
    file = dock.write_file(told)
    stranger = replace(told, order=told.order.model_copy(update={"token": "another"}))
    with pytest.raises(NotAllowed, match="token"):
        dock.offer(stranger, file)
    with pytest.raises(NotAllowed, match="fenced"):
        dock.offer(told, file.model_copy(update={"incarnation": 9}))
    with pytest.raises(NotAllowed, match="names"):
        dock.offer(told, file.model_copy(update={"compaction_id": "compact_x"}))
    with pytest.raises(CompactionNotFound):
        dock.swapping.publish("compact_x", told.order.token, file)

    assert len(dock.published()) == 3


@pytest.mark.parametrize(
    ("change", "told"),
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
    dock: Dock, change: dict[str, object], told: str
) -> None:
    dock.compact()
    [order] = dock.told()
    asked = dock.write_file(order)
    wrong = asked.model_copy(update={"file": asked.file.model_copy(update=change)})

    with pytest.raises(UnusableFiles, match=told):
        dock.offer(order, wrong)

    assert len(dock.published()) == 3
    assert dock.offer(order, asked).outcome is COMMITTED


def test_unknown_tables_and_tables_of_errors_are_refused(dock: Dock) -> None:
    with pytest.raises(DataSourceNotFound):
        dock.compacting.compact("nothing", TARGET, "me")
    with pytest.raises(NotCompactable):
        dock.compacting.compact(errors_table(TOPIC), TARGET, "me")
    with pytest.raises(NotCompactable):
        dock.compacting.set_rule(errors_table(TOPIC), TARGET, HOUR, "me")


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
        [told] = dock.told()
        dock.fail(told, dock.compactions()[-1].worker_id)

    assert dock.compacting.run_once() == 0
    assert len(dock.compact()) == 1


def test_an_interval_narrows_it(dock: Dock) -> None:
    asked = dock.compacting.compact
    assert asked(TOPIC, TARGET, "me", Interval(NOON + HOUR, NOON + 2 * HOUR)) == []
    assert len(asked(TOPIC, TARGET, "me", Interval(NOON, NOON + HOUR))) == 1


def test_each_worker_does_one_at_a_time_and_the_rest_waits(store: Store, tmp_path: Path) -> None:
    dock = Dock(store, tmp_path / "warehouse")
    for _ in range(8):
        dock.publish_range()
    before = dock.all_rows()

    dock.compact(replace(TARGET, rows=13))  # six rows a file: two files each

    assert len(dock.compactions()) == 4
    assert len(dock.told()) == 2
    assert outcomes(dock) == [COMMITTED] * 2
    dock.compacting.run_once()
    assert outcomes(dock) == [COMMITTED] * 2
    assert (len(dock.published()), dock.all_rows()) == (4, before)


def test_who_stops_or_is_silent_gets_nothing(dock: Dock) -> None:
    for hand in dock.hands.all.values():
        hand.liveness = Liveness.UNKNOWN
    dock.compact()

    assert dock.told() == []
    dock.hands.all["w2"].liveness = Liveness.ALIVE
    dock.compacting.run_once()
    assert len(dock.told()) == 1


def test_what_waits_is_ended_when_an_input_is_gone(dock: Dock) -> None:
    for hand in dock.hands.all.values():
        hand.liveness = Liveness.UNKNOWN
    dock.compact()
    dock.mark(next(iter(dock.published())), used=False)
    dock.hands.all["w1"].liveness = Liveness.ALIVE
    dock.compacting.run_once()

    [ended] = dock.compactions()
    assert (ended.live, dock.told()) == (False, [])


def test_nothing_is_begun_twice(dock: Dock) -> None:
    assert (len(dock.compact()), len(dock.compact())) == (1, 0)


def test_one_that_is_cancelled_changes_nothing_any_more(dock: Dock) -> None:
    [row] = dock.compact()
    [told] = dock.told()
    file = dock.write_file(told)

    assert dock.compacting.cancel(row.id, "me").detail == "given up by me"

    assert dock.told() == []
    assert dock.offer(told, file).outcome is SUPERSEDED
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
