"""Folders of any name: what a worker writes below one is what it writes below a plain one.

Hadoop takes plain text where Java's other libraries take a URI; Spark's reads take a pattern.

Slow: each engine of Spark writes below three folders, and what it wrote is compared.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from supervisor.dev.broker import Broker
from tasks.contract.ingest_spec import Granularity, IngestSpec
from tasks.contract.messages import SegmentFile
from tasks.ingest.engine import SparkEngine
from tasks.ingest.merge.append import append
from tasks.ingest.warm import warm_up
from tasks.ports import MergeJob, MergeResult
from tasks.runtime.jars import FORMATS, SPARK
from tasks.spark.paths import hadoop_path
from tasks.spark.session import SparkRuntime
from tests.environment.brokers import produce, shared_jars
from tests.tasks.ingest.batches import paths_below, read_in, record, spec_for
from tests.tasks.ingest.merge.compactions import (
    HOUR,
    bag,
    order_of,
    published,
    raw_order_of,
    raw_published,
    rows_in,
)
from tests.tasks.ingest.merge.test_compaction import COLUMNS, clicks
from tests.tasks.ingest.merge.test_rollup import rolled, send

pytestmark = pytest.mark.long

PLAIN = "plain"
ODD = "_ware house é+@=%41%20 [a]{b,c} 日本 e\u0301 #1;~!$(x)^&|<>'\"`*?\\n,\U0001f30a "
"""Whatever a name may have but a colon, and what no line of text has."""
COLON = "a: b\u3000\xa0"
"""Hadoop takes it, but not as part of a pattern."""
_HOUR_MS = 3_600_000
_NOON_MS = int(HOUR[0].timestamp() * 1000)

NewTopic = Callable[[int], str]


@pytest.fixture(autouse=True)
def nothing_beside(tmp_path: Path) -> Iterator[None]:
    """After each test, only the folders that were named are there."""
    yield
    assert {path.name for path in tmp_path.iterdir()} <= {PLAIN, ODD, COLON}


@pytest.fixture
def engines(spark: SparkRuntime, tmp_path: Path) -> dict[Path, SparkEngine]:
    """Warehouses and their engines."""
    return {
        tmp_path / name: SparkEngine(spark, str(tmp_path / name), lambda secret: f"no {secret}")
        for name in (PLAIN, ODD, COLON)
    }


def alike(files_by_folder: dict[Path, list[SegmentFile]]) -> list[SegmentFile]:
    """Make sure that all warehouses hold the same files with the same rows; return them."""
    (plain, there), *others = files_by_folder.items()
    for odd, here in others:
        assert [file.path for file in here] == [file.path for file in there] != []
        assert bag(rows_in(odd, *here)) == bag(rows_in(plain, *there))
        assert named_below(odd) == named_below(plain)
    return there


def named_below(warehouse: Path) -> set[str]:
    """Which files there are, but for those that Spark gives random names."""
    return {path for path in paths_below(warehouse) if "part-" not in path}


def merged(engine: SparkEngine, spec: IngestSpec, topic: str, bounds: list[int]) -> MergeResult:
    entries = read_in(engine, spec, topic, bounds)
    return engine.merge(MergeJob(f"task-{topic}", 1, spec, entries))


@pytest.mark.spark
@pytest.mark.kafka
def test_batches_are_read_quarantined_and_merged(
    broker: Broker, engines: dict[Path, SparkEngine], new_topic: NewTopic
) -> None:
    topic = new_topic(1)
    good = [record(n, _NOON_MS + n % 3 * _HOUR_MS) for n in range(60)]
    produce(broker.bootstrap, topic, [*good[:20], "no json", "{", *good[20:], "no json"])
    spec = spec_for(broker.bootstrap, granularity=Granularity.HOUR)

    results = {
        folder: merged(engine, spec, topic, [0, 21, 40, 63]) for folder, engine in engines.items()
    }

    segments = alike({folder: list(result.segments) for folder, result in results.items()})
    assert sum(file.rows for file in segments) == 60
    errors = alike({folder: list(result.quarantine) for folder, result in results.items()})
    assert sum(file.rows for file in errors) == 3


@pytest.mark.spark
@pytest.mark.kafka
def test_rows_are_rolled_up_also_into_several_files_of_a_chunk(
    broker: Broker, engines: dict[Path, SparkEngine], new_topic: NewTopic
) -> None:
    topic = new_topic(2)
    send(broker.bootstrap, topic, 200)
    spec = rolled(broker.bootstrap, segment_rows_max=20)

    files_by_folder = {
        folder: list(merged(engine, spec, topic, [0, 40, 100]).segments)
        for folder, engine in engines.items()
    }

    assert len(alike(files_by_folder)) > 3


@pytest.mark.spark
def test_published_files_are_compacted(engines: dict[Path, SparkEngine]) -> None:
    files_by_folder = {}
    for folder, engine in engines.items():
        inputs = [published(folder, n, clicks(n, 5 + n), COLUMNS) for n in range(3)]
        files_by_folder[folder] = [engine.compact(order_of(*inputs))]

    [file] = alike(files_by_folder)
    assert file.rows == 6


@pytest.mark.spark
def test_raw_records_are_compacted(engines: dict[Path, SparkEngine]) -> None:
    files_by_folder = {}
    for folder, engine in engines.items():
        files = [raw_published(folder, n, [(0, n), (1, 5 + n)]) for n in range(3)]
        files_by_folder[folder] = [engine.compact(raw_order_of(*files))]

    [file] = alike(files_by_folder)
    assert file.rows == 6


@pytest.mark.spark
def test_row_groups_are_put_together(spark: SparkRuntime, tmp_path: Path) -> None:
    for folder in (tmp_path / ODD, tmp_path / COLON):
        folder.mkdir()
        parts = [folder / f"{n}.parquet" for n in range(2)]
        for n, part in enumerate(parts):
            pq.write_table(pa.table({"a": pa.array([n, n + 10], pa.int64())}), part)

        append(spark.session, parts, folder / "whole.parquet")

        assert pq.read_table(folder / "whole.parquet")["a"].to_pylist() == [0, 10, 1, 11]
        assert len(list(folder.iterdir())) == 3


@pytest.mark.spark
def test_a_worker_warms_up(spark: SparkRuntime, tmp_path: Path) -> None:
    (tmp_path / ODD).mkdir()

    warm_up(spark.session, tmp_path / ODD / "warm")

    assert list((tmp_path / ODD).iterdir()) == []


def test_a_path_through_a_link_and_back_is_where_the_system_says(tmp_path: Path) -> None:
    """Goal: Hadoop would leave `link/..` out, and write beside the link."""
    (tmp_path / PLAIN / "deep").mkdir(parents=True)
    link = tmp_path / ODD
    link.symlink_to(tmp_path / PLAIN / "deep")

    assert hadoop_path(link / ".." / "x") == f"file://{tmp_path / PLAIN / 'x'}"
    assert hadoop_path(link / "x") == f"file://{link / 'x'}"


_WORKER = """
import sys
from pathlib import Path
from tasks.ingest.warm import warm_up
from tasks.runtime.java import find_java
from tasks.spark.session import LIVE_POOL, SparkOptions, start_spark

