"""Folders and files as Spark and Hadoop take them: any name that a folder can have.

Hadoop's `Path(String)` is no URI but plain text behind a scheme: it quotes what it gets, so that a
percent-encoded text names another folder.  Spark's reader takes it for a pattern.
"""

from collections.abc import Iterable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

_SPECIAL = "{}[]*?\\"
"""What makes a path a pattern to Spark.  Source: `SparkHadoopUtil.isGlobPath` of Spark 4.0.0."""

_ESCAPED = str.maketrans({c: f"\\{c}" for c in _SPECIAL})


def hadoop_path(path: Path) -> str:
    """Return an absolute path as Hadoop takes one that is on this machine's disk.

    Hadoop leaves `..` out by the text alone, where everything else goes through links.
    """
    return f"file://{path.resolve() if '..' in path.parts else path}"


def hadoop_pattern(path: Path) -> str:
    """Return a pattern, as Hadoop and Spark take one, that this absolute path alone matches.

    Spark's own switch `__globPaths__` is of no use: without patterns, each of n such paths stands
    for all n (`DataSource.checkAndGlobPathIfNecessary` of Spark 4.0.0), so that rows multiply.
    No pattern matches a folder with a colon: settings refuse one that needs a pattern.
    """
    return hadoop_path(path).translate(_ESCAPED)


def read_parquet(
    session: SparkSession, schema: str | StructType, paths: Iterable[Path]
) -> DataFrame:
    """Return the rows of these very files, each once: no name is a pattern."""
    return session.read.schema(schema).parquet(*map(hadoop_pattern, paths))
