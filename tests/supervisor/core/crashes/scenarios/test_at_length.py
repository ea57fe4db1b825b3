"""Scenarios at their full length on every durable engine; some of each are among the fast tests.

Slow: hundreds of executions on a database, and on a broker.
"""

import gc
from pathlib import Path

import pytest

from tests.supervisor.core.crashes.scenarios.engines import Stage
from tests.supervisor.core.crashes.scenarios.lengths import ORDERS, in_each_order, rounds_of_three
from tests.supervisor.core.crashes.scenarios.stored import Stored

pytestmark = pytest.mark.long
_DURABLE = ["sqlite", pytest.param("postgresql", marks=pytest.mark.pg)]
_EVERY = [*_DURABLE, pytest.param("kafka", marks=pytest.mark.kafka)]


@pytest.mark.parametrize("stage", _EVERY, indirect=True)
def test_k11_241_rounds_of_three_at_once(stage: Stage) -> None:
    """Goal: each to its end, K7 and K8; and no file or connection more than after ten rounds."""
    rounds_of_three(stage, 10)
    gc.collect()
    before = _handles()
    rounds_of_three(stage, 231, first=10)

    assert _handles() <= before + 2, "a connection of a pool may be new"


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("stage", _EVERY, indirect=True)
def test_e1_six_parallel_results_in_many_orders(stage: Stage, at_once: bool) -> None:
    """On databases all orders in one batch each; else every sixth, and all of them in memory."""
    every = at_once and isinstance(stage.engine, Stored)
    in_each_order(stage, ORDERS if every else ORDERS[::6], at_once=at_once)


def _handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
