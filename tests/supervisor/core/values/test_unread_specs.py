"""What may follow a spec that only another release can read: from what of it is known."""

import pytest
from pydantic import JsonValue

from supervisor.core.spec.changes import forbidden_after, replaces
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import SpecUnreadable
from supervisor.core.values.spec_facts import SpecFacts, facts_of
from tests.supervisor.core.snapshots import NOON, TOPIC, spec


def stored(**parts: JsonValue) -> dict[str, JsonValue]:
    """What a release stores of a spec that this one reads, with parts in the place of its own."""
    document: dict[str, JsonValue] = spec().model_dump(mode="json")
    return document | parts


def refused(document: object, new: SupervisorSpec | None = None) -> list[str]:
    unread = SpecUnreadable("clicks", 3, "0.9.0", [], created_at=NOON, facts=facts_of(document))
    return [error.pointer for error in forbidden_after(unread, new or spec())]


@pytest.mark.parametrize(
    "document", [None, [], "x", {"dataSchema": 1, "ioConfig": []}, {"ioConfig": {"topic": 7}}]
)
def test_of_an_odd_document_nothing_is_known(document: object) -> None:
    assert facts_of(document) == SpecFacts()


def test_what_is_stored_as_ever_is_known() -> None:
    assert facts_of(stored()) == SpecFacts(TOPIC, TOPIC, None, None, rolls_up=False)


def test_a_spec_of_the_same_table_and_topic_may_follow() -> None:
    assert refused(stored(ofTheFuture=1)) == []


@pytest.mark.parametrize(
    ("document", "pointers"),
    [
        (stored(dataSchema={"dataSource": "views"}), ["/spec/dataSchema/dataSource"]),
        (stored(dataSchema={}), ["/spec/dataSchema/dataSource"]),
        (
            stored(ioConfig={"topicPattern": "c.*"}),
            ["/spec/ioConfig/topic", "/spec/ioConfig/topicPattern"],
        ),
        (stored(ioConfig={"topic": "views"}), ["/spec/ioConfig/topic"]),
        (
            stored(ioConfig={"topic": TOPIC, "boundedStreamConfig": {"of": "the future"}}),
            ["/spec/ioConfig/boundedStreamConfig"],
        ),
    ],
)
def test_what_its_offsets_and_files_belong_to_stays(document: object, pointers: list[str]) -> None:
    """Goal: neither another stream nor another table goes on at its offsets.  Source: H5."""
    assert refused(document) == pointers


def test_a_spec_without_known_topics_lets_none_follow() -> None:
    pattern = spec().model_copy(
        update={"io_config": spec().io_config.model_copy(update={"topic": None})}
    )
    assert "/spec/ioConfig" in refused(stored(ioConfig={}), pattern)


def test_all_counts_as_changed_behind_it() -> None:
    unread = SpecUnreadable("clicks", 3, None, [], created_at=NOON, facts=SpecFacts())
    [change] = replaces(unread).fields

    assert replaces(unread).needs_other_tasks == "/spec"
    assert change.old == "version 3, which only another release can read"
