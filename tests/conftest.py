"""What every test shares: the property tests' profiles, one broker, one PostgreSQL, the order."""

import atexit
import gc
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import structlog
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler.loadscope import LoadScopeScheduling

from supervisor.dev.broker import Broker
from tasks.runtime.secrets import known_secrets
from tasks.spark.session import SparkRuntime
from tests.environment.brokers import start_test_broker
from tests.environment.postgres import Server, postgres
from tests.environment.sparks import start_test_spark
from tests.failures import name_failures_at_once
from tests.lanes import Lanes, is_left_out, place

settings.register_profile("fast", max_examples=10, deadline=None)
settings.register_profile("dev", max_examples=30, deadline=None)
settings.register_profile("ci", max_examples=100, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

_BOTH_COMPILERS = "-XX:TieredStopAtLevel=4"

# An overlord inside a test logs: not into what a command of the same test prints, and without the
# variables of every frame of an error, which take seconds to write.
structlog.configure(
    processors=[
        *structlog.get_config()["processors"][:-1],
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
    ],
    logger_factory=structlog.PrintLoggerFactory(sys.__stderr__),
)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Import no file of which the run leaves out every test."""
    return is_left_out(collection_path) or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first and keep folders together; within one the order is random."""
    items.sort(key=lambda item: place(item.nodeid))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Let tests and modules come into being without a look at each other: all of them stay.

    And say of each failure at once which test it is, not only at the end.
    """
    name_failures_at_once(session)
    gc.disable()


def pytest_collection_finish() -> None:
    """Keep all tests and modules, which live to the end, out of every later collection of garbage.

    Else a process with all tests spends a quarter of its time on looking through them.  At the very
    end extension modules must find their objects gone, or they report leaks.
    """
    gc.collect()
    gc.freeze()
    gc.enable()
    atexit.register(gc.unfreeze)


def pytest_unconfigure() -> None:
    """Collect garbage again, also after an error in the collection."""
    gc.enable()


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Bound what Spark's parser remembers: few tests are runs of a task, which would do it."""
    runtime = getattr(item, "funcargs", {}).get("spark")
    if isinstance(runtime, SparkRuntime) and runtime.alive():
        runtime.parser_memory.bound()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Share files out between the processes, those with processes of their own included."""
    return Lanes(config, log)


@pytest.fixture(autouse=True)
def _forgotten_secrets() -> Iterator[None]:
    """What one test calls a secret is an ordinary word in the texts of the next."""
    yield
    known_secrets.cache_clear()


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """One real broker for all tests; each has topics of its own."""
    with start_test_broker(tmp_path_factory.mktemp("kafka")) as started:
        yield started


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkRuntime]:
    """One Spark for all tests of a process: it can have no second one.

    It lives long enough for the JVM's second compiler, which `scripts/test` denies to the others.
    """
    with ExitStack() as running:
        with pytest.MonkeyPatch.context() as environment:
            options = " ".join((os.environ.get("JDK_JAVA_OPTIONS", ""), _BOTH_COMPILERS))
            environment.setenv("JDK_JAVA_OPTIONS", options.strip())
            runtime = running.enter_context(start_test_spark(tmp_path_factory.mktemp("spark")))
        yield runtime


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """One real PostgreSQL for all tests; each has a database of its own."""
    with postgres() as server:
        yield server


@pytest.fixture
def postgresql_database(postgres_server: Server) -> Iterator[str]:
    """The URL of an empty database."""
    with postgres_server.database() as url:
        yield url
