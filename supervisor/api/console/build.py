"""The files of the built console, in memory: about three megabytes, read once per build.

    supervisor/console/dist/
        index.html          the page of every address; the overlord fills in two placeholders
        BUILT-FROM          the digest of what it was built from (scripts/console.py)
        assets/NAME-HASH.js their names change with their content; NAME-HASH.js.gz lies beside it

A path of a request is looked up among the names that were listed, so no path leads out of the
folder.  A build that takes the place of another one is read without a restart.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from threading import Lock

import supervisor

FOLDER = Path(supervisor.__file__).parent / "console" / "dist"
"""Where the build is: in a checkout by scripts/setup, in an installation by the wheel."""
PAGE = "index.html"
SOURCE_DIGEST = "BUILT-FROM"
_COMPRESSED = ".gz"
_DIGITS = 32
_NAME_DIGITS = 12
_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
"""Not those of the machine, which may call a script plain text: a browser would not run it."""
_UNKNOWN_TYPE = "application/octet-stream"


@dataclass(frozen=True)
class BuiltFile:
    """One file; `compressed` is the same by gzip, if the build has it."""

    content: bytes
    compressed: bytes | None
    media_type: str
    tag: str
    """A digest of the content, in the quotes of an entity tag."""


@dataclass(frozen=True)
class Build:
    """The files of one build by their path below /ui/, and the build's short name."""

    files: Mapping[str, BuiltFile]
    name: str

    @property
    def page(self) -> str:
        """The page, with its placeholders."""
        return self.files[PAGE].content.decode()


class Builds:
    """Gives the build that is in a folder now."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._lock = Lock()
        self._read: tuple[tuple[int, ...], Build] | None = None

    def now(self) -> Build | None:
        """Return the build; None: there is none, or it is being replaced at this moment."""
        try:
            seen = (self._folder / PAGE).stat()
            version = (seen.st_ino, seen.st_mtime_ns, seen.st_size)
            with self._lock:
                if self._read is None or self._read[0] != version:
                    self._read = version, _read(self._folder)
                return self._read[1]
        except OSError:
            return None


def _read(folder: Path) -> Build:
    contents = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    files = {
        name: BuiltFile(
            content,
            contents.get(name + _COMPRESSED),
            _MEDIA_TYPES.get(PurePosixPath(name).suffix, _UNKNOWN_TYPE),
            f'"{hashlib.sha256(content).hexdigest()[:_DIGITS]}"',
        )
        for name, content in contents.items()
        if not name.endswith(_COMPRESSED)
    }
    digest = contents.get(SOURCE_DIGEST, b"").decode("ascii", "replace").strip()
    return Build(files, digest[:_NAME_DIGITS] or "unknown")
