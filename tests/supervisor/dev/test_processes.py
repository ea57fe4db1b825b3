"""Children are kept running, and are gone when their parent is, however it ended."""

import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from threading import Event, Timer

import psutil
import pytest

from supervisor.dev.ports import LOOPBACK, accepts, free_port, is_free, keep
from supervisor.dev.processes import (
    Backoff,
    Child,
    ChildFailed,
    ChildSpec,
    ChildState,
    ProcessGroup,
)
from tests.waiting import wait_until

pytestmark = pytest.mark.process

AT_ONCE = Backoff(first=timedelta(milliseconds=10), longest=timedelta(milliseconds=20))
SOON = timedelta(seconds=30)
REPOSITORY = Path(__file__).parents[3]
FOREVER = ("sleep", "1000")
STUBBORN = "trap '' TERM; sleep 1000 & echo $! > {path}; wait; wait"


def spec_of(folder: Path, name: str = "child", argv: tuple[str, ...] = FOREVER) -> ChildSpec:
    return ChildSpec(name, argv, folder, grace=timedelta(seconds=10))


def shell(script: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", script)


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def looked(group: ProcessGroup) -> dict[str, ChildState]:
    group.look()
    return group.states()


def number_in(path: Path) -> int:
    wait_until(lambda: path.exists() and path.read_text().endswith("\n"))
    return int(path.read_text())


def test_a_child_that_was_killed_is_started_again(tmp_path: Path) -> None:
    notices: list[str] = []
    with ProcessGroup(backoff=AT_ONCE, notify=notices.append) as group:
        child = group.add(spec_of(tmp_path))
        group.wait_ready("child", SOON)
        first = child.pid
        assert first is not None

        os.kill(first, signal.SIGKILL)
        wait_until(lambda: looked(group)["child"] is ChildState.WAITING)
        wait_until(lambda: looked(group)["child"] is ChildState.READY)

        assert child.pid not in {None, first}
        assert number_in(tmp_path / "child.pid") == child.pid
    assert "child ended with -9; it starts again in 0.01 s" in notices


def test_the_delay_doubles_up_to_a_bound() -> None:
    backoff = Backoff(first=timedelta(seconds=0.5), longest=timedelta(seconds=30))

    delays = [backoff.delay_s(failures) for failures in range(1, 10)]

    assert delays == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    assert backoff.delay_s(10_000) == 30


def test_a_child_that_fails_again_waits_longer_until_it_was_healthy(tmp_path: Path) -> None:
    """Goal: the delays of three failures, then a long life, then one more failure."""
    notices: list[str] = []
    now = [0.0]
    with ProcessGroup(notify=notices.append, now_s=lambda: now[0]) as group:
        child = group.add(spec_of(tmp_path))

        def fail_after(life_s: float) -> None:
            assert child.pid is not None
            os.kill(child.pid, signal.SIGKILL)
            wait_until(lambda: not child.alive())
            now[0] += life_s
            group.look()  # sees the end
            assert group.states()["child"] is ChildState.WAITING
            now[0] += 10
            group.look()  # starts it again

        for life_s in (1, 1, 1, 60):
            fail_after(life_s)

    delays = [float(line.split()[-2]) for line in notices if "starts again" in line]
    assert delays == [0.5, 1, 2, 0.5]


def test_a_child_is_not_started_again_before_its_delay_is_over(tmp_path: Path) -> None:
    now = [0.0]
    with ProcessGroup(now_s=lambda: now[0]) as group:
        child = group.add(spec_of(tmp_path, argv=("false",)))
        wait_until(lambda: not child.alive())
        group.look()
        now[0] += 0.4
        group.look()

        assert group.states() == {"child": ChildState.WAITING}
        assert child.pid is None


def test_a_child_that_ends_before_it_is_ready_is_an_error_with_its_last_words(
    tmp_path: Path,
) -> None:
    argv = shell("echo no such warehouse; exit 3")
    spec = ChildSpec("worker", argv, tmp_path, ready=lambda: False)
    with ProcessGroup() as group:
        group.add(spec)
        with pytest.raises(ChildFailed, match="no such warehouse") as raised:
            group.wait_ready("worker", SOON)

    assert "worker ended with 3" in str(raised.value)


def test_a_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    spec = ChildSpec("worker", ("tidegate-none",), tmp_path, ready=lambda: False)
    with ProcessGroup() as group:
        group.add(spec)
        with pytest.raises(ChildFailed, match="tidegate-none: No such file"):
            group.wait_ready("worker", SOON)


def test_a_child_that_becomes_ready_in_the_last_look_is_ready(tmp_path: Path) -> None:
    """Goal: nobody reads that it is ready, and then that it was not."""
    answers = threading.Event()

    def slow() -> bool:
        return not answers.wait(0.1)  # longer than the time to be ready in

    with ProcessGroup() as group:
        group.add(ChildSpec("worker", FOREVER, tmp_path, ready=slow))
        group.wait_ready("worker", timedelta(milliseconds=50))
        assert group.states() == {"worker": ChildState.READY}


def test_a_child_that_is_not_ready_in_time_is_an_error(tmp_path: Path) -> None:
    spec = ChildSpec("worker", FOREVER, tmp_path, ready=lambda: False)
    with ProcessGroup() as group:
        child = group.add(spec)
        with pytest.raises(ChildFailed, match="was not ready within"):
            group.wait_ready("worker", timedelta(milliseconds=50))
        pid = child.pid
    assert pid is not None
    assert gone(pid)


def test_stop_ends_the_last_first_and_lets_each_finish(tmp_path: Path) -> None:
    ends = tmp_path / "ends"
    notices: list[str] = []
    group = ProcessGroup(notify=notices.append)
    for name in ("broker", "overlord", "worker"):
        up = tmp_path / f"{name}.up"
        script = (
            f"trap 'echo {name} >> {ends}; exit 0' TERM; touch {up}; while :; do sleep 0.05; done"
        )
        group.add(spec_of(tmp_path, name, shell(script)))
        wait_until(up.exists)

    group.stop()

    assert ends.read_text().split() == ["worker", "overlord", "broker"]
    assert set(group.states().values()) == {ChildState.STOPPED}
    assert not list(tmp_path.glob("*.pid"))


def test_stop_leaves_nothing_of_a_child_that_does_not_listen(tmp_path: Path) -> None:
    script = shell(STUBBORN.format(path=tmp_path / "grandchild"))
    child = Child(ChildSpec("child", script, tmp_path, grace=timedelta(milliseconds=200)))
    child.start()
    pid, grandchild = child.pid, number_in(tmp_path / "grandchild")
    assert pid is not None

    child.stop()

    assert gone(pid)
    wait_until(lambda: gone(grandchild))
    assert child.exit_code() == -signal.SIGKILL


def test_what_a_crashed_child_left_running_is_ended(tmp_path: Path) -> None:
    child = Child(spec_of(tmp_path, argv=shell(STUBBORN.format(path=tmp_path / "grandchild"))))
    child.start()
    grandchild = number_in(tmp_path / "grandchild")
    assert child.pid is not None

    os.kill(child.pid, signal.SIGKILL)

    wait_until(lambda: not child.alive())
    wait_until(lambda: gone(grandchild))


def test_a_stopped_group_starts_nothing_again(tmp_path: Path) -> None:
    group = ProcessGroup(backoff=AT_ONCE)
    child = group.add(spec_of(tmp_path))
    group.stop()

    group.look()

    assert child.pid is None


def test_watch_returns_when_it_is_told_to(tmp_path: Path) -> None:
    until = Event()
    with ProcessGroup() as group:
        child = group.add(spec_of(tmp_path))
        timer = Timer(0.2, until.set)
        timer.start()
        group.watch(until)
        timer.join()

        assert group.states() == {"child": ChildState.READY}
        assert child.alive()


def test_the_log_has_the_output_of_all_starts_and_the_environment_is_added_to(
    tmp_path: Path,
) -> None:
    argv = shell('echo "$TIDE $HOME_OF_TEST"')
    spec = ChildSpec("child", argv, tmp_path, env={"TIDE": "high"}, cwd=tmp_path)
    child = Child(spec)
    for _ in range(2):
        child.start()
        wait_until(lambda: not child.alive())
        child.forget()

    assert child.log.read_text().split() == ["high", "high"]


def test_a_child_dies_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    """Goal: nothing is left after `kill -9` of the parent, which can run no handler."""
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)], cwd=REPOSITORY)
    child = number_in(tmp_path / "child.pid")
    name = (tmp_path / "up").exists
    wait_until(name)
    assert not gone(child)

    parent.kill()
    parent.wait(30)

    wait_until(lambda: gone(child))


PARENT = """
import sys
from pathlib import Path
from threading import Event
from supervisor.dev.processes import Child, ChildSpec

folder = Path(sys.argv[1])
argv = ("/bin/sh", "-c", f"trap '' TERM HUP; touch {folder}/up; exec sleep 1000")
Child(ChildSpec("child", argv, folder)).start()
Event().wait()
"""


def test_a_free_port_is_free_and_not_one_that_the_system_gives_away() -> None:
    first = free_port()
    second = free_port()

    assert is_free(first)
    assert first != second
    assert first < 32_768


def test_a_free_port_is_kept_for_servers_until_the_process_ends() -> None:
    port = free_port()

    def others_get_it() -> bool:
        with socket.socket() as other, suppress(OSError):
            other.bind((LOOPBACK, port))
            return True
        return False

    assert not others_get_it()
    for _ in range(2):  # a server, and the one after it
        with socket.create_server((LOOPBACK, port)):
            assert accepts(port)
            assert not is_free(port)
        assert not others_get_it()
        assert not keep(port)
        assert is_free(port)


def test_a_port_kept_by_a_process_is_free_when_it_has_ended() -> None:
    program = "from supervisor.dev.ports import free_port; print(free_port())"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert keep(int(ended.stdout))
