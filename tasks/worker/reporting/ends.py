"""The records of a task's end, as they were made first: a repeat after a restart says the same.

    <data dir>/task-logs/<task>.ended    one record a line; it goes with the log

A worker that starts again makes its tasks anew from their journals, with other times and without
the first rejected records.  A record made from these would have the id of before and say something
else.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import JsonValue

from tasks.contract.ids import is_safe_name
from tasks.durable_files import make_private
from tasks.reporting.grave_lines import graves
from tasks.reporting.record import BadRecord, ReportRecord, read_record

__all__ = ["KeptEnds"]


class KeptEnds:
    """The ends of one worker's tasks, beside their logs; for one thread."""

    def __init__(self, folder: Path) -> None:
        """Keep them in `folder`, where the logs are."""
        self._folder = folder

    def of(
        self, task_id: str, attempt: int, make: Callable[[], Iterable[ReportRecord]]
    ) -> Sequence[ReportRecord]:
        """Return the records of before, or what `make` makes, which is kept from now on.

        A disk that takes nothing costs the keeping alone.
        """
        if not is_safe_name(task_id):
            return [*make()]
        if before := self._read(task_id, attempt):
            return before
        records = [*make()]
        with suppress(OSError):
            make_private(self._folder)
            half = self._folder / f"{task_id}.ended-new"
            half.write_text("".join(f"{each.to_json()}\n" for each in records))
            half.replace(self._folder / f"{task_id}.ended")
        return records

    def graves(self, task_id: str) -> dict[str, JsonValue]:
        """Return the warnings and errors of a log up to now; none, if it cannot be read."""
        if is_safe_name(task_id):
            path = self._folder / f"{task_id}.log"
            with suppress(OSError), path.open(encoding="ascii", errors="replace") as log:
                return graves(log)
        return graves([])

    def _read(self, task_id: str, attempt: int) -> list[ReportRecord]:
        """Return what is kept of an attempt; nothing, if any of it cannot be read."""
        with suppress(OSError, BadRecord):
            lines = (self._folder / f"{task_id}.ended").read_bytes().splitlines()
            records = [read_record(line) for line in lines]
            if all((each.subject, each.attempt) == (task_id, attempt) for each in records):
                return records
        return []
