"""What may be read in Kafka is taken away, and given again; and who may only read runs flows.

Source: faults E17.

Slow: rights are revoked and given again while tasks read.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from confluent_kafka import KafkaError, Producer
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # in no __all__ of its stubs
    AclOperation,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)
from pydantic import JsonValue

from tests.environment.brokers import create_topic, produce
from tests.integration.cluster import Cluster, running
from tests.integration.oracle import (
    ends_of,
    ids_in_files,
    ids_in_topic,
    record,
    spec,
    streaming,
)
from tests.security.brokers import PASSWORD, USER, Resource, StrictBroker
from tests.supervisor.adapters.executions.sink import Sink, a_sink
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.long]

TOPIC = "permitted"
SECRET = "TIDEGATE_SECRET_PASSWORD"
HOOK = "TIDEGATE_SECRET_HOOK"
EARLIER = 400
"""Records before the supervisor begins, at the ends of its partitions."""
_EXECUTIONS = "/api/v1/executions"
_READS = (AclOperation.READ, AclOperation.DESCRIBE)


def permit(broker: StrictBroker) -> None:
    """Let `USER` read the topic."""
    broker.allow(_on_topic(), *_READS)


def permit_groups(broker: StrictBroker) -> None:
    """Let `USER` name the consumer groups of light workers, which commit nothing there."""
    groups = (ResourceType.GROUP, "light-", ResourcePatternType.PREFIXED)
    broker.allow(groups, AclOperation.READ)


def _revoke(broker: StrictBroker) -> None:
    """Take it away again."""
    assert broker.revoke(_on_topic()) == len(_READS)


def _on_topic() -> Resource:
    return ResourceType.TOPIC, TOPIC, ResourcePatternType.LITERAL


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[StrictBroker]:
    """A broker of our own, whose user may not read yet."""
    broker = StrictBroker(tmp_path / "strict")
    broker.start()
    try:
        create_topic(broker.bootstrap, TOPIC, partitions=2)
        permit_groups(broker)
        yield broker
    finally:
        broker.stop()


def _wanted(broker: StrictBroker) -> dict[str, JsonValue]:
    wanted = spec(broker.bootstrap, TOPIC, task_duration="PT5S")
    sections = wanted["spec"]
    assert isinstance(sections, dict)
    io_config = sections["ioConfig"]
    assert isinstance(io_config, dict)
    variables: dict[str, JsonValue] = {"sasl.password": SECRET}
    io_config["consumerProperties"] = {
        "bootstrap.servers": broker.address("AUTH"),
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": USER,
        "druid.dynamic.config.provider": {"type": "environment", "variables": variables},
    }
    return wanted


def test_a_right_that_is_revoked_and_given_again_costs_no_record_and_no_restart(
    strict: StrictBroker, tmp_path: Path
) -> None:
    """Goal: while it is gone the state says so with Kafka's reason; then lag goes back to 0."""
    permit(strict)
    cluster = Cluster(tmp_path / "cluster", light=True, more={SECRET: PASSWORD})
    with running(cluster):
        pids = {name: child.pid for name, child in cluster.children.items()}
        with streaming(strict.bootstrap, TOPIC, rate_per_s=100):
            cluster.apply(_wanted(strict))
            wait_until(lambda: bool(cluster.publications(TOPIC)))
            _revoke(strict)
            wait_until(lambda: cluster.status(TOPIC)["healthy"] is False)
            shut_out = cluster.status(TOPIC)
            before = len(cluster.publications(TOPIC))
            permit(strict)
            wait_until(lambda: cluster.status(TOPIC)["healthy"] is True)
            wait_until(lambda: len(cluster.publications(TOPIC)) > before + 1)
        ends = ends_of(strict.bootstrap, TOPIC)
        wait_until(lambda: cluster.has_read(TOPIC, ends))
        status = cluster.status(TOPIC)
        cluster.post(TOPIC, "suspend")
        wait_until(lambda: cluster.is_suspended_and_quiet(TOPIC))
        in_table = ids_in_files(cluster.files(TOPIC))
        after = {name: child.pid for name, child in cluster.children.items()}

    assert shut_out["state"] == "UNHEALTHY_SUPERVISOR"
    assert "uthoriz" in str(shut_out["why"]), shut_out["why"]
    assert (status["state"], status["aggregateLag"]) == ("RUNNING", 0)
    assert in_table == ids_in_topic(strict.bootstrap, TOPIC)
    assert after == pids, "a process was restarted"


