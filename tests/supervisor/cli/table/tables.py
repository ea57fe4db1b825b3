"""Published files as a worker writes them, and what an overlord says of them."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.parquet as pq

from supervisor.views.lenient import lenient
from supervisor.views.tables.files import TableFiles
from tasks.contract.ingest_spec import Column

MIDNIGHT = datetime(2026, 11, 21, tzinfo=UTC)
TOPIC_ID = ""
_NONE = ("compacted", "letGo", "errors", "errorsCompacted", "errorsLetGo")
"""What a publication may have besides its segments."""
_TIMES = {
    "intervalStart": MIDNIGHT.isoformat(),
    "intervalEnd": MIDNIGHT.replace(day=22).isoformat(),
    "timeMin": MIDNIGHT.isoformat(),
    "timeMax": MIDNIGHT.isoformat(),
}


def table_files(
    warehouse: Path,
    columns: Sequence[Column],
    sets: Sequence[Sequence[Column]],
    files: Iterable[tuple[str, int]],
    name: str = "clicks",
) -> TableFiles:
    """Return the list of a table's files: each a path, and the number of its columns' set."""
    return lenient(TableFiles).model_validate(
        {
            "data_source": name,
            "warehouse": str(warehouse),
            "columns": [column.model_dump() for column in columns],
            "column_sets": [[column.model_dump() for column in each] for each in sets],
            "files": [
                {"path": path, "published": True, "column_set": number} for path, number in files
            ],
        }
    )


@dataclass
class Publisher:
    """Writes files below a warehouse and keeps the ledger that an overlord would answer."""

    warehouse: Path
    kafka: str = "127.0.0.1:9"
    publications: list[dict[str, object]] = field(default_factory=list)
    committed: dict[int, tuple[int, int]] = field(default_factory=dict)
    files: list[dict[str, object]] = field(default_factory=list)

    def publish(
        self,
        start: Mapping[int, int],
        end: Mapping[int, int],
        rows: Sequence[tuple[int, int]],
        rejects: Sequence[tuple[int, int, int]] = (),
    ) -> str:
        """Publish a range: `rows` are (partition, offset), `rejects` (partition, first, last)."""
        generation = f"g{len(self.publications)}"
        segments = [self._segment(generation, rows)] if rows else []
        self.publications.append(
            {
                "generationId": generation,
                "taskId": f"task-{generation}",
                "publishedAt": MIDNIGHT.isoformat(),
                "start": {f"clicks:{p}": offset for p, offset in start.items()},
                "end": {f"clicks:{p}": offset for p, offset in end.items()},
                "rows": len(rows),
                "rejected": sum(last - first + 1 for _, first, last in rejects),
                "rejects": self._rejects(generation, rejects) if rejects else None,
                "segments": segments,
                **{name: [] for name in _NONE},
            }
        )
        for partition, offset in end.items():
            first = self.committed.get(partition, (start[partition], 0))[0]
            self.committed[partition] = first, offset
        return generation

    def quarantine(
        self, number: int, records: Sequence[tuple[int, int]], kept: int | None = None
    ) -> None:
        """Publish bad records, (partition, offset) each, in a file with one of the ranges.

        `kept`: what its rejects file is to say of their number; None: nothing.
        """
        publication = self._keeps(number, kept)
        errors = cast("list[dict[str, object]]", publication.setdefault("errors", []))
        path = f"clicks/data/task-{publication['generationId']}/errors-{len(errors)}.parquet"
        errors.append(self._raw(path, records))

    def quarantine_together(
        self, shares: Mapping[int, Sequence[tuple[int, int]]], more: Sequence[tuple[int, int]] = ()
    ) -> None:
        """Put bad records of several ranges, and `more` of none, into one compacted file."""
        records = [record for share in shares.values() for record in share]
        file = self._raw("clicks/data/compact_1/segment-00000.parquet", [*records, *more])
        for number, share in shares.items():
            publication = self._keeps(number, len(share))
            of_it = {"file": file, "rows": len(share), "spans": _spans(share)}
            publication["errorsCompacted"] = [of_it]

    def _keeps(self, number: int, kept: int | None) -> dict[str, object]:
        publication = self.publications[number]
        cast("dict[str, object]", publication["rejects"])["quarantined"] = kept
        return publication

    def _raw(self, path: str, records: Sequence[tuple[int, int]]) -> dict[str, object]:
        table = pa.table(
            {
                "topic": ["clicks"] * len(records),
                "partition": pa.array([p for p, _ in records], pa.int32()),
                "offset": pa.array([offset for _, offset in records], pa.int64()),
            }
        )
        about: dict[str, object] = {"path": path, "rows": len(records), "spans": _spans(records)}
        return about | self._write(path, table) | _TIMES

    def let_go(self, number: int) -> None:
        """Take the files of one publication out of the table, and delete them."""
        publication = self.publications[number]
        segments = cast("list[dict[str, object]]", publication["segments"])
        at = MIDNIGHT.isoformat()
        publication["letGo"] = [{"file": f, "unusedAt": at, "deletedAt": at} for f in segments]
        publication["segments"] = []
        gone = {str(file["path"]) for file in segments}
        self.files = [file for file in self.files if file["path"] not in gone]
        for path in gone:
            (self.warehouse / path).unlink()

    def add_columns(self, number: int, fields: Mapping[str, object]) -> None:
        """Write a published file anew with further columns: one value for all rows, or a list."""
        path = self.warehouse / str(self.files[number]["path"])
        table = pq.read_table(path, partitioning=None)
        for name, value in fields.items():
            values = value if isinstance(value, list) else [value] * table.num_rows
            table = table.append_column(name, [values])
        pq.write_table(table, path)

    def ledger(self, gaps: Sequence[Mapping[str, object]] = ()) -> dict[str, object]:
        """Return what `/api/v1/supervisors/clicks/ledger` answers."""
        return {
            "supervisorId": "clicks",
            "dataSource": "clicks",
            "warehouse": str(self.warehouse),
            "topic": "clicks",
            "kafka": {"bootstrapServers": self.kafka},
            "committed": [
                {
                    "topic": "clicks",
                    "partition": partition,
                    "firstOffset": first,
                    "nextOffset": end,
                    "topicId": TOPIC_ID,
                }
                for partition, (first, end) in self.committed.items()
            ],
            "gaps": list(gaps),
            "publications": self.publications,
            "forgotten": [],
            "errorsForgotten": [],
        }

    def listed(self) -> dict[str, object]:
        """Return what `/api/v1/datasources/clicks/files` answers."""
        return {"dataSource": "clicks", "warehouse": str(self.warehouse), "files": self.files}

    def _segment(self, generation: str, rows: Sequence[tuple[int, int]]) -> dict[str, object]:
        path = f"clicks/data/task-{generation}/0.parquet"
        table = pa.table(
            {
                "__time": pa.array([MIDNIGHT] * len(rows), pa.timestamp("us", "UTC")),
                "user": [f"user {offset % 3}" for _, offset in rows],
                "__partition": pa.array([p for p, _ in rows], pa.int32()),
                "__offset": pa.array([offset for _, offset in rows], pa.int64()),
            }
        )
        written = self._write(path, table)
        self.files.append(
            {
                "path": path,
                "uri": f"file://{self.warehouse}/{path}",
                "published": True,
                "supervisorId": "clicks",
                "generationId": generation,
                "taskId": f"task-{generation}",
                "rows": len(rows),
            }
            | written
            | {name: _TIMES[name] for name in ("intervalStart", "intervalEnd")}
        )
        return {"path": path, "rows": len(rows), "spans": _spans(rows)} | written | _TIMES

    def _rejects(
        self, generation: str, rejects: Sequence[tuple[int, int, int]]
    ) -> dict[str, object]:
        path = f"clicks/data/task-{generation}/rejects.parquet"
        table = pa.table(
            {
                "topic": ["clicks"] * len(rejects),
                "partition": pa.array([p for p, _, _ in rejects], pa.int32()),
                "first": pa.array([first for _, first, _ in rejects], pa.int64()),
                "last": pa.array([last for _, _, last in rejects], pa.int64()),
                "reason": ["unparseable"] * len(rejects),
            }
        )
        records = sum(last - first + 1 for _, first, last in rejects)
        return {"path": path, "records": records} | self._write(path, table)

    def _write(self, path: str, table: pa.Table) -> dict[str, object]:
        place = self.warehouse / path
        place.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, place)
        content = place.read_bytes()
        return {"sizeBytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def _spans(rows: Sequence[tuple[int, int]]) -> list[dict[str, object]]:
    return [
        {
            "topic": "clicks",
            "partition": partition,
            "first": min(offsets),
            "last": max(offsets),
            "rows": len(offsets),
        }
        for partition in sorted({p for p, _ in rows})
        if (offsets := [offset for p, offset in rows if p == partition])
    ]


def rows_of(partition: int, first: int, end: int) -> list[tuple[int, int]]:
    """Return one row for each offset of a range."""
    return [(partition, offset) for offset in range(first, end)]
