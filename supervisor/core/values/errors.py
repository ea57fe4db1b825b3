"""The one error tree of the control plane: raised on purpose, with its facts as attributes.

    SupervisorError
    ├─ Refused       terminal for the request: the same request fails again
    ├─ Unavailable   transient: something outside did not answer
    └─ LeaseLost     terminal for this leader: a newer term exists

A bug is outside the tree, and nobody catches it by name.  Whatever the API may answer is in this
module; `api/http/problems.py` maps each class to a problem, whose members are its attributes.
Errors of the command line, of settings and of `verify` are beside their code.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from supervisor.core.values.counts import grouped
from supervisor.core.values.export_formats import ExportFormat
from supervisor.core.values.spec_facts import SpecFacts

VERSIONS_SHOWN_MAX = 20
"""Versions that a message lists, the newest."""


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
        self.errors = tuple(errors)
        super().__init__(
            "; ".join(
                f"{e.pointer or '/'}: {e.message}" + (f" ({e.hint})" if e.hint else "")
                for e in self.errors
            )
        )


class InvalidFlow(Refused):
    """A flow is not acceptable; `errors` names each field."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        self.errors = tuple(errors)
        super().__init__("; ".join(f"{e.pointer or '/'}: {e.message}" for e in self.errors))


class InvalidInputs(Refused):
    """The inputs of an execution are not what its flow wants; `errors` names each."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        self.errors = tuple(errors)
        super().__init__("; ".join(f"{e.pointer}: {e.message}" for e in self.errors))


class FlowNotFound(Refused):
    """There is no such flow, or it was deleted."""

    def __init__(self, flow: str, version: int | None = None) -> None:
        self.flow = flow
        self.version = version
        which = "" if version is None else f" with version {version}"
        super().__init__(f"there is no flow {flow}{which}")


class TriggerNotFound(Refused):
    """The flow has no such trigger."""

    def __init__(self, flow: str, trigger: str, known: Sequence[str]) -> None:
        self.flow = flow
        self.trigger = trigger
        has = f"its triggers are {', '.join(known)}" if known else "it has none"
        super().__init__(f"the flow {flow} has no trigger {trigger}: {has}")


class StepVerbNotFound(Refused):
    """This overlord makes no such step."""

    def __init__(self, verb: str, known: Sequence[str]) -> None:
        self.verb = verb
        super().__init__(f"there is no verb {verb}; known: {', '.join(known) or 'none'}")


class ExecutionNotFound(Refused):
    """There is no such execution."""

    def __init__(self, execution: str) -> None:
        self.execution = execution
        super().__init__(f"there is no execution {execution}")


class ArtifactNotFound(Refused):
    """The execution has no such artifact, or not any more."""

    def __init__(self, execution: str, artifact: str) -> None:
        self.execution = execution
        self.artifact = artifact
        super().__init__(
            f"the execution {execution} has no artifact {artifact}: its task runs name those that "
            "it has, and one of another execution is deleted with that"
        )


class ExecutionConflict(Refused):
    """An execution has this id, of another flow, or with other inputs or labels."""

    def __init__(self, execution: str) -> None:
        self.execution = execution
        super().__init__(
            f"the execution {execution} was started with another flow, other inputs or labels: "
            "use another key"
        )


class StepRefuses(Refused):
    """An execution or a step of it does not take what is wanted, as it is now."""


class RerunRefused(Refused):
    """An execution cannot be rerun in this way."""


class ExecutionStoreUnavailable(Unavailable):
    """The database of executions does not answer, or refuses until somebody acts."""


class ExecutionTopicsUnavailable(Unavailable):
    """Kafka does not answer for the topics of executions, or refuses until somebody acts."""


class NoExecutionTopics(Refused):
    """Executions run in the database, so there are no partitions and no dead letters."""

    def __init__(self) -> None:
        super().__init__(
            "executions run in the database: there are partitions and dead letters with "
            "TIDEGATE_EXECUTIONS_KAFKA alone"
        )


class LetterUnusable(Refused):
    """A dead letter of executions cannot be sent once more."""

    def __init__(self, offset: int, why: str) -> None:
        super().__init__(f"the dead letter {offset} cannot be replayed: {why}")


class InvalidOffsets(Refused):
    """Reading cannot continue at the requested offsets; `errors` names each partition."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
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
        super().__init__(
            f"worker {worker_id} incarnation {incarnation} is fenced by incarnation {newest}"
        )
        self.worker_id = worker_id


