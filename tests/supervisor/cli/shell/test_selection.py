"""Verbs for several supervisors at once."""

import pytest

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import PROBLEM, Overlord, Reply, Request
from tests.supervisor.cli.supervisor.test_supervisors import BASE, status

ROWS = [
    {"id": "a", "dataSource": "web_a", "state": "RUNNING", "detailedState": "READING"},
    {"id": "b", "dataSource": "web_b", "state": "SUSPENDED", "detailedState": "SUSPENDED"},
    {"id": "c", "dataSource": "app", "state": "RUNNING", "detailedState": "RUNNING"},
]


def answered(request: Request) -> Reply:
    """An overlord whose supervisor b is suspended already, and whose c is in trouble."""
    if request.path == BASE:
        return Reply(ROWS)
    name, verb = request.path.removeprefix(f"{BASE}/").split("/", 1)
    if verb == "status":
        return Reply(status("SUSPENDED") | {"id": name})
    if (name, verb) == ("b", "suspend"):
        problem = {"type": "/problems/already-in-state", "detail": "[b] is already suspended"}
        return Reply(problem, 400, PROBLEM)
    if name == "broken":
        return Reply({"detail": "no"}, 409, PROBLEM)
    return Reply({"id": name})


@pytest.fixture
def verbs(tidegate: Tidegate, server: Overlord) -> Tidegate:
    """The command line, before that overlord."""
    server.ask = answered
    return tidegate


def posted(server: Overlord) -> list[str]:
    """What was done."""
    return [a.path.removeprefix(f"{BASE}/") for a in server.requests if a.method == "POST"]


@pytest.mark.parametrize(
    ("arguments", "done"),
    [
        (["a", "c"], ["a", "c"]),
        (["c", "a", "c"], ["c", "a"]),
        (["--all"], ["a", "b", "c"]),
        (["--data-source", "web_?"], ["a", "b"]),
        (["--state", "running"], ["a", "c"]),
        (["--state", "reading"], ["a"]),
        (["--data-source", "web*", "--state", "RUNNING"], ["a"]),
        (["a", "b", "--state", "RUNNING"], ["a"]),
    ],
)
def test_supervisors_are_chosen(
    verbs: Tidegate, server: Overlord, arguments: list[str], done: list[str]
) -> None:
    ended = verbs("supervisor", "terminate", *arguments, "--yes")

    assert ended.code == 0
    assert posted(server) == [f"{name}/terminate" for name in done]
    assert ended.out.splitlines() == [f"{name} is terminated; its table stays" for name in done]


def test_what_is_so_already_is_no_failure_among_many(verbs: Tidegate, server: Overlord) -> None:
    many, one = verbs("supervisor", "suspend", "--all"), verbs("supervisor", "suspend", "b")

    assert (many.code, one.code) == (0, 1)
    assert "[b] is already suspended" in many.err
    assert many.out == "a is suspended\nc is suspended\n"
    assert "suspend: a, b, c" in many.err
    assert posted(server)[:3] == ["a/suspend", "b/suspend", "c/suspend"]


def test_one_that_fails_stops_no_other(verbs: Tidegate) -> None:
    ended = verbs("supervisor", "resume", "a", "broken", "c")

    assert (ended.code, ended.out) == (1, "a runs\nc runs\n")
    assert "1 of 3 failed" in ended.err


def test_terminate_names_all_that_it_would_end_before_it_asks(
    verbs: Tidegate, server: Overlord
) -> None:
    ended = verbs("supervisor", "terminate", "--all")

    assert (ended.code, posted(server)) == (2, [])
    assert "Terminate 3 supervisors: a, b, c?" in ended.err


@pytest.mark.parametrize("verb", ["suspend", "resume", "terminate", "status", "handoff"])
def test_nobody_is_chosen_by_mistake(verbs: Tidegate, server: Overlord, verb: str) -> None:
    assert verbs("supervisor", verb).code == 2
    assert verbs("supervisor", verb, "a", "--all").code == 2
    assert server.requests == []


def test_nothing_that_fits_is_nothing_to_do(verbs: Tidegate) -> None:
    ended = verbs("supervisor", "suspend", "--data-source", "none")

    assert (ended.code, ended.out) == (0, "")
    assert "No supervisor fits." in ended.err


def test_several_wait_together(verbs: Tidegate) -> None:
    ended = verbs("supervisor", "suspend", "a", "c", "--wait", "30")

    assert (ended.code, ended.out) == (0, "a is suspended\nc is suspended\n")


def test_a_deadline_of_several_is_exit_code_4_and_all_were_asked(
    verbs: Tidegate, server: Overlord
) -> None:
    server.ask = lambda request: (
        Reply(status("STOPPING", groups=[{"generationId": "g"}]))
        if request.path.endswith("/status")
        else answered(request)
    )

    ended = verbs("supervisor", "suspend", "a", "c", "--wait", "0.1")

    assert (ended.code, ended.out) == (4, "")
    assert "2 of 2 failed" in ended.err
    assert posted(server) == ["a/suspend", "c/suspend"]


def test_names_of_what_fits_go_to_other_commands(verbs: Tidegate) -> None:
    ended = verbs("supervisor", "status", "--state", "RUNNING", "-o", "name")

    assert (ended.code, ended.out) == (0, "a\nc\n")


def test_several_answers_are_one_list(verbs: Tidegate) -> None:
    rows = verbs("supervisor", "resume", "a", "broken", "-o", "json").json()

    assert rows == [{"id": "a", "answer": {"id": "a"}}, {"id": "broken", "error": "no"}]


def test_each_of_several_is_waited_for_by_its_operation(
    tidegate: Tidegate, server: Overlord
) -> None:
    """Goal: one that was superseded does not hide that the other is done."""

    def answer(request: Request) -> Reply:
        if request.path.startswith("/api/v1/operations/"):
            operation = request.path.rpartition("/")[2]
            state = "done" if operation == "op_a" else "superseded"
            return Reply({"id": operation, "state": state, "at": "2026-01-05T12:00:00Z"})
        name = request.path.removeprefix(f"{BASE}/").split("/", 1)[0]
        return Reply({"id": name}, headers={"Tidegate-Operation": f"op_{name}"})

    server.ask = answer
    ended = tidegate("supervisor", "suspend", "a", "b", "--wait", "20")

    assert (ended.code, ended.out) == (1, "a is suspended\n")
    assert "op_b is superseded" in ended.err
