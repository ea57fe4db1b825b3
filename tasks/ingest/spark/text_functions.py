"""SQL functions on every record's text: fast questions about its bytes, and bounded patterns.

    TextFunctions.java ─► a catalog of the session ─► `tidegate.is_utf8(s)` in the code of a plan
    Patterns.java ──────► another one ──────────────► `patterns.has_match(s, '...')`

Spark's own functions look at each byte, which took a tenth of the time of a batch of JSON
(docs/adr/0035), and its patterns may take an unbounded time (docs/adr/0042).
"""

from pyspark.sql import SparkSession

from tasks.ingest.spark.java_classes import add_classes

IS_UTF8 = "tidegate.is_utf8"
"""SQL function: the text is well-formed.  Like `is_valid_utf8`, but true of null."""

IS_JSON_TEXT = "tidegate.is_json_text"
"""SQL function: like `IS_UTF8`, and no escape (`\\\\ud83d`) is half of a surrogate pair."""

ENDS_FLAT = "tidegate.ends_flat"
"""SQL function: the last byte is the only closing brace.  False of null."""

IS_PLAIN_LINE = "tidegate.is_plain_line"
"""SQL function: the text is well-formed, begins with a visible character (a byte above 0x20), and
has neither a line feed, a carriage return nor a double quote.  False of null and of ''."""

_CATALOG = "spark.sql.catalog.tidegate"
_PATTERNS = "spark.sql.catalog.patterns"
"""The functions that `tasks/rows/sql/matching.py` calls."""


def add_text_functions(session: SparkSession) -> None:
    """Register the functions in `session`; repeatable, safe to call from many threads.

    Raises:
        Py4JError: the JVM is gone.
    """
    if session.conf.get(_CATALOG, None) is None:
        add_classes(session, "TextFunctions.java")
        add_classes(session, "Patterns.java")
        session.conf.set(_PATTERNS, "tidegate.Patterns")
        session.conf.set(_CATALOG, "tidegate.TextFunctions")
