"""The contracts about imports catch the imports that they are there for."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tidy.sources import ROOT

pytestmark = pytest.mark.process

_PROJECT = {
    "supervisor/adapters/clock.py": "",
    "supervisor/api/routes.py": "",
    "supervisor/app/overlord.py": "import supervisor.adapters.clock, supervisor.metadata.store\n",
    "supervisor/app/archive.py": "import tasks.sending.spool\n",
    "supervisor/app/worker.py": "import tasks.sending.spool, tasks.worker.process\n",
    "supervisor/chores/sweep.py": "",
    "supervisor/cli/main.py": "import supervisor.app.overlord, supervisor.settings.log\n",
    "supervisor/control/observe.py": "import supervisor.ports.store\n",
    "supervisor/core/attention/remedies.py": "",
    "supervisor/core/history/lag.py": "",
    "supervisor/core/model/rows.py": "import supervisor.core.spec.spec\n",
    "supervisor/core/planning/plan.py": "import tasks.contract.messages, pydantic\n",
    "supervisor/core/queue/events.py": "",
    "supervisor/core/executions/reduce.py": "",
    "supervisor/core/flows/reading.py": "",
    "supervisor/core/reports/tracker.py": "",
    "supervisor/core/spec/spec.py": "import supervisor.core.values.ids\n",
    "supervisor/core/tables/exports.py": "",
    "supervisor/core/values/ids.py": "",
    "supervisor/database/engine.py": "import sqlalchemy\n",
    "supervisor/dev/children.py": "import tasks.runtime.jars\n",
    "supervisor/eventqueue/queues.py": "",
    "supervisor/metadata/store.py": "import supervisor.ports.store, sqlalchemy\n",
    "supervisor/ports/store.py": "import supervisor.core.model.rows\n",
    "supervisor/executions/memory.py": "",
    "supervisor/reports/pipeline.py": "import tasks.reporting.record\n",
    "supervisor/services/specs.py": "import supervisor.control.observe, tasks.rows.discovery\n",
    "supervisor/settings/log.py": "",
    "supervisor/verify/judge.py": "",
    "supervisor/views/status.py": "",
    "tasks/contract/messages.py": "import pydantic\n",
    "tasks/ingest/engine.py": "import pyspark.sql\n",
    "tasks/kafka/stream.py": "",
    "tasks/machine/machine.py": "import tasks.contract.messages\n",
    "tasks/reporting/record.py": "import tasks.contract.messages\n",
    "tasks/rows/discovery.py": "import tasks.contract.messages\n",
    "tasks/runtime/jars.py": "",
    "tasks/sending/spool.py": "",
    "tasks/spark/session.py": "import pyspark.sql\n",
    "tasks/worker/process.py": "import pyspark, tasks.ingest.engine, tasks.machine.machine\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project that keeps our contracts, with an import for each exception of theirs."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for path, text in _PROJECT.items():
        _write(tmp_path, path, text)
    return tmp_path


def _write(project: Path, path: str, text: str) -> None:
    """Add to a module; its folders become packages."""
    file = project / path
    file.parent.mkdir(parents=True, exist_ok=True)
    for folder in file.relative_to(project).parents[:-1]:
        (project / folder / "__init__.py").touch()
    with file.open("a") as module:
        module.write(text)


def _lint(project: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    return subprocess.run(
        command, cwd=project, capture_output=True, text=True, check=False, timeout=60
    )


def test_a_project_that_keeps_the_contracts_passes(project: Path) -> None:
    done = _lint(project)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("tasks/worker/process.py", "supervisor.ports.store"),
        ("supervisor/services/specs.py", "tasks.machine.machine"),
        ("supervisor/api/routes.py", "tasks.kafka.stream"),
        ("supervisor/app/overlord.py", "tasks.worker.process"),
        ("supervisor/core/planning/plan.py", "supervisor.control.observe"),
        ("supervisor/core/planning/plan.py", "sqlalchemy"),
        ("supervisor/core/planning/plan.py", "supervisor.adapters.clock"),
        ("supervisor/core/values/ids.py", "supervisor.core.model.rows"),
        ("supervisor/core/planning/plan.py", "supervisor.core.tables.exports"),
        ("supervisor/control/observe.py", "supervisor.services.specs"),
        ("supervisor/control/observe.py", "supervisor.views.status"),
        ("supervisor/views/status.py", "supervisor.chores.sweep"),
        ("supervisor/chores/sweep.py", "supervisor.services.specs"),
        ("supervisor/services/specs.py", "supervisor.metadata.store"),
        ("supervisor/metadata/store.py", "supervisor.services.specs"),
        ("supervisor/api/routes.py", "supervisor.app.overlord"),
        ("supervisor/verify/judge.py", "supervisor.api.routes"),
        ("tasks/machine/machine.py", "pyarrow"),
        ("tasks/rows/discovery.py", "pyarrow"),
        ("tasks/contract/messages.py", "httpx"),
        ("tasks/runtime/jars.py", "pyspark"),
        ("supervisor/control/observe.py", "pyspark.sql"),
    ],
)
def test_an_import_against_the_layers_is_caught(
    project: Path, importer: str, imported: str
) -> None:
    _write(project, importer, f"import {imported}\n")

    done = _lint(project)

    assert done.returncode == 1, done.stdout + done.stderr
    assert f"-> {imported.partition('.')[0]}" in done.stdout


@pytest.mark.parametrize("path", ["supervisor/extra/thing.py", "supervisor/core/extra/thing.py"])
def test_a_folder_that_is_in_no_layer_is_caught(project: Path, path: str) -> None:
    _write(project, path, "")

    done = _lint(project)

    assert done.returncode == 1, done.stdout + done.stderr
    assert "extra" in done.stdout


def test_an_exception_that_nothing_needs_is_caught(project: Path) -> None:
    (project / "supervisor/app/worker.py").write_text("")

    done = _lint(project)

    assert done.returncode == 1, done.stdout + done.stderr
    assert "supervisor.app.worker -> tasks.worker" in done.stdout
