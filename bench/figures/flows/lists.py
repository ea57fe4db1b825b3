"""Pages of the list of executions, by each filter."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from bench.result import Budget, Result
from bench.world import World

_KINDS = ("sqlite", "postgresql")


def _measure(kind: str) -> Callable[[World], Result]:
    def run(world: World) -> Result:
        """Take the 99th percentile of the slowest question."""
        found = world.execution_lists(kind)
        slowest = max(found, key=lambda name: found[name].percentile(0.99))
        return Result(
            f"flow-list-{kind}",
            found[slowest].percentile(0.99),
            "ms",
            budget=Budget(100),
            how=(
                f"99th percentile of the slowest question, `{slowest}`, among "
                f"{world.sizes.executions:,} executions: pages of 100 by each filter, and single "
                "executions; the store alone, without HTTP"
            ),
            notes=tuple(f"{name}: {times.told('ms')}" for name, times in found.items()),
        )

    return run


FIGURES: Mapping[str, Callable[[World], Result]] = MappingProxyType(
    {f"flow-list-{kind}": _measure(kind) for kind in _KINDS}
)
