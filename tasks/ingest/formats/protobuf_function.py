"""The Spark function that decodes Protobuf: our own Java source, compiled in Spark's JVM.

    Messages ─► one function per set of files and message, known to the session by its digest

Spark ships all that this needs: a compiler (`java_classes`), and Protobuf's runtime.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock
from weakref import WeakKeyDictionary

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from tasks.ingest.spark.java_classes import add_classes
from tasks.rows.schemas.protobuf import Messages, ProtobufSchemaError

KEPT_MAX = 500
"""Most functions of one session; the least recently used one is dropped."""
_TEXT_MAX = 300


@dataclass
class _Known:
    """The functions of one JVM; both end with the JVM."""

    names: OrderedDict[str, None] = field(default_factory=OrderedDict)
    lock: Lock = field(default_factory=Lock)


_OF_SESSIONS: WeakKeyDictionary[SparkSession, _Known] = WeakKeyDictionary()
_LOCK = Lock()


def protobuf_function(session: SparkSession, messages: Messages) -> str:
    """Return the name of the function from a record's bytes to JSON text, or null.

    The function is created at the first request, once in the life of a JVM.  Safe to call from
    many threads.

    Raises:
        ProtobufSchemaError: Java's library refuses a schema that Python's library took.
    """
    with _LOCK:
        known = _OF_SESSIONS.setdefault(session, _Known())
    key = sha256(messages.files).hexdigest()
    name = f"protobuf_{sha256(f'{key} {messages.message}'.encode()).hexdigest()[:32]}"
    with known.lock:
        if name in known.names:
            known.names.move_to_end(name)
            return name
        add_classes(session, "ProtobufJson.java")
        _register(session, name, key, messages)
        known.names[name] = None
        if len(known.names) > KEPT_MAX:
            _forget(session, known.names.popitem(last=False)[0])
    return name


def _register(session: SparkSession, name: str, key: str, messages: Messages) -> None:
    jvm = session.sparkContext._jvm  # noqa: SLF001 -- there is no public way to Java's classes
    assert jvm is not None
    text = jvm.org.apache.spark.sql.types.DataTypes.StringType
    try:
        function = jvm.tidegate.ProtobufJson(key, messages.files, messages.message)
    except Py4JJavaError as error:
        reason = str(error.java_exception.getMessage())[:_TEXT_MAX]
        raise ProtobufSchemaError(f"Spark's library does not take it: {reason}") from error
    session._jsparkSession.udf().register(name, function, text)  # noqa: SLF001 -- as above


def _forget(session: SparkSession, name: str) -> None:
    catalog = session._jsparkSession.sessionState().catalog()  # noqa: SLF001 -- as above
    catalog.dropTempFunction(name, True)
