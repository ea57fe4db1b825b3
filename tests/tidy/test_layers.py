"""The contracts about imports catch the imports that they are there for."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tidy.sources import ROOT

_CONTRACTED = {
    "supervisor": "app service reconcile observe ports",
    "supervisor/core": "plan",
    "supervisor/cli": "main",
    "supervisor/dev": "children",
    "supervisor/api": "routes",
    "supervisor/adapters": "kafka",
    "supervisor/metadata": "segments",
    "tasks": "contract offsets kafka_client wire machine orders pacing progress reading signals "
    "task_state worker spark_session expression filter_sql filters ingest_spec java_regex joda "
    "json_path period registry row_plan sample_contract sample_ranges sql tiling zone_names zones "
    "avro_schema avro_sql protobuf_schema discovery digests arrays secret_source masking",
    "tasks/ingest": "write",
    "tasks/runtime": "jars",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of empty modules under our contracts."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for folder, modules in _CONTRACTED.items():
        (tmp_path / folder).mkdir()
        for module in ("__init__", *modules.split()):
            (tmp_path / folder / f"{module}.py").touch()
    return tmp_path


def _lint(project: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    return subprocess.run(
        command, cwd=project, capture_output=True, text=True, check=False, timeout=60
    )


def test_a_project_that_keeps_the_contracts_passes(project: Path) -> None:
    (project / "supervisor/app.py").write_text(
        "import supervisor.api.routes, supervisor.adapters.kafka, tasks.worker\n"
    )
    (project / "supervisor/core/plan.py").write_text("import tasks.contract, pydantic\n")
    (project / "supervisor/cli/main.py").write_text("import supervisor.app\n")
    (project / "supervisor/dev/children.py").write_text("import tasks.runtime.jars\n")
    (project / "tasks/worker.py").write_text("import pyspark.sql\n")

    done = _lint(project)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("tasks/worker.py", "supervisor.ports"),
        ("supervisor/service.py", "tasks.machine"),
        ("supervisor/api/routes.py", "tasks.runtime.jars"),
        ("supervisor/core/plan.py", "supervisor.observe"),
        ("supervisor/core/plan.py", "sqlalchemy"),
        ("supervisor/core/plan.py", "supervisor.adapters.kafka"),
        ("supervisor/observe.py", "supervisor.service"),
        ("supervisor/reconcile.py", "supervisor.service"),
        ("supervisor/service.py", "supervisor.metadata.segments"),
        ("supervisor/metadata/segments.py", "supervisor.service"),
        ("supervisor/api/routes.py", "supervisor.app"),
        ("tasks/machine.py", "pyarrow"),
        ("tasks/contract.py", "httpx"),
        ("tasks/runtime/jars.py", "pyspark"),
        ("supervisor/observe.py", "pyspark.sql"),
    ],
)
def test_an_import_against_the_layers_is_caught(
    project: Path, importer: str, imported: str
) -> None:
    (project / importer).write_text(f"import {imported}\n")

    done = _lint(project)

    assert done.returncode == 1, done.stdout + done.stderr
    assert f"-> {imported.partition('.')[0]}" in done.stdout
