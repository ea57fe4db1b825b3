"""What an overlord counts of itself: passes, requests, transactions, tasks, handoffs, publishes."""

from collections.abc import Iterable
from datetime import timedelta

from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from supervisor.control.metrics import METHODS, OverlordMeters
from supervisor.core.model.replica_digests import Comparison
from supervisor.core.planning.publish import Check
from supervisor.core.planning.states import State
from tasks.contract.messages import PublishOutcome, TaskPhase
from tasks.runtime.label_names import NAMES_MAX, OTHERS, LabelNames
from tests.supervisor.api.agents import Agent, post_json
from tests.supervisor.api.routes.cluster.test_metrics import families
from tests.supervisor.api.world import SUPERVISORS, TASKS, TOPIC, World, task_ids

HANDOFF = f"{SUPERVISORS}/{TOPIC}/taskGroups/handoff"
OF = {"supervisor": TOPIC, "table": TOPIC}
STEPS = ("pausing", "finishing", "publishing", "total")


def value(world: World, name: str, **labels: str) -> float:
    """Return one sample; 0 if there is none."""
    found = _value(families(world).values(), name, labels)
    return 0.0 if found is None else found


def _value(found: Iterable[Metric], name: str, labels: dict[str, str]) -> float | None:
    samples = (sample for family in found for sample in family.samples)
    return next((s.value for s in samples if s.name == name and s.labels == labels), None)


def ending(world: World, agents: list[Agent]) -> list[tuple[Agent, str]]:
    """Hand the only group off; return the tasks that have read to its end."""
    for partition in {p.partition for a, t in task_ids(agents) for p in a.held[t].position}:
        world.streams.append(TOPIC, partition, 5)
    for agent, task_id in task_ids(agents):
        agent.read(task_id, 5)
    world.clock.advance(timedelta(seconds=3))
    world.post(HANDOFF, {"taskGroupIds": [0]})
    world.settle()
    world.round(agents)
    return [(a, t) for a, t in task_ids(agents) if a.held[t].wanted.order.end is not None]


def test_a_handoff_is_measured_by_its_steps(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=2)
    (agent, task_id), _ = ending(world, agents)
    world.clock.advance(timedelta(seconds=7))

    assert agent.publish(task_id).status_code == 200

    name = "tidegate_handoff_step_seconds"
    assert {step: value(world, f"{name}_count", step=step) for step in STEPS} == dict.fromkeys(
        STEPS, 1
    )
    assert value(world, f"{name}_sum", step="finishing") >= 7
    parts = sum(value(world, f"{name}_sum", step=step) for step in STEPS[:3])
    assert abs(parts - value(world, f"{name}_sum", step="total")) < 0.001


def test_what_is_published_is_counted_once(world: World) -> None:
    """Goal: the second replica's request, and a repeated one, add nothing to the table."""
    agents = world.start(partitions=1, task_count=1, replicas=2)
    (first, a), (second, b) = ending(world, agents)

    for agent, task_id in ((first, a), (second, b), (first, a)):
        assert agent.publish(task_id).status_code == 200

    name = "tidegate_publish_requests_total"
    assert value(world, name, outcome="committed", check="all-passed") == 1
    assert value(world, name, outcome="already-published", check="published-before") == 1
    assert value(world, name, outcome="committed", check="answered-before") == 1
    assert value(world, "tidegate_published_rows_total", **OF) == 5
    assert value(world, "tidegate_published_segments_total", **OF) == 1
    assert value(world, "tidegate_published_bytes_total", **OF) > 0
    assert value(world, "tidegate_generations_ended_total", **OF, how="published") == 1
    ended = {"status": "SUCCESS", "lost": "false"}
    assert value(world, "tidegate_tasks_ended_total", **OF, **ended) == 2
    assert value(world, "tidegate_tasks_started_total", **OF) == 4
    assert value(world, "tidegate_task_run_seconds_count", status="SUCCESS") == 2


