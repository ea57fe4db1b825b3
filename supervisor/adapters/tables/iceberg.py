"""Apache Iceberg exports: metadata beside the files, written by `pyiceberg`; no file is copied.

    <warehouse>/<data source>/metadata/     metadata files, each names a whole table; absolute paths
    iceberg_tables                          which metadata file is the newest: in our own database

The catalog replaces that name by compare-and-swap, and retries are off.  So a commit succeeds only
against the metadata that was opened.  Schema, additions and removals are one such swap.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    NoSuchTableError,
    TableAlreadyExistsError,
    ValidationError,
    ValidationException,
)
from pyiceberg.io.pyarrow import PyArrowFileIO, parquet_files_to_data_files
from pyiceberg.table import Table, TableProperties, Transaction
from pyiceberg.table.update.snapshot import ExpireSnapshots
from sqlalchemy.exc import SQLAlchemyError

from supervisor.core.tables.exports import ExportChange, ExportedFile, ExportVersion, refuse_names
from supervisor.core.values.errors import ExportUnavailable, NotExportable

_NAMESPACE = "tidegate"
_CATALOG = "tidegate"
SNAPSHOTS_KEPT = 20
"""Versions that a reader can go back to, as far as their files still exist.

Each commit writes all snapshots anew, and the library copies them some twenty times in memory.
"""
_MAPPING = TableProperties.DEFAULT_NAME_MAPPING
"""Files of Spark have no field ids, so columns are matched by their names."""
_PROPERTIES = {
    "commit.retry.num-retries": "0",
    # Of metadata files alone; pyiceberg deletes no data unless somebody asks it to.
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "20",
    "commit.manifest-merge.enabled": "true",
    "commit.manifest.min-count-to-merge": "20",
}


@dataclass(frozen=True)
class IcebergFormat:
    """See `ports.tables.exports.TableFormat`."""

    warehouse: Path
    catalog_url: str
    """The SQLAlchemy URL of the metadata database."""

    def open(self, data_source: str) -> "OpenIceberg":
        """Read the metadata file that the catalog names, if there is one."""
        place = _Place(self.warehouse, data_source)
        with _errors_are_ours(data_source):
            catalog = SqlCatalog(_CATALOG, uri=self.catalog_url)
            with closing(catalog):
                return OpenIceberg(place, catalog, _loaded(catalog, place))


@dataclass(frozen=True)
class _Place:
    """The location of a table."""

    warehouse: Path
    data_source: str

    @property
    def identifier(self) -> tuple[str, str]:
        return (_NAMESPACE, self.data_source)

    @property
    def root(self) -> Path:
        return self.warehouse / self.data_source

    @property
    def uri(self) -> str:
        """The URI, not percent-encoded: pyiceberg uses its text as the path."""
        return f"file://{self.root}"

    def standing(self, table: Table) -> ExportVersion:
        metadata = Path(table.metadata_location.removeprefix("file://"))
        snapshot = table.current_snapshot()
        assert snapshot is not None, "each of our commits makes one"
        return ExportVersion(snapshot.sequence_number, str(metadata.relative_to(self.warehouse)))


class OpenIceberg:
    """See `ports.tables.exports.OpenTable`."""

    def __init__(self, place: _Place, catalog: SqlCatalog, table: Table | None) -> None:
        """Keep the metadata that was read, because a commit succeeds only against this metadata.

        The catalog connects at each use and is closed afterwards: no connection waits in a pool.
        """
        self._place = place
        self._catalog = catalog
        self._table = table
        tasks = [] if table is None else table.scan().plan_files()
        self._held = {_below(place, task.file.file_path): task.file for task in tasks}

    @property
    def held(self) -> Mapping[str, int]:
        """Path -> size in bytes."""
        return {path: file.file_size_in_bytes for path, file in self._held.items()}

    @property
    def standing(self) -> ExportVersion:
        """Location and version of the exported table."""
        return ExportVersion() if self._table is None else self._place.standing(self._table)

    def commit(self, change: ExportChange, sequence: int, now: datetime) -> ExportVersion:
        """Add and take out files and widen the schema, in one snapshot."""
        del now  # pyiceberg reads the clock itself
        with _errors_are_ours(self._place.data_source), closing(self._catalog):
            schemas = _schemas(self._place.root, change.add)
            if self._table is None:
                self._catalog.create_namespace_if_not_exists(_NAMESPACE)
                begun: Transaction = self._catalog.create_table_transaction(
                    self._place.identifier,
                    pa.schema([]),
                    location=self._place.uri,
                    properties=_PROPERTIES,
                )
            else:
                begun = self._table.transaction()
            with begun as transaction:
                _forget_old(transaction)
                outgrown = _outgrown(transaction, schemas)
                self._refuse_others(change, outgrown, schemas)
                _widen(transaction, schemas, outgrown)
                self._replace(transaction, change, {"tidegate.sequence": str(sequence)})
            table = _loaded(self._catalog, self._place) if self._table is None else self._table
            assert table is not None, "it was committed"
            return self._place.standing(table)

    def _refuse_others(
        self,
        change: ExportChange,
        outgrown: Mapping[str, "_Outgrown"],
        schemas: Sequence[tuple[str, pa.Schema]],
    ) -> None:
        """Raise NotExportable if a file would be read with a type that the file does not have."""
        if not outgrown:
            return
        stay = sorted(self._held.keys() - set(change.remove))
        found = [*schemas, *((p, pq.read_schema(self._place.root / p)) for p in stay)]
        for _, schema in found:
            for name, grown in outgrown.items():
                if name in schema.names and schema.field(name).type != grown.type:
                    raise grown.refusal()

    def _replace(
        self, transaction: Transaction, change: ExportChange, properties: dict[str, str]
    ) -> None:
        paths = [f"{self._place.uri}/{file.path}" for file in change.add]
        update = transaction.update_snapshot(snapshot_properties=properties)
        # An overwrite reads every manifest; an append only merges manifests now and then.
        with update.overwrite() if change.remove else update.merge_append() as snapshot:
            for file in parquet_files_to_data_files(
                PyArrowFileIO(), transaction.table_metadata, iter(paths)
            ):
                snapshot.append_data_file(file)
            for path in change.remove:
                snapshot.delete_data_file(self._held[path])


def _loaded(catalog: SqlCatalog, place: _Place) -> Table | None:
    try:
        return catalog.load_table(place.identifier)
    except NoSuchTableError:
        return None


def _below(place: _Place, path: str) -> str:
    return path.removeprefix(f"{place.uri}/")


def _schemas(root: Path, files: Sequence[ExportedFile]) -> list[tuple[str, pa.Schema]]:
    """Return (file, schema): one file for each different schema."""
    schemas: list[tuple[str, pa.Schema]] = []
    for file in files:
        read = pq.read_schema(root / file.path).remove_metadata()
        schema = pa.schema([field.with_nullable(True) for field in read])
        if all(schema != other for _, other in schemas):
            schemas.append((file.path, schema))
    return schemas


@dataclass(frozen=True)
class _Outgrown:
    """A column's type in a new file, to which the type in the table cannot be widened."""

    type: pa.DataType
    path: str
    why: str

    def refusal(self) -> NotExportable:
        return NotExportable(f"{self.path} does not fit the exported table: {self.why}")


