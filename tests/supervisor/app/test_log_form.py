"""The form of the log: an object per line for programs, text for people."""

import json
import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from supervisor.app.process import configure_logging
from supervisor.settings.log import LogFormat
from supervisor.settings.problems import SetupProblem
from supervisor.settings.settings import load_settings
from tasks.runtime.secrets import secret_text
from tasks.worker.reporting.task_logs import TaskLogs
from tests.security.leaks import BY_NAME, BY_VALUE, CANARY, REFERENCE, SECRET, VARIABLE


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before, handlers = structlog.get_config(), logging.getLogger().handlers
    hooks = sys.excepthook, threading.excepthook
    yield
    sys.excepthook, threading.excepthook = hooks
    structlog.configure(**before)
    logging.getLogger().handlers = handlers


def test_each_event_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(form="json")
    structlog.get_logger().info("a pass failed", supervisor="clicks", error='a "b"\nc')

    [line] = capsys.readouterr().err.splitlines()

    logged = json.loads(line)
    expected = {
        "event": "a pass failed",
        "level": "info",
        "supervisor": "clicks",
        "error": 'a "b"\nc',
    }
    assert expected.items() <= logged.items()
    assert logged["timestamp"].endswith("Z")


def test_a_trace_is_a_field_and_not_lines_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(form="json")
    structlog.get_logger().error("broke", exc_info=ValueError("so"))

    [line] = capsys.readouterr().err.splitlines()

    assert "ValueError: so" in json.loads(line)["exception"]


def test_what_a_library_says_has_the_same_form(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(form="json", worker="w1")
    with structlog.contextvars.bound_contextvars(task="t1"):
        logging.getLogger("a.library").warning("%s of %s", 1, 2)
        logging.getLogger("a.library").info("chatter")

    [line] = capsys.readouterr().err.splitlines()

    expected = {"event": "1 of 2", "level": "warning", "logger": "a.library", "task": "t1"}
    assert (expected | {"worker": "w1"}).items() <= json.loads(line).items()


def test_every_line_of_a_worker_names_it(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(form="json", worker="w1")
    structlog.get_logger().info("one")
    structlog.get_logger().info("of another", worker="w2")

    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]

    assert [line["worker"] for line in lines] == ["w1", "w2"]


def test_people_are_told_in_text(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(form="console")
    structlog.get_logger().info("one", supervisor="clicks")

    output = capsys.readouterr().err

    assert "one" in output
    assert "supervisor=clicks" in output
    assert not output.startswith("{")


def test_what_is_no_terminal_is_told_as_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging()
    structlog.get_logger().info("one")

    assert json.loads(capsys.readouterr().err)["event"] == "one"


@pytest.mark.parametrize("form", ["json", "console"])
def test_no_line_shows_a_secret(
    form: LogFormat,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Goal: neither as an event, a fact, a trace, nor as what a library or a thread says."""
    monkeypatch.setenv(VARIABLE, SECRET)
    secret_text(REFERENCE)
    logs = TaskLogs(tmp_path)
    logs.begin("t1", "token")
    configure_logging(logs, form=form)
    log = structlog.get_logger().bind(task="t1")
    for text in (BY_NAME, BY_VALUE):
        log.error(text, why=text, facts={"held": [text]}, error=ValueError(text))
        log.error("broke", exc_info=ValueError(text))
        logging.getLogger("a.library").warning("%s", text)
        thread = threading.Thread(target=_broken, args=(text,))
        thread.start()
        thread.join()
        sys.excepthook(ValueError, ValueError(text), None)

    written = capsys.readouterr().err

    assert "broke" in written
    assert written.count("ValueError") >= 8
    part = logs.read("t1", 0)
    assert part is not None
    assert b"broke" in part.content
    assert CANARY not in written + part.content.decode()


def _broken(text: str) -> None:
    raise ValueError(text)


def test_the_form_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().log_format == "auto"
    monkeypatch.setenv("TIDEGATE_LOG_FORMAT", "json")
    assert load_settings().log_format == "json"
    monkeypatch.setenv("TIDEGATE_LOG_FORMAT", "xml")
    with pytest.raises(SetupProblem, match="TIDEGATE_LOG_FORMAT"):
        load_settings()
