"""`verify` as a step: a process of its own, its verdict, its end by cancel, limits and death."""

import json
import os
import signal as signals
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from supervisor.adapters.child_prover import ChildProver
from supervisor.app.executions.calls import prover_of
from supervisor.core.executions.entities import StepError
from supervisor.core.executions.inputs import KillIt
from supervisor.core.executions.states import ExecutionState
from supervisor.executions.runner import CallRunner
from supervisor.ports.prover import ProofFailed, ProofRequest, ProofStopped
from supervisor.settings.settings import Settings
from tests.supervisor.api.world import TOPIC, World
from tests.supervisor.services.steps.driver import Driver, driver_of
from tests.waiting import wait_until

VERIFY = {"type": "verify", "supervisor": TOPIC}
NEVER = ("-c", "import sys; sys.stdin.read()")
AWAY = {"code": "StreamUnavailable", "message": "away", "passes": True}
REQUEST = ProofRequest("{}", (), "/warehouse", strict=False, last=True)


def _answering(answer: object, code: int = 0) -> ChildProver:
    """A prover whose processes answer this, and end."""
    script = f"print({json.dumps(json.dumps(answer))}); raise SystemExit({code})"
    return ChildProver(argv=(sys.executable, "-c", script))


def _in(folder: Path, world: World) -> Driver:
    """A driver whose warehouse is a folder that exists."""
    driver = driver_of(world)
    supervisors = replace(driver.parts.supervisors, warehouse=str(folder))
    driver.parts = replace(driver.parts, supervisors=supervisors)
    driver.verbs = driver.again()
    return driver


def _error(driver: Driver, execution: str) -> StepError:
    assert driver.run(execution).state is ExecutionState.FAILED
    error = driver.step(execution).error
    assert error is not None
    return error


def test_the_verdict_and_its_counts_are_the_outputs(world: World, tmp_path: Path) -> None:
    """Goal: the real process judges the real ledger; nothing is published yet."""
    driver = _in(tmp_path, world)
    world.start()
    execution = driver.start(VERIFY)
    ended = driver.run(execution)
    assert ended.state is ExecutionState.SUCCESS, ended.failures
    outputs = driver.step(execution).outputs
    assert (outputs["verdict"], outputs["records"], outputs["lost"]) == ("proven", 0, 0)
    assert outputs["findings"] == []
    assert str(outputs["summary"]).startswith(f"{TOPIC}: proven")


def test_a_proof_that_is_not_possible_here_says_why(driver: Driver) -> None:
    driver.world.start()
    error = _error(driver, driver.start(VERIFY))
    assert (error.code, error.passes) == ("setup-problem", False)
    assert "/warehouse" in error.message
    missing = _error(driver, driver.start({"type": "verify", "supervisor": "none"}))
    assert missing.code == "supervisor-not-found"


@pytest.mark.parametrize(
    ("answer", "code", "passes"),
    [
        ({"proven": False, "summary": "1 lost", "numbers": {}}, "not-proven", False),
        (
            {"code": "StreamUnavailable", "message": "away", "passes": True},
            "stream-unavailable",
            True,
        ),
    ],
)
def test_what_the_process_answers_decides(
    world: World, answer: object, code: str, passes: bool
) -> None:
    driver = driver_of(world, _answering(answer))
    world.start()
    error = _error(driver, driver.start(VERIFY))
    assert (error.code, error.passes) == (code, passes)


def test_a_list_that_never_fits_is_judged_at_the_last_look() -> None:
    script = (
        "import json, sys; last = json.load(open(sys.argv[1]))['last'];"
        "print(json.dumps({'proven': True, 'summary': 's', 'numbers': {}} if last else"
        " {'moved': True}))"
    )
    prover = ChildProver(argv=(sys.executable, "-c", script))
    assert prover.prove(replace(REQUEST, last=False), threading.Event()) is None
    proof = prover.prove(REQUEST, threading.Event())
    assert proof is not None
    assert proof.proven


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("raise MemoryError", "more memory than it may use"),
        ("import os; os.kill(os.getpid(), 9)", "ended with code -9"),
        ("raise SystemExit(3)", "ended with code 3"),
    ],
)
def test_a_process_that_dies_is_a_failure_that_passes(script: str, words: str) -> None:
    prover = ChildProver(argv=(sys.executable, "-c", script))
    with pytest.raises(ProofFailed, match=words) as failed:
        prover.prove(REQUEST, threading.Event())
    assert failed.value.passes


def test_the_memory_of_a_proof_is_bounded() -> None:
    """Goal: a huge ledger ends its own process, and nothing else."""
    prover = ChildProver(memory_bytes=1024**2)
    with pytest.raises(ProofFailed, match="more memory"):
        prover.prove(replace(REQUEST, ledger="x" * 2**25), threading.Event())


