"""Spark's SQL parser never forgets: its memory is bounded here.

Each new shape of a statement adds states to a cache that all parsers of the JVM share.  Known
specs add none; but samples, changed specs and long expressions do, for the weeks that a worker
lives: a thousand random expressions, five deep, made 69,000 states.  Source: Spark's SPARK-47404.
"""

from threading import Lock

from py4j.java_gateway import JavaGateway, JavaObject

from tasks.spark.janino import compiled

STATE_BYTES = 6 * 1024
"""What one state holds, as a heap dump of 84,000 of them told, with all that hangs on it."""

_SHARE = 8


class ParserMemory:
    """The memory of all SQL parsers of one JVM; safe to use from many threads."""

    def __init__(self, gateway: JavaGateway) -> None:
        """Compile nothing yet."""
        self._gateway = gateway
        self._lock = Lock()
        self._in_jvm: JavaObject | None = None

    def states(self) -> int:
        """Return how many states are remembered.

        Raises:
            Py4JError: the JVM is gone.
        """
        states: int = self._there().states()
        return states

    def bound(self) -> None:
        """Forget all, if that is more than an eighth of the heap.

        Statements that are read after that are learned again; those who parse meanwhile go on.

        Raises:
            Py4JError: the JVM is gone.
        """
        memory = self._there()
        if memory.states() > memory.heap() // _SHARE // STATE_BYTES:
            memory.forget()

    def forget(self) -> None:
        """Forget all.

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
