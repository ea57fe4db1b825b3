"""What becomes of live ranges under a version of the spec: the planner's rules, asked beforehand.

    open ──ends for it──► ending      hands off, publishes, or is closed empty
      └────fits──────────► staying     read on, whatever version it was opened with
    end fixed ───────────► published   with or without the new version

Who asked for the version is told of these, and its operation waits for them and for no others.
"""

from dataclasses import dataclass

from supervisor.core.model.rows import Generation
from supervisor.core.planning.observed import Observed
from supervisor.core.planning.view import PassView


@dataclass(frozen=True)
class Foreseen:
    """The live ranges of a supervisor, as the newest version of its spec finds them."""

    ending: tuple[Generation, ...] = ()
    """Their end is not fixed, and has to come for it."""
    staying: tuple[Generation, ...] = ()
    """They are read on."""
    fixed: tuple[Generation, ...] = ()
    """Their end is fixed: they publish, whatever is asked for."""
    complete: bool = False
    """Those that stay are all groups that the version asks for: none is to be opened."""

    @property
    def disturbs_nothing(self) -> bool:
        """What is read is read on."""
        return bool(self.staying) and not self.ending

    @property
    def leaving(self) -> tuple[str, ...]:
        """The ids of the ranges that have to be over before the version holds for all.

        Those that are read on have predecessors that publish without anybody's wish.
        """
        held = {partition for generation in self.staying for partition in generation.start}
        alone = (g for g in self.fixed if held.isdisjoint(g.start))
        return tuple(generation.id for generation in (*alone, *self.ending))

    def waits(self, *, restarts: bool) -> bool:
        """Whether a version that asks for other tasks, or does not, is not fulfilled at once."""
        return bool(self.ending) or (restarts and not self.complete)


def foresee(seen: Observed) -> Foreseen:
    """Return what becomes of the live ranges; of `seen` only rows and topics count."""
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
