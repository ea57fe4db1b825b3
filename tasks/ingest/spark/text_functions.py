"""What is asked of every record's text, in SQL: Spark's own functions look at byte after byte.

    TextFunctions.java ─► a catalog of the session ─► `tidegate.is_utf8(s)` in the code of a plan

Those took a tenth of the time of a batch of JSON (docs/adr/0035).
"""

from pyspark.sql import SparkSession

from tasks.ingest.spark.java_classes import add_classes

IS_UTF8 = "tidegate.is_utf8"
"""SQL name of a function: its text is well-formed.  As `is_valid_utf8`, but true of null."""

IS_JSON_TEXT = "tidegate.is_json_text"
"""SQL name of a function: as `IS_UTF8`, and no escape (`\\\\ud83d`) is half of a surrogate pair."""

ENDS_FLAT = "tidegate.ends_flat"
"""SQL name of a function: its text's one closing brace is its last byte.  False of null."""

IS_PLAIN_LINE = "tidegate.is_plain_line"
"""SQL name of a function: its text is well-formed, begins with what is seen (a byte above 0x20),
and has neither a line feed, a carriage return nor a double quote.  False of null and of ''."""

_CATALOG = "spark.sql.catalog.tidegate"


def add_text_functions(session: SparkSession) -> None:
    """Let `session` know the functions; repeatable, safe to call from many threads.

    Raises:
        Py4JError: the JVM is gone.
    """
    if session.conf.get(_CATALOG, None) is None:
        add_classes(session, "TextFunctions.java")
        session.conf.set(_CATALOG, "tidegate.TextFunctions")
