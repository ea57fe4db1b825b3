"""The impact of a spec version: what it changes, and which live ranges end for it.  Pure.

    open ──ends for it──► ending      hands off, publishes, or is closed empty
      └────fits──────────► staying     read on, whatever version it was opened with
    end fixed ───────────► fixed       publishes, with or without the new version

A dry run shows the impact before the version is stored.  Once it is stored, its operation waits
for the ranges that are `leaving`, and for no others.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from supervisor.core.model.rows import Generation
from supervisor.core.planning.observed import Observed
from supervisor.core.planning.preconditions import AnyVersion, is_ended
from supervisor.core.planning.view import PassView
from supervisor.core.spec.changes import (
    NO_CHANGES,
    Changes,
    compare,
    forbidden,
    forbidden_after,
    replaces,
)
from supervisor.core.spec.section import Effect
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import InvalidSpec, SpecUnreadable


class Restarts(StrEnum):
    """What is stopped or handed off."""

    NONE = "none"
    SUPERVISOR = "supervisor"
    TASKS = "tasks"


@dataclass(frozen=True)
class SpecImpact:
    """What a version of a spec changes and disturbs; without ranges, nothing is read."""

    changes: Changes = NO_CHANGES
    """Against the version before; none if there was none, or only a tombstone."""
    is_new: bool = False
    """No supervisor runs under this id before the version."""
    terminates: bool = False
    """The version is a tombstone."""
    suspended: bool = False
    """By the new version."""
    ending: tuple[Generation, ...] = ()
    """Live ranges whose end is not fixed, and has to come for this version."""
    staying: tuple[Generation, ...] = ()
    """Live ranges that are read on."""
    fixed: tuple[Generation, ...] = ()
    """Live ranges whose end is fixed: they publish, whatever the version says."""
    is_complete: bool = False
    """The ranges that stay are all groups that the version asks for: none is to be opened."""

    @property
    def leaving(self) -> tuple[str, ...]:
        """The ids of the ranges that have to be over before the version holds for all.

        Those that are read on have predecessors that publish in any case.
        """
        held = {partition for generation in self.staying for partition in generation.start}
        alone = (g for g in self.fixed if held.isdisjoint(g.start))
        return tuple(generation.id for generation in (*alone, *self.ending))

    @property
    def needs_passes(self) -> bool:
        """The version is not fulfilled at once: ranges have to end, or groups to be opened."""
        other_tasks = self.is_new or self.terminates or self.changes.restarts
        return bool(self.ending) or (other_tasks and not self.is_complete)

    @property
    def restarts(self) -> Restarts:
        """What the changes stop or hand off: nothing, where all that is read is read on."""
        if self.staying and not self.ending:
            return Restarts.NONE
        match self.changes.effect:
            case Effect.RESTART_TASKS:
                return Restarts.TASKS
            case Effect.RESTART_SUPERVISOR:
                return Restarts.SUPERVISOR
            case _:
                return Restarts.NONE

    @property
    def summary(self) -> str:
        """What would happen, in a sentence."""
        if self.is_new:
            return "nothing runs under this id: a new supervisor would begin"
        if not self.changes.fields:
            return "nothing changes: the stored spec says the same"
        ends = self._ends
        match self.restarts:
            case Restarts.TASKS if ends and not self.suspended:
                return f"{ends}; tasks with the new spec go on from there"
            case Restarts.TASKS | Restarts.SUPERVISOR if self.suspended:
                return (
                    f"{ends}; nothing new starts" if ends else "nothing reads, and nothing starts"
                )
            case Restarts.SUPERVISOR:
                return "the supervisor goes on where it stopped"
            case Restarts.TASKS:
                return "no task group reads now: the next ones have the new spec"
            case Restarts.NONE if ends:
                return f"the new values hold at once; for earlier changes {ends}"
            case Restarts.NONE:
                return "nothing that runs is stopped: the new values hold at once"

    @property
    def _ends(self) -> str:
        """How many groups hand off, and how many of those that read do not; empty: none does."""
        if not self.ending:
            return ""
        one = len(self.ending) == 1
        text = "1 task group hands" if one else f"{len(self.ending)} task groups hand"
        text += f" off and {'publishes' if one else 'publish'} what was read"
        return text + (f", {len(self.staying)} read on as they do" if self.staying else "")


NO_IMPACT = SpecImpact()
"""Of a spec that equals the newest version."""


def judge_change(newest: AnyVersion | None, spec: SupervisorSpec | None) -> SpecImpact:
    """Return what `spec` behind `newest` changes, ranges left out; None: a tombstone.

    Behind a version that cannot be read here, everything changes.

    Raises:
        InvalidSpec: it changes what cannot change while offsets are stored (H5).
    """
    if spec is None:
        return SpecImpact(terminates=True)
    is_new = newest is None or is_ended(newest)
    return SpecImpact(_changes(newest, spec), is_new=is_new, suspended=spec.suspended)


def _changes(newest: AnyVersion | None, spec: SupervisorSpec) -> Changes:
    if isinstance(newest, SpecUnreadable):
        if errors := forbidden_after(newest, spec):
            raise InvalidSpec(errors)
        return replaces(newest)
    if newest is None or newest.spec is None:
        return NO_CHANGES
    if errors := forbidden(newest.spec, spec):
        raise InvalidSpec(errors)
    return compare(newest.spec, spec)


def on_live_ranges(impact: SpecImpact, seen: Observed) -> SpecImpact:
    """Return an impact with what becomes of the live ranges, by the planner's own rules.

    `seen.current` is the new version, stored or not; else only rows and topics of `seen` count.
    """
    view = PassView(seen)
    fixed = tuple(g for g in seen.generations if not g.open)
    ending = tuple(g for g in seen.generations if g.open and _ends(view, g))
    staying = tuple(g for g in seen.generations if g.open and g not in ending)
    held = {partition for generation in staying for partition in generation.start}
    groups = view.groups.values()
    complete = bool(groups) and not any(held.isdisjoint(members) for members in groups)
    return replace(impact, ending=ending, staying=staying, fixed=fixed, is_complete=complete)


def _ends(view: PassView, generation: Generation) -> bool:
    return generation.must_end or view.ends_for_good(generation) is not None
