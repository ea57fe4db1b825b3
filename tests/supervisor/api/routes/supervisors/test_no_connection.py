"""Hostile specs through the sampler and the dry run: nothing connects before they are refused.

A socket listens where they point, and must see nobody.
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from supervisor.adapters.kafka.probe import KafkaProbe
from supervisor.adapters.secrets import read_secret
from supervisor.core.planning.dry_run import Probed
from supervisor.core.planning.wished_offsets import TimedOffsets
from supervisor.core.spec.sections.io_config import KafkaIoConfig
from tasks.contract.connection_policy import ConnectionPolicy
from tests.supervisor.api.routes.supervisors.test_dry_run import DRY_RUN, VALIDATE
from tests.supervisor.api.routes.supervisors.test_sampler import SAMPLER
from tests.supervisor.api.world import RULES, Json, World, a_world, spec_document

JNDI = "com.sun.security.auth.module.JndiLoginModule required user.provider.url=x;"
HOSTILE_PROPERTIES: tuple[dict[str, object], ...] = (
    {"plugin.library.paths": "/tmp/x.so"},  # noqa: S108 -- refused, never opened
    {"ssl.engine.location": "/tmp/x.so"},  # noqa: S108 -- same
    {"ssl.providers": "legacy"},
    {"ssl.ca.location": "/etc/passwd"},
    {"ssl.key.location": "/etc/shadow"},
    {"ssl.keystore.location": "/etc/passwd"},
    {"ssl.crl.location": "/etc/passwd"},
    {"sasl.kerberos.keytab": "/etc/krb5.keytab"},
    {"sasl.kerberos.kinit.cmd": "touch /tmp/pwned"},
    {"sasl.jaas.config": JNDI},
    {"sasl.oauthbearer.token.endpoint.url": "http://HOST/"},
    {"sasl.oauthbearer.jwks.endpoint.url": "file:///etc/passwd"},
    {"sasl.login.callback.handler.class": "x.Y"},
    {"config.providers": "file"},
    {"interceptor.classes": "x.Y"},
    {"metric.reporters": "x.Y"},
    {"value.deserializer": "x.Y"},
    {"group.id": "somebody-elses"},
    {"sasl.password": "plain-text"},
    {"druid.dynamic.config.provider": {"type": "file", "path": "/etc/passwd"}},
    {"druid.dynamic.config.provider": {"type": "environment", "variables": {"x": "PATH"}}},
    {"no.such.property": "1"},
    {"bootstrap.servers": "HOST,elsewhere:9092"},
    {"bootstrap.servers": "http://HOST"},
    {"bootstrap.servers": "HOST\n169.254.169.254:80"},
)
"""With `HOST` for an address that listens and is allowed."""


@dataclass(frozen=True)
class Listener:
    """A socket where nobody should call."""

    socket: socket.socket

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.socket.getsockname()[1]}"

    def calls(self) -> int:
        """How many have connected so far."""
        count = 0
        with suppress(BlockingIOError):
            while True:
                self.socket.accept()[0].close()
                count += 1
        return count


@pytest.fixture
def listener() -> Iterator[Listener]:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        bound.listen(100)
        bound.setblocking(False)
        yield Listener(bound)


class HastyProbe:
    """The product's, with less patience."""

    def look(self, source: KafkaIoConfig, within: timedelta) -> Probed:
        return KafkaProbe(read_secret).look(source, within / 10)

    def look_at(
        self, source: KafkaIoConfig, at: datetime | None, within: timedelta
    ) -> TimedOffsets:
        return KafkaProbe(read_secret).look_at(source, at, within / 10)


@contextmanager
def guarded(tmp_path: Path, migrated: Path, allowed: tuple[str, ...] | None) -> Iterator[World]:
    """An overlord that looks at real brokers, and may look at those alone."""
    connections = ConnectionPolicy(allowed, registry_allow=("registry:8081",))
    rules = replace(RULES, connections=connections)
    with a_world(tmp_path, migrated, rules=rules) as world:
        world.streams.instead = HastyProbe()
        yield world


def reaching(servers: str, **io_config: object) -> Json:
    return spec_document(**{"consumerProperties": {"bootstrap.servers": servers}} | io_config)  # type: ignore[arg-type]


