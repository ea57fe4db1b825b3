"""One executor: flows go to their ends by it alone, and it says how it is."""

from pathlib import Path

import httpx
import pytest

from supervisor.cli.cluster.doctor.check import InstallationCheck, Result
from supervisor.cli.cluster.doctor.executors import check_executors
from supervisor.core.executions.plan import CallWork, FlowPlan, Step
from supervisor.dev.broker import Broker
from supervisor.settings.settings import load_settings
from tests.integration.executors.processes import Executors
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.process]

PLAN = FlowPlan("f", 1, (Step("a", CallWork("noop")), Step("b", CallWork("noop"), after=("a",))))


def test_flows_go_to_their_ends(broker: Broker, tmp_path: Path) -> None:
    names = [f"e{number}" for number in range(40)]
    with Executors(tmp_path, broker.bootstrap) as executors:
        one = executors.start()
        executors.share(one)
        executors.begin(PLAN, names)
        wait_until(lambda: len(executors.ends()) == len(names))
        ends = executors.ends()
        ended = [event for _, event in executors.events() if event.name == "attempt-ended"]
        wait_until(
            lambda: all(each["lag"] == 0 for each in one.http.get("/status").json()["partitions"])
        )

        assert one.metric("tidegate_executor_partitions") == executors.topics.entities
        assert one.metric("tidegate_executor_steps_total") >= 2 * len(names)
        assert one.metric("tidegate_executor_takeovers_total") == executors.topics.entities

    assert set(ends.values()) == {"SUCCESS"}
    assert len(ended) == 2 * len(names)


def test_doctor_finds_it_well_and_then_gone(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Executors(tmp_path, broker.bootstrap) as executors:
        one = executors.start()
        executors.share(one)
        wait_until(one.well)  # a partition that is being taken over is a trouble of a moment
        monkeypatch.setenv("TIDEGATE_EXECUTIONS_URL", executors.url)
        monkeypatch.setenv("TIDEGATE_EXECUTIONS_KAFKA", broker.bootstrap)
        settings = load_settings()
        [well] = check_executors(settings)
        one.child.stop()
        [gone] = check_executors(settings)

    assert well == InstallationCheck(
        f"executor {one.name}", Result.OK, "RUNNING, and its clock agrees"
    )
    assert (gone.part, gone.result) == ("executors", Result.PROBLEM)


def test_it_waits_for_its_database_and_says_so(broker: Broker, tmp_path: Path) -> None:
    with Executors(tmp_path, broker.bootstrap) as executors:
        missing = f"sqlite:///{tmp_path}/nothing.db"
        one = executors.spawn(TIDEGATE_EXECUTIONS_URL=missing)

        def answer() -> httpx.Response | None:
            try:
                return one.http.get("/ping")
            except httpx.TransportError:
                return None

        wait_until(lambda: (got := answer()) is not None and "overlord" in got.json()["reason"])
        assert not one.well()