def test_a_user_who_may_only_read_runs_flows(strict: StrictBroker, tmp_path: Path) -> None:
    """Goal: a publish starts a flow, which proves its table; nothing is written to Kafka."""
    permit(strict)
    cluster = Cluster(tmp_path / "cluster", light=True, more={SECRET: PASSWORD})
    flow = {
        "flow": "prove",
        "triggers": [{"name": "each", "type": "published", "supervisor": TOPIC}],
        "steps": [{"name": "proof", "type": "verify", "supervisor": TOPIC}],
    }
    with running(cluster):
        cluster.apply(_wanted(strict))
        applied = cluster.http.post("/api/v1/flows", json=flow)
        assert applied.is_success, applied.text
        with streaming(strict.bootstrap, TOPIC, rate_per_s=100):
            wait_until(lambda: bool(cluster.publications(TOPIC)))
        wait_until(lambda: "SUCCESS" in _states(cluster))

        assert set(_states(cluster)) <= {"SUCCESS", "RUNNING", "CREATED"}
    known = AdminClient({"bootstrap.servers": strict.bootstrap}).list_topics(timeout=30).topics
    assert {name for name in known if not name.startswith("__")} == {TOPIC}
    assert _may_not_write(strict)


def test_a_user_who_may_only_read_backfills_waits_approves_kills_and_is_triggered(
    strict: StrictBroker, tmp_path: Path
) -> None:
    """Goal: each of these goes on in the database; what Kafka is asked for is read alone."""
    permit(strict)
    produce(strict.bootstrap, TOPIC, (record(n, "p") for n in range(EARLIER)))
    until = datetime.now(UTC)
    secrets = {SECRET: PASSWORD, HOOK: "the-secret-of-this-hook"}
    cluster = Cluster(tmp_path / "cluster", light=True, more=secrets)
    with a_sink() as sink, running(cluster):
        cluster.apply(_from_now_on(_wanted(strict)))
        ends = ends_of(strict.bootstrap, TOPIC)
        wait_until(lambda: cluster.has_read(TOPIC, ends))
        with streaming(strict.bootstrap, TOPIC, rate_per_s=100):
            wait_until(lambda: bool(cluster.publications(TOPIC)))
        for flow in (_backfilling(sink, until), _asking(sink), _triggered(sink)):
            applied = cluster.http.post("/api/v1/flows", json=flow)
            assert applied.is_success, applied.text
        cluster.http.post("/api/v1/flows/back/executions", json={"key": "a"}).raise_for_status()
        cluster.http.post("/api/v1/flows/ask/executions", json={"key": "a"}).raise_for_status()

        wait_until(lambda: _run(cluster, "ask:a", "ok").get("state") == "WAITING")
        cluster.http.post(f"{_EXECUTIONS}/ask:a/kill").raise_for_status()
        wait_until(lambda: _get(cluster, "ask:a")["state"] == "KILLED")
        again = cluster.http.post(f"{_EXECUTIONS}/ask:a/rerun", json={}).raise_for_status()
        _approve(cluster, str(again.json()["id"]))
        _approve(cluster, "back:a")
        hook = {"X-Tidegate-Hook-Token": secrets[HOOK]}
        hooked = cluster.http.post("/api/v1/hooks/door/rung", json={}, headers=hook)
        assert hooked.status_code == httpx.codes.ACCEPTED, hooked.text
        wait_until(lambda: _triggers(cluster) == {"webhook", "schedule"})
        ends = ends_of(strict.bootstrap, TOPIC)
        wait_until(lambda: cluster.has_read(TOPIC, ends))
        cluster.post(TOPIC, "suspend")
        wait_until(lambda: cluster.is_suspended_and_quiet(TOPIC))
        read = _run(cluster, "back:a", "back")["outputs"]
        in_table = ids_in_files(cluster.files(TOPIC))

    assert isinstance(read, dict)
    assert read["offsets"] == EARLIER
    assert in_table == ids_in_topic(strict.bootstrap, TOPIC)
    paths = Counter(one.path for one in sink.ledger)
    assert (paths["/backfilled"], paths["/asked"], paths["/answered"]) == (1, 1, 1)
    assert paths["/rung"] >= len({"webhook", "schedule"})
    known = AdminClient({"bootstrap.servers": strict.bootstrap}).list_topics(timeout=30).topics
    assert {name for name in known if not name.startswith("__")} == {TOPIC}
    assert _may_not_write(strict)


