"""What differs between two documents of a flow."""

from typing import Any

from supervisor.core.flows.differences import FlowDifference, differences

PACK: dict[str, Any] = {"name": "pack", "type": "noop", "retry": {"attempts": 3}}
LOAD: dict[str, Any] = {"name": "load", "type": "noop", "after": ["pack"]}


def flow(*steps: dict[str, Any], **more: str) -> dict[str, Any]:
    return {"flow": "day", "steps": list(steps), **more}


def test_equal_documents_have_no_difference_whatever_the_order_of_fields() -> None:
    turned: dict[str, Any] = {"steps": [dict(reversed(PACK.items()))], "flow": "day"}

    assert differences(flow(PACK), turned) == []


def test_a_step_is_known_by_its_name_and_not_by_its_number() -> None:
    more = {**PACK, "retry": {"attempts": 5}}

    assert differences(flow(PACK, LOAD), flow({"name": "new", "type": "noop"}, more, LOAD)) == [
        FlowDifference("steps/new", None, {"name": "new", "type": "noop"}),
        FlowDifference("steps/pack/retry/attempts", 3, 5),
    ]


def test_what_is_gone_and_what_came_are_named() -> None:
    assert differences(flow(PACK, LOAD), flow(PACK, timeout="PT1H")) == [
        FlowDifference("steps/load", LOAD, None),
        FlowDifference("timeout", None, "PT1H"),
    ]


def test_an_order_that_changed_is_a_difference() -> None:
    assert differences(flow(PACK, LOAD), flow(LOAD, PACK)) == [
        FlowDifference("steps (order)", ["pack", "load"], ["load", "pack"])
    ]


def test_values_that_have_no_names_are_compared_as_a_whole() -> None:
    other = {**LOAD, "after": ["pack", "ok"]}

    assert differences(flow(PACK, LOAD), flow(PACK, other)) == [
        FlowDifference("steps/load/after", ["pack"], ["pack", "ok"])
    ]


def test_a_tombstone_differs_in_everything() -> None:
    assert [each.place for each in differences(flow(PACK), None)] == ["flow", "steps"]
