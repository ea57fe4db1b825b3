"""How many looks in a row found no topic: what a supervisor's health goes by."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from supervisor.adapters.kafka.reading import NoTopic
from supervisor.adapters.kafka.streams import (
    FRESH_FOR_S,
    SILENT_FOR_S_MAX,
    KafkaStreams,
    _NoAnswer,
)
from supervisor.adapters.manual_clock import ManualClock
from supervisor.core.planning.observed import StreamState, StreamTrouble
from supervisor.core.spec.sections.io_config import KafkaIoConfig
from tasks.kafka.stream import environment_secret
from tests.supervisor.core.snapshots import NOON, TOPIC, spec, stream
from tests.waiting import wait_until

ANSWERS = {"there": None, "silent": _NoAnswer("no route"), "none": NoTopic("topic is not there")}


class ScriptedStreams(KafkaStreams):
    """Looks that find what they are told."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock, environment_secret, lambda _: None)
        self.answer = "there"

    def _read(self, source: KafkaIoConfig) -> StreamState:  # noqa: ARG002 -- as overridden
        if (error := ANSWERS[self.answer]) is not None:
            raise error
        return stream(1)


@pytest.fixture
def streams() -> Iterator[ScriptedStreams]:
    streams = ScriptedStreams(ManualClock(NOON))
    yield streams
    streams.stop()


def looks(streams: ScriptedStreams, answer: str) -> StreamState:
    """One look, to its end."""
    streams.answer = answer
    clock = streams._clock
    assert isinstance(clock, ManualClock)
    clock.advance(timedelta(seconds=10 * FRESH_FOR_S + SILENT_FOR_S_MAX))
    streams.state(TOPIC, spec())
    watched = streams._watched[TOPIC]
    assert watched.looked is not None
    assert watched.looked.wait(20), "the look did not end"
    return watched.state


def test_what_the_last_look_saw_is_read_without_another(streams: ScriptedStreams) -> None:
    """Goal: a page that is open costs Kafka nothing, however old the last look is."""
    assert streams.last(TOPIC) is None
    seen = looks(streams, "there")
    clock, watched = streams._clock, streams._watched[TOPIC]
    assert isinstance(clock, ManualClock)
    looked = watched.looked
    clock.advance(timedelta(days=1))

    assert streams.last(TOPIC) is seen
    assert watched.looked is looked
    streams.state(TOPIC, spec())
    assert watched.looked is not looked, "a pass looks"


def test_brokers_that_do_not_answer_are_asked_more_and_more_seldom(
    streams: ScriptedStreams,
) -> None:
    """Goal: a supervisor whose brokers are gone costs a thread for a tenth of the time."""
    failures = [looks(streams, "silent").failures for _ in range(7)][-1]
    clock = streams._clock
    assert isinstance(clock, ManualClock)

    clock.advance(timedelta(seconds=SILENT_FOR_S_MAX - 1))
    assert streams.state(TOPIC, spec()).failures == failures
    looked = streams._watched[TOPIC].looked
    assert looked is not None
    assert looked.is_set(), "it rests"
    clock.advance(timedelta(seconds=2))
    streams.state(TOPIC, spec())
    wait_until(lambda: streams._watched[TOPIC].state.failures == failures + 1)

    assert looks(streams, "there").failures == 0


def test_a_broker_that_comes_back_and_knows_no_topic_yet_is_asked_as_often_as_any(
    streams: ScriptedStreams,
) -> None:
    """Goal: a topic is not called deleted for what its broker was silent before."""
    words = ["there", "silent", "silent", "silent", "none", "none", "silent"]
    states = [looks(streams, word) for word in words]

    assert [state.failures for state in states] == [0, 1, 2, 3, 1, 2, 3]
    assert states[4].trouble is StreamTrouble.NO_TOPIC
    assert states[4].topic_ids == states[0].topic_ids


def test_a_silence_begins_with_the_look_that_first_met_it(streams: ScriptedStreams) -> None:
    assert looks(streams, "there").trouble_since is None
    first = looks(streams, "silent")

    again = looks(streams, "silent")

    assert first.trouble_since is not None
    assert first.trouble_since > NOON
    assert again.trouble_since == first.trouble_since
    gone = looks(streams, "none").trouble_since
    assert gone is not None
    assert gone > first.trouble_since
    assert looks(streams, "there").trouble_since is None
