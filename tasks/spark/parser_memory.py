"""Memory bound of Spark's SQL parser, whose cache only grows.

Each new shape of a statement adds states to a cache that all parsers of the JVM share.  Known
specs add none.  Samples, changed specs and long expressions add some for as long as the worker
lives: a thousand random expressions, five deep, made 69,000 states.  Source: Spark's SPARK-47404.
"""

from threading import Lock

from py4j.java_gateway import JavaGateway, JavaObject

from tasks.spark.janino import compiled

STATE_BYTES = 6 * 1024
"""Size of one state with all that it refers to, from a heap dump of 84,000 states."""

_SHARE = 8


class ParserMemory:
    """The shared cache of all SQL parsers of one JVM; safe to use from many threads."""

    def __init__(self, gateway: JavaGateway) -> None:
        self._gateway = gateway
        self._lock = Lock()
        self._in_jvm: JavaObject | None = None

    def states(self) -> int:
        """Return the number of cached states.

        Raises:
            Py4JError: the JVM is gone.
        """
        states: int = self._there().states()
        return states

    def bound(self) -> None:
        """Clear the cache if it takes more than an eighth of the heap.

        Later statements fill the cache anew; statements that are being parsed are not disturbed.

        Raises:
            Py4JError: the JVM is gone.
        """
        memory = self._there()
        if memory.states() > memory.heap() // _SHARE // STATE_BYTES:
            memory.forget()

    def forget(self) -> None:
        """Clear the cache.

        Raises:
            Py4JError: the JVM is gone.
        """
        self._there().forget()

    def _there(self) -> JavaObject:
        with self._lock:
            if self._in_jvm is None:
                self._in_jvm = self._compiled()
            return self._in_jvm

    def _compiled(self) -> JavaObject:
        loader = compiled(self._gateway.jvm, "tasks.spark", "ParserMemory.java").getClassLoader()
        instance: JavaObject = loader.loadClass("tidegate.ParserMemory").newInstance()
        return instance
