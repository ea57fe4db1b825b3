"""Patterns of users in Spark: they mean what Spark's own mean, and each of them ends.

Source: fault G11.

Slow: each pattern is a plan of Spark, and evil ones count to their bound.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame

from tasks.contract.filters import Like, Regex
from tasks.contract.ingest_spec import RowSpec, TimestampSpec
from tasks.contract.messages import FailureCode
from tasks.ingest.sample import SparkSampler
from tasks.ingest.spark.failures import judge
from tasks.ingest.spark.jobs import Jobs
from tasks.ingest.spark.text_functions import add_text_functions
from tasks.kafka.schema_registry import RegistryClient
from tasks.ports import TaskError
from tasks.rows.sql.matching import (
    canonical_like,
    group_sql,
    like_sql,
    replace_sql,
    search_sql,
    split_sql,
)
from tasks.rows.sql.text import text
from tasks.spark.session import LIVE_POOL, SAMPLING_POOL, SparkRuntime
from tests.tasks.ingest.decoding import NOON, Row, decoded, rows_of
from tests.tasks.orders import sample
from tests.tasks.rows.sql.like_model import is_like
from tests.tasks.rows.sql.test_matching import ESCAPES, SIGNS
from tests.waiting import wait_until

pytestmark = pytest.mark.spark

TEXTS = (
    *("", "a", "ab", "abc", "abcabc", "a,b,,", ",", "k=v", "x\ny", "x\r\ny\n", "\n", "é", "€uro"),
    *("😀", "a😀b", "😀😀", "%", "_", "\\", "5%", "a_b", "$1", "192.168.1.1", "aaaaaaaaab", None),
)
LIKES = (
    *("", "%", "%%", "_", "__", "a%", "%b", "%b%", "a%b", "a_b", "_%_", "%a%b%", "a%b%c", "%_b"),
    *("x%y", "x_y", "%\n%", "😀", "_b%", "%😀%", "%é", "%%a%%b%%", "a%_%b", "\\", "5%", "%_"),
)
EXPRESSIONS = (
    *("", "a", "^a", "b$", "^$", "a|b", "(a)(b)?", "(?<k>\\w)=(\\w)", "[^,]*", ",", "\\n", "."),
    *("(?s)x.y", "(?m)^y$", "\\p{L}+", "(?i)ABC", "(.)\\1", "a(?=b)", "(?<=a)b", "a++b", "\\bb\\b"),
    *("\\R", "\\h", "x*", "\\d+(?:\\.\\d+){3}", "😀", "[a-c&&[^b]]", "\\Q$1\\E", "$", "\\z"),
)
SLOW = "a*a*a*a*a*a*b"
"""It tries each way to divide the letters: of 1,000 of them there are 8 * 10^12."""


@pytest.fixture(autouse=True)
def _functions(spark: SparkRuntime) -> None:
    add_text_functions(spark.session)


def _frame(spark: SparkRuntime, texts: Sequence[str | None] = TEXTS) -> DataFrame:
    return spark.session.createDataFrame(list(enumerate(texts)), "o LONG, s STRING").repartition(1)


def _column(rows: Sequence[Row], name: str) -> list[object]:
    return [row[name] for row in rows]


_CASES = st.tuples(
    st.text(SIGNS, max_size=10), st.text(SIGNS + "%%__", max_size=10), st.sampled_from(ESCAPES)
)


@given(cases=st.lists(_CASES, min_size=500, max_size=500))
@settings(max_examples=4, deadline=None)
def test_like_is_what_the_model_says(
    spark: SparkRuntime, cases: list[tuple[str, str, str | None]]
) -> None:
    held = [(n, whole, canonical_like(like, esc)) for n, (whole, like, esc) in enumerate(cases)]
    frame = spark.session.createDataFrame(held, "o LONG, s STRING, p STRING").repartition(1)

    rows = rows_of(spark, frame.selectExpr("o", "patterns.is_like(s, p) AS answer"))

    wrong = [
        case
        for case, answer in zip(cases, _column(rows, "answer"), strict=True)
        if answer is not is_like(*case)
    ]
    assert wrong == []


def test_each_form_of_like_is_what_the_model_says(spark: SparkRuntime) -> None:
    columns = [f"{like_sql('s', like, None)} AS c{n}" for n, like in enumerate(LIKES)]

    rows = rows_of(spark, _frame(spark).selectExpr("o", *columns))

    for number, like in enumerate(LIKES):
        expected = [None if whole is None else is_like(whole, like, None) for whole in TEXTS]
        assert _column(rows, f"c{number}") == expected, like


def test_expressions_say_what_sparks_own_say(spark: SparkRuntime) -> None:
    columns: list[str] = []
    for number, written in enumerate(EXPRESSIONS):
        p, matches = text(written), f"s RLIKE {text(written)}"
        replacement = "[$0]"
        pairs = {
            "found": (search_sql("s", written), matches),
            "group": (
                group_sql("s", written, 0),
                f"CASE WHEN {matches} THEN regexp_extract(s, {p}, 0) END",
            ),
            "replaced": (
                replace_sql("s", written, replacement),
                f"regexp_replace(s, {p}, {text(replacement)})",
            ),
            "split": (split_sql("s", written), f"split(s, {p}, -1)"),
        }
        for name, (ours, sparks) in pairs.items():
            columns += [f"{ours} AS {name}{number}", f"{sparks} AS own_{name}{number}"]

    rows = rows_of(spark, _frame(spark).selectExpr("o", *columns))

    for number, written in enumerate(EXPRESSIONS):
        for name in ("found", "group", "replaced", "split"):
            answers, own = (_column(rows, f"{who}{name}{number}") for who in ("", "own_"))
            assert answers == own, (name, written)


def test_a_group_without_a_part_in_the_match_is_empty(spark: SparkRuntime) -> None:
    sql = group_sql("s", "(a)(b)?", 2)
    rows = rows_of(spark, _frame(spark, ["a", "ab", "c", None]).selectExpr("o", f"{sql} AS x"))
    assert _column(rows, "x") == ["", "b", None, None]


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "interpreted"])
def test_a_plan_may_be_compiled_or_interpreted(spark: SparkRuntime, compiled: bool) -> None:
    session = spark.session.newSession()
    session.conf.set("spark.sql.codegen.wholeStage", str(compiled).lower())
    session.conf.set("spark.sql.codegen.factoryMode", "FALLBACK" if compiled else "NO_CODEGEN")
    add_text_functions(session)
    texts = [(0, "k=v"), (1, None)]
    frame = session.createDataFrame(texts, "o LONG, s STRING").repartition(1)
    columns = {
        "like": like_sql("s", "k%_", None),
        "search": search_sql("s", "="),
        "part": group_sql("s", "=(.)", 1),
        "other": replace_sql("s", "=", ":"),
        "parts": split_sql("s", "="),
        "each": f"exists(array(s, 'k'), x_ -> {like_sql('x_', 'k%v', None)})",
    }
    rows = rows_of(spark, frame.selectExpr("o", *(f"{sql} AS {n}" for n, sql in columns.items())))
    assert [tuple(row[name] for name in columns) for row in rows] == [
        (True, True, "v", "k:v", ["k", "v"], True),
        (None, None, None, None, None, None),
    ]


def test_a_call_that_is_none_is_refused_with_the_functions_name(spark: SparkRuntime) -> None:
    with pytest.raises(AnalysisException, match="has_match"):
        spark.session.sql("SELECT patterns.has_match('a')")
    with pytest.raises(AnalysisException, match="has_mutch"):
        spark.session.sql("SELECT patterns.has_mutch('a', 'b')")


@pytest.mark.parametrize("pattern", ["%a" * 10 + "%b", "%_a" * 10 + "_b", "%a%" * 40 + "c%"])
def test_a_like_of_many_signs_ends(spark: SparkRuntime, pattern: str) -> None:
    """Goal: with each `%` the time of Java's matcher grows by the length of the text."""
    longest = "a" * 100_000
    spec = RowSpec(
        timestamp=TimestampSpec(column="none", missing_value=NOON),
        filter=Like(dimension="a", pattern=pattern),
    )
    whole = f'{{"a":"{longest}"}}'.encode()

    [row] = decoded(spark, spec, [whole], [])

    assert row.reason == "filtered"


