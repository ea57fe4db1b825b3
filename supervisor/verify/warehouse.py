"""The warehouse's side: its files, read without the code that writes or deletes there.

    walk ─► ask ─► read named files ─► look a second time at each finding ─► verdict

In this order, changes meanwhile are no findings.  A task's row is written before its first byte, so
the answer covers each walked file: by its name, or by its task's folder.
"""

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path, PurePosixPath
from threading import Event

import pyarrow as pa
import pyarrow.parquet as pq

from supervisor.settings.problems import SetupProblem
from supervisor.verify.inventory import (
    Inventory,
    PathContent,
    Walked,
    judge,
    only,
    total_bytes,
)
from supervisor.views.tables.warehouse import WarehouseFile, WarehouseFiles

THREADS = 2
"""The number of threads: one waits for the disk while the other computes."""
_BATCH = 100
"""The number of files that a thread takes at once: a handover per file costs too much."""
_CHUNK_BYTES = 1 << 20
_LEFT_ALONE = {"lost+found", ".tidegate"}
"""Folders in the root that hold no table: the file system's own, and the stored logs."""

Ask = Callable[[], WarehouseFiles]


@dataclass(frozen=True)
class FilesProgress:
    """Callbacks for the progress of the long step."""

    total: Callable[[int], None] = lambda _: None
    """Called once with the number of bytes to compare."""
    done: Callable[[int], None] = lambda _: None
    """Called with each number of compared bytes; from several threads."""


def inspect(root: Path, ask: Ask, steps: FilesProgress, *, digests: bool) -> Inventory:
    """Compare the warehouse at `root` with the answers of `ask`, which is called up to twice.

    Raises:
        SetupProblem: the warehouse, or a folder in it, cannot be read here.
    """
    root = _to_be_seen(root)
    walked = walk(root)
    claim = ask()
    steps.total(total_bytes(claim.files))
    on_disk = contents(root, claim.files, steps.done, digests=digests) | copies(root, claim)
    first = judge(walked, claim, on_disk, digests=digests)
    if not (suspects := first.suspects()):
        return first
    claim = only(ask(), suspects)
    walked = _again(root, suspects & (walked.sizes.keys() | walked.others.keys()))
    on_disk = contents(root, claim.files, lambda _: None, digests=digests) | copies(root, claim)
    return first.settled_by(judge(walked, claim, on_disk, digests=digests))


def walk(root: Path) -> Walked:
    """Return the contents of the folder `root`; links are listed, and never followed.

    Raises:
        SetupProblem: a folder cannot be read.
    """
    sizes: dict[str, int] = {}
    others: dict[str, str] = {}
    empty = 0
    folders = [""]
    while folders:
        folder = folders.pop()
        entries = _entries(root, folder)
        empty += entries is not None and not entries and folder != ""
        for name, status in entries or ():
            path = f"{folder}/{name}" if folder else name
            if stat.S_ISREG(status.st_mode):
                sizes[path] = status.st_size
            elif not stat.S_ISDIR(status.st_mode):
                others[path] = _kind(status)
            elif path not in _LEFT_ALONE:
                folders.append(path)
    return Walked(sizes, others, empty)


def contents(
    root: Path, files: Iterable[WarehouseFile], done: Callable[[int], None], *, digests: bool
) -> dict[str, PathContent]:
    """Return path -> state of the named files; missing files are left out."""
    content_by_path: dict[str, PathContent] = {}
    reader = _FileReader(root, done, digests)
    pool = ThreadPoolExecutor(THREADS, thread_name_prefix="digests")
    try:
        for read in pool.map(reader.read_all, _batches(files)):
            content_by_path.update(read)
    finally:
        reader.stopped.set()  # Ctrl-C waits for two files, not for all others
        pool.shutdown(cancel_futures=True)
    return content_by_path


def copies(root: Path, claim: WarehouseFiles) -> dict[str, PathContent]:
    """Return path -> state of the copies that exports name, from their footers."""
    reader = _FileReader(root, lambda _: None, digests=False)
    content_by_path = {}
    for copy in claim.copies:
        named = WarehouseFile(path=copy.path, size_bytes=0, sha256="", task_id="")
        if (content := reader.read(named)) is not None:
            trouble = content.trouble or _wrong_footer(root / copy.path, copy.rows)
            content_by_path[copy.path] = replace(content, trouble=trouble)
    return content_by_path