def _from_now_on(wanted: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Let a supervisor begin at the ends of its partitions."""
    sections = wanted["spec"]
    assert isinstance(sections, dict)
    io_config = sections["ioConfig"]
    assert isinstance(io_config, dict)
    io_config["useEarliestOffset"] = False
    return wanted


def _call(sink: Sink, path: str, *after: str) -> dict[str, object]:
    call = {"type": "http", "method": "POST", "url": sink.url(path), "idempotent": True}
    return {"name": path.strip("/"), **call, "after": list(after)}


def _backfilling(sink: Sink, until: datetime) -> dict[str, object]:
    times = {"from": (until - timedelta(days=1)).isoformat(), "to": until.isoformat()}
    done = {"after": ["back"]}
    return {
        "flow": "back",
        "steps": [
            {"name": "back", "type": "backfill", "supervisor": TOPIC, **times},
            {"name": "lag", "type": "waitFor", "supervisor": TOPIC, "lagAtMost": 0, **done},
            {"name": "ok", "type": "approve", "question": "on?", "after": ["lag"]},
            _call(sink, "/backfilled", "ok"),
        ],
    }


def _asking(sink: Sink) -> dict[str, object]:
    return {
        "flow": "ask",
        "steps": [
            _call(sink, "/asked"),
            {"name": "ok", "type": "approve", "question": "on?", "after": ["asked"]},
            _call(sink, "/answered", "ok"),
        ],
    }


def _triggered(sink: Sink) -> dict[str, object]:
    return {
        "flow": "door",
        "triggers": [
            {"name": "rung", "type": "webhook", "secret": HOOK, "auth": "token"},
            {"name": "each", "type": "schedule", "cron": "* * * * *"},
        ],
        "steps": [_call(sink, "/rung")],
    }


def _get(cluster: Cluster, execution: str) -> dict[str, JsonValue]:
    answer: dict[str, JsonValue] = (
        cluster.http.get(f"{_EXECUTIONS}/{execution}").raise_for_status().json()
    )
    return answer


def _run(cluster: Cluster, execution: str, step: str) -> dict[str, JsonValue]:
    """Return a task run; an empty one if there is none yet."""
    runs = _get(cluster, execution)["runs"]
    assert isinstance(runs, list)
    some = [run for run in runs if isinstance(run, dict)]
    return next((run for run in some if run["step"] == step), {})


def _approve(cluster: Cluster, execution: str) -> None:
    """Answer what an execution asks, and wait for its end."""
    wait_until(lambda: _run(cluster, execution, "ok").get("state") == "WAITING")
    path = f"{_EXECUTIONS}/{execution}/runs/{_run(cluster, execution, 'ok')['id']}/answer"
    cluster.http.post(path, json={"yes": True}).raise_for_status()
    wait_until(lambda: _get(cluster, execution)["state"] == "SUCCESS")


def _triggers(cluster: Cluster) -> set[str]:
    """Return the kinds of triggers whose executions have ended well."""
    listed = cluster.http.get(_EXECUTIONS, params={"flow": "door", "state": "SUCCESS"})
    return {one["startedBy"] for one in listed.raise_for_status().json()["executions"]}


def _states(cluster: Cluster) -> list[str]:
    listed = cluster.http.get("/api/v1/executions").raise_for_status().json()
    return [str(one["state"]) for one in listed["executions"]]


def _may_not_write(broker: StrictBroker) -> bool:
    """Whether the broker refuses a record of the user: it has rights at all."""
    refused: list[KafkaError | None] = []
    login = {
        "bootstrap.servers": broker.address("AUTH"),
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": USER,
        "sasl.password": PASSWORD,
    }
    producer = Producer({**login, "log_level": 0})
    producer.produce(TOPIC, b"{}", on_delivery=lambda error, _: refused.append(error))
    producer.flush(30)
    return [each and each.code() for each in refused] == [KafkaError.TOPIC_AUTHORIZATION_FAILED]
