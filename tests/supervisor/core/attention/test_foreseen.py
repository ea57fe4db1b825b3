"""What verbs would do, worked out from ranges, tasks and files; the digest binds just that."""

from dataclasses import replace
from datetime import timedelta

import pytest

from supervisor.core.attention.foreseen.effect import HeldRange, digest_of
from supervisor.core.attention.foreseen.ranges import (
    LiveRanges,
    handoff_foreseen,
    stop_foreseen,
    suspend_foreseen,
    terminate_foreseen,
)
from supervisor.core.attention.foreseen.tables import (
    FileSize,
    compact_foreseen,
    forget_foreseen,
    unused_foreseen,
    used_foreseen,
    worker_foreseen,
)
from supervisor.core.model.listed_segments import SegmentKey
from supervisor.core.model.rows import Generation, GenerationState
from supervisor.core.planning.impact import SpecImpact
from tasks.contract.offsets import Offsets
from tests.supervisor.core.snapshots import NOON, generation, offsets, task

ONE = generation(1, start=offsets(0, 0))
TWO = generation(2, start=offsets(40, 40))
FIXED = replace(
    generation(3, start=offsets(80, 80)), state=GenerationState.PUBLISHING, end=offsets(90, 90)
)
DAY = timedelta(days=1)


def held(of: Generation, position: Offsets | None, name: str = "") -> HeldRange:
    one = replace(task(of), id=name or f"{of.id}-task")
    return HeldRange(one, of, position)


def live(*tasks: HeldRange, tried: frozenset[str] = frozenset()) -> LiveRanges:
    return LiveRanges(tasks, tried, {})


def key(name: str, rows: int = 10, **changed: object) -> SegmentKey:
    plain = SegmentKey(name, "clicks", "clicks", None, None, None, rows, 2 * rows)
    return replace(plain, **changed)  # type: ignore[arg-type]  # a field of it


def test_a_suspend_publishes_what_was_read_and_ends_the_rest() -> None:
    tasks = live(held(ONE, offsets(7, 3)), held(TWO, offsets(40, 40)), held(FIXED, None))

    seen = suspend_foreseen("clicks", SpecImpact(ending=(ONE, TWO), fixed=(FIXED,)), tasks)

    assert [each.id for each in seen.publishes or ()] == [FIXED.id, ONE.id]
    assert [each.unpublished for each in seen.ends or ()] == [10, 0, None]
    assert (seen.stays, seen.gives_up) == ((), ())
    assert seen.text.startswith("2 ranges hand off")
    assert "resume clicks" in seen.undo


def test_a_range_whose_tasks_have_not_reported_may_have_something_to_publish() -> None:
    seen = suspend_foreseen("clicks", SpecImpact(ending=(ONE,)), live(held(ONE, None)))

    assert seen.publishes == (ONE,)
    assert "offsets read so far" not in seen.text, "nobody knows how many"


def test_replicas_hold_the_same_records_once() -> None:
    tasks = live(held(ONE, offsets(7, 0), "a"), held(ONE, offsets(4, 0), "b"))

    seen = suspend_foreseen("clicks", SpecImpact(ending=(ONE,)), tasks)

    assert "(7 offsets read so far)" in seen.text


def test_ranges_that_no_task_reads_have_no_number() -> None:
    seen = suspend_foreseen("clicks", SpecImpact(ending=(ONE,)), live())
    both = suspend_foreseen("clicks", SpecImpact(ending=(ONE, TWO)), live())

    assert "(no task reads it now)" in seen.text
    assert "(no task reads them now)" in both.text
    assert "0 offsets" not in seen.text + both.text


@pytest.mark.parametrize(
    ("of", "tried", "lost"),
    [(FIXED, False, True), (ONE, True, True), (ONE, False, False)],
    ids=["its end is fixed", "a task of it has ended", "it was never read"],
)
def test_a_terminate_gives_up_what_nobody_reads_any_more(
    of: Generation, tried: bool, lost: bool
) -> None:
    """Source: P19."""
    ranges = live(tried=frozenset({of.id} if tried else ()))

    seen = terminate_foreseen("clicks", SpecImpact(ending=(of,)), ranges)

    assert [each.generation.id for each in seen.gives_up or ()] == ([of.id] if lost else [])
    assert bool(seen.warnings) is lost


def test_who_is_on_a_silent_worker_is_warned_of() -> None:
    one = held(ONE, offsets(7, 0))
    ranges = LiveRanges((one,), frozenset(), {one.task.worker_id: "LOST"})

    [warning] = suspend_foreseen("clicks", SpecImpact(ending=(ONE,)), ranges).warnings

    assert one.task.id in warning
    assert "LOST" in warning


def test_a_handoff_leaves_alone_what_has_read_nothing() -> None:
    tasks = live(held(ONE, offsets(7, 3)), held(TWO, offsets(40, 40)))

    seen = handoff_foreseen("clicks", (ONE, TWO), (ONE, TWO, FIXED), tasks)

    assert (seen.publishes, seen.stays) == ((ONE,), (TWO, FIXED))
    assert seen.text == (
        "1 range hands off and publishes what it has read (10 offsets read so far), and reading "
        "goes on behind; 1 range that has read nothing reads on."
    )


