"""The column types that the specs of a table's supervisors declare."""

from collections.abc import Iterable, Sequence

from supervisor.core.model.listed_segments import ListedSegment
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import SpecUnreadable, SupervisorNotFound
from supervisor.ports.store import Store, Transaction
from tasks.contract.ingest_spec import Column
from tasks.rows.discovery import SCALARS, numbers_beside_texts


def last_spec(tx: Transaction, supervisor_id: str) -> SupervisorSpec:
    """Return the newest spec, also of a terminated supervisor.

    Raises:
        SupervisorNotFound: the supervisor never had a spec.
        SpecUnreadable: this release cannot read the spec.
    """
    spec_version = tx.specs.newest(supervisor_id)
    if spec_version is not None and spec_version.terminated:  # a tombstone follows a spec
        spec_version = tx.specs.version(supervisor_id, spec_version.version - 1)
    if spec_version is None or spec_version.spec is None:
        raise SupervisorNotFound(supervisor_id)
    return spec_version.spec


def declared_in(
    store: Store, columns: Iterable[Sequence[Column]], supervisors: Iterable[str]
) -> frozenset[str]:
    """Return the columns that a spec of these supervisors declares as texts or numbers.

    Only columns that are texts in some files and numbers in others are returned.  `columns` has the
    columns of each file.  Without such a column no spec is read.
    """
    mixed = numbers_beside_texts(columns)
    if not mixed:
        return frozenset()
    declared: set[str] = set()
    with store.reading() as tx:
        for supervisor_id in sorted(set(supervisors)):
            try:
                schema = last_spec(tx, supervisor_id).data_schema
            except (SupervisorNotFound, SpecUnreadable):  # forgotten, or of a newer release
                continue
            declared |= {c.name for c in schema.contract_columns() if c.type in SCALARS}
    return mixed & declared


def declared_of(store: Store, segments: Sequence[ListedSegment]) -> frozenset[str]:
    """Return the declared columns, as `declared_in` does, for these files of a table."""
    return declared_in(
        store, (each.columns for each in segments), (each.supervisor_id for each in segments)
    )
