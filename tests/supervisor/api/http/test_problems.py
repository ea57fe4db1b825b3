"""Errors become problems, all of them, by one table."""

import importlib
import pkgutil
from collections.abc import Iterator
from http import HTTPStatus

import pytest
from structlog.testing import capture_logs

import supervisor.api
from supervisor.api.http.edge import EDGE_PROBLEMS
from supervisor.api.http.listeners import MISDIRECTED
from supervisor.api.http.problems import PROBLEMS
from supervisor.core.values import errors
from supervisor.core.values.errors import (
    LeaseLost,
    Refused,
    SchemaTooNew,
    SupervisorError,
    Unavailable,
)
from tests.supervisor.api.world import SUPERVISORS, TASKS, TOPIC, World, post_json, spec_document
from tests.waiting import wait_until

_TERMINALS = (
    "supervisor.settings.problems",
    "supervisor.dev.",
    "supervisor.cli.",
    "supervisor.verify.",
)
"""What is told on a terminal never reaches the API."""


def _tree(root: type[SupervisorError]) -> Iterator[type[SupervisorError]]:
    yield root
    for child in root.__subclasses__():
        yield from _tree(child)


def test_the_table_has_every_class_of_the_error_tree() -> None:
    for found in pkgutil.walk_packages(supervisor.api.__path__, "supervisor.api."):
        importlib.import_module(found.name)
    classes = {c for c in _tree(SupervisorError) if not c.__module__.startswith(_TERMINALS)}

    missing = [c.__qualname__ for c in classes if c.__module__.startswith("supervisor.")]
    missing = [name for name in missing if name not in {c.__qualname__ for c in PROBLEMS}]

    assert not missing, f"add {', '.join(sorted(missing))} to api/http/problems.py"


def test_every_error_that_the_api_answers_is_defined_in_one_module() -> None:
    elsewhere = {c.__qualname__: c.__module__ for c in PROBLEMS if c.__module__ != errors.__name__}

    assert not elsewhere, "move them to core/values/errors.py"


def test_a_refusal_is_the_callers_a_failure_outside_is_not() -> None:
    for kind, problem in PROBLEMS.items():
        if issubclass(kind, Unavailable | LeaseLost):
            assert problem.status == HTTPStatus.SERVICE_UNAVAILABLE, kind
        elif issubclass(kind, Refused) and kind is not SchemaTooNew:
            assert 400 <= problem.status < 500, kind


def test_each_problem_has_a_name_of_its_own() -> None:
    slugs = [p.slug for p in (*PROBLEMS.values(), *EDGE_PROBLEMS, MISDIRECTED)]

    assert sorted(set(slugs)) == sorted(slugs)


def test_a_spec_with_several_faults_names_them_all(world: World) -> None:
    document = spec_document(taskCount=0, replicas=-1, tpoic="x")

    answer = world.post(SUPERVISORS, document)

    problem = answer.json()
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem.keys() == {"type", "title", "status", "detail", "instance", "error", "errors"}
    assert (problem["type"], problem["status"]) == ("/problems/invalid-spec", 400)
    assert (problem["instance"], problem["error"]) == (SUPERVISORS, problem["detail"])
    pointers = {error["pointer"] for error in problem["errors"]}
    assert pointers >= {f"/spec/ioConfig/{name}" for name in ("taskCount", "replicas", "tpoic")}
    assert all(error.keys() == {"pointer", "message", "hint"} for error in problem["errors"])
    assert world.get(SUPERVISORS) == []


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "not JSON"),
        (b"{", "line 1 column"),
        (b"[]", "must be an object"),
        (b'{"type": "kafka", "type": "kafka"}', "twice"),
        (b'{"type": NaN}', "NaN"),
        (b'{"type": "\xff"}', "UTF-8"),
        (b"[" * 10_000, "too deep"),
        (b"{}", "/"),
    ],
)
def test_a_body_that_is_no_spec_is_a_400_that_says_why(
    world: World, body: bytes, reason: str
) -> None:
    answer = post_json(world.client, SUPERVISORS, body)

    assert answer.status_code == 400
    assert answer.json()["type"] == "/problems/invalid-spec"
    assert reason in answer.json()["error"]


def test_a_spec_without_a_topic_or_with_a_forbidden_change_is_refused(world: World) -> None:
    document = spec_document()
    world.post(SUPERVISORS, document)

    missing = world.post(SUPERVISORS, spec_document(topic=None))
    changed = world.post(SUPERVISORS, spec_document(topic="other"))
    foreign = world.post(
        SUPERVISORS,
        spec_document(consumerProperties={"bootstrap.servers": "elsewhere.example:9092"}),
    )

    for answer in (missing, changed, foreign):
        assert answer.status_code == 400, answer.text
        assert answer.json()["type"] == "/problems/invalid-spec"
    assert changed.json()["errors"][0]["pointer"] == "/spec/ioConfig/topic"
    assert "elsewhere.example" in foreign.json()["error"]
    assert world.post(SUPERVISORS, document).json()["modified"] is False


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", SUPERVISORS),
        ("DELETE", f"{SUPERVISORS}/{TOPIC}"),
        ("GET", f"{SUPERVISORS}/{TOPIC}/suspend"),
        ("POST", f"{SUPERVISORS}/{TOPIC}/status"),
        ("POST", f"{TASKS}/tasks"),
        ("GET", "/internal/v1/workers/w1/sync"),
    ],
)
def test_a_wrong_method_is_a_405_that_names_the_right_one(
    world: World, method: str, path: str
) -> None:
    answer = world.client.request(method, path)

    assert answer.status_code == 405
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == "/problems/method-not-allowed"
    assert answer.headers["allow"] in {"GET", "POST", "GET, POST", "POST, GET"}


def test_a_route_that_is_not_there_is_a_problem_too(world: World) -> None:
    problem = world.get_object("/druid/indexer/v1/no-such-route", 404)

    assert problem["type"] == "/problems/no-such-route"
    assert problem["instance"] == "/druid/indexer/v1/no-such-route"


def test_a_bug_is_a_plain_500_with_the_usual_headers(
    world: World,
) -> None:
    """Goal: the caller learns nothing of the inside; the log has the trace."""

    def burst() -> None:
        raise RuntimeError("the inside")

    world.client.app.add_api_route("/burst", burst)  # type: ignore[attr-defined]  # a FastAPI
    with capture_logs() as logged:
        answer = world.client.get("/burst")

    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == "/problems/internal"
    assert "inside" not in answer.text
    assert "Traceback" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    [entry] = [e for e in logged if e["event"] == "a request failed"]
    assert (entry["path"], str(entry["exc_info"])) == ("/burst", "the inside")


def test_a_database_that_is_gone_makes_the_process_unhealthy(world: World) -> None:
    assert world.get("/status/health") is True
    world.loop.stop()
    world.store.close()
    world.database.write_bytes(b"no database" * 1_000)

    answer = world.client.get("/status/health")

    assert answer.status_code == 503
    assert answer.json()["type"] == "/problems/metadata-unavailable"
    assert answer.headers["retry-after"] == "1"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_process_without_its_leadership_loop_is_unhealthy(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: nothing is sent to an overlord that can neither lead nor say who does."""

    def end() -> None:
        raise SystemExit  # ends the thread without a word

    monkeypatch.setattr(world.leadership, "_run", end)
    world.leadership.start(lambda: None)
    wait_until(lambda: world.leadership.loop_ended)

    answer = world.client.get("/status/health")

    assert answer.status_code == 503
    assert "no leadership loop" in answer.json()["detail"]