def test_an_expression_that_takes_too_many_steps_fails_the_task_with_advice(
    spark: SparkRuntime,
) -> None:
    spec = RowSpec(
        timestamp=TimestampSpec(column="none", missing_value=NOON),
        filter=Regex(dimension="a", pattern=SLOW),
    )
    whole = f'{{"a":"{"a" * 1_000}"}}'.encode()

    with pytest.raises((PySparkException, Py4JError)) as caught:
        decoded(spark, spec, [whole], [])

    error = judge(caught.value, "batch b7-1", Path("/data"))
    assert isinstance(error, TaskError)
    assert error.code is FailureCode.REFUSED
    assert "took more than 200 million steps" in str(error)
    assert "put no loop into a loop" in str(error)


@pytest.mark.parametrize(
    "sql",
    [
        search_sql("s", SLOW),
        group_sql("s", SLOW, 0),
        replace_sql("s", SLOW, ""),
        split_sql("s", SLOW),
    ],
)
def test_every_use_of_an_expression_ends(spark: SparkRuntime, sql: str) -> None:
    frame = _frame(spark, ["a" * 1_000]).selectExpr("o", f"{sql} AS x")
    with pytest.raises((PySparkException, Py4JError), match="TIDEGATE_PATTERN_STEPS"):
        rows_of(spark, frame)


