"""The desired state of a worker, from the stored rows alone: the answer to its sync."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType

from supervisor.control.declared_types import last_spec
from supervisor.core.model.rows import (
    CommittedOffset,
    Generation,
    GenerationState,
    Segment,
    Task,
    TaskStatus,
)
from supervisor.core.spec.spec import SupervisorSpec, ingest_spec
from supervisor.core.tables.compaction import Compaction
from supervisor.core.values.errors import SpecUnreadable, SupervisorNotFound
from supervisor.core.values.table_names import is_errors_table
from supervisor.ports.store import Transaction
from tasks.contract.ingest_spec import DEFAULT_FORMAT, FileFormat
from tasks.contract.messages import (
    CompactionInput,
    DesiredCompaction,
    DesiredTask,
    KeptOrder,
    Order,
    RunState,
    SyncResponse,
)
from tasks.contract.offsets import TopicPartition


@dataclass(frozen=True)
class SupervisorShare:
    """What a worker should run of one supervisor."""

    rows: tuple[Task, ...]
    """The active tasks that the share was worked out for."""
    tasks: tuple[DesiredTask, ...]
    kept: tuple[str, ...]
    orders: tuple[KeptOrder, ...]
    digest: bytes
    """Digest of the share without its term."""


@dataclass(frozen=True)
class DesiredState:
    """What a worker should run, and what that depends on beside the worker's own rows."""

    answer: SyncResponse
    shares: Mapping[str, SupervisorShare]
    """Supervisor -> its share."""
    supervisors: frozenset[str]
    """The supervisors of its tasks and compactions."""
    tables: frozenset[str]
    """The tables of its compactions, whose inputs may be taken out."""


def desired_state(
    tx: Transaction, worker_id: str, term: int, pause_lease: timedelta
) -> SyncResponse:
    """Return every task and compaction that the worker should run, in one consistent view.

    The worker stops every task that is not listed.  A task is kept, not stopped, if a newer release
    wrote its spec or range: this release cannot read it.  A kept task has orders only if its
    supervisor's newest version is readable here, or is a tombstone.  The revision is a digest of
    the answer without the term, so that a new leader with the same desired state wakes no worker.
    """
    return look(tx, worker_id, term, pause_lease).answer


def look(
    tx: Transaction,
    worker_id: str,
    term: int,
    pause_lease: timedelta,
    still: Mapping[str, SupervisorShare] = MappingProxyType({}),
) -> DesiredState:
    """Work out the desired state; see `desired_state`.

    `still` maps supervisor -> a share of the same term that nothing has touched.  It is used again,
    unless the rows of its tasks differ.
    """
    active = tx.tasks.active(worker_id=worker_id)
    rows: dict[str, list[Task]] = {}
    for task in active:
        rows.setdefault(task.supervisor_id, []).append(task)
    shares = {
        name: still[name]
        for name, mine in rows.items()
        if name in still and still[name].rows == tuple(mine)
    }
    lacking = {name: tuple(mine) for name, mine in rows.items() if name not in shares}
    shares |= _shares(tx, lacking, term, pause_lease)
    live = tx.compactions.live(worker_id=worker_id)
    compactions = tuple(found for row in live if (found := _compaction(tx, row)))
    disabled = not tx.workers.takes_tasks(worker_id)
    return DesiredState(
        answer=_answer(term, shares, compactions, disabled=disabled),
        shares=shares,
        supervisors=frozenset(rows) | {row.supervisor_id for row in live},
        tables=frozenset(row.data_source for row in live),
    )


def _answer(
    term: int,
    shares: Mapping[str, SupervisorShare],
    compactions: tuple[DesiredCompaction, ...],
    *,
    disabled: bool,
) -> SyncResponse:
    digest = hashlib.sha256(b"disabled" if disabled else b"")
    in_order = [shares[name] for name in sorted(shares)]
    for share in in_order:
        digest.update(share.digest)
    for compaction in compactions:
        digest.update(compaction.to_json().encode())
    return SyncResponse(
        term=term,
        revision=digest.hexdigest()[:20],
        tasks=tuple(task for share in in_order for task in share.tasks),
        compactions=compactions,
        disabled=disabled,
        kept=tuple(task_id for share in in_order for task_id in share.kept),
        kept_orders=tuple(order for share in in_order for order in share.orders),
    )


