"""Dead letters in files, a file a day: the day is the partition, the position in it the offset."""

import base64
import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from supervisor.ports.reports.dead_letters import DeadLetter
from supervisor.ports.reports.kept_letters import KeptLetter, LetterExtent, LetterPlace
from supervisor.ports.store_problems import StoreAway

__all__ = ["KeptLetterFiles"]


class KeptLetterFiles:
    """Implements `ports.reports.kept_letters.KeptLetters` over what `DeadLetterFiles` writes."""

    def __init__(self, folder: Path, instance: str) -> None:
        """Read below `folder`, which need not exist; `instance`: the persister whose it is."""
        self._folder = folder
        self._instance = instance
        self._counted: dict[tuple[Path, int], int] = {}
        """File and size -> letters; one that has grown is counted anew."""

    @property
    def source(self) -> str:
        """The persister, since each has files of its own."""
        return f"files of {self._instance}"

    def newest(
        self, before: LetterPlace | None, partition: int | None, limit: int
    ) -> Sequence[KeptLetter]:
        """Return letters, the newest first; see the port."""
        letters: list[KeptLetter] = []
        for day, path in self._days():
            if partition not in {None, day} or (before and day > before.partition):
                continue
            end = before.offset if before and day == before.partition else None
            last: deque[tuple[int, bytes]] = deque(maxlen=limit - len(letters))
            last.extend(self._lines(path, end))
            letters += (_kept(LetterPlace(day, each), line) for each, line in reversed(last))
            if len(letters) >= limit:
                break
        return letters

    def get(self, place: LetterPlace) -> KeptLetter | None:
        """Return one letter; see the port."""
        path = dict(self._days()).get(place.partition)
        if path is None:
            return None
        for offset, line in self._lines(path, place.offset + 1):
            if offset == place.offset:
                return _kept(place, line)
        return None

    def extents(self) -> Sequence[LetterExtent]:
        """Return what each day has; see the port."""
        extents = []
        counted: dict[tuple[Path, int], int] = {}
        for day, path in self._days():
            key = (path, _size(path))
            number = self._counted.get(key)
            if number is None:
                number = sum(1 for _ in self._lines(path, None))
            counted[key] = number
            extents.append(LetterExtent(day, 0, number))
        self._counted = counted
        return extents

    def _days(self) -> Sequence[tuple[int, Path]]:
        """Return day -> file, the newest first."""
        paths = [each for each in self._folder.glob("*.jsonl") if _day(each) is not None]
        return [(_day(each) or 0, each) for each in sorted(paths, reverse=True)]

    def _lines(self, path: Path, end: int | None) -> Iterator[tuple[int, bytes]]:
        """Yield the position of each whole letter before `end`, and its line."""
        offset = 0
        try:
            with path.open("rb") as file:
                for line in file:
                    if end is not None and offset >= end:
                        return
                    if line.endswith(b"}\n") and line.startswith(b"{"):  # a crash leaves halves
                        yield offset, line
                    offset += len(line)
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreAway(f"dead letters cannot be read: {error}") from error


def _day(path: Path) -> int | None:
    digits = path.stem.replace("-", "")
    return int(digits) if len(digits) == len("20260131") and digits.isdigit() else None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1


def _kept(place: LetterPlace, line: bytes) -> KeptLetter:
    value: Mapping[str, object] = json.loads(line)
    key = value.get("key")
    return KeptLetter(
        place,
        datetime.fromisoformat(str(value["at"])),
        DeadLetter(
            key=None if key is None else base64.b64decode(str(key)),
            body=base64.b64decode(str(value["body"])),
            topic=str(value["topic"]),
            partition=int(str(value["partition"])),
            offset=int(str(value["offset"])),
            reason=str(value["reason"]),
        ),
    )
