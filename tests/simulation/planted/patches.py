"""A planted fault, and how it is put in place and taken away again."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, TypeAlias

Function: TypeAlias = Callable[..., Any]
Make: TypeAlias = Callable[[Function], object]
"""Takes what was there, returns what stands there instead."""

_OURS = (
    "supervisor",
    "tasks",
    "tests.simulation",
    "tests.supervisor.core.crashes",
    "tests.supervisor.executions",
)


@dataclass
class Patches:
    """What is replaced now; undone in the reverse order."""

    _undo: list[Callable[[], None]] = field(default_factory=list)

    def method(self, owner: type, name: str, make: Make) -> None:
        """Replace a method, or another attribute, of a class."""
        old = owner.__dict__[name]
        setattr(owner, name, make(old))
        self._undo.append(lambda: setattr(owner, name, old))

    def function(self, module: ModuleType, name: str, make: Make) -> None:
        """Replace a function wherever it was imported under whatever name."""
        old = getattr(module, name)
        new = make(old)
        _rebind(old, new)
        self._undo.append(lambda: _rebind(new, old))

    def undo(self) -> None:
        """Put everything back."""
        while self._undo:
            self._undo.pop()()


def _rebind(old: object, new: object) -> None:
    for name, module in list(sys.modules.items()):
        if not name.startswith(_OURS):
            continue
        for attribute, value in list(vars(module).items()):
            if value is old:
                setattr(module, attribute, new)


@dataclass(frozen=True)
class Mutant:
    """One fault of the protocol."""

    name: str
    rule: str
    story: str
    """What somebody might have written, in one line."""
    plant: Callable[[Patches], None]
    covered_by: str = ""
    """The other defence that hides it from the simulation; empty: nothing does."""
    direct: str = ""
    """The test that finds it all the same: it leaves the covering defence out."""
    stand_in: str = ""
    """Which stand-in of the simulation `plant` changes in place of the product; empty: none."""
    real: Callable[[Patches], None] | None = None
    """Of such a fault: plants it into the product, for the direct test."""

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Plant it for a while."""
        patches = Patches()
        try:
            self.plant(patches)
            yield
        finally:
            patches.undo()
