"""Artifacts by the API: for those who may read the execution, and never as a page of its own."""

import json
from pathlib import Path
from typing import cast

from supervisor.adapters.clock import SystemClock
from supervisor.adapters.executions.artifacts import SqlArtifacts
from supervisor.adapters.executions.database import ExecutionDatabase, migrate_executions
from supervisor.core.flows.artifacts import Artifact, artifact_of
from supervisor.core.values.permissions import Role
from tests.sqlite_memory import empty_file
from tests.supervisor.api.guarded import a_guarded_world, grants_of
from tests.supervisor.api.routes.flows.conftest import Running
from tests.supervisor.api.world import Json

PAGE = "<script>alert(1)</script>" * 1_000


def _stored(running: Running, execution: str, artifact: Artifact) -> None:
    _store(f"sqlite:///{running.world.database.with_name('executions.db')}", execution, artifact)


def _store(url: str, execution: str, artifact: Artifact) -> None:
    database = ExecutionDatabase(url)
    SqlArtifacts(database, SystemClock()).put(execution, artifact)
    database.close()


def _named_by_a_step(running: Running, artifact: Artifact) -> str:
    """Run a flow that has an output which names the artifact."""
    values = {"body": artifact.ref.value}
    running.apply(flow="day", steps=[{"name": "fetch", "type": "set", "values": values}])
    execution = running.start("day")
    running.wait_for(execution, "SUCCESS")
    return execution


def test_what_a_record_names_is_answered_as_it_was(running: Running) -> None:
    rows = artifact_of("ab12", 1, {"rows": list(range(9_000))})
    execution = _named_by_a_step(running, rows)
    _stored(running, execution, rows)

    [run] = cast("list[Json]", running.get(execution)["runs"])
    answer = running.world.client.get(f"/api/v1/executions/{execution}/artifacts/{rows.ref.id}")

    assert run["artifacts"] == [
        {"id": rows.ref.id, "bytes": rows.ref.bytes, "sha256": rows.ref.sha256}
    ]
    assert json.loads(answer.content) == {"rows": list(range(9_000))}
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["ETag"].strip("W/").strip('"') == rows.ref.sha256


def test_a_page_of_another_server_is_letters_to_be_saved(running: Running) -> None:
    page = artifact_of("ab12", 1, PAGE)
    _stored(running, execution := _named_by_a_step(running, page), page)

    answer = running.world.client.get(f"/api/v1/executions/{execution}/artifacts/{page.ref.id}")

    assert answer.text == PAGE
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_what_no_record_of_the_execution_names_is_not_there(running: Running) -> None:
    mine, other = artifact_of("ab12", 1, "mine"), artifact_of("cd34", 1, "other")
    execution = _named_by_a_step(running, mine)
    _stored(running, "another", other)
    answers = {
        path: running.world.client.get(f"/api/v1/executions/{path}")
        for path in (
            f"{execution}/artifacts/{other.ref.id}",
            f"{execution}/artifacts/{mine.ref.id}",
            f"nobody/artifacts/{mine.ref.id}",
            f"{execution}/artifacts/..%2f..%2fetc",
        )
    }

    assert [one.status_code for one in answers.values()] == [404, 404, 404, 404]
    types = [one.json()["type"] for one in list(answers.values())[:3]]
    assert types[0] == "/problems/artifact-not-found"
    assert types[2] == "/problems/execution-not-found"


def test_who_may_not_read_the_execution_does_not_read_it(tmp_path: Path) -> None:
    """Each role may read; a worker, and whoever has not logged in, may not."""
    with a_guarded_world(tmp_path, empty_file(tmp_path / "empty.db")) as guarded:
        url = f"sqlite:///{guarded.world.database.with_name('executions.db')}"
        migrate_executions(url)
        rows = artifact_of("ab12", 1, [1, 2])
        boss = guarded.token("boss", *grants_of(Role.ADMIN, "*"))
        values = {"body": rows.ref.value}
        flow = {"flow": "day", "steps": [{"name": "fetch", "type": "set", "values": values}]}
        assert guarded.ask("POST", "/api/v1/flows", boss, flow).status_code == 200
        started = guarded.ask("POST", "/api/v1/flows/day/executions", boss, {"key": "mon"})
        assert started.status_code == 202
        _store(url, "day:mon", rows)
        path = f"/api/v1/executions/day:mon/artifacts/{rows.ref.id}"
        reader = guarded.token("reader", *grants_of(Role.VIEWER, "*"))

        statuses = [guarded.ask("GET", path, each).status_code for each in (boss, reader, None)]

        assert statuses == [200, 200, 401]
