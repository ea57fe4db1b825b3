"""The pure judgement on a warehouse: the files in it, against those that the overlord names.

    in the warehouse  ■      ■        ■        ■       ■         ■       ■         ·
    named or known    named  named    writing  pending condemned exports unknown   named
                      │      │        └────────── counted ───────────┘   │         │
                    recorded damaged                                   orphan    missing

A finding may be a file that came or went during the walk, so each is looked at a second time.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum

from supervisor.views.tables.warehouse import WarehouseCopy, WarehouseFile, WarehouseFiles

README = "README.txt"
"""The readme in each table's folder; a crash may leave `.README.txt.<task>` beside it."""
_MARKER, _PROBE = ".tidegate-warehouse", ".tidegate-probe-"
"""Prefixes of files in the root: the owner's marker, and the probe whether it is writable."""
_DEPTH = 3
"""The depth of a task's folder, `<table>/data/<task>`."""
_LOG_DEPTH = 2
"""The depth of an export's log folder, `<table>/_delta_log` or `<table>/metadata`."""
_COPY = re.compile(r"[0-9a-f]{32}\.parquet(\.[0-9a-f]{32}\.half)?")
"""The name of a copy with other column types, finished or being written."""


@dataclass(frozen=True)
class Walked:
    """The contents of a warehouse; paths are relative to it."""

    sizes: Mapping[str, int]
    """Path -> bytes of each regular file."""
    others: Mapping[str, str] = field(default_factory=dict)
    """Path -> kind of each entry that is not a regular file, such as a link or a pipe."""
    empty_folders: int = 0


@dataclass(frozen=True)
class PathContent:
    """The state of the file at a named path."""

    size_bytes: int
    sha256: str | None = None
    """The digest of the content; None: it was not read."""
    trouble: str = ""
    """The reason why it cannot be the named file, whatever its size; empty: none."""


class Place(StrEnum):
    """The reason why a file may be in the warehouse."""

    RECORDED = "recorded"
    """Named, and unchanged since it was published."""
    WRITING = "writing"
    PENDING = "pending"
    KEPT = "kept"
    README = "readme"
    EXPORTS = "exports"


class FileFindingKind(StrEnum):
    """A kind of finding about a file; the names are stable, for programs."""

    MISSING = "missing"
    """Named, but not there."""
    DAMAGED = "damaged"
    """Named, but not the file that was published."""
    ORPHAN = "orphan"
    """There, but neither named nor in a known folder."""


@dataclass(frozen=True)
class FileFinding:
    """One file with a finding."""

    kind: FileFindingKind
    path: str
    detail: str
    size_bytes: int
    """The present size; of a missing file, the published size."""
    task_id: str = ""
    """The task that published the file; empty: none."""


@dataclass(frozen=True)
class Pile:
    """A number of files and their total size."""

    files: int = 0
    size_bytes: int = 0

    def __add__(self, other: "Pile") -> "Pile":
        return Pile(self.files + other.files, self.size_bytes + other.size_bytes)


@dataclass(frozen=True)
class Inventory:
    """The verdict on a warehouse."""

    piles: Mapping[Place, Pile]
    """Every place, also one without files."""
    findings: tuple[FileFinding, ...]
    """By path."""
    waiting: Mapping[str, Place]
    """Folder -> PENDING or KEPT, of non-empty folders; `--strict` refuses them."""
    empty_folders: int
    digests: bool
    """Whether contents were compared, and not only sizes."""

    def suspects(self) -> frozenset[str]:
        """Return the paths that need a second look."""
        return frozenset(found.path for found in self.findings)

    def settled_by(self, second: "Inventory") -> "Inventory":
        """Replace the findings by those of a second look at the same paths."""
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
    """Compare the files with the claim; `contents` has the named paths, without missing ones."""
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
    """Return the claim with only the file names in `paths`; the folders stay."""
    files = [file for file in claim.files if file.path in paths]
    copies = [copy for copy in claim.copies if copy.path in paths]
    return claim.model_copy(update={"files": files, "copies": copies})


def total_bytes(files: Iterable[WarehouseFile]) -> int:
    """Return the total published size of files."""
    return sum(file.size_bytes for file in files)


def shown(path: str) -> str:
    """Return a path as text: a file name need not be UTF-8."""
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
    """Folders and patterns of unnamed files that may be in a warehouse."""

    writing: frozenset[str]
    pending: frozenset[str]
    kept: frozenset[str]
    condemned: frozenset[str]
    """Files that wait for deletion, each by its path: they are pending, not orphans."""
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
        """Whether the file is a copy with column types of another time, in a folder with copies."""
        folder, _, name = path.rpartition("/")
        return folder in self.copied and _COPY.fullmatch(name) is not None


def _is_marker(path: str) -> bool:
    """Whether the file is the owner's marker, a half-written one, or a probe for writing."""
    return "/" not in path and path.startswith((_MARKER, _PROBE))


def _folder_of(path: str) -> str:
    """Return the task's folder that a file is in; empty if it is in none."""
    parts = path.split("/", _DEPTH)
    return "/".join(parts[:_DEPTH]) if len(parts) > _DEPTH else ""


def _is_readme(path: str) -> bool:
    table, _, name = path.partition("/")
    return bool(table) and (name == README or (_half_written(name) and "/" not in name))


def _half_written(name: str) -> bool:
    return name.startswith(f".{README}.")
