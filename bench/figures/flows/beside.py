"""Publishes and passes while steps of flows run beside them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from bench.result import Budget, Result, Spread
from bench.world import World


def _publishes(world: World) -> Result:
    """Take the median; the baseline is without steps."""
    return _result("flow-publish-sqlite", "`publish-sqlite`", world, world.beside_steps.publishes)


def _passes(world: World) -> Result:
    """Take the median; the baseline is without steps."""
    return _result("flow-pass-time", "`pass-time`", world, world.beside_steps.passes)


def _result(name: str, like: str, world: World, times: tuple[Spread, Spread]) -> Result:
    found, alone = times
    return Result(
        name,
        found.middle,
        "ms",
        baseline=alone.middle,
        budget=Budget(1.2, of_ratio=True),
        how=(
            f"{like} while steps run on Kafka as in `flow-steps-kafka`, with overlord, broker and "
            f"executor on this machine, median; baseline: while they rest, in "
            f"{world.sizes.beside.turns} turns"
        ),
        notes=(
            found.told("ms"),
            f"while steps rest: {alone.told('ms')}",
            f"{world.beside_steps.steps_per_s:.0f} steps/s ran beside",
        ),
    )


def _gaps(world: World) -> Result:
    """Take the 95th percentile; the baseline is without steps, in a run before."""
    alone, found = world.live.gap_s, world.live_beside_steps.gap_s
    return Result(
        "flow-handoff-gap",
        found.percentile(0.95),
        "s",
        baseline=alone.percentile(0.95),
        budget=Budget(1.0),
        how=(
            "`handoff-gap` while steps run on Kafka as in `flow-steps-kafka`, on this machine too, "
            "95th percentile; baseline: `handoff-gap` of the same call, without them"
        ),
        notes=(found.told("s"), f"without steps: {alone.told('s')}"),
    )


FIGURES: Mapping[str, Callable[[World], Result]] = MappingProxyType(
    {"flow-publish-sqlite": _publishes, "flow-pass-time": _passes, "flow-handoff-gap": _gaps}
)
