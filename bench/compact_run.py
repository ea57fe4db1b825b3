"""Twenty files of one time chunk rewritten as one, against a bare Spark job over the same files."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.batch_runs import BARE, ENGINE, BatchBench, Timed
from bench.records import Filled
from tasks.contract.messages import CompactionInput, DesiredCompaction
from tasks.ports import MergeResult

FILES = 20


@dataclass(frozen=True)
class Compacted:
    """The same rewrite by both, several times."""

    rows: int
    files: int
    engine: Timed
    bare: Timed


def measure_compaction(bench: BatchBench, filled: Filled, repeats: int) -> Compacted:
    """Take turns over the same files, every second round in reverse order."""
    published = bench.batches(filled, FILES, filled.rows)
    kept = tuple(path for path in bench.folder.iterdir())
    ways = {
        ENGINE: partial(_with_engine, bench, published),
        BARE: partial(_with_spark, bench, published),
    }
    for work in ways.values():  # what is not compiled yet would be the first one's loss
        bench.timed(work, keep=kept)
    found = bench.in_turns(ways, repeats, keep=kept)
    bench.clean()
    return Compacted(
        rows=sum(file.rows for each in published for file in each.segments),
        files=sum(len(each.segments) for each in published),
        engine=found[ENGINE],
        bare=found[BARE],
    )


def _with_engine(bench: BatchBench, published: list[MergeResult]) -> None:
    bench.compact(
        DesiredCompaction(
            compaction_id=f"compact-{bench.new_folder().name}",
            token="none",  # noqa: S106 -- nobody is asked
            data_source="compacted",
            inputs=tuple(
                CompactionInput(file=file, columns=each.columns)
                for each in published
                for file in each.segments
            ),
            columns=published[0].columns,
        )
    )


def _with_spark(bench: BatchBench, published: list[MergeResult]) -> None:
    paths = [str(Path(bench.folder, f.path)) for each in published for f in each.segments]
    rows = bench.runtime.session.read.parquet(*paths).coalesce(1)
    columns = (column.name for column in published[0].columns[:3])
    ordered = rows.sortWithinPartitions("__time", *columns)
    ordered.write.parquet(bench.new_folder().as_uri())
