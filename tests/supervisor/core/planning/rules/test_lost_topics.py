"""A topic that was deleted, or made anew: where the partitions stand, what is lost, what to do."""

from dataclasses import replace

import pytest

from supervisor.core.model.rows import Generation
from supervisor.core.planning.observed import Observed, StreamState, StreamTrouble
from supervisor.core.planning.rules.lost_topics import changed_topic, gone_topics
from supervisor.core.spec.spec import SupervisorSpec
from tests.supervisor.core.snapshots import (
    PUBLISHES,
    TOPIC,
    committed,
    generation,
    observed,
    offsets,
    spec,
    stream,
)

READS = generation(2, offsets(9, 0), group=1)
GONE = replace(stream(20, 20), trouble=StreamTrouble.NO_TOPIC, failures=3, detail="gone")
ANEW = stream(5, 5, topic_id="id-2")


def seen(now: StreamState, *live: Generation, stored: int = 2) -> Observed:
    """A supervisor whose first two partitions stand at 3 and 7."""
    rows = committed(*(3, 7)[:stored], *range(2, stored))
    return observed(spec(), stored=rows, seen=now, generations=live)


def test_a_deleted_topic_is_told_with_what_is_left_of_it_and_what_to_do() -> None:
    assert gone_topics(seen(GONE, PUBLISHES, READS)) == (
        "topic clicks does not exist any more: what was published of it is kept. clicks:0 stands "
        "at 3, clicks:1 stands at 7; not published, and lost but for what a task has read "
        "already: clicks:1 (clicks:0 from 0 to 9, clicks:2 from 0 to 4), clicks:2 (clicks:0 from "
        "9, clicks:1 from 0). Make it anew and then `tidegate supervisor reset clicks`, or end "
        "the supervisor: `tidegate supervisor terminate clicks`"
    )


def test_a_topic_that_was_made_anew_is_told_with_what_is_left_of_the_old_one() -> None:
    assert changed_topic(seen(ANEW, PUBLISHES)) == (
        "topic clicks was deleted and created again: its id is id-2, the stored offsets belong to "
        "id-1, and nothing is read from it. clicks:0 stands at 3, clicks:1 stands at 7; not "
        "published, and lost but for what a task has read already: clicks:1 (clicks:0 from 0 to "
        "9, clicks:2 from 0 to 4). `tidegate supervisor reset clicks` takes the new topic up, "
        "`tidegate supervisor terminate clicks` ends the supervisor"
    )
    assert changed_topic(seen(stream(5, 5), PUBLISHES)) is None


def test_without_a_range_nothing_is_said_to_be_lost() -> None:
    for message in (gone_topics(seen(GONE)), changed_topic(seen(ANEW))):
        assert message is not None
        assert "stands at 7; no range of it waits to be published. " in message


def test_of_many_partitions_some_are_named_and_the_rest_is_counted() -> None:
    message = gone_topics(seen(GONE, stored=14))
    assert message is not None
    assert "clicks:9 stands at 9 and 4 more; " in message


@pytest.mark.parametrize(
    "now",
    [
        replace(GONE, failures=2),
        replace(GONE, trouble=StreamTrouble.UNREACHABLE),
        stream(20, 20),
    ],
    ids=["not-sure-yet", "no-broker", "there"],
)
def test_a_topic_that_may_be_there_is_not_called_gone(now: StreamState) -> None:
    assert gone_topics(seen(now)) is None


def test_a_topic_that_never_had_offsets_is_not_called_gone() -> None:
    """Goal: a name that was mistyped has nothing to lose; its stream says that it is not there."""
    assert gone_topics(observed(spec(), stored={}, seen=GONE)) is None


def several() -> SupervisorSpec:
    wanted = spec()
    source = wanted.io_config.model_copy(update={"topic": None, "topic_pattern": "click.*"})
    return wanted.model_copy(update={"io_config": source})


def test_of_several_topics_the_others_go_on() -> None:
    others = replace(stream(20), topic_ids={"clicks-us": "id-3"})
    message = gone_topics(observed(several(), stored=committed(3), seen=others))
    assert message == (
        "topic clicks does not exist any more: what was published of it is kept, the other topics "
        "go on. clicks:0 stands at 3; no range of it waits to be published. `tidegate supervisor "
        "reset clicks` forgets its offsets, and begins again in the other topics, too"
    )


def test_of_several_topics_none_may_be_left() -> None:
    message = gone_topics(observed(several(), stored=committed(3), seen=GONE))
    assert message is not None
    assert message.startswith(f"topic {TOPIC} does not exist any more: ")
    assert "Make it anew" in message
