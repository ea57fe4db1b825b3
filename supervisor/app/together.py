"""A persister and an executor in one process: one interpreter instead of two, on small machines."""

from supervisor.app.executions.executor import executing
from supervisor.app.persister import persisting
from supervisor.app.process import configure_logging
from supervisor.app.serving import serve
from supervisor.settings.settings import Settings
from tasks.runtime.http_guard import raise_file_limit

__all__ = ["run_together"]


def run_together(settings: Settings, executor_port: int) -> int:
    """Run both until SIGTERM or SIGINT; return the exit code.

    Topics that are not as an executor needs them stop no persister: the executor's `/ping` says so.

    Raises:
        SetupProblem: a port, folder, database or setting prevents the start.
    """
    configure_logging(form=settings.log_format)
    raise_file_limit()
    of_executor = settings.model_copy(update={"port": executor_port})
    with persisting(settings) as stores, executing(of_executor) as (runs, executor):
        servers = {stores.server: stores.bound, runs.server: runs.bound}
        return serve(servers, lambda: None, lambda: [] if executor.refused else executor.ended())
