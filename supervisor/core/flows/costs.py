"""What each type of step costs, and why an attempt that is repeated does no harm.

`tidegate flow plan -o wide` shows the first, docs/reference/flows.md both.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pydantic import JsonValue

__all__ = ["STEP_COSTS", "StepCost", "cost_of"]

_NOTHING = "nothing: it is worked out with the state of the execution"
_ROW = "a few rows of metadata"
_KEY = "its key finds what the first attempt did"
_STATE = "no call is made: its end is a part of the execution's state"


@dataclass(frozen=True, slots=True)
class StepCost:
    """Two texts for people, each the rest of a sentence."""

    costs: str
    repeats: str
    """Why a repeat of an attempt is safe, or where it is not."""


STEP_COSTS: Mapping[str, StepCost] = MappingProxyType(
    {
        "noop": StepCost("one call, which does nothing", "it does nothing"),
        "http": StepCost(
            "one request, 5 minutes at most",
            "the request has an `Idempotency-Key`; that is up to the server. What is no GET and "
            "not `idempotent` asks a person after a loss",
        ),
        "apply": StepCost(f"{_ROW}; tasks may begin anew, as the change says", _KEY),
        "suspend": StepCost(f"{_ROW}; tasks publish what they have read", _KEY),
        "resume": StepCost(f"{_ROW}; tasks begin", _KEY),
        "handoff": StepCost(f"{_ROW}; smaller files than usual", _KEY),
        "reset": StepCost(f"{_ROW}; what is read again, or is not read", _KEY),
        "terminate": StepCost(f"{_ROW}; tasks publish what they have read", _KEY),
        "forget": StepCost(f"{_ROW}, which are deleted", _KEY),
        "markUnused": StepCost("a row of metadata per segment; no file is read", _KEY),
        "compact": StepCost("workers read the files that are joined, and write them anew", _KEY),
        "backfill": StepCost("workers read the offsets of its ranges, and write new files", _KEY),
        "waitFor": StepCost("a look at metadata every 15 seconds at most", "it changes nothing"),
        "verify": StepCost(
            "reads the whole table, and the topic over the same range; up to 2 GiB and 6 hours",
            "it changes nothing",
        ),
        "set": StepCost(_NOTHING, _STATE),
        "sleep": StepCost("no more than its time; it holds no thread", _STATE),
        "approve": StepCost("the time of a person; it holds no thread", _STATE),
        "fail": StepCost(_NOTHING, _STATE),
        "subflow": StepCost(
            "what the steps of the other flow cost",
            "the execution has a name that follows from the attempt: it begins once",
        ),
        "parallel": StepCost("what its steps cost", "each of its steps is repeated by itself"),
        "switch": StepCost(
            "what the steps of the chosen case cost", "each of its steps is repeated by itself"
        ),
        "forEach": StepCost(
            "what its steps cost, for each item", "each step of an item is repeated by itself"
        ),
    }
)
"""Type of a step as it is written -> its cost."""


def cost_of(kind: str, effect: Mapping[str, JsonValue] | None) -> str:
    """Return what a step costs, with the sizes that its dry run gives; empty: a type of no flow."""
    cost = STEP_COSTS.get(kind)
    offsets = (effect or {}).get("offsets")
    if kind == "backfill" and isinstance(offsets, int):
        return f"workers read {offsets:,} offsets, and write new files"
    return "" if cost is None else cost.costs
