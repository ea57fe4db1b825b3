"""The control API over a real port: Druid's paths, our tokens and ranks.

Slow: real connections hang, and their deadlines pass.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient

from tasks.contract.messages import JournalView, TaskPhase
from tasks.worker.http.control_api import UNBOUNDED, Listing, create_app
from tasks.worker.http.server import ControlServer
from tasks.worker.options import WorkerOptions
from tasks.worker.runner import TaskRunner
from tests.tasks.memory import DEADLINE_S, MemoryLog, at, desired, order
from tests.tasks.worker.test_runner import QUICK, Site, position_is, reaches

CHAT = "/druid/worker/v1/chat"


@contextmanager
def served(site: Site) -> Iterator[httpx.Client]:
    options = WorkerOptions("w", site.folder, "warehouse", ("http://o",), port=0, limits=QUICK)
    server = ControlServer(options, site.roster)
    server.start()
    try:
        token = {"Authorization": "Bearer token of task-1"}
        with httpx.Client(base_url=server.url, headers=token, timeout=DEADLINE_S) as client:
            yield client
    finally:
        server.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    new_site = Site(tmp_path)
    yield new_site
    new_site.close()


@pytest.fixture
def api(site: Site) -> Iterator[httpx.Client]:
    with served(site) as client:
        yield client


@pytest.fixture
def runner(site: Site) -> TaskRunner:
    [started] = site.run("task-1")
    assert started.wait_until(position_is(5), DEADLINE_S)
    return started


def ranked(sequence: int, term: int = 1, **more: str | int) -> dict[str, str | int]:
    return {"term": term, "sequence": sequence, **more}


def test_what_no_route_takes_is_answered_in_the_form_of_all_errors(api: httpx.Client) -> None:
    unknown, other = api.get("/druid/worker/v2"), api.delete("/druid/worker/v1/tasks")

    assert (unknown.status_code, unknown.json()) == (404, {"error": "Not Found"})
    assert (other.status_code, other.json()) == (405, {"error": "Method Not Allowed"})
    assert other.headers["allow"] == "GET"


def test_health_and_task_ids_need_no_token(api: httpx.Client, runner: TaskRunner) -> None:
    del runner
    assert api.get("/status/health", headers={"Authorization": ""}).json() is True
    assert api.get("/druid/worker/v1/tasks", headers={"Authorization": ""}).json() == ["task-1"]


@pytest.mark.parametrize(
    ("listing", "authorization", "status"),
    [
        (Listing("tdg_own", to_anybody=False), "", 401),
        (Listing("tdg_own", to_anybody=False), "Bearer tdg_other", 403),
        (Listing("tdg_own", to_anybody=False), "Bearer tdg_own", 200),
        (Listing(None, to_anybody=False), "Bearer None", 403),
        (Listing("tdg_own"), "", 200),
    ],
)
def test_beyond_loopback_task_ids_are_told_to_who_has_the_workers_token(
    site: Site, listing: Listing, authorization: str, status: int
) -> None:
    control = TestClient(
        create_app(site.roster, threads_max=1, listing=listing), "http://127.0.0.1:8091"
    )
    given = {"Authorization": authorization}
    assert control.get("/druid/worker/v1/tasks", headers=given).status_code == status


@pytest.mark.usefixtures("runner")
def test_a_page_of_another_site_reads_neither_tasks_nor_metrics(api: httpx.Client) -> None:
    """Source: DNS rebinding, where a browser sends the site's own name to this machine."""
    for path in ("/druid/worker/v1/tasks", "/metrics"):
        rebound = api.get(path, headers={"Host": "evil.example:8091"})
        assert (rebound.status_code, "evil.example" in rebound.text) == (403, True)
        assert api.get(path, headers={"Host": "localhost:8091"}).status_code == 200


@pytest.mark.usefixtures("runner")
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("status", "READING"),
        ("offsets/current", {"0": 5}),
        ("offsets/end", {"0": UNBOUNDED}),
        ("unparseableEvents", []),
    ],
)
def test_a_task_answers_as_a_task_of_druid_does(api: httpx.Client, path: str, body: object) -> None:
    """Source: answers of Druid 33 to the same requests."""
    answer = api.get(f"{CHAT}/task-1/{path}")

    assert (answer.status_code, answer.json()) == (200, body)
    assert answer.headers["X-Druid-Task-Id"] == "task-1"


@pytest.mark.usefixtures("runner")
def test_row_stats_count_what_is_journaled(api: httpx.Client) -> None:
    totals = api.get(f"{CHAT}/task-1/rowStats").json()["totals"]["buildSegments"]

    assert (totals["processed"], totals["processedBytes"]) == (5, 50)


