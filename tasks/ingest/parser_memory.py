"""Spark's SQL parser never forgets: its memory is bounded here.

Each new shape of a statement adds states to a cache that all parsers of the JVM share.  Known
specs add none; but samples, changed specs and long expressions do, for the weeks that a worker
lives: a few hundred different specs fill half a gigabyte.  Source: Spark's SPARK-47404.
"""

from importlib.resources import files
from threading import Lock
from weakref import WeakKeyDictionary

from py4j.java_gateway import JavaObject
from pyspark import SparkContext

_SOURCE = "ParserMemory.java"
STATE_BYTES = 6 * 1024
"""What one state holds, as a heap dump of 84,000 of them told, with all that hangs on it."""
_SHARE = 8

_OF_CONTEXTS: WeakKeyDictionary[SparkContext, JavaObject] = WeakKeyDictionary()
_LOCK = Lock()


def bound_parser_memory(context: SparkContext) -> int:
    """Make the parser forget all if that is more than an eighth of the heap; return its states.

    Cheap unless it forgets; statements read after that are learned again.  Safe to call from
    many threads, while others parse.

    Raises:
        Py4JError: the JVM is gone.
    """
    with _LOCK:
        memory = _OF_CONTEXTS.get(context)
        if memory is None:
            memory = _OF_CONTEXTS[context] = _compiled(context)
        if memory.states() > memory.heap() // _SHARE // STATE_BYTES:
            memory.forget()
        states: int = memory.states()
    return states


def _compiled(context: SparkContext) -> JavaObject:
    jvm = context._jvm  # noqa: SLF001 -- there is no public way to Java's classes
    assert jvm is not None
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook((files("tasks.ingest") / "java" / _SOURCE).read_text())
    made: JavaObject = compiler.getClassLoader().loadClass("tidegate.ParserMemory").newInstance()
    return made
