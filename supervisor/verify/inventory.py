"""The judgement on a warehouse, pure: what lies in it, against what the overlord answers for.

    lies there    ■      ■        ■        ■       ■         ■       ■         ·
    answered for  named  named    writing  pending condemned exports nobody    named
                  │      │        └────────── counted ───────────┘   │         │
                recorded damaged                                   orphan    missing

A finding may be a file that came or went while we looked: each is looked at a second time.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum

from supervisor.views.tables.warehouse import WarehouseCopy, WarehouseFile, WarehouseFiles

README = "README.txt"
"""Lies in the folder of each table; a crash may leave `.README.txt.<task>` beside it."""
_MARKER, _PROBE = ".tidegate-warehouse", ".tidegate-probe-"
"""Begin the names of files in the root: who owns it, and whether it can be written."""
_DEPTH = 3
"""A task's folder is `<table>/data/<task>`."""
_LOG_DEPTH = 2
"""An export's own is `<table>/_delta_log` or `<table>/metadata`."""
_COPY = re.compile(r"[0-9a-f]{32}\.parquet(\.[0-9a-f]{32}\.half)?")
"""A copy of a file with other types, or one that is being written."""


@dataclass(frozen=True)
class Walked:
    """What lies in a warehouse; paths are relative to it."""

    sizes: Mapping[str, int]
    """Path -> bytes of each regular file."""
    others: Mapping[str, str] = field(default_factory=dict)
    """Path -> what else it is: a link, a pipe."""
    empty_folders: int = 0


@dataclass(frozen=True)
class PathContent:
    """What is at a named path."""

    size_bytes: int
    sha256: str | None = None
    """None: it was not read."""
    trouble: str = ""
    """Why it cannot be the file, whatever its size."""


class Place(StrEnum):
    """Why a file may lie in the warehouse."""

    RECORDED = "recorded"
    """Named, and as it was published."""
    WRITING = "writing"
    PENDING = "pending"
    KEPT = "kept"
    README = "readme"
    EXPORTS = "exports"


class FileFindingKind(StrEnum):
    """What is wrong with a file; the names are stable, for programs."""

    MISSING = "missing"
    """Named, and not there."""
    DAMAGED = "damaged"
    """Not the file that was published."""
    ORPHAN = "orphan"
    """There, and nothing answers for it."""


@dataclass(frozen=True)
class FileFinding:
    """One file that is not as it should be."""

    kind: FileFindingKind
    path: str
    detail: str
    size_bytes: int
    """As it is; of a missing one, as it was."""
    task_id: str = ""
    """Who published it, if anybody did."""


@dataclass(frozen=True)
class Pile:
    """How many files, and how large together."""

    files: int = 0
    size_bytes: int = 0

    def __add__(self, other: "Pile") -> "Pile":
        return Pile(self.files + other.files, self.size_bytes + other.size_bytes)


@dataclass(frozen=True)
class Inventory:
    """The verdict on a warehouse."""

    piles: Mapping[Place, Pile]
    """Every place, also an empty one."""
    findings: tuple[FileFinding, ...]
    """By path."""
    waiting: Mapping[str, Place]
    """Folder -> PENDING or KEPT, of those in which something lies; `--strict` refuses them."""
    empty_folders: int
    digests: bool
    """Contents were compared, not sizes alone."""

    def suspects(self) -> frozenset[str]:
        """Return the paths that have to be looked at a second time."""
        return frozenset(found.path for found in self.findings)

    def settled_by(self, second: "Inventory") -> "Inventory":
        """Replace the findings by what a second look at their paths, and no others, found."""
        return Inventory(
            piles={place: self.piles[place] + second.piles[place] for place in Place},
            findings=second.findings,
            waiting={**self.waiting, **second.waiting},
            empty_folders=self.empty_folders,
            digests=self.digests,
        )

    def count(self, kind: FileFindingKind) -> int:
        """Return how many findings are of a kind."""
        return sum(found.kind is kind for found in self.findings)

    def to_dict(self) -> dict[str, object]:
        """Return the whole verdict as JSON values."""
        return {
            **{
                place.value: {"files": pile.files, "sizeBytes": pile.size_bytes}
                for place, pile in self.piles.items()
            },
            "digestsCompared": self.digests,
            "emptyFolders": self.empty_folders,
            "waiting": [
                {"kind": place.value, "folder": folder}
                for folder, place in sorted(self.waiting.items())
            ],
            "findings": [
                {
                    "kind": finding.kind.value,
                    "path": shown(finding.path),
                    "detail": finding.detail,
                    "sizeBytes": finding.size_bytes,
                    "taskId": finding.task_id or None,
                }
                for finding in self.findings
            ],
        }


