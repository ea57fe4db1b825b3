"""Faults of tasks, workers and queues, as Home shows them.

Slow: tasks fail several times, and workers are lost, in real time.
"""

import pytest
from playwright.sync_api import expect

from supervisor.core.queue.events import QueueName
from tests.browser.faults.conftest import SLOTS, Cause, Home
from tests.browser.planted.conftest import HANDLED_BY_NOBODY, Planted
from tests.environment.brokers import produce
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.kafka, pytest.mark.long]

_RECORDS = 8
_WHY = "its checksum does not fit"


def test_a_poison_record_leads_to_the_log_of_the_task_that_it_ends(
    home: Home, cause: Cause
) -> None:
    name = cause.topic("poison", records=_RECORDS)
    produce(cause.bootstrap, name, ['{"id": "poison'])
    cause.apply(name)

    row = home.shows(
        "supervisor-unhealthy",
        name,
        f"{name} is UNHEALTHY_TASKS",
        "tasks in a row failed; the last:",
    )
    task = _last_failed(cause, name)
    row.get_by_role("button", name="Read the log of").click()
    expect(home.page).to_have_url(f"/ui/tasks/{task}/log")
    expect(home.page.get_by_text("JSONDecodeError").first).to_be_visible()


def test_replicas_without_a_slot_get_one_of_a_worker_that_is_enabled(
    home: Home, cause: Cause
) -> None:
    spare = "w-spare"
    cause.cluster.start_worker(spare)
    cause.cluster.http.post(f"/druid/indexer/v1/worker/{spare}/disable").raise_for_status()
    try:
        name = cause.topic("capacity", partitions=3 * SLOTS)
        cause.apply(name, task_count=3 * SLOTS)
        unread = ", ".join(f"{name}:{number}" for number in range(2 * SLOTS, 3 * SLOTS))

        row = home.shows(
            "replicas-pending",
            name,
            f"{name} needs {3 * SLOTS} slots and has {2 * SLOTS}: {SLOTS} replicas of it wait",
            f"so nobody reads {unread}; 0 slots are free",
        )
        row.get_by_role("button", name=f"Enable worker {spare}…").click()
        dialog = home.page.get_by_role("dialog", name=f"Enable the worker {spare}")
        dialog.get_by_role("button", name="Enable", exact=True).click()
        expect(row).to_have_count(0)
    finally:
        cause.end()
        cause.cluster.stop(spare)


def test_a_worker_that_was_killed_is_silent_then_lost_then_forgotten(
    home: Home, cause: Cause
) -> None:
    doomed = "w-doomed"
    cause.cluster.start_worker(doomed)
    name = cause.topic("killed", partitions=3 * SLOTS)
    cause.apply(name, task_count=3 * SLOTS)
    wait_until(lambda: _held(cause, name, doomed) == SLOTS)
    cause.cluster.kill(doomed)

    home.shows(
        "worker-silent",
        doomed,
        f"worker {doomed} is silent: nobody knows whether its {SLOTS} tasks go on",
    )
    row = home.shows(
        "worker-lost",
        doomed,
        f"worker {doomed} is lost: it is silent for too long to be waited for",
        # A worker is lost before a pass ends its tasks, and is not forgotten while it has any.
        f"{SLOTS} tasks of it ended, and their ranges go to workers with a free slot",
    )
    expect(row.get_by_role("button", name="Start another worker")).to_be_visible()
    expect(row.get_by_role("link", name=doomed)).to_be_visible()
    expect(row.get_by_role("link", name=name, exact=True)).to_be_visible()
    row.get_by_role("button", name="1 more").click()
    home.page.get_by_role("button", name="Open…").click()
    dialog = home.page.get_by_role("dialog", name=f"Forget the worker {doomed}")
    expect(dialog.get_by_text(f"tidegate worker forget {doomed}")).to_be_visible()
    dialog.get_by_role("button", name="Forget", exact=True).click()
    expect(row).to_have_count(0)


def test_replicas_that_diverged_lead_to_the_range_with_both_digests(
    home: Home, cause: Cause
) -> None:
    name = cause.topic("diverged", records=_RECORDS)
    cause.apply(name, replicas=2)
    wait_until(lambda: _read_by_all(cause, name))
    cause.rest(name)

    row = home.shows(
        "replicas-diverged",
        name,
        f"replicas of {name} made different rows of the same records in 1 range",
        "the rows of one replica are wrong, perhaps the published ones",
    )
    row.get_by_role("button", name=f"Look at the range {name}").click()
    panel = home.page.get_by_role("complementary", name=f"Range {name}")
    expect(panel.get_by_text("digest").first).to_be_visible()


def test_a_dead_queue_is_repaired_from_its_item(home: Home, cause: Cause) -> None:
    """The rows are written as the leader writes them: no call of the API damages a queue."""
    name = cause.topic("queue")
    cause.apply(name)
    queue = QueueName(f"supervisor:{name}", HANDLED_BY_NOBODY)
    url = cause.cluster.environment()["TIDEGATE_METADATA_URL"]
    planted = Planted(home.overlord, url)
    planted.queue(queue.container)
    planted.kill(queue, _WHY)

    row = home.shows(
        "queue-dead",
        str(queue),
        f"the event queue {queue} is damaged at event 1: {_WHY}",
        "none of its work is done before it is repaired",
    )
    row.get_by_role("button", name=f"Repair the event queue {queue.name}…").click()
    dialog = home.page.get_by_role("dialog", name=f"Repair {queue.container} {queue.name}")
    command = f"tidegate queue repair {queue.container} {queue.name}"
    expect(dialog.get_by_text(command, exact=True)).to_be_visible()
    dialog.get_by_role("button", name="Repair", exact=True).click()
    expect(row).to_have_count(0)


def _last_failed(cause: Cause, name: str) -> str:
    params = {"supervisor": name, "status": "FAILED"}
    answer = cause.cluster.http.get("/api/v1/tasks", params=params).raise_for_status()
    return str(answer.json()["tasks"][0]["id"])


def _held(cause: Cause, name: str, worker: str) -> int:
    """Return how many reading tasks of a supervisor a worker has."""
    params = {"supervisor": name, "status": "RUNNING"}
    answer = cause.cluster.http.get("/api/v1/tasks", params=params).raise_for_status()
    return sum(each["workerId"] == worker for each in answer.json()["tasks"])


def _read_by_all(cause: Cause, name: str) -> bool:
    """Whether each of two replicas has read all."""
    tasks = cause.status(name)["activeTasks"]
    assert isinstance(tasks, list)
    return [each["currentOffsets"] for each in tasks if isinstance(each, dict)] == [
        {"0": _RECORDS}
    ] * 2
