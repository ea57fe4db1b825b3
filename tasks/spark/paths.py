"""Paths in the forms that Spark and Hadoop take, for any name that a folder can have.

Hadoop's `Path(String)` takes plain text behind a scheme, not a URI: it quotes its input, so a
percent-encoded text names another folder.  Spark's reader takes the path for a pattern.
"""

from collections.abc import Iterable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

_SPECIAL = "{}[]*?\\"
"""Characters that make a path a pattern.  Source: `SparkHadoopUtil.isGlobPath` of Spark 4.0.0."""

_ESCAPED = str.maketrans({c: f"\\{c}" for c in _SPECIAL})


def hadoop_path(path: Path) -> str:
    """Return an absolute path on the local disk in Hadoop's form.

    Hadoop removes `..` textually, where everything else follows links.
    """
    return f"file://{path.resolve() if '..' in path.parts else path}"


def hadoop_pattern(path: Path) -> str:
    """Return a pattern of Hadoop and Spark that matches this absolute path alone.

    Spark's own switch `__globPaths__` does not help: without patterns, each of n such paths stands
    for all n (`DataSource.checkAndGlobPathIfNecessary` of Spark 4.0.0), so rows multiply.
    No pattern matches a folder with a colon, so settings refuse one that needs a pattern.
    """
    return hadoop_path(path).translate(_ESCAPED)


def read_parquet(
    session: SparkSession, schema: str | StructType, paths: Iterable[Path]
) -> DataFrame:
    """Return the rows of exactly these files, each file once; no name is taken for a pattern."""
    return session.read.schema(schema).parquet(*map(hadoop_pattern, paths))
