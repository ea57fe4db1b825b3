"""Flags of every worker's JVM and settings of its Spark; `SparkOptions` has what differs."""

# What Spark's launcher would add, less `--add-modules=jdk.incubator.vector`.
# Source: org.apache.spark.launcher.JavaModuleOptions of Spark 4.0.0.
_OPENED = (
    *("java.base/java.lang", "java.base/java.lang.invoke", "java.base/java.lang.reflect"),
    *("java.base/java.io", "java.base/java.net", "java.base/java.nio", "java.base/java.util"),
    *("java.base/java.util.concurrent", "java.base/java.util.concurrent.atomic"),
    *("java.base/jdk.internal.ref", "java.base/sun.nio.ch", "java.base/sun.nio.cs"),
    *("java.base/sun.security.action", "java.base/sun.util.calendar"),
    "java.security.jgss/sun.security.krb5",
)
SECOND_COMPILER = (
    # Most of what it compiles at a start is code that plans, parses and generates, and that later
    # runs a few times a batch (docs/adr/0046).  So it begins six times later than by default: what
    # runs for each record is there within seconds all the same.
    "-XX:Tier4InvocationThreshold=30000",
    "-XX:Tier4MinInvocationThreshold=3600",
    "-XX:Tier4CompileThreshold=90000",
    "-XX:Tier4BackEdgeThreshold=240000",
)
"""How often a method or a loop runs before the JVM compiles it a second time, thoroughly."""

JVM_FLAGS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    # A rule over many columns becomes one long Java method, which must be compiled all the same.
    "-XX:-DontCompileHugeMethods",
    *SECOND_COMPILER,
    *(f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED),
    "-Djdk.reflect.useDirectMethodHandle=false",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-XX:-UsePerfData",
    "-XX:+ExitOnOutOfMemoryError",  # a JVM that lacks memory would seem to live
    "-Djava.awt.headless=true",
    "-Dfile.encoding=UTF-8",
    # A login module that a user names runs code (CVE-2023-25194, CVE-2025-27818), an OAuth URL
    # reads files and inner hosts (CVE-2025-27817).  Specs cannot carry either; this is the second
    # line of defence.  No client asks an OAuth URL without OAuth's login module, so this list shuts
    # that out as well: kafka-clients 3.9.0 does not know the list of allowed URLs of 3.9.1.
    (
        "-Dorg.apache.kafka.disallowed.login.modules=com.sun.security.auth.module.JndiLoginModule,"
        "com.sun.security.auth.module.LdapLoginModule,"
        "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
    ),
    # A few broken bytes may announce a text or a list of two billion, and memory is allocated
    # before the first byte is read.  No record exceeds these bounds, in bytes and in items.
    "-Dorg.apache.avro.limits.bytes.maxLength=67108864",
    "-Dorg.apache.avro.limits.string.maxLength=67108864",
    "-Dorg.apache.avro.limits.collectionItems.maxLength=4194304",
)

_MANY_THREADS_FROM_MB = 2_048
_MIB = 1_024 * 1_024


def collector(heap: str) -> str:
    """Return the flag of the garbage collector for a heap size in the JVM's notation: 768m, 2g.

    One thread soon collects a small heap, and Serial collects old objects before the heap grows.
    Parallel lets the heap grow first: with Parallel two tasks that kept up with a stream took
    380 MB more memory, and their batches took no less time.
    """
    small = heap_bytes(heap) < _MANY_THREADS_FROM_MB * _MIB
    return "-XX:+UseSerialGC" if small else "-XX:+UseParallelGC"


def heap_bytes(heap: str) -> int:
    """Return the bytes of a heap size in the JVM's notation: 768m, 2g."""
    number, unit = int(heap[:-1]), heap[-1].lower()
    return number * _MIB * (1_024 if unit == "g" else 1)


CONF = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "WARN",
    # By default Spark masks only passwords among Kafka's properties, but no JAAS line and no key.
    "spark.redaction.regex": "(?i)secret|password|token|access[.]?key|jaas|keystore|ssl[.]key",
    "spark.sql.redaction.options.regex": "(?i)url|secret|password|jaas|keystore|ssl[.]key",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.scheduler.mode": "FAIR",
    "spark.speculation": "false",
    # Spark would end the JVM, with all tasks of the worker, if a record overflows the stack in a
    # user's regular expression.  Lack of memory does end the JVM: see JVM_FLAGS.
    "spark.executor.killOnFatalError.depth": "0",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
    # Otherwise Spark replaces ${env:NAME} in a text by a variable of the process.
    "spark.sql.variable.substitute": "false",
    "spark.sql.variant.allowDuplicateKeys": "true",  # the last counts, as it does elsewhere
    "spark.sql.ansi.enabled": "false",  # a value that does not fit is null, never a failed job
    # Invalid bytes of a text encoding do not fail a job either: they are replaced, as in Java.
    "spark.sql.legacy.codingErrorAction": "true",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.adaptive.enabled": "false",  # no batch shuffles; planning twice costs time
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.json.enablePartialResults": "false",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.mergeSchema": "false",
    "spark.sql.sources.commitProtocolClass": (
        "org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol"
    ),
    "spark.sql.files.maxPartitionBytes": str(256 * 1024 * 1024),
    "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    # With version 2 a task moves its files into place itself, even a late task of a cancelled job.
    "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version": "1",
    # The checksummed local file system leaves a .crc beside each file.
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
    # A task keeps its consumer group, so that its next batch reuses its open consumers.  Consumers
    # of ended tasks hold megabytes each until they are closed.
    "spark.kafka.consumer.cache.capacity": "256",
    "spark.kafka.consumer.cache.timeout": "1m",
    "spark.kafka.consumer.cache.evictorThreadRunInterval": "20s",
    "spark.kafka.consumer.fetchedData.cache.timeout": "30s",
    "spark.kafka.consumer.fetchedData.cache.evictorThreadRunInterval": "20s",
    "spark.cleaner.periodicGC.interval": "10min",
    # A worker lives for weeks, so the status stores keep a bounded number of finished jobs.
    "spark.ui.retainedJobs": "200",
    "spark.ui.retainedStages": "200",
    "spark.ui.retainedTasks": "2000",
    "spark.sql.ui.retainedExecutions": "20",
}