def _wrong_footer(path: Path, rows: int) -> str:
    """Return why a file cannot be a copy with so many rows; empty: it can be one."""
    try:
        footer = pq.read_metadata(path)
    except (OSError, pa.ArrowException) as error:
        return f"it is no whole Parquet file: {error}"
    if footer.num_rows != rows:
        return f"{footer.num_rows} rows, the file that it is of has {rows}"
    return ""


def _to_be_seen(root: Path) -> Path:
    if not root.is_dir():
        raise SetupProblem(
            f"the warehouse {root} is not to be seen from here",
            "run this where the overlord's warehouse is mounted, or name it with --warehouse",
        )
    return root.resolve()


def _entries(root: Path, folder: str) -> list[tuple[str, os.stat_result]] | None:
    """Return names and their status; None: the folder has gone meanwhile."""
    listing = []
    try:
        with os.scandir(root / folder) as entries:
            for entry in entries:
                try:
                    listing.append((entry.name, entry.stat(follow_symlinks=False)))
                except FileNotFoundError:
                    continue
    except OSError as error:
        if folder and isinstance(error, FileNotFoundError | NotADirectoryError):
            return None
        raise SetupProblem(
            f"the folder {root / folder} cannot be read: {error.strerror}",
            "run this as a user who may read the whole warehouse",
        ) from error
    return listing


def _again(root: Path, paths: Iterable[str]) -> Walked:
    """Return which of these paths still exist, in the form of `walk`."""
    sizes: dict[str, int] = {}
    others: dict[str, str] = {}
    for path in paths:
        try:
            status = (root / path).lstat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        if stat.S_ISREG(status.st_mode):
            sizes[path] = status.st_size
        elif not stat.S_ISDIR(status.st_mode):
            others[path] = _kind(status)
    return Walked(sizes, others)


@dataclass
class _FileReader:
    root: Path
    done: Callable[[int], None]
    digests: bool
    _direct: dict[str, bool] = field(default_factory=dict)
    """Folder -> whether no link leads to it; looked up once for all of its files."""
    stopped: Event = field(default_factory=Event)
    """Set when the caller no longer waits."""

    def read_all(self, files: Sequence[WarehouseFile]) -> dict[str, PathContent]:
        """Return path -> state; see `contents`."""
        content_by_path = {}
        for file in files:
            if self.stopped.is_set():
                break
            if (content := self.read(file)) is not None:
                content_by_path[file.path] = content
        return content_by_path

    def read(self, file: WarehouseFile) -> PathContent | None:
        """Return the state of one named path; in any case its recorded size counts as done."""
        path = os.path.join(self.root, file.path)  # noqa: PTH118 -- pathlib takes longer than stat
        left = file.size_bytes
        try:
            status = os.lstat(path)
            if not stat.S_ISREG(status.st_mode):
                return PathContent(0, trouble=f"it is {_kind(status)} and no file")
            size = status.st_size
            if not self._leads_directly_to(file.path):
                why = "its path leads through a link, or out of the warehouse"
                return PathContent(size, trouble=why)
            if not self.digests or size != file.size_bytes:
                return PathContent(size)
            digest = hashlib.sha256()
            with open(path, "rb", buffering=0) as opened:  # noqa: PTH123 -- as above
                while chunk := opened.read(_CHUNK_BYTES):
                    digest.update(chunk)
                    self.done(len(chunk))
                    left -= len(chunk)
            return PathContent(size, digest.hexdigest())
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            return PathContent(0, trouble=f"it cannot be read: {error.strerror}")
        finally:
            self.done(left)

    def _leads_directly_to(self, path: str) -> bool:
        folder = self.root / PurePosixPath(path).parent
        known = self._direct.get(str(folder))
        if known is None:
            known = self._direct[str(folder)] = folder.resolve() == folder
        return known


def _kind(status: os.stat_result) -> str:
    kinds: Sequence[tuple[Callable[[int], bool], str]] = (
        (stat.S_ISLNK, "a link"),
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
    )
    return next((name for is_one, name in kinds if is_one(status.st_mode)), "a device")


def _batches(files: Iterable[WarehouseFile]) -> Iterator[list[WarehouseFile]]:
    left = iter(files)
    while batch := list(islice(left, _BATCH)):
        yield batch
