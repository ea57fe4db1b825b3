"""Response model of a dry run of a verb: what would happen, and how it is undone."""

from pydantic import Field

from supervisor.core.attention.foreseen.effect import (
    Foreseen,
    GivenUpRange,
    HeldRange,
    SentRecords,
)
from supervisor.core.model.rows import Generation
from tasks.contract.offsets import Offsets
from tasks.contract.wire import Wire


class ForeseenOffsets(Wire):
    """Offsets `[from, to)` of one partition."""

    topic: str
    partition: int
    start: int = Field(alias="from")
    to: int | None
    """The fixed end, or the next offset to be read; null: not known."""


class ForeseenRange(Wire):
    """A range that is not published yet."""

    generation_id: str
    group: int
    offsets: list[ForeseenOffsets]


class EndingTask(Wire):
    """A task that ends, and what it holds."""

    task: str
    worker: str
    generation_id: str
    group: int
    offsets: list[ForeseenOffsets]
    """What it has read, as it last reported to the leader."""
    unpublished: int | None
    """How many offsets that are; null: it has not reported to this leader."""


class ForeseenFiles(Wire):
    """Files of a table, counted."""

    n: int
    rows: int
    bytes: int


class ForeseenItem(Wire):
    """What a verb for many supervisors would do to one of them, in short."""

    id: str
    text: str
    digest: str
    """That of a preview of the same verb for this one alone."""
    warnings: list[str]


class ForeseenRecords(Wire):
    """Bad records of one reason and partition."""

    reason: str
    topic: str
    partition: int
    records: int


class ForeseenReplay(Wire):
    """Bad records that are sent to a topic."""

    topic: str
    """The target."""
    matching: int
    """How many fit that are kept."""
    there: int | None
    """How many of these the topic has already; null: not known."""
    sends: int
    """How many are sent at most."""
    records: list[ForeseenRecords]
    """All that fit."""
    readers: list[str]
    """Ids of the supervisors that read the topic, as far as the caller may see them."""


class VerbPreview(Wire):
    """What a verb would do; nothing was changed.  Lists that the verb is not about are absent."""

    dry_run: bool = True
    verb: str
    id: str
    """Of the supervisor, task, table or worker; `*`: every supervisor."""
    text: str
    """What happens, in a sentence."""
    undo: str
    """How it is undone, or that it cannot be."""
    digest: str
    """With it as `expect` the act does just this, or nothing."""
    warnings: list[str]
    ends: list[EndingTask] | None = None
    """Tasks that end."""
    publishes: list[ForeseenRange] | None = None
    """Ranges that are published first."""
    stays: list[ForeseenRange] | None = None
    """Ranges that are read on."""
    gives_up: list[ForeseenRange] | None = None
    """What was read and is not published by it: others read it again, or it is in no table."""
    tasks: list[str] | None = None
    """Ids of tasks that run on."""
    files: ForeseenFiles | None = None
    items: list[ForeseenItem] | None = None
    """Of a verb for every supervisor: each one that it changes."""
    sent: ForeseenReplay | None = None


def verb_preview(foreseen: Foreseen) -> VerbPreview:
    """Return the response for what a verb would do."""
    files = foreseen.files
    return VerbPreview(
        verb=foreseen.verb,
        id=foreseen.subject,
        text=foreseen.text,
        undo=foreseen.undo,
        digest=foreseen.digest,
        warnings=list(foreseen.warnings),
        ends=None if foreseen.ends is None else [_task(each) for each in foreseen.ends],
        publishes=_ranges(foreseen.publishes),
        stays=_ranges(foreseen.stays),
        gives_up=None if foreseen.gives_up is None else [_given_up(g) for g in foreseen.gives_up],
        tasks=None if foreseen.tasks is None else list(foreseen.tasks),
        files=None
        if files is None
        else ForeseenFiles(n=files.number, rows=files.rows, bytes=files.size_bytes),
        items=None if foreseen.items is None else [_item(each) for each in foreseen.items],
        sent=None if foreseen.sent is None else _replay(foreseen.sent),
    )


def preview_members(foreseen: Foreseen) -> dict[str, object]:
    """Return the response as JSON values, without the members that do not apply.

    What applies and is not known stays, as null.
    """
    members = verb_preview(foreseen).model_dump(mode="json", by_alias=True)
    return {name: value for name, value in members.items() if value is not None}


def _item(foreseen: Foreseen) -> ForeseenItem:
    return ForeseenItem(
        id=foreseen.subject,
        text=foreseen.text,
        digest=foreseen.digest,
        warnings=list(foreseen.warnings),
    )


def _replay(sent: SentRecords) -> ForeseenReplay:
    return ForeseenReplay(
        topic=sent.topic,
        matching=sent.matching,
        there=sent.there,
        sends=sent.sends,
        records=[
            ForeseenRecords(
                reason=each.reason,
                topic=each.topic,
                partition=each.partition,
                records=each.records,
            )
            for each in sent.counts
        ],
        readers=list(sent.readers),
    )


def _ranges(ranges: tuple[Generation, ...] | None) -> list[ForeseenRange] | None:
    return None if ranges is None else [_range(each, each.end) for each in ranges]


def _range(generation: Generation, end: Offsets | None) -> ForeseenRange:
    return ForeseenRange(
        generation_id=generation.id, group=generation.group, offsets=_offsets(generation, end)
    )


def _given_up(given_up: GivenUpRange) -> ForeseenRange:
    return _range(given_up.generation, given_up.read_to)


def _task(held: HeldRange) -> EndingTask:
    return EndingTask(
        task=held.task.id,
        worker=held.task.worker_id,
        generation_id=held.generation.id,
        group=held.generation.group,
        offsets=_offsets(held.generation, held.position),
        unpublished=held.unpublished,
    )


def _offsets(generation: Generation, end: Offsets | None) -> list[ForeseenOffsets]:
    return [
        ForeseenOffsets(
            topic=p.topic, partition=p.partition, start=at, to=None if end is None else end.get(p)
        )
        for p, at in sorted(generation.start.items())
    ]
