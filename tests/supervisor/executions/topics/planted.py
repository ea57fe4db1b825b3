"""Mistakes in the owner of a partition, and in what stands around it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from supervisor.core.executions.entities import Execution
from supervisor.core.executions.reduced import Message, Send, SendGate
from supervisor.executions.batch import InputBatch
from supervisor.executions.engine import RunnerOrders
from supervisor.executions.sequencer import batch as batches
from supervisor.executions.sequencer.batch import PartitionBatch
from supervisor.executions.sequencer.calls import PartitionCalls
from supervisor.executions.sequencer.engine import PartitionedEngine
from supervisor.executions.sequencer.held import HeldPartition
from supervisor.executions.sequencer.letters import PartitionPosition
from supervisor.executions.sequencer.loop import PartitionOwner
from supervisor.executions.sequencer.work import PartitionWork, RequestWork
from supervisor.ports.flows.execution_log import LogAborted, LogEntry
from tests.environment.memory_log import MemoryLog
from tests.simulation.planted.patches import Function, Mutant, Patches
from tests.supervisor.executions.topics.executor import PROBLEMS, TurnedOwner


def _nobody_is_fenced(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def write(log: MemoryLog, entries: Sequence[LogEntry]) -> None:
            right = log.topics.owners[log.partition]
            log.topics.owners[log.partition] = log
            try:
                whole(log, entries)
            finally:
                log.topics.owners[log.partition] = right

        return write

    patches.method(MemoryLog, "write", make)


def _a_doubt_changes_nothing(patches: Patches) -> None:
    def make(_: Function) -> Function:
        def turn(one: TurnedOwner) -> bool:
            try:
                return one.owner.turn(0)
            except PROBLEMS:
                return False

        return turn

    patches.method(TurnedOwner, "turn", make)


def _an_abort_is_taken_for_a_commit(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def commit(owner: PartitionOwner, works: Sequence[PartitionWork]) -> bool:
            write = owner._log.write

            def writes(entries: Sequence[LogEntry]) -> None:
                try:
                    write(entries)
                except LogAborted:
                    return

            owner._log.write = writes  # type: ignore[method-assign]
            try:
                return whole(owner, works)  # type: ignore[no-any-return]
            finally:
                del owner._log.write

        return commit

    patches.method(PartitionOwner, "_commit_or_part", make)


def _requests_of_an_abort_are_answered(patches: Patches) -> None:
    def make(_: Function) -> Function:
        def put_back(owner: PartitionOwner, works: Sequence[PartitionWork]) -> None:
            empty = owner._reduce([])
            for work in works:
                if isinstance(work, RequestWork):
                    work.succeed(empty, owner.held)

        return put_back

    patches.method(PartitionOwner, "_put_back", make)


def _letters_go_nowhere(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def route(batch: PartitionBatch, message: Message) -> None:
            match message:
                case Send(execution) if not batch.is_here(execution):
                    return
                case SendGate(gate) if not batch.is_here(gate):
                    return
                case _:
                    whole(batch, message)

        return route

    patches.method(PartitionBatch, "_route", make)


def _a_letter_is_passed_over(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def position(owner: PartitionOwner, *given: object) -> PartitionPosition:
            new = whole(owner, *given)
            gap = new.next is not None and new.next % 7 == 3
            moved = new.next != owner.held.position.next
            return replace(new, next=new.next + 1) if gap and moved else new  # type: ignore[no-any-return]

        return position

    patches.method(PartitionOwner, "_position", make)


def _the_position_stays(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def entries(
            owner: PartitionOwner, works: object, batch: object, position: PartitionPosition
        ) -> object:
            return whole(owner, works, batch, replace(position, next=owner.held.position.next))

        return entries

    patches.method(PartitionOwner, "_entries", make)


def _time_goes_back(patches: Patches) -> None:
    def make(_: Function) -> Function:
        def time(owner: PartitionOwner) -> datetime:
            return owner._now()

        return time

    patches.method(PartitionOwner, "_time", make)


def _times_are_not_restored(patches: Patches) -> None:
    def take_over(whole: Function) -> Function:
        def take(owner: PartitionOwner) -> None:
            whole(owner)
            owner.held._times.clear()

        return take

    patches.method(PartitionOwner, "take_over", take_over)


def _times_are_taken_out_before_the_commit(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def due(held: HeldPartition, now: datetime, limit: int) -> Sequence[str]:
            some: Sequence[str] = whole(held, now, limit)
            held._times = [entry for entry in held._times if entry[1] not in some]
            return some

        return due

    patches.method(HeldPartition, "due", make)


def _calls_are_not_restored(patches: Patches) -> None:
    patches.method(HeldPartition, "restore_calls", lambda _: lambda *given: None)  # noqa: ARG005


def _claims_are_not_restored(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def restore(calls: PartitionCalls, *given: object) -> None:
            whole(calls, *given)
            calls.claims.clear()

        return restore

    patches.method(PartitionCalls, "restore", make)


def _the_purge_leaves_task_runs(patches: Patches) -> None:
    def make(_: Function) -> Function:
        def keys(execution: Execution) -> Iterator[str]:
            yield f"e/{execution.id}/plan"
            yield f"e/{execution.id}"

        return keys

    patches.function(batches, "_keys", make)


def _what_is_purged_is_held_on(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def keep(held: HeldPartition, batch: PartitionBatch, position: object) -> None:
            held_before = dict(batch.purged)
            whole(held, batch, position)
            held.restored.executions.update(held_before)

        return keep

    patches.method(HeldPartition, "keep", make)


def _one_state_record_is_left_out(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def records(batch: PartitionBatch) -> Iterator[object]:
            some = list(whole(batch))
            yield from some[:-1] if len(some) > 2 else some

        return records

    patches.method(InputBatch, "records", make)


def _what_went_by_the_history_is_ordered_again(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def serve(engine: PartitionedEngine, *given: object, **more: object) -> RunnerOrders:
            engine._sent.clear()
            return whole(engine, *given, **more)  # type: ignore[no-any-return]

        return serve

    patches.method(PartitionedEngine, "serve", make)


MUTANTS = (
    Mutant("nobody-is-fenced", "X1", "an owner that was taken over writes on", _nobody_is_fenced),
    Mutant(
        "a-doubt-changes-nothing",
        "X1",
        "an owner goes on after a commit of which nobody knows",
        _a_doubt_changes_nothing,
    ),
    Mutant(
        "an-abort-is-taken-for-a-commit",
        "X8",
        "what was aborted is kept in memory",
        _an_abort_is_taken_for_a_commit,
    ),
    Mutant(
        "requests-of-an-abort-are-answered",
        "X10",
        "who asked hears of a commit that was aborted",
        _requests_of_an_abort_are_answered,
    ),
    Mutant("letters-go-nowhere", "X10", "other partitions hear of nothing", _letters_go_nowhere),
    Mutant(
        "a-letter-is-passed-over",
        "X10",
        "the position counts one letter too many",
        _a_letter_is_passed_over,
    ),
    Mutant(
        "the-position-stays",
        "X10",
        "the position is not in the transaction of what it counts",
        _the_position_stays,
    ),
    Mutant("time-goes-back", "X1", "a batch takes the clock as it is", _time_goes_back),
    Mutant(
        "times-are-not-restored",
        "X10",
        "a new owner waits for no time",
        _times_are_not_restored,
    ),
    Mutant(
        "times-are-taken-out-before-the-commit",
        "X10",
        "an abort loses a time that has come",
        _times_are_taken_out_before_the_commit,
    ),
    Mutant("calls-are-not-restored", "X10", "a new owner has no calls", _calls_are_not_restored),
    Mutant(
        "claims-are-not-restored",
        "X3",
        "a new owner does not know who makes what",
        _claims_are_not_restored,
    ),
    Mutant(
        "what-went-by-the-history-is-ordered-again",
        "X3",
        "an owner that has not read a report yet orders its call again",
        _what_went_by_the_history_is_ordered_again,
    ),
    Mutant(
        "the-purge-leaves-task-runs",
        "X11",
        "records outlive their execution",
        _the_purge_leaves_task_runs,
    ),
    Mutant(
        "what-is-purged-is-held-on",
        "X11",
        "an owner keeps in memory what was purged",
        _what_is_purged_is_held_on,
    ),
    Mutant(
        "one-state-record-is-left-out",
        "X1",
        "the last record of a batch is not written",
        _one_state_record_is_left_out,
    ),
)