def ask_all(world: World, spec: Json) -> None:
    """Give a hostile spec to each door, flat and nested, and see it refused."""
    inner = spec["spec"]
    assert isinstance(inner, dict)
    flat = {name: value for name, value in spec.items() if name != "spec"} | inner
    for wanted in (spec, flat):
        sampled = world.post(SAMPLER, {"type": "kafka", "spec": wanted})
        assert sampled.status_code == 400, sampled.text
        assert sampled.json()["type"] == "/problems/invalid-spec"
        for path in (VALIDATE, f"{VALIDATE}?sample=5", DRY_RUN):
            judged = world.post(path, wanted)
            assert judged.status_code == 200, judged.text
            assert (judged.json()["valid"], judged.json()["connect"]) == (False, None)
            assert judged.json()["errors"]


def test_a_broker_that_is_not_allowed_is_not_called(
    tmp_path: Path, migrated: Path, listener: Listener
) -> None:
    """Source: SSRF by bootstrap.servers."""
    with guarded(tmp_path, migrated, ("broker.example:9092",)) as world:
        ask_all(world, reaching(listener.address))
        ask_all(world, reaching(f"broker.example:9092,{listener.address}"))
        ask_all(world, reaching(listener.address, topic=None, topicPattern=".*"))
    assert listener.calls() == 0


def test_no_hostile_property_lets_anything_connect(
    tmp_path: Path, migrated: Path, listener: Listener
) -> None:
    """Goal: also where the broker itself is allowed."""
    with guarded(tmp_path, migrated, (listener.address,)) as world:
        for properties in HOSTILE_PROPERTIES:
            named = {
                name: value.replace("HOST", listener.address) if isinstance(value, str) else value
                for name, value in properties.items()
            }
            held = {"bootstrap.servers": listener.address} | named
            ask_all(world, spec_document(consumerProperties=held))
    assert listener.calls() == 0


def test_a_registry_that_is_not_allowed_is_not_called(
    tmp_path: Path, migrated: Path, listener: Listener
) -> None:
    decoder = {"type": "schema_registry", "url": f"http://{listener.address}"}
    file = {"type": "file", "descriptor": f"http://{listener.address}/clicks.desc"}
    with guarded(tmp_path, migrated, None) as world:
        for form in (
            {"type": "avro_stream", "avroBytesDecoder": decoder},
            {"type": "protobuf", "protoBytesDecoder": decoder},
            {"type": "protobuf", "protoBytesDecoder": file},
        ):
            ask_all(world, reaching(listener.address, inputFormat=form))
    assert listener.calls() == 0


def test_a_hostile_expression_or_name_lets_nothing_connect(
    tmp_path: Path, migrated: Path, listener: Listener
) -> None:
    hostile: tuple[Json, ...] = (
        {"dataSource": "../../etc"},
        {"dataSource": "x\n"},
        {"transformSpec": {"transforms": [{"type": "javascript", "name": "a", "function": "x"}]}},
        {"transformSpec": {"filter": {"type": "javascript", "function": "x"}}},
    )
    with guarded(tmp_path, migrated, (listener.address,)) as world:
        for changed in hostile:
            spec = reaching(listener.address)
            inner = spec["spec"]
            assert isinstance(inner, dict)
            ask_all(world, {**spec, "spec": {**inner, "dataSchema": inner["dataSchema"] | changed}})
    assert listener.calls() == 0


def test_settings_of_spark_let_nothing_connect(
    tmp_path: Path, migrated: Path, listener: Listener
) -> None:
    """Source: a spec that sets Spark up runs code by design."""
    with guarded(tmp_path, migrated, (listener.address,)) as world:
        for name in ("spark.driver.extraJavaOptions", "spark.jars.packages", "spark.plugins"):
            ask_all(world, reaching(listener.address) | {"context": {name: "x"}})
    assert listener.calls() == 0


def test_an_allowed_broker_is_called(tmp_path: Path, migrated: Path, listener: Listener) -> None:
    """Goal: the socket of the tests above hears whoever calls."""
    with guarded(tmp_path, migrated, (listener.address,)) as world:
        judged = world.post(VALIDATE, reaching(listener.address)).json()
        sampled = world.post(SAMPLER, {"type": "kafka", "spec": reaching(listener.address)})
    assert judged["valid"] is True
    assert judged["connect"]["reachable"] is False
    assert listener.address in judged["connect"]["error"]
    assert sampled.status_code == 400
    assert listener.address in sampled.json()["error"]
    assert listener.calls() > 0
