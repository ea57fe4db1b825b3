"""The built console goes into the wheel, its sources do not; setup does without npm's registry."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from scripts.console import BUILT_FROM, CONSOLE, source_digest
from supervisor.dev.ports import free_port
from tests.tidy.sources import ROOT

pytestmark = pytest.mark.process

_WITHIN_S = 300.0


def test_the_wheel_has_the_build_and_not_its_sources(built: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    ended = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=_WITHIN_S
    )
    assert ended.returncode == 0, ended.stderr
    [wheel] = tmp_path.glob("*.whl")

    names = zipfile.ZipFile(wheel).namelist()

    below = {name for name in names if name.startswith("supervisor/console/")}
    files = {path.relative_to(built).as_posix() for path in built.rglob("*") if path.is_file()}
    assert below == {f"supervisor/console/dist/{name}" for name in files}
    assert "supervisor/api/console/pages.py" in names


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What building needs of a checkout, with nothing installed or built."""
    copy = tmp_path / "checkout"
    ignored = shutil.ignore_patterns("node_modules", "dist", "dist.next", "__pycache__")
    for folder in ("scripts", "supervisor/console"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=ignored)
    (copy / "docs/reference").mkdir(parents=True)
    shutil.copy(ROOT / "docs/reference/openapi.json", copy / "docs/reference")
    return copy


def _console(checkout: Path, *arguments: str, **environment: str) -> tuple[int, str]:
    ended = subprocess.run(
        [sys.executable, "-m", "scripts.console", *arguments],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=_WITHIN_S,
    )
    return ended.returncode, ended.stderr


def test_without_npms_registry_setup_goes_on_and_says_what_is_missing(
    checkout: Path, tmp_path: Path
) -> None:
    """Goal: an overlord, its API and the demo never depend on npm."""
    nobody = {
        "NPM_CONFIG_REGISTRY": f"http://127.0.0.1:{free_port()}/",
        "NPM_CONFIG_CACHE": str(tmp_path / "cache"),
        "NPM_CONFIG_FETCH_RETRIES": "0",
    }

    code, text = _console(checkout, "--setup", **nobody)
    again, again_text = _console(checkout, "--setup", **nobody)

    assert (code, again) == (0, 0)
    assert "ECONNREFUSED" in text
    assert "to try again: python -m scripts.console" in text
    assert "installing" not in again_text, "it is not tried again by itself"
    assert "to try again: python -m scripts.console" in again_text
    assert not (checkout / "supervisor/console/dist").exists()
    assert _console(checkout, **nobody)[0] == 1, "a person who tries again hears that it failed"


def test_what_is_built_from_these_sources_is_not_built_again(checkout: Path) -> None:
    built = checkout / "supervisor/console/dist"
    shutil.copytree(CONSOLE / "dist", built)
    assert (built / BUILT_FROM).read_text().strip() == source_digest()

    assert _console(checkout) == (0, "")


def test_each_source_counts(checkout: Path) -> None:
    """Goal: a change of the API's description builds anew, since the types come from it."""
    command = "from scripts.console import source_digest as d; print(d())"

    def digest() -> str:
        ended = subprocess.run(
            [sys.executable, "-c", command],
            cwd=checkout,
            capture_output=True,
            text=True,
            check=True,
        )
        return ended.stdout

    seen = [digest()]
    for name in ("src/scheme.js", "package-lock.json", "index.html", "vite.config.ts"):
        with (checkout / "supervisor/console" / name).open("a") as file:
            file.write("\n")
        seen.append(digest())
    api = checkout / "docs/reference/openapi.json"
    api.write_text(json.dumps(json.loads(api.read_text())))
    seen.append(digest())
    (checkout / "supervisor/console/dist").mkdir()
    (checkout / "supervisor/console/dist/index.html").write_text("")

    assert len(set(seen)) == len(seen)
    assert digest() == seen[-1], "what is built is no source"
