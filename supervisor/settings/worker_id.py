"""The id of a worker: the setting, else one that its data folder keeps."""

import os
import re
import socket

from supervisor.settings.problems import SetupProblem
from supervisor.settings.settings import Settings


def stable_worker_id(settings: Settings) -> str:
    """Return the worker's id: the setting, else the id stored in the data folder, else a new one.

    The id stays with the folder that holds the journals, even if the host gets another name.

    Raises:
        SetupProblem: the data folder cannot be written.
    """
    if settings.worker_id is not None:
        return settings.worker_id
    kept = settings.data_dir / "worker-id"
    try:
        if kept.is_file() and (name := kept.read_text().strip()):
            return name
        host = re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname()).strip(".-") or "host"
        name = f"worker-{host[:60]}-{os.urandom(2).hex()}"
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(f"{name}\n")
    except OSError as error:
        raise SetupProblem(
            f"the data folder {settings.data_dir} cannot be written: {error.strerror}",
            "set TIDEGATE_DATA_DIR to a folder that this user may write",
        ) from error
    return name
