"""Faults of the workers: the task's machine, its journal, what it reads."""

from dataclasses import replace
from typing import Any

from tasks.contract import offsets
from tasks.contract.messages import Counters, DesiredTask, FailureCode, Order
from tasks.contract.offsets import Offsets
from tasks.machine import machine, orders, reading
from tasks.machine.pacing import Limits
from tasks.machine.state import JournalContents, ReadWork, TaskState
from tasks.ports import JournalEntry
from tests.simulation.planted.patches import Function, Mutant, Patches


def set_end_without_resume(patches: Patches) -> None:
    def make(take_end: Function) -> object:
        def stays(state: TaskState, end: Offsets, now: float) -> object:
            after, effects = take_end(state, end, now)
            return replace(after, paused_until=state.paused_until), effects

        return stays

    patches.function(orders, "_take_end", make)


def own_end(patches: Patches) -> None:
    def make(take_end: Function) -> object:
        def mine(state: TaskState, end: Offsets, now: float) -> object:
            return take_end(state, state.position if state.position != state.start else end, now)

        return mine

    patches.function(orders, "_take_end", make)


def lost_ack_is_failure(patches: Patches) -> None:
    def unanswered(state: TaskState, reason: str, *_: float | None) -> TaskState:
        return orders.failed(state, FailureCode.REFUSED, f"not published: {reason}")[0]

    patches.function(machine, "_unanswered", lambda _: unanswered)


def born_without_the_end(patches: Patches) -> None:
    def make(begin: Function) -> object:
        def blind(
            task: DesiredTask,
            incarnation: int,
            held: JournalContents | None,
            limits: Limits,
            now: float,
        ) -> object:
            order = task.order.model_copy(update={"end": None})
            unaware = task.model_copy(update={"order": order})
            return begin(unaware, incarnation, held, limits, now)

        return blind

    patches.function(machine, "begin", make)


def journal_not_used(patches: Patches) -> None:
    def make(begin: Function) -> object:
        def afresh(
            task: DesiredTask,
            incarnation: int,
            held: JournalContents | None,
            limits: Limits,
            now: float,
        ) -> object:
            return begin(task, incarnation, held and JournalContents((), held.end), limits, now)

        return afresh

    patches.function(machine, "begin", make)


def stale_command_accepted(patches: Patches) -> None:
    def ordered(state: TaskState, order: Order, now: float) -> object:
        return orders.act_on(state, order, now)

    patches.function(orders, "ordered", lambda _: ordered)


def done_on_equal(patches: Patches) -> None:
    def reached(position: Offsets, end: Offsets) -> bool:
        return all(position[p] == end[p] for p in end)

    patches.function(offsets, "is_at_end", lambda _: reached)


def topic_id_not_compared(patches: Patches) -> None:
    patches.function(reading, "other_topics", lambda _: lambda *_: "")


def unbounded_pause(patches: Patches) -> None:
    def patient(state: TaskState, now: float) -> TaskState:
        over = state.paused_until is not None and now >= state.paused_until
        return replace(state, paused_until=now + 1_000) if over else state

    patches.function(orders, "without_lease_over", lambda _: patient)


def end_below_the_position_accepted(patches: Patches) -> None:
    patches.function(machine, "_tail_beyond", lambda _: lambda *_: ())


def cancelled_batch_is_skipped(patches: Patches) -> None:
    def make(job_dropped: Function) -> object:
        def skips(state: TaskState, trouble: str, now: float, **more: Any) -> object:  # noqa: ANN401
            work, after = state.busy, job_dropped(state, trouble, now, **more)
            if not isinstance(work, ReadWork) or after.note:
                return after
            entry = JournalEntry(
                number=work.number,
                incarnation=state.incarnation,
                start=dict(work.start),
                end=dict(work.end),
                files=(),
                counters=Counters(),
            )
            return replace(after, batch_to_confirm=entry)

        return skips

    patches.function(machine, "_job_dropped", make)


_CORE = "tests/supervisor/core/planning/test_defences.py::"

MUTANTS = (
    Mutant(
        "journal-not-used",
        "I10, P7",
        "a task that its worker takes up again reads its range from the start, journal or not",
        journal_not_used,
    ),
    Mutant(
        "set-end-without-resume",
        "R2, A6, M2",
        "a paused task that hears its end stays paused",
        set_end_without_resume,
    ),
    Mutant("own-end", "R1, M6", "each replica ends where it stands", own_end),
    Mutant(
        "lost-acknowledgement-is-failure",
        "R7, M7",
        "a publish request without an answer fails the task",
        lost_ack_is_failure,
    ),
    Mutant(
        "born-without-the-end",
        "R3, P15, M9",
        "a replacement does not hear the end that is fixed already",
        born_without_the_end,
    ),
    Mutant(
        "stale-command-accepted",
        "R2, P5",
        "an order that comes late is obeyed all the same",
        stale_command_accepted,
        covered_by="a sync hands on no order that is not higher",
        direct=f"{_CORE}test_a_late_order_has_no_effect",
    ),
    Mutant(
        "done-on-equal",
        "R10",
        "a range is done when the position equals its end",
        done_on_equal,
        covered_by="P14: nothing beyond the end is kept, and batches end at it exactly",
        direct=f"{_CORE}test_a_range_is_done_at_or_past_its_end",
    ),
    Mutant(
        "topic-id-not-compared",
        "R13, P11",
        "a topic that was made anew is read on",
        topic_id_not_compared,
    ),
    Mutant("unbounded-pause", "R12, I9", "a pause lasts until it is taken back", unbounded_pause),
    Mutant(
        "end-below-the-position-accepted",
        "C9, P14",
        "a replica that read past the end publishes what it has",
        end_below_the_position_accepted,
    ),
    Mutant(
        "cancelled-batch-is-skipped",
        "P21",
        "the range of a cancelled batch counts as read",
        cancelled_batch_is_skipped,
    ),
)