def _shares(
    tx: Transaction, rows: Mapping[str, tuple[Task, ...]], term: int, pause_lease: timedelta
) -> dict[str, SupervisorShare]:
    """Return supervisor -> its share, for the active tasks of each in `rows`.

    The number of queries does not depend on the number of tasks, unless a spec cannot be read.
    """
    if not rows:
        return {}
    generations = tx.generations.rows_of([t.generation_id for mine in rows.values() for t in mine])
    versions = tx.specs.versions([(g.supervisor_id, g.spec_version) for g in generations.values()])
    committed = tx.offsets.of_each(list(rows))
    shares: dict[str, SupervisorShare] = {}
    for name, mine in rows.items():
        tasks: list[DesiredTask] = []
        kept: list[str] = []
        orders: list[KeptOrder] = []
        for task in mine:
            generation = generations.get(task.generation_id)
            of_newer_release = (
                generation is not None and generation.state is GenerationState.UNKNOWN
            )
            if of_newer_release or task.status is TaskStatus.UNKNOWN:
                kept.append(task.id)
                continue
            if generation is None or not generation.live:
                continue
            order = _order(generation, term, pause_lease)
            version = versions.get((name, generation.spec_version))
            if isinstance(version, SpecUnreadable):
                kept.append(task.id)
                if not isinstance(tx.specs.newest_stored(name), SpecUnreadable):
                    turn = _has_its_turn(committed[name], generation)
                    orders.append(KeptOrder(task_id=task.id, order=order, turn=turn))
            elif version is not None and version.spec is not None:
                tasks.append(_desired(task, generation, version.spec, order, committed[name]))
        digest = _digest(tasks, kept, orders)
        shares[name] = SupervisorShare(mine, tuple(tasks), tuple(kept), tuple(orders), digest)
    return shares


def _digest(
    tasks: Sequence[DesiredTask], kept: Sequence[str], orders: Sequence[KeptOrder]
) -> bytes:
    digest = hashlib.sha256()
    ordered: list[DesiredTask | KeptOrder] = [*tasks, *orders]
    for wanted in ordered:
        order = wanted.order.model_copy(update={"term": 0})
        digest.update(wanted.model_copy(update={"order": order}).to_json().encode())
    for task_id in kept:
        digest.update(f"kept {task_id}".encode())
    return digest.digest()


def _compaction(tx: Transaction, row: Compaction) -> DesiredCompaction | None:
    """Return the worker's orders for a compaction; None: one of its inputs left the table."""
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
    """Return the file format of the supervisor's newest spec, also of a terminated supervisor."""
    try:
        return last_spec(tx, supervisor_id).tuning_config.index_spec.contract()
    except (SpecUnreadable, SupervisorNotFound):
        return DEFAULT_FORMAT  # every reader accepts any format: do not wait for this spec


def inputs_of(tx: Transaction, row: Compaction) -> list[Segment] | None:
    """Return the inputs of a compaction; None: one of them is no longer part of the table."""
    found = tx.segments.choose(row.data_source, ids=row.inputs)
    used = [segment for segment in found if segment.used]
    return used if len(used) == len(row.inputs) else None


def _desired(
    task: Task,
    generation: Generation,
    spec: SupervisorSpec,
    order: Order,
    committed: Mapping[TopicPartition, CommittedOffset],
) -> DesiredTask:
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
        turn=_has_its_turn(committed, generation),
        debug=spec.debug,
    )


def _has_its_turn(
    committed: Mapping[TopicPartition, CommittedOffset], generation: Generation
) -> bool:
    """Whether the range's end is fixed and every predecessor is published."""
    return generation.end is not None and all(
        committed[p].next_offset == offset for p, offset in generation.start.items()
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
