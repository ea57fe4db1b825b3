"""Time chunks of periods: files of a zone's days, and one file of all times."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pyarrow.parquet as pq
import pytest

from supervisor.dev.broker import Broker
from tasks.contract.ingest_spec import Granularity, IngestSpec, Metric, PeriodChunks, Truncation
from tasks.contract.messages import CompactionInput, SegmentFile
from tasks.ingest.engine import SparkEngine
from tasks.ports import MergeJob
from tests.environment.brokers import produce
from tests.tasks.ingest.batches import read_in, record, spec_for
from tests.tasks.ingest.merge.compactions import order_of

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

NewTopic = Callable[[int], str]

BERLIN = ZoneInfo("Europe/Berlin")
BERLIN_DAYS = PeriodChunks(period="P1D", time_zone="Europe/Berlin")
FIRST = datetime(2024, 3, 30, tzinfo=BERLIN)
"""The next day has 23 hours there."""


def berlin_days(bootstrap: str) -> IngestSpec:
    return spec_for(bootstrap).model_copy(update={"segment_granularity": BERLIN_DAYS})


def half_hours(number: int) -> list[str]:
    """Records, every half hour from the first day's beginning, shuffled; each third is broken."""
    start = int(FIRST.timestamp() * 1000)
    times = [start + (n * 37 % number) * 1_800_000 for n in range(number)]
    return [record(n, t) + ("}" if n % 3 == 0 else "") for n, t in enumerate(times)]


def times_in(warehouse: Path, file: SegmentFile) -> list[datetime]:
    table = pq.read_table(warehouse / file.path, columns=["__time"], partitioning=None)
    times: list[datetime] = table["__time"].to_pylist()
    return times


def merged(
    engine: SparkEngine, spec: IngestSpec, topic: str, bounds: Sequence[int], number: int = 1
) -> tuple[tuple[SegmentFile, ...], tuple[SegmentFile, ...], list[CompactionInput]]:
    entries = read_in(engine, spec, topic, bounds)
    found = engine.merge(MergeJob(f"task-{topic}", number, spec, entries))
    inputs = [CompactionInput(file=s, columns=found.columns) for s in found.segments]
    return found.segments, found.quarantine, inputs


def test_rows_and_broken_records_are_divided_by_the_days_of_a_zone(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: a day of 23 hours is a chunk like any other, in the errors table too."""
    topic = new_topic(1)
    before = datetime.now(BERLIN).date()
    produce(broker.bootstrap, topic, half_hours(144))

    rows, errors, _ = merged(engine, berlin_days(broker.bootstrap), topic, [0, 50, 100, 144])

    days = [datetime(2024, 3, 30 + n, tzinfo=BERLIN) for n in (0, 1)]
    days += [datetime(2024, 4, n, tzinfo=BERLIN) for n in (1, 2)]
    wanted = [(a.astimezone(UTC), b.astimezone(UTC)) for a, b in pairwise(days)]
    assert [(f.interval_start, f.interval_end) for f in rows[:3]] == wanted
    assert wanted[1][1] - wanted[1][0] == timedelta(hours=23)
    assert sum(file.rows for file in rows) == 96
    for file in (*rows, *errors):
        for time in times_in(tmp_path, file):
            assert file.interval_start <= time < file.interval_end
    # A broken record has the time at which it came.
    begins = {file.interval_start.astimezone(BERLIN) for file in errors}
    assert {day.hour for day in begins} == {0}
    assert before <= min(begins).date() <= datetime.now(BERLIN).date()
    assert sum(file.rows for file in errors) == 48


def test_files_of_a_day_in_a_zone_are_compacted_into_one(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: what two ranges publish for one chunk is of one interval, and stays so."""
    topic = new_topic(1)
    produce(broker.bootstrap, topic, half_hours(90))
    spec = berlin_days(broker.bootstrap)
    _, _, one = merged(engine, spec, topic, [0, 20, 45])
    _, _, two = merged(engine, spec, topic, [45, 70, 90], number=2)
    day = [some for some in (*one, *two) if some.file.interval_start == FIRST.astimezone(UTC)]

    file = engine.compact(order_of(*day))

    assert len(day) == 2
    assert (file.interval_start, file.interval_end) == (
        FIRST.astimezone(UTC),
        FIRST.astimezone(UTC) + timedelta(days=1),
    )
    times = [time for some in day for time in times_in(tmp_path, some.file)]
    assert sorted(times_in(tmp_path, file)) == sorted(times)


def test_rows_of_all_times_become_one_that_begins_with_year_1(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: queryGranularity ALL with rollup leaves a row for each kind of row."""
    topic = new_topic(1)
    start = int(FIRST.timestamp() * 1000)
    produce(broker.bootstrap, topic, [record(n % 2, start + n * 10**10) for n in range(10)])
    whole = Truncation(period="P10000Y", origin=datetime(1, 1, 1, tzinfo=UTC))
    rolled = {
        "segment_granularity": Granularity.ALL,
        "truncation": whole,
        "rollup": True,
        "metrics": (Metric(name="n", of="count"), Metric(name="last", of="last", field="t")),
    }
    spec = spec_for(broker.bootstrap).model_copy(update=rolled)

    [file], _, _ = merged(engine, spec, topic, [0, 4, 10])

    table = pq.read_table(tmp_path / file.path, partitioning=None)
    assert set(table["__time"].to_pylist()) == {datetime(1, 1, 1, tzinfo=UTC)}
    found = {(row["id"], row["n"], row["last"]) for row in table.to_pylist()}
    assert found == {(0, 5, start + 8 * 10**10), (1, 5, start + 9 * 10**10)}
    assert file.time_min == file.time_max == file.interval_start == datetime(1, 1, 1, tzinfo=UTC)


def test_rollup_divides_by_the_days_of_a_zone(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: so it does when a chunk becomes several files."""
    topic = new_topic(1)
    produce(broker.bootstrap, topic, half_hours(144))
    spec = spec_for(broker.bootstrap, segment_rows_max=20).model_copy(
        update={
            "segment_granularity": BERLIN_DAYS,
            "truncation": Truncation(period="PT1H", time_zone="Europe/Berlin"),
            "rollup": True,
            "metrics": (Metric(name="n", of="count"),),
        }
    )

    rows, _, _ = merged(engine, spec, topic, [0, 144])

    starts = [file.interval_start.astimezone(BERLIN) for file in rows]
    assert len(starts) > len(set(starts)) >= 3
    assert {start.hour for start in starts} == {0}
    for file in rows:
        for time in times_in(tmp_path, file):
            assert file.interval_start <= time < file.interval_end
    tables = [pq.read_table(tmp_path / file.path, partitioning=None) for file in rows]
    assert sum(sum(table["n"].to_pylist()) for table in tables) == 96
