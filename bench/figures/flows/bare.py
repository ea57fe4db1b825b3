"""`noop` steps on Kafka, beside a bare loop that writes the same records."""

from bench.result import Budget, Result
from bench.world import World

NAME = "flow-steps-bare"


def run(world: World) -> Result:
    """Take the median of the parts of a run; the baseline is the loop."""
    found = world.flows("kafka")
    bare = found.bare
    assert bare is not None, "it runs on Kafka"
    return Result(
        NAME,
        found.steps.middle,
        "steps/s",
        baseline=bare.steps.middle,
        budget=Budget(0.35, at_least=True, of_ratio=True),
        how=(
            "as `flow-steps-kafka`; baseline: a loop that consumes a claim and a report for each "
            "step, reads their JSON, and writes the records of a step anew, in transactions of "
            "up to 500 inputs, in one thread, on the same broker"
        ),
        notes=(
            f"the loop: {bare.steps.told('steps/s', 0)}",
            f"{bare.records:.1f} records and {bare.size_bytes:,.0f} bytes per step",
            "the loop keeps no state, waits for no runner and fills no tables",
        ),
    )
