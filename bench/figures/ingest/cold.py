"""CPU per row of a worker's first rows after its start, with its class archive and without."""

from bench.cold_run import PARTITIONS, TASKS, WITH, WITHOUT, Began, Cold
from bench.result import Result
from bench.world import World

NAME = "cold"


def run(world: World) -> Result:
    """Compare medians of the CPU time per row, the start of the worker included."""
    found = world.cold
    return Result(
        NAME,
        _whole_us(found, WITH),
        "µs/row",
        baseline=_whole_us(found, WITHOUT),
        how=(
            f"a worker starts, and {TASKS} tasks read {found.rows:,} records of "
            f"{found.record_bytes:.0f} bytes in {PARTITIONS} partitions: CPU time of Python and "
            "JVM from the start until all are in journals; baseline: the same without a class "
            "archive, taking turns, medians"
        ),
        notes=tuple(note for way in (WITH, WITHOUT) for note in _notes(way, found.ways[way])),
    )


def _whole_us(found: Cold, way: str) -> float:
    began = found.ways[way]
    return began.start_cpu_s.middle / found.rows * 1e6 + began.row_us.middle


def _notes(way: str, began: Began) -> tuple[str, ...]:
    return (
        f"{way}, until it is ready: CPU {began.start_cpu_s.told('s', 1)}",
        f"{way}, until it is ready: {began.start_s.told('s', 1)}",
        f"{way}, from POST to the first rows in a journal: {began.first_batch_s.told('s', 1)}",
        f"{way}, rows alone: {began.row_us.told('µs CPU per row', 1)}",
    )
