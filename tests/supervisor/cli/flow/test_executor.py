"""`tidegate execution partitions, project, dead`: what is asked, and what is printed."""

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.flow.answers import DEAD_INPUT
from tests.supervisor.cli.overlord import Overlord, Reply

_EXECUTOR = "/api/v1/executor"
_HANDLED = {
    "verb": "replay",
    "outcome": "stored",
    "detail": "",
    "by": "ada",
    "reason": "upgraded",
    "at": "2026-11-29T10:00:00Z",
}


def test_partitions_say_who_works_them(tidegate: Tidegate, server: Overlord) -> None:
    partition = {"partition": 0, "position": 7, "lag": 2, "projectionLag": 5}
    partitions = [{**partition, "owner": "executor-1"}, {**partition, "owner": None}]
    executor = {"url": "", "heardAt": "2026-11-29T10:00:00Z", "partitions": [], "makes": []}
    silent = {**executor, "name": "executor-2", "state": "SILENT", "reason": ""}
    waiting = {**executor, "name": "executor-3", "state": "WAITING", "reason": "no broker"}
    answer = {"engine": "kafka", "executors": [silent, waiting], "deadLetters": 2}
    server.on("GET", _EXECUTOR, Reply({**answer, "partitions": partitions}))

    ended = tidegate("execution", "partitions")

    assert ended.code == 0
    assert [line.split() for line in ended.out.splitlines()[1:]] == [
        ["0", "executor-1", "7", "2", "5"],
        ["0", "nobody", "7", "2", "5"],
    ]
    assert "2 dead letters: tidegate execution dead list" in ended.err
    assert "executor-2 is silent" in ended.err
    assert "executor-3 waits" in ended.err
    assert "no broker" in ended.err


def test_executions_in_the_database_have_no_partitions(
    tidegate: Tidegate, server: Overlord
) -> None:
    answer = {"engine": "sql", "executors": [], "partitions": [], "deadLetters": 0}
    server.on("GET", _EXECUTOR, Reply(answer))

    ended = tidegate("execution", "partitions")

    assert (ended.code, ended.out) == (0, "")
    assert "Executions run in the database" in ended.err


def test_dead_letters_are_listed_page_by_page(tidegate: Tidegate, server: Overlord) -> None:
    page = {"letters": [DEAD_INPUT], "next": 17}
    server.on("GET", f"{_EXECUTOR}/dead", Reply(page))

    ended = tidegate("execution", "dead", "list", "--limit", "2")

    assert ended.code == 0
    assert ended.out.count("it is no JSON") == 2
    assert server.requests[-1].query == {"limit": ["1"], "handled": ["false"], "before": ["17"]}


def test_a_dead_letter_is_shown_sent_once_more_and_dropped(
    tidegate: Tidegate, server: Overlord
) -> None:
    path, dropped = f"{_EXECUTOR}/dead/17", {**_HANDLED, "outcome": "dropped", "reason": ""}
    server.on("GET", path, Reply(DEAD_INPUT))
    server.on("POST", f"{path}/replay", Reply({**DEAD_INPUT, "handled": _HANDLED}))
    server.on("DELETE", path, Reply({**DEAD_INPUT, "handled": dropped}))

    shown = tidegate("execution", "dead", "show", "17")
    replayed = tidegate("execution", "dead", "replay", "17", "--reason", "upgraded")
    gone = tidegate("execution", "dead", "drop", "17", "--yes")

    assert "no json" in shown.out
    assert "letter 17: sent once more, by ada" in replayed.out
    assert "(upgraded)" in replayed.out
    assert "letter 17: dropped, by ada" in gone.out


def test_tables_are_written_anew_by_who_says_so(tidegate: Tidegate, server: Overlord) -> None:
    server.on("POST", f"{_EXECUTOR}/project", Reply({"deleted": 12}))

    assert tidegate("execution", "project", "--yes").code == 2
    ended = tidegate("execution", "project", "--from-topics", "--yes")

    assert ended.out == "12 executions are read again from their topics\n"
