"""Queries about quarantined records: their files in the errors table, and their contents.

Only files that are part of the table and belong to the supervisor are read.  The rows alone name
these files, so any overlord can answer.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, replace

from supervisor.chores.file_lists import listed, whole
from supervisor.chores.replays import errors_of
from supervisor.core.model.rows import Segment
from supervisor.core.tables.bad_records import BadCount, BucketWidth, count_by_reason, summarise
from supervisor.core.values.errors import RecordNotFound, SupervisorNotFound
from supervisor.core.values.table_names import errors_table
from supervisor.ports.store import Store
from supervisor.ports.tables.quarantine import RawRecord, RawRecords, RecordPlace, WantedRecords
from supervisor.services.tables.bad_counts import BadCounts
from supervisor.views.tables.quarantine import (
    BadRecordsSummary,
    Quarantined,
    QuarantinedRecord,
    bad_records_summary,
)
from tasks.contract.messages import OffsetSpan

LISTED_BYTES = 4_096
"""The maximum length, in bytes, of a key, a value or a header in a list."""
SHOWN_BYTES = 16 * 1024 * 1024
"""The maximum length, in bytes, of a key, a value or a header of a single record."""


@dataclass(frozen=True)
class Matching:
    """Bad records that match a filter."""

    paths: list[str]
    """Files that may have some."""
    counts: list[BadCount]


@dataclass(frozen=True)
class Quarantine:
    """Answers queries about quarantined records; one instance per process."""

    store: Store
    raw: RawRecords
    counted: BadCounts

    def page(self, supervisor_id: str, wanted: WantedRecords, limit: int) -> Quarantined:
        """Return the first `limit` matching records; values are cut at LISTED_BYTES.

        Raises:
            SupervisorNotFound: the id was never used.
            StorageUnavailable: the files cannot be read now.
        """
        data_source, segments = self._segments(supervisor_id)
        reasons = None
        if wanted.after is None:
            reasons = count_by_reason(self._counts(segments, wanted))
        paths = _paths(segments, wanted)
        records = self.raw.page(paths, wanted, limit + 1, bytes_max=LISTED_BYTES)
        more = len(records) > limit
        return Quarantined(
            supervisor_id=supervisor_id,
            data_source=errors_table(data_source),
            reasons=reasons,
            records=[_shown(record, LISTED_BYTES) for record in records[:limit]],
            next=written(records[limit - 1].place) if more else None,
        )

    def summary(
        self, supervisor_id: str, wanted: WantedRecords, bucket: BucketWidth
    ) -> BadRecordsSummary:
        """Return the numbers of matching records by time, reason and partition.

        Raises:
            SupervisorNotFound, StorageUnavailable: as `page`.
        """
        data_source, segments = self._segments(supervisor_id)
        summary = summarise(self._counts(segments, wanted), bucket)
        return bad_records_summary(supervisor_id, errors_table(data_source), bucket, summary)

    def matching(self, supervisor_id: str, wanted: WantedRecords) -> Matching:
        """Return the files that may have matching records, and the numbers of these.

        Raises:
            SupervisorNotFound, StorageUnavailable: as `page`.
        """
        _, segments = self._segments(supervisor_id)
        return Matching(_paths(segments, wanted), self._counts(segments, wanted))

    def _counts(self, segments: list[Segment], wanted: WantedRecords) -> list[BadCount]:
        paths = _paths(segments, replace(wanted, after=None))
        return [
            each
            for each in self.counted.of(paths)
            if wanted.topic in {None, each.topic}
            and wanted.partition in {None, each.partition}
            and wanted.reason in {None, each.reason}
        ]

    def record(self, supervisor_id: str, place: RecordPlace) -> QuarantinedRecord:
        """Return one record whole.

        Raises:
            RecordNotFound: the record is not in quarantine.
            SupervisorNotFound, StorageUnavailable: as `page`.
        """
        _, segments = self._segments(supervisor_id)
        wanted = WantedRecords(place.topic, place.partition, place.offset)
        records = self.raw.page(_paths(segments, wanted), wanted, 1, bytes_max=SHOWN_BYTES)
        if not records:
            raise RecordNotFound(supervisor_id, *place)
        return _shown(records[0], SHOWN_BYTES)

    def _segments(self, supervisor_id: str) -> tuple[str, list[Segment]]:
        with self.store.reading() as tx:
            # A spec precedes each tombstone, so two rows are enough.
            specs = (version.spec for version in tx.specs.history(supervisor_id, 2))
            spec = next((spec for spec in specs if spec is not None), None)
            if spec is None:
                raise SupervisorNotFound(supervisor_id)
            errors = errors_of(tx, supervisor_id)
        return spec.data_source, whole(self.store, listed(self.store, errors))


def written(place: RecordPlace) -> str:
    """Return a place in the form of addresses, `topic:partition:offset`."""
    return f"{place.topic}:{place.partition}:{place.offset}"


def _paths(segments: list[Segment], wanted: WantedRecords) -> list[str]:
    """Return the files that may have matching records."""
    return [s.file.path for s in segments if any(_may_hold(span, wanted) for span in s.file.spans)]


def _may_hold(span: OffsetSpan, wanted: WantedRecords) -> bool:
    last = RecordPlace(span.topic, span.partition, span.last)
    return (
        wanted.topic in {None, span.topic}
        and wanted.partition in {None, span.partition}
        and (wanted.offset is None or span.first <= wanted.offset <= span.last)
        and (wanted.after is None or last > wanted.after)
    )


def _shown(record: RawRecord, most: int) -> QuarantinedRecord:
    long = [record.key_bytes, record.value_bytes, *(len(v or b"") for _, v in record.headers)]
    return QuarantinedRecord.model_validate(
        {
            "topic": record.place.topic,
            "partition": record.place.partition,
            "offset": record.place.offset,
            "time": record.time,
            "reason": record.reason,
            **_texts("key", record.key),
            "keyBytes": record.key_bytes,
            **_texts("value", record.value),
            "valueBytes": record.value_bytes,
            "headers": [{"key": name, **_texts("value", v)} for name, v in record.headers],
            "cut": max(long) > most or record.headers_number > len(record.headers),
        }
    )


def _texts(name: str, content: bytes | None) -> Mapping[str, str | None]:
    if content is None:
        return {name: None, f"{name}Base64": None}
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = None
    return {name: text, f"{name}Base64": base64.b64encode(content).decode()}
