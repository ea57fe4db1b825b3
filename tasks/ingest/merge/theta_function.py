"""The aggregate function that makes theta sketches; Spark 4.0 ships only the library for them.

    ThetaSketch.java ─► one function per size, which the session's catalogue knows by its name

Spark ships all that this needs: a compiler (`java_classes`), and Apache DataSketches.
"""

from threading import Lock

from pyspark.sql import SparkSession

from tasks.ingest.spark.java_classes import add_classes

_LOCK = Lock()


def theta_function(session: SparkSession, precision: int) -> str:
    """Return the name of an aggregate from texts to a sketch of `2**precision` hashes.

    The result is a compact, ordered theta sketch of Apache DataSketches with the default seed;
    it is empty if there are no texts.  Safe to call from many threads.

    Raises:
        Py4JError: the JVM is gone.
    """
    name = f"tidegate_theta_{precision}"
    with _LOCK:
        if not session.catalog.functionExists(name):
            _register(session, name, precision)
    return name


def _register(session: SparkSession, name: str, precision: int) -> None:
    add_classes(session, "ThetaSketch.java")
    jvm = session.sparkContext._jvm  # noqa: SLF001 -- there is no public way to Java's classes
    assert jvm is not None
    sql = jvm.org.apache.spark.sql
    function = sql.functions.udaf(jvm.tidegate.ThetaSketch(precision), sql.Encoders.STRING())
    session._jsparkSession.udf().register(name, function)  # noqa: SLF001 -- as above
