"""What is declared, what is locked and what is laid out agree."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.tidy.sources import ROOT, project_files

_PINNED = re.compile(
    r"^([a-z0-9][a-z0-9._-]*)==\S+[^\n]*((?:\\\n +--hash=sha256:[0-9a-f]{64} ?)+)", re.MULTILINE
)


def pinned(lock: str) -> set[str]:
    """Return the names that a lock file pins to a version, with hashes."""
    return {match[1] for match in _PINNED.finditer(lock)}


def named(lock: str) -> set[str]:
    """Return the names of all requirements in a lock file, pinned or not."""
    return set(re.findall(r"^([A-Za-z0-9][A-Za-z0-9._-]*)", lock, re.MULTILINE))


def _of_the_product() -> list[Requirement]:
    """Return what an installation of the product needs, extras included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = [
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *(name for extra in project["project"]["optional-dependencies"].values() for name in extra),
    ]
    return [Requirement(one) for one in wanted]


def _of_developers() -> list[Requirement]:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    return [Requirement(one) for group in groups.values() for one in group]


def _declared() -> set[str]:
    return {canonicalize_name(each.name) for each in (*_of_the_product(), *_of_developers())}


def versions(lock: str) -> dict[str, set[str]]:
    """Return package -> the versions that a lock file has of it."""
    locked: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([a-z0-9][a-z0-9._-]*)==([^\s;]+)", lock, re.MULTILINE):
        locked.setdefault(name, set()).add(version)
    return locked


def unfit(wanted: Requirement, locked: set[str]) -> set[str]:
    """Return the locked versions that a requirement does not take."""
    return {each for each in locked if not wanted.specifier.contains(each, prereleases=True)}


@pytest.mark.parametrize("wanted", [*_of_the_product(), *_of_developers()], ids=str)
def test_the_lock_file_has_a_version_that_the_project_takes(wanted: Requirement) -> None:
    locked = versions((ROOT / "requirements.lock").read_text())[canonicalize_name(wanted.name)]

    assert unfit(wanted, locked) == set(), "run scripts/lock"


@pytest.mark.parametrize("wanted", _of_the_product(), ids=str)
def test_what_the_product_needs_has_a_lower_bound(wanted: Requirement) -> None:
    """Goal: no release is taken that the suite never ran with.

    Source: an older starlette, with which a header Host passed authentication.
    """
    assert {each.operator for each in wanted.specifier} & {">=", "=="}


def test_what_the_product_imports_of_its_web_server_is_declared() -> None:
    """Goal: a bound of fastapi alone says nothing of the release of starlette."""
    names = {canonicalize_name(each.name) for each in _of_the_product()}

    assert {"fastapi", "starlette", "uvicorn", "h11", "anyio"} <= names


def test_a_locked_version_below_its_bound_is_caught() -> None:
    assert unfit(Requirement("rich>=15"), {"14.9.9", "15.0.0"}) == {"14.9.9"}


def test_the_lock_file_pins_whatever_is_declared() -> None:
    lock = (ROOT / "requirements.lock").read_text()

    assert _declared() - pinned(lock) == set(), "run scripts/lock"


@pytest.mark.parametrize("lock", ["requirements.lock", "scripts/uv.lock", "scripts/build.lock"])
def test_each_locked_package_has_a_version_and_hashes(lock: str) -> None:
    text = (ROOT / lock).read_text()

    assert pinned(text)
    assert named(text) == pinned(text)
    assert "://" not in text, "no index stands in a lock file"


def test_what_is_published_as_source_is_built_by_a_locked_setuptools() -> None:
    """Goal: a build environment of its own would be filled from the index, without a hash."""
    setup = (ROOT / "scripts/setup").read_text()
    builder = versions((ROOT / "scripts/build.lock").read_text())

    assert builder == {
        "setuptools": versions((ROOT / "requirements.lock").read_text())["setuptools"]
    }
    assert "--require-hashes --requirements scripts/build.lock" in setup
    for line in re.findall(r'"\$\{uv\[@\]\}" (?:sync|install)[^|&]*', setup):
        assert "--no-build-isolation" in line or "scripts/build.lock" in line


def _pythons() -> list[str]:
    """Return the versions that the project takes, as 3.11."""
    takes = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    bounds = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", takes)
    assert bounds
    return [f"3.{minor}" for minor in range(int(bounds[1]), int(bounds[2]))]


@pytest.mark.parametrize("page", ["scripts/setup", "README.md", "docs/tutorial/first-table.md"])
def test_each_place_names_the_pythons_that_the_project_takes(page: str) -> None:
    *most, last = _pythons()

    assert f"Python {', '.join(most)} or {last}" in (ROOT / page).read_text()


def test_the_setup_takes_the_pythons_that_the_project_takes() -> None:
    first, *_, last = (version.replace(".", ", ") for version in _pythons())
    setup = (ROOT / "scripts/setup").read_text()

    assert f"({first}) <= sys.version_info[:2] <= ({last})" in setup
    assert all(f"python{version}" in setup for version in _pythons())


def test_a_package_without_a_hash_is_caught() -> None:
    lock = "rich==15.0.0\ntyper==0.29.2 \\\n    --hash=sha256:" + "0" * 64 + "\n"

    assert named(lock) - pinned(lock) == {"rich"}


def test_alembic_has_no_init() -> None:
    """Goal: a package here would be loaded in place of the library of that name."""
    assert not [path for path in project_files() if path == "alembic/__init__.py"]


@pytest.mark.parametrize("plane", ["supervisor", "tasks"])
def test_every_folder_of_modules_is_a_package(plane: str) -> None:
    """Goal: import-linter does not see a folder without `__init__.py`."""
    files = [path for path in project_files() if path.startswith(f"{plane}/")]
    folders = {str(Path(path).parent) for path in files if path.endswith(".py")}

    assert not [folder for folder in folders if f"{folder}/__init__.py" not in files]


@pytest.mark.parametrize("plane", ["supervisor", "tasks"])
def test_each_plane_ships_its_types(plane: str) -> None:
    assert f"{plane}/py.typed" in project_files()


@pytest.mark.parametrize(
    "script", ["scripts/setup", "scripts/test", "scripts/demo", "scripts/prove", ".ci/run"]
)
def test_a_script_stops_at_the_first_error(script: str) -> None:
    text = (ROOT / script).read_text()

    assert text.startswith("#!/usr/bin/env bash\n")
    assert "set -euo pipefail" in text
