"""Which process of a run takes which files of tests, so that costly parts start once or twice.

    one file                          a unit: one process runs all of it
    a file with Spark in it           goes to one of SPARKS processes, each with a JVM of its own
    the files of ON_ONE_CLUSTER       one unit: they share a cluster
    the files of IN_ONE_BROWSER       one unit: they share a browser and an overlord
    a test of APART                   a unit of its own

Files are taken in the order of the collection: see `place`.  A run that has to end by a certain
time takes long files last, every day in another order.  Once it is late, it leaves out the ones
that have not begun, and names them (docs/adr/0052).
"""

import os
import re
import time
from functools import cache
from pathlib import Path, PurePosixPath
from zlib import crc32

from xdist.scheduler.loadscope import LoadScopeScheduling
from xdist.workermanage import WorkerController

__all__ = ["Lanes", "is_left_out", "is_long", "place"]

SPARKS = 2
"""So many processes have a Spark: each has one core, and a third process tests something else."""
_WITH_SPARK = ("tasks/ingest/", "tasks/rows/", "tasks/spark/")
"""Folders whose tests with the marker `spark` share the Spark of their process."""
_LONG = (
    "tasks/ingest/generated/",
    "simulation/test_seeds.py",
    "integration/faults/test_restarts.py",
    "integration/faults/test_worker_faults.py",
    "integration/deployment/test_dev.py",
    "chaos/test_chaos.py",
)
"""What takes minutes: begun last, it would keep one process busy while the others rest."""
_APART = ("simulation/test_seeds.py",)
_ON_ONE_CLUSTER = (
    "integration/data/test_bad_input.py",
    "integration/supervisors/test_end_to_end.py",
    "integration/faults/test_kafka_as_it_is.py",
    "integration/data/test_sampler.py",
    "integration/data/test_sizes.py",
    "integration/supervisors/test_task_logs.py",
    "integration/data/test_topic_pattern.py",
)
_IN_ONE_BROWSER = ("browser/",)
_TESTS = Path(__file__).parent
_LEFT_OUT = os.environ.get("TIDEGATE_TESTS_LEAVE_OUT", "").split()
"""Markers of `scripts/run_tests.py`, if no file is named."""
_LATE_AT = float(os.environ.get("TIDEGATE_TESTS_LATE_AT", "inf"))
"""Seconds since 1970: no long file begins later."""
_DAY_S = 86_400
_LONG_TESTS = ("simulation/test_seeds.py::test_no_seed_breaks_an_invariant",)
"""Of APART, those that are long."""
_OF_THE_FILE = re.compile(r"^pytestmark = (?:\[[^\]]*\]|.*)$", re.MULTILINE)
_MARK = re.compile(r"pytest\.mark\.(\w+)")


class Lanes(LoadScopeScheduling):  # type: ignore[misc] # untyped: Any
    """Gives each process the next unit that it may take; source: pytest-xdist's `loadscope`."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::", 1)[0]
        if _is_of(file, _ON_ONE_CLUSTER):
            return "cluster"
        if _is_of(file, _IN_ONE_BROWSER):
            return "browser"
        return nodeid if _is_of(file, _APART) else file

    def _assign_work_unit(self, node: WorkerController) -> None:
        self._leave_out_if_late()
        unit = self._next(node)
        if unit is None:
            node.shutdown()  # what is left belongs to the processes with a Spark
            return
        self.workqueue.move_to_end(unit, last=False)
        super()._assign_work_unit(node)

    def _leave_out_if_late(self) -> None:
        if time.time() < _LATE_AT:
            return
        left_out = [unit for unit in self.workqueue if is_long(unit)]
        for unit in left_out:
            del self.workqueue[unit]
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if left_out and reporter is not None:
            reporter.ensure_newline()
            for unit in left_out:
                reporter.write_line(f"NOT RUN, it is late: {unit}")

    def _next(self, node: WorkerController) -> str | None:
        """Return the first unit for this process: one with Spark, if it has one already."""
        having = {
            other for other, units in self.assigned_work.items() if any(map(has_spark, units))
        }
        units: list[str] = list(self.workqueue)
        with_spark = [unit for unit in units if has_spark(unit)]
        without = [unit for unit in units if not has_spark(unit)]
        if node in having:
            units = with_spark or without
        elif len(having) == SPARKS:
            units = without
        return units[0] if units else None


def place(nodeid: str) -> tuple[int, int, int, str]:
    """Return the key to sort tests by: Spark and the longest files first, folders together.

    If the run may leave out long files, those come last, in an order of the day.
    """
    file = nodeid.split("::", 1)[0]
    return _place_of(nodeid.split("[", 1)[0] if _is_of(file, _APART) else file)


@cache
def _place_of(unit: str) -> tuple[int, int, int, str]:
    file = unit.split("::", 1)[0]
    long = next((n for n, name in enumerate(_LONG) if _is_of(file, (name,))), len(_LONG))
    last = 0
    if float("inf") > _LATE_AT and is_long(unit):
        last = 1 + crc32(f"{unit} on day {_LATE_AT // _DAY_S}".encode())
    return last, 0 if has_spark(file) else 1, long, str(PurePosixPath(file).parent)


@cache
def is_long(unit: str) -> bool:
    """Whether all tests of a unit have the marker `long`."""
    file = _TESTS.parent / unit
    if not file.is_file():
        return _is_of(unit, _LONG_TESTS)
    return "long" in _marks_of_all(file)


def _marks_of_all(file: Path) -> list[str]:
    marked = _OF_THE_FILE.search(file.read_text("utf-8"))
    return _MARK.findall(marked[0]) if marked else []


def is_left_out(file: Path) -> bool:
    """Whether a marker of the whole file leaves all its tests out of this run."""
    if not _LEFT_OUT or file.suffix != ".py" or not file.name.startswith("test_"):
        return False
    return any(mark in _LEFT_OUT for mark in _marks_of_all(file))


@cache
def has_spark(unit: str) -> bool:
    """Whether a file's tests use the Spark of their process."""
    file = _TESTS.parent / unit
    return _is_of(unit, _WITH_SPARK) and file.is_file() and "mark.spark" in file.read_text("utf-8")


def _is_of(file: str, named: tuple[str, ...]) -> bool:
    return any(file.startswith(f"tests/{name}") for name in named)