class StaleCommit(Refused):
    """The committed offset, topic id or reset epoch of a partition is not what a commit expects."""

    def __init__(self, supervisor_id: str, partition: str, expected: int | None) -> None:
        """`expected` is the expected offset; None: no row was expected."""
        mismatch = "there is one" if expected is None else f"it is not {expected}"
        super().__init__(f"{supervisor_id} {partition}: committed offset: {mismatch}")
        self.supervisor_id = supervisor_id
        self.partition = partition
        self.expected = expected


class StateMoved(Refused):
    """A guarded write found another state than the expected one: another write came first."""


class PreviewOutdated(Refused):
    """A verb would not do what its preview has shown; nothing is done.

    `preview` is what it would do now, as the API has it; `now` is the same as the service has it.
    """

    def __init__(self, supervisor_id: str, now: object) -> None:
        super().__init__(
            f"what this would do to {supervisor_id} is no longer what its preview has shown: "
            "nothing is done; read the new preview"
        )
        self.supervisor_id = supervisor_id
        self.preview: Mapping[str, object] | None = None
        self._now = now

    @property
    def now(self) -> object:
        """What it would do now."""
        return self._now


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
        super().__init__(f"Cannot find any dataSource with name: [{data_source}]")
        self.data_source = data_source


class CompactionNotFound(Refused):
    """There is no compaction of this id."""

    def __init__(self, wanted: str) -> None:
        super().__init__(f"Cannot find any compaction with id: [{wanted}]")
        self.compaction_id = wanted


class UnusableFiles(Refused):
    """The offered files do not fit the range or lie outside the task's own folder."""


# -- requests ------------------------------------------------------------------------------------


class InvalidRequest(Refused):
    """Parameters or body do not have the form that the route takes."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        self.errors = tuple(errors)
        super().__init__("; ".join(f"{e.pointer or '/'}: {e.message}" for e in self.errors))


class BadCursor(Refused):
    """A cursor that is not from an answer of this list."""

    def __init__(self, list_name: str) -> None:
        super().__init__(
            f"cursor: this is no cursor of {list_name}: give the `next` of the page before, "
            "unchanged, or leave it out to begin anew"
        )


class PreconditionFailed(Refused):
    """The newest version is not the one that the caller knows; `version` None: there is none."""

    def __init__(
        self, supervisor_id: str, message: str, version: int | None, etag: str | None
    ) -> None:
        super().__init__(f"[{supervisor_id}] {message}")
        self.supervisor_id = supervisor_id
        self.version = version
        self.etag = etag


class KeyInUse(Refused):
    """The first request with this Idempotency-Key is still being carried out."""

    def __init__(self, key: str) -> None:
        super().__init__(
            f"a request with Idempotency-Key {key} is being carried out: ask again in a moment"
        )


class KeyReused(Refused):
    """The Idempotency-Key was sent with another request before."""

    def __init__(self, key: str) -> None:
        super().__init__(
            f"Idempotency-Key {key} stands for another request (method, path, query or body "
            "differ): send this one with a key of its own"
        )


class AnswerLost(Refused):
    """The request with this Idempotency-Key was carried out, and its answer is not known."""

    def __init__(self, key: str) -> None:
        super().__init__(
            f"the request with Idempotency-Key {key} was carried out, but its answer got lost: "
            "look with GET at what there is now; to act once more, send it with another key"
        )


class Unauthenticated(Refused):
    """The caller did not prove who it is."""


class TooManyRequests(Refused):
    """The caller asked, or failed, too often; after `retry_after_s` seconds it may go on."""

    def __init__(self, message: str, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class PrincipalRefused(Refused):
    """A principal cannot be added or changed as it is asked for."""


# -- supervisors ---------------------------------------------------------------------------------


class VersionNotFound(Refused):
    """There is no spec under this number; `known` are the newest that have one, ascending."""

    def __init__(
        self, supervisor_id: str, version: int, known: Sequence[int], *, is_tombstone: bool
    ) -> None:
        self.supervisor_id = supervisor_id
        self.version = version
        self.known = tuple(known)
        why = "ended the supervisor and has no spec" if is_tombstone else "does not exist"
        shown = ", ".join(map(str, self.known[-VERSIONS_SHOWN_MAX:])) or "none"
        super().__init__(f"[{supervisor_id}] version {version} {why}; versions with one: {shown}")


class UnknownGroups(Refused):
    """No live generation belongs to these task groups; Druid accepts them and does nothing."""

    def __init__(
        self, supervisor_id: str, unknown: Collection[int], known: Collection[int]
    ) -> None:
        named = ", ".join(map(str, sorted(known))) or "none"
        super().__init__(
            f"[{supervisor_id}] has no task group {', '.join(map(str, sorted(unknown)))}; "
            f"its groups are: {named}"
        )
        self.known = tuple(sorted(known))


class NoBackfill(Refused):
    """There is nothing to backfill, or this supervisor cannot have it read beside."""

    def __init__(self, supervisor_id: str, message: str) -> None:
        super().__init__(f"[{supervisor_id}] {message}")
        self.supervisor_id = supervisor_id


class NotForgettable(Refused):
    """A supervisor still has a part to play: it is not terminated, or has work to finish."""

    def __init__(self, supervisor_id: str, why: str) -> None:
        super().__init__(f"[{supervisor_id}] cannot be forgotten: {why}")
        self.supervisor_id = supervisor_id


class OperationNotFound(Refused):
    """There is no such operation, or its supervisor was forgotten."""

    def __init__(self, operation_id: str) -> None:
        super().__init__(f"there is no operation {operation_id[:100]}")


# -- topics, looked at for a dry run or a sample -------------------------------------------------


class SourceUnreadable(Refused):
    """The topics of a spec cannot be read: no answer, no such topic, or access denied."""


class TooManyListeners(Unavailable):
    """As many clients as may follow the events do so."""


class TooManyLooks(Unavailable):
    """Others look at topics already, as many as may at once."""

    def __init__(self, at_once_max: int) -> None:
        super().__init__(f"{at_once_max} samples or checks run already: ask again in a moment")


class NoWorker(Unavailable):
    """A sample is read by a worker, and none is connected."""

    def __init__(self) -> None:
        super().__init__("no worker is connected that could read a sample: start one")


class SampleFailed(Refused):
    """The worker could not read or decode the records; the text is its own."""


class SampleNotFound(Refused):
    """Nobody waits for this sample (any more)."""

    def __init__(self, sample_id: str) -> None:
        super().__init__(f"nobody waits for the sample [{sample_id}]")


class SampleUnanswered(Unavailable):
    """The worker did not answer within the time that was given."""

    def __init__(self, worker_id: str, within: timedelta) -> None:
        super().__init__(
            f"worker {worker_id} did not answer within {within.total_seconds():g} s: ask for "
            "fewer rows, or raise timeoutMs"
        )


# -- tasks and workers ---------------------------------------------------------------------------


class TaskExists(Refused):
    """A task or a supervisor has this id already; the text begins as Druid's."""

    def __init__(self, task_id: str) -> None:
        super().__init__(f"Task[{task_id}] already exists: leave the id out, or choose another")


