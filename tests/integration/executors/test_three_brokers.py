"""One of three brokers dies, and comes back, while executors work: flows go on without a hand.

Slow: three brokers and two executors start, and a broker dies.
"""

from collections import Counter
from pathlib import Path

import pytest
from confluent_kafka import KafkaException

from supervisor.core.executions.plan import CallWork, FlowPlan, Step
from supervisor.ports.flows.execution_log import LogTopic
from tests.environment.three_brokers import three_brokers
from tests.integration.executors.processes import Executors
from tests.supervisor.adapters.executions.sink import a_sink
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.process, pytest.mark.long]

NAMES = [f"three:{number}" for number in range(60)]


def _has_ended(executors: Executors, number: int) -> bool:
    """Whether so many have ended, as committed; False while a partition has no leader."""
    try:
        return len(executors.ends()) == number
    except KafkaException:
        executors.log.look_anew()
        return False


def test_a_broker_that_dies_costs_no_execution_and_no_second_call(tmp_path: Path) -> None:
    with (
        three_brokers(tmp_path / "brokers") as three,
        a_sink() as sink,
        Executors(tmp_path, three.bootstrap) as executors,
    ):
        call = CallWork("http", {"url": sink.url("/"), "method": "POST"})
        plan = FlowPlan("three", 1, (Step("a", call), Step("b", CallWork("noop"), after=("a",))))
        first, second = executors.start(), executors.start()
        executors.share(first, second)
        executors.begin(plan, NAMES[:20])
        wait_until(lambda: _has_ended(executors, 20))

        gone = three.leader(executors.topics.name(LogTopic.HISTORY), 0)
        three.kill(gone)
        executors.begin(plan, NAMES[20:40])
        wait_until(lambda: _has_ended(executors, 40))
        three.start(gone)
        executors.begin(plan, NAMES[40:])
        wait_until(lambda: _has_ended(executors, len(NAMES)))

        assert executors.ends() == dict.fromkeys(NAMES, "SUCCESS")
        sent = Counter(each.headers["Idempotency-Key"] for each in sink.ledger)
        assert len(sent) == len(NAMES)
        wait_until(lambda: first.well() and second.well())
