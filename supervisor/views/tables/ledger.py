"""The ledger of a supervisor: all commits and publishes, which `verify` compares with the topic."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import Field

from supervisor.core.history.expiry import DroppedFiles, Folded
from supervisor.core.model.rows import CommittedOffset, OffsetGap, Publication, Segment, StoredPlan
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.tables.compaction import Compaction, Share
from supervisor.core.values.table_names import errors_table, is_errors_table
from tasks.contract.kafka_client import KafkaClient
from tasks.contract.messages import OffsetSpan, RejectsFile, SegmentFile
from tasks.contract.wire import Instant, Wire, WireOffsets

_Shared = tuple[Segment, Share]


class LedgerOffset(Wire):
    """One partition's committed offsets: `[firstOffset, nextOffset)` is in the table."""

    topic: str
    partition: int
    first_offset: int
    next_offset: int
    topic_id: str


class LedgerGap(Wire):
    """One declared break, `[from, to)`."""

    topic: str
    partition: int
    first: int = Field(alias="from")
    end: int = Field(alias="to")
    kind: str
    author: str
    why: str
    at: Instant
    last_ordinal: int | None
    """Ordinal of the newest generation at that time; a later generation publishes after the break.

    None: an earlier release declared the break.
    """


class LedgerLetGo(Wire):
    """One published file that was taken out of the table on purpose.

    Of a compacted one `rows` and `spans` are those that it had of this publication.
    """

    file: SegmentFile
    unused_at: Instant
    deleted_at: Instant | None
    """When the deletion of the file began; None: the file can still be put back."""


class LedgerCompacted(Wire):
    """One compacted file of the table, and what it has of one publication."""

    file: SegmentFile
    rows: int
    spans: tuple[OffsetSpan, ...]


class LedgerDropped(Wire):
    """What deleted files of one table held of one publication, when their own rows have gone."""

    files: int
    rows: int
    spans: tuple[OffsetSpan, ...]
    """One span per partition: from the first to the last row of all these files."""


class LedgerPublication(Wire):
    """One published range with its files; `rows` counts those that were let go as well."""

    generation_id: str
    task_id: str
    published_at: Instant
    start: WireOffsets
    end: WireOffsets
    rows: int
    rejected: int
    rejects: RejectsFile | None
    segments: tuple[SegmentFile, ...]
    """Files in the table that the publication's task wrote."""
    compacted: tuple[LedgerCompacted, ...]
    """Compacted files with rows of the publication; the files that they replaced are left out."""
    let_go: tuple[LedgerLetGo, ...]
    errors: tuple[SegmentFile, ...]
    """Files in the errors table that the publication's task wrote."""
    errors_compacted: tuple[LedgerCompacted, ...]
    """Compacted files of the errors table with records of the publication."""
    errors_let_go: tuple[LedgerLetGo, ...]
    ranges: int = 1
    """Ranges that it stands for; more than one: old ranges that followed each other were folded."""
    folded_rejects: tuple[RejectsFile, ...] = ()
    """Rejects files of the ranges that were folded into it."""
    dropped_long_ago: LedgerDropped | None = None
    """Its deleted files that `letGo` no longer lists, because they were deleted long ago."""
    errors_dropped_long_ago: LedgerDropped | None = None
    """As `droppedLongAgo`, in the errors table."""


class Ledger(Wire):
    """Everything that one supervisor has committed and published; publications oldest first.

    What an earlier supervisor of this id published before it was forgotten is left out.
    """

    supervisor_id: str
    data_source: str
    warehouse: str
    topic: str
    """The topic, or the pattern of several topics."""
    kafka: KafkaClient
    committed: tuple[LedgerOffset, ...]
    gaps: tuple[LedgerGap, ...]
    publications: tuple[LedgerPublication, ...]
    forgotten: tuple[LedgerCompacted, ...]
    """Shares of publications that are left out in compacted files of these publications."""
    errors_forgotten: tuple[LedgerCompacted, ...]
    """As `forgotten`, for the errors table."""

    def tables(self) -> list[str]:
        """Return the tables that have files of the supervisor: their lists are held against it."""
        if not self.publications:
            return []
        raw = any(each.errors or each.errors_compacted for each in self.publications)
        return [self.data_source, *([errors_table(self.data_source)] if raw else [])]


class PlannedAction(Wire):
    """One action of a pass: its name, what it is about, and why."""

    action: str
    about: str
    why: str


class PlanView(Wire):
    """What one pass decided."""

    at: Instant
    term: int
    actions: list[PlannedAction]
    error: str


class PlansView(Wire):
    """The last plans of a supervisor that had something to do, newest first."""

    supervisor_id: str
    plans: list[PlanView]
    next: str | None = None
    """The `cursor` of the next page; null: there is none."""


