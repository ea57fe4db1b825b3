"""HTTP server of a worker's control API: Druid's chat paths, each task behind its own token.

The control API only accelerates: every order has (term, sequence) and travels by the sync as
well, so a handoff succeeds without this server (P5).  Routes are in `control_api.py` and
`routes.py`.
"""

import socket
from threading import Thread

import uvicorn

from tasks.runtime.http_guard import LOOP, guarded
from tasks.worker.http.control_api import Listing, create_app
from tasks.worker.http.metrics import WorkerCollector
from tasks.worker.http.routes import add_worker_routes
from tasks.worker.metrics import WorkerMeters
from tasks.worker.options import WorkerOptions
from tasks.worker.reporting.task_logs import TaskLogs
from tasks.worker.roster import Roster

_ANY = {"", "0.0.0.0", "::"}  # noqa: S104 -- compared with, not bound to
_CLOSE_TIMEOUT_S = 5.0
_BACKLOG = 128
_CONNECTIONS_MAX = 500


class ControlServer:
    """Serves the control API on a thread; holds the port from the construction on."""

    def __init__(
        self,
        options: WorkerOptions,
        roster: Roster,
        logs: TaskLogs | None = None,
        metrics: WorkerCollector | None = None,
    ) -> None:
        family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
        self._socket = socket.create_server(
            (options.host, options.port), family=family, backlog=_BACKLOG
        )
        port = self._socket.getsockname()[1]
        host = options.advertised_host or (
            socket.gethostname() if options.host in _ANY else options.host
        )
        self.url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        listing = Listing(options.token, to_anybody=options.lists_to_anybody)
        app = create_app(roster, threads_max=options.threads_max, listing=listing)
        address = self.url.removeprefix("http://")
        app.state.metrics = metrics or WorkerCollector(roster, WorkerMeters(), slots=options.slots)
        add_worker_routes(app, roster, logs or TaskLogs(options.data_dir), address)
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="on",
            timeout_keep_alive=30,
            timeout_graceful_shutdown=2,
            http=guarded(_CONNECTIONS_MAX, options.connections_per_address),
            loop=LOOP,
            ws="none",
            proxy_headers=False,
        )
        self._server = uvicorn.Server(config)
        self._thread: Thread | None = None

    def start(self) -> None:
        """Serve; earlier requests wait in the socket's queue until the thread runs."""
        self._thread = Thread(target=self._serve, name="control API", daemon=True)
        self._thread.start()

    @property
    def serves(self) -> bool:
        """Whether the server's thread runs."""
        return self._thread is not None and self._thread.is_alive()

    def close(self) -> None:
        """Stop serving and release the port."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(_CLOSE_TIMEOUT_S)
        self._socket.close()

    def _serve(self) -> None:
        self._server.run(sockets=[self._socket])
