"""What a Prometheus scraper reads."""

import re
from collections.abc import Iterator

from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from supervisor.core.model.rows import GapKind, OffsetGap
from supervisor.core.queue.events import QueuedEvent, QueueName, encode
from tasks.contract.offsets import TopicPartition
from tests.supervisor.api.routes.cluster.test_queues import (
    EVENT,
    OTHER,
    QUEUE,
    add,
    kill,
    meters,
    set_aside,
)
from tests.supervisor.api.world import TOPIC, World
from tests.supervisor.core.snapshots import NOON
from tests.tidy.sources import ROOT

PREFIX = "tidegate_event_processor_"
WORKERS = "tidegate_worker_"
LABELS = {"container": QUEUE.container, "processor": QUEUE.name}


def families(world: World) -> dict[str, Metric]:
    """Scrape once."""
    answer = world.client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {family.name: family for family in text_string_to_metric_families(answer.text)}


def values(world: World, **more: str) -> dict[str, float]:
    """Name of a sample -> its value, of the one queue; buckets and other reasons are left out."""
    return {
        sample.name.removeprefix(PREFIX): sample.value
        for family in families(world).values()
        for sample in family.samples
        if sample.labels == LABELS | more
    }


def test_a_queue_shows_its_row_and_what_was_counted(world: World) -> None:
    add(world)
    add(world)
    set_aside(world, 9, encode(EVENT))
    counted = meters(world)
    counted.handled(QUEUE, [1.0, 3.0])
    counted.failed_iteration(QUEUE)
    counted.failed_events(QUEUE, 4)
    counted.truncated(QUEUE)
    counted.refused(QUEUE, "EventTooLarge")

    samples = values(world)

    size = len(encode(EVENT))
    assert samples.pop("oldest_seconds") >= 0
    assert samples == {
        "outstanding_bytes": 2 * size,
        "outstanding_events": 2,
        "added_total": 2,
        "handled_total": 2,
        "failed_iterations": 0,
        "failed_batches_total": 1,
        "failed_events_kept": 1,
        "failed_events_total": 4,
        "truncations_total": 1,
        "segments": 1,
        "dead": 0,
        "latency_seconds_average": 2,
        "latency_seconds_p99": 3,
        "batch_seconds_count": 0,
        "batch_seconds_sum": 0,
    }
    assert values(world, reason="EventTooLarge") == {"refused_total": 1}


def test_batches_are_a_histogram_whose_buckets_add_up(world: World) -> None:
    add(world)
    for seconds in (0.004, 0.2, 0.3, 1_000.0):
        meters(world).batch(QUEUE, seconds)

    samples = families(world)[f"{PREFIX}batch_seconds"].samples

    counts = [sample.value for sample in samples if "le" in sample.labels]
    by_bound = {sample.labels["le"]: sample.value for sample in samples if "le" in sample.labels}
    assert counts == sorted(counts)
    assert (by_bound["0.005"], by_bound["0.5"], by_bound["300.0"]) == (1, 3, 3)
    assert by_bound["+Inf"] == values(world)["batch_seconds_count"] == 4
    assert values(world)["batch_seconds_sum"] == 1000.504


def test_a_dead_queue_and_no_other_one_shows_as_dead(world: World) -> None:
    add(world)
    add(world, queue=OTHER)
    kill(world)

    samples = families(world)[f"{PREFIX}dead"].samples

    assert {sample.labels["container"]: sample.value for sample in samples} == {
        QUEUE.container: 1,
        OTHER.container: 0,
    }


def test_gaps_on_record_are_added_up(world: World) -> None:
    part = TopicPartition(TOPIC, 0)
    with world.store.leading(1) as tx:
        for first, kind in ((0, GapKind.LOST), (2, GapKind.LOST), (9, GapKind.SKIPPED)):
            tx.offsets.declare(OffsetGap(TOPIC, part, first, 10, kind, "ada", "so", NOON))

    samples = families(world)["tidegate_supervisor_gap_offsets"].samples

    assert {sample.labels["kind"]: sample.value for sample in samples} == {"lost": 18, "skipped": 1}
    assert {sample.labels["supervisor"] for sample in samples} == {TOPIC}


def test_what_is_alarmed_about_begins_at_zero(world: World) -> None:
    """Goal: the first lost range grows from something; a series that is born with it does not."""
    world.start()

    by_name = families(world)
    gaps = by_name["tidegate_supervisor_gap_offsets"].samples
    stale = by_name["tidegate_publish_requests"].samples
    ended = by_name["tidegate_tasks_ended"].samples
    ranges = by_name["tidegate_generations_ended"].samples

    assert {each.labels["kind"]: each.value for each in gaps} == dict.fromkeys(GapKind, 0)
    assert {each.labels["outcome"]: each.value for each in stale} == {"stale": 0}
    assert {(e.labels["status"], e.labels["lost"]): e.value for e in ended} == {
        ("FAILED", "false"): 0
    }
    assert {each.labels["how"] for each in ranges} == {"published", "empty", "discarded"}
    assert {each.value for each in ranges} == {0}


def test_a_name_with_quotes_is_told_as_it_is(world: World) -> None:
    odd = QueueName('supervisor:a"b\\c\nd', "task-output")
    add(world, QueuedEvent("kind", "key"), odd)

    [sample] = families(world)[f"{PREFIX}dead"].samples

    assert sample.labels["container"] == odd.container


def test_a_scraper_of_this_machine_is_let_in_and_a_strange_host_is_not(world: World) -> None:
    for host in ("127.0.0.1:8090", "localhost:8090", "[::1]:8090", "tidegate.example"):
        assert world.client.get("/metrics", headers={"Host": host}).status_code == 200
    assert world.client.get("/metrics", headers={"Host": "evil.example"}).status_code == 403


def test_a_follower_tells_its_metrics_too(follower: World) -> None:
    assert f"{PREFIX}dead" in families(follower)


def test_a_database_that_is_gone_is_told_as_a_problem(world: World) -> None:
    world.loop.stop()
    world.store.close()
    world.database.write_bytes(b"no database" * 1_000)

    answer = world.client.get("/metrics")

    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/metadata-unavailable")


def _documented() -> Iterator[tuple[str, str]]:
    page = (ROOT / "docs/reference/metrics.md").read_text(encoding="utf-8")
    yield from re.findall(r"^\| `(tidegate_\w+)` \| (\w+) \|", page, re.MULTILINE)


def test_the_page_lists_what_is_exported(world: World) -> None:
    exported = {
        name + ("_total" if family.type == "counter" else ""): family.type
        for name, family in families(world).items()
    }

    documented = dict(_documented())
    assert {k: v for k, v in documented.items() if not k.startswith(WORKERS)} == exported


def test_what_the_page_names_elsewhere_is_in_its_tables() -> None:
    """Goal: Druid's names and the alarms lead to metrics that there are."""
    page = (ROOT / "docs/reference/metrics.md").read_text(encoding="utf-8")
    known = dict(_documented())
    samples = {f"{name}_count" for name, kind in known.items() if kind == "histogram"}

    named = set(re.findall(r"tidegate_[a-z]\w*", page))

    assert named - known.keys() - samples == set()