def _long_frame(spark: SparkRuntime) -> DataFrame:
    """Return one text that is too long to be matched soon."""
    one = spark.session.range(20_000_000, 20_000_001, 1, 1)
    return one.selectExpr("repeat('a', CAST(id AS INT)) AS s")


def _begin(spark: SparkRuntime, jobs: Jobs, name: str) -> None:
    frame = _long_frame(spark).selectExpr(search_sql("s", SLOW))
    with jobs.run(name, LIVE_POOL):
        frame.write.format("noop").mode("overwrite").save()


def _works(jobs: Jobs, name: str) -> bool:
    moved = jobs.progress(name)
    return isinstance(moved, tuple) and any(isinstance(m, tuple) and m[1] for m in moved)


def test_a_cancel_ends_the_thread_in_the_middle_of_an_expression(spark: SparkRuntime) -> None:
    jobs = Jobs(spark)
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(_begin, spark, jobs, "task-1")
        wait_until(lambda: _works(jobs, "task-1"))
        jobs.cancel("task-1")
        with pytest.raises((PySparkException, Py4JError), match="cancel"):
            ended.result()
    wait_until(lambda: not jobs.unended())


def test_a_cancel_refuses_no_run_of_jobs_that_begin_later(spark: SparkRuntime) -> None:
    """Goal: Spark remembers a cancelled group as long as the application lives."""
    earlier, later = Jobs(spark), Jobs(spark)
    with earlier.run("task-1", LIVE_POOL):
        earlier.cancel("task-1")

    with later.run("task-1", LIVE_POOL):
        assert spark.session.range(3).count() == 3


def test_a_thread_that_works_on_after_its_run_is_named(spark: SparkRuntime) -> None:
    jobs, context = Jobs(spark), spark.context
    frame = _long_frame(spark).selectExpr(search_sql("s", SLOW))

    def work(group: str) -> None:
        context.setJobGroup(group, "sample-1", interruptOnCancel=True)
        frame.write.format("noop").mode("overwrite").save()

    with ThreadPoolExecutor(1) as pool:
        with suppress(ValueError), jobs.run("sample-1", SAMPLING_POOL) as run:
            ended = pool.submit(work, run.group)
            wait_until(lambda: _works(jobs, "sample-1"))
            raise ValueError("over")

        assert jobs.unended().keys() == {"sample-1"}
        assert jobs.unended(LIVE_POOL) == {}
        context.cancelJobGroup(run.group)
        with pytest.raises((PySparkException, Py4JError), match="cancel"):
            ended.result()
    wait_until(lambda: not jobs.unended())


class _Held(Jobs):
    """Jobs of which one sample never ends."""

    def unended(self, pool: str | None = None) -> dict[str, float]:
        return {"sample-1": 90.0} if pool == SAMPLING_POOL else {}


def test_a_sample_is_refused_while_threads_of_earlier_ones_are_lost(spark: SparkRuntime) -> None:
    """Goal: a worker of one core has no thread to lose, and the answer names the other sample."""
    sampler = SparkSampler(spark, _Held(spark), lambda _: "", RegistryClient(lambda _: ""))
    assert sampler.at_once == 1

    with pytest.raises(TaskError, match="sample sample-1 was cancelled 90 s ago"):
        sampler.sample(sample("s-2"))
