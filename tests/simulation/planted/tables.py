"""Faults of the life of tables: exports, compaction, the deletion of files."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, update

from supervisor.chores.compaction.commit import Swapping
from supervisor.chores.exports import Exporting
from supervisor.chores.segments import SegmentLife
from supervisor.control import export_outbox
from supervisor.core.model.rows import Segment
from supervisor.core.queue.events import QueueConfig, QueuedEvent
from supervisor.eventqueue.handling import Context
from supervisor.metadata.repositories.segments import SqlSegments
from supervisor.metadata.schema.tables import segments
from supervisor.ports.store import Transaction
from tests.simulation.planted.patches import Function, Mutant, Patches


def list_before_its_number(patches: Patches) -> None:
    def make(look: Function) -> object:
        def hasty(self: Exporting, data_source: str, context: Any) -> object:  # noqa: ANN401
            with context.store.leading(context.term) as tx:
                keys = tx.segments.keys(data_source, used=True)
            return replace(look(self, data_source, context), keys=keys)

        return hasty

    patches.method(Exporting, "_look", make)


def done_before_its_commit(patches: Patches) -> None:
    def make(follow: Function) -> object:
        def early(
            self: Exporting, data_source: str, events: Sequence[QueuedEvent], context: Context
        ) -> object:
            opened = self.tables.open(data_source)
            seen = self._look(data_source, context)
            with context.store.leading(context.term) as tx:
                export = tx.exports.locked(data_source, self.format)
                if export is not None and export.enabled:
                    at = opened.standing
                    tx.exports.put(export.advanced_to(seen.sequence, at, context.now))
            return follow(self, data_source, events, context)

        return early

    patches.method(Exporting, "_follow", make)


def exports_not_waited_for(patches: Patches) -> None:
    patches.function(export_outbox, "still_naming", lambda _: lambda *_: [])


def unused_inputs_swapped(patches: Patches) -> None:
    """The statement takes whatever it is given."""

    def make(swap: Function) -> object:
        def any_input(
            self: SqlSegments, segment_ids: Sequence[str], by: Segment, now: datetime
        ) -> object:
            given = segments.c.id.in_(segment_ids)
            self._db.execute(update(segments).where(given).values(unused_at=None))
            return swap(self, segment_ids, by, now)

        return any_input

    patches.method(SqlSegments, "replace", make)


def inputs_not_compared(patches: Patches) -> None:
    """The transaction does not look whether its inputs are used."""

    def make(swap: Function) -> object:
        def hasty(self: Swapping, tx: Transaction, row: Any, file: Any) -> object:  # noqa: ANN401
            listed = tx.segments.listed
            mine = replace(row, data_source=row.data_source)

            def all_of_them(ids: Any) -> object:  # noqa: ANN401
                return {each: replace(s, unused_at=None) for each, s in listed(ids).items()}

            held = tx.segments
            tx.segments = _Listing(held, all_of_them)
            try:
                return swap(self, tx, mine, file)
            finally:
                tx.segments = held

        return hasty

    patches.method(Swapping, "_swap", make)


class _Listing:
    """The repository of segments with another `listed`."""

    def __init__(self, held: Any, listed: Function) -> None:  # noqa: ANN401
        self._held = held
        self.listed = listed

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._held, name)


def inputs_never_compared(patches: Patches) -> None:
    unused_inputs_swapped(patches)
    inputs_not_compared(patches)


def half_a_swap(patches: Patches) -> None:
    def make(swap: Function) -> object:
        def but_one(
            self: SqlSegments, segment_ids: Sequence[str], by: Segment, now: datetime
        ) -> object:
            return swap(self, segment_ids[1:], by, now)

        return but_one

    patches.method(SqlSegments, "replace", make)


def condemned_files_cleaned_up(patches: Patches) -> None:
    def make(_: Function) -> object:
        def kept(self: SqlSegments, folder: str) -> list[str]:
            at = segments.c
            below = (at.path >= f"{folder}/", at.path < f"{folder}0", at.deleted_at.is_(None))
            return list(self._db.execute(select(at.path).where(*below)).scalars())

        return kept

    patches.method(SqlSegments, "under", make)


def grace_not_waited_for(patches: Patches) -> None:
    def config(self: SegmentLife) -> QueueConfig:
        return QueueConfig(delay=self.grace / 4, max_items_at_once=500)

    patches.method(SegmentLife, "config", lambda _: property(config))


def any_mark_condemns(patches: Patches) -> None:
    def make(_: Function) -> object:
        def condemn(self: SqlSegments, segment_id: str, unused_at: datetime, now: datetime) -> bool:
            del unused_at
            unused = segments.c.id == segment_id, segments.c.unused_at.is_not(None)
            at = func.coalesce(segments.c.deleted_at, now)
            done = update(segments).where(*unused).values(deleted_at=at).returning(segments.c.id)
            return self._db.execute(done).one_or_none() is not None

        return condemn

    patches.method(SqlSegments, "condemn", make)


def used_again_and_condemned(patches: Patches) -> None:
    def make(_: Function) -> object:
        def condemn(self: SqlSegments, segment_id: str, unused_at: datetime, now: datetime) -> bool:
            del unused_at
            mine = update(segments).where(segments.c.id == segment_id)
            self._db.execute(mine.values(deleted_at=now))
            return True

        return condemn

    patches.method(SqlSegments, "condemn", make)


_REPLACING = "tests/conformance/tables/test_replacing.py::"

MUTANTS = (
    Mutant(
        "list-before-its-number",
        "P23",
        "an export's list is read before its number",
        list_before_its_number,
        covered_by="rare: the list has to change between two transactions of one look",
        direct="tests/supervisor/chores/exports/test_exporting.py"
        "::test_a_change_during_the_look_is_not_taken_for_exported",
    ),
    Mutant(
        "done-before-its-commit",
        "P23",
        "an export counts as equal before its commit",
        done_before_its_commit,
    ),
    Mutant(
        "exports-not-waited-for",
        "P23",
        "a condemned file is deleted though an export may name it",
        exports_not_waited_for,
        covered_by="rare: an export has to be late for a grace time",
        direct="tests/supervisor/chores/exports/test_exporting.py"
        "::test_a_file_is_deleted_only_once_no_export_names_it",
    ),
    Mutant(
        "unused-inputs-swapped",
        "P23",
        "the statement of a swap takes files that have left the table",
        unused_inputs_swapped,
        covered_by="the same transaction compares the inputs before",
        direct=f"{_REPLACING}test_an_input_that_was_marked_unused_meanwhile_stops_the_swap",
    ),
    Mutant(
        "inputs-never-compared",
        "P23",
        "neither the transaction of a swap nor its statement asks whether the inputs are used",
        inputs_never_compared,
        covered_by="rare: a file has to leave its table while it is rewritten",
        direct="tests/supervisor/chores/test_compacting.py"
        "::test_an_input_that_was_taken_out_ends_it_and_nothing_changes",
    ),
    Mutant(
        "half-a-swap",
        "P23",
        "a compacted file comes in beside one of its inputs",
        half_a_swap,
    ),
    Mutant(
        "condemned-files-cleaned-up",
        "P23",
        "what cleans up behind a task deletes a condemned file of it",
        condemned_files_cleaned_up,
        covered_by="rare: the writer has to be away for a grace time",
        direct="tests/supervisor/chores/test_task_output_published.py"
        "::test_a_worker_that_comes_back_late_does_not_cost_an_export_its_file",
    ),
    Mutant(
        "grace-not-waited-for",
        "P23",
        "a file is condemned after a quarter of its grace time",
        grace_not_waited_for,
    ),
    Mutant(
        "any-mark-condemns",
        "P23",
        "a file that was used again and left anew has the rest of its first grace time",
        any_mark_condemns,
    ),
    Mutant(
        "used-again-and-condemned",
        "P23",
        "a file that was put back is condemned all the same",
        used_again_and_condemned,
    ),
)
