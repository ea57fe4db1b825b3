"""A bounded cache of a process: the newest values stay."""

from collections import OrderedDict
from typing import Generic, TypeVar

REMEMBERED_MAX = 10_000

_Value = TypeVar("_Value")


class Remembered(Generic[_Value]):
    """The newest 10,000 values; guarded by the owner's lock."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, ...], _Value] = OrderedDict()

    def get(self, key: tuple[str, ...]) -> _Value | None:
        """Return the value of a key."""
        return self._kept.get(key)

    def put(self, key: tuple[str, ...], value: _Value) -> None:
        """Keep a value as the newest; beyond the bound the oldest goes."""
        self._kept[key] = value
        self._kept.move_to_end(key)
        if len(self._kept) > REMEMBERED_MAX:
            self._kept.popitem(last=False)

    def drop(self, key: tuple[str, ...]) -> None:
        """Forget the value of a key, if there is one."""
        self._kept.pop(key, None)
