"""What a worker should run, from the rows alone: the answer to its sync."""

import hashlib
from datetime import timedelta

from supervisor.core.compaction import Compaction
from supervisor.core.data_source import is_errors_table
from supervisor.core.errors import SpecUnreadable, UnknownWord
from supervisor.core.model import Generation, GenerationState, Segment, Task
from supervisor.core.spec import SupervisorSpec, ingest_spec
from supervisor.ports import Transaction
from tasks.contract import (
    CompactionInput,
    DesiredCompaction,
    DesiredTask,
    Order,
    RunState,
    SyncResponse,
)
from tasks.ingest_spec import DEFAULT_FORMAT, FileFormat


def desired_state(
    tx: Transaction, worker_id: str, term: int, pause_lease: timedelta
) -> SyncResponse:
    """Return every task and compaction that the worker should run, in one consistent view.

    What is not listed is to be stopped.  A task whose spec or range cannot be read here, for a
    newer release wrote it, is kept as it is: its worker goes on, and every other task is served.
    The revision is a digest of the answer without the term, so that a new leader who wants the same
    wakes nobody.
    """
    assigned = tx.tasks.active(worker_id=worker_id)
    tasks: list[DesiredTask] = []
    kept: list[str] = []
    specs: dict[tuple[str, int], SupervisorSpec] = {}
    for task in assigned:
        try:
            generation = tx.generations.get(task.generation_id)
        except UnknownWord:
            kept.append(task.id)
            continue
        if generation is None or not generation.live:
            continue
        key = (task.supervisor_id, generation.spec_version)
        if key not in specs:
            try:
                row = tx.specs.version(*key)
            except SpecUnreadable:
                kept.append(task.id)
                continue
            if row is None or row.spec is None:
                continue
            specs[key] = row.spec
        order = _order(generation, term, pause_lease)
        tasks.append(_desired(tx, task, generation, specs[key], order))
    compactions = [
        found for row in tx.compactions.live(worker_id=worker_id) if (found := _compaction(tx, row))
    ]
    disabled = not tx.workers.takes_tasks(worker_id)
    digest = hashlib.sha256(b"disabled" if disabled else b"")
    for wanted in tasks:
        order = wanted.order.model_copy(update={"term": 0})
        digest.update(wanted.model_copy(update={"order": order}).to_json().encode())
    for compaction in compactions:
        digest.update(compaction.to_json().encode())
    for task_id in kept:
        digest.update(f"kept {task_id}".encode())
    return SyncResponse(
        term=term,
        revision=digest.hexdigest()[:20],
        tasks=tuple(tasks),
        compactions=tuple(compactions),
        disabled=disabled,
        kept=tuple(kept),
    )


def _compaction(tx: Transaction, row: Compaction) -> DesiredCompaction | None:
    """Return what its worker should do; None: a file was taken out, there is nothing to do."""
    inputs = inputs_of(tx, row)
    if inputs is None:
        return None
    raw = is_errors_table(row.data_source)
    return DesiredCompaction(
        compaction_id=row.id,
        token=row.token,
        data_source=row.data_source,
        inputs=tuple(CompactionInput(file=s.file, columns=s.columns) for s in inputs),
        columns=row.columns,
        files=DEFAULT_FORMAT if raw else _format_of(tx, row.supervisor_id),
        raw=raw,
    )


def _format_of(tx: Transaction, supervisor_id: str) -> FileFormat:
    """Return how its newest spec, also one that was ended, wants files written."""
    try:
        versions = tx.specs.history(supervisor_id, 2)
    except SpecUnreadable:
        return DEFAULT_FORMAT  # any format is read: a table of other supervisors is not held up
    found = next((version.spec for version in versions if version.spec is not None), None)
    return DEFAULT_FORMAT if found is None else found.tuning_config.index_spec.contract()


def inputs_of(tx: Transaction, row: Compaction) -> list[Segment] | None:
    """Return what a compaction reads; None: one of them is no part of the table any more."""
    found = tx.segments.choose(row.data_source, ids=row.inputs)
    used = [segment for segment in found if segment.used]
    return used if len(used) == len(row.inputs) else None


def _desired(
    tx: Transaction,
    task: Task,
    generation: Generation,
    spec: SupervisorSpec,
    order: Order,
) -> DesiredTask:
    committed = tx.offsets.of(task.supervisor_id)
    turn = generation.end is not None and all(
        committed[p].next_offset == offset for p, offset in generation.start.items()
    )
    ends = spec.io_config.ends
    return DesiredTask(
        task_id=task.id,
        token=task.token,
        supervisor_id=task.supervisor_id,
        generation_id=generation.id,
        group=generation.group,
        replica=task.replica,
        attempt=task.attempt,
        taken_up=task.taken_up,
        spec=ingest_spec(spec, generation.opened_at),
        start=dict(generation.start),
        bound=None if ends is None else {p: ends[p] for p in generation.start},
        topic_ids={p.topic: committed[p].topic_id for p in generation.start},
        order=order,
        turn=turn,
    )


def _order(generation: Generation, term: int, pause_lease: timedelta) -> Order:
    pausing = generation.state is GenerationState.PAUSING
    return Order(
        term=term,
        sequence=generation.sequence,
        state=RunState.PAUSE if pausing else RunState.RUN,
        end=None if generation.end is None else dict(generation.end),
        pause_lease=pause_lease,
    )