@pytest.mark.usefixtures("runner")
def test_the_journal_lists_files_that_are_not_published_yet(api: httpx.Client, site: Site) -> None:
    view = JournalView.from_json(api.get(f"{CHAT}/task-1/journal").content)

    assert view.position == at(5)
    assert {file.path for file in view.files} == site.engine.files


def test_a_task_that_nobody_serves_is_asked_for_later(api: httpx.Client) -> None:
    """Source: Druid 33's answer for an unknown task; faults C8: a 400 made Druid kill the task."""
    answer = api.get(f"{CHAT}/no-such-task/status")

    assert answer.status_code == 503
    assert answer.json() == {"error": "Can't find chatHandler for handler[no-such-task]"}
    assert answer.headers["Retry-After"] == "1"


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("", 401),
        ("Bearer", 401),
        ("Basic dG9rZW4=", 401),
        ("Bearer another", 403),
        ("Bearer token of task-2", 403),
    ],
)
@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "status"), ("POST", "pause"), ("POST", "resume"), ("POST", "offsets/end")],
)
def test_without_its_token_a_task_is_closed(
    site: Site, api: httpx.Client, header: str, status: int, method: str, path: str
) -> None:
    [runner, _] = site.run("task-1", "task-2")
    url = f"{CHAT}/task-1/{path}"

    answer = api.request(
        method, url, params=ranked(9), headers={"Authorization": header}, content=b'{"0": 1}'
    )

    assert answer.status_code == status
    assert runner.state.order.sequence == 1


@pytest.mark.usefixtures("runner")
def test_a_request_meant_for_another_task_has_no_effect(api: httpx.Client) -> None:
    """Source: faults C7; Druid's X-Druid-Task-Id."""
    answer = api.post(
        f"{CHAT}/task-1/pause", params=ranked(2), headers={"X-Druid-Task-Id": "task-9"}
    )

    assert answer.status_code == 400
    assert api.get(f"{CHAT}/task-1/status").json() == "READING"


def test_a_pause_answers_with_the_offsets(api: httpx.Client, runner: TaskRunner) -> None:
    """Source: Druid 33's answer to a pause."""
    answer = api.post(f"{CHAT}/task-1/pause", params=ranked(2, leaseSeconds=30))

    assert (answer.status_code, answer.json()) == (200, {"0": 5})
    assert runner.state.phase is TaskPhase.PAUSED
    assert api.get(f"{CHAT}/task-1/status").json() == "PAUSED"
    assert runner.state.order.pause_lease.total_seconds() == 30


def test_a_pause_that_takes_long_is_accepted_and_happens_later(
    site: Site, api: httpx.Client
) -> None:
    site.engine.hold(deaf=True)
    [runner] = site.run("task-1")
    site.engine.wait_running("task-1")

    answer = api.post(f"{CHAT}/task-1/pause", params=ranked(2))
    site.engine.release()

    assert answer.status_code == 202
    reaches(runner, TaskPhase.PAUSED)


def test_a_repeated_pause_gets_the_same_answer(api: httpx.Client, runner: TaskRunner) -> None:
    """Source: faults C2, C3."""
    first = api.post(f"{CHAT}/task-1/pause", params=ranked(2))
    lease = runner.state.paused_until

    second = api.post(f"{CHAT}/task-1/pause", params=ranked(2))

    assert (second.status_code, second.json()) == (first.status_code, first.json())
    assert runner.state.paused_until == lease


@pytest.mark.parametrize("path", ["pause", "resume", "offsets/end"])
def test_a_late_copy_of_an_order_has_no_effect(
    api: httpx.Client, runner: TaskRunner, path: str
) -> None:
    """Source: faults C4."""
    runner.deliver_order(order(5, term=3))

    answer = api.post(f"{CHAT}/task-1/{path}", params=ranked(9, term=2), content=b'{"0": 9}')

    assert answer.status_code == 409
    assert "term 3, sequence 5" in answer.json()["error"]
    assert (runner.state.order.rank, runner.state.end) == ((3, 5), None)


@pytest.mark.usefixtures("runner")
@pytest.mark.parametrize("path", ["pause", "resume", "offsets/end"])
@pytest.mark.parametrize("params", [{}, {"term": 1}, {"sequence": 2}, {"term": "x", "sequence": 2}])
def test_an_order_without_its_rank_is_refused(
    api: httpx.Client, path: str, params: dict[str, str | int]
) -> None:
    answer = api.post(f"{CHAT}/task-1/{path}", params=params, content=b'{"0": 9}')

    assert answer.status_code == 400
    assert "term" in answer.json()["error"] or "sequence" in answer.json()["error"]


def test_resume_ends_a_pause(api: httpx.Client, runner: TaskRunner) -> None:
    api.post(f"{CHAT}/task-1/pause", params=ranked(2))

    answer = api.post(f"{CHAT}/task-1/resume", params=ranked(3))

    assert answer.status_code == 200
    assert runner.state.phase is TaskPhase.READING