def test_a_handoff_of_groups_that_have_read_nothing_says_that_they_read_on() -> None:
    seen = handoff_foreseen("clicks", (TWO,), (TWO,), live(held(TWO, offsets(40, 40))))

    assert (seen.publishes, seen.stays) == ((), (TWO,))
    assert seen.text == "1 range that has read nothing reads on."


def test_a_handoff_without_a_range_says_that_no_group_reads() -> None:
    assert handoff_foreseen("clicks", (), (), live()).text == "No task group reads now."


def test_what_a_stopped_task_has_read_is_read_again_and_its_sibling_runs_on() -> None:
    mine, other = held(ONE, offsets(7, 3), "a"), held(ONE, offsets(6, 3), "b")

    seen = stop_foreseen("stop-task", "a", (mine,), (mine, other))

    [again] = seen.gives_up or ()
    assert (again.generation.id, again.read_to) == (ONE.id, offsets(7, 3))
    assert (seen.tasks, seen.stays) == (("b",), (ONE,))


def test_how_far_tasks_have_read_is_not_bound_and_which_ranges_end_is() -> None:
    """Goal: a preview of a busy supervisor is good until something else would happen."""
    impact = SpecImpact(ending=(ONE,))
    first = suspend_foreseen("clicks", impact, live(held(ONE, offsets(7, 3))))

    later = suspend_foreseen("clicks", impact, live(held(ONE, offsets(9, 9), "another")))
    assert later.digest == first.digest
    more = suspend_foreseen("clicks", SpecImpact(ending=(ONE, TWO)), live())
    other_verb = terminate_foreseen("clicks", impact, live(held(ONE, offsets(7, 3))))
    other_subject = suspend_foreseen("views", impact, live())
    kept = suspend_foreseen("clicks", SpecImpact(staying=(ONE,)), live())
    assert len({each.digest for each in (first, more, other_verb, other_subject, kept)}) == 5


def test_a_digest_is_of_lists_and_not_of_their_order_or_their_sum() -> None:
    assert digest_of("v", "s", ["a", "b"], []) == digest_of("v", "s", ["b", "a"], [])
    assert digest_of("v", "s", ["a"], ["b"]) != digest_of("v", "s", ["a", "b"], [])
    assert digest_of("v", "s", ["a,b"]) != digest_of("v", "s", ["a", "b"])


def test_files_that_leave_are_counted_and_can_come_back_for_the_grace_time() -> None:
    seen = unused_foreseen("clicks", [key("a"), key("b", 5)], 30 * DAY)

    assert seen.files is not None
    assert (seen.files.number, seen.files.rows, seen.files.size_bytes) == (2, 15, 30)
    assert "30 days" in seen.text
    assert "within 30 days" in seen.undo
    assert seen.ends is None, "it is not about tasks"


def test_what_was_compacted_stays_out_when_the_rest_comes_back() -> None:
    out, joined = key("a", unused_at=NOON), key("b", unused_at=NOON, replaced_by="c1")

    seen = used_foreseen("clicks", [out, joined])

    assert seen.files is not None
    assert seen.files.number == 1
    assert seen.warnings == ("1 of the files were compacted: they stay out",)
    assert seen.digest == used_foreseen("clicks", [out]).digest


def test_a_compaction_binds_which_files_become_one() -> None:
    a, b, c, d = (FileSize(name, 5, 50) for name in "abcd")

    seen = compact_foreseen("clicks", [(a, b), (c, d)])

    assert "4 files of clicks become 2" in seen.text
    assert seen.digest == compact_foreseen("clicks", [(d, c), (b, a)]).digest
    assert seen.digest != compact_foreseen("clicks", [(a, c), (b, d)]).digest


def test_forgetting_warns_of_rows_that_would_come_in_twice() -> None:
    assert forget_foreseen("clicks", 3, ["clicks:0 7"], []).warnings == ()
    with_reports = forget_foreseen("clicks", 3, ["clicks:0 7"], [], with_reports=True)
    assert "and its stored reports and logs; its table stays" in with_reports.text
    assert with_reports.digest != forget_foreseen("clicks", 3, ["clicks:0 7"], []).digest
    [warning] = forget_foreseen("clicks", 3, ["clicks:0 7"], [key("a", 1_200)]).warnings
    assert "1,200 rows" in warning


@pytest.mark.parametrize(
    ("free", "disables", "warned"), [(1, True, True), (2, True, False), (0, False, False)]
)
def test_a_worker_out_is_warned_of_if_the_others_are_full(
    free: int, disables: bool, warned: bool
) -> None:
    seen = worker_foreseen("w-1", ["a", "b"], free, disables=disables, changes=True)

    assert (seen.tasks, bool(seen.warnings)) == (("a", "b"), warned)
