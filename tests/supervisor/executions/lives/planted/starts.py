"""Mistakes in triggers, in reruns, and in the purge."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, select

from supervisor.adapters.executions import purging
from supervisor.adapters.executions.schema import EXECUTIONS, LABELS, RUNS
from supervisor.adapters.executions.triggers import SqlTriggers
from supervisor.core.executions import rerun
from supervisor.core.executions.plan import Step
from supervisor.core.flows import slots
from supervisor.core.flows.slots import DueSlots, Misfire, Schedule
from supervisor.core.flows.stored_triggers import StoredTrigger
from supervisor.core.values.permissions import Actor
from supervisor.executions import triggers
from supervisor.services.flows import hooks
from supervisor.services.flows.executions import Executions, StartRequest
from tests.simulation.planted.patches import Function, Mutant, Patches


def _no_row_per_firing(patches: Patches) -> None:
    patches.method(SqlTriggers, "firing", lambda _: lambda *given: None)  # noqa: ARG005
    patches.method(SqlTriggers, "take", lambda _: lambda *given: None)  # noqa: ARG005


def _coalesced_names_nothing(patches: Patches) -> None:
    patches.method(SqlTriggers, "name_execution", lambda _: lambda *given: None)  # noqa: ARG005


def _coalesced_waits_for_nothing(patches: Patches) -> None:
    patches.function(triggers, "_runs", lambda _: lambda *given: False)  # noqa: ARG005


def _waiting_publishes_are_dropped(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def waiting(rows: SqlTriggers, flow: str, name: str, limit: int) -> Sequence[object]:
            return whole(rows, flow, name, min(limit, 1))  # type: ignore[no-any-return]

        return waiting

    def cut(whole: Function) -> Function:
        def fire(firing: triggers._Round, trigger: StoredTrigger) -> None:
            whole(firing, trigger)
            current = firing.rows.triggers.find(trigger.flow, trigger.name)
            if current is not None and current.last_execution != trigger.last_execution:
                firing.rows.triggers.put(replace(current, waiting=0))

        return fire

    patches.method(SqlTriggers, "waiting_firings", make)
    patches.method(triggers._Round, "fire_waiting", cut)


def _fires_for_what_was_before(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def take(firing: triggers._Round, trigger: StoredTrigger, seen: object) -> StoredTrigger:
            return whole(firing, replace(trigger, watches=True), seen)  # type: ignore[no-any-return]

        return take

    patches.method(triggers._Round, "take_publish", make)


def _key_of_a_webhook_is_not_read(patches: Patches) -> None:
    numbers = iter(range(1_000_000))
    patches.function(hooks, "_slot_of", lambda _: lambda request: f"~r{next(numbers)}")  # noqa: ARG005


def _slots_come_early(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def due(schedule: Schedule, position: datetime, now: datetime) -> DueSlots:
            return whole(schedule, position, now + timedelta(seconds=90))  # type: ignore[no-any-return]

        return due

    def due_rows(whole: Function) -> Function:
        def due(rows: SqlTriggers, now: datetime, limit: int) -> object:
            return whole(rows, now + timedelta(seconds=90), limit)

        return due

    patches.function(slots, "due_slots", make)
    patches.method(SqlTriggers, "due", due_rows)


def _missed_slots_stay_missed(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def due(schedule: Schedule, position: datetime, now: datetime) -> DueSlots:
            once = replace(schedule, misfire=Misfire.ONCE)
            return whole(once, position, now)  # type: ignore[no-any-return]

        return due

    patches.function(slots, "due_slots", make)


def _position_is_the_clock(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def due(schedule: Schedule, position: datetime, now: datetime) -> DueSlots:
            given = whole(schedule, position, now)
            ahead = given.position + timedelta(minutes=1)
            return replace(given, position=ahead)  # type: ignore[no-any-return]

        return due

    patches.function(slots, "due_slots", make)


def _a_repeat_starts_anew(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def start(of: Executions, wanted: StartRequest, author: Actor) -> object:
            return whole(of, replace(wanted, key=None), author)

        return start

    patches.method(Executions, "start", make)


def _rerun_keeps_what_follows(patches: Patches) -> None:
    def make(_: Function) -> Function:
        def begun_anew(graph: tuple[Step, ...], first: str | None) -> frozenset[str]:
            return frozenset(step.name for step in graph if step.name == first)

        return begun_anew

    patches.function(rerun, "_begun_anew", make)


def _rerun_drops_outputs(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def kept(*given: object) -> rerun.KeptSteps:
            steps: rerun.KeptSteps = whole(*given)
            steps.runs = {name: replace(run, outputs={}) for name, run in steps.runs.items()}
            return steps

        return kept

    patches.function(rerun, "kept_steps", make)


def _rerun_compares_nothing(patches: Patches) -> None:
    patches.method(rerun._Keeping, "_compare", lambda _: lambda *given, **more: None)  # noqa: ARG005


def _rerun_keeps_failures(patches: Patches) -> None:
    def make(_: Function) -> Function:
        return lambda run, step: run.state.ended  # noqa: ARG005

    patches.function(rerun, "_is_done", make)


def _purge_takes_what_runs(patches: Patches) -> None:
    def make(_: Function) -> Function:
        def old(connection: Connection, before: datetime, limit: int) -> Sequence[str]:
            query = select(EXECUTIONS.c.id).where(EXECUTIONS.c.created_at < before).limit(limit)
            return connection.execute(query).scalars().all()

        return old

    patches.function(purging, "_old", make)


def _purge_keeps_events(patches: Patches) -> None:
    def make(_: Function) -> Function:
        def purge(
            connection: Connection, before: datetime, of_each: int, limit: int
        ) -> Sequence[str]:
            ids = purging._old(connection, before, limit)
            ids = ids or purging._surplus(connection, of_each, limit)
            for table in (RUNS, LABELS):
                connection.execute(delete(table).where(table.c.execution.in_(ids)))
            connection.execute(delete(EXECUTIONS).where(EXECUTIONS.c.id.in_(ids)))
            return ids

        return purge

    patches.function(purging, "purge_executions", make)


def _purge_takes_one_too_many(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def surplus(connection: Connection, of_each: int, limit: int) -> Sequence[str]:
            return whole(connection, of_each - 1, limit)  # type: ignore[no-any-return]

        return surplus

    patches.function(purging, "_surplus", make)


MUTANTS = (
    Mutant("no-row-per-firing", "X5", "a publish that comes again fires again", _no_row_per_firing),
    Mutant(
        "coalesced-names-nothing",
        "X5",
        "publishes that were named wait for the next execution too",
        _coalesced_names_nothing,
    ),
    Mutant(
        "coalesced-waits-for-nothing",
        "X5",
        "a coalesced execution begins beside the one before",
        _coalesced_waits_for_nothing,
    ),
    Mutant(
        "waiting-publishes-are-dropped",
        "X5",
        "one of the publishes that wait is named, and the others are forgotten",
        _waiting_publishes_are_dropped,
    ),
    Mutant(
        "fires-for-what-was-before",
        "X5",
        "a trigger fires for publishes from before its definition",
        _fires_for_what_was_before,
    ),
    Mutant(
        "key-of-a-webhook-is-not-read",
        "X5",
        "a request that comes again starts another execution",
        _key_of_a_webhook_is_not_read,
    ),
    Mutant("slots-come-early", "X12", "a schedule looks ahead of the clock", _slots_come_early),
    Mutant(
        "missed-slots-stay-missed",
        "X5",
        "`misfire: all` does what `once` does",
        _missed_slots_stay_missed,
    ),
    Mutant(
        "position-is-ahead-of-the-slots",
        "X5",
        "the position of a schedule passes a slot over",
        _position_is_the_clock,
    ),
    Mutant("a-repeat-starts-anew", "X5", "the key of a request is not read", _a_repeat_starts_anew),
    Mutant(
        "rerun-keeps-what-follows",
        "rerun",
        "steps behind the first one are kept",
        _rerun_keeps_what_follows,
    ),
    Mutant("rerun-drops-outputs", "rerun", "kept steps lose their outputs", _rerun_drops_outputs),
    Mutant(
        "rerun-compares-nothing",
        "rerun",
        "a step is kept that is another one by now",
        _rerun_compares_nothing,
    ),
    Mutant(
        "rerun-keeps-failures", "rerun", "a step that has failed is kept", _rerun_keeps_failures
    ),
    Mutant(
        "purge-takes-what-runs",
        "purge",
        "the purge goes by the time of the start",
        _purge_takes_what_runs,
    ),
    Mutant("purge-keeps-events", "purge", "events outlive their execution", _purge_keeps_events),
    Mutant(
        "purge-takes-one-too-many",
        "purge",
        "one less than `executions_of_each` stays",
        _purge_takes_one_too_many,
    ),
)
