"""Attention rule of brokers that cannot be read: one item, and no echo of it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from supervisor.core.attention.items import AttentionKind, Severity, SubjectKind
from supervisor.core.attention.remedies import RemedyAction
from supervisor.core.attention.streams import brokers_of, silent_streams
from supervisor.core.attention.supervisors import supervisor_items
from supervisor.core.attention.watched import WatchedSupervisor, names_of
from supervisor.core.planning.observed import Observed, StreamState, StreamTrouble
from supervisor.core.planning.states import roll_up
from tests.supervisor.core.attention.watched_rows import KNOWN, row
from tests.supervisor.core.snapshots import MINUTE, NOON, observed, spec, stream

BROKERS = "localhost:9092"
AWAY = StreamTrouble.UNREACHABLE
NEVER_READ = StreamState()


def silent(
    *, looks: int = 1, before: StreamState | None = None, trouble: StreamTrouble = AWAY
) -> Observed:
    """What a pass sees after some failed looks in a row, a minute apart."""
    state = stream(9, 9, 9, 9) if before is None else before
    for number in range(1, looks + 1):
        state = state.after_failure(trouble, "no answer", number, NOON + MINUTE * number)
    return observed(spec(), seen=state)


def watch(name: str, seen: Observed | None, table: str = "") -> WatchedSupervisor:
    state = row(name).state if seen is None else roll_up(seen, None)
    return WatchedSupervisor(row(name, state, table), seen, KNOWN)


def test_the_first_failed_look_is_an_item_that_names_who_waits_since_the_silence_began() -> None:
    watched = [
        watch("web", silent(looks=1), "shop"),
        watch("orders", silent(looks=4), "shop"),
        watch("read", observed()),
        watch("new", None),
    ]

    [item] = silent_streams(watched)

    assert (item.severity, item.kind) == (Severity.BROKEN, AttentionKind.STREAM_SILENT)
    assert (item.about.kind, item.about.id) == (SubjectKind.BROKERS, BROKERS)
    assert item.text == (
        f"the Kafka brokers {BROKERS} cannot be read, so nothing new is read by orders and web: "
        "no answer"
    )
    assert item.since == NOON + MINUTE, "the first failed look, not the last one"
    assert (item.supervisors, item.data_source) == (("orders", "web"), "shop")
    [step] = item.remedies
    assert (step.action, step.permission) == (RemedyAction.ASK_BROKERS, None)
    assert (step.command, step.params) == ("tidegate doctor", {"brokers": BROKERS})


@pytest.mark.parametrize("before", [None, NEVER_READ])
def test_who_is_unhealthy_by_silent_brokers_alone_is_no_item_of_its_own(
    before: StreamState | None,
) -> None:
    watched = watch("orders", silent(looks=9, before=before))
    assert not watched.row.state.healthy
    assert list(supervisor_items(watched, NOON, 1)) == []

    refused = watch("orders", silent(looks=9, before=before, trouble=StreamTrouble.REFUSED))

    [item] = supervisor_items(refused, NOON, 1)
    assert item.kind is AttentionKind.SUPERVISOR_UNHEALTHY
    assert list(silent_streams([refused])) == []


def test_another_trouble_of_the_same_supervisor_is_still_an_item() -> None:
    watched = watch("orders", silent(looks=9))
    sick = replace(watched.row.state, detailed="UNHEALTHY_TASKS")

    [item] = supervisor_items(replace(watched, row=replace(watched.row, state=sick)), NOON, 1)

    assert item.kind is AttentionKind.SUPERVISOR_UNHEALTHY


def test_a_silence_begins_anew_after_an_answer_and_after_another_trouble() -> None:
    away = stream(9).after_failure(AWAY, "", 1, NOON)
    later = NOON + timedelta(hours=1)

    assert away.after_failure(AWAY, "", 2, later).trouble_since == NOON
    gone = away.after_failure(StreamTrouble.NO_TOPIC, "", 1, later)
    assert gone.trouble_since == later
    assert (gone.latest, gone.read_at) == (away.latest, NOON), "what was read stays"


def test_a_list_of_brokers_is_one_list_in_any_order() -> None:
    assert brokers_of("B:1, a:2,b:1") == "a:2,b:1"


@pytest.mark.parametrize(
    ("names", "text"),
    [("a", "a"), ("ab", "a and b"), ("abc", "a, b and c"), ("abcde", "a, b, c and 2 more")],
)
def test_a_sentence_names_three_and_counts_the_others(names: str, text: str) -> None:
    assert names_of([*names]) == text