def ledger_of(
    spec: SupervisorSpec,
    warehouse: str,
    committed: Sequence[CommittedOffset],
    gaps: Sequence[OffsetGap],
    *,
    publications: Sequence[Publication],
    folded: Mapping[str, Folded],
    segments: Sequence[Segment],
    compactions: Mapping[str, Compaction],
) -> Ledger:
    """Assemble the ledger of one supervisor; `compactions`: id -> writer of a compacted file."""
    files: dict[str, list[Segment]] = {}
    shares: dict[str, list[_Shared]] = {}
    raw: dict[str, list[_Shared]] = {}
    for segment in segments:
        if segment.replaced_by is not None:
            continue  # its rows are in the compacted file that replaced it
        if segment.compaction_id is None:
            files.setdefault(segment.generation_id, []).append(segment)
            continue
        of_table = raw if is_errors_table(segment.data_source) else shares
        for share in compactions[segment.compaction_id].shares:
            of_table.setdefault(share.generation_id, []).append((segment, share))
    retained = [p for p in publications if p.forgotten_at is None]
    ids = {p.generation_id for p in retained}
    return Ledger(
        supervisor_id=spec.id,
        data_source=spec.data_source,
        warehouse=warehouse,
        topic=spec.io_config.stream,
        kafka=spec.io_config.client,
        committed=tuple(_offset(row) for row in committed),
        gaps=tuple(_gap(gap) for gap in gaps),
        publications=tuple(
            _publication(
                p,
                files.get(p.generation_id, []),
                shares.get(p.generation_id, []),
                raw.get(p.generation_id, []),
                folded.get(p.generation_id, Folded()),
            )
            for p in retained
        ),
        forgotten=tuple(_of_others(shares, ids)),
        errors_forgotten=tuple(_of_others(raw, ids)),
    )


def compactions_of(segments: Sequence[Segment]) -> list[str]:
    """Return the ids of the compactions that wrote these files, as far as the ledger needs them."""
    return [s.compaction_id for s in segments if s.compaction_id and s.replaced_by is None]


def _of_others(shares: Mapping[str, list[_Shared]], named: set[str]) -> list[LedgerCompacted]:
    """Return the shares of publications outside `named` in files of those that are named."""
    files = {segment.id for each in named & shares.keys() for segment, _ in shares[each]}
    return [
        _compacted(segment, share)
        for generation_id in sorted(shares.keys() - named)
        for segment, share in shares[generation_id]
        if segment.used and segment.id in files
    ]


def _compacted(segment: Segment, share: Share) -> LedgerCompacted:
    return LedgerCompacted(file=segment.file, rows=share.rows, spans=tuple(share.spans))


def _offset(row: CommittedOffset) -> LedgerOffset:
    return LedgerOffset(
        topic=row.partition.topic,
        partition=row.partition.partition,
        first_offset=row.first_offset,
        next_offset=row.next_offset,
        topic_id=row.topic_id,
    )


def _gap(gap: OffsetGap) -> LedgerGap:
    return LedgerGap.model_validate(
        {
            "topic": gap.partition.topic,
            "partition": gap.partition.partition,
            "from": gap.first,
            "to": gap.end,
            "kind": gap.kind.value,
            "author": gap.author,
            "why": gap.why,
            "at": gap.at,
            "lastOrdinal": gap.last_ordinal,
        }
    )


def _publication(
    publication: Publication,
    segments: list[Segment],
    shares: list[_Shared],
    raw: list[_Shared],
    folded: Folded,
) -> LedgerPublication:
    rows = [s for s in segments if not is_errors_table(s.data_source)]
    errors = [s for s in segments if is_errors_table(s.data_source)]
    return LedgerPublication(
        generation_id=publication.generation_id,
        task_id=publication.task_id,
        published_at=publication.published_at,
        start=dict(publication.start),
        end=dict(publication.end),
        rows=publication.rows,
        rejected=publication.rejected,
        rejects=publication.rejects,
        segments=tuple(segment.file for segment in rows if segment.used),
        compacted=tuple(_compacted(segment, share) for segment, share in shares if segment.used),
        let_go=_let_go([*rows, *(_cut(segment, share) for segment, share in shares)]),
        errors=tuple(segment.file for segment in errors if segment.used),
        errors_compacted=tuple(
            _compacted(segment, share) for segment, share in raw if segment.used
        ),
        errors_let_go=_let_go([*errors, *(_cut(segment, share) for segment, share in raw)]),
        ranges=publication.ranges,
        folded_rejects=folded.rejects,
        dropped_long_ago=_dropped(folded.dropped.get(publication.data_source)),
        errors_dropped_long_ago=_dropped(folded.dropped.get(errors_table(publication.data_source))),
    )


def _dropped(files: DroppedFiles | None) -> LedgerDropped | None:
    if files is None:
        return None
    return LedgerDropped(files=files.files, rows=files.rows, spans=files.spans)


def _cut(segment: Segment, share: Share) -> Segment:
    """Return a compacted segment reduced to its share of one publication."""
    file = segment.file.model_copy(update={"rows": share.rows, "spans": share.spans})
    return replace(segment, file=file)


def _let_go(segments: Sequence[Segment]) -> tuple[LedgerLetGo, ...]:
    return tuple(
        LedgerLetGo(file=segment.file, unused_at=segment.unused_at, deleted_at=segment.deleted_at)
        for segment in segments
        if segment.unused_at is not None
    )


def plans_of(
    supervisor_id: str, stored: Sequence[StoredPlan], following: str | None = None
) -> PlansView:
    """Return the response for stored plans; `following`: the cursor of the next page."""
    plans = [
        PlanView(
            at=plan.at,
            term=plan.term,
            actions=[PlannedAction.model_validate(dict(action)) for action in plan.actions],
            error=plan.error,
        )
        for plan in stored
    ]
    return PlansView(supervisor_id=supervisor_id, plans=plans, next=following)
