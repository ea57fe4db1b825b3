"""The engine against the bare job of each shape of records and tables, taking turns."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from bench import bare
from bench.batch_runs import BARE, ENGINE, BatchBench, Timed
from bench.records import Filled
from bench.shapes import Document, Shape
from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.spec import ingest_spec
from supervisor.dev.sample import sample_spec
from tasks.contract.ingest_spec import IngestSpec


@dataclass(frozen=True)
class Shaped:
    """One shape, read and written several times by both."""

    rows: int
    record_bytes: float
    engine: Timed
    bare: Timed


def measure_shape(
    bench: BatchBench, shape: Shape, filled: Filled, rows: int, repeats: int
) -> Shaped:
    """Take turns over the first `rows` records, every second round in reverse order."""
    spec = spec_of(bench.bootstrap, filled.topic, shape)

    def with_engine(number: int) -> None:
        bench.read_by(spec, filled, number)

    def with_spark(number: int) -> None:
        records = bare.read(bench.runtime.session, bench.bootstrap, filled, number)
        shape.decoded(records).write.parquet(bench.new_folder().as_uri())

    ways: dict[str, Callable[[int], None]] = {ENGINE: with_engine, BARE: with_spark}
    for work in ways.values():  # what the JVM has not compiled yet would be the first one's loss
        work(rows // 5)
        bench.clean()
    found = bench.in_turns({way: partial(work, rows) for way, work in ways.items()}, repeats)
    return Shaped(rows, filled.size_bytes / filled.rows, found[ENGINE], found[BARE])


def spec_of(bootstrap: str, topic: str, shape: Shape) -> IngestSpec:
    """Return what a task is told that reads a topic in this shape."""
    document: Document = sample_spec(bootstrap, topic)
    spec = document["spec"]
    assert isinstance(spec, dict)
    schema, io_config = spec["dataSchema"], spec["ioConfig"]
    assert isinstance(schema, dict)
    assert isinstance(io_config, dict)
    whole = {
        **document,
        "spec": {
            **spec,
            "dataSchema": {**schema, **shape.schema},
            "ioConfig": {**io_config, "inputFormat": shape.input_format},
        },
    }
    return ingest_spec(read_spec(whole).spec)
