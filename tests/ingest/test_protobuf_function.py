"""The function that reads Protobuf, in a worker's life: many threads, one JVM after another.

In a process of its own, since PySpark has one JVM at a time for a whole process.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tasks.runtime.jars import SPARK
from tests.brokers import shared_cache_dir, shared_jars
from tests.ingest.protobufs import EVERY, Every, held, text_of

pytestmark = pytest.mark.spark

_WORKER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tasks.ingest.protobuf_function import protobuf_function
from tasks.protobuf_schema import Messages, read_descriptors
from tasks.runtime.java import find_java
from tasks.spark_session import SparkOptions, start_spark

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
    made = list((work / "local").rglob("protobuf-*/*.jar"))
    print(len(found), len(made), flush=True)
    runtime.kill()
    runtime.stop()
"""


def test_it_is_made_once_in_each_jvm_whichever_thread_asks(tmp_path: Path) -> None:
    """Goal: a JVM that dies takes it along, and the next one has it again."""
    jars = [str(jar) for jar in shared_jars(SPARK)]
    cache = str(shared_cache_dir() / "truststore")
    value = Every(an_int32=7, a_string="x").SerializeToString().hex()
    given = [str(tmp_path / "work"), cache, text_of(held("every")), value, EVERY, *jars]

    done = subprocess.run(
        [sys.executable, "-c", _WORKER, *given],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )

    assert done.returncode == 0, done.stderr
    told = sorted(done.stdout.splitlines())
    assert told.count('{"anInt32":7,"aString":"x"}') == 2
    assert [line for line in told if not line.startswith("{")] == ["2 1", "2 2"]
