"""Response model of a dry run: the effects that a POST of a spec would have."""

from pydantic import Field, JsonValue

from supervisor.core.planning.dry_run import DryRunOutcome, Probed
from supervisor.core.planning.impact import NO_IMPACT, Restarts
from supervisor.core.spec.section import Effect
from supervisor.views.sample import SampleView
from tasks.contract.wire import Wire


class WrongField(Wire):
    """One thing that is wrong, as a refused POST has it."""

    pointer: str
    message: str
    hint: str


class TopicPartitionView(Wire):
    """What Kafka holds of one partition."""

    partition: int
    earliest: int
    latest: int
    """The next offset that will be written."""


class TopicView(Wire):
    """One topic that the spec reads."""

    topic: str
    partitions: tuple[TopicPartitionView, ...]


class Connection(Wire):
    """Whether the topics can be read from here; that they cannot is no error of the spec."""

    reachable: bool
    topics: tuple[TopicView, ...]
    error: str | None
    """The reason why the topics cannot be read, and what to do; null: they can."""


class WouldChange(Wire):
    """One field that differs from the stored version."""

    field: str
    """JSON pointer into the nested form of the spec."""
    old: JsonValue = Field(alias="from")
    new: JsonValue = Field(alias="to")
    effect: Effect


class DryRunView(Wire):
    """What a POST of a spec would do; nothing was changed."""

    id: str | None
    """Id of the supervisor; null if the document is no valid spec."""
    valid: bool
    """Whether a POST would be accepted."""
    errors: tuple[WrongField, ...]
    warnings: tuple[str, ...]
    """Fields without effect, and columns that become another type."""
    spec: dict[str, object] | None
    """The spec as GET would answer it; null if it is invalid or not allowed here."""
    connect: Connection | None
    """Null: no connection was tried, because the spec is refused before."""
    exists: bool
    """Whether a supervisor with this id exists already."""
    changes: tuple[WouldChange, ...]
    """Changes of the stored version; empty if there is none."""
    restarts: Restarts
    restarts_what: str
    """The value of `restarts` in a sentence."""
    sample: SampleView | None
    """Null: no sample was requested, or it failed."""
    sample_error: str | None
    """The reason why the sample failed."""


def dry_run_view(
    verdict: DryRunOutcome, sample: SampleView | None = None, sample_error: str | None = None
) -> DryRunView:
    """Return the response for the outcome of a dry run."""
    spec, impact = verdict.spec, verdict.impact or NO_IMPACT
    refused = "the spec would be refused: nothing changes"
    connect = None
    if verdict.looked:
        topics = () if verdict.seen is None else _topics(verdict.seen)
        reachable, error = verdict.seen is not None, verdict.trouble or None
        connect = Connection(reachable=reachable, topics=topics, error=error)
    return DryRunView(
        id=None if spec is None else spec.id,
        valid=verdict.valid,
        errors=tuple(
            WrongField(pointer=e.pointer, message=e.message, hint=e.hint) for e in verdict.errors
        ),
        warnings=verdict.warnings,
        spec=None if spec is None else spec.normalised(),
        connect=connect,
        exists=verdict.exists,
        changes=tuple(
            WouldChange(field=c.field, old=c.old, new=c.new, effect=c.effect)
            for c in impact.changes.fields
        ),
        restarts=impact.restarts,
        restarts_what=refused if verdict.impact is None else impact.summary,
        sample=sample,
        sample_error=sample_error,
    )


def _topics(seen: Probed) -> tuple[TopicView, ...]:
    names = sorted({partition.topic for partition in seen.earliest})
    return tuple(
        TopicView(
            topic=name,
            partitions=tuple(
                TopicPartitionView(
                    partition=p.partition, earliest=seen.earliest[p], latest=seen.latest[p]
                )
                for p in sorted(seen.earliest)
                if p.topic == name
            ),
        )
        for name in names
    )
