"""Exported tables as whoever queries them sees them: again and again, and with every reader.

GET .../exports ─► where the newest version lies ─► open it ─► the ids in it: one look
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from threading import Event, Thread
from typing import Self

import httpx
import polars as pl
import pyarrow as pa
from deltalake import DeltaTable
from pyarrow.fs import LocalFileSystem, SubTreeFileSystem
from pydantic import JsonValue
from pyiceberg.table import StaticTable

from tests.integration.cluster import Cluster
from tests.integration.oracle import spec

DELTA, ICEBERG = "delta", "iceberg"
_COLUMNS: Mapping[str, str] = {
    "id": "string",
    "user": "string",
    "amount": "long",
    "price": "double",
    "tags": "array<string>",
    "scores": "array<double>",
    "detail": "json",
}
_POLL_S = 0.2


# -- what is sent, and what becomes of it ----------------------------------------------------------


def record(number: int) -> str:
    """Return the JSON of one record that has a value of each type."""
    value: dict[str, JsonValue] = {
        "id": f"r-{number}",
        "time": f"2026-01-{1 + number % 2:02d}T{number % 24:02d}:00:00.000Z",
        "user": f"user-{number % 97}",
        "amount": number << 33,
        "price": number / 4,
        "scores": [number / 8, None],
        "detail": {"n": number, "deep": {"list": [1, "é", None, {"a": True}]}},
    }
    if number % 7:
        value["tags"] = [f"tag-{n}" for n in range(number % 3)]
    return json.dumps(value)


def spec_for_exports(bootstrap: str, topic: str) -> dict[str, JsonValue]:
    """Return a spec for such records, whose table is exported in both formats."""
    return _with_schema(
        spec(bootstrap, topic, task_count=1, task_duration="PT5S"),
        exports=[DELTA, ICEBERG],
        dimensionsSpec={"dimensions": [{"type": t, "name": n} for n, t in _COLUMNS.items()]},
    )


def spec_by_hour(bootstrap: str, topic: str, data_source: str) -> dict[str, JsonValue]:
    """Return a spec that rolls the same records up by user, with a sketch of the ids."""
    metrics: list[JsonValue] = [
        {"type": "count", "name": "records"},
        {"type": "HLLSketchBuild", "name": "ids", "fieldName": "id"},
    ]
    return _with_schema(
        spec(bootstrap, topic, task_count=1, task_duration="PT15S"),
        dataSource=data_source,
        exports=[DELTA, ICEBERG],
        dimensionsSpec={"dimensions": ["user"]},
        metricsSpec=metrics,
        granularitySpec={"segmentGranularity": "DAY", "queryGranularity": "HOUR", "rollup": True},
    )


def _with_schema(whole: dict[str, JsonValue], **more: JsonValue) -> dict[str, JsonValue]:
    inner = whole["spec"]
    assert isinstance(inner, dict)
    schema = inner["dataSchema"]
    assert isinstance(schema, dict)
    return whole | {"spec": inner | {"dataSchema": schema | more}}


def id_of(value: bytes) -> str:
    """Return the id of a record."""
    return str(json.loads(value)["id"])


def rows_sent(values: Mapping[int, Iterable[bytes]]) -> Counter[str]:
    """Return the JSON of each row that a topic's records become; 1 and 1.0 differ in it."""
    return Counter(_row_text(json.loads(value)) for found in values.values() for value in found)


def rows_read(rows: Iterable[Mapping[str, JsonValue]]) -> Counter[str]:
    """Return the same of rows as a reader gives them."""
    return Counter(_row_text({**row, "detail": json.loads(str(row["detail"]))}) for row in rows)


def _row_text(row: Mapping[str, JsonValue]) -> str:
    return json.dumps({name: row.get(name) for name in _COLUMNS}, sort_keys=True)


# -- who reads -------------------------------------------------------------------------------------


