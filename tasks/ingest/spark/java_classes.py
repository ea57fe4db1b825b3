"""Our own Java classes on the class path of Spark's JVMs, compiled there.

    source ─ Janino ─► classes ─► a jar below the JVM's scratch folder ─► driver and executors

Spark ships the compiler Janino, which also compiles its plans.
"""

import zipfile
from pathlib import Path
from threading import Lock
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession

from tasks.spark.janino import compiled

_LOCK = Lock()
_ADDED: WeakKeyDictionary[SparkSession, set[str]] = WeakKeyDictionary()


def add_classes(session: SparkSession, source: str) -> None:
    """Compile `java/<source>` unless this session has it; safe to call from many threads.

    Raises:
        Py4JError: the JVM is gone.
    """
    with _LOCK:
        added = _ADDED.setdefault(session, set())
        if source not in added:
            _add(session, source)
            added.add(source)


def _add(session: SparkSession, source: str) -> None:
    context = session.sparkContext
    jvm = context._jvm  # noqa: SLF001 -- there is no public way to Java's classes
    assert jvm is not None
    compiler = compiled(jvm, "tasks.ingest", source)
    spark = jvm.org.apache.spark.util.Utils
    local = spark.getLocalDir(context._jsc.sc().conf())  # noqa: SLF001 -- as above
    scratch = spark.createTempDir(local, "classes")  # deleted with the JVM
    jar = Path(str(scratch.getAbsolutePath())) / f"tidegate-{Path(source).stem}.jar"
    with zipfile.ZipFile(jar, "w") as held:
        for name, code in dict(compiler.getBytecodes()).items():
            held.writestr(f"{name.replace('.', '/')}.class", bytes(code))
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    loader.addURL(jvm.java.io.File(str(jar)).toURI().toURL())
    context._jsc.addJar(jar.as_uri())  # noqa: SLF001 -- for executors in JVMs of their own
