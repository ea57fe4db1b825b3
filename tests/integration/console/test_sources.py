"""The tools of the console's language are content with it, and its unit tests pass.

Slow: the compiler reads all of the console and the types of its packages.
"""

from pathlib import Path

import pytest

from scripts.console import CONSOLE
from scripts.node import npm, run

pytestmark = pytest.mark.process

_WITHIN_S = 400.0


@pytest.mark.parametrize("script", ["check", "lint", "test"])
def test_a_tool_of_the_console_finds_nothing(built: Path, script: str) -> None:
    """Goal: `tsc --strict`, Biome and Vitest, as `npm run` calls them."""
    assert (built.parent / "src/api/schema.ts").is_file(), "the build generates these types"

    ended = run(*npm("run", script), folder=CONSOLE, timeout_s=_WITHIN_S)

    assert ended.returncode == 0, f"npm run {script}\n{ended.stdout}"


def test_the_compiler_is_as_strict_as_it_can_be(built: Path) -> None:
    assert built.is_dir()

    shown = run(*npm("exec", "--", "tsc", "--showConfig"), folder=CONSOLE, timeout_s=_WITHIN_S)

    for option in ("strict", "noUncheckedIndexedAccess", "exactOptionalPropertyTypes"):
        assert f'"{option}": true' in shown.stdout, shown.stdout
