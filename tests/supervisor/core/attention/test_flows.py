"""The attention rules of flows: what stands still for a minute, and what failed."""

from datetime import UTC, datetime, timedelta

from supervisor.core.attention.flows import STILL_AFTER, FlowsStanding, TopicsStanding, flow_items
from supervisor.core.attention.items import AttentionKind, Severity
from supervisor.core.attention.remedies import RemedyAction

_NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
_SECOND = timedelta(seconds=1)


def test_what_goes_on_is_no_item() -> None:
    young = _NOW - STILL_AFTER + _SECOND
    for standing in (
        None,
        FlowsStanding(),
        FlowsStanding(due=_NOW + _SECOND),
        FlowsStanding(due=young),
        FlowsStanding("the disk is full", young),
    ):
        assert not [*flow_items(standing, _NOW)]


def test_a_database_that_cannot_be_read_for_a_minute_is_at_risk() -> None:
    since = _NOW - STILL_AFTER

    [item] = flow_items(FlowsStanding("the disk is full", since), _NOW)

    assert (item.kind, item.severity) == (AttentionKind.FLOWS_STAND_STILL, Severity.AT_RISK)
    assert (item.text, item.since) == ("flows do not run: the disk is full", since)


def test_what_is_due_for_a_minute_is_broken() -> None:
    due = _NOW - timedelta(minutes=3)

    [item] = flow_items(FlowsStanding(due=due), _NOW)

    assert (item.kind, item.severity) == (AttentionKind.FLOWS_STAND_STILL, Severity.BROKEN)
    assert "due for 3 min" in item.text
    assert item.since == due


def test_what_does_not_get_to_executors_for_a_minute_is_broken() -> None:
    young, old = _NOW - STILL_AFTER + _SECOND, _NOW - STILL_AFTER
    for topics in (TopicsStanding(), TopicsStanding(young, "why", young)):
        assert not [*flow_items(FlowsStanding(topics=topics), _NOW)]

    [unsent] = flow_items(FlowsStanding(topics=TopicsStanding(old, "no broker")), _NOW)
    [unbegun] = flow_items(FlowsStanding(topics=TopicsStanding(unbegun_since=old)), _NOW)
    [due] = flow_items(FlowsStanding(due=old, topics=TopicsStanding()), _NOW)

    assert unsent.text == "starts and inputs of flows do not get to Kafka: no broker"
    assert unbegun.text == "no executor begins what was started: is `tidegate executor` up?"
    assert "and no executor does" in due.text
    for item in (unsent, unbegun, due):
        assert [each.action for each in item.remedies] == [RemedyAction.OPEN_EXECUTORS]
        assert (item.kind, item.severity, item.since) == (
            AttentionKind.FLOWS_STAND_STILL,
            Severity.BROKEN,
            old,
        )


def test_dead_inputs_are_at_risk_and_lead_to_their_list() -> None:
    [item] = flow_items(FlowsStanding(topics=TopicsStanding(dead=1_204)), _NOW)

    assert (item.kind, item.severity) == (AttentionKind.DEAD_INPUTS, Severity.AT_RISK)
    assert item.text.startswith("1,204 inputs of flows could not be worked in")
    assert [each.action for each in item.remedies] == [RemedyAction.LIST_DEAD_INPUTS]


def test_failed_executions_are_one_item_that_names_the_newest() -> None:
    failed = [(f"day:{n}", "no such host", _NOW - n * _SECOND) for n in range(5)]

    [item] = flow_items(FlowsStanding(failed=failed), _NOW)
    [single] = flow_items(FlowsStanding(failed=failed[:1]), _NOW)

    assert (item.kind, item.severity) == (AttentionKind.EXECUTIONS_FAILED, Severity.TO_KNOW)
    assert "5 executions of the last day failed: day:0 (no such host); day:1" in item.text
    assert "and 2 more" in item.text
    assert item.since == _NOW - 4 * _SECOND
    assert single.text.startswith("an execution of the last day failed: day:0 (no such host);")
    assert "more" not in single.text
