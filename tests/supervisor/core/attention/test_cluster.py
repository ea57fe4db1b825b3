"""Attention rules of the whole: tokens that end, replicas that differ, nobody who leads."""

from datetime import timedelta

import pytest

from supervisor.core.attention.cluster import (
    REPLACED_SHOWN_FOR,
    TOKEN_NOTICE,
    EndingToken,
    LeaderReplaced,
    leader_items,
    no_leader,
    silent_database,
    token_items,
)
from supervisor.core.attention.divergence import DivergedRange, divergence_items
from supervisor.core.attention.items import AttentionKind, Severity
from supervisor.core.attention.remedies import RemedyAction
from tests.supervisor.core.snapshots import MINUTE, NOON

DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("left", "severity"),
    [
        (15 * DAY, None),
        (14 * DAY, Severity.TO_KNOW),
        (2 * DAY, Severity.AT_RISK),
        (MINUTE, Severity.AT_RISK),
        (timedelta(0), None),
    ],
)
def test_a_token_is_announced_two_weeks_before_it_ends(
    left: timedelta, severity: Severity | None
) -> None:
    ends = NOON + left

    shown = list(token_items([EndingToken("ci", ends)], NOON))

    assert [item.severity for item in shown] == ([] if severity is None else [severity])
    for item in shown:
        assert item.since == ends - TOKEN_NOTICE, "the same whenever somebody looks"
        assert f"the token ci ends at {ends:%Y-%m-%d %H:%M} UTC" in item.text


def test_replicas_that_differ_are_one_item_per_supervisor() -> None:
    ranges = [
        DivergedRange("b", "t", "g9", NOON),
        DivergedRange("a", "t", "g2", NOON + MINUTE),
        DivergedRange("a", "t", "g1", NOON),
    ]

    shown = {item.about.id: item for item in divergence_items(ranges)}

    assert shown.keys() == {"a", "b"}
    assert (shown["a"].kind, shown["a"].since) == (AttentionKind.REPLICAS_DIVERGED, NOON)
    assert "in 2 ranges of the last 7 days, the last one g2" in shown["a"].text
    assert "in 1 range of the last 7 days, the last one g9" in shown["b"].text
    [step] = shown["a"].remedies
    assert (step.action, step.params) == (RemedyAction.OPEN_RANGE, {"range": "g2"})


def test_without_a_leader_or_a_database_everything_stands_still() -> None:
    silent = silent_database("no answer in 5 s", NOON)

    alone = no_leader(NOON - MINUTE)

    assert {alone.severity, silent.severity} == {Severity.BROKEN}
    assert (alone.since, silent.since) == (NOON - MINUTE, NOON)
    assert "no answer in 5 s" in silent.text
    assert [step.action for step in alone.remedies] == [RemedyAction.START_OVERLORD]
    assert [step.action for step in silent.remedies] == [RemedyAction.ASK_DATABASE]


def test_a_leader_that_was_replaced_is_shown_for_an_hour() -> None:
    replaced = LeaderReplaced("http://one", "http://two", NOON)

    [item] = leader_items(replaced, NOON + REPLACED_SHOWN_FOR - timedelta(seconds=1))

    assert (item.severity, item.kind) == (Severity.TO_KNOW, AttentionKind.LEADER_REPLACED)
    assert item.text.startswith(
        "the overlord http://one did not renew its lease in time, so http://two leads since "
        "12:00:00 UTC"
    )
    assert item.since == NOON
    [step] = item.remedies
    assert step.command == "tidegate doctor --server http://one"
    assert list(leader_items(replaced, NOON + REPLACED_SHOWN_FOR)) == []
    assert list(leader_items(None, NOON)) == []
