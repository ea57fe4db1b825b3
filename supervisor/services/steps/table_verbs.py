"""The verbs on one table: compact, markUnused."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from supervisor.chores.compaction.compacting import Compacting
from supervisor.chores.segments import SegmentLife, SegmentSelection
from supervisor.core.tables.compaction import (
    BYTES_MAX,
    FILES_MAX,
    ROWS_MAX,
    ROWS_MIN,
    Compaction,
    Target,
)
from supervisor.core.values.intervals import Interval
from supervisor.services.foresight.tables import TableForesight
from supervisor.services.steps.arguments import Arguments, wrong_argument
from supervisor.services.steps.supervisor_verbs import shown_effect
from supervisor.services.steps.verb import Begun, VerbRequest

__all__ = ["CompactVerb", "MarkUnusedVerb"]

_BYTES_MIN = 1_024
_FILES_MIN = 2


@dataclass(frozen=True)
class CompactVerb:
    """Joins small files; the step waits for all of the new ones."""

    compacting: Compacting
    foresight: TableForesight

    def begin(self, wanted: VerbRequest) -> Begun:
        """Begin the compactions."""
        return self._begun(self._compact(wanted))

    def recall(self, wanted: VerbRequest) -> Begun:
        """Begin those that were not begun, and wait for all that live inside the interval.

        Files of a live compaction, and files that are large by now, are left alone: so a repeat
        compacts nothing twice.
        """
        self._compact(wanted)
        table, within = wanted.arguments.text("table"), wanted.arguments.interval("interval")
        live = [row for row in self.compacting.live() if row.data_source == table]
        return self._begun([row for row in live if _is_inside(row, within)])

    def foresee(self, wanted: VerbRequest) -> Mapping[str, JsonValue]:
        """Return what would be joined."""
        table, within = wanted.arguments.text("table"), wanted.arguments.interval("interval")
        target = self._target(table, wanted.arguments)
        return shown_effect(self.foresight.of_compaction(table, target, within))

    def _compact(self, wanted: VerbRequest) -> list[Compaction]:
        table, within = wanted.arguments.text("table"), wanted.arguments.interval("interval")
        expect = wanted.arguments.text_or_none("expect")
        target = self._target(table, wanted.arguments)
        return self.foresight.compact(table, target, wanted.author, within, expect=expect)

    def _target(self, table: str, given: Arguments) -> Target:
        sizes = self.compacting.file_sizes(table)
        rows, size = given.whole("targetRows"), given.whole("targetBytes")
        return Target(
            sizes.rows if rows is None else _within("targetRows", rows, ROWS_MIN, ROWS_MAX),
            sizes.size_bytes
            if size is None
            else _within("targetBytes", size, _BYTES_MIN, BYTES_MAX),
            _within("filesMin", given.whole("filesMin") or _FILES_MIN, _FILES_MIN, FILES_MAX),
        )

    @staticmethod
    def _begun(rows: list[Compaction]) -> Begun:
        outputs: dict[str, JsonValue] = {
            "compactions": len(rows),
            "files": sum(len(row.inputs) for row in rows),
        }
        ids: list[JsonValue] = [row.id for row in rows]
        return Begun(outputs, {"compactions": ids, "failed": 0, "why": ""} if ids else None)


def _is_inside(row: Compaction, within: Interval | None) -> bool:
    return within is None or within.contains(row.interval.start, row.interval.end)


def _within(name: str, value: int, least: int, most: int) -> int:
    if not least <= value <= most:
        raise wrong_argument(name, value, f"between {least} and {most}")
    return value


@dataclass(frozen=True)
class MarkUnusedVerb:
    """Takes segments out of their table; their files go after the grace time."""

    segments: SegmentLife
    foresight: TableForesight

    def begin(self, wanted: VerbRequest) -> Begun:
        """Take them out."""
        table = wanted.arguments.text("table")
        judge = self.foresight.judge_unused(table, wanted.arguments.text_or_none("expect"))
        marked = self.segments.mark_unused(table, _selection(wanted), wanted.author, judge=judge)
        return Begun({"segments": marked})

    def recall(self, wanted: VerbRequest) -> Begun:
        """Take out what a first call has left: segments that are out stay out."""
        table = wanted.arguments.text("table")
        marked = self.segments.mark_unused(table, _selection(wanted), wanted.author)
        return Begun({"segments": marked})

    def foresee(self, wanted: VerbRequest) -> Mapping[str, JsonValue]:
        """Return what would be taken out."""
        table = wanted.arguments.text("table")
        return shown_effect(self.foresight.of_unused(table, _selection(wanted)))


def _selection(wanted: VerbRequest) -> SegmentSelection:
    ids = wanted.arguments.items("segmentIds")
    if ids is not None:
        return SegmentSelection(ids=[str(each) for each in ids])
    interval = wanted.arguments.interval("interval")
    if interval is None:  # it would be the whole table
        raise wrong_argument("interval", None, "an interval")
    return SegmentSelection(interval=interval)
