"""`tidegate verify ID` proves in a process of its own: its bounds, errors, and end by Ctrl-C."""

import json
import sys
from pathlib import Path

import psutil
import pytest

from supervisor.adapters.child_prover import ChildProver
from supervisor.app.executions import calls
from supervisor.settings.settings import Settings
from tests.conformance.stories import CLICKS
from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord
from tests.supervisor.cli.table.test_verify_compacted_asked import answers
from tests.supervisor.verify.compacting import Table

INTERRUPTED = 130
READS = "open(sys.argv[1][:-5] + '.progress', 'w').write('3 4'); sys.stdin.read()"


def _answers(**more: object) -> str:
    return f"print({json.dumps(json.dumps({'code': 'X', 'message': 'no', **more}))})"


@pytest.fixture
def overlord(server: Overlord, tmp_path: Path) -> Overlord:
    """One with a ledger that asks no broker."""
    table = Table(tmp_path)
    table.publish({0: [(0, 0), (0, 0), (0, 0)]})
    table.publish({0: [(0, 0), (0, 0), (0, 0)]})
    server.ask = lambda request: answers(table)[request.path.rpartition("/")[2]]
    return server


def _plant(patch: pytest.MonkeyPatch, prover: ChildProver) -> list[tuple[int, int, object]]:
    """Let the command use this prover; return the bounds that it was asked for."""
    bounds: list[tuple[int, int, object]] = []

    def prover_of(settings: Settings, _: object) -> ChildProver:
        bounds.append(
            (
                settings.executions_child_memory,
                settings.executions_child_files,
                settings.executions_child_time,
            )
        )
        return prover

    patch.setattr(calls, "prover_of", prover_of)
    return bounds


def _ends_with(answer: str) -> ChildProver:
    return ChildProver(argv=(sys.executable, "-c", answer))


def test_ctrl_c_ends_the_process_too(
    tidegate: Tidegate, overlord: Overlord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: it comes while the proof reads, and its bars are moved."""
    del overlord
    pids: list[int] = []
    moves: list[tuple[int, int]] = []

    def moved(rows: int, offsets: int) -> None:
        moves.append((rows, offsets))
        raise KeyboardInterrupt

    prover = ChildProver(
        argv=(sys.executable, "-c", f"import sys; {READS}"), started=pids.append, moved=moved
    )
    _plant(monkeypatch, prover)

    assert tidegate("verify", CLICKS).code == INTERRUPTED
    assert moves == [(3, 4)]
    assert not psutil.pid_exists(pids[0])


@pytest.mark.parametrize(
    ("does", "code", "words"),
    [
        ("raise MemoryError", 1, "TIDEGATE_EXECUTIONS_CHILD_MEMORY"),
        (_answers(passes=False), 1, "no"),
        (_answers(passes=True), 3, "no"),
        (_answers(passes=False, fix="do this"), 1, "hint: do this"),
    ],
)
def test_a_proof_without_a_verdict_says_why_and_has_its_exit_code(
    *,
    tidegate: Tidegate,
    overlord: Overlord,
    monkeypatch: pytest.MonkeyPatch,
    does: str,
    code: int,
    words: str,
) -> None:
    del overlord
    _plant(monkeypatch, _ends_with(does))
    ended = tidegate("verify", CLICKS)
    assert ended.code == code
    assert words in ended.err


def test_the_bounds_are_the_settings_of_the_shell(
    tidegate: Tidegate, overlord: Overlord, monkeypatch: pytest.MonkeyPatch
) -> None:
    del overlord
    monkeypatch.setenv("TIDEGATE_EXECUTIONS_CHILD_MEMORY", str(2**30))
    monkeypatch.setenv("TIDEGATE_EXECUTIONS_CHILD_FILES", "99")
    bounds = _plant(monkeypatch, _ends_with("raise SystemExit(3)"))
    tidegate("verify", CLICKS)
    assert [each[:2] for each in bounds] == [(2**30, 99)]
