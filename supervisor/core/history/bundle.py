"""The incident bundle of a supervisor: its window, its bounded files, its manifest; pure.

    answers and logs ──► masked text ──► files within bounds ──► manifest of files and gaps

Whoever gets the bundle has no account here.  So each text is masked before it is cut: a secret
that was cut in two would not be known any more.
"""

import difflib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tasks.contract.wire import iso_utc

SCHEMA = 1
"""Version of the manifest; it grows when a member is removed or changes its meaning."""
WINDOW = timedelta(minutes=30)
WINDOW_MAX = timedelta(hours=24)
MANIFEST = "manifest.json"
SIZE_BYTES_MAX = 31 * 1024 * 1024
"""All files together, so that the archive with its directory is below 32 MiB, whatever is in it."""
FILE_BYTES_MAX = 8 * 1024 * 1024
LOG_BYTES_MAX = 256 * 1024
_DIRECTORY_BYTES = 512
"""What an archive adds per file, at most: two headers with the name."""

Mask = Callable[[str], str]


@dataclass(frozen=True)
class BundleWindow:
    """The time `[begin, end)` that a bundle shows."""

    at: datetime
    begin: datetime
    end: datetime


def window_around(at: datetime, span: timedelta) -> BundleWindow:
    """Return the window from `span` before a time to `span` after it."""
    return BundleWindow(at, at - span, at + span)


@dataclass(frozen=True)
class BundleFile:
    """One file of a bundle."""

    name: str
    content: bytes
    cut: str = ""
    """What was left out; empty: nothing."""


@dataclass(frozen=True)
class Packed:
    """The files of a bundle within its bounds, and why others are missing."""

    files: Sequence[BundleFile] = ()
    missing: Mapping[str, str] = field(default_factory=dict)
    """Name of a file -> why it is not there."""


def json_file(name: str, value: object, mask: Mask, *, cut: str = "") -> BundleFile:
    """Return JSON values as a file, masked and indented."""
    text = json.dumps(masked_values(value, mask), indent=2, ensure_ascii=False)
    return BundleFile(name, text.encode("utf-8", "backslashreplace"), cut)


def masked_values(value: object, mask: Mask) -> object:
    """Return JSON values with each text masked, by itself and by the name beside it.

    The whole document is not masked as one text: a mask may reach beyond the end of a value.
    """
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return {str(name): _beside(str(name), each, mask) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [masked_values(each, mask) for each in value]
    return value


def _beside(name: str, value: object, mask: Mask) -> object:
    if not isinstance(value, str):
        return masked_values(value, mask)
    text = mask(value)
    try:
        pair = json.loads(mask(json.dumps({name: text}, ensure_ascii=False)))
    except ValueError:  # what is masked reaches beyond the value
        return text
    return pair.get(name, text)


def log_file(name: str, tail: bytes, size_bytes: int, mask: Mask) -> BundleFile:
    """Return the last lines of a log, masked; `size_bytes` is the size of the whole log.

    A line whose beginning is missing is left out: what its name would have masked is not known.
    """
    kept = tail[-LOG_BYTES_MAX:]
    cut = ""
    if len(kept) < size_bytes:
        kept = kept.partition(b"\n")[2]
        cut = f"the last {len(kept)} bytes of {size_bytes}"
    text = mask(kept.decode("utf-8", "backslashreplace"))
    return BundleFile(name, text.encode("utf-8", "backslashreplace"), cut)


def file_name_of(text: str) -> str:
    """Return a text as a part of a file's name: other signs than letters and digits become `_`."""
    kept = "".join(
        sign if sign.isascii() and (sign.isalnum() or sign in "-._") else "_" for sign in text
    )
    return kept.strip(".")[:100] or "_"


def spec_diff(older: object, newer: object) -> str:
    """Return the differences of two specs as a unified diff of their JSON."""
    before, after = (
        json.dumps(each, indent=2, sort_keys=True, ensure_ascii=False).splitlines()
        for each in (older, newer)
    )
    return "\n".join(difflib.unified_diff(before, after, "older", "newer", lineterm="")) + "\n"


def packed(
    files: Iterable[BundleFile],
    missing: Mapping[str, str],
    *,
    size_bytes: int = SIZE_BYTES_MAX,
    file_bytes: int = FILE_BYTES_MAX,
) -> Packed:
    """Return the files that fit, in their order, each cut at its bound; the first matter most."""
    left = size_bytes
    kept: list[BundleFile] = []
    lacking = dict(missing)
    for each in files:
        cut = each
        if len(each.content) > file_bytes:
            why = f"the first {file_bytes} bytes of {len(each.content)}"
            cut = BundleFile(each.name, each.content[:file_bytes], why)
        needs = len(cut.content) + _DIRECTORY_BYTES
        if needs > left:
            lacking[each.name] = f"the bundle is full: it has {len(each.content)} bytes"
            continue
        left -= needs
        kept.append(cut)
    return Packed(kept, lacking)


def manifest_of(
    supervisor_id: str, window: BundleWindow, origin: Mapping[str, str], found: Packed
) -> dict[str, object]:
    """Return the manifest; `origin`: when, by which overlord, and of which versions."""
    return {
        "schema": SCHEMA,
        "supervisorId": supervisor_id,
        "at": iso_utc(window.at),
        "window": {"from": iso_utc(window.begin), "to": iso_utc(window.end)},
        **origin,
        "files": [
            {"name": each.name, "sizeBytes": len(each.content), "cut": each.cut or None}
            for each in found.files
        ],
        "missing": [{"name": name, "why": why} for name, why in sorted(found.missing.items())],
    }
