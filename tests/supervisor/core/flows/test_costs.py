"""What steps cost: a sentence for each type, with the sizes that are known."""

from supervisor.core.flows.costs import STEP_COSTS, cost_of
from supervisor.core.flows.steps import STEP_TYPES


def test_each_type_of_step_has_its_cost() -> None:
    assert STEP_COSTS.keys() == STEP_TYPES.keys()


def test_a_backfill_names_the_offsets_that_its_dry_run_gives() -> None:
    assert cost_of("backfill", {"offsets": 12_000}).startswith("workers read 12,000 offsets")
    assert cost_of("backfill", None) == STEP_COSTS["backfill"].costs
    assert cost_of("of another release", None) == ""
