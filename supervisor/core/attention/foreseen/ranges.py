"""What verbs on supervisors and tasks would do to the ranges that are read.  Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from supervisor.core.attention.foreseen.effect import (
    Foreseen,
    GivenUpRange,
    HeldRange,
    clause_of,
    count_of,
    digest_of,
)
from supervisor.core.model.rows import Generation, GenerationState
from supervisor.core.planning.impact import SpecImpact


@dataclass(frozen=True)
class LiveRanges:
    """The live ranges of a supervisor with their tasks, as a verb finds them."""

    tasks: tuple[HeldRange, ...]
    """Those that run."""
    tried: frozenset[str]
    """Ids of ranges of which a task has ended."""
    silent: Mapping[str, str]
    """Worker -> how it stands, of those that are not heard of."""

    def of(self, ranges: Iterable[Generation]) -> tuple[HeldRange, ...]:
        """Return the tasks of some ranges."""
        ids = {generation.id for generation in ranges}
        return tuple(held for held in self.tasks if held.generation.id in ids)

    def published(self, ranges: Iterable[Generation]) -> tuple[Generation, ...]:
        """Return the ranges that have something to publish, as far as it is known."""
        return tuple(each for each in ranges if not self._is_unread(each))

    def lost(self, ranges: Iterable[Generation]) -> tuple[Generation, ...]:
        """Return the ranges that a terminate discards: no task of them is left (P19)."""
        alive = {held.generation.id for held in self.tasks}
        return tuple(
            each
            for each in ranges
            if each.id not in alive
            and (each.state is GenerationState.PUBLISHING or each.id in self.tried)
        )

    def warnings(self, tasks: Iterable[HeldRange]) -> tuple[str, ...]:
        """Say which of the tasks are on workers that are not heard of."""
        return tuple(
            f"{held.task.id} is on {held.task.worker_id}, which is {liveness}: what it has read "
            "may have to be read again"
            for held in tasks
            if (liveness := self.silent.get(held.task.worker_id)) is not None
        )

    def _is_unread(self, generation: Generation) -> bool:
        if generation.state is GenerationState.PUBLISHING:
            return False
        read = [held.unpublished for held in self.of([generation])]
        return bool(read) and all(number == 0 for number in read)


def suspend_foreseen(supervisor_id: str, impact: SpecImpact, live: LiveRanges) -> Foreseen:
    """Return what suspending a supervisor does."""
    leaving = (*impact.fixed, *impact.ending)
    ends = live.of(leaving)
    return Foreseen(
        "suspend",
        supervisor_id,
        f"{_hand_off(leaving, live)}; nothing new starts until it is resumed.",
        f"`tidegate supervisor resume {supervisor_id}`: it goes on where it stopped, and nothing "
        "is lost or read twice",
        digest_of("suspend", supervisor_id, _ids(leaving), _ids(impact.staying)),
        ends=ends,
        publishes=live.published(leaving),
        stays=impact.staying,
        gives_up=(),
        warnings=live.warnings(ends),
    )


def resume_foreseen(supervisor_id: str, impact: SpecImpact, live: LiveRanges) -> Foreseen:
    """Return what resuming a supervisor does."""
    leaving = (*impact.fixed, *impact.ending)
    text = "It reads on at its committed offsets"
    if leaving:
        text += f", behind {count_of(leaving, 'range')} that still publish what was read before"
    return Foreseen(
        "resume",
        supervisor_id,
        f"{text}.",
        f"`tidegate supervisor suspend {supervisor_id}`",
        digest_of("resume", supervisor_id, _ids(leaving), _ids(impact.staying)),
        ends=live.of(leaving),
        publishes=live.published(leaving),
        stays=impact.staying,
        gives_up=(),
    )


def terminate_foreseen(supervisor_id: str, impact: SpecImpact, live: LiveRanges) -> Foreseen:
    """Return what terminating a supervisor does."""
    every = (*impact.fixed, *impact.ending, *impact.staying)
    lost = live.lost(every)
    leaving = tuple(each for each in every if each not in lost)
    ends = live.of(leaving)
    warnings = live.warnings(ends)
    if lost:
        left = f"no task of {count_of(lost, 'range')} is left, and none is started"
        warnings += (f"{left}: what they cover is in no table",)
    return Foreseen(
        "terminate",
        supervisor_id,
        f"{_hand_off(leaving, live)}; then nothing of it runs. Its table and its committed "
        "offsets stay.",
        "apply its spec again, before it is forgotten: it goes on at its committed offsets",
        digest_of("terminate", supervisor_id, _ids(leaving), _ids(lost)),
        ends=ends,
        publishes=live.published(leaving),
        stays=(),
        gives_up=tuple(GivenUpRange(each, each.end) for each in lost),
        warnings=warnings,
    )


def handoff_foreseen(
    supervisor_id: str, wanted: Sequence[Generation], every: Sequence[Generation], live: LiveRanges
) -> Foreseen:
    """Return what handing off ranges does; `wanted`: those that are not handed off already."""
    publishes = live.published(wanted)
    stays = tuple(each for each in every if each not in publishes)
    ends = live.of(publishes)
    return Foreseen(
        "handoff",
        supervisor_id,
        _handoff_text(wanted, publishes, live),
        "it cannot be undone, and nothing is lost: the groups read on behind what is published",
        digest_of("handoff", supervisor_id, _ids(wanted)),
        ends=ends,
        publishes=publishes,
        stays=stays,
        gives_up=(),
        warnings=live.warnings(ends),
    )


def stop_foreseen(
    verb: str, subject: str, stopped: Sequence[HeldRange], every: Sequence[HeldRange]
) -> Foreseen:
    """Return what ending tasks does; `every`: all running tasks of their ranges."""
    ids = {held.task.id for held in stopped}
    others = tuple(held.task.id for held in every if held.task.id not in ids)
    ranges = {held.generation.id: held.generation for held in stopped}
    if not stopped:
        text = "No task runs: nothing changes."
    else:
        ended = clause_of(
            stopped,
            "task",
            "ends as FAILED, through no fault of its own",
            "end as FAILED, through no fault of their own",
        )
        text = (
            f"{ended}; others "
            f"read {count_of(ranges, 'range')} again from the start{_read_by(stopped)}."
        )
    return Foreseen(
        verb,
        subject,
        text,
        "it cannot be undone, and no record is lost: what they have read is read again",
        digest_of(verb, subject, sorted(ids)),
        ends=tuple(stopped),
        publishes=(),
        stays=tuple(ranges.values()),
        gives_up=tuple(GivenUpRange(held.generation, held.position) for held in stopped),
        tasks=others,
    )


def _handoff_text(
    wanted: Sequence[Generation], publishes: Sequence[Generation], live: LiveRanges
) -> str:
    if not wanted:
        return "No task group reads now."
    idle = [each for each in wanted if each not in publishes]
    clauses = []
    if publishes:
        clauses.append(f"{_hand_off(publishes, live)}, and reading goes on behind")
    if idle:
        clauses.append(
            clause_of(
                idle, "range", "that has read nothing reads on", "that have read nothing read on"
            )
        )
    return f"{'; '.join(clauses)}."


def _hand_off(ranges: Sequence[Generation], live: LiveRanges) -> str:
    if not ranges:
        return "No task group reads now"
    some = live.published(ranges)
    if not some:
        return clause_of(
            ranges, "range", "that has read nothing ends", "that have read nothing end"
        )
    text = clause_of(
        some,
        "range",
        "hands off and publishes what it has read",
        "hand off and publish what they have read",
    )
    held = live.of(some)
    if not held:
        return f"{text} (no task reads {'it' if len(some) == 1 else 'them'} now)"
    return text + _read_by(held)


def _read_by(held: Sequence[HeldRange]) -> str:
    """Say how many records the tasks hold, of each range the most; empty: it is not known."""
    most: dict[str, int] = {}
    for each in held:
        if each.unpublished is None:
            return ""
        most[each.generation.id] = max(most.get(each.generation.id, 0), each.unpublished)
    return f" ({sum(most.values()):,} offsets read so far)"


def _ids(ranges: Iterable[Generation]) -> list[str]:
    return [generation.id for generation in ranges]