work, truststore, *jars = map(Path, sys.argv[1:])
java = find_java("bundled", truststore)
runtime = start_spark(SparkOptions(java, jars, work, master="local[1]", heap="600m"))
try:
    jvm, context = runtime.context._jvm, runtime.context._jsc.sc()
    spark = jvm.org.apache.spark.util.Utils
    print(jvm.com.github.luben.zstd.util.Native.isLoaded())
    print(context.getPoolForName(LIVE_POOL).get().weight())
    print(Path(spark.getLocalDir(context.conf())).parent == work / "local")
    print(spark.classForName("org.apache.spark.sql.avro.AvroFileFormat", True, False).getName())
    reader = runtime.session.read.format("kafka").option("subscribe", "a")
    print(reader.option("kafka.bootstrap.servers", "localhost:1").load().columns)
    warm_up(runtime.session, work / "warm")
    print(*sorted(path.name for path in work.iterdir()))
finally:
    runtime.stop()
"""
"""It prints what became of libraries, pools, scratch space and jars, and which files are there."""

_PRINTED = """\
True
8
True
org.apache.spark.sql.avro.AvroFileFormat
['key', 'value', 'topic', 'partition', 'offset', 'timestamp', 'timestampType']
artifacts local pools.xml spark.log spark.properties tidegate-log4j2.properties
"""


@pytest.mark.spark
@pytest.mark.parametrize("locale", [{}, {"LC_ALL": "C"}], ids=["of the user", "C"])
def test_a_workers_spark_starts_in_a_data_folder_of_any_name(
    tmp_path: Path, locale: dict[str, str]
) -> None:
    """Goal: `tidegate dev` runs wherever a user has made a folder, in whatever locale."""
    data, jars = tmp_path / ODD, tmp_path / PLAIN / ODD
    jars.mkdir(parents=True)
    for jar in shared_jars(SPARK) + shared_jars(FORMATS):
        (jars / jar.name).symlink_to(jar)

    done = subprocess.run(
        [sys.executable, "-c", _WORKER, data / "spark", data / "truststore", *jars.iterdir()],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[4])} | locale,
    )

    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == _PRINTED
