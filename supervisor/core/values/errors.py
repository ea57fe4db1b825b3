"""The one error tree of the control plane: raised on purpose, with its facts as attributes.

    SupervisorError
    ├─ Refused       terminal for the request: the same request fails again
    ├─ Unavailable   transient: something outside did not answer
    └─ LeaseLost     terminal for this leader: a newer term exists

A bug is outside the tree, and nobody catches it by name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from supervisor.core.values.spec_facts import SpecFacts


class SupervisorError(Exception):
    """Base of all deliberate errors; the message names the problem, its place and the remedy."""


class Refused(SupervisorError):
    """The request cannot be carried out as it is; the caller decides what to change."""


class Unavailable(SupervisorError):
    """An external system did not answer; the same request may succeed later."""


class LeaseLost(SupervisorError):
    """Another overlord leads, or none does yet; `leader` is the leader's address, if known."""

    def __init__(self, message: str, leader: str | None = None) -> None:
        super().__init__(message)
        self.leader = leader


@dataclass(frozen=True)
class FieldError:
    """One error in a document: its place (JSON pointer), the problem, and the remedy."""

    pointer: str
    message: str
    hint: str = ""


class InvalidSpec(Refused):
    """A spec is not acceptable; `errors` names each field."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        """Build the text from the errors."""
        self.errors = tuple(errors)
        super().__init__(
            "; ".join(
                f"{e.pointer or '/'}: {e.message}" + (f" ({e.hint})" if e.hint else "")
                for e in self.errors
            )
        )


class InvalidOffsets(Refused):
    """Reading cannot continue at the requested offsets; `errors` names each partition."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        """Build the text from the errors."""
        self.errors = tuple(errors)
        super().__init__("; ".join(f"{e.message} ({e.hint})" for e in self.errors))


class TopicMissing(Refused):
    """Kafka answers, but does not have the topic of the request."""


class SupervisorNotFound(Refused):
    """There is no such supervisor; Druid's clients match the text of this error."""

    def __init__(self, supervisor_id: str) -> None:
        super().__init__(f"Cannot find any supervisor with id: [{supervisor_id}]")
        self.supervisor_id = supervisor_id


class NoHistory(Refused):
    """No version was ever stored under this id."""

    def __init__(self, supervisor_id: str) -> None:
        super().__init__(f"No history for [{supervisor_id}].")
        self.supervisor_id = supervisor_id


class AlreadyInState(Refused):
    """The supervisor already has the requested state: suspended or running."""

    def __init__(self, supervisor_id: str, state: str) -> None:
        super().__init__(f"[{supervisor_id}] is already {state}")
        self.supervisor_id = supervisor_id
        self.state = state


class TaskNotFound(Refused):
    """There is no such task."""

    def __init__(self, task_id: str) -> None:
        super().__init__(f"Cannot find any task with id: [{task_id}]")
        self.task_id = task_id


class SegmentsMoved(Refused):
    """The request wants the segments of one task, which another route lists."""


class NotOffered(Refused):
    """A feature of Druid that Tidegate does not have; the text names an alternative."""


class NotAllowed(Refused):
    """The caller did not prove that it may do this: a missing or wrong token."""


class SecretMissing(Refused):
    """A spec names a secret that this process does not have."""


class WorkerFenced(Refused):
    """A newer incarnation of this worker has registered; this process must stop."""

    def __init__(self, worker_id: str, incarnation: int, newest: int) -> None:
        """Name both incarnations."""
        super().__init__(
            f"worker {worker_id} incarnation {incarnation} is fenced by incarnation {newest}"
        )
        self.worker_id = worker_id


class StaleCommit(Refused):
    """The committed offset, topic id or reset epoch of a partition is not what a commit expects."""

    def __init__(self, supervisor_id: str, partition: str, expected: int | None) -> None:
        """`expected` is the expected offset; None: no row was expected."""
        told = "there is one" if expected is None else f"it is not {expected}"
        super().__init__(f"{supervisor_id} {partition}: committed offset: {told}")
        self.supervisor_id = supervisor_id
        self.partition = partition
        self.expected = expected


class StateMoved(Refused):
    """A guarded write found another state than the expected one: another write came first."""


class KeyTakenOver(Refused):
    """An action took so long that a repeated request with its Idempotency-Key acts instead."""


class SchemaTooNew(Refused):
    """The metadata database was migrated by a newer Tidegate than this one."""


class DowngradeRefused(Refused):
    """The metadata database is not downgraded to an earlier schema, because that would do harm."""


class UnknownWord(Unavailable):
    """A row has a word that this release does not know, because a newer release wrote the row."""


class SpecUnreadable(Unavailable):
    """A stored spec that this release cannot read; the newer release that wrote the spec can.

    `release` is the release that wrote the spec, or None if it is not known.  `created_at` is when
    the spec was stored.  `facts` are the parts of the spec that this release can still read.
    """

    def __init__(
        self,
        supervisor_id: str,
        version: int,
        release: str | None,
        errors: Sequence[FieldError],
        *,
        created_at: datetime,
        facts: SpecFacts,
    ) -> None:
        """Build the text from the facts."""
        self.supervisor_id = supervisor_id
        self.version = version
        self.release = release
        self.errors = tuple(errors)
        self.created_at = created_at
        self.facts = facts
        by = f"Tidegate {release}" if release else "another release of Tidegate"
        why = "; ".join(f"{e.pointer or '/'}: {e.message}" for e in self.errors[:3])
        super().__init__(
            f"version {version} of the spec of {supervisor_id} was written by {by} and cannot be "
            f"read here ({why}). While it is the newest, its tasks go on with what they were "
            "ordered last, and nothing is decided for it: POST a spec that this release reads, "
            "terminate it, or let an overlord of that release, or of a newer one, lead"
        )

    @property
    def data_source(self) -> str | None:
        """The table of the spec; None: there is no name at the usual place in the document."""
        return self.facts.data_source


class MetadataBusy(Unavailable):
    """The metadata database did not accept the transaction in time."""


class MetadataUnavailable(Unavailable):
    """The metadata database cannot be reached."""


class StreamUnavailable(Unavailable):
    """Kafka did not answer within its deadline."""


class WorkerUnavailable(Unavailable):
    """A worker did not answer within its deadline."""


class StorageUnavailable(Unavailable):
    """The warehouse is missing or does not answer; it must not count as an empty warehouse."""


class DataSourceNotFound(Refused):
    """No supervisor feeds, and nothing was published into, a table of this name."""

    def __init__(self, data_source: str) -> None:
        """Name the table."""
        super().__init__(f"Cannot find any dataSource with name: [{data_source}]")
        self.data_source = data_source


class CompactionNotFound(Refused):
    """There is no compaction of this id."""

    def __init__(self, wanted: str) -> None:
        """Name it."""
        super().__init__(f"Cannot find any compaction with id: [{wanted}]")
        self.compaction_id = wanted


class UnusableFiles(Refused):
    """The offered files do not fit the range or lie outside the task's own folder."""
