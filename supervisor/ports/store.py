"""Ports of the control plane, as Protocols: metadata store, Kafka and workers.

A `Store` gives transactions, and a transaction gives repositories.  The caller owns the
transaction.  Every write of a leader happens in `leading(term)`, which begins with a read of the
term row (P1).  SQLite and PostgreSQL pass one conformance suite.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Protocol

from supervisor.core.model.rows import (
    AuditEntry,
    Lease,
    StoredPlan,
    Task,
    TaskStatus,
    TaskTotals,
)
from supervisor.core.model.task_query import FoundTasks, TaskPlace, TaskQuery
from supervisor.core.planning.observed import StreamState, WorkerView
from supervisor.core.planning.wake_condition import WakeCondition
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.intervals import Interval
from supervisor.ports.access import Access
from supervisor.ports.expiry import Expiry
from supervisor.ports.generations import Generations, OffsetsTable
from supervisor.ports.idempotency import ActsOnce, Keys
from supervisor.ports.lifecycle import LifecycleEvents
from supervisor.ports.operations import OperationsTable
from supervisor.ports.queue_events import Events, Heard
from supervisor.ports.reports.archive import Archive
from supervisor.ports.specs import Specs
from supervisor.ports.state_history import Watched
from supervisor.ports.tables.compaction import Compactions
from supervisor.ports.tables.exports import Exports
from supervisor.ports.tables.segments import Retention, Segments
from supervisor.ports.touched import OnTouched
from supervisor.ports.workers.workers import WorkersTable
from tasks.contract.messages import PublishOutcome


class Tasks(Protocol):
    """Attempts of replicas; the row of a task is committed before the task writes a byte."""

    def start(self, task: Task) -> bool:
        """Insert an active task; False, changing nothing, if its id exists.

        Raises:
            StateMoved: the (generation, replica) has another active task.
        """
        ...

    def get(self, task_id: str) -> Task | None:
        """Return one task."""
        ...

    def active(self, supervisor_id: str | None = None, worker_id: str | None = None) -> list[Task]:
        """Return active tasks, of one supervisor or worker or of all, by id."""
        ...

    def last_attempts(self, generation_ids: Sequence[str]) -> dict[tuple[str, int], Task]:
        """Return (generation, replica) -> the ended task with the highest attempt."""
        ...

    def of_generations(self, generation_ids: Sequence[str], *, active: bool = False) -> list[Task]:
        """Return every task of these generations, by id, or only those that run.

        A range that fails for long may have had thousands.
        """
        ...

    def find(
        self,
        *,
        status: TaskStatus | None = None,
        data_source: str | None = None,
        supervisor_id: str | None = None,
        created: Interval | None = None,
        limit: int = 100,
    ) -> list[Task]:
        """Return tasks, newest first; `created` bounds the times when they were created."""
        ...

    def page(self, wanted: TaskQuery, limit: int, before: TaskPlace | None = None) -> FoundTasks:
        """Return wanted tasks behind a place, newest first.

        At most 10,000 tasks are looked at: those of a supervisor, range or status come from an
        index, and the other conditions are tried on them.  So a page may have fewer rows than
        `limit`, or none, and still a place behind it.
        """
        ...

    def slots_in_use(self) -> dict[str, int]:
        """Return worker -> the number of its active tasks in open generations, which hold slots.

        Workers without such tasks are left out.  This is one grouped query, whatever the number of
        supervisors.
        """
        ...

    def end(
        self,
        task_id: str,
        status: TaskStatus,
        reason: str,
        now: datetime,
        *,
        lost: bool = False,
        totals: TaskTotals | None = None,
    ) -> bool:
        """RUNNING -> `status`; False: the task had ended already, and keeps its status."""
        ...

    def store_outcome(self, task_id: str, outcome: PublishOutcome, *, published: bool) -> None:
        """Store the final answer to the publish request of a task."""
        ...

    def take_up(
        self,
        worker_id: str,
        incarnation: int,
        tokens: Mapping[str, str],
        unseen: Collection[str] = (),
    ) -> None:
        """Give active tasks of a worker to its new incarnation, each with a new token (P7).

        Those of `unseen` begin: no incarnation of the worker has a journal of them.
        """
        ...

    def failures_in_a_row(self, supervisor_id: str) -> int:
        """Return the number of failed tasks that ended after the last success.

        Lost tasks do not count (`Task.lost`).
        """
        ...

    def last_ended(self, supervisor_id: str, limit: int) -> list[Task]:
        """Return the last tasks that ended by themselves, not lost, newest first."""
        ...

    def failed_attempts(self, generation_ids: Sequence[str]) -> dict[str, int]:
        """Return generation -> its number of failed tasks, not lost ones; zero is left out."""
        ...

    def rows_of(self, task_ids: Sequence[str]) -> dict[str, Task]:
        """Return id -> task, for the tasks that exist."""
        ...

    def folder_deleted(self, task_id: str, now: datetime) -> None:
        """Record that the output folder is empty for good."""
        ...

    def unsettled_folders(self) -> list[Task]:
        """Return ended tasks, by id, whose folders may hold unnamed files; STALE ones too."""
        ...


class Plans(Protocol):
    """The last plans of each supervisor; beyond a bound, old plans are deleted."""

    def record(self, plan: StoredPlan) -> None:
        """Store a plan."""
        ...

    def recent(self, supervisor_id: str, limit: int) -> list[StoredPlan]:
        """Return plans, newest first."""
        ...

    def page(
        self,
        supervisor_id: str,
        limit: int,
        *,
        before: int | None = None,
        until: datetime | None = None,
    ) -> list[tuple[int, StoredPlan]]:
        """Return (number, plan), newest first: lower numbers than `before`, made before `until`."""
        ...

    def forget(self, supervisor_id: str) -> None:
        """Delete the plans of a supervisor."""
        ...


class Audit(Protocol):
    """The append-only audit log of changes."""

    def write(self, entry: AuditEntry) -> None:
        """Append an entry."""
        ...

    def recent(self, limit: int) -> list[AuditEntry]:
        """Return entries, newest first."""
        ...

    def page(
        self,
        limit: int,
        *,
        before: int | None = None,
        supervisor_id: str | None = None,
        action: str | None = None,
        actor: str | None = None,
    ) -> list[tuple[int, AuditEntry]]:
        """Return (number, entry) of the entries that match, newest first.

        With `before`, only lower numbers are returned.  An entry belongs to a supervisor if the
        supervisor is its subject or its detail `supervisor`.
        """
        ...


class Installation(Protocol):
    """The identity of the metadata database."""

    def name(self) -> str:
        """Return the name that the database got when its schema was created; it never changes."""
        ...


class LeaseTable(Protocol):
    """The leadership lease: a term row and a renewal row (P1, P2)."""

    def read(self) -> Lease | None:
        """Return the lease; None if nobody ever led."""
        ...

    def take(self, seen: Lease | None, holder: str, url: str) -> Lease | None:
        """Take over with term + 1 if the lease is still `seen`; None: another was faster."""
        ...

    def renew(self, term: int, holder: str) -> bool:
        """Add one to the renewals; False: the lease no longer has this term and holder."""
        ...

    def release(self, term: int, holder: str) -> None:
        """Release the lease on a graceful stop, so that the next candidate need not wait."""
        ...


class Transaction(Protocol):
    """One transaction: committed when its block ends, rolled back when the block raises."""

    specs: Specs
    offsets: OffsetsTable
    generations: Generations
    tasks: Tasks
    workers: WorkersTable
    segments: Segments
    retention: Retention
    exports: Exports
    compactions: Compactions
    plans: Plans
    audit: Audit
    lease: LeaseTable
    events: Events
    installation: Installation
    happenings: LifecycleEvents
    operations: OperationsTable
    watched: Watched
    keys: Keys
    access: Access
    expiry: Expiry
    archive: Archive


class Store(Protocol):
    """The metadata database."""

    def reading(self) -> AbstractContextManager[Transaction]:
        """Open a read-only transaction with one consistent view."""
        ...

    def writing(self) -> AbstractContextManager[Transaction]:
        """Open a writing transaction without a term, for the lease, principals and denied tries."""
        ...

    def leading(self, term: int) -> AbstractContextManager[Transaction]:
        """Open a writing transaction of a leader.

        Raises:
            LeaseLost: `term` is not the present one.
            MetadataBusy: the database did not accept the transaction in time.
            MetadataUnavailable: the database cannot be reached.
        """
        ...

    def on_added(self, heard: Heard) -> None:
        """Call `heard` after each commit of this process that added queued events."""
        ...


class TouchingStore(Store, Protocol):
    """A store that says what its transactions may have changed for workers."""

    def on_touched(self, heard: OnTouched) -> None:
        """Call `heard` after each commit that touched something, before its caller goes on.

        A commit without an answer is announced too: it may have been carried out.
        """
        ...


class ActingStore(Store, ActsOnce, Protocol):
    """A store in which the action of an idempotency key is carried out once."""


class OverlordStore(TouchingStore, ActingStore, Protocol):
    """The store of an overlord process."""


class Streams(Protocol):
    """Kafka as supervisors see it: answers from a cache, which background requests refresh."""

    def state(self, supervisor_id: str, spec: SupervisorSpec) -> StreamState:
        """Return the last known state of the supervisor's topic; at first it is CONNECTING."""
        ...

    def last(self, supervisor_id: str) -> StreamState | None:
        """Return the same without asking Kafka, now or later; None: there was no look yet."""
        ...

    def forget(self, supervisor_id: str) -> None:
        """Stop looking at Kafka for this supervisor."""
        ...


class Workers(Protocol):
    """Soft state of the workers, refilled by one round of syncs (P4)."""

    def views(self) -> tuple[WorkerView, ...]:
        """Return every registered worker with its liveness and last reports, by id."""
        ...

    def starts(self, task_id: str, worker_id: str, term: int) -> None:
        """Record a new task of a worker, before its row is stored in `term`."""
        ...

    def watch(self, supervisor_id: str, milestones: Mapping[str, WakeCondition]) -> None:
        """Wake the loop when a task reaches its wake condition; replaces the conditions before."""
        ...

    def reads(self, supervisor_id: str, tasks: Sequence[Task]) -> None:
        """Record the active tasks of a supervisor: its rows per second are theirs."""
        ...

    def led_for(self) -> timedelta:
        """Return how long this overlord has led without a lapse; zero if it does not lead."""
        ...
