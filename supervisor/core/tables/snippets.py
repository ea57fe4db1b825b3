"""Code snippets that read exactly the published rows of a table, one for each reading library.

A snippet for a library that reads a list of files requests the list from the overlord each time,
because the list is the table.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from supervisor.core.tables import path_patterns
from supervisor.core.values.export_formats import ExportFormat


class Reader(StrEnum):
    """A library that reads tables."""

    DUCKDB = "duckdb"
    POLARS = "polars"
    SPARK = "spark"
    PANDAS = "pandas"
    DELTALAKE = "deltalake"
    PYICEBERG = "pyiceberg"


FORMAT_OF: Mapping[Reader, ExportFormat] = MappingProxyType(
    {Reader.DELTALAKE: ExportFormat.DELTA, Reader.PYICEBERG: ExportFormat.ICEBERG}
)
"""Libraries that read a table format; the others read a list of files."""


_FILES = """\
import json
from urllib.request import urlopen

with urlopen("{overlord}/api/v1/datasources/{table}/files") as answer:
    table = json.load(answer)
files = [file["uri"] for file in table["files"]]
"""
_ONE_NAME = """
known = {{name: name for name in ("__time", "__partition", "__offset")}}
for name in [column["name"] for column in table["columns"]]:
    other = known.setdefault(name.lower(), name)
    if other != name:
        raise SystemExit(f"DuckDB's names ignore case: it takes {{name}} for {{other}}")
"""
"""Check for column names that DuckDB, which ignores case, would confuse with each other."""
_ONE_TYPE = """
texts, doubles = pyarrow.string(), pyarrow.float64()
arrow = {{"string": texts, "json": texts, "array<string>": pyarrow.list_(texts)}}
arrow |= {{"double": doubles, "array<double>": pyarrow.list_(doubles)}}
types = {{column["name"]: arrow.get(column["type"]) for column in table["columns"]}}


def read(file):  # in the types of the table: a column's may have grown since
    rows = parquet.read_table(file)
    fields = [field.with_type(types.get(field.name) or field.type) for field in rows.schema]
    return rows.cast(pyarrow.schema(fields), safe=False)


"""
_ALIKE = """\
import json
from urllib.request import urlopen

alike = {{}}  # files with the same columns: Spark reads no two types of one column at once
with urlopen("{overlord}/api/v1/datasources/{table}/files") as answer:
    for file in json.load(answer)["files"]:
        alike.setdefault(file["columnSet"], []).append(file["uri"])
"""
_EXPORTS = """\
import json
from urllib.request import urlopen

with urlopen("{overlord}/api/v1/datasources/{table}/exports") as answer:
    exports = {{each["format"]: each for each in json.load(answer)["exports"]}}
"""
_PLAIN = "import json\nfrom urllib.request import urlopen\n"
_KNOWN = """\
import json
import os
from urllib.request import Request, urlopen

token = {{"Authorization": "Bearer " + os.environ["TIDEGATE_TOKEN"]}}
"""
_FILES_URL = '"{overlord}/api/v1/datasources/{table}/'
_WITH_TOKEN = (
    (_PLAIN, _KNOWN),
    (f'urlopen({_FILES_URL}files")', f'urlopen(Request({_FILES_URL}files", headers=token))'),
    (f'urlopen({_FILES_URL}exports")', f'urlopen(Request({_FILES_URL}exports", headers=token))'),
)
# Arrow reads here through its own file system.  With a file system of Python's (deltalake's, or the
# open file of pandas.read_parquet) a thread of Arrow can abort the interpreter at its exit, when it
# still takes a lock that no longer exists.
_CODE: Mapping[Reader, str] = MappingProxyType(
    {
        Reader.DUCKDB: "import duckdb\n"
        + _FILES
        + _ONE_NAME
        + "\nrows = duckdb.read_parquet(files, union_by_name=True)\nprint(rows)\n",
        Reader.POLARS: "import polars\n"
        + _FILES
        + "\nrows = polars.concat(\n"
        + '    [polars.scan_parquet(file, glob=False) for file in files], how="diagonal_relaxed"\n'
        + ").collect()\nprint(rows)\n",
        Reader.SPARK: "from functools import reduce\n"
        "from pyspark.sql import SparkSession\n"
        + _ALIKE
        + "\nspark = SparkSession.builder.getOrCreate()\n"
        + 'spark.conf.set("spark.sql.caseSensitive", "true")  # userId is not USERID\n'
        + 'parts = [spark.read.option("mergeSchema", "true").parquet(*some) '
        + "for some in alike.values()]\n"
        + "rows = reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), parts)\n"
        + "rows.show()\n",
        Reader.PANDAS: "import pandas\nimport pyarrow\nfrom pyarrow import parquet\n"
        + _FILES
        + _ONE_TYPE
        + 'rows = pyarrow.concat_tables(map(read, files), promote_options="permissive")\n'
        # Pandas' own types turn whole numbers beside a null into floats: wrong ones beyond 2^53.
        + "rows = rows.to_pandas(types_mapper=pandas.ArrowDtype)\nprint(rows)\n",
        Reader.DELTALAKE: "from deltalake import DeltaTable\n"
        "from pyarrow.fs import LocalFileSystem, SubTreeFileSystem\n"
        + _EXPORTS
        + '\nlocation = exports["delta"]["location"]\n'
        + "files = SubTreeFileSystem(location, LocalFileSystem())\n"
        + "rows = DeltaTable(location).to_pyarrow_table(filesystem=files)\nprint(rows)\n",
        Reader.PYICEBERG: "from pyiceberg.table import StaticTable\n"
        + _EXPORTS
        + '\ntable = StaticTable.from_metadata(exports["iceberg"]["location"])\n'
        + "rows = table.scan().to_arrow()\nprint(rows)\n",
    }
)


_PATTERNS: Mapping[Reader, tuple[str, str, str]] = MappingProxyType(
    {
        Reader.DUCKDB: (path_patterns.DUCKDB, f"([{path_patterns.DUCKDB}])", r"[\1]"),
        Reader.SPARK: (path_patterns.SPARK, r"([]{}[*?\\])", r"\\\1"),
    }
)
"""Libraries that treat a path as a glob pattern -> (glob characters, regular expression of what to
escape, its replacement)."""
_URI = 'file["uri"]'


def snippet(
    reader: Reader,
    data_source: str,
    overlord: str,
    *,
    with_token: bool = False,
    warehouse: str = "",
) -> str:
    """Return Python code that reads a table; `overlord` is a URL without a slash at its end.

    The code leaves the rows in `rows`, as the library's own kind of table.  `with_token`: it sends
    the token in TIDEGATE_TOKEN.  `warehouse`: its path, so that glob characters in it are escaped.
    """
    code = _CODE[reader]
    if with_token:
        for plain, known in _WITH_TOKEN:
            code = code.replace(plain, known)
    code = code.format(overlord=overlord, table=data_source)
    special, pattern, quoted = _PATTERNS.get(reader, ("", "", ""))
    if set(warehouse).isdisjoint(special):
        return code
    escaped = f're.sub(r"{pattern}", r"{quoted}", {_URI})'
    return code.replace("import json\n", "import json\nimport re\n").replace(_URI, escaped)
