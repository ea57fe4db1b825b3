"""Each scenario runs on every engine, and ends with the checks that belong to all of them."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.environment.execution_topics import make_execution_topics
from tests.environment.executions import (
    executions_postgresql_url,
    executions_sqlite_url,
    migrated_executions_file,
    migrated_executions_postgres,
)
from tests.supervisor.core.crashes.scenarios.engines import ENGINES, Stage
from tests.supervisor.core.crashes.scenarios.on_kafka import OnKafka
from tests.supervisor.core.crashes.scenarios.projected import Projected
from tests.supervisor.core.crashes.scenarios.stored import Stored

__all__ = [
    "executions_postgresql_url",
    "executions_sqlite_url",
    "migrated_executions_file",
    "migrated_executions_postgres",
    "stage",
]
_DATABASES = ["sqlite", pytest.param("postgresql", marks=pytest.mark.pg)]


@pytest.fixture(params=[*sorted(ENGINES), *_DATABASES, "kafka", "projected"])
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    """An engine with nothing in it; K7 and K8 are checked when the test is over."""
    kind = str(request.param)
    if kind in ENGINES:
        whole = Stage(ENGINES[kind]())
        yield whole
        whole.check_ends()
    elif kind == "kafka":
        bootstrap = request.getfixturevalue("broker").bootstrap
        with closing(OnKafka(make_execution_topics(bootstrap))) as engine:
            whole = Stage(engine)
            yield whole
            whole.check_ends()
    elif kind == "projected":
        topics = make_execution_topics(request.getfixturevalue("broker").bootstrap)
        url = str(request.getfixturevalue("executions_sqlite_url"))
        with closing(Projected(topics, url)) as projected:
            whole = Stage(projected)
            yield whole
            whole.check_ends()
    else:
        with closing(Stored(str(request.getfixturevalue(f"executions_{kind}_url")))) as stored:
            whole = Stage(stored)
            yield whole
            whole.check_ends()
