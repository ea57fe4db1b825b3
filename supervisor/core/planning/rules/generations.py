"""The life cycle rule of generations: begin due handoffs, continue them, open missing groups."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from supervisor.core.model.rows import Generation, GenerationState
from supervisor.core.planning.actions import Action, BeginHandoff, FixEnd, OpenGeneration
from supervisor.core.planning.rules import handoff
from supervisor.core.planning.rules.handoff_due import (
    handoff_due_at,
    latest_at,
    milestone,
    why_full,
    why_over,
    why_read_out,
)
from supervisor.core.planning.rules.idle import idle_at, look_again_at, rests, why_idle
from supervisor.core.planning.view import PassView
from supervisor.core.planning.wake_condition import WakeCondition
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values import ids
from supervisor.core.values.clock_skew import is_over
from tasks.contract.messages import TaskPhase
from tasks.contract.offsets import TopicPartition


class GenerationSteps:
    """Advances open generations and opens missing ones; assigns ordinals in this order."""

    def __init__(self, view: PassView) -> None:
        self._view = view
        self._seen = view.seen
        self._ordinal = view.seen.newest.ordinal if view.seen.newest else 0
        self._begun = 0
        self.wakes: list[datetime] = []
        self.milestones: dict[str, WakeCondition] = {}
        """Reading task -> the wake condition of its range, which is not due yet."""
        self.closing: set[str] = set()
        """Generations that this plan ends or pauses: they get no new replicas."""

    def move_generations(self) -> Iterator[Action]:
        """Begin due handoffs, and do the next step of handoffs that have begun, oldest first."""
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
        must = self._view.ends_for_good(generation) or self._idle(generation)
        why = must or self._requested_handoff(generation) or self._read_out(generation)
        why = why or self._due(generation)
        if why is not None:
            self.closing.add(generation.id)
            self._begun += 1
            # If the range were read on, it would judge later rows by the time when it was opened.
            ends = must is not None or self._view.governing_spec(generation).io_config.bounds_move
            yield BeginHandoff(generation.id, generation.sequence, must_end=ends, why=why)

    def _idle(self, generation: Generation) -> str | None:
        """Close a range without new records, once a replica can report that the range is empty."""
        if (at := idle_at(self._view)) is not None:
            self.wakes.append(at)
        why = why_idle(self._view)
        return why if why is not None and self._has_position(generation) else None

    def _requested_handoff(self, generation: Generation) -> str | None:
        """A requested handoff is due at once, whatever `stopTaskCount` and taskDuration say."""
        return generation.handoff_request if self._has_position(generation) else None

    def _read_out(self, generation: Generation) -> str | None:
        """A bounded range that has reached its end is due at once."""
        return why_read_out(self._view.replicas(generation), self._view.governing_spec(generation))

    def _due(self, generation: Generation) -> str | None:
        spec = self._view.governing_spec(generation)
        replicas = self._view.replicas(generation)
        why = why_full(replicas, spec) or why_over(generation, spec, self._seen.now)
        if why is None:
            self.wakes.append(handoff_due_at(generation, spec))
            mark = milestone(generation, spec)
            self.milestones |= {r.task.id: mark for r in replicas}
            return None
        latest = latest_at(generation, spec)
        if self._too_many(generation, spec) and (latest is None or self._seen.now < latest):
            self.wakes += [] if latest is None else [latest]
            return None  # a step of the other handoffs wakes the loop
        if latest is not None and handoff_due_at(generation, spec) <= self._seen.now:
            self.closing.add(generation.id)  # a replica started now would reject current rows
            if not replicas and any(worker.takes_tasks for worker in self._seen.workers):
                return why  # its successor can be read
        return why if self._has_position(generation) else None

    def _too_many(self, generation: Generation, spec: SupervisorSpec) -> bool:
        """Return whether as many ranges hand off or publish as may do so at once."""
        bound = spec.io_config.stop_task_count or generation.task_count
        busy = [g for g in self._seen.generations if g.state is not GenerationState.READING]
        return len(busy) + self._begun >= bound

    def _has_position(self, generation: Generation) -> bool:
        """Return whether a replica can report its position; if not, a report wakes the loop."""
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
        yield from (self._within_bounds(action) for action in step.actions)

    def _within_bounds(self, action: Action) -> Action:
        """Leave partitions out of the successor that have reached the end of a bounded range."""
        ends = self._view.ends
        if ends is None or not isinstance(action, FixEnd) or action.successor is None:
            return action
        left = {p: at for p, at in action.successor.start.items() if at < ends[p]}
        return replace(action, successor=replace(action.successor, start=left) if left else None)

    def _successor(self, generation: Generation) -> OpenGeneration | None:
        if not self._view.fits(generation):
            return None
        return self._open(generation.group, dict(generation.start), "its predecessor hands off")

    def open_missing_groups(self) -> Iterator[OpenGeneration]:
        """Open every group of the layout whose partitions no open generation holds."""
        if self._view.spec is None or self._starts_later(self._view.spec):
            return
        if rests(self._view):
            at = look_again_at(self._view)
            self.wakes += [] if at is None else [at]
            return
        held = {p for g in self._seen.generations if g.open for p in g.start}
        for group, members in self._view.groups.items():
            if held.isdisjoint(members):
                start = {p: self._view.next_start(p) for p in members}
                yield self._open(
                    group, start, f"group {group} of {self._view.task_count} is missing"
                )

    def _starts_later(self, spec: SupervisorSpec) -> bool:
        submitted_at, delay = self._seen.current.created_at, spec.io_config.start_delay
        if self._seen.newest is not None or is_over(submitted_at, delay, self._seen.now):
            return False
        self.wakes.append(submitted_at + delay)
        return True

    def _open(self, group: int, start: dict[TopicPartition, int], why: str) -> OpenGeneration:
        self._ordinal += 1
        return OpenGeneration(
            generation_id=ids.generation_id(self._seen.current.supervisor_id, self._ordinal),
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
