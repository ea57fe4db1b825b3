"""How generations move: begun when due, led through their handoff, opened where one is missing."""

from collections.abc import Iterator
from datetime import datetime

from supervisor.core import handoff, names
from supervisor.core.actions import Action, BeginHandoff, OpenGeneration
from supervisor.core.due import due_at, why_full, why_over
from supervisor.core.model import Generation, GenerationState
from supervisor.core.spec import SupervisorSpec
from supervisor.core.view import View
from tasks.contract import TaskPhase
from tasks.offsets import TopicPartition


class Steps:
    """Moves open generations on and opens missing ones; hands out ordinals as it goes."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._seen = view.seen
        self._ordinal = view.seen.newest.ordinal if view.seen.newest else 0
        self._begun = 0
        self.wakes: list[datetime] = []
        self.rows_wanted: dict[str, int] = {}
        """Reading task -> with so many rows its range is due, which it is not yet."""
        self.closing: set[str] = set()
        """Generations that this plan ends or pauses: they get no new replicas."""

    def move_generations(self) -> Iterator[Action]:
        """Begin what is due and do the next step of what has begun, oldest first."""
        for generation in self._seen.generations:
            match generation.state:
                case GenerationState.READING:
                    yield from self._begin(generation)
                case GenerationState.PAUSING:
                    yield from self._go_on(generation)
                case GenerationState.PUBLISHING:
                    pass  # its replicas publish it, or `discards` gives it up
                case _:
                    raise AssertionError(f"{generation.id} is not live: {generation.state}")

    def _begin(self, generation: Generation) -> Iterator[BeginHandoff]:
        must = self._view.ends_for_good(generation)
        why = must or self._asked(generation) or self._due(generation)
        if why is not None:
            self.closing.add(generation.id)
            self._begun += 1
            yield BeginHandoff(
                generation.id, generation.sequence, must_end=must is not None, why=why
            )

    def _asked(self, generation: Generation) -> str | None:
        """A wish is due at once, whatever `stopTaskCount` and taskDuration say."""
        return generation.asked if self._can_be_told(generation) else None

    def _due(self, generation: Generation) -> str | None:
        spec = self._view.terms(generation)
        replicas = self._view.replicas(generation)
        why = why_full(replicas, spec) or why_over(generation, spec, self._seen.now)
        if why is None:
            self.wakes.append(due_at(generation, spec))
            self.rows_wanted |= {r.task.id: spec.tuning_config.max_total_rows for r in replicas}
            return None
        bound = spec.io_config.stop_task_count or generation.task_count
        busy = [g for g in self._seen.generations if g.state is not GenerationState.READING]
        if len(busy) + self._begun >= bound:
            return None  # a step of those wakes the loop
        return why if self._can_be_told(generation) else None

    def _can_be_told(self, generation: Generation) -> bool:
        """Somebody can say how far it is; if nobody can, the first report wakes the loop."""
        reading = {TaskPhase.READING, TaskPhase.PAUSED}
        return any(
            r.report is not None and r.report.phase in reading
            for r in self._view.replicas(generation)
        )

    def _go_on(self, generation: Generation) -> Iterator[Action]:
        self.closing.add(generation.id)
        step = handoff.next_step(
            generation,
            self._view.replicas(generation),
            self._successor(generation),
            self._seen.now,
            self._seen.limits,
        )
        if step.wake_at is not None:
            self.wakes.append(step.wake_at)
        yield from step.actions

    def _successor(self, generation: Generation) -> OpenGeneration | None:
        if not self._view.fits(generation):
            return None
        return self._open(generation.group, dict(generation.start), "its predecessor hands off")

    def open_missing_groups(self) -> Iterator[OpenGeneration]:
        """Open every group of the layout whose partitions no open generation holds."""
        if self._view.spec is None or self._starts_later(self._view.spec):
            return
        held = {p for g in self._seen.generations if g.open for p in g.start}
        for group, members in self._view.groups.items():
            if held.isdisjoint(members):
                start = {p: self._reached(p) for p in members}
                yield self._open(
                    group, start, f"group {group} of {self._view.task_count} is missing"
                )

    def _starts_later(self, spec: SupervisorSpec) -> bool:
        at = self._seen.current.created_at + spec.io_config.start_delay
        if self._seen.newest is None and self._seen.now < at:
            self.wakes.append(at)
            return True
        return False

    def _reached(self, partition: TopicPartition) -> int:
        """End of the newest live generation of a partition, else its committed offset (P8)."""
        ends = [
            g.end[partition]
            for g in self._seen.generations
            if g.end is not None and partition in g.end
        ]
        return ends[-1] if ends else self._seen.committed[partition].next_offset

    def _open(self, group: int, start: dict[TopicPartition, int], why: str) -> OpenGeneration:
        self._ordinal += 1
        return OpenGeneration(
            generation_id=names.generation_id(self._seen.current.supervisor_id, self._ordinal),
            ordinal=self._ordinal,
            layout_version=self._view.layout_version,
            task_count=self._view.task_count,
            partition_count=self._view.partition_count,
            group=group,
            spec_version=self._seen.current.version,
            start=start,
            why=why,
            reset_epochs={p: e for p in start if (e := self._seen.committed[p].reset_epoch)},
        )
