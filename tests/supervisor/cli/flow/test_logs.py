"""`tidegate execution logs`."""

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

PATH = "/api/v1/executions/nightly:1/log"


def test_a_log_is_printed_piece_by_piece(tidegate: Tidegate, server: Overlord) -> None:
    line = "2026-11-28T10:00:00.000000Z INFO    step verify begins\n"
    size = {"X-Tidegate-Log-Size": str(2 * len(line))}
    pieces = (
        Reply(line, content_type="text/plain", headers={"X-Tidegate-Log-Start": str(at), **size})
        for at in (0, len(line))
    )
    server.on("GET", PATH, *pieces)

    ended = tidegate("execution", "logs", "nightly:1", "--step", "verify")

    assert (ended.code, ended.out) == (0, 2 * line)
    assert server.requests[-1].query == {"step": ["verify"], "offset": [str(len(line))]}


def test_what_a_step_has_said_moves_no_cursor(tidegate: Tidegate, server: Overlord) -> None:
    text = "2026-11-28T10:00:00.000000Z ERROR   step a: \x1b[2J\n"
    headers = {"X-Tidegate-Log-Start": "0", "X-Tidegate-Log-Size": str(len(text))}
    server.on("GET", PATH, Reply(text, content_type="text/plain", headers=headers))

    ended = tidegate("execution", "logs", "nightly:1")

    assert "\x1b" not in ended.out
    assert "\\x1b[2J" in ended.out
