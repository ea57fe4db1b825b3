"""Items of attention: what needs somebody, how badly, since when, and what may help.

    rule of a family ──► items ──► worst first ──► cut at a limit; the totals count all of them

A rule is a pure function from what rows and last passes say to items, so that the API, the console
and the command line give the same answer.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

from supervisor.core.attention.remedies import Remedy
from tasks.contract.offsets import TopicPartition


class Severity(StrEnum):
    """How badly an item needs somebody."""

    BROKEN = "broken"
    """Something does not work, and time alone does not mend it."""
    AT_RISK = "at-risk"
    """It works; if nobody acts it may break, or data may be lost."""
    TO_KNOW = "to-know"
    """Nothing is at stake now."""


class AttentionKind(StrEnum):
    """The rule that an item comes from."""

    DATABASE_SILENT = "database-silent"
    NO_LEADER = "no-leader"
    LEADER_REPLACED = "leader-replaced"
    STREAM_SILENT = "stream-silent"
    SUPERVISOR_UNHEALTHY = "supervisor-unhealthy"
    RETENTION_PASSED = "retention-passed"
    RETENTION_RISK = "retention-risk"
    LAG_RISING = "lag-rising"
    SUSPENDED_BEHIND = "suspended-behind"
    HANDOFF_LATE = "handoff-late"
    NO_WORKERS = "no-workers"
    REPLICAS_PENDING = "replicas-pending"
    REPLICAS_DIVERGED = "replicas-diverged"
    BAD_RECORDS_NEW = "bad-records-new"
    WORKER_LOST = "worker-lost"
    WORKER_SILENT = "worker-silent"
    WORKER_VERSIONS = "worker-versions"
    QUEUE_DEAD = "queue-dead"
    QUEUE_LATE = "queue-late"
    EVENTS_FAILED = "events-failed"
    EXPORT_STUCK = "export-stuck"
    EXPORT_BEHIND = "export-behind"
    PERSISTER_SILENT = "persister-silent"
    PERSISTER_STOPPED = "persister-stopped"
    REPORTS_BEHIND = "reports-behind"
    DEAD_LETTERS = "dead-letters"
    ARCHIVE_BEHIND = "archive-behind"
    FLOWS_STAND_STILL = "flows-stand-still"
    EXECUTIONS_FAILED = "executions-failed"
    DEAD_INPUTS = "dead-inputs"
    CERTIFICATE_ENDING = "certificate-ending"
    TOKEN_ENDING = "token-ending"  # noqa: S105 -- a word


class SubjectKind(StrEnum):
    """What kind of thing an item is about."""

    CLUSTER = "cluster"
    BROKERS = "brokers"
    """Its id is the list of bootstrap servers, sorted."""
    SUPERVISOR = "supervisor"
    WORKER = "worker"
    QUEUE = "queue"
    """Its id is `container/name`."""
    EXPORT = "export"
    """Its id is `table/format`."""
    PERSISTER = "persister"
    """Its id is its address."""
    PRINCIPAL = "principal"


@dataclass(frozen=True, order=True)
class Subject:
    """What an item is about."""

    kind: SubjectKind
    id: str
    """Empty: the cluster itself."""


THE_CLUSTER = Subject(SubjectKind.CLUSTER, "")


@dataclass(frozen=True)
class AttentionItem:
    """One thing that needs somebody."""

    severity: Severity
    kind: AttentionKind
    about: Subject
    text: str
    """One sentence for somebody who was just woken up."""
    since: datetime | None
    """When it began, as far as rows or passes of this leader show; None: not known."""
    remedies: tuple[Remedy, ...] = ()
    data_source: str | None = None
    """The table that the permissions of its remedies are for; None: no table, or several ones."""
    supervisors: tuple[str, ...] = ()
    """Ids of the supervisors that it concerns, of an item that may concern several ones."""
    partitions: tuple[TopicPartition, ...] = ()
    """The partitions of its supervisor that are worst off, the worst first, of an item about some.
    """


@dataclass(frozen=True)
class AttentionList:
    """All that needs somebody, worst first, cut at a limit."""

    items: Sequence[AttentionItem] = ()
    totals: Mapping[Severity, int] = field(default_factory=dict)
    """Severity -> the number of items, those beyond the limit too."""

    @property
    def left_out(self) -> int:
        """The number of items beyond the limit."""
        return sum(self.totals.values()) - len(self.items)


_RANKS = {severity: rank for rank, severity in enumerate(Severity)}
_NEVER = datetime.max.replace(tzinfo=UTC)


def worst_first(items: Iterable[AttentionItem], limit: int) -> AttentionList:
    """Return items by severity, then the oldest first; those of unknown age are last."""
    every = sorted(items, key=_rank)
    totals = Counter(item.severity for item in every)
    return AttentionList(every[:limit], {severity: totals[severity] for severity in Severity})


def _rank(item: AttentionItem) -> tuple[int, datetime, Subject, AttentionKind, str]:
    return _RANKS[item.severity], item.since or _NEVER, item.about, item.kind, item.text
