"""Reset and reset to given offsets, on Druid's paths.  Source: Druid 33's API reference.

Druid's answer is `{"id"}` and means "queued".  Here the reset is complete, and the answer has its
result.
"""

from collections.abc import Mapping
from typing import Annotated, cast

from fastapi import APIRouter, Query, Response

from supervisor.api.http.access import SUPERVISOR, needs
from supervisor.api.http.deps import Author, Document, Parts
from supervisor.api.http.previews import DryRun, Expect, previewed
from supervisor.api.routes.supervisors.operations import named
from supervisor.core.model.rows import GapKind, Generation
from supervisor.core.planning.offset_moves import LogEnd, OffsetMove
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import FieldError, InvalidRequest
from supervisor.core.values.field_types import pointer_part, shown
from supervisor.core.values.permissions import Permission
from supervisor.services.supervisors.reset import ResetDone
from supervisor.views.supervisors.resets import (
    GivenUp,
    GivenUpOffsets,
    Moved,
    MovedPartition,
    OffsetsRange,
)
from tasks.contract.offsets import OffsetsError, TopicPartition

router = APIRouter(prefix="/druid/indexer/v1/supervisor", tags=["supervisors"])

OFFSETS_BODY: dict[str, object] = {
    "requestBody": {
        "required": True,
        "description": "Druid's form; with topicPattern the keys are topic:partition.",
        "content": {
            "application/json": {
                "schema": {"type": "object"},
                "example": {
                    "type": "kafka",
                    "partitions": {
                        "type": "end",
                        "stream": "clicks",
                        "partitionOffsetMap": {"0": 100},
                    },
                },
            }
        },
    }
}
_OFFSET_MAX = 2**63 - 1
_MAPS = ("partitionOffsetMap", "partitionSequenceNumberMap")
"""Druid accepts either name, and writes both."""


@router.post("/{supervisor_id}/reset", dependencies=[needs(Permission.RESET, SUPERVISOR)])
def reset(
    supervisor_id: str,
    author: Author,
    parts: Parts,
    response: Response,
    *,
    to: Annotated[
        LogEnd | None, Query(description="Where to begin; else as useEarliestOffset says.")
    ] = None,
    expect: Expect = None,
    dry_run: DryRun = False,
) -> Moved:
    """Drop the stored offsets and begin again at the earliest or latest ones.

    Takes the topic as it is now: its id and its partitions.  What is skipped, lost or read a
    second time is in the answer, and on record for `verify`.
    """
    with previewed(_members):
        done = parts.resets.reset(supervisor_id, author, to=to, expect=expect, dry_run=dry_run)
    named(response, done.operation)
    return moved(done)


@router.post(
    "/{supervisor_id}/resetOffsets",
    openapi_extra=OFFSETS_BODY,
    dependencies=[needs(Permission.RESET, SUPERVISOR)],
)
def reset_offsets(
    supervisor_id: str,
    document: Document,
    author: Author,
    parts: Parts,
    response: Response,
    *,
    expect: Expect = None,
    dry_run: DryRun = False,
) -> Moved:
    """Go on at the given offsets; partitions that are not named stay where they are."""
    offsets = _offsets(document, parts.service.spec(supervisor_id))
    with previewed(_members):
        done = parts.resets.reset_offsets(
            supervisor_id, offsets, author, expect=expect, dry_run=dry_run
        )
    named(response, done.operation)
    return moved(done)


def _members(now: object) -> Mapping[str, object]:
    return moved(cast("ResetDone", now)).model_dump(mode="json", by_alias=True)


def moved(done: ResetDone) -> Moved:
    """Return the result of a reset in the form of the routes."""
    return Moved(
        id=done.supervisor_id,
        dry_run=done.dry_run,
        operation_id=done.operation,
        digest=done.digest,
        partitions=[_partition(move) for move in done.moves],
        discarded=[_given_up(generation) for generation in done.discarded],
    )


def _partition(move: OffsetMove) -> MovedPartition:
    return MovedPartition(
        topic=move.partition.topic,
        partition=move.partition.partition,
        start=move.start,
        to=move.to,
        skipped=move.count(GapKind.SKIPPED),
        lost=move.count(GapKind.LOST),
        repeated=move.count(GapKind.REPEATED),
        skipped_range=_piece(move, GapKind.SKIPPED),
        lost_range=_piece(move, GapKind.LOST),
        repeated_range=_piece(move, GapKind.REPEATED),
        recreated=any(each.kind is GapKind.RECREATED for each in move.breaks),
    )


def _piece(move: OffsetMove, kind: GapKind) -> OffsetsRange | None:
    piece = move.piece(kind)
    return None if piece is None else OffsetsRange(start=piece.first, to=piece.end)


def _given_up(generation: Generation) -> GivenUp:
    end = generation.end
    return GivenUp(
        generation_id=generation.id,
        group=generation.group,
        partitions=[str(p) for p in sorted(generation.start)],
        offsets=[
            GivenUpOffsets(
                topic=p.topic, partition=p.partition, start=at, to=None if end is None else end[p]
            )
            for p, at in sorted(generation.start.items())
        ],
    )


def _offsets(document: Mapping[str, object], spec: SupervisorSpec) -> dict[TopicPartition, int]:
    """Parse Druid's body.

    Raises:
        InvalidRequest: with each invalid place.
    """
    if document.get("type") != spec.type:
        raise _refused("/type", f"must be {spec.type}", f'"{spec.type}"')
    partitions = document.get("partitions")
    if not isinstance(partitions, dict):
        raise _refused("/partitions", "must be an object", "type, stream and partitionOffsetMap")
    if partitions.get("type") != "end":
        raise _refused(
            "/partitions/type", "must be end: offsets are the next ones to read", '"end"'
        )
    stream = spec.io_config.stream
    if partitions.get("stream") != stream:
        message = f"{shown(partitions.get('stream'))} is not what {spec.id} reads"
        raise _refused("/partitions/stream", message, f'"{stream}"')
    given = [name for name in _MAPS if name in partitions] or [_MAPS[0]]
    first, *others = [_map(f"/partitions/{name}", partitions.get(name), spec) for name in given]
    if any(other != first for other in others):
        message = f"says other offsets than {given[0]}"
        raise _refused(f"/partitions/{given[-1]}", message, "one of both, or the same in both")
    return first


def _map(at: str, named: object, spec: SupervisorSpec) -> dict[TopicPartition, int]:
    if not isinstance(named, dict) or not named:
        raise _refused(at, "names no partition", '{"0": 100}')
    return {_key(at, key, spec): _value(at, key, value) for key, value in named.items()}


def _key(at: str, key: str, spec: SupervisorSpec) -> TopicPartition:
    topic = spec.io_config.topic
    if topic is not None:  # Druid's form for one topic: the number alone
        if key.isascii() and key.isdigit():
            return TopicPartition(topic, int(key))
        raise _no_partition(at, key, "the partition's number")
    try:
        return TopicPartition.parse(key)
    except OffsetsError:
        raise _no_partition(at, key, "topic:partition") from None


def _no_partition(at: str, key: str, form: str) -> InvalidRequest:
    return _refused(f"{at}/{pointer_part(key)}", f"{shown(key)} names no partition", form)


def _value(at: str, key: str, value: object) -> int:
    if type(value) is not int or not 0 <= value <= _OFFSET_MAX:
        message = f"{shown(value)} is not an offset"
        raise _refused(f"{at}/{pointer_part(key)}", message, "a whole number, 0 or more")
    return value


def _refused(pointer: str, message: str, hint: str) -> InvalidRequest:
    return InvalidRequest([FieldError(pointer, message, hint)])
