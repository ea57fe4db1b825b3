"""The start of an executor: what passes is waited for, whatever it is."""

from supervisor.core.executions.entities import Runner
from supervisor.executions.executor.service import Executor, ExecutorParts
from tests.waiting import wait_until


class _Part:
    """A part of an executor: it notes what is called."""

    runner = Runner("one", "1")

    def __init__(self) -> None:
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> object:
        def called(*_: object) -> None:
            self.calls.append(name)

        return called


def test_an_error_that_nobody_foresaw_is_tried_again_and_ends_no_thread() -> None:
    """Goal: a process that can never begin must not look as if it would."""
    part, looks = _Part(), list[int]()

    def prepare() -> None:
        looks.append(1)
        if len(looks) == 1:
            raise RuntimeError("nobody foresaw it")

    same = (part,) * 9
    executor = Executor(ExecutorParts(prepare, *same))  # type: ignore[arg-type]  # one part stands for all

    executor.start()

    wait_until(lambda: "start" in part.calls and len(looks) == 2)
    wait_until(lambda: part.calls.count("start") == 4)
    executor.stop()
    assert executor.refused == ""
