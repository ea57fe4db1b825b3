"""What a process loads when it starts: memory and time of what it may never need are not paid."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

LIBRARIES = frozenset(
    {"alembic", "deltalake", "duckdb", "fastapi", "numpy", "pyarrow", "pyiceberg", "pyspark"}
    | {"sqlalchemy", "typer"}
)


@pytest.mark.parametrize(
    ("module", "wanted"),
    [
        pytest.param("supervisor.cli.main", {"typer"}, id="a command"),
        pytest.param("supervisor.app.server", {"fastapi", "sqlalchemy"}, id="an overlord"),
        pytest.param(
            "supervisor.app.worker", {"fastapi", "numpy", "pyarrow", "pyspark"}, id="a worker"
        ),
        pytest.param("supervisor.dev.run", set(), id="what starts all of them"),
    ],
)
def test_a_process_starts_with_the_libraries_that_it_needs(module: str, wanted: set[str]) -> None:
    """Goal: DuckDB and Arrow alone are some 50 MB, and a sixth of a second of each start."""
    program = f"import json, sys, {module}; print(json.dumps(list(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert LIBRARIES & set(json.loads(done.stdout)) == wanted