def test_the_open_files_of_a_proof_are_bounded() -> None:
    """Goal: a proof that leaves files open ends its own process, and says which bound it was."""
    opens = (
        "import supervisor.verify.child as child;"
        "child.prove = lambda *_: [open('/dev/null') for _ in range(100)];"
        "raise SystemExit(child.main())"
    )
    prover = ChildProver(files_max=64, argv=(sys.executable, "-c", opens))
    with pytest.raises(ProofFailed, match=r"Too many open files.*EXECUTIONS_CHILD_FILES"):
        prover.prove(REQUEST, threading.Event())


def test_the_bounds_of_a_proof_are_settings(tmp_path: Path) -> None:
    settings = Settings(
        data_dir=tmp_path,
        executions_child_memory=2**30,
        executions_child_time=timedelta(hours=1),
        executions_child_files=100,
    )
    prover = prover_of(settings)
    assert (prover.memory_bytes, prover.lasts, prover.files_max) == (
        2**30,
        timedelta(hours=1),
        100,
    )
    assert prover_of(Settings(data_dir=tmp_path)) == ChildProver()


@pytest.mark.parametrize(
    ("does", "signal"), [("SIG_DFL", signals.SIGTERM), ("SIG_IGN", signals.SIGKILL)]
)
def test_a_process_that_does_not_end_by_itself_is_killed_after_its_grace(
    tmp_path: Path, does: str, signal: signals.Signals
) -> None:
    """Goal: a process may clean up; one that does not heed the signal ends all the same."""
    ready = tmp_path / "ready"
    script = (
        f"import pathlib, signal, sys; signal.signal(signal.SIGTERM, signal.{does});"
        f"pathlib.Path({str(ready)!r}).touch(); sys.stdin.read()"
    )
    children: list[psutil.Process] = []
    codes: list[int] = []
    prover = ChildProver(
        argv=(sys.executable, "-c", script),
        started=lambda pid: children.append(psutil.Process(pid)),
        ended=codes.append,
    )
    cancel, stopped = threading.Event(), threading.Event()

    def prove() -> None:
        with pytest.raises(ProofStopped):
            prover.prove(REQUEST, cancel, timedelta(milliseconds=200))
        stopped.set()

    threading.Thread(target=prove, daemon=True).start()
    wait_until(ready.exists)
    cancel.set()
    assert stopped.wait(30)
    assert codes == [-signal]
    assert not children[0].is_running()


def test_a_proof_that_takes_too_long_is_killed() -> None:
    pids: list[int] = []
    prover = ChildProver(
        lasts=timedelta(milliseconds=1), argv=(sys.executable, *NEVER), started=pids.append
    )
    with pytest.raises(ProofFailed, match="too long"):
        prover.prove(REQUEST, threading.Event())
    assert not psutil.pid_exists(pids[0])


def test_a_cancel_ends_a_proof_and_one_that_waits_for_its_turn() -> None:
    pids: list[int] = []
    prover = ChildProver(at_once=1, argv=(sys.executable, *NEVER), started=pids.append)
    cancel, ends = threading.Event(), []

    def prove() -> None:
        try:
            prover.prove(REQUEST, cancel)
        except ProofStopped:
            ends.append(True)

    threads = [threading.Thread(target=prove) for _ in range(2)]
    for each in threads:
        each.start()
    wait_until(lambda: len(pids) == 1)
    cancel.set()
    for each in threads:
        each.join(2.0)
    assert ends == [True, True]
    assert len(pids) == 1
    assert not psutil.pid_exists(pids[0])


@pytest.mark.parametrize(("grace", "heeds"), [("PT10M", True), ("PT1S", False)])
def test_a_kill_of_the_execution_kills_the_process(
    world: World, tmp_path: Path, grace: str, heeds: bool
) -> None:
    """Goal: at once, and of one that does not heed it after the `killGrace` of the flow."""
    pids: list[int] = []
    ready = tmp_path / "ready"
    ignores = "" if heeds else "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    script = f"{ignores}import pathlib, sys; pathlib.Path({str(ready)!r}).touch(); sys.stdin.read()"
    prover = ChildProver(argv=(sys.executable, "-c", script), started=pids.append)
    driver = driver_of(world, prover)
    world.start()
    execution = driver.start(VERIFY, killGrace=grace)
    runner = CallRunner(driver.engine, driver.runner, driver.verbs, look_s=0.01)
    runner.start()
    wait_until(ready.exists)
    driver.engine.work([(execution, KillIt("ann"))])
    wait_until(lambda: driver.get(execution).state.ended)
    runner.stop()
    assert driver.get(execution).state is ExecutionState.KILLED
    wait_until(lambda: not psutil.pid_exists(pids[0]))


def test_a_proof_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    """Goal: an overlord that is killed leaves no proof behind."""
    request = tmp_path / "request"
    os.mkfifo(request)  # the proof waits for it for ever
    command = [sys.executable, "-m", "supervisor.verify.child", str(request), str(2**31), "1024"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as child:
        assert child.stdin is not None
        child.stdin.close()
        ended: Callable[[], bool] = lambda: child.poll() is not None  # noqa: E731
        wait_until(ended)
        assert child.returncode == os.EX_SOFTWARE
