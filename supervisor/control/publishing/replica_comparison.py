"""Comparison of replicas by their digests: at the publish, and when a late replica asks.

publish ─► each sibling's last report ─┐
a late request to publish ─────────────┴─► differs? the publication's row, an event, an alert
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from pydantic import JsonValue

from supervisor.core.history.lifecycle_events import EventKind, generation_event, shown_offsets
from supervisor.core.model.replica_digests import (
    Comparison,
    Divergence,
    ReplicaDigest,
    compare,
    diverged,
    read_by,
    records_of,
    why_of,
)
from supervisor.core.model.rows import AuditEntry, Generation, Publication
from supervisor.ports.store import Transaction
from tasks.contract.messages import PublishRequest, TaskReport

Compared = Mapping[Comparison, int]
"""Result of a comparison -> number of replicas."""


def compare_siblings(
    tx: Transaction,
    generation: Generation,
    request: PublishRequest,
    last_report: Callable[[str, str], TaskReport | None],
    now: datetime,
) -> Compared:
    """Compare the published digest with the last reports of the other running replicas.

    Runs in the caller's transaction, after the publication is added and before the others end.
    """
    others = [
        last_report(task.worker_id, task.id)
        for task in tx.tasks.of_generations([generation.id], active=True)
        if task.id != request.task_id
    ]
    silent = sum(report is None for report in others)
    digests = [read_by(report) for report in others if report is not None]
    found = _record_divergences(tx, generation, read_by(request), digests, now)
    return found + Counter({Comparison.UNKNOWN: silent})


def compare_late(
    tx: Transaction,
    generation: Generation,
    publication: Publication,
    request: PublishRequest,
    now: datetime,
) -> Compared:
    """Compare a replica that asks to publish a range that another has published.

    The replica was counted at the publish, so only a difference that is not recorded yet is
    returned.
    """
    winner = tx.tasks.get(publication.task_id)
    known = {one.task_id for one in publication.diverged}
    if winner is None or winner.totals is None or request.task_id in known:
        return {}
    records = records_of(winner.totals.counters)
    published = ReplicaDigest(winner.id, publication.end, records, publication.digest)
    found = _record_divergences(tx, generation, published, [read_by(request)], now)
    return {verdict: number for verdict, number in found.items() if verdict.differs}


def _record_divergences(
    tx: Transaction,
    generation: Generation,
    published: ReplicaDigest,
    others: Iterable[ReplicaDigest],
    now: datetime,
) -> Counter[Comparison]:
    comparisons: Counter[Comparison] = Counter()
    for other in others:
        comparisons[compare(published, other)] += 1
        if (one := diverged(published, other)) is not None:
            tx.segments.add_diverged(generation.id, one)
            _record_divergence(tx, generation, published, one, now)
    return comparisons


def _record_divergence(
    tx: Transaction,
    generation: Generation,
    published: ReplicaDigest,
    other: Divergence,
    now: datetime,
) -> None:
    why = why_of(published, other)
    detail: dict[str, JsonValue] = {
        "found": other.comparison.value,
        "start": shown_offsets(generation.start),
        "end": shown_offsets(published.end),
        "publishedBy": published.task_id,
        "digest": published.digest,
        "records": published.records,
        "other": other.task_id,
        "otherDigest": other.digest,
        "otherRecords": other.records,
        "why": why,
    }
    tx.happenings.record(generation_event(generation, EventKind.REPLICAS_DIVERGED, now, **detail))
    if other.comparison is Comparison.OTHER_ROWS:
        about = {"supervisor": generation.supervisor_id, "generation": generation.id, "why": why}
        tx.audit.write(AuditEntry(now, "overlord", "alert", other.task_id, about))
