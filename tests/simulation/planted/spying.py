"""Whether a planted fault fits the code, and is taken away whole."""

from inspect import Parameter, signature
from types import FunctionType, ModuleType

from tests.simulation.planted.patches import Make, Mutant, Patches

__all__ = ["Spy", "check_fit"]


class Spy(Patches):
    """Notes what is replaced by what."""

    def __init__(self) -> None:
        super().__init__()
        self.replaced: list[tuple[object, object]] = []

    def method(self, owner: type, name: str, make: Make) -> None:
        old = owner.__dict__[name]
        super().method(owner, name, make)
        self.replaced.append((old, owner.__dict__[name]))

    def function(self, module: ModuleType, name: str, make: Make) -> None:
        old = getattr(module, name)
        super().function(module, name, make)
        self.replaced.append((old, getattr(module, name)))


def check_fit(mutant: Mutant) -> None:
    """Assert that it replaces something that can be called alike, and that nothing of it stays."""
    spy = Spy()
    try:
        mutant.plant(spy)
        assert spy.replaced
        assert all(old is not new for old, new in spy.replaced)
        for old, new in spy.replaced:
            _assert_fits(old, new)
    finally:
        spy.undo()
    again = Spy()
    try:
        mutant.plant(again)
        assert [old for old, _ in again.replaced] == [old for old, _ in spy.replaced]
    finally:
        again.undo()


def _assert_fits(old: object, new: object) -> None:
    """What stands there instead can be called as what stood there: else nothing is tried."""
    if not isinstance(old, FunctionType) or not callable(new):
        return
    wanted = signature(old).parameters.values()
    by_name = {p.name: None for p in wanted if p.kind is Parameter.KEYWORD_ONLY}
    signature(new).bind(*(None for p in wanted if p.name not in by_name), **by_name)
