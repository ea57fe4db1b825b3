"""What a thread holds at a moment: locks of the product, transactions, a job of the engine."""

import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType, ModuleType, TracebackType
from typing import Any

import pytest

__all__ = ["Burdens"]

_OURS = ("supervisor.", "tasks.")


class Burdens:
    """Notes what threads take and give back; for objects that begin after `watch_locks`."""

    def __init__(self) -> None:
        self._held: dict[int, list[str]] = defaultdict(list)
        self.calls: list[tuple[str, str, list[str]]] = []
        """Call, name of its thread, what that held."""

    def take(self, what: str) -> None:
        """Note that this thread holds something."""
        self._held[threading.get_ident()].append(what)

    def give_back(self, what: str) -> None:
        """Note that this thread holds it no more."""
        self._held[threading.get_ident()].remove(what)

    @contextmanager
    def held(self, what: str) -> Iterator[None]:
        """Hold something for a while."""
        self.take(what)
        try:
            yield
        finally:
            self.give_back(what)

    def note(self, call: str) -> None:
        """Note a call that nobody may make who holds anything."""
        held = [*self._held[threading.get_ident()]]
        self.calls.append((call, threading.current_thread().name, held))

    def burdened(self) -> list[tuple[str, str, list[str]]]:
        """Return the calls by threads that held something."""
        return [each for each in self.calls if each[2]]

    def before(self, patch: pytest.MonkeyPatch, owner: type, name: str) -> None:
        """Note each call of a method."""
        whole = getattr(owner, name)

        def noted(*args: object, **named: object) -> object:
            self.note(f"{owner.__name__}.{name}")
            return whole(*args, **named)

        patch.setattr(owner, name, noted)

    def during(self, patch: pytest.MonkeyPatch, owner: type, *names: str) -> None:
        """Count what runs within methods as held: they return, or are blocks of `with`."""
        for name in names:
            patch.setattr(owner, name, self._counted(f"{owner.__name__}.{name}", owner, name))

    def watch_locks(self, patch: pytest.MonkeyPatch) -> None:
        """Let each lock that the product makes from now on be noted while it is held."""
        named: dict[str, Callable[[], object]] = {
            "Lock": lambda: self._lock(threading.Lock()),
            "RLock": lambda: self._lock(threading.RLock()),
            "Condition": lambda: _NotedCondition(self, _maker()),
        }
        own = ModuleType("threading")
        vars(own).update(vars(threading), **named)
        originals = {getattr(threading, name): make for name, make in named.items()}
        for module_name, module in [*sys.modules.items()]:
            if not module_name.startswith(_OURS):
                continue
            for attribute, value in [*vars(module).items()]:
                if value is threading:
                    patch.setattr(module, attribute, own)
                elif isinstance(value, type(threading.Lock) | type) and value in originals:
                    patch.setattr(module, attribute, originals[value])

    def _lock(self, lock: Any) -> "_NotedLock":  # noqa: ANN401 -- one of two kinds without a name
        return _NotedLock(self, lock, _maker())

    def _counted(self, what: str, owner: type, name: str) -> Callable[..., object]:
        whole = getattr(owner, name)

        def counted(*args: object, **named: object) -> object:
            with self.held(what):
                given = whole(*args, **named)
            return self._within(what, given) if hasattr(given, "__exit__") else given

        return counted

    @contextmanager
    def _within(self, what: str, block: AbstractContextManager[object]) -> Iterator[object]:
        with block as value, self.held(what):
            yield value


class _NotedLock:
    """A lock that says when it is held."""

    def __init__(self, burdens: Burdens, lock: Any, what: str) -> None:  # noqa: ANN401
        self._burdens, self._lock, self._what = burdens, lock, what

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        taken = bool(self._lock.acquire(blocking, timeout))
        if taken:
            self._burdens.take(self._what)
        return taken

    def release(self) -> None:
        self._burdens.give_back(self._what)
        self._lock.release()

    def locked(self) -> bool:
        return bool(self._lock.locked())

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


class _NotedCondition(threading.Condition):
    """A condition that says when it is held; who waits for it calls nothing meanwhile."""

    def __init__(self, burdens: Burdens, what: str) -> None:
        super().__init__()
        self._burdens, self._what = burdens, what

    def __enter__(self) -> bool:
        entered = super().__enter__()
        self._burdens.take(self._what)
        return entered

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._burdens.give_back(self._what)
        super().__exit__(kind, error, trace)


def _maker() -> str:
    """Return the module of the product that makes a lock now."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        if name.startswith(_OURS):
            return f"a lock of {name}"
        frame = frame.f_back
    return "a lock"
