"""`tidegate doctor`: every problem is a line with its fix, and exit code 1."""

import socket
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from supervisor.adapters.executions.database import migrate_executions
from supervisor.core.executions.plan import ApproveWork, FlowPlan, Step
from supervisor.dev.ports import free_port
from supervisor.metadata.migrate import migrate
from tests.supervisor.cli.conftest import Ended, Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply
from tests.supervisor.core.crashes.scenarios.stored import Stored

SUPERVISORS = "/druid/indexer/v1/supervisor"
WORKERS = "/druid/indexer/v1/workers"


@pytest.fixture(autouse=True)
def _a_java_and_an_overlord(
    server: Overlord, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho 'openjdk version \"21.0.8\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("TIDEGATE_JAVA", str(java))
    monkeypatch.setenv("TIDEGATE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("TIDEGATE_PORT", str(free_port()))
    server.on("GET", SUPERVISORS, Reply([]))
    server.on("GET", WORKERS, Reply([]))


def found(ended: Ended) -> dict[str, tuple[str, str, str]]:
    """Part -> (result, what was found, fix)."""
    rows = cast("list[dict[str, str]]", ended.json())
    return {row["part"]: (row["result"], row["found"], row["fix"]) for row in rows}


def doctor(tidegate: Tidegate) -> tuple[int, dict[str, tuple[str, str, str]]]:
    ended = tidegate("doctor", "-o", "json")
    return ended.code, found(ended)


def test_a_machine_on_which_all_is_well(tidegate: Tidegate, tmp_path: Path) -> None:
    code, lines = doctor(tidegate)

    assert (code, [part for part, line in lines.items() if line[0] == "problem"]) == (0, [])
    assert lines["java"][1] == f"Java 21 at {tmp_path / 'java'}"
    assert lines["metadata database"][0] == "note"  # made at the first start
    assert lines["kafka"][0] == "note"  # nobody named one
    assert list(tmp_path.rglob("*.db")) == []


def test_the_table_ends_with_what_to_do(
    tidegate: Tidegate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEGATE_JAVA", "/none/java")

    ended = tidegate("doctor")

    assert ended.code == 1
    assert ended.out.splitlines()[-2:] == [
        "java: install a JDK 17 or 21, or name one with TIDEGATE_JAVA",
        "1 problems",
    ]


def test_a_folder_that_cannot_be_written_is_a_problem(
    tidegate: Tidegate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TIDEGATE_WAREHOUSE", str(tmp_path / "file"))

    code, lines = doctor(tidegate)

    assert (code, lines["warehouse"][0]) == (1, "problem")
    assert "TIDEGATE_WAREHOUSE" in lines["warehouse"][2]


def test_an_overlord_that_was_named_must_answer(
    tidegate: Tidegate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEGATE_OVERLORDS", f"http://127.0.0.1:{free_port()}")
    code, lines = doctor(tidegate)
    assert (code, lines["overlord"][0]) == (1, "problem")


def test_a_worker_that_is_lost_is_a_problem(tidegate: Tidegate, server: Overlord) -> None:
    """Goal: who left the installation for good is not waited for without a word."""
    lines = [
        {"worker": {"id": name}, "liveness": liveness}
        for name, liveness in (("w1", "ALIVE"), ("w2", "LOST"))
    ]
    server.on("GET", WORKERS, Reply(lines), Reply(lines[:1]))

    code, found_first = doctor(tidegate)
    _, found_then = doctor(tidegate)

    assert (code, found_first["workers"][0]) == (1, "problem")
    assert "w2" in found_first["workers"][1]
    assert "tidegate worker forget" in found_first["workers"][2]
    assert found_then["workers"][0] == "ok"


def test_a_port_that_another_program_has_is_a_problem(
    tidegate: Tidegate, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        monkeypatch.setenv("TIDEGATE_PORT", str(held.getsockname()[1]))
        monkeypatch.setattr("supervisor.cli.cluster.doctor.checks._ASK_S", 0.2)
        code, lines = doctor(tidegate)

    assert (code, lines["overlord's port"][0]) == (1, "problem")
    assert "TIDEGATE_PORT" in lines["overlord's port"][2]


def test_a_port_that_one_of_ours_has_is_fine(
    tidegate: Tidegate, server: Overlord, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.on("GET", "/status", Reply({"version": "0.1.0"}))
    monkeypatch.setenv("TIDEGATE_PORT", server.url.rpartition(":")[2])

    assert doctor(tidegate)[1]["overlord's port"][0] == "ok"


def test_a_metadata_database_of_a_newer_version_is_a_problem(
    tidegate: Tidegate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "metadata.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num VARCHAR(32))")
        connection.execute("INSERT INTO alembic_version VALUES ('from the future')")
    connection.close()
    monkeypatch.setenv("TIDEGATE_METADATA_URL", f"sqlite:///{path}")

    code, lines = doctor(tidegate)

    assert (code, lines["metadata database"][0]) == (1, "problem")
    assert "newer" in lines["metadata database"][1]


def test_a_sqlite_database_that_is_well_has_a_note_of_what_freezes_a_takeover(
    tidegate: Tidegate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Source: protocol rule P2: a process frozen inside a write blocks all others; D2."""
    path = tmp_path / "metadata.db"
    monkeypatch.setenv("TIDEGATE_METADATA_URL", f"sqlite:///{path}")
    _, before = doctor(tidegate)
    migrate(f"sqlite:///{path}")
    code, after = doctor(tidegate)

    assert (code, before["metadata database"][0], after["metadata database"][0]) == (
        0,
        "note",
        "note",
    )
    assert after["metadata database"][1].startswith("sqlite answers, schema ")
    for lines in (before, after):
        assert "frozen while it writes" in lines["metadata database"][1]
        assert "PostgreSQL" in lines["metadata database"][1]


def test_the_database_of_executions_is_made_by_an_overlord_and_then_well(
    tidegate: Tidegate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TIDEGATE_METADATA_URL", f"sqlite:///{tmp_path / 'metadata.db'}")
    _, before = doctor(tidegate)
    migrate_executions(f"sqlite:///{tmp_path / 'executions.db'}")
    _, after = doctor(tidegate)

    assert (before["executions database"][0], after["executions database"][0]) == ("note", "ok")


def test_a_database_of_executions_of_a_newer_version_is_a_problem(
    tidegate: Tidegate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "executions.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num VARCHAR(32))")
        connection.execute("INSERT INTO alembic_version VALUES ('9999')")
    connection.close()
    monkeypatch.setenv("TIDEGATE_EXECUTIONS_URL", f"sqlite:///{path}")

    code, lines = doctor(tidegate)

    assert (code, lines["executions database"][0]) == (1, "problem")
    assert "newer" in lines["executions database"][1]


def test_executions_that_live_on_the_engine_that_is_not_set_are_a_problem(
    tidegate: Tidegate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'executions.db'}"
    migrate_executions(url)
    with closing(Stored(url)) as stored:
        stored.start(FlowPlan("asks", 1, (Step("ok", ApproveWork("go on?")),)), "asks:1")
    monkeypatch.setenv("TIDEGATE_EXECUTIONS_URL", url)
    monkeypatch.setenv("TIDEGATE_EXECUTIONS_KAFKA", "127.0.0.1:1")

    code, lines = doctor(tidegate)

    assert (code, lines["executions database"][0]) == (1, "problem")
    assert lines["executions database"][1].startswith("1 execution lives in the database, and here")
    assert lines["executions on Kafka"][0] == "problem", "nobody answers there"
    assert "TIDEGATE_EXECUTIONS_KAFKA" in lines["executions on Kafka"][2]


def test_a_file_of_client_properties_that_cannot_be_used_is_a_problem(
    tidegate: Tidegate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "client.properties"
    file.write_text("bootstrap.servers=kafka:9092\ntransactional.id=mine\n")
    monkeypatch.setenv("TIDEGATE_EXECUTIONS_KAFKA", str(file))

    code, lines = doctor(tidegate)

    result, says, fix = lines["executions on Kafka"]
    assert (code, result, bool(fix)) == (1, "problem", True)
    assert "transactional.id" in says


@pytest.mark.parametrize("url", ["nonsense", "postgresql://u:hush@127.0.0.1:1/db"])
def test_a_metadata_database_that_does_not_answer_is_a_problem(
    tidegate: Tidegate, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("TIDEGATE_METADATA_URL", url)

    ended = tidegate("doctor", "-o", "json")

    assert (ended.code, found(ended)["metadata database"][0]) == (1, "problem")
    assert found(ended)["executions database"][0] == "problem"
    assert "hush" not in ended.out


def test_a_broker_that_does_not_answer_is_a_problem(
    tidegate: Tidegate, server: Overlord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: the brokers of the supervisors are asked without being named."""
    monkeypatch.setattr("supervisor.cli.cluster.doctor.checks._ASK_S", 0.5)
    properties = {"bootstrap.servers": "127.0.0.1:1"}
    spec = {"ioConfig": {"consumerProperties": properties}}
    server.on("GET", SUPERVISORS, Reply([{"id": "a", "spec": spec}, {"id": "b", "spec": spec}]))

    code, lines = doctor(tidegate)

    assert (code, lines["kafka 127.0.0.1:1"][0]) == (1, "problem")


def test_a_wrong_setting_and_a_misspelt_one_are_problems(
    tidegate: Tidegate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEGATE_WARHOUSE", "x")
    assert doctor(tidegate)[1]["settings"][2] == "write TIDEGATE_WAREHOUSE"

    monkeypatch.setenv("TIDEGATE_LEASE_TTL", "soon")
    code, lines = doctor(tidegate)
    assert (code, list(lines)) == (1, ["settings"])
