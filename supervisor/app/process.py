"""The common start of our processes: logging, a port, folders, failpoints."""

import logging
import os
import socket
import sys
import threading
from collections.abc import MutableMapping
from pathlib import Path
from types import TracebackType
from typing import TextIO, cast

import structlog

from supervisor.settings.log import LogFormat
from supervisor.settings.problems import SetupProblem
from tasks.runtime.failpoints import FailpointsError, Reach, reach_of
from tasks.runtime.log_stream import LossyStream
from tasks.runtime.secrets import without_secrets


def configure_logging(
    *more: structlog.typing.Processor, form: LogFormat = "auto", worker: str = ""
) -> None:
    """Write one line per event to stderr: JSON for programs, colours for a terminal.

    `more` are processors that see each event before it is written.  The lines of a worker have its
    name.  Warnings and errors of libraries, and errors that end a thread, become lines of the same
    form.  No line shows a secret.
    """
    stream = cast("TextIO", LossyStream(sys.stderr))
    terminal = sys.stderr.isatty()
    console = form == "console" or (form == "auto" and terminal)
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(colors=terminal)
        if console
        else structlog.processors.JSONRenderer()
    )
    before: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        *([_naming(worker)] if worker else ()),
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _masking,
        *more,
    ]
    structlog.configure(
        processors=[*before, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.WriteLoggerFactory(stream),
    )
    handler = logging.StreamHandler(stream)
    meta = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    name = structlog.stdlib.add_logger_name
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[name, *before], processors=[meta, renderer]
        )
    )
    handler.setLevel(logging.WARNING)
    logging.getLogger().handlers = [handler]
    sys.excepthook = _ended_process
    threading.excepthook = _ended_thread


def _ended_process(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    structlog.get_logger().critical("an error ended the process", exc_info=(kind, error, trace))


def _ended_thread(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_value is not None and not issubclass(ended.exc_type, SystemExit):
        error = (ended.exc_type, ended.exc_value, ended.exc_traceback)
        name = ended.thread.name if ended.thread else ""
        structlog.get_logger().error("an error ended a thread", thread=name, exc_info=error)


def _masking(_: object, __: str, event: MutableMapping[str, object]) -> MutableMapping[str, object]:
    """Mask the secrets in each field of an event, before anything writes it."""
    for key, value in event.items():
        if not key.startswith("_"):  # structlog's own fields: records of the standard library
            event[key] = _masked(value)
    return event


def _masked(value: object) -> object:
    match value:
        case str():
            return without_secrets(value)
        case None | bool() | int() | float():
            return value
        case dict():
            return {key: _masked(each) for key, each in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_masked(each) for each in value]
        case _:  # logged by its repr, as it is, if there is no secret in it
            return value if (shown := without_secrets(repr(value))) == repr(value) else shown


def _naming(worker: str) -> structlog.typing.Processor:
    def name(_: object, __: str, event: MutableMapping[str, object]) -> MutableMapping[str, object]:
        event.setdefault("worker", worker)
        return event

    return name


def listen(host: str, port: int, setting: str = "--port or TIDEGATE_PORT") -> socket.socket:
    """Bind a server's socket before anything else starts; `setting` chooses the port.

    Raises:
        SetupProblem: the port is taken, or the address is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise SetupProblem(
            f"cannot listen on {host}:{port}: {error.strerror or error}",
            f"stop what listens there, or choose another with {setting}",
        ) from error
    bound.listen(socket.SOMAXCONN)
    return bound


def writable_folder(folder: Path, setting: str, *, mode: int = 0o777) -> Path:
    """Create the folder and prove that it is writable; `mode`: the rights of a new one.

    Raises:
        SetupProblem: the folder is not writable.
    """
    probe = folder / f".tidegate-probe-{os.getpid()}"
    try:
        folder.mkdir(mode=mode, parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise SetupProblem(
            f"{folder} is not writable: {error.strerror or error}",
            f"set {setting} to a folder that this user may write",
        ) from error
    return folder


def data_folder(folder: Path) -> Path:
    """Create a process's data folder; a new one is its owner's alone.  Raises `writable_folder`'s.

    An older one keeps its rights: tables may lie in it that others read.
    """
    return writable_folder(folder, "TIDEGATE_DATA_DIR", mode=0o700)


def failpoints() -> Reach:
    """Return the failpoint function of a process; without the variable, it does nothing.

    Raises:
        SetupProblem: the variable cannot be parsed.
    """
    try:
        return reach_of(os.environ)
    except FailpointsError as error:
        raise SetupProblem(str(error), "unset it: it is for tests of failures only") from error
