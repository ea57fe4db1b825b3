"""What the reason of a task's failure may say."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.contract.kafka_client import KafkaClient, SaslMechanism, SecretRef, SecurityProtocol
from tasks.contract.messages import FailureCode
from tasks.ports import TaskError
from tests.tasks.memory import DEADLINE_S, desired
from tests.tasks.worker.test_runner import Site

_PASSWORD = "correct horse battery"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    new_site = Site(tmp_path)
    yield new_site
    new_site.close()


@pytest.mark.parametrize("failure", [TaskError(FailureCode.READ_FAILED, "gone"), KeyError("a bug")])
def test_a_failure_shows_nothing_of_the_clients_properties(
    site: Site, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    """Goal: the task itself holds no secret; the message to the overlord would mask some of it."""
    monkeypatch.setenv("TIDEGATE_SECRET_OF_A_TEST", _PASSWORD)
    client = KafkaClient(
        bootstrap_servers="broker:9092",
        security_protocol=SecurityProtocol.SASL_SSL,
        sasl_mechanism=SaslMechanism.PLAIN,
        sasl_username="u",
        sasl_password=SecretRef(environment="TIDEGATE_SECRET_OF_A_TEST"),
    )
    task = desired("task-1")
    spec = task.spec.model_copy(update={"kafka": client})
    site.engine.failure = failure
    site.roster.apply([task.model_copy(update={"spec": spec})])
    runner = site.roster.find("task-1")
    assert runner is not None

    assert runner.wait_until(lambda state: state.failure is not None, DEADLINE_S)

    assert runner.wait_until(lambda state: _PASSWORD not in str(state), 0)