class NoTaskLog(Refused):
    """The worker of a task has no log of it; the text is Druid's."""

    def __init__(self, task_id: str) -> None:
        super().__init__(
            "No log was found for this task. The task may not exist, or it may not have begun "
            "running yet."
        )
        self.task_id = task_id


class NoReportStore(Refused):
    """No reports and logs are stored here; the text says how that changes."""


class ReportNotFound(Refused):
    """No such report is stored, or the caller may not see it."""

    def __init__(self, record_id: str) -> None:
        super().__init__(
            f"no report [{record_id}] is stored: it may be older than the retention of reports, "
            "or not stored yet"
        )


class ReportStoreUnavailable(Unavailable):
    """The store of reports and logs does not answer, or refuses until somebody acts."""


class PersisterUnavailable(Unavailable):
    """No persister answers, or the one that was called cannot now."""


class PersisterUnknown(Refused):
    """The address is none of the persisters that the overlord's settings name."""

    def __init__(self, url: str, known: Sequence[str]) -> None:
        super().__init__(f"{url!a} is no persister of the settings: {', '.join(known)}")


class LetterNotFound(Refused):
    """There is no such dead letter, or its age has deleted it."""

    def __init__(self, place: str) -> None:
        super().__init__(f"there is no dead letter [{place}], or its age has deleted it")


class LetterChanged(Refused):
    """Another dead letter is at the place than the one that the caller has seen."""

    def __init__(self, place: str) -> None:
        super().__init__(
            f"another dead letter is at [{place}] now: nothing is done; list the letters again"
        )


class NoTaskReports(Refused):
    """Nothing is known of what a task has counted; the text is Druid's."""

    def __init__(self, task_id: str) -> None:
        super().__init__(
            "No task reports were found for this task. The task may not exist, or it may not "
            "have completed yet."
        )
        self.task_id = task_id


class SessionNotFound(Refused):
    """The request was proved by a token or a password, so that there is no session to end."""

    def __init__(self) -> None:
        super().__init__("no session: a token or a password proved this request, and stays good")


