"""The loop is stopped: a running pass ends, and no other one begins."""

import threading
from collections.abc import Callable

from supervisor.control.loop import Loop
from tests.supervisor.control.test_loop import LoopRig, running
from tests.waiting import wait_until


def test_stopping_lets_the_running_pass_end_and_starts_no_other() -> None:
    """Goal: no pass writes after the process gave its lease back."""
    with running(threads=1) as rig:
        rig.passes.gates["a"] = threading.Event()
        rig.loop.wake("a")
        wait_until(lambda: rig.passes.count("a") == 1)
        rig.loop.wake("a")
        rig.loop.wake("b")
        stopping = threading.Thread(target=rig.loop.stop)
        stopping.start()
        wait_until(_refuses(rig.loop))
        rig.passes.gates["a"].set()
        stopping.join(30)

        assert not stopping.is_alive()
        assert rig.passes.idle("a")
        assert (rig.passes.count("a"), rig.passes.count("b")) == (1, 0)


def _refuses(loop: Loop) -> Callable[[], bool]:
    return lambda: loop._stopping


def test_a_loop_that_never_started_can_be_stopped() -> None:
    """Goal: a start that fails half way ends in its own error, not in the loop's."""
    rig = LoopRig()

    rig.loop.stop()
    rig.loop.stop()

    rig.loop.wake("late")
    assert rig.passes.count("late") == 0
