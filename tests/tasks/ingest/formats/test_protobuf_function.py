"""The function that reads Protobuf, in a worker's life: many threads, schemas and JVMs.

Slow: one test starts a JVM of its own.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.type_pb2 import EnumValue
from google.protobuf.wrappers_pb2 import Int64Value

from tasks.ingest.formats.protobuf_function import KEPT_MAX, protobuf_function
from tasks.rows.schemas.protobuf import Messages, ProtobufSchemaError, read_descriptors
from tasks.runtime.jars import SPARK
from tasks.spark.session import SparkRuntime
from tests.environment.brokers import shared_cache_dir, shared_jars
from tests.tasks.ingest.decoding import rows_of
from tests.tasks.ingest.formats.protobufs import EVERY, Every, held, text_of

pytestmark = [pytest.mark.spark, pytest.mark.long]

_WORKER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tasks.ingest.formats.protobuf_function import protobuf_function
from tasks.rows.schemas.protobuf import Messages, read_descriptors
from tasks.runtime.java import find_java
from tasks.spark.session import SparkOptions, start_spark

work, truststore, text, value, message = Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:6]
jars = [Path(jar) for jar in sys.argv[6:]]
every = read_descriptors(text, message)
inner = read_descriptors(text, "Every.Inner")
options = SparkOptions(find_java("bundled", truststore), jars, work, master="local[2]", heap="600m")

def read(session, messages):
    name = protobuf_function(session, messages)
    [row] = session.sql(f"SELECT {name}(X'{value}') AS j").toLocalIterator()
    return name, row.j

for _ in range(2):
    runtime = start_spark(options)
    with ThreadPoolExecutor(8) as threads:
        wanted = [(runtime.session, each) for each in (every, inner) * 8]
        found = set(threads.map(lambda each: read(*each), wanted))
    for _, text in sorted(found):
        print(text, flush=True)
    made = list((work / "local").rglob("classes-*/*.jar"))
    print(len(found), len(made), flush=True)
    runtime.kill()
    runtime.stop()
"""


def messages(number: int) -> Messages:
    """A message of its own, with one field."""
    files = FileDescriptorSet()
    message = files.file.add(name="m", syntax="proto3").message_type.add(name="M")
    message.field.add(name=f"f{number}", number=1, type="TYPE_INT32", label="LABEL_OPTIONAL")
    return read_descriptors(text_of(files))


def test_the_one_that_was_used_least_lately_goes(spark: SparkRuntime) -> None:
    """Goal: schemas that come and go over the years do not fill a JVM; one may come back."""
    session = spark.session
    first, second = (protobuf_function(session, messages(n)) for n in range(2))
    others = [protobuf_function(session, messages(n)) for n in range(2, KEPT_MAX)]
    protobuf_function(session, messages(0))

    last = protobuf_function(session, messages(KEPT_MAX))

    there = [session.catalog.functionExists(name) for name in (first, second, others[-1], last)]
    assert there == [True, False, True, True]
    again = protobuf_function(session, messages(1))
    [row] = rows_of(spark, session.sql(f"SELECT 0 AS o, {again}(X'0805') AS j"))
    assert (again, row["j"]) == (second, '{"f1":5}')


def test_a_message_whose_name_ends_as_a_wrappers_is_written_whole(spark: SparkRuntime) -> None:
    files = FileDescriptorSet()
    file = files.file.add(name="m", syntax="proto3")
    file.dependency.extend(["google/protobuf/type.proto", "google/protobuf/wrappers.proto"])
    message = file.message_type.add(name="M")
    for number, kind in enumerate(("EnumValue", "Int64Value"), start=1):
        message.field.add(
            name=f"f{number}",
            number=number,
            type="TYPE_MESSAGE",
            type_name=f".google.protobuf.{kind}",
            label="LABEL_OPTIONAL",
        )
    first = EnumValue(name="A", number=3).SerializeToString()
    second = Int64Value(value=5).SerializeToString()
    value = b"\x0a" + bytes([len(first)]) + first + b"\x12" + bytes([len(second)]) + second

    name = protobuf_function(spark.session, read_descriptors(text_of(files)))
    [row] = rows_of(spark, spark.session.sql(f"SELECT 0 AS o, {name}(X'{value.hex()}') AS j"))

    assert row["j"] == '{"f1":{"name":"A","number":3},"f2":5}'


def test_what_javas_library_does_not_take_is_told(spark: SparkRuntime) -> None:
    one = FileDescriptorProto(name="m", dependency=["far/away.proto"])
    one.message_type.add(name="M")
    held_in = FileDescriptorSet(file=[one]).SerializeToString()

    with pytest.raises(ProtobufSchemaError, match="Spark's library does not take it"):
        protobuf_function(spark.session, Messages(held_in, "M"))


def test_it_is_made_once_in_each_jvm_whichever_thread_asks(tmp_path: Path) -> None:
    """Goal: a JVM that dies takes it along, and the next one has it again.

    In a process of its own, since PySpark has one JVM at a time for a whole process.
    """
    jars = [str(jar) for jar in shared_jars(SPARK)]
    cache = str(shared_cache_dir() / "truststore")
    value = Every(an_int32=7, a_string="x").SerializeToString().hex()
    given = [str(tmp_path / "work"), cache, text_of(held("every")), value, EVERY, *jars]

    done = subprocess.run(
        [sys.executable, "-c", _WORKER, *given],
        cwd=Path(__file__).parents[4],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )

    assert done.returncode == 0, done.stderr
    output_lines = sorted(done.stdout.splitlines())
    assert output_lines.count('{"anInt32":7,"aString":"x"}') == 2
    assert [line for line in output_lines if not line.startswith("{")] == ["2 1", "2 2"]
