"""Faults of Kafka, of its topics, and of what it keeps, as Home shows them.

Slow: brokers end and come back, and topics are made anew.
"""

import re
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from playwright.sync_api import Locator, expect

from supervisor.dev.topics import create_topic
from tests.browser.faults.conftest import Cause, Home
from tests.environment.brokers import new_broker, produce
from tests.integration.oracle import record, spec
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.kafka, pytest.mark.long]

_WITHIN_S = 60
_RECORDS = 12


def test_brokers_that_are_down_are_one_item_with_where_to_look(
    home: Home, cause: Cause, tmp_path: Path
) -> None:
    broker = new_broker(tmp_path)
    broker.start()
    try:
        name = "fault-broker-down"
        create_topic(broker.bootstrap, name, partitions=1)
        cause.cluster.apply(spec(broker.bootstrap, name, task_count=1, task_duration="PT1H"))
        cause.names.append(name)
        wait_until(lambda: cause.status(name)["committedOffsets"] == {"0": 0})
        broker.kill()

        row = home.shows(
            "stream-silent",
            broker.bootstrap,
            f"the Kafka brokers {broker.bootstrap} cannot be read",
            f"nothing new is read by {name}",
        )
        row.get_by_role("button", name="Check that the brokers run").click()
        expect(home.page.get_by_text("tidegate doctor", exact=True)).to_be_visible()
        home.page.keyboard.press("Escape")
        broker.start()
        expect(row).to_have_count(0)
    finally:
        cause.end()
        broker.stop()


def test_a_topic_that_was_created_again_is_taken_up_from_its_item(home: Home, cause: Cause) -> None:
    name = cause.topic("recreated", records=_RECORDS)
    cause.apply(name)
    cause.publish(name)
    _delete(cause.bootstrap, name)
    create_topic(cause.bootstrap, name, partitions=1)
    produce(cause.bootstrap, name, (record(n) for n in range(3)))
    cause.cluster.post(name, "resume")

    row = home.shows(
        "supervisor-unhealthy",
        name,
        f"{name} is UNHEALTHY_SUPERVISOR (TOPIC_CHANGED)",
        f"topic {name} was deleted and created again",
    )
    row.get_by_role("button", name="Begin again in all partitions…").click()
    dialog = home.page.get_by_role("dialog", name=f"{name}: set offsets")
    dialog.get_by_label("earliest").check()
    cells = dialog.get_by_role("row", name=f"{name}:0 (the old topic is gone)").get_by_role("cell")
    expect(cells).to_have_text([re.compile(name), str(_RECORDS), "0", "0", "0", "0"])
    dialog.get_by_role("button", name="Set offsets").click()
    expect(dialog).to_have_count(0)
    home.open()
    expect(row).to_have_count(0)


def test_records_that_retention_has_passed_are_left_out_from_their_item(
    home: Home, cause: Cause
) -> None:
    name = cause.topic("passed", records=_RECORDS)
    cause.apply(name)
    cause.publish(name)
    cause.send(name, range(_RECORDS, 2 * _RECORDS))
    first = _RECORDS + 5
    _delete_before(cause.bootstrap, name, first)

    row = home.shows(
        "retention-passed",
        name,
        f"{name} would next read 5 records of partition 0 of topic {name} that Kafka has deleted",
        "It is suspended",
    )
    row.get_by_role("button", name=f"Go on in partition 0 at offset {first}…").click()
    dialog = home.page.get_by_role("dialog", name=f"{name}: set offsets")
    expect(dialog.get_by_label("Next offset of partition 0")).to_have_value(str(first))
    _confirm(dialog, 5)
    expect(dialog).to_have_count(0)
    home.open()
    expect(row).to_have_count(0)
    assert cause.status(name)["committedOffsets"] == {"0": first}


def test_a_topic_that_is_gone_is_not_looked_for_at_the_brokers(home: Home, cause: Cause) -> None:
    name = cause.topic("gone", partitions=2)
    cause.apply(name)
    _delete(cause.bootstrap, name)

    row = home.shows(
        "supervisor-unhealthy",
        name,
        f"{name} is UNHEALTHY_SUPERVISOR (TOPIC_GONE)",
        f"topic {name} does not exist any more",
    )
    row.get_by_role("button", name=f"Create the topic {name}").click()
    command = f"kafka-topics.sh --bootstrap-server {cause.bootstrap} --create --topic {name}"
    expect(home.page.get_by_text(f"{command} --partitions 2")).to_be_visible()
    home.page.keyboard.press("Escape")
    row.get_by_role("button", name="2 more").click()
    step = home.page.get_by_role("listitem").filter(
        has_text=f"tidegate supervisor terminate {name}"
    )
    step.get_by_role("button", name="Open…").click()
    dialog = home.page.get_by_role("dialog", name=f"{name}: terminate")
    expect(dialog.get_by_text("Its table and its committed offsets stay.")).to_be_visible()


def _delete(bootstrap: str, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    admin.delete_topics([topic])[topic].result(_WITHIN_S)
    wait_until(lambda: topic not in admin.list_topics(timeout=_WITHIN_S).topics)


def _delete_before(bootstrap: str, topic: str, offset: int) -> None:
    """Delete records as retention does: from the beginning of the log on."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    [deleted] = admin.delete_records([TopicPartition(topic, 0, offset)]).values()
    deleted.result(_WITHIN_S)


def _confirm(dialog: Locator, number: int) -> None:
    """Type the number of records, and act."""
    dialog.get_by_label("to confirm").fill(str(number))
    dialog.get_by_role("button", name="Set offsets").click()
