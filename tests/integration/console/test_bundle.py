"""The size of what a browser loads, and that all of it is the overlord's own.

Source: sizes as they go over the wire, by gzip, in bytes.
"""

import gzip
import json
import re
from pathlib import Path

import pytest

from scripts.console import CONSOLE

pytestmark = pytest.mark.process

KILO = 1_000
ENTRY_SCRIPT_MAX = 260 * KILO
ENTRY_STYLE_MAX = 30 * KILO
CHUNK_MAX = 160 * KILO
ALL_MAX = 700 * KILO
_COMPRESSED_FROM = 1_024


def _on_the_wire(path: Path) -> int:
    compressed = path.with_name(path.name + ".gz")
    return compressed.stat().st_size if compressed.is_file() else path.stat().st_size


def _assets(built: Path) -> dict[str, int]:
    """Return the name of each asset, and its bytes on the wire."""
    files = [path for path in (built / "assets").iterdir() if path.suffix != ".gz"]
    return {path.name: _on_the_wire(path) for path in files}


def _entry(built: Path, suffix: str) -> dict[str, int]:
    named = re.findall(r'(?:src|href)="/ui/assets/([^"]+)"', (built / "index.html").read_text())
    sizes = _assets(built)
    return {name: sizes[name] for name in named if name.endswith(suffix)}


def test_the_first_page_keeps_its_budget(built: Path) -> None:
    scripts, styles = _entry(built, ".js"), _entry(built, ".css")

    assert scripts, "the page names no script"
    assert sum(scripts.values()) <= ENTRY_SCRIPT_MAX, scripts
    assert sum(styles.values()) <= ENTRY_STYLE_MAX, styles


def test_what_is_loaded_later_keeps_its_budget(built: Path) -> None:
    first = {**_entry(built, ".js"), **_entry(built, ".css")}
    later = {name: size for name, size in _assets(built).items() if name not in first}

    assert {name: size for name, size in later.items() if size > CHUNK_MAX} == {}
    assert sum(_assets(built).values()) <= ALL_MAX, _assets(built)


def test_each_asset_has_its_compressed_bytes_beside_it(built: Path) -> None:
    for path in (built / "assets").iterdir():
        if path.suffix in {".js", ".css"} and path.stat().st_size >= _COMPRESSED_FROM:
            compressed = path.with_name(path.name + ".gz")
            assert gzip.decompress(compressed.read_bytes()) == path.read_bytes()


def test_the_page_runs_no_script_of_its_own_and_loads_nothing_of_others(built: Path) -> None:
    page = (built / "index.html").read_text()

    assert re.findall(r"<script(?![^>]*\ssrc=)", page) == []
    assert re.findall(r"<style|\son\w+=|style=", page) == []
    assert all(address.startswith("/ui/") for address in re.findall(r'(?:src|href)="(.*?)"', page))
    styles = "".join(path.read_text() for path in (built / "assets").glob("*.css"))
    assert re.findall(r"url\((?!['\"]?(?:data:|/ui/|#))[^)]*\)|@import|@font-face", styles) == []


def test_no_map_of_the_sources_is_shipped(built: Path) -> None:
    assert [path.name for path in built.rglob("*.map")] == []


def test_the_licences_of_what_is_shipped_are_listed(built: Path) -> None:
    listed = (built / "THIRD-PARTY.txt").read_text()
    wanted = json.loads((CONSOLE / "package.json").read_text())["dependencies"]

    assert wanted
    for name, version in wanted.items():
        assert f"\n{name} {version}: " in listed


def test_the_locks_name_no_registry_and_exact_versions() -> None:
    for folder in (CONSOLE, CONSOLE.parents[1] / "tests" / "browser"):
        lock = (folder / "package-lock.json").read_text()
        package = json.loads((folder / "package.json").read_text())
        wanted = package.get("dependencies", {}) | package.get("devDependencies", {})

        assert '"resolved"' not in lock, "npm's settings of each machine name the registry"
        assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in wanted.values()), wanted
        for name, locked in json.loads(lock)["packages"].items():
            assert not name or locked["integrity"].startswith("sha512-"), name