class WorkerNotFound(Refused):
    """No worker of this name or address has registered; `known` are those that have."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        listed = ", ".join(known) or "none"
        super().__init__(f"there is no worker {name[:200]!a}; registered are: {listed}")
        self.known = tuple(known)


class WorkerNotLost(Refused):
    """A worker cannot be forgotten as long as it may come back to its tasks."""


# -- tables --------------------------------------------------------------------------------------


class RecordNotFound(Refused):
    """No such record is in quarantine."""

    def __init__(self, supervisor_id: str, topic: str, partition: int, offset: int) -> None:
        super().__init__(
            f"[{supervisor_id}] has no quarantined record {topic}:{partition} {offset}"
        )
        self.supervisor_id = supervisor_id


class ExportUnavailable(Unavailable):
    """The exported table could not be read or written, or somebody else was faster."""


class NotExportable(Refused):
    """The files of a table do not fit into one table of a format; the export stands still."""


class NotExported(Refused):
    """A reader of a table format is asked for, and the table is not exported in it."""

    def __init__(self, data_source: str, table_format: ExportFormat) -> None:
        super().__init__(
            f"{data_source} is not exported as {table_format}: add it to the spec's "
            "dataSchema.exports, or wait until something is published"
        )
        self.data_source = data_source
        self.format = table_format


# -- event queues, each named by its container and its name --------------------------------------


class EmptyEvent(Refused):
    """An event says nothing: it has no kind or no key."""


class UndecodableEvent(Refused):
    """A payload is sound and still no event that this version knows."""


class EventTooLarge(Refused):
    """An event is larger than its queue takes."""

    def __init__(self, container: str, name: str, size_bytes: int, limit_bytes: int) -> None:
        super().__init__(
            f"an event of {grouped(size_bytes)} bytes is too large for {container}/{name}, which "
            f"takes less than {grouped(limit_bytes)}"
        )
        self.size_bytes = size_bytes
        self.limit_bytes = limit_bytes


class QueueDead(Unavailable):
    """The rows of a queue are damaged; it takes and handles nothing until it is repaired."""

    def __init__(self, container: str, name: str, seq: int | None, why: str) -> None:
        self.container = container
        self.queue = name
        self.position = seq
        self.repair = repair_command(container, name)
        super().__init__(
            f"event queue {container}/{name} is dead at {seq}: {why}. After a look at it: "
            f"{self.repair}"
        )


def repair_command(container: str, name: str) -> str:
    """Return the command that repairs a dead queue."""
    return f"tidegate queue repair {container} {name}"


class TooManyOutstandingBytes(Unavailable):
    """A queue is so far behind that optional work is refused until it has caught up (P24)."""

    def __init__(self, container: str, name: str, outstanding_bytes: int, limit_bytes: int) -> None:
        super().__init__(
            f"{grouped(outstanding_bytes)} bytes of events wait in {container}/{name}, the limit "
            f"is {grouped(limit_bytes)}: `tidegate queue show {container} {name}` tells what holds "
            "it up"
        )
        self.outstanding_bytes = outstanding_bytes
        self.limit_bytes = limit_bytes


class QueueNotFound(Refused):
    """No event was ever added to this queue."""

    def __init__(self, container: str, name: str) -> None:
        super().__init__(
            f"there is no event queue {container}/{name}: `tidegate queue list` names them"
        )
        self.container = container
        self.queue = name


class QueueNotDead(Refused):
    """Only a dead queue can be repaired: a live queue would lose its position for no gain."""

    def __init__(self, container: str, name: str) -> None:
        super().__init__(f"event queue {container}/{name} is not dead: there is nothing to repair")
        self.container = container
        self.queue = name


class FailedEventNotFound(Refused):
    """The event is not set aside: it never was, or it was replayed or dropped."""

    def __init__(self, container: str, name: str, seq: int) -> None:
        super().__init__(f"event {seq} is not among the failed events of {container}/{name}")
        self.container = container
        self.queue = name
        self.seq = seq


class NotReplayable(Refused):
    """A failed event has no sound payload that this version knows: it can only be dropped."""

    def __init__(self, container: str, name: str, seq: int, why: str) -> None:
        super().__init__(
            f"event {seq} of {container}/{name} cannot be replayed: {why}. Look at it with "
            f"`tidegate queue failed {container} {name} --seq {seq}`, see to its work by hand, "
            f"then `tidegate queue drop {container} {name} {seq}`"
        )
        self.container = container
        self.queue = name
        self.seq = seq


class ProcessorClosed(SupervisorError):
    """The processor was closed: it accepts and handles no more events."""