def test_files_that_do_not_fit_are_counted_as_refused(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    [(agent, task_id)] = ending(world, agents)
    request = agent.publish_request(task_id)
    twice = request.model_copy(update={"segments": request.segments * 2})

    token = {"Authorization": f"Bearer {agent.held[task_id].wanted.token}"}

    answer = post_json(
        world.client, f"/internal/v1/tasks/{task_id}/publish", twice.to_json(), token
    )

    assert answer.status_code == 400
    name = "tidegate_publish_requests_total"
    assert value(world, name, outcome="refused", check=Check.FILES.value) == 1


def test_tasks_and_slots_are_those_of_the_rows(world: World) -> None:
    world.start(partitions=2, task_count=2, replicas=1)

    assert value(world, "tidegate_tasks", state="reading") == 2
    assert value(world, "tidegate_tasks", state="unreported") == 0
    assert value(world, "tidegate_task_slots", state="used") == 2
    assert value(world, "tidegate_task_slots", state="idle") == 6
    assert value(world, "tidegate_workers", liveness="alive") == 2


def test_lag_is_told_of_each_partition_and_of_the_worst(world: World) -> None:
    world.start(partitions=2)
    world.streams.append(TOPIC, 0, 4)
    world.streams.append(TOPIC, 1, 9)
    world.settle()

    name = "tidegate_partition_lag_records"
    assert value(world, name, supervisor=TOPIC, topic=TOPIC, partition="0") == 4
    assert value(world, name, supervisor=TOPIC, topic=TOPIC, partition="1") == 9
    assert value(world, "tidegate_supervisor_partition_lag_records_max", supervisor=TOPIC) == 9
    assert value(world, "tidegate_supervisor_partitions", supervisor=TOPIC) == 2
    assert value(world, "tidegate_supervisor_lag_records", supervisor=TOPIC) == 13


def test_requests_are_counted_by_template_and_class(world: World) -> None:
    world.start(partitions=1, task_count=1, replicas=1)
    for name in ("a", "b"):
        world.client.get(f"{SUPERVISORS}/{name}/status")
    world.client.get("/no/such/route")
    world.client.request("BREW", "/status")

    name, route = "tidegate_http_requests_total", SUPERVISORS + "/{supervisor_id}/status"
    assert value(world, name, route=route, method="GET", status="4xx") == 2
    assert value(world, name, route="(none)", method="GET", status="4xx") == 1
    assert value(world, name, route=SUPERVISORS, method="POST", status="2xx") == 1
    seconds = "tidegate_http_request_seconds_count"
    assert value(world, seconds, route=route, method="GET") == 2
    assert _labels(world, "method") == {"GET", "POST", "OTHER"}


def test_passes_are_counted_with_what_they_decided(world: World) -> None:
    world.start(partitions=1, task_count=1, replicas=1)

    assert value(world, "tidegate_pass_seconds_count", outcome="good") >= 2
    assert value(world, "tidegate_pass_actions_total", action="StartTask") == 1
    assert value(world, "tidegate_loop_supervisors") == 1
    kept = {"kind": "writing", "outcome": "ended"}
    assert value(world, "tidegate_metadata_transaction_seconds_count", **kept) >= 3


def test_a_transaction_that_another_overlord_fences_is_told_apart(world: World) -> None:
    world.start(partitions=1, task_count=1, replicas=1)
    with world.store.writing() as tx:
        lease = tx.lease.read()
        assert lease is not None
        assert tx.lease.take(lease, "two", "http://two.example") is not None
    world.post(f"{SUPERVISORS}/{TOPIC}/suspend")

    fenced = {"kind": "writing", "outcome": "fenced"}
    assert value(world, "tidegate_metadata_transaction_seconds_count", **fenced) >= 1


def test_the_lease_is_told(world: World, follower: World) -> None:
    assert value(world, "tidegate_overlord_lease_left_seconds") > 0
    assert value(world, "tidegate_overlord_lease_taken_total") == 1
    world.leadership.step()
    assert value(world, "tidegate_overlord_lease_renewals_total", outcome="renewed") == 1
    assert value(follower, "tidegate_overlord_lease_left_seconds") == 0
    assert value(follower, "tidegate_overlord_lease_taken_total") == 0


CLOSED = {
    "action": None,
    "check": {check.value for check in Check},
    "container": None,
    "detailed": None,
    "format": {"delta", "iceberg"},
    "found": {found.value for found in Comparison},
    "how": {"published", "empty", "discarded"},
    "kind": {"reading", "writing", "skipped", "lost", "repeated", "recreated"},
    "le": None,
    "liveness": {"alive", "unknown", "lost"},
    "lost": {"true", "false"},
    "method": METHODS | {"OTHER"},
    "outcome": {outcome.value for outcome in PublishOutcome}
    | {"refused", "good", "failed", "renewed", "unanswered"}
    | {"ended", "busy", "unavailable", "fenced", "rolled-back"},
    "partition": None,
    "processor": None,
    "reason": None,
    "route": None,
    "state": {phase.value.lower() for phase in TaskPhase}
    | {state.value for state in State}
    | {"unreported", "used", "idle", "waiting", "running"},
    "status": {"2xx", "3xx", "4xx", "5xx", "SUCCESS", "FAILED"},
    "step": set(STEPS),
    "supervisor": None,
    "table": None,
    "topic": None,
}
"""Label -> all its values; None: as many as there are, and no more than the page says."""


def _labels(world: World, name: str) -> set[str]:
    samples = (s for family in families(world).values() for s in family.samples)
    return {s.labels[name] for s in samples if name in s.labels}


def test_labels_are_few_and_none_is_a_task_or_a_range(world: World) -> None:
    """Goal: what a scraper keeps does not grow with time."""
    agents = world.start(partitions=2, task_count=1, replicas=2)
    ids = [task_id for _, task_id in task_ids(agents)]
    for agent, task_id in ending(world, agents):
        agent.publish(task_id)
    world.settle()
    for task_id in ids:
        world.client.get(f"{TASKS}/task/{task_id}/status")

    samples = [s for family in families(world).values() for s in family.samples]

    assert {name for s in samples for name in s.labels} <= CLOSED.keys()
    for sample in samples:
        for name, label_value in sample.labels.items():
            allowed = CLOSED[name]
            assert allowed is None or label_value in allowed, sample
            assert not any(task_id in label_value for task_id in ids), sample
            assert f"{TOPIC}:" not in label_value or name == "container", sample


def test_supervisors_beyond_the_bound_share_a_sample() -> None:
    names = LabelNames(most=2)

    found = [names.label(name) for name in ("a", "b", "c", "a", "d", "b")]

    assert found == ["a", "b", OTHERS, "a", OTHERS, "b"]
    assert NAMES_MAX == 1_000  # as the page says


def test_nothing_is_kept_between_two_processes_and_no_time_of_birth_is_told() -> None:
    registry = CollectorRegistry(auto_describe=False)
    meters = OverlordMeters()
    meters.transaction("reading", "ended", 0.2)
    registry.register(meters)
    OverlordMeters().transaction("reading", "ended", 0.2)

    metrics = list(text_string_to_metric_families(generate_latest(registry).decode()))

    name = "tidegate_metadata_transaction_seconds"
    labels = {"kind": "reading", "outcome": "ended"}
    assert _value(metrics, f"{name}_count", labels) == 1
    assert not [family.name for family in metrics if "created" in family.name]
