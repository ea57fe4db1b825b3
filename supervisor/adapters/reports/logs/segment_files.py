"""Segment files: compressed pieces of many logs, appended to one file per persister and hour.

    <folder>/<date>/<persister>-<n>.seg     frame │ frame │ frame │ garbage of a crash, if any

    frame       head │ directory │ packed
    head        magic, codec, pieces, bytes of the directory, bytes unpacked, bytes packed, CRC
    directory   of each piece: bytes of its id, its id, its bytes unpacked
    packed      the pieces one behind the other, compressed together

Small pieces share a frame, since text of a few kilobytes compresses badly by itself.  Nothing in a
file says where its frames are: an index elsewhere does.  So bytes behind the last indexed frame
mean nothing, and nobody looks at them.

A file has one writer, which created it.  After any error, and after a restart, the writer goes on
in a new file: what a failed write or fsync left behind is never written over.
"""

import os
import re
import struct
import threading
import zlib
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from supervisor.ports.clock import Clock
from tasks.contract.ids import is_safe_name

__all__ = ["Disk", "Frame", "FramePlace", "FrameReader", "SegmentOnDisk", "SegmentWriter"]
__all__ += ["remove_segment", "segment_files"]

SEGMENT_BYTES = 64 * 1024 * 1024
"""A file of this size gets no further batch."""
SEGMENT_AGE = timedelta(hours=1)
"""A file of this age gets no further batch."""
FRAME_BYTES = 128 * 1024
"""Bytes of text that are compressed together: more saves little, and costs each reader time."""
_LEVEL = 4
"""Task logs: 0.08 bytes per byte at 200 MB/s; level 1: 0.10 at 400 MB/s, level 6: 0.075."""
_MAGIC = b"TGL1"
_HEAD = struct.Struct(">4sBxHIII")
_CRC = struct.Struct(">I")
_PIECE = struct.Struct(">BI")
_RAW, _ZLIB = 0, 1
_NAME = re.compile(r"\d{4}-\d\d-\d\d/[^/]+\.seg")
_FRAMES_KEPT = 4
"""Unpacked frames that a reader keeps: neighbours in a log often share one."""


class FramePlace(NamedTuple):
    """Where a frame is; sizes in bytes."""

    segment: str
    """Path of its file below the folder: date/name."""
    place: int
    """Of its first byte, in the file."""
    length: int


@dataclass(frozen=True)
class Frame:
    """What was read at a place."""

    pieces: Mapping[str, bytes]
    """By id."""
    missing: str = ""
    """Why there are none: a file that is damaged or gone, by name."""


@dataclass(frozen=True)
class SegmentOnDisk:
    """A file of the folder."""

    segment: str
    """As in `FramePlace`."""
    size_bytes: int
    written_at_s: float
    """Its last write, in seconds of the epoch."""


class Disk:
    """The calls that change the disk, in one place so that tests can let each of them fail."""

    def create(self, path: Path) -> int:
        """Create a file that does not exist; return its descriptor."""
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o640)

    def write(self, descriptor: int, content: memoryview) -> int:
        """Append some of `content`; return how many bytes."""
        return os.write(descriptor, content)

    def sync(self, descriptor: int) -> None:
        """Make what was written survive a crash of the machine."""
        os.fsync(descriptor)

    def sync_folder(self, folder: Path) -> None:
        """Make the entries of `folder` survive a crash of the machine."""
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@dataclass
class _OpenSegment:
    """The file that is being written."""

    segment: str
    path: Path
    descriptor: int
    since: datetime
    end: int = 0
    """Behind its last durable frame."""


