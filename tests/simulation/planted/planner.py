"""Faults of what is decided: handoffs, ranges, replicas."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from supervisor.control import discard as moves
from supervisor.control import reconcile, worker_registry
from supervisor.core.planning.actions import (
    CommitInitialOffsets,
    FixEnd,
    OpenGeneration,
    ResetOffsets,
)
from supervisor.core.planning.observed import Liveness
from supervisor.core.planning.offset_moves import NewOffsets
from supervisor.core.planning.rules import discards, handoff, initial_offsets
from supervisor.core.planning.view import PassView
from tasks.contract import offsets
from tasks.contract.messages import TaskPhase
from tests.simulation.planted.patches import Mutant, Patches


def empty_end_persisted(patches: Patches) -> None:
    patches.function(handoff, "is_empty", lambda _: lambda *_: False)


def successor_at_start(patches: Patches) -> None:
    def make(fix: Any) -> object:  # noqa: ANN401 -- whatever stands there
        def fixed(generation: Any, *rest: Any) -> object:  # noqa: ANN401
            action = fix(generation, *rest)
            if isinstance(action, FixEnd) and action.successor is not None:
                follows = replace(action.successor, start=dict(generation.start))
                return replace(action, successor=follows)
            return action

        return fixed

    patches.function(handoff, "_fix", make)


def restart_from_committed(patches: Patches) -> None:
    def reached(self: PassView, partition: offsets.TopicPartition) -> int:
        return self.seen.committed[partition].next_offset

    patches.method(PassView, "next_start", lambda _: reached)


def successor_forgotten(patches: Patches) -> None:
    def make(fix: Any) -> object:  # noqa: ANN401 -- whatever stands there
        def fixed(*args: Any) -> object:  # noqa: ANN401
            action = fix(*args)
            return replace(action, successor=None) if isinstance(action, FixEnd) else action

        return fixed

    patches.function(handoff, "_fix", make)
    restart_from_committed(patches)


def opened_unchecked(patches: Patches) -> None:
    def make(open_range: Any) -> object:  # noqa: ANN401 -- whatever stands there
        def unchecked(action: OpenGeneration, seen: Any, tx: Any) -> None:  # noqa: ANN401
            at = {p: SimpleNamespace(next_offset=start) for p, start in action.start.items()}
            rows = tx.offsets.of(seen.current.supervisor_id)
            for partition, row in at.items():
                row.reset_epoch = rows[partition].reset_epoch
            generations = SimpleNamespace(live=lambda _: (), open=tx.generations.open)
            offsets = SimpleNamespace(of=lambda _: at)
            open_range(action, seen, SimpleNamespace(generations=generations, offsets=offsets))

        return unchecked

    patches.function(reconcile, "_open", make)


def restart_unchecked(patches: Patches) -> None:
    successor_forgotten(patches)
    opened_unchecked(patches)


def discard_not_transitive(patches: Patches) -> None:
    def make(discard: Any) -> object:  # noqa: ANN401 -- whatever stands there
        def alone(tx: Any, *rest: Any, generation_id: str = "", **more: Any) -> object:  # noqa: ANN401
            if not generation_id:
                return discard(tx, *rest, generation_id=generation_id, **more)
            found = [g for g in (tx.generations.get(generation_id),) if g is not None]
            generations = SimpleNamespace(live=lambda _: found, close=tx.generations.close)
            parts = {"generations": generations, "tasks": tx.tasks}
            parts |= {"audit": tx.audit, "events": tx.events}
            shown = SimpleNamespace(**parts)
            return discard(shown, *rest, generation_id=generation_id, **more)

        return alone

    patches.function(moves, "discard", make)


def earlier_pause_counts(patches: Patches) -> None:
    def paused(_: object, replica: handoff.ReplicaView) -> bool:
        return replica.report is not None and replica.report.phase is TaskPhase.PAUSED

    patches.function(handoff, "paused", lambda _: paused)


def no_second_pause(patches: Patches) -> None:
    def make(next_step: Any) -> object:  # noqa: ANN401 -- whatever stands there
        def hasty(generation: Any, replicas: Any, successor: Any, now: Any, limits: Any) -> object:  # noqa: ANN401
            for_ever = replace(limits, pause_lease=limits.pause_lease * 1_000)
            return next_step(generation, replicas, successor, now, for_ever)

        return hasty

    patches.function(handoff, "next_step", make)


def nearest_end(patches: Patches) -> None:
    def nearest(reports: Any) -> dict[offsets.TopicPartition, int]:  # noqa: ANN401
        return {p: min(report[p] for report in reports) for p in reports[0]}

    patches.function(offsets, "furthest", lambda _: nearest)


def new_partition_at_latest(patches: Patches) -> None:
    def make(commit: Any) -> object:  # noqa: ANN401 -- whatever stands there
        def late(view: Any) -> object:  # noqa: ANN401
            for action in commit(view):
                assert isinstance(action, CommitInitialOffsets)
                joins = any(p.topic == action.topic for p in view.seen.committed)
                stable = {p: view.seen.stream.stable[p] for p in action.offsets}
                yield replace(action, offsets=stable) if joins else action

        return late

    patches.function(initial_offsets, "commit_initial_offsets", make)


def discarded_for_want_of_a_replica(patches: Patches) -> None:
    def make(reason: Any) -> object:  # noqa: ANN401 -- whatever stands there
        def hasty(view: PassView, generation: Any) -> str | None:  # noqa: ANN401
            why: str | None = reason(view, generation)
            tried = {of for of, _ in view.seen.last_attempts}
            if why or generation.id not in tried or view.replicas(generation):
                return why
            return "every replica of it is lost"

        return hasty

    patches.function(discards, "_reason", make)


def tombstone_takes_the_living(patches: Patches) -> None:
    def make(reason: Any) -> object:  # noqa: ANN401 -- whatever stands there
        def at_once(view: PassView, generation: Any) -> str | None:  # noqa: ANN401
            ended = "the supervisor is terminated" if view.seen.current.terminated else None
            found: str | None = reason(view, generation)
            return found or ended

        return at_once

    patches.function(discards, "_reason", make)


def resets_without_need(patches: Patches) -> None:
    def make(reset: Any) -> object:  # noqa: ANN401 -- whatever stands there
        def eager(view: PassView) -> object:
            held = {p for generation in view.seen.generations for p in generation.start}
            stream, rows = view.seen.stream, view.seen.committed
            ahead = {p: at for p, at in stream.stable.items() if p in rows.keys() - held}
            moved = {p: at for p, at in ahead.items() if at > rows[p].next_offset}
            yield from reset(view)
            for topic in sorted({p.topic for p in moved})[:1]:
                to = {p: at for p, at in moved.items() if p.topic == topic}
                ids = {topic: rows[next(iter(to))].topic_id}
                earliest = {p: stream.earliest[p] for p in to}
                yield ResetOffsets(topic, NewOffsets(to, ids, earliest), "it lags behind")

        return eager

    patches.function(initial_offsets, "reset_automatically", make)


def unknown_is_lost(patches: Patches) -> None:
    def make(liveness: Any) -> object:  # noqa: ANN401 -- whatever stands there
        def hasty(*args: Any) -> Liveness:  # noqa: ANN401
            found = liveness(*args)
            return Liveness.LOST if found is Liveness.UNKNOWN else found

        return hasty

    patches.method(worker_registry.WorkerRegistry, "_liveness", make)


MUTANTS = (
    Mutant(
        "empty-end-persisted",
        "R4, P12, M4",
        "a range without a single offset is fixed and published",
        empty_end_persisted,
    ),
    Mutant(
        "successor-at-start",
        "P8, P13",
        "the successor begins where its predecessor began",
        successor_at_start,
    ),
    Mutant(
        "restart-from-committed",
        "A7, P8, M12",
        "a group that is opened anew begins at the committed offset, not at the persisted end; "
        "neither the plan nor the transaction looks at the end",
        restart_unchecked,
    ),
    Mutant(
        "planned-from-committed",
        "A7, P8",
        "a plan opens a group at the committed offset, not at the persisted end",
        restart_from_committed,
        covered_by="the transaction that opens a range compares its start once more",
        direct="tests/supervisor/core/planning/plan/test_opening.py"
        "::test_after_a_rescale_groups_start_where_the_old_ones_end",
    ),
    Mutant(
        "opened-unchecked",
        "A7, P8",
        "a range is opened where the plan says, wherever the range before it leads by then",
        opened_unchecked,
        covered_by="the next pass gives up a range that nothing leads to, and opens it anew",
        direct="tests/supervisor/scenarios/test_overtaken.py"
        "::test_a_range_opens_only_where_the_range_before_it_leads_by_then",
    ),
    Mutant(
        "discard-not-transitive",
        "P16",
        "a range is given up and the ranges after it are left to wait for it",
        discard_not_transitive,
        covered_by="P19 and P16 find the later ranges again by other reasons in most runs",
        direct="tests/supervisor/scenarios/test_defences.py::test_a_discard_takes_every_later_range_with_it",
    ),
    Mutant(
        "earlier-pause-counts",
        "P5, P13",
        "a task that is still paused for an earlier order counts as paused for this one",
        earlier_pause_counts,
        covered_by="P14: what lies beyond the end is dropped",
        direct="tests/supervisor/core/planning/test_defences.py::test_a_pause_of_an_earlier_order_says_nothing",
    ),
    Mutant(
        "no-second-pause",
        "P13",
        "the end is fixed though the first of the pauses may be over",
        no_second_pause,
        covered_by="P14: what lies beyond the end is dropped",
        direct="tests/supervisor/core/planning/test_defences.py::test_after_half_a_lease_everybody_is_paused_again",
    ),
    Mutant(
        "nearest-end",
        "P13",
        "the end is that of the slowest replica",
        nearest_end,
        covered_by="P14: the others drop what they read beyond it",
        direct="tests/supervisor/core/planning/test_defences.py::test_the_end_is_that_of_the_furthest_replica",
    ),
    Mutant(
        "new-partition-at-latest",
        "P10, E8",
        "a partition that is added later begins at its end",
        new_partition_at_latest,
    ),
    Mutant(
        "discarded-for-want-of-a-replica",
        "P15, P16",
        "a range whose replicas are all lost is given up instead of read by others",
        discarded_for_want_of_a_replica,
    ),
    Mutant(
        "tombstone-takes-the-living",
        "P19",
        "once a supervisor is terminated its ranges are given up though their tasks live",
        tombstone_takes_the_living,
    ),
    Mutant(
        "resets-without-need",
        "P16, E4",
        "a partition that nobody reads is reset to its end though Kafka holds what is to be read",
        resets_without_need,
    ),
    Mutant(
        "unknown-is-lost",
        "P6",
        "a worker that is silent for a moment loses its tasks",
        unknown_is_lost,
    ),
)
