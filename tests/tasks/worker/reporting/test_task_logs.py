"""The log of each task in a file of its own: what stands in it, who reads it, what bounds it."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import httpx
import pytest
import structlog

from supervisor.adapters.workers.task_logs import HttpTaskLogs
from supervisor.core.values.errors import WorkerUnavailable
from tasks.contract.messages import FailureCode, TaskPhase
from tasks.ports import TaskError
from tasks.worker.reporting.task_logs import LogBounds, TaskLogs
from tests.tasks.memory import DEADLINE_S, at, desired, order, pause
from tests.tasks.worker.http.test_server import served
from tests.tasks.worker.test_runner import Site, position_is, reaches

TOKEN = "token of task-1"
LOG = "/druid/worker/v1/task/task-1/log"
SMALL = LogBounds(
    file_bytes_max=1_000,
    reserve_bytes=300,
    files_max=3,
    total_bytes_max=2_500,
    line_bytes_max=200,
    answer_bytes_max=400,
)


@contextmanager
def logging_to(logs: TaskLogs) -> Iterator[None]:
    """Have structlog leave the lines of tasks with `logs`, as the composition root does."""
    before = structlog.get_config()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            logs,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.ReturnLoggerFactory(),
    )
    try:
        yield
    finally:
        structlog.configure(**before)


@pytest.fixture
def logs(tmp_path: Path) -> Iterator[TaskLogs]:
    task_logs = TaskLogs(tmp_path)
    with logging_to(task_logs):
        yield task_logs


@pytest.fixture
def small(tmp_path: Path) -> Iterator[TaskLogs]:
    task_logs = TaskLogs(tmp_path, SMALL)
    with logging_to(task_logs):
        yield task_logs


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    new_site = Site(tmp_path)
    yield new_site
    new_site.close()


def text_of(logs: TaskLogs, task_id: str = "task-1") -> str:
    part = logs.read(task_id, 0)
    return "" if part is None else part.content.decode()


def say(task_id: str, text: str, level: str = "info") -> None:
    getattr(structlog.get_logger(), level)(text, task=task_id)


# ---------------------------------------------------------------- what a task's log tells


@pytest.fixture
def task_log(tmp_path: Path) -> Iterator[TaskLogs]:
    """Logs over the folder that the site's roster writes into."""
    task_logs = TaskLogs(tmp_path)
    task_logs.begin("task-1", TOKEN)
    with logging_to(task_logs):
        yield task_logs


def test_a_whole_life_is_told(task_log: TaskLogs, site: Site) -> None:
    """Goal: spec, range, batches, pause, end, merge and publish, each with its numbers."""
    [runner] = site.run("task-1")
    assert runner.wait_until(position_is(5), DEADLINE_S)
    runner.deliver_order(pause(2))
    reaches(runner, TaskPhase.PAUSED)
    runner.deliver_order(order(3, end=at(5)))
    reaches(runner, TaskPhase.SUCCESS)
    assert runner.join(DEADLINE_S)

    lines = text_of(task_log).splitlines()

    found = [next((n for n, line in enumerate(lines) if part in line), None) for part in STORY]
    assert None not in found, (STORY[found.index(None)], lines)
    begins, batch = lines[found[0] or 0], lines[found[1] or 0]
    assert "start=" in begins
    assert "rows=5" in batch
    assert "offsets=5" in batch
    assert "ms=" in batch
    for line in lines:
        assert "task=task-1" in line
        assert "supervisor=" in line
        assert "generation=" in line
        assert "attempt=" in line
    assert TOKEN not in "\n".join(lines)


STORY = (
    "the task begins",
    "a batch is journaled",
    "it is to pause",
    "it has paused",
    "its end is fixed",
    "it merges",
    "its segments are written",
    "it asked to publish",
    "the task has succeeded",
)


def test_why_a_task_failed_is_its_last_line(task_log: TaskLogs, site: Site) -> None:
    site.engine.failure = TaskError(FailureCode.READ_FAILED, "the range cannot be read")

    [runner] = site.run("task-1")
    reaches(runner, TaskPhase.FAILED)
    assert runner.join(DEADLINE_S)

    last = text_of(task_log).splitlines()[-1]
    assert " ERROR " in last
    assert "the task has failed" in last
    assert 'why="the range cannot be read"' in last
    assert "code=READ_FAILED" in last


