"""`noop` steps through the whole path, on each engine."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from bench.flows.runs import FlowRun
from bench.result import Budget, Result
from bench.world import World

_COMMIT_EVERY_S = 5.0
_GOALS = {"kafka": 400, "sqlite": 300, "postgresql": 300}


def _measure(engine: str) -> Callable[[World], Result]:
    def run(world: World) -> Result:
        """Take the median of the parts of a run."""
        found = world.flows(engine).steps
        return Result(
            f"flow-steps-{engine}",
            found.middle,
            "steps/s",
            budget=Budget(_GOALS[engine], at_least=True),
            how=(
                "`noop` steps of eight executions in flight, each a `forEach` of 50, from the "
                "start by HTTP to the tables that show their end; claim, run and result of each "
                f"step; median of fifths of {world.sizes.flows.steps_s:.0f} s; overlord, broker "
                "and executor share the machine, and PostgreSQL runs with fsync off"
            ),
            notes=(found.told("steps/s", 0), *_lag(world.flows(engine))),
        )

    return run


def _lag(run: FlowRun) -> Iterator[str]:
    """Say whether the lag stays.

    The group's offsets are committed every five seconds, and a step has two records in the history:
    so much may come and go, and more is growth.
    """
    if run.lag:
        is_flat = run.lag[-1] - run.lag[0] <= _COMMIT_EVERY_S * 2 * run.steps.middle
        looks = ", ".join(f"{each:,}" for each in run.lag)
        yield (
            f"records of the history not worked in at the end of each fifth: {looks}; "
            f"{'flat' if is_flat else 'it grows'}"
        )


FIGURES: Mapping[str, Callable[[World], Result]] = MappingProxyType(
    {f"flow-steps-{engine}": _measure(engine) for engine in _GOALS}
)
