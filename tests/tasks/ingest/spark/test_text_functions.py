"""The functions that look at eight bytes at a time say what Spark's own say of each byte."""

from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.errors import AnalysisException

from tasks.ingest.spark.text_functions import (
    ENDS_FLAT,
    IS_JSON_TEXT,
    IS_PLAIN_LINE,
    IS_UTF8,
    add_text_functions,
)
from tasks.spark.session import SparkRuntime
from tests.tasks.ingest.decoding import Row, rows_of

pytestmark = pytest.mark.spark

_SIGNS = (
    *(b"a", b"}", b"|", b"\xfd", b"\x00", "é".encode(), "€".encode(), b"\xff", b"\xed\xa0\x80"),
    *(b"\n", b"\r", b'"', b" ", b"!", b"\x1f", b"\x8a"),
    *(b"\\", b"\\u", b"\\ud83d", b"\\uDE00", b"\\ud83d\\ude00", b"\\u00e9", b"\\uzzzz"),
)
"""Some differ by one bit from what is looked for; 0xFD, 0xFF, 0x8A and 0xED... are no UTF-8."""

_BEFORE_LAST = "CAST(substring(CAST(s AS BINARY), 1, octet_length(s) - 1) AS STRING)"
_OPENS, _CLOSES = r"\\u[dD][89abAB][0-9a-fA-F]{2}", r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPED = r"replace(s, '\\\\', ' ')"  # what follows two backslashes is no escape
_HALF = rf"r'{_OPENS}(?!{_CLOSES})|(?<!{_OPENS}){_CLOSES}'"
_SLOWLY = {
    IS_JSON_TEXT: f"coalesce(is_valid_utf8(s) AND NOT {_ESCAPED} RLIKE {_HALF}, true)",
    IS_UTF8: "coalesce(is_valid_utf8(s), true)",
    IS_PLAIN_LINE: "coalesce(is_valid_utf8(s) AND s NOT RLIKE '[\\n\\r\"]'"
    " AND substring(CAST(s AS BINARY), 1, 1) > X'20', false)",
    ENDS_FLAT: f"coalesce(endswith(s, '}}') AND NOT contains({_BEFORE_LAST}, '}}'), false)",
}


def _differing_rows(spark: SparkRuntime, texts: Sequence[bytes | None]) -> list[Row]:
    """Return the texts for which one of the functions says something else than Spark's own."""
    add_text_functions(spark.session)
    frame = spark.session.createDataFrame(list(enumerate(texts)), "o LONG, v BINARY")
    frame = frame.selectExpr("o", "v", "CAST(v AS STRING) AS s").repartition(1)  # within rows
    differ = " OR ".join(f"{name}(s) <> ({slowly})" for name, slowly in _SLOWLY.items())
    return rows_of(spark, frame.where(differ).drop("s"))


@given(texts=st.lists(st.lists(st.sampled_from(_SIGNS), max_size=30).map(b"".join), min_size=200))
@settings(max_examples=5, deadline=None)
def test_they_say_what_sparks_own_say(spark: SparkRuntime, texts: list[bytes]) -> None:
    assert _differing_rows(spark, texts) == []


def test_wherever_a_sign_stands_it_is_found(spark: SparkRuntime) -> None:
    plain = [b"a" * size for size in range(34)]
    with_signs = [
        text[:at] + sign + text[at:] + end
        for text, sign, end in product(plain, _SIGNS, (b"", b"}"))
        for at in range(len(text) + 1)
    ]
    assert _differing_rows(spark, [None, *plain, *with_signs]) == []


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "interpreted"])
def test_a_plan_may_be_compiled_or_interpreted(spark: SparkRuntime, compiled: bool) -> None:
    session = spark.session.newSession()
    session.conf.set("spark.sql.codegen.wholeStage", str(compiled).lower())
    session.conf.set("spark.sql.codegen.factoryMode", "FALLBACK" if compiled else "NO_CODEGEN")
    add_text_functions(session)
    texts = [(0, "{}"), (1, "{{}}"), (2, None)]
    expressions = [f"{name}(s) AS {name.rpartition('.')[2]}" for name in _SLOWLY]
    frame = session.createDataFrame(texts, "o LONG, s STRING").repartition(1)
    rows = rows_of(spark, frame.selectExpr("o", *expressions))
    assert [(row["is_utf8"], row["is_plain_line"], row["ends_flat"]) for row in rows] == [
        (True, True, True),
        (True, True, False),
        (True, False, False),
    ]


def test_a_call_that_is_none_is_refused_with_the_functions_name(spark: SparkRuntime) -> None:
    add_text_functions(spark.session)
    with pytest.raises(AnalysisException, match="is_utf8"):
        spark.session.sql(f"SELECT {IS_UTF8}('a', 'b')")
    with pytest.raises(AnalysisException, match="is_utf9"):
        spark.session.sql("SELECT tidegate.is_utf9('a')")
