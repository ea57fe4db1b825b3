"""What Spark's parser remembers stays small, however many statements a worker has to read."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest

from tasks.ingest.spark.jobs import Jobs
from tasks.spark.parser_memory import STATE_BYTES
from tasks.spark.session import LIVE_POOL, SparkRuntime

pytestmark = pytest.mark.spark

_LEAVES = ("`a`", "`b c`", "5", "'x'", "NULL", "TRUE")
_OPERATIONS = (
    "({0} + {1})",
    "if({0} IS NULL, {1}, {0})",
    "CASE WHEN {0} = {1} THEN {0} ELSE {1} END",
    "get_json_object({0}, '$.x')",
    "CAST({0} AS BIGINT)",
    "(coalesce({0}, {1}) IN ({0}, {1}))",
)


def _expression(random: Random, depth: int) -> str:
    if depth == 0:
        return random.choice(_LEAVES)
    parts = [_expression(random, random.randrange(depth)) for _ in range(2)]
    return random.choice(_OPERATIONS).format(*parts)


def _expressions() -> Iterator[str]:
    random = Random(7)
    while True:
        yield _expression(random, 4)


def _parse(spark: SparkRuntime, text: str) -> str:
    """Return the expression as Spark understands it."""
    parser = spark.session._jsparkSession.sessionState().sqlParser()
    return str(parser.parseExpression(text).toString())


def _bound(spark: SparkRuntime) -> int:
    jvm = spark.context._jvm
    assert jvm is not None
    heap: int = jvm.java.lang.Runtime.getRuntime().maxMemory()
    return heap // 8 // STATE_BYTES


def _fill(spark: SparkRuntime) -> int:
    """Parse ever new expressions until the parser has forgotten once; return the most states."""
    most = 0
    for number, text in enumerate(_expressions()):
        _parse(spark, text)
        if number % 25 == 0:
            spark.parser_memory.bound()
            states = spark.parser_memory.states()
            if states < most:
                return most
            most = states
    raise AssertionError("unreachable: the expressions have no end")


def test_it_forgets_before_its_states_fill_an_eighth_of_the_heap(spark: SparkRuntime) -> None:
    """Goal: a worker that samples and changes specs for weeks does not run out of memory."""
    assert _fill(spark) <= _bound(spark)


def test_each_run_of_a_task_bounds_it(spark: SparkRuntime) -> None:
    """Goal: nobody has to remember to call it."""
    expressions = _expressions()
    while spark.parser_memory.states() <= _bound(spark):
        _parse(spark, next(expressions))

    with Jobs(spark).run("t", LIVE_POOL):
        pass

    assert spark.parser_memory.states() == 0


def test_those_that_parse_meanwhile_read_the_same(spark: SparkRuntime) -> None:
    expressions = _expressions()
    texts = [next(expressions) for _ in range(60)]
    alone = [_parse(spark, text) for text in texts]

    with ThreadPoolExecutor(4) as threads:
        reading = [threads.submit(_parse, spark, text) for text in texts]
        while not all(each.done() for each in reading):
            spark.parser_memory.forget()

    assert [each.result() for each in reading] == alone
