"""The console that was built from these very sources."""

from pathlib import Path

import pytest

from scripts.console import CONSOLE, built_from, source_digest


@pytest.fixture(scope="session")
def built() -> Path:
    """The folder of the build."""
    assert built_from() == source_digest(), "the console is not built: python -m scripts.console"
    return CONSOLE / "dist"
