"""The function that Spark reads Protobuf by: a Java source of ours, compiled in Spark's own JVM.

    ProtobufJson.java ─ Janino ─► classes ─► a jar below the JVM's scratch folder ─► its class path
    Messages ─► one function per set of files and message, known to the session by its digest

What Spark ships holds all of it: a compiler, which compiles its plans, and Protobuf's runtime.
"""

import zipfile
from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from threading import Lock
from weakref import WeakKeyDictionary

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from tasks.janino import compiled
from tasks.protobuf_schema import Messages, ProtobufSchemaError

KEPT_MAX = 500
"""Functions of one session; the one that was used least lately goes."""
_TEXT_MAX = 300


@dataclass
class _Known:
    """What one JVM knows: its session dies with it, and so does this."""

    names: OrderedDict[str, None] = field(default_factory=OrderedDict)
    lock: Lock = field(default_factory=Lock)
    compiled: bool = False


_OF_SESSIONS: WeakKeyDictionary[SparkSession, _Known] = WeakKeyDictionary()
_LOCK = Lock()


def protobuf_function(session: SparkSession, messages: Messages) -> str:
    """Return the name of the function from a record's bytes to JSON text, or null.

    Made when it is first asked for, once in the life of a JVM.  Safe to call from many threads.

    Raises:
        ProtobufSchemaError: Java's library does not take what Python's has taken.
    """
    with _LOCK:
        known = _OF_SESSIONS.setdefault(session, _Known())
    key = sha256(messages.files).hexdigest()
    name = f"protobuf_{sha256(f'{key} {messages.message}'.encode()).hexdigest()[:32]}"
    with known.lock:
        if name in known.names:
            known.names.move_to_end(name)
            return name
        if not known.compiled:
            _compile(session)
            known.compiled = True
        _register(session, name, key, messages)
        known.names[name] = None
        if len(known.names) > KEPT_MAX:
            _forget(session, known.names.popitem(last=False)[0])
    return name


def _compile(session: SparkSession) -> None:
    context = session.sparkContext
    jvm = context._jvm  # noqa: SLF001 -- there is no public way to Java's classes
    assert jvm is not None
    compiler = compiled(jvm, "tasks.ingest", "ProtobufJson.java")
    spark = jvm.org.apache.spark.util.Utils
    local = spark.getLocalDir(context._jsc.sc().conf())  # noqa: SLF001 -- as above
    scratch = spark.createTempDir(local, "protobuf")  # goes with the JVM
    jar = Path(str(scratch.getAbsolutePath())) / "tidegate-protobuf.jar"
    with zipfile.ZipFile(jar, "w") as held:
        for name, code in dict(compiler.getBytecodes()).items():
            held.writestr(f"{name.replace('.', '/')}.class", bytes(code))
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    loader.addURL(jvm.java.io.File(str(jar)).toURI().toURL())
    context._jsc.addJar(str(jar))  # noqa: SLF001 -- for executors in JVMs of their own


def _register(session: SparkSession, name: str, key: str, messages: Messages) -> None:
    jvm = session.sparkContext._jvm  # noqa: SLF001 -- as above
    assert jvm is not None
    text = jvm.org.apache.spark.sql.types.DataTypes.StringType
    try:
        function = jvm.tidegate.ProtobufJson(key, messages.files, messages.message)
    except Py4JJavaError as error:
        told = str(error.java_exception.getMessage())[:_TEXT_MAX]
        raise ProtobufSchemaError(f"Spark's library does not take it: {told}") from error
    session._jsparkSession.udf().register(name, function, text)  # noqa: SLF001 -- as above


def _forget(session: SparkSession, name: str) -> None:
    catalog = session._jsparkSession.sessionState().catalog()  # noqa: SLF001 -- as above
    catalog.dropTempFunction(name, True)
