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
    """Base of everything raised on purpose; the message says what, where and what to do."""


class Refused(SupervisorError):
    """The request cannot be carried out as it is; the caller decides what to change."""


class Unavailable(SupervisorError):
    """Something outside did not answer; the same request may go through later."""


class LeaseLost(SupervisorError):
    """Another overlord leads, or none does yet; `leader` is its address, if known."""

    def __init__(self, message: str, leader: str | None = None) -> None:
        """Keep the leader's address beside the text."""
        super().__init__(message)
        self.leader = leader


@dataclass(frozen=True)
class FieldError:
    """One thing that is wrong in a document: where (JSON pointer), what, and what to do."""

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
    """Reading cannot go on at offsets that were asked for; `errors` names each partition."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        """Build the text from the errors."""
        self.errors = tuple(errors)
        super().__init__("; ".join(f"{e.message} ({e.hint})" for e in self.errors))


class TopicMissing(Refused):
    """Kafka answers, and has not the topic that the request is about."""


class SupervisorNotFound(Refused):
    """There is no such supervisor; the text is the one Druid's clients match."""

    def __init__(self, supervisor_id: str) -> None:
        """Name the id."""
        super().__init__(f"Cannot find any supervisor with id: [{supervisor_id}]")
        self.supervisor_id = supervisor_id


class NoHistory(Refused):
    """Nothing was ever stored under this id."""

    def __init__(self, supervisor_id: str) -> None:
        """Name the id."""
        super().__init__(f"No history for [{supervisor_id}].")
        self.supervisor_id = supervisor_id


class AlreadyInState(Refused):
    """A supervisor is asked to become what it is: suspended or running."""

    def __init__(self, supervisor_id: str, state: str) -> None:
        """Name the id and the state."""
        super().__init__(f"[{supervisor_id}] is already {state}")
        self.supervisor_id = supervisor_id
        self.state = state


class TaskNotFound(Refused):
    """There is no such task."""

    def __init__(self, task_id: str) -> None:
        """Name the id."""
        super().__init__(f"Cannot find any task with id: [{task_id}]")
        self.task_id = task_id


class SegmentsMoved(Refused):
    """Segments of one task are asked for, which are listed elsewhere."""


class NotOffered(Refused):
    """Druid has this, Tidegate does not; the text says what to do instead."""


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
    """A partition no longer stands where a commit starts: offset, topic id or reset epoch."""

    def __init__(self, supervisor_id: str, partition: str, expected: int | None) -> None:
        """Name the partition and the offset that was expected; None: that there is none."""
        told = "there is one" if expected is None else f"it is not {expected}"
        super().__init__(f"{supervisor_id} {partition}: committed offset: {told}")
        self.supervisor_id = supervisor_id
        self.partition = partition
        self.expected = expected


class StateMoved(Refused):
    """A guarded write found another state than it expected: somebody was there first."""


class KeyTakenOver(Refused):
    """An action took so long that a repeat with its Idempotency-Key acts in its place."""


class SchemaTooNew(Refused):
    """The metadata database was migrated by a newer Tidegate than this one."""


class DowngradeRefused(Refused):
    """The metadata database is not brought back to an earlier schema: somebody would be hurt."""


class UnknownWord(Unavailable):
    """A row has a word that this release does not know: a newer one wrote it."""


class SpecUnreadable(Unavailable):
    """A stored spec that this release cannot read; a newer one, which wrote it, can.

    `release` is the release that wrote it, None if that is not known; `created_at` is when it was
    stored; `facts` is what of it is known here all the same.
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
        """The table that it names; None: it names none where specs name theirs."""
        return self.facts.data_source


class MetadataBusy(Unavailable):
    """The metadata database did not take the transaction in time."""


class MetadataUnavailable(Unavailable):
    """The metadata database cannot be reached."""


class StreamUnavailable(Unavailable):
    """Kafka did not answer within its deadline."""


class WorkerUnavailable(Unavailable):
    """A worker did not answer within its deadline."""


class StorageUnavailable(Unavailable):
    """The warehouse is not there or does not answer; it is not taken for an empty one."""


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
