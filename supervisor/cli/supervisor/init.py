"""`tidegate supervisor init`: sample a topic and print a spec for it."""

import json
import re
from pathlib import Path
from typing import Annotated

import typer

from supervisor.cli.shell.options import Server, connect
from supervisor.cli.shell.output import print_notice, show_json, spinner
from supervisor.cli.shell.problems import CommandFailed
from supervisor.cli.supervisor.infer import Inferred, NothingToInfer, infer
from supervisor.cli.supervisor.sample import SAMPLER, Within
from supervisor.core.spec.reader import read_spec
from supervisor.core.values.errors import InvalidSpec
from supervisor.core.values.table_names import name_problem
from supervisor.views.sample import SampleView

_ADDRESS = re.compile(r"[^\s:,]+:\d{1,5}(,[^\s:,]+:\d{1,5})*|\[[0-9a-fA-F:]+\]:\d{1,5}")


Kafka = Annotated[
    str,
    typer.Option(
        "--kafka", metavar="HOST:PORT", help="Kafka's bootstrap servers, as workers reach them."
    ),
]
Topic = Annotated[str, typer.Option("--topic", metavar="TOPIC", help="The topic to look at.")]
Table = Annotated[
    str | None,
    typer.Option(
        "--data-source",
        metavar="TABLE",
        show_default="the topic's name",
        help="Name of the table.",
    ),
]
Timestamp = Annotated[
    str | None,
    typer.Option(
        "--timestamp",
        metavar="FIELD",
        show_default="the one that looks most like it",
        help="The field that holds the time.",
    ),
]
Records = Annotated[
    int,
    typer.Option(
        "--records", metavar="N", min=1, max=5_000, help="Look at so many records at most."
    ),
]
File = Annotated[
    Path | None,
    typer.Option(
        "--file",
        "-f",
        metavar="FILE",
        show_default="stdout",
        help="Write the spec to this new file.",
    ),
]


def init(
    *,
    kafka: Kafka,
    topic: Topic,
    datasource: Table = None,
    timestamp: Timestamp = None,
    records: Records = 1_000,
    within: Within = 20.0,
    file: File = None,
    server: Server = None,
) -> None:
    """Look at a topic's newest records and print a supervisor spec for it.

    A worker reads them, and nothing is written. The spec has the field that holds the time, how it
    is written, and the type of each column. Read it, change what you like, and give it to
    `tidegate supervisor apply -f`.

    \b
    Example:
      tidegate supervisor init --kafka localhost:9092 --topic clicks > clicks.json
    """
    if _ADDRESS.fullmatch(kafka) is None:
        raise typer.BadParameter(f"{kafka!r} is not host:port", param_hint="--kafka")
    if file is not None and file.exists():
        raise CommandFailed(f"{file} is there already", "name another file, or remove it")
    table = datasource or table_name(topic)
    body = make_request(kafka, topic, table, rows=records, timeout_ms=int(within * 1000))
    with connect(server) as client, spinner(f"looking at {topic}"):
        sample = client.post(SAMPLER, json.dumps(body).encode()).read(SampleView)
    if not sample.data:
        raise CommandFailed(
            f"the topic {topic} has no record that can be read",
            "send it some records first, or write a spec by hand",
        )
    try:
        schema = infer(sample, timestamp)
        spec = make_spec(kafka, topic, table, schema)
        read_spec(spec)
    except NothingToInfer as error:
        raise CommandFailed(f"{topic}: {error}") from error
    except InvalidSpec as error:
        raise CommandFailed(f"{topic} does not make a spec: {error}") from error
    print_notice(
        f"{sample.num_rows_read} records of {len({row.partition for row in sample.data})} "
        f"partitions; the time is {schema.timestamp_column} ({schema.timestamp_format}), with "
        f"{len(schema.columns)} columns"
    )
    for note in schema.notes:
        print_notice(f"note: {note}")
    if file is None:
        show_json(spec)
    else:
        _write(spec, file)


def _write(spec: dict[str, object], file: Path) -> None:
    try:
        file.write_text(json.dumps(spec, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise CommandFailed(f"{file} cannot be written: {error.strerror}") from error
    print_notice(f"written to {file}; next: tidegate supervisor apply -f {file}")


def make_request(
    kafka: str, topic: str, table: str, *, rows: int, timeout_ms: int
) -> dict[str, object]:
    """Return the request for a sample of the newest records, with the discovery of all types."""
    return {
        "type": "kafka",
        "spec": {
            "type": "kafka",
            "dataSchema": {
                "dataSource": table,
                "dimensionsSpec": {"useSchemaDiscovery": True, "dimensionExclusions": []},
                "granularitySpec": {"rollup": False},
            },
            "ioConfig": {
                "topic": topic,
                "consumerProperties": {"bootstrap.servers": kafka},
                "inputFormat": {"type": "json"},
            },
        },
        "samplerConfig": {"numRows": rows, "timeoutMs": timeout_ms},
    }


def make_spec(kafka: str, topic: str, table: str, inferred: Inferred) -> dict[str, object]:
    """Return a spec in Druid's form, which reads from the earliest offset; taskDuration PT1M."""
    return {
        "type": "kafka",
        "spec": {
            "dataSchema": {
                "dataSource": table,
                "timestampSpec": {
                    "column": inferred.timestamp_column,
                    "format": inferred.timestamp_format,
                },
                "dimensionsSpec": {
                    "dimensions": [{"type": kind, "name": name} for name, kind in inferred.columns]
                },
                "granularitySpec": {"segmentGranularity": "DAY", "rollup": False},
            },
            "ioConfig": {
                "topic": topic,
                "consumerProperties": {"bootstrap.servers": kafka},
                "inputFormat": {"type": "json"},
                "useEarliestOffset": True,
                "taskDuration": "PT1M",
                "taskCount": 1,
                "replicas": 1,
            },
            "tuningConfig": {"type": "kafka"},
        },
    }


def table_name(topic: str) -> str:
    """Return a table name for a topic; characters that tables may not have are replaced."""
    name = re.sub(r"\.\.+", ".", topic).strip("._-") or "table"
    return name[:128].rstrip(".") if name_problem(name[:128]) is None else f"t_{name}"[:128]
