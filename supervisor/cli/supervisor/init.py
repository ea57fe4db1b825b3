"""`tidegate supervisor init`: sample a topic and print a spec for it."""

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from supervisor.cli.shell.output import print_notice, show_json, spinner
from supervisor.cli.shell.problems import CommandFailed
from supervisor.cli.supervisor.infer import Inferred, NothingToInfer, infer
from supervisor.core.spec.reader import read_spec
from supervisor.core.values.errors import InvalidSpec
from supervisor.core.values.table_names import name_problem

_ADDRESS = re.compile(r"[^\s:,]+:\d{1,5}(,[^\s:,]+:\d{1,5})*|\[[0-9a-fA-F:]+\]:\d{1,5}")


Kafka = Annotated[
    str, typer.Option("--kafka", metavar="HOST:PORT", help="Kafka's bootstrap servers.")
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
        "--records", metavar="N", min=1, max=100_000, help="Look at so many records at most."
    ),
]
Within = Annotated[
    float,
    typer.Option(
        "--within", metavar="SECONDS", min=1.0, max=600.0, help="Read for so long at most."
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
    within: Within = 10.0,
    file: File = None,
) -> None:
    """Look at a topic's newest records and print a supervisor spec for it.

    Finds the field that holds the time, how it is written, and the type of each column. Read it,
    change what you like, and give it to `tidegate supervisor apply -f`.

    \b
    Example:
      tidegate supervisor init --kafka localhost:9092 --topic clicks > clicks.json
    """
    from supervisor.cli.supervisor.sampling import (
        sample_topic,  # Kafka's client is loaded only when asked
    )

    if _ADDRESS.fullmatch(kafka) is None:
        raise typer.BadParameter(f"{kafka!r} is not host:port", param_hint="--kafka")
    if file is not None and file.exists():
        raise CommandFailed(f"{file} is there already", "name another file, or remove it")
    with spinner(f"looking at {topic}"):
        sample = sample_topic(kafka, topic, records=records, within=timedelta(seconds=within))
    try:
        schema = infer(sample.values, timestamp)
        spec = make_spec(kafka, topic, datasource or table_name(topic), schema)
        read_spec(spec)
    except NothingToInfer as error:
        raise CommandFailed(f"{topic}: {error}") from error
    except InvalidSpec as error:
        raise CommandFailed(f"{topic} does not make a spec: {error}") from error
    print_notice(
        f"{len(sample.values)} records of {sample.partitions} partitions; the time is "
        f"{schema.timestamp_column} ({schema.timestamp_format}), with {len(schema.columns)} columns"
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