class SegmentWriter:
    """Appends pieces to files of its own; for many threads."""

    def __init__(
        self, folder: Path, persister: str, clock: Clock, disk: Disk | None = None
    ) -> None:
        """Write below `folder`, into files named by `persister`; nothing is created yet.

        Raises:
            ValueError: `persister` is no safe name of a file.
        """
        if not is_safe_name(persister):
            raise ValueError(f"a persister's name is the name of its files, not {persister!r}")
        self._folder = folder
        self._persister = persister
        self._clock = clock
        self._disk = disk or Disk()
        self._lock = threading.Lock()
        self._file: _OpenSegment | None = None

    def append(self, pieces: Sequence[tuple[str, bytes]]) -> Mapping[str, FramePlace]:
        """Write (id, content) of each piece; return the place by id, durable.

        Raises:
            OSError: nothing of this call counts.
        """
        frames = [(ids, _pack(ids, parts)) for ids, parts in _groups(pieces)]
        places: dict[str, FramePlace] = {}
        with self._lock:
            file = self._writable()
            end = file.end
            for ids, packed in frames:
                places |= dict.fromkeys(ids, FramePlace(file.segment, end, len(packed)))
                end += len(packed)
            try:
                self._write(file, b"".join(packed for _, packed in frames))
                self._disk.sync(file.descriptor)
                if file.end == 0:
                    self._disk.sync_folder(file.path.parent)
                    self._disk.sync_folder(self._folder)  # the day may be new
            except OSError:
                self._give_up(file)
                raise
            file.end = end
        return places

    def probe(self) -> None:
        """Return if a file can be created and written now.

        Raises:
            OSError: it cannot.
        """
        with self._lock:
            if not self._folder.is_dir():
                self._make_folder(self._folder)
            path = self._folder / f".{self._persister}.probe"
            path.unlink(missing_ok=True)
            try:
                descriptor = self._disk.create(path)
            except FileExistsError:
                return  # another process of this name does the same
            try:
                self._disk.write(descriptor, memoryview(_MAGIC))
            finally:
                os.close(descriptor)
                path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file; a later `append` begins another one."""
        with self._lock:
            self._seal()

    def _write(self, file: _OpenSegment, content: bytes) -> None:
        rest = memoryview(content)
        while rest:
            rest = rest[self._disk.write(file.descriptor, rest) :]

    def _writable(self) -> _OpenSegment:
        now = self._clock.now()
        if (file := self._file) is not None:
            is_young = timedelta(0) <= now - file.since < SEGMENT_AGE
            if is_young and file.end < SEGMENT_BYTES and os.fstat(file.descriptor).st_nlink:
                return file
            self._seal()
        folder = self._folder / f"{now:%Y-%m-%d}"
        if not self._folder.is_dir():
            self._make_folder(self._folder)
        folder.mkdir(exist_ok=True)
        number = self._last_number(folder)
        while True:
            number += 1
            path = folder / f"{self._persister}-{number}.seg"
            # Another process of the same name may be as far: each file has one creator.
            with suppress(FileExistsError):
                descriptor = self._disk.create(path)
                break
        self._file = _OpenSegment(f"{folder.name}/{path.name}", path, descriptor, now)
        return self._file

    def _make_folder(self, folder: Path) -> None:
        if not folder.parent.is_dir():
            self._make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        self._disk.sync_folder(folder.parent)

    def _last_number(self, folder: Path) -> int:
        pattern = re.compile(rf"{re.escape(self._persister)}-(\d+)\.seg")
        names = [path.name for path in folder.iterdir()]
        matches = (pattern.fullmatch(name) for name in names)
        return max((int(match[1]) for match in matches if match), default=0)

    def _give_up(self, file: _OpenSegment) -> None:
        """Never write the file again; free what nothing points to."""
        with suppress(OSError):
            if file.end == 0:
                file.path.unlink()
            else:
                os.ftruncate(file.descriptor, file.end)
        self._seal()

    def _seal(self) -> None:
        if self._file is not None:
            with suppress(OSError):  # all that counts is synced
                os.close(self._file.descriptor)
        self._file = None


@dataclass
class FrameReader:
    """Reads frames; for one thread and one request, since it keeps files open until it is left."""

    folder: Path
    _files: dict[str, int | str] = field(default_factory=dict)
    """Descriptor, or why there is none."""
    _frames: OrderedDict[FramePlace, Frame] = field(default_factory=OrderedDict)

    def __enter__(self) -> Self:
        """Begin a request."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the files."""
        for file in self._files.values():
            if isinstance(file, int):
                os.close(file)
        self._files.clear()

    def read(self, place: FramePlace) -> Frame:
        """Return the pieces of a frame, or why they cannot be read."""
        if place in self._frames:
            self._frames.move_to_end(place)
            return self._frames[place]
        frame = self._read(place)
        self._frames[place] = frame
        if len(self._frames) > _FRAMES_KEPT:
            self._frames.popitem(last=False)
        return frame

    def _read(self, place: FramePlace) -> Frame:
        if place.segment not in self._files:
            self._files[place.segment] = self._open(place.segment)
        file = self._files[place.segment]
        if isinstance(file, str):
            return Frame({}, file)
        try:
            content = os.pread(file, place.length, place.place)
        except OSError as error:
            return Frame({}, f"{place.segment} cannot be read: {error.strerror}")
        return _unpack(content, place)

    def _open(self, segment: str) -> int | str:
        if not _NAME.fullmatch(segment):
            return f"{segment!r} is no name of a segment file"
        try:
            return os.open(self.folder / segment, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return f"{segment} is gone"
        except OSError as error:
            return f"{segment} cannot be opened: {error.strerror}"


def segment_files(folder: Path) -> Iterator[SegmentOnDisk]:
    """Yield the segment files of a folder; of one that is missing, none."""
    for path in sorted(folder.glob("*/*.seg")):
        segment = f"{path.parent.name}/{path.name}"
        if _NAME.fullmatch(segment):
            with suppress(FileNotFoundError):  # another process removed it
                status = path.stat()
                yield SegmentOnDisk(segment, status.st_size, status.st_mtime)


def remove_segment(folder: Path, segment: str, disk: Disk) -> None:
    """Remove a segment file, and its day's folder if that is empty now; none is as good."""
    path = folder / segment
    path.unlink(missing_ok=True)
    with suppress(OSError):  # it is not empty, or another process was first
        path.parent.rmdir()
        disk.sync_folder(folder)


def _groups(
    pieces: Sequence[tuple[str, bytes]],
) -> Iterator[tuple[Sequence[str], Sequence[bytes]]]:
    """Yield ids and contents of each frame, in the order given."""
    ids: list[str] = []
    parts: list[bytes] = []
    size = 0
    for record_id, content in pieces:
        if parts and size + len(content) > FRAME_BYTES:
            yield ids, parts
            ids, parts, size = [], [], 0
        ids.append(record_id)
        parts.append(content)
        size += len(content)
    if parts:
        yield ids, parts


def _pack(ids: Sequence[str], parts: Sequence[bytes]) -> bytes:
    raw = b"".join(parts)
    names = [each.encode() for each in ids]
    directory = b"".join(
        _PIECE.pack(len(name), len(part)) + name for name, part in zip(names, parts, strict=True)
    )
    codec, packed = _ZLIB, zlib.compress(raw, _LEVEL)
    if len(packed) >= len(raw):
        codec, packed = _RAW, raw
    head = _HEAD.pack(_MAGIC, codec, len(ids), len(directory), len(raw), len(packed))
    crc = zlib.crc32(packed, zlib.crc32(directory, zlib.crc32(head)))
    return b"".join([head, _CRC.pack(crc), directory, packed])


def _unpack(content: bytes, place: FramePlace) -> Frame:
    damaged = Frame({}, f"{place.segment} is damaged at byte {place.place}")
    begin = _HEAD.size + _CRC.size
    if len(content) < place.length or len(content) < begin:
        return Frame({}, f"{place.segment} is cut off before byte {place.place + place.length}")
    magic, codec, number, directory_bytes, raw_bytes, packed_bytes = _HEAD.unpack_from(content)
    (crc,) = _CRC.unpack_from(content, _HEAD.size)
    body = content[begin:]
    is_whole = zlib.crc32(body, zlib.crc32(content[: _HEAD.size])) == crc
    if magic != _MAGIC or not is_whole or len(body) != directory_bytes + packed_bytes:
        return damaged
    packed = body[directory_bytes:]
    match codec:
        case 0:
            raw = packed
        case 1:
            raw = zlib.decompress(packed, bufsize=raw_bytes or 1)
        case _:
            return Frame({}, f"{place.segment} is of a later release at byte {place.place}")
    pieces: dict[str, bytes] = {}
    at = taken = 0
    for _ in range(number):
        name_bytes, size = _PIECE.unpack_from(body, at)
        at += _PIECE.size
        pieces[body[at : at + name_bytes].decode()] = raw[taken : taken + size]
        at += name_bytes
        taken += size
    return Frame(pieces)
