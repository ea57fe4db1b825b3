"""Logs of executions by the API: as text, of one step, in pieces."""

from tests.supervisor.api.routes.flows.conftest import Running

STEPS = [{"name": "pack", "type": "noop"}, {"name": "end", "type": "noop", "after": ["pack"]}]


def test_a_log_has_a_line_for_each_event_and_comes_in_pieces(running: Running) -> None:
    running.apply(flow="day", steps=STEPS)
    execution = running.start("day")
    running.wait_for(execution, "SUCCESS")
    path = f"/api/v1/executions/{execution}/log"

    whole = running.world.client.get(path)
    lines = whole.text.splitlines()
    assert (whole.status_code, whole.headers["X-Tidegate-Log-Start"]) == (200, "0")
    assert int(whole.headers["X-Tidegate-Log-Size"]) == len(whole.content)
    assert lines[-1].endswith("the execution has ended: SUCCESS")

    step = running.world.client.get(f"{path}?step=end").text.splitlines()
    assert step == [line for line in lines if " step end" in line]
    assert any("attempt 1 runs at here" in line for line in step)
    assert running.world.client.get(f"{path}?offset=-8").text == "SUCCESS\n"


def test_a_step_that_has_not_begun_has_an_empty_log_and_others_are_not_there(
    running: Running,
) -> None:
    ask = {"name": "ok", "type": "approve", "question": "go on?"}
    running.apply(flow="ask", steps=[ask, {"name": "end", "type": "noop", "after": ["ok"]}])
    execution = running.start("ask")
    running.run_of(execution, "ok")
    path = f"/api/v1/executions/{execution}/log"

    assert running.world.client.get(f"{path}?step=end").text == ""
    assert running.world.client.get(f"{path}?step=nothing").status_code == 404
    assert running.world.client.get("/api/v1/executions/ask:none/log").status_code == 404