def test_what_others_say_on_the_tasks_thread_is_in_its_log(logs: TaskLogs) -> None:
    logs.begin("task-1", TOKEN)

    def work() -> None:
        structlog.contextvars.bind_contextvars(task="task-1", group=3)
        structlog.get_logger().warning("a library speaks", code=7)

    thread = Thread(target=work)
    thread.start()
    thread.join()
    structlog.get_logger().info("of no task")
    say("task-2", "of a task that is not here")

    assert "a library speaks code=7 group=3 task=task-1" in text_of(logs)
    assert len(text_of(logs).splitlines()) == 1
    assert logs.read("task-2", 0) is None


def test_a_line_is_one_line_of_ascii_and_a_trace_follows_it(logs: TaskLogs) -> None:
    logs.begin("task-1", TOKEN)
    error = ValueError("zero\none")
    structlog.get_logger().error("broke\nhere", task="task-1", why="Grüße", exc_info=error)

    lines = text_of(logs).splitlines()

    assert "broke here why=" in lines[0]
    assert text_of(logs).isascii()
    assert all(line.startswith("    ") for line in lines[1:])
    assert any("ValueError: zero" in line for line in lines[1:])


# ---------------------------------------------------------------- bounds


def test_a_full_log_takes_grave_lines_alone_and_says_so(small: TaskLogs, tmp_path: Path) -> None:
    small.begin("task-1", TOKEN)
    for number in range(40):
        say("task-1", f"batch {number}")
    say("task-1", "it has failed", "error")
    for number in range(40):
        say("task-1", f"error {number}", "error")

    content = (tmp_path / "task-logs" / "task-1.log").read_text()

    assert "batch 0" in content
    assert content.count("the log is full") == 1
    assert "it has failed" in content
    assert "batch 39" not in content
    assert len(content) <= SMALL.file_bytes_max + SMALL.reserve_bytes


def test_a_long_line_is_cut(small: TaskLogs) -> None:
    small.begin("task-1", TOKEN)

    say("task-1", "x" * 10_000)

    assert len(text_of(small)) == SMALL.line_bytes_max
    assert text_of(small).endswith("x\n")


@pytest.mark.parametrize("way", ["disk", "folder"])
def test_without_space_lines_are_lost_and_nothing_else(
    way: str, task_log: TaskLogs, site: Site, tmp_path: Path
) -> None:
    folder = tmp_path / "task-logs"
    if way == "disk":
        (folder / "task-1.log").symlink_to("/dev/full")
    else:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
        folder.write_text("in the way")

    [runner] = site.run("task-1")

    assert runner.wait_until(position_is(5), DEADLINE_S)
    assert task_log.may_read("task-1", TOKEN)
    assert "batch" not in text_of(task_log)


# ---------------------------------------------------------------- reading


def test_a_log_is_read_from_an_offset_or_from_its_end(small: TaskLogs) -> None:
    small.begin("task-1", TOKEN)
    for number in range(10):
        say("task-1", f"batch {number}")
    whole = b""
    while (part := small.read("task-1", len(whole))) and part.content:
        assert len(part.content) <= SMALL.answer_bytes_max
        assert part.start == len(whole)
        whole += part.content

    tail = small.read("task-1", -20)
    far = small.read("task-1", -(10**9))
    behind = small.read("task-1", 10**9)

    assert tail is not None
    assert (tail.content, tail.start, tail.size) == (whole[-20:], len(whole) - 20, len(whole))
    assert far is not None
    assert (far.start, far.content) == (0, whole[:400])
    assert behind is not None
    assert (behind.start, behind.content) == (len(whole), b"")


@pytest.fixture
def api(task_log: TaskLogs, site: Site) -> Iterator[httpx.Client]:
    say("task-1", "hello")
    assert "hello" in text_of(task_log)
    with served(site) as client:
        yield client


