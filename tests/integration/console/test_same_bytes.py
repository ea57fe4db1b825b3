"""Two builds of the same sources are the same, byte by byte.

Slow: it builds the console twice.
"""

from pathlib import Path

import pytest

from scripts.console import build

pytestmark = [pytest.mark.process, pytest.mark.long]


def _bytes(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_two_builds_are_the_same(built: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        build(tmp_path / name)

    one, two = _bytes(tmp_path / "one"), _bytes(tmp_path / "two")
    assert len(one) > 3
    assert one == two
    assert one.keys() == _bytes(built).keys() - {"BUILT-FROM"}