@pytest.mark.parametrize("body", ['{"0": 5}', '{"clicks:0": 5}'])
def test_an_end_is_taken_in_both_forms_and_finishes_a_paused_task(
    api: httpx.Client, runner: TaskRunner, body: str
) -> None:
    api.post(f"{CHAT}/task-1/pause", params=ranked(2))

    answer = api.post(f"{CHAT}/task-1/offsets/end", params=ranked(3, finish="true"), content=body)

    assert (answer.status_code, answer.json()) == (200, {"0": 5})
    reaches(runner, TaskPhase.SUCCESS)
    assert api.get(f"{CHAT}/task-1/offsets/end").json() == {"0": 5}


def test_a_repeated_end_gets_the_same_answer_and_another_is_refused(
    api: httpx.Client, runner: TaskRunner
) -> None:
    """Source: faults C3; Druid's order of checks in POST /offsets/end."""
    for _ in range(2):
        answer = api.post(f"{CHAT}/task-1/offsets/end", params=ranked(3), content=b'{"0": 9}')
        assert (answer.status_code, answer.json()) == (200, {"0": 9})

    other = api.post(f"{CHAT}/task-1/offsets/end", params=ranked(4), content=b'{"0": 8}')

    assert other.status_code == 409
    assert runner.state.end == at(9)
    assert runner.state.phase is TaskPhase.FINISHING


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nonsense",
        b"[]",
        b"{}",
        b'{"1": 5}',
        b'{"0": 5, "1": 5}',
        b'{"x": 5}',
        b'{"0": "5"}',
        b'{"0": -1}',
        b'{"other:0": 5}',
    ],
)
def test_an_end_that_is_no_end_of_this_task_is_refused(
    api: httpx.Client, runner: TaskRunner, body: bytes
) -> None:
    answer = api.post(f"{CHAT}/task-1/offsets/end", params=ranked(3), content=body)

    assert answer.status_code == 400
    assert (runner.state.end, runner.state.failure) == (None, None)


@pytest.mark.usefixtures("runner")
def test_an_incremental_end_is_not_offered(api: httpx.Client) -> None:
    params = ranked(3, finish="false")
    answer = api.post(f"{CHAT}/task-1/offsets/end", params=params, content=b'{"0": 5}')

    assert answer.status_code == 400


def test_a_task_that_finishes_cannot_pause(api: httpx.Client, runner: TaskRunner) -> None:
    """Source: Druid answers 409 if a task is neither READING nor PAUSED."""
    runner.deliver_order(order(2, end=at(99)))

    answer = api.post(f"{CHAT}/task-1/pause", params=ranked(3))

    assert answer.status_code == 409
    assert runner.state.order.sequence == 2


@pytest.mark.parametrize("lease", ["0", "-5", "nan", "1e9", "x"])
def test_a_lease_has_bounds(api: httpx.Client, runner: TaskRunner, lease: str) -> None:
    answer = api.post(f"{CHAT}/task-1/pause", params=ranked(2, leaseSeconds=lease))

    assert answer.status_code == 400
    assert runner.state.phase is TaskPhase.READING


@pytest.mark.usefixtures("runner")
@pytest.mark.parametrize("announced", [True, False])
def test_a_body_of_more_than_a_mebibyte_is_refused(api: httpx.Client, announced: bool) -> None:
    body = b" " * (1024 * 1024 + 1)
    content = body if announced else iter([body[:1000], body[1000:]])

    answer = api.post(f"{CHAT}/task-1/offsets/end", params=ranked(3), content=content)

    assert answer.status_code == 413


def test_a_failing_route_says_so_without_its_traceback(
    api: httpx.Client, runner: TaskRunner
) -> None:
    runner.started_at = None  # type: ignore[assignment] # a bug

    answer = api.get(f"{CHAT}/task-1/time/start")

    assert answer.status_code == 500
    assert "Traceback" not in answer.text
    assert answer.json() == {"error": "the worker failed; its log says why"}


def test_partitions_of_several_topics_are_named_with_their_topic(tmp_path: Path) -> None:
    two = {p._replace(topic=topic): 0 for topic in ("clicks", "views") for p in at(0)}
    site = Site(tmp_path, log=MemoryLog(dict(two), dict(two), {"clicks": "id-1", "views": "id-2"}))
    task = desired(start=two).model_copy(update={"topic_ids": {}})
    site.roster.apply([task])
    with served(site) as api:
        assert api.get(f"{CHAT}/task-1/offsets/current").json() == {"clicks:0": 0, "views:0": 0}
        end = {"clicks:0": 0, "views:0": 0}
        answer = api.post(f"{CHAT}/task-1/offsets/end", params=ranked(3), json=end)
        assert (answer.status_code, answer.json()) == (200, end)
    site.close()
