"""Faults of publishing: the judgement, the compare-and-swap, the rows of one transaction."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import update

from supervisor.control import reconcile
from supervisor.control.publishing import replica_comparison
from supervisor.core.planning import publish
from supervisor.core.planning.publish import Check, Judgement, PublishFacts
from supervisor.metadata.repositories import offsets as offsets_table
from supervisor.metadata.repositories.offsets import SqlOffsets
from supervisor.metadata.repositories.tasks import SqlTasks
from supervisor.metadata.repositories.workers import SqlWorkers
from supervisor.metadata.schema.tables import committed_offsets, tasks
from supervisor.ports.generations import NO_EPOCHS
from tasks.contract.messages import PublishAnswer, PublishOutcome, PublishRequest
from tasks.contract.offsets import Offsets, TopicPartition
from tests.simulation.planted.patches import Function, Mutant, Patches

_AT = committed_offsets.c


def _advance(self: SqlOffsets, supervisor_id: str, end: Offsets, *, over: Offsets) -> None:
    for partition in sorted(end):
        self._db.execute(
            update(committed_offsets)
            .where(*offsets_table._row_of(supervisor_id, partition))
            .where(_AT.next_offset <= over[partition])
            .values(next_offset=end[partition])
        )


def weak_cas(patches: Patches) -> None:
    def advance(
        self: SqlOffsets,
        supervisor_id: str,
        start: Offsets,
        end: Offsets,
        _topic_ids: Mapping[str, str],
        _epochs: Mapping[TopicPartition, int] = NO_EPOCHS,
    ) -> None:
        _advance(self, supervisor_id, end, over=start)

    patches.method(SqlOffsets, "advance", lambda _: advance)


def no_cas(patches: Patches) -> None:
    def advance(self: SqlOffsets, supervisor_id: str, _: Offsets, end: Offsets, *_ids: Any) -> None:  # noqa: ANN401
        _advance(self, supervisor_id, end, over=dict.fromkeys(end, 2**62))

    def compared(_: PublishFacts, __: PublishRequest) -> Judgement:
        first, passed = "the first to come", Check.ALL_PASSED
        return Judgement(outcome=PublishOutcome.COMMITTED, check=passed, reason=first)

    patches.method(SqlOffsets, "advance", lambda _: advance)
    patches.function(publish, "_compared", lambda _: compared)


def epoch_not_compared(patches: Patches) -> None:
    def make(advance: Function) -> object:
        def blind(self: SqlOffsets, supervisor_id: str, *ranges: Any) -> None:  # noqa: ANN401
            rows = self.of(supervisor_id)
            epochs = {p: row.reset_epoch for p, row in rows.items()}
            advance(self, supervisor_id, *ranges[:3], epochs)

        return blind

    patches.method(SqlOffsets, "advance", make)


def zombie_publishes(patches: Patches) -> None:
    def make(settled: Function) -> object:
        def trusting(facts: PublishFacts) -> object:
            running = replace(facts.task, status=type(facts.task.status).RUNNING)
            return settled(replace(facts, task=running))

        return trusting

    patches.function(publish, "_settled", make)


def _instead_of_waiting(outcome: PublishOutcome, patches: Patches) -> None:
    def make(compared: Function) -> object:
        def hasty(facts: PublishFacts, request: PublishRequest) -> PublishAnswer:
            answer: PublishAnswer = compared(facts, request)
            waits = answer.outcome is PublishOutcome.WAIT_FOR_PREDECESSOR
            return answer.model_copy(update={"outcome": outcome}) if waits else answer

        return hasty

    patches.function(publish, "_compared", make)


def successor_fails(patches: Patches) -> None:
    _instead_of_waiting(PublishOutcome.SUPERSEDED, patches)


def predecessor_not_waited_for(patches: Patches) -> None:
    _instead_of_waiting(PublishOutcome.COMMITTED, patches)


def offsets_alone_show_the_order(patches: Patches) -> None:
    def make(judge: Function) -> object:
        def short_sighted(facts: PublishFacts, request: PublishRequest) -> object:
            return judge(replace(facts, predecessors=()), request)

        return short_sighted

    patches.function(publish, "judge", make)


def no_outcome_row(patches: Patches) -> None:
    patches.method(SqlTasks, "store_outcome", lambda _: lambda *_, **__: None)


def siblings_left(patches: Patches) -> None:
    patches.function(reconcile, "end_siblings", lambda _: lambda *_: None)


def loser_is_refused(patches: Patches) -> None:
    def make(settled: Function) -> object:
        def harsh(facts: PublishFacts) -> object:
            if facts.winner not in {None, facts.task.id}:
                why = "another replica was faster"
                check = Check.PUBLISHED_BEFORE
                return Judgement(outcome=PublishOutcome.SUPERSEDED, check=check, reason=why)
            return settled(facts)

        return harsh

    patches.function(publish, "_settled", make)


def repeat_is_refused(patches: Patches) -> None:
    def make(judge: Function) -> object:
        def forgetful(facts: PublishFacts, request: PublishRequest) -> object:
            return judge(
                replace(facts, task=replace(facts.task, outcome=None), winner=None), request
            )

        return forgetful

    patches.function(publish, "judge", make)


def terminal_state_overwritten(patches: Patches) -> None:
    def end(
        self: SqlTasks,
        task_id: str,
        status: object,
        reason: str,
        now: object,
        *,
        lost: bool = False,
        totals: object = None,  # noqa: ARG001 -- the fault keeps none
    ) -> bool:
        changed = self._db.execute(
            update(tasks)
            .where(tasks.c.id == task_id)
            .values(status=status, reason=reason, ended_at=now, lost=lost)
        )
        return bool(changed.rowcount)

    patches.method(SqlTasks, "end", lambda _: end)


def reset_keeps_the_epoch(patches: Patches) -> None:
    def make(reset: Function) -> object:
        def quiet(self: SqlOffsets, supervisor_id: str, *rest: Any) -> None:  # noqa: ANN401
            before = self.of(supervisor_id)
            reset(self, supervisor_id, *rest)
            for partition, row in before.items():
                self._db.execute(
                    update(committed_offsets)
                    .where(*offsets_table._row_of(supervisor_id, partition))
                    .values(reset_epoch=row.reset_epoch)
                )

        return quiet

    patches.method(SqlOffsets, "reset", make)


def incarnation_not_fenced(patches: Patches) -> None:
    def make(register: Function) -> object:
        def polite(self: SqlWorkers, row: Any) -> int:  # noqa: ANN401
            register(self, row)
            return int(row.incarnation)

        return polite

    patches.method(SqlWorkers, "register", make)


def initial_offsets_one_by_one(patches: Patches) -> None:
    def make(initialise: Function) -> object:
        def piecemeal(self: SqlOffsets, supervisor_id: str, topic_id: str, found: Offsets) -> bool:
            done = [initialise(self, supervisor_id, topic_id, {p: found[p]}) for p in sorted(found)]
            return all(done)

        return piecemeal

    patches.method(SqlOffsets, "initialise", make)


def digests_not_compared(patches: Patches) -> None:
    for name in ("compare_siblings", "compare_late"):
        patches.function(replica_comparison, name, lambda _: lambda *_args: {})


_ONE = "tests/supervisor/scenarios/test_defences.py::"

MUTANTS = (
    Mutant("no-cas", "R5, M1", "offsets are set, nothing is compared", no_cas),
    Mutant(
        "weak-cas",
        "R5, P22, M11",
        "the swap is made if the offset is at most the start",
        weak_cas,
        covered_by="the judgement compares the same offsets in the same transaction",
        direct=f"{_ONE}test_the_swap_alone_takes_ranges_in_their_order_only",
    ),
    Mutant(
        "epoch-not-compared",
        "P22, H7",
        "the swap does not look at the reset epoch",
        epoch_not_compared,
        covered_by="the judgement compares the epoch as well",
        direct=f"{_ONE}test_the_swap_alone_refuses_a_range_from_before_a_reset",
    ),
    Mutant(
        "zombie-publishes",
        "R5, B9, M13",
        "an attempt that was ended may publish",
        zombie_publishes,
        covered_by="the transaction is undone when the task cannot be ended any more",
        direct="tests/supervisor/core/planning/test_defences.py::test_the_judgement_alone_refuses_an_ended_attempt",
    ),
    Mutant(
        "successor-fails",
        "R6, P22, M8",
        "who is ready before its predecessor is refused instead of told to wait",
        successor_fails,
    ),
    Mutant(
        "predecessor-not-waited-for",
        "R6, P8",
        "who is ready before its predecessor is let through to the swap",
        predecessor_not_waited_for,
    ),
    Mutant(
        "offsets-alone-show-the-order",
        "P10",
        "a predecessor that read nothing of a shared partition is not waited for",
        offsets_alone_show_the_order,
        covered_by="chance: few seeds rescale a range that is empty in one partition",
        direct="tests/supervisor/control/test_publish_order.py"
        "::test_a_successor_waits_for_a_predecessor_that_read_nothing_of_its_partition",
    ),
    Mutant(
        "no-outcome-row",
        "R5, P22",
        "a range is published and the answer is not stored with it",
        no_outcome_row,
    ),
    Mutant(
        "siblings-left",
        "P22",
        "the other replicas of a published range run on",
        siblings_left,
    ),
    Mutant(
        "loser-is-refused",
        "A12, I7",
        "the second replica to publish is told that it failed",
        loser_is_refused,
    ),
    Mutant(
        "repeat-is-refused",
        "R7, F5",
        "a repeated request is judged anew instead of hearing its stored answer",
        repeat_is_refused,
    ),
    Mutant(
        "terminal-state-overwritten",
        "E21, P3",
        "a task that has ended is ended again, another way",
        terminal_state_overwritten,
    ),
    Mutant(
        "reset-keeps-the-epoch",
        "H7, P10",
        "a reset moves the offsets and does not count the epoch up",
        reset_keeps_the_epoch,
        covered_by="the same transaction discards every range that could still publish",
        direct=f"{_ONE}test_a_reset_counts_the_epoch_up",
    ),
    Mutant(
        "incarnation-not-fenced",
        "P7",
        "an earlier process of a worker is listened to after a newer one has registered",
        incarnation_not_fenced,
        covered_by="P7: tasks that were taken up have other tokens",
        direct=f"{_ONE}test_an_earlier_incarnation_is_told_that_it_is_fenced",
    ),
    Mutant(
        "digests-not-compared",
        "B11",
        "what replicas made of a range is not compared when it is published",
        digests_not_compared,
    ),
    Mutant(
        "initial-offsets-one-by-one",
        "P10",
        "the first offsets of a topic are stored partition by partition",
        initial_offsets_one_by_one,
        covered_by="one writer at a time on SQLite: nobody sees the half",
        direct=f"{_ONE}test_initial_offsets_are_stored_all_or_none",
    ),
)
