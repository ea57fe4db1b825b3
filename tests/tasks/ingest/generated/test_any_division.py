"""Random specs over random records: the table is the same however its topic is divided.

Goal: what becomes of a record does not depend on where batches and ranges end, nor on who reads
them; and it is what the page of the spec says, as far as `row_model` says it.

Slow: each example is a topic that is read twice, in some ten batches of Spark.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from supervisor.dev.broker import Broker
from tasks.ingest import engine
from tasks.ingest.merge import sizes
from tasks.spark.session import SparkRuntime
from tests.tasks.ingest.decode.test_arrays import DECLARED, DISCOVERED, LISTS
from tests.tasks.ingest.decode.test_decode import VALUES
from tests.tasks.ingest.generated.divided import Read, estimates, in_sets, read
from tests.tasks.ingest.generated.draws.records import Case, Range, cases, send
from tests.tasks.ingest.generated.draws.specs import Written, specs
from tests.tasks.ingest.generated.draws.times import chunk_of
from tests.tasks.ingest.generated.row_model import Expected, Line, Row, expected, rolled_up
from tests.tasks.ingest.generated.value_model import fits, grown, listed, sort_of
from tests.tasks.ingest.generated.value_model import read as read_value

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.long]

EXAMPLES = int(os.environ.get("TIDEGATE_TEST_EXAMPLES", "4"))
"""By hand 500, drawn anew each time; without the variable always the same."""
SEED = None if "TIDEGATE_TEST_EXAMPLES" in os.environ else 4

FORMATS: dict[str, tuple[int, list[Written]]] = {
    "json": (4, ["json"]),
    "lines": (1, ["csv", "tsv", "regex"]),
    "avro": (1, ["avro"]),
    "protobuf": (1, ["protobuf"]),
}
"""How many of seven examples have which formats: types grow most often where JSON has them."""
FEWEST = 2
"""The first one is the simplest that there is."""

FEW = 10

THROWN_AWAY = {"null-value", "filtered", "before-minimum-time", "after-maximum-time"}
"""Reasons of records that are not bad."""

_numbers = count(1)


@pytest.mark.parametrize("formats", FORMATS)
def test_no_division_of_a_topic_changes_its_table(
    broker: Broker,
    spark: SparkRuntime,
    tmp_path_factory: pytest.TempPathFactory,
    formats: str,
) -> None:
    share, written = FORMATS[formats]

    @seed(SEED)
    @settings(
        max_examples=max(EXAMPLES * share // 7 + 1, FEWEST),
        deadline=None,
        print_blob=True,
        database=None,
        phases=[Phase.generate],  # to shrink one takes many jobs of Spark: the blob shows it again
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases(specs(written)))
    def check(case: Case) -> None:
        read_in_both_ways(broker, spark, tmp_path_factory.mktemp("division"), case)

    check()


def read_in_both_ways(broker: Broker, spark: SparkRuntime, folder: Path, case: Case) -> None:
    """Read a topic in one go and in parts: both tables are as the model says."""
    topic = f"divided-{next(_numbers)}"
    send(broker.bootstrap, topic, case)
    spec = case.spec.spec(broker.bootstrap, topic)
    wanted = expected(case, topic)

    in_one = (Range((case.ends,), restarted=True),)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(engine, "_PEEK_ROWS", case.peek)
        whole = read(spark, folder / "whole", spec, topic, in_one)
    with pytest.MonkeyPatch.context() as patched:
        for module in (engine, sizes):
            patched.setattr(module, "PART_ROWS_MIN", case.part_rows)
        if case.part_rows < FEW:
            patched.setattr(engine, "may_stay", lambda *_: False)
        parts = read(spark, folder / "parts", spec, topic, case.division)

    assert differences(case, wanted, whole, in_one) == []
    assert differences(case, wanted, parts, case.division) == []
    assert whole.digest == parts.digest is not None, "replicas that agree would alarm people"
    for metric in (metric for metric in case.spec.metrics if metric.is_sketch):
        counts = different(wanted.rows, metric.name)
        query = partial(in_sets if metric.of == "theta" else estimates, sketch=metric.name)
        assert query(spark, whole) == query(spark, parts) == counts


def differences(
    case: Case, wanted: Expected, reading: Read, division: Sequence[Range]
) -> list[tuple[object, ...]]:
    """Return what is not as the model says: what it is about, what was found, what was wanted."""
    bad = {place: why for place, why in wanted.rejects.items() if why not in THROWN_AWAY}
    kept = Counter((p, o, why, case.partitions[p][o].value) for (p, o), why in bad.items())
    types = {name: kind for name, kind in reading.columns.items() if case.spec.is_typed(name)}
    misfits = sum(row.misfit for row in wanted.rows)
    counted = Counter(
        {
            "rows": len(wanted.rows) - misfits,
            "misfits": misfits,
            "unparseable": len(bad),
            "thrown away": len(wanted.rejects) - len(bad),
        }
    )
    whole: list[tuple[object, ...]] = [
        ("rejects", reading.rejects, wanted.rejects),
        ("quarantine", reading.kept, kept),
        ("types", types, wanted.types),
        ("counters", reading.counted, counted),
    ]
    for number, (lines, (begin, end)) in enumerate(
        zip(reading.lines, bounds(division), strict=True)
    ):
        rows = [r for r in wanted.rows if begin[r.partition] <= r.offset < end[r.partition]]
        plain = Counter(line_of(row) for row in rows)
        lines_wanted = rolled_up(rows, case.spec.metrics) if case.spec.rollup else plain
        whole.append((f"rows of range {number}", *apart(lines, lines_wanted)))
    chunks = {row.time: chunk_of(row.time, case.spec.segment) for row in wanted.rows}
    if None not in chunks.values():
        whole.append(("chunks", reading.chunks, chunks))
    whole.append(("a query", *apart(reading.queried, sum(reading.lines, Counter[Line]()))))
    return [one for one in whole if one[1] != one[2]]


def different(rows: Iterable[Row], metric: str) -> dict[datetime, int]:
    """Return per time how many different values there are; a sketch of so few is exact."""
    values_at: dict[datetime, set[str]] = {}
    for row in rows:
        values_at.setdefault(row.time, set()).update(row.counted[metric])
    return {time: len(values) for time, values in values_at.items()}


def line_of(row: Row) -> Line:
    own = {"__time": row.time, "__partition": row.partition, "__offset": row.offset}
    return frozenset((own | dict(row.cells) | dict(row.measures)).items())


def apart(found: Counter[Line], wanted: Counter[Line]) -> tuple[list[str], list[str]]:
    """Return the lines that only the one has, and those that only the other has."""
    one, other = exact(found), exact(wanted)
    return sorted((one - other).elements()), sorted((other - one).elements())


def exact(lines: Counter[Line]) -> Counter[str]:
    """Return lines as texts: 1 and 1.0 are two values, the same moment is one in any zone."""
    return Counter(
        str(sorted((name, _exact_text(value)) for name, value in line)) for line in lines.elements()
    )


def _exact_text(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, tuple):
        return str([_exact_text(one) for one in value])
    return repr(value + 0.0 if isinstance(value, float) else value)  # -0.0 is 0.0


def bounds(
    division: Sequence[Range],
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    ends = [part.ends[-1] for part in division]
    return list(zip([tuple(0 for _ in ends[0]), *ends], ends, strict=False))


def test_the_model_reads_values_as_the_tests_of_decoding_say() -> None:
    """Goal: it is no second opinion of its own."""
    for kind, raw, wanted in VALUES:
        assert (kind, raw, read_value(json.loads(raw), kind)) == (kind, raw, wanted)


def test_the_model_reads_lists_as_the_tests_of_arrays_say() -> None:
    for text, wanted, lost in DECLARED:
        value = json.loads(text)
        for kind, array in zip(LISTS, wanted, strict=True):
            cell = listed(value, kind)
            assert (text, kind, None if cell is None else [*cell]) == (text, kind, array)
            assert (text, kind, fits(value, cell)) == (text, kind, kind not in lost)
    for text, (column, as_json) in DISCOVERED.items():
        value = json.loads(text)
        assert (text, grown(value, "json")) == (text, as_json)
        assert value is None or (text, sort_of(value)) == (text, column)
