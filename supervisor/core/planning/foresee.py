"""The impact of a spec version on live ranges, predicted by the rules of the planner.

    open ──ends for it──► ending      hands off, publishes, or is closed empty
      └────fits──────────► staying     read on, whatever version it was opened with
    end fixed ───────────► published   with or without the new version

The answer to the post of the version names these ranges, and its operation waits only for them.
"""

from dataclasses import dataclass

from supervisor.core.model.rows import Generation
from supervisor.core.planning.observed import Observed
from supervisor.core.planning.view import PassView


@dataclass(frozen=True)
class Foreseen:
    """The live ranges of a supervisor, sorted by the impact of the newest spec version."""

    ending: tuple[Generation, ...] = ()
    """Ranges without a fixed end, which have to end for the version."""
    staying: tuple[Generation, ...] = ()
    """Ranges that are read on."""
    fixed: tuple[Generation, ...] = ()
    """Ranges with a fixed end, which publish under any version."""
    complete: bool = False
    """The staying ranges are all groups of the version, so no range has to be opened."""

    @property
    def disturbs_nothing(self) -> bool:
        """All ranges that are being read are read on."""
        return bool(self.staying) and not self.ending

    @property
    def leaving(self) -> tuple[str, ...]:
        """The ids of the ranges that have to be over before the version applies everywhere.

        Predecessors of staying ranges are left out, because they publish in any case.
        """
        held = {partition for generation in self.staying for partition in generation.start}
        alone = (g for g in self.fixed if held.isdisjoint(g.start))
        return tuple(generation.id for generation in (*alone, *self.ending))

    def waits(self, *, restarts: bool) -> bool:
        """Return whether a version takes a while; `restarts`: the version needs other tasks."""
        return bool(self.ending) or (restarts and not self.complete)


def foresee(seen: Observed) -> Foreseen:
    """Return the impact on the live ranges; only rows and topics of `seen` count."""
    view = PassView(seen)
    fixed = tuple(g for g in seen.generations if not g.open)
    ending = tuple(g for g in seen.generations if g.open and _ends(view, g))
    staying = tuple(g for g in seen.generations if g.open and g not in ending)
    held = {partition for generation in staying for partition in generation.start}
    groups = view.groups.values()
    complete = bool(groups) and not any(held.isdisjoint(members) for members in groups)
    return Foreseen(ending, staying, fixed, complete)


def _ends(view: PassView, generation: Generation) -> bool:
    return generation.must_end or view.ends_for_good(generation) is not None
