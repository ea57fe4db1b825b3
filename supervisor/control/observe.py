"""Look: read the ports once into one snapshot, `now` included.  This module decides nothing."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from supervisor.core.model.rows import Generation, SpecVersion, TaskStatus
from supervisor.core.planning.observed import Observed, PlanLimits, StreamState, WorkerView
from supervisor.core.planning.preconditions import AnyVersion
from supervisor.core.queue.events import owner_of
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import SpecUnreadable, UnknownWord
from supervisor.ports.store import Store, Streams, Transaction, Workers

ENDED_TASKS = 20
"""The number of newest ended tasks from which a supervisor's health is derived."""


@dataclass(frozen=True)
class Sources:
    """The ports and limits from which a snapshot is made."""

    store: Store
    streams: Streams
    workers: Workers
    limits: PlanLimits


def observe(
    supervisor_id: str, sources: Sources, now: datetime, *, look: bool = True
) -> Observed | None:
    """Return the snapshot of one supervisor; None if its id was never used.

    The states of Kafka and the workers are the last ones received: nothing here waits for either.
    Without `look` Kafka is not looked at for the next snapshot either.

    Raises:
        SpecUnreadable, UnknownWord: a row that the decision needs is from a newer release.
    """
    with sources.store.reading() as tx:
        current = tx.specs.newest(supervisor_id)
        if current is None:
            return None
        generations = tuple(tx.generations.live(supervisor_id))
        newest = tx.generations.newest(supervisor_id)
        seen = Observed(
            now=now,
            limits=sources.limits,
            current=current,
            specs=specs_of(tx, current, generations),
            committed=tx.offsets.of(supervisor_id),
            stream=StreamState(),
            generations=generations,
            newest=newest,
            tasks=tuple(tx.tasks.active(supervisor_id=supervisor_id)),
            last_attempts=tx.tasks.last_attempts([g.id for g in generations]),
            workers=(),
            failed_attempts=tx.tasks.failed_attempts([g.id for g in generations]),
            failures_in_a_row=tx.tasks.failures_in_a_row(supervisor_id),
            last_ended=tuple(tx.tasks.last_ended(supervisor_id, ENDED_TASKS)),
            dead_queues=tuple(
                row for row in tx.events.dead() if owner_of(row.queue.container) == supervisor_id
            ),
        )
        used = tx.tasks.slots_in_use()
    for task in (*seen.tasks, *seen.last_attempts.values()):
        if task.status is TaskStatus.UNKNOWN:
            raise UnknownWord(f"task {task.id}: {task.reason}")
    stream = StreamState()
    if current.spec is not None and look:
        stream = sources.streams.state(supervisor_id, current.spec)
    elif current.spec is not None:
        stream = sources.streams.last(supervisor_id) or stream
    workers = tuple(_with_slots(view, used) for view in sources.workers.views())
    led_since = now - sources.workers.led_for()
    return replace(seen, stream=stream, workers=workers, led_since=led_since)


def _with_slots(view: WorkerView, used: dict[str, int]) -> WorkerView:
    return replace(view, used_slots=used.get(view.id, 0))


def specs_of(
    tx: Transaction, current: AnyVersion, generations: Iterable[Generation]
) -> dict[int, SupervisorSpec]:
    """Return version -> spec, for the newest version and those of live generations.

    Versions that this release cannot read are left out.
    """
    spec = current.spec if isinstance(current, SpecVersion) else None
    specs = {} if spec is None else {current.version: spec}
    for version in sorted({g.spec_version for g in generations} - specs.keys()):
        with suppress(SpecUnreadable):
            row = tx.specs.version(current.supervisor_id, version)
            if row is not None and row.spec is not None:
                specs[version] = row.spec
    return specs
