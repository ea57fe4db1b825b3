"""Generations in memory: the same guards as `metadata/generations.py`."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from supervisor.adapters.memory_rows import Tables
from supervisor.core.actions import FixEnd, OpenGeneration
from supervisor.core.errors import StateMoved
from supervisor.core.happenings import (
    CLOSED_AS,
    HappeningKind,
    closed_detail,
    opened,
    range_told,
    shown_offsets,
)
from supervisor.core.model import Generation, GenerationState, Task
from supervisor.ports_happenings import Tell
from tasks.contract import PublishOutcome
from tasks.offsets import count

_READING = GenerationState.READING
_PAUSING = GenerationState.PAUSING
_PUBLISHING = GenerationState.PUBLISHING


class MemoryGenerations:
    """See `ports.Generations`."""

    def __init__(self, tables: Tables, tell: Tell) -> None:
        self._tables = tables
        self._tell = tell
        self._live = tables.live
        self._ended = tables.ended

    def open(
        self, supervisor_id: str, data_source: str, action: OpenGeneration, now: datetime
    ) -> bool:
        """Insert the generation as READING; False, changing nothing, if its id exists.

        Raises:
            StateMoved: another open generation holds one of its partitions.
        """
        if self.get(action.generation_id) is not None:
            return False
        for other in self.live(supervisor_id):
            if other.open and other.start.keys() & action.start.keys():
                raise StateMoved(
                    f"{action.generation_id} cannot open: {other.id} of {supervisor_id} "
                    "holds one of its partitions"
                )
        self._live.put(action.generation_id, _opened(supervisor_id, data_source, action, now))
        self._tell(opened(action, supervisor_id, data_source, now))
        return True

    def get(self, generation_id: str) -> Generation | None:
        """Return one."""
        return self._live.get_row(generation_id) or self._ended.get_row(generation_id)

    def live(self, supervisor_id: str | None = None) -> list[Generation]:
        """Return the live ones of one supervisor, or of all, by (supervisor, ordinal)."""
        return _ordered(g for g in self._live.values() if supervisor_id in {None, g.supervisor_id})

    def live_tables(self) -> dict[str, str]:
        """Return supervisor -> its table, of all that have live ones."""
        return {g.supervisor_id: g.data_source for g in self._live.values()}

    def newest(self, supervisor_id: str) -> Generation | None:
        """Return the one with the highest ordinal, whatever its state."""
        newest = [*self.live(supervisor_id)[-1:], *self.recent(supervisor_id, 1)]
        return max(newest, key=lambda g: (g.ordinal, g.id), default=None)

    def recent(self, supervisor_id: str, limit: int) -> list[Generation]:
        """Return the newest ended ones, newest first."""
        ended = _ordered(g for g in self._ended.values() if g.supervisor_id == supervisor_id)
        return ended[::-1][:limit]

    def page(
        self, supervisor_id: str, limit: int, *, before: int | None = None
    ) -> list[Generation]:
        """Return live and ended ones with lower ordinals, or all, newest first."""
        every = [*self.live(supervisor_id), *self.recent(supervisor_id, len(self._ended))]
        return _ordered(g for g in every if before is None or g.ordinal < before)[::-1][:limit]

    def finished(self, generation_id: str, now: datetime) -> None:
        """Note when a replica first asked to publish a live one; again, it keeps the first time."""
        found = self._live.get_row(generation_id)
        if found is not None and found.first_finished_at is None:
            self._put(replace(found, first_finished_at=now))

    def ask_handoff(self, generation_id: str, why: str) -> bool:
        """Note that the handoff of one in READING is wanted now.  False: it is not READING."""
        found = self._live.get_row(generation_id)
        if found is None or found.state is not _READING:
            return False
        return self._put(replace(found, asked=why))

    def begin_handoff(
        self, generation_id: str, expected_sequence: int, *, must_end: bool, why: str, now: datetime
    ) -> bool:
        """READING or PAUSING -> PAUSING, sequence + 1, `paused_at` = now.  False: it moved on."""
        found = self._at(generation_id, expected_sequence, _READING, _PAUSING)
        if found is None:
            return False
        self._tell(range_told(found, HappeningKind.GENERATION_PAUSING, now, why=why))
        return self._put(
            replace(
                found,
                state=_PAUSING,
                sequence=found.sequence + 1,
                handoff_why=why,
                must_end=must_end,
                paused_at=now,
            )
        )

    def resume(
        self, generation_id: str, expected_sequence: int, *, restart_timer: bool, now: datetime
    ) -> bool:
        """PAUSING -> READING, sequence + 1, handoff fields cleared.  False: it moved on."""
        found = self._at(generation_id, expected_sequence, _PAUSING)
        if found is None:
            return False
        kind = HappeningKind.GENERATION_RESUMED
        self._tell(range_told(found, kind, now, timerRestarted=restart_timer))
        return self._put(
            replace(
                found,
                state=_READING,
                sequence=found.sequence + 1,
                timer_started_at=now if restart_timer else found.timer_started_at,
                asked="" if restart_timer else found.asked,
                handoff_why="",
                must_end=False,
                paused_at=None,
            )
        )

    def fix_end(self, action: FixEnd, now: datetime) -> bool:
        """PAUSING -> PUBLISHING with end, sequence + 1; its partitions are free.  False: moved.

        Raises:
            OffsetsError: the end does not fit the start; a bug.
        """
        found = self._at(action.generation_id, action.expected_sequence, _PAUSING)
        if found is None:
            return False
        count(found.start, action.end)
        start, end = shown_offsets(found.start), shown_offsets(action.end)
        kind = HappeningKind.GENERATION_END_FIXED
        self._tell(range_told(found, kind, now, start=start, end=end))
        return self._put(
            replace(
                found,
                state=_PUBLISHING,
                sequence=found.sequence + 1,
                end=dict(sorted(action.end.items())),
                end_fixed_at=now,
            )
        )

    def close(
        self, generation_id: str, state: GenerationState, now: datetime, why: str = ""
    ) -> bool:
        """Live -> EMPTY, DISCARDED or PUBLISHED; its partitions are free.  False: it was ended.

        EMPTY comes from an open state, PUBLISHED from PUBLISHING; from elsewhere it is False too.
        """
        found = self._live.get_row(generation_id)
        allowed = {
            GenerationState.EMPTY: found is not None and found.open,
            GenerationState.DISCARDED: found is not None,
            GenerationState.PUBLISHED: found is not None and found.state is _PUBLISHING,
        }[state]
        if found is None or not allowed:
            return False
        self._live.drop(generation_id)
        self._ended.put(generation_id, replace(found, state=state, ended_at=now))
        row = self._tables.publications.get_row(generation_id)
        is_published = row is not None and state is GenerationState.PUBLISHED
        published = (row.rows, row.rejected, row.task_id) if row and is_published else None
        detail = closed_detail(found.start, found.end, published, why)
        self._tell(range_told(found, CLOSED_AS[state], now, **detail))
        return True

    def predecessors(self, generation: Generation) -> list[Generation]:
        """Return live generations with a lower ordinal that share a partition with it."""
        return [
            other
            for other in self.live(generation.supervisor_id)
            if other.ordinal < generation.ordinal and other.start.keys() & generation.start.keys()
        ]

    def forget(self, supervisor_id: str, up_to: int, limit: int) -> int:
        """Delete rows of ended, unpublished generations up to an ordinal; see the port."""
        settled = [
            task
            for task in self._unpublished(supervisor_id, up_to)
            if task.folder_deleted_at is not None
        ][:limit]
        for task in settled:
            self._tables.tasks.drop(task.id)
            attempts = self._tables.attempts[task.generation_id]
            left = tuple(task_id for task_id in attempts if task_id != task.id)
            self._tables.attempts.put(task.generation_id, left)
        if settled:
            return len(settled)
        newest = self.newest(supervisor_id)
        gone = [
            generation
            for generation in self._forgotten(supervisor_id, up_to)
            if generation != newest and not self._tables.attempts.get_row(generation.id)
        ][:limit]
        for generation in gone:
            self._ended.drop(generation.id)
            self._tables.attempts.drop(generation.id)
        return len(gone)

    def unsettled(self, supervisor_id: str, up_to: int) -> bool:
        """Tell whether folders of such generations' tasks are still to be found empty for good."""
        return any(
            task.folder_deleted_at is None and task.outcome is not PublishOutcome.STALE
            for task in self._unpublished(supervisor_id, up_to)
        )

    def _forgotten(self, supervisor_id: str, up_to: int) -> list[Generation]:
        """Return generations that ended without a publication, up to an ordinal."""
        return [
            generation
            for generation in self._ended.values()
            if generation.supervisor_id == supervisor_id
            and generation.ordinal <= up_to
            and generation.id not in self._tables.publications
        ]

    def _unpublished(self, supervisor_id: str, up_to: int) -> list[Task]:
        return [
            self._tables.tasks[task_id]
            for generation in self._forgotten(supervisor_id, up_to)
            for task_id in self._tables.attempts.get_row(generation.id) or ()
        ]

    def _at(self, generation_id: str, sequence: int, *states: GenerationState) -> Generation | None:
        """Return the generation if it stands where the change expects it."""
        found = self._live.get_row(generation_id)
        if found is None or found.sequence != sequence or found.state not in states:
            return None
        return found

    def _put(self, changed: Generation) -> bool:
        self._live.put(changed.id, changed)
        return True


def _ordered(found: Iterable[Generation]) -> list[Generation]:
    return sorted(found, key=lambda g: (g.supervisor_id, g.ordinal, g.id))


def _opened(
    supervisor_id: str, data_source: str, action: OpenGeneration, now: datetime
) -> Generation:
    return Generation(
        id=action.generation_id,
        supervisor_id=supervisor_id,
        data_source=data_source,
        ordinal=action.ordinal,
        layout_version=action.layout_version,
        task_count=action.task_count,
        partition_count=action.partition_count,
        group=action.group,
        spec_version=action.spec_version,
        state=_READING,
        start=dict(sorted(action.start.items())),
        end=None,
        opened_at=now,
        timer_started_at=now,
        reset_epochs={p: epoch for p, epoch in sorted(action.reset_epochs.items()) if epoch},
    )