def judge(
    walked: Walked, claim: WarehouseFiles, contents: Mapping[str, PathContent], *, digests: bool
) -> Inventory:
    """Compare; `found` is what is at the named paths, those of missing files left out."""
    piles: Counter[tuple[Place, str]] = Counter()
    findings: list[FileFinding] = []
    waiting: dict[str, Place] = {}
    for file in claim.files:
        if (finding := _compared(file, contents.get(file.path))) is not None:
            findings.append(finding)
        else:
            _put(piles, Place.RECORDED, file.size_bytes)
    for copy in claim.copies:
        if (finding := _wrong_copy(copy, contents.get(copy.path))) is not None:
            findings.append(finding)
        else:
            _put(piles, Place.EXPORTS, contents[copy.path].size_bytes)
    folders = _Folders.of(claim)
    named = {file.path for file in claim.files} | {copy.path for copy in claim.copies}
    for path, size in walked.sizes.items():
        if path in named:
            continue
        place = folders.place_of(path)
        if place is None:
            findings.append(FileFinding(FileFindingKind.ORPHAN, path, "nothing names it", size))
            continue
        _put(piles, place, size)
        if place in {Place.PENDING, Place.KEPT} and path not in folders.condemned:
            waiting[_folder_of(path)] = place
    findings += (
        FileFinding(FileFindingKind.ORPHAN, path, f"it is {what}, which is never ours", 0)
        for path, what in walked.others.items()
        if path not in named
    )
    return Inventory(
        piles={p: Pile(piles[p, "files"], piles[p, "bytes"]) for p in Place},
        findings=tuple(sorted(findings, key=lambda finding: finding.path)),
        waiting=waiting,
        empty_folders=walked.empty_folders,
        digests=digests,
    )


def only(claim: WarehouseFiles, paths: frozenset[str]) -> WarehouseFiles:
    """Leave out the names of other files; the folders stay."""
    files = [file for file in claim.files if file.path in paths]
    copies = [copy for copy in claim.copies if copy.path in paths]
    return claim.model_copy(update={"files": files, "copies": copies})


def total_bytes(files: Iterable[WarehouseFile]) -> int:
    """Return the size of files together, as they were published."""
    return sum(file.size_bytes for file in files)


def shown(path: str) -> str:
    """Return a path as text: a name in a file system need not be UTF-8."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _put(piles: Counter[tuple[Place, str]], place: Place, size: int) -> None:
    piles[place, "files"] += 1
    piles[place, "bytes"] += size


def _compared(file: WarehouseFile, content: PathContent | None) -> FileFinding | None:
    if content is None:
        why = "published, and not there"
        return FileFinding(
            FileFindingKind.MISSING, file.path, why, file.size_bytes, task_id=file.task_id
        )
    if content.trouble:
        why = content.trouble
    elif content.size_bytes != file.size_bytes:
        why = f"{content.size_bytes} bytes, published were {file.size_bytes}"
    elif content.sha256 not in {None, file.sha256}:
        why = f"sha256 {content.sha256}, published was {file.sha256}"
    else:
        return None
    return FileFinding(
        FileFindingKind.DAMAGED, file.path, why, content.size_bytes, task_id=file.task_id
    )


def _wrong_copy(copy: WarehouseCopy, content: PathContent | None) -> FileFinding | None:
    if content is None:
        why = "an export names it, and it is not there"
        return FileFinding(FileFindingKind.MISSING, copy.path, why, 0)
    if content.trouble:
        kind, size = FileFindingKind.DAMAGED, content.size_bytes
        return FileFinding(kind, copy.path, content.trouble, size)
    return None


@dataclass(frozen=True)
class _Folders:
    """What may lie in a warehouse without being named, to be looked up for each file."""

    writing: frozenset[str]
    pending: frozenset[str]
    kept: frozenset[str]
    condemned: frozenset[str]
    """Files that wait to be deleted, each by its name: they are pending, and none is unknown."""
    exports: frozenset[str]
    copied: frozenset[str]

    @classmethod
    def of(cls, claim: WarehouseFiles) -> "_Folders":
        held = {each.name: frozenset(getattr(claim, each.name)) for each in fields(cls)}
        return cls(**held)

    def place_of(self, path: str) -> Place | None:
        folder = _folder_of(path)
        if folder in self.writing:
            return Place.WRITING
        if folder in self.pending or path in self.condemned:
            return Place.PENDING
        if folder in self.kept:
            return Place.KEPT
        if _is_readme(path) or _is_marker(path):
            return Place.README
        return Place.EXPORTS if self._is_of_a_log(path) or self._is_a_copy(path) else None

    def _is_of_a_log(self, path: str) -> bool:
        parts = path.split("/", _LOG_DEPTH)
        return len(parts) > _LOG_DEPTH and "/".join(parts[:_LOG_DEPTH]) in self.exports

    def _is_a_copy(self, path: str) -> bool:
        """Tell whether it may have types that its table had before, or is about to have."""
        folder, _, name = path.rpartition("/")
        return folder in self.copied and _COPY.fullmatch(name) is not None


def _is_marker(path: str) -> bool:
    """Tell whether it names the warehouse's owner, or is half-written, or proves it writable."""
    return "/" not in path and path.startswith((_MARKER, _PROBE))


def _folder_of(path: str) -> str:
    """Return the task's folder that a file would lie in; empty if it lies in none."""
    parts = path.split("/", _DEPTH)
    return "/".join(parts[:_DEPTH]) if len(parts) > _DEPTH else ""


def _is_readme(path: str) -> bool:
    table, _, name = path.partition("/")
    return bool(table) and (name == README or (_half_written(name) and "/" not in name))


def _half_written(name: str) -> bool:
    return name.startswith(f".{README}.")
