"""What a spec does to what is read and to its table, looked up in the rows before it is stored."""

from dataclasses import replace

from supervisor.control.observe import specs_of
from supervisor.core.model.rows import SpecVersion
from supervisor.core.planning.foresee import Foreseen, foresee
from supervisor.core.planning.observed import Limits, Observed, StreamState
from supervisor.core.planning.preconditions import AnyVersion
from supervisor.core.spec.reader import ReadSpec
from supervisor.core.spec.spec import ingest_spec
from supervisor.core.tables.column_types import mixed_types
from supervisor.ports.store import Transaction


def foresight(tx: Transaction, version: SpecVersion, stream: StreamState) -> Foreseen:
    """Return what becomes of the live ranges under `version`, stored or not.

    `stream` is what the last pass knew: which topics of a pattern there are decides on groups.
    """
    live = tuple(tx.generations.live(version.supervisor_id))
    return foresee(
        Observed(
            now=version.created_at,
            limits=Limits(),
            current=version,
            specs=specs_of(tx, version, live),
            committed=tx.offsets.of(version.supervisor_id),
            stream=stream,
            generations=live,
            newest=live[-1] if live else None,
            tasks=(),
            last_attempts={},
            workers=(),
        )
    )


def with_mixed_types(tx: Transaction, newest: AnyVersion | None, read: ReadSpec) -> ReadSpec:
    """Return a spec with warnings of columns that its table has with another type.

    A range that is being read has the types of the spec it was begun with, and is published later;
    nobody knows them if that spec cannot be read here.
    """
    sets = tx.segments.column_sets(read.spec.data_source)
    live = tx.generations.live(read.spec.id)
    if newest is not None and live:
        bound = {generation.spec_version for generation in live}
        specs = sorted(specs_of(tx, newest, live).items())
        sets += [ingest_spec(spec).columns for version, spec in specs if version in bound]
    found = mixed_types(ingest_spec(read.spec).columns, sets)
    return replace(read, warnings=(*read.warnings, *found))