READERS: Mapping[str, Mapping[str, Callable[[str], pa.Table]]] = {
    DELTA: {
        "deltalake": lambda location: _delta_rows(DeltaTable(location)),
        "polars": lambda location: pl.scan_delta(location).collect().to_arrow(),
    },
    ICEBERG: {
        "pyiceberg": lambda location: StaticTable.from_metadata(location).scan().to_arrow(),
        "polars": lambda location: pl.scan_iceberg(location).collect().to_arrow(),
    },
}
"""Format -> library -> how it reads all rows of a table, from where the overlord says it is."""


def names_in(table_format: str, location: str) -> set[Path]:
    """Return the files that an exported table names."""
    if table_format == DELTA:
        return {Path(path.removeprefix("file://")) for path in DeltaTable(location).file_uris()}
    tasks = StaticTable.from_metadata(location).scan().plan_files()
    return {Path(task.file.file_path.removeprefix("file://")) for task in tasks}


def _delta_rows(table: DeltaTable, columns: list[str] | None = None) -> pa.Table:
    files = SubTreeFileSystem(table.table_uri.removeprefix("file://"), LocalFileSystem())
    return table.to_pyarrow_table(columns=columns, filesystem=files)


def exports(http: httpx.Client, data_source: str) -> dict[str, dict[str, JsonValue]]:
    """Return format -> how the export stands; none of what was never asked for."""
    answer = http.get(f"/api/v1/datasources/{data_source}/exports")
    if answer.status_code == httpx.codes.NOT_FOUND:
        return {}
    assert answer.status_code == httpx.codes.OK, answer.text
    return {each["format"]: each for each in answer.json()["exports"]}


def locations(cluster: Cluster, data_source: str) -> dict[str, str]:
    """Return format -> where its newest version is, of exports that are equal to the table."""
    found = exports(cluster.http, data_source)
    return {name: str(each["location"]) for name, each in found.items() if _equal(each)}


def _equal(export: Mapping[str, JsonValue]) -> bool:
    return export["state"] == "equal" and export["location"] is not None


class Onlooker:
    """Reads each new version of both exports that it meets; `seen` keeps their ids in order."""

    def __init__(self, cluster: Cluster, data_source: str) -> None:
        """Begin with nothing seen."""
        self._cluster = cluster
        self._table = data_source
        self._ended = Event()
        self._places: dict[str, str] = {}
        self.seen: dict[str, dict[int, Counter[str]]] = {DELTA: {}, ICEBERG: {}}
        """Format -> version -> the ids in it."""
        self.wrong: list[str] = []
        self._thread = Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(60)
        assert not self._thread.is_alive(), "it hangs"

    def _run(self) -> None:
        try:
            with httpx.Client(base_url=self._cluster.url, timeout=30) as http:
                while not self._ended.wait(_POLL_S):
                    self._ask(http)
                    self._look()
        except Exception as error:  # noqa: BLE001 -- the test's own thread tells it
            self.wrong.append(repr(error))

    def _ask(self, http: httpx.Client) -> None:
        try:
            exported = exports(http, self._table)
        except httpx.HTTPError:
            return  # the overlord has just been killed: tables are read without it
        self._places |= {name: str(e["location"]) for name, e in exported.items() if e["location"]}

    def _look(self) -> None:
        if DELTA in self._places:
            table = DeltaTable(self._places[DELTA])
            self._keep(DELTA, table.version(), lambda: _delta_rows(table, ["id"]))
        if ICEBERG in self._places:
            opened = StaticTable.from_metadata(self._places[ICEBERG])
            scan = opened.scan(selected_fields=("id",))
            snapshot = opened.current_snapshot()
            assert snapshot is not None
            assert snapshot.sequence_number is not None
            self._keep(ICEBERG, snapshot.sequence_number, scan.to_arrow)

    def _keep(self, table_format: str, version: int, read: Callable[[], pa.Table]) -> None:
        if version not in self.seen[table_format]:
            self.seen[table_format][version] = Counter(read().column("id").to_pylist())
