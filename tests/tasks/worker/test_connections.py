"""Where tasks of a worker may connect, and with which secrets."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.contract.connection_policy import ConnectionPolicy, SecretBinding
from tasks.contract.ingest_spec import AvroFormat, RegistrySchemas
from tasks.contract.kafka_client import KafkaClient, SaslMechanism, SecretRef, SecurityProtocol
from tasks.contract.messages import FailureCode, TaskPhase
from tasks.contract.registry import Registry
from tests.tasks.memory import at, desired
from tests.tasks.worker.worker_site import Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    new_site = Site(tmp_path)
    yield new_site
    new_site.engine.release()
    new_site.overlord.fail(None)
    new_site.end()


@pytest.mark.parametrize("servers", ["evil:9092", "broker:9092,evil:9092", "broker", "broker:0"])
def test_a_broker_that_is_not_allowed_is_never_connected_to(site: Site, servers: str) -> None:
    site.connections = ConnectionPolicy(kafka_allow=("broker:9092",))
    site.overlord.list(desired("task-1", servers=servers), desired("task-2"))
    site.start()

    reported = site.overlord.wait_report("task-1", lambda r: r.phase is TaskPhase.FAILED)

    assert reported.failure is FailureCode.REFUSED
    site.overlord.wait_report("task-2", lambda r: r.position == at(5))


def test_a_secret_of_other_tables_is_not_used(site: Site) -> None:
    binding = SecretBinding(tables=("web-*",))
    site.connections = ConnectionPolicy(bindings={"TIDEGATE_SECRET_KAFKA": binding})
    client = KafkaClient(
        bootstrap_servers="broker:9092",
        security_protocol=SecurityProtocol.SASL_SSL,
        sasl_mechanism=SaslMechanism.PLAIN,
        sasl_username="u",
        sasl_password=SecretRef(environment="TIDEGATE_SECRET_KAFKA"),
    )
    spec = desired("task-1").spec.model_copy(update={"kafka": client})
    site.overlord.list(desired("task-1").model_copy(update={"spec": spec}))
    site.start()

    reported = site.overlord.wait_report("task-1", lambda r: r.phase is TaskPhase.FAILED)

    assert reported.failure is FailureCode.REFUSED
    assert f"no secret for the table {spec.data_source}" in reported.detail


def test_a_registry_that_is_not_allowed_is_never_asked(site: Site) -> None:
    site.connections = ConnectionPolicy(registry_allow=("registry:8081",))
    tasks = []
    for name, host in {"task-2": "registry", "task-3": "evil"}.items():
        registry = Registry(urls=(f"http://{host}:8081",))
        avro = AvroFormat(schemas=RegistrySchemas(registry=registry))
        spec = desired(name).spec.model_copy(update={"value_format": avro})
        tasks.append(desired(name).model_copy(update={"spec": spec}))
    site.overlord.list(*tasks)
    site.start()

    reported = site.overlord.wait_report("task-3", lambda r: r.phase is TaskPhase.FAILED)

    assert reported.failure is FailureCode.REFUSED
    assert "evil:8081" in reported.detail
    site.overlord.wait_report("task-2", lambda r: r.position == at(5))