def _outgrown(
    transaction: Transaction, schemas: Sequence[tuple[str, pa.Schema]]
) -> dict[str, _Outgrown]:
    known = set(transaction.table_metadata.schema().column_names)
    outgrown: dict[str, _Outgrown] = {}
    for path, schema in schemas:
        for field in schema:
            if field.name not in known or field.name in outgrown:
                continue
            try:
                transaction.update_schema().union_by_name(pa.schema([field]))  # never committed
            except ValidationError as error:
                outgrown[field.name] = _Outgrown(field.type, path, str(error))
    return outgrown


def _widen(
    transaction: Transaction,
    schemas: Sequence[tuple[str, pa.Schema]],
    outgrown: Collection[str],
) -> None:
    """Give the table all columns of these schemas; replace outgrown columns.

    An outgrown column becomes a new column of the same name, so that no reader has to read one type
    as the other.
    """
    if outgrown:
        with transaction.update_schema(allow_incompatible_changes=True) as update:
            for name in outgrown:
                update.delete_column(name)
    for path, schema in schemas:
        refuse_names(transaction.table_metadata.schema().column_names, path, schema.names)
        try:
            with transaction.update_schema() as update:
                update.union_by_name(schema)
        except ValidationError as error:
            raise NotExportable(f"{path} does not fit the exported table: {error}") from error
    if _MAPPING not in transaction.table_metadata.properties:  # later changes keep it up to date
        mapping = transaction.table_metadata.schema().name_mapping.model_dump_json()
        transaction.set_properties({_MAPPING: mapping})


def _forget_old(transaction: Transaction) -> None:
    """Expire the oldest snapshots, because each metadata file names all; no file is deleted."""
    ids = [snapshot.snapshot_id for snapshot in transaction.table_metadata.snapshots]
    if old := ids[:-SNAPSHOTS_KEPT]:
        with ExpireSnapshots(transaction) as expiry:
            expiry.by_ids(old)


@contextmanager
def _errors_are_ours(data_source: str) -> Iterator[None]:
    try:
        yield
    except (
        CommitFailedException,
        CommitStateUnknownException,
        NoSuchTableError,
        TableAlreadyExistsError,
        ValidationException,
        OSError,
        SQLAlchemyError,
        pa.ArrowException,
    ) as error:
        raise ExportUnavailable(f"the Iceberg table of {data_source}: {error}") from error
