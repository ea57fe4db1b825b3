"""`tidegate execution artifact`, and how `get` names one: its bytes, and no codes for a screen."""

from pathlib import Path

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.flow.answers import EXECUTION
from tests.supervisor.cli.overlord import Overlord, Reply

ID = f"ab12-1-{'0' * 32}"
_PATH = f"/api/v1/executions/day:mon/artifacts/{ID}"
_RUN = {
    "id": "ab12",
    "step": "fetch",
    "state": "SUCCESS",
    "createdAt": "2026-01-05T12:00:00Z",
    "outputs": {"body": {"artifact": ID, "bytes": 20_000, "sha256": "0" * 64}},
    "artifacts": [{"id": ID, "bytes": 20_000, "sha256": "0" * 64}],
}


def test_get_names_the_artifacts_of_its_steps(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", "/api/v1/executions/day:mon", Reply({**EXECUTION, "runs": [_RUN]}))

    ended = tidegate("execution", "get", "day:mon")

    assert ended.code == 0
    assert f"fetch: artifact {ID}, 19.5 KiB" in ended.out


def test_an_artifact_is_printed_or_written_to_a_new_file(
    tidegate: Tidegate, server: Overlord, tmp_path: Path
) -> None:
    server.on("GET", _PATH, Reply({"rows": [1, 2]}))
    target = tmp_path / "body.json"

    printed = tidegate("execution", "artifact", "day:mon", ID)
    written = tidegate("execution", "artifact", "day:mon", ID, "-f", str(target))
    again = tidegate("execution", "artifact", "day:mon", ID, "-f", str(target))

    assert (printed.code, written.code, again.code) == (0, 0, 1)
    assert printed.out.encode() == target.read_bytes()
    assert "is there already" in again.err
