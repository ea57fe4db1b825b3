"""The last lines of the demo: where its execution and the logs of its tasks are to be seen."""

from datetime import UTC, datetime

import httpx
import pytest
from pydantic import JsonValue

from supervisor.app.flows import flow_from
from supervisor.dev.demo import execution_words, stored_words
from supervisor.dev.sample_flow import FLOW, Ended, first_telling, sample_flow

_TASK = "index_kafka_clicks_0123456789abcde_abcdefgh"


def test_commands_find_the_overlord_of_the_usual_port_by_themselves() -> None:
    assert stored_words("http://127.0.0.1:8090", _TASK, once=False).splitlines() == [
        "Logs and reports of its tasks are stored, and outlive their worker. See them:",
        f"  tidegate task logs {_TASK}",
        f"  tidegate task reports {_TASK}",
        "  http://127.0.0.1:8090/ui/logs/reports",
    ]


def test_another_address_is_named_and_an_ended_demo_is_started_again_first() -> None:
    words = stored_words("http://127.0.0.1:15001", _TASK, once=True)

    assert f"tidegate task logs {_TASK} --server http://127.0.0.1:15001" in words
    assert "See them, once the demo is started again:" in words


def test_an_execution_is_named_with_its_command_and_its_page() -> None:
    words = execution_words("http://127.0.0.1:15001", "clicks-proof:published:1", once=True)
    assert "once the demo is started again" in words
    assert "execution get clicks-proof:published:1 --server http://127.0.0.1:15001" in words
    assert words.endswith("http://127.0.0.1:15001/ui/executions/clicks-proof:published:1")


def test_the_flow_of_the_sample_can_be_applied() -> None:
    flow = flow_from(sample_flow())
    assert flow.flow == FLOW
    assert [step.name for step in flow.steps] == ["pack", "prove"]


_SINCE = datetime(2026, 11, 25, 4, 10, tzinfo=UTC)


def _answers(*executions: tuple[str, int, str, int]) -> httpx.Client:
    """An overlord with these: id, minute when it was made, state, files that were joined."""

    def line(name: str, minute: int, state: str, files: int) -> dict[str, JsonValue]:
        at = f"2026-11-25T04:{minute:02}:00Z"
        ended = None if state == "RUNNING" else at
        outputs: JsonValue = {"files": files}
        return {"id": name, "createdAt": at, "endedAt": ended, "state": state, "outputs": outputs}

    lines = {each[0]: line(*each) for each in executions}

    def answer(request: httpx.Request) -> httpx.Response:
        name = request.url.path.removeprefix("/api/v1/executions").strip("/")
        newest_first = list(lines.values())[::-1]
        return httpx.Response(200, json=lines[name] if name else {"executions": newest_first})

    return httpx.Client(transport=httpx.MockTransport(answer), base_url="http://overlord")


_BEFORE, _NOTHING = ("before", 5, "SUCCESS", 4), ("nothing", 11, "SUCCESS", 0)


@pytest.mark.parametrize(
    ("executions", "shown"),
    [
        ([_BEFORE, _NOTHING, ("runs", 12, "RUNNING", 0)], None),
        ([_BEFORE, _NOTHING, ("a", 12, "SUCCESS", 2), ("b", 13, "SUCCESS", 2)], Ended("a", True)),
        ([_BEFORE, ("a", 11, "FAILED", 0), ("b", 12, "SUCCESS", 2)], Ended("a", False)),
    ],
)
def test_the_first_execution_of_this_run_that_joined_files_or_failed_is_shown(
    executions: list[tuple[str, int, str, int]], shown: Ended | None
) -> None:
    with _answers(*executions) as api:
        assert first_telling(api, _SINCE) == shown