def test_a_log_is_served_to_whoever_has_the_tasks_token(api: httpx.Client) -> None:
    answer = api.get(LOG, params={"offset": -6})

    assert (answer.status_code, answer.text) == (200, "task-1\n"[-6:])
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert int(answer.headers["X-Tidegate-Log-Size"]) == (
        int(answer.headers["X-Tidegate-Log-Start"]) + 6
    )


@pytest.mark.parametrize(
    ("path", "header", "status"),
    [
        (LOG, "", 401),
        (LOG, "Basic abc", 401),
        (LOG, "Bearer another", 404),
        ("/druid/worker/v1/task/task-2/log", f"Bearer {TOKEN}", 404),
        ("/druid/worker/v1/task/..%2Ftask-1/log", f"Bearer {TOKEN}", 404),
        ("/druid/worker/v1/task/%2Fetc%2Fpasswd/log", f"Bearer {TOKEN}", 404),
        ("/druid/worker/v1/task/task-1.key/log", f"Bearer {TOKEN}", 404),
        (f"{LOG}?offset=x", f"Bearer {TOKEN}", 400),
    ],
)
def test_nobody_else_reads_it_and_no_other_file(
    api: httpx.Client, path: str, header: str, status: int
) -> None:
    assert api.get(path, headers={"Authorization": header}).status_code == status


def test_a_log_outlives_its_task_and_its_worker(tmp_path: Path, task_log: TaskLogs) -> None:
    say("task-1", "hello")
    task_log.end("task-1")
    say("task-1", "too late")

    later = TaskLogs(tmp_path)

    assert later.may_read("task-1", TOKEN)
    assert not later.may_read("task-1", "another")
    assert "hello" in text_of(later)
    assert "too late" not in text_of(later)


@pytest.mark.parametrize("name", ["../task-1", "/etc/passwd", "", ".", "a/b", "x\0"])
def test_names_that_are_no_file_name_have_no_log(logs: TaskLogs, name: str) -> None:
    logs.begin(name, TOKEN)
    say(name, "hello")

    assert logs.read(name, 0) is None
    assert not logs.may_read(name, TOKEN)


def test_a_forgotten_task_leaves_its_log(task_log: TaskLogs, site: Site) -> None:
    """Goal: the journal goes, the log stays, and no line comes after it."""
    [runner] = site.run("task-1")
    assert runner.wait_until(position_is(5), DEADLINE_S)

    site.roster.apply([])
    assert runner.join(DEADLINE_S)
    site.roster.apply([])

    assert site.roster.find("task-1") is None
    assert "it is to stop" in text_of(task_log)


def test_the_overlords_adapter_reads_what_a_worker_serves(
    api: httpx.Client, task_log: TaskLogs
) -> None:
    source = HttpTaskLogs()
    url = str(api.base_url)

    part = source.log(url, "task-1", TOKEN, 0)

    assert part is not None
    assert part.content.decode() == text_of(task_log)
    assert (part.start, part.size) == (0, len(part.content))
    assert source.log(url, "task-1", "another", 0) is None
    assert source.log(url, "task-2", TOKEN, 0) is None
    with pytest.raises(WorkerUnavailable, match="its log is at its worker"):
        source.log("http://127.0.0.1:1", "task-1", TOKEN, 0)


def test_a_second_start_of_a_task_is_written_behind_the_first(tmp_path: Path) -> None:
    """Goal: a worker that takes a task up again, with a new token, goes on in the same file."""
    logs = TaskLogs(tmp_path)
    for token in ("first", "second"):
        logs = TaskLogs(tmp_path)
        with logging_to(logs):
            logs.begin("task-1", token)
            say("task-1", f"begun with {len(token)}")

    assert [line.split("begun ")[1][:6] for line in text_of(logs).splitlines()] == [
        "with 5",
        "with 6",
    ]
    assert TaskLogs(tmp_path).may_read("task-1", "second")
    assert not TaskLogs(tmp_path).may_read("task-1", "first")
    assert desired("task-1").token == TOKEN


def test_without_logs_nothing_is_written(site: Site, tmp_path: Path) -> None:
    """Goal: whoever runs tasks without a disk, as the simulation does, leaves no file."""
    [runner] = site.run("task-1")
    assert runner.wait_until(position_is(5), DEADLINE_S)

    assert {path.name for path in tmp_path.iterdir()} == {"journal"}
