"""The schema of the database of executions; the migrations in `alembic/executions` build it.

    executions   one row each, with what lists and timers need; `head` and `plan` are JSON
    labels       one row per label of an execution, for lists by a label
    task_runs    one row per task run, and one with the items of a `forEach`: `<id>/items`
    gates        those that somebody holds or waits for
    calls        what runners may claim or look at now
    claims       who makes which call
    events       what listeners see, by its number within the execution
    flows        each version of each flow
    triggers     one row per trigger of a flow that is not deleted
    firings      what a trigger has taken: slots, publishes, requests; each once
    writer       one row: the highest term that has written
    log_topics   the topics of Kafka in which executions began, if they are there
    engine       one row: which engine runs executions, `sql` or `kafka`
    outbox       letters for the topics that are not there yet, in order
    projected    how far the tables know what a partition of a topic says
    executors    the processes that work partitions, as long as they renew their row
    letter_marks what people did with inputs that could not be worked in
    artifacts    outputs of steps that are too large for their records
    artifact_uses  which executions have an artifact in their records

On PostgreSQL the tables lie in the schema `executions`, the search path of each connection.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    text,
)

from supervisor.database.column_types import NAME, UtcTime

__all__ = [
    "ARTIFACTS",
    "ARTIFACT_USES",
    "CALLS",
    "CLAIMS",
    "ENGINE",
    "EVENTS",
    "EXECUTIONS",
    "EXECUTION_TABLES",
    "EXECUTORS",
    "FIRINGS",
    "FLOWS",
    "GATES",
    "LABELS",
    "LETTER_MARKS",
    "LOG_TOPICS",
    "OUTBOX",
    "PROJECTED",
    "RUNS",
    "TRIGGERS",
    "WRITER",
]

EXECUTION_TABLES = MetaData()
"""The SQLAlchemy metadata of this database."""

EXECUTIONS = Table(
    "executions",
    EXECUTION_TABLES,
    Column("id", NAME, primary_key=True),
    Column("flow", NAME, nullable=False),
    Column("flow_version", BigInteger, nullable=False),
    Column("state", String, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("ended_at", UtcTime),
    Column("due_at", UtcTime, comment="when it has to be looked at next"),
    Column("parent", NAME),
    Column("head", Text, nullable=False, comment="without its plan and task runs"),
    Column("plan", Text, nullable=False),
    Column("started_by", String),
    Column("error", String, comment="the first 300 characters"),
    Column("trigger", NAME, comment="the name of the one that started it; null: none has"),
    Index("ix_executions_due", "due_at"),
    Index("ix_executions_newest", "created_at", "id"),
    Index("ix_executions_flow", "flow", "created_at", "id"),
    Index("ix_executions_state", "state", "created_at", "id"),
    Index("ix_executions_parent", "parent"),
    Index("ix_executions_flow_state", "flow", "state", "created_at", "id"),
    Index("ix_executions_started_by", "started_by", "created_at", "id"),
    Index("ix_executions_flow_ended", "flow", "ended_at", "id"),
    Index("ix_executions_ended", "ended_at", "id"),
    Index(
        "ix_executions_trigger",
        "trigger",
        "flow",
        "created_at",
        "id",
        sqlite_where=text("trigger IS NOT NULL"),
        postgresql_where=text("trigger IS NOT NULL"),
    ),
    # With the text: a search reads no row that it does not show.
    Index(
        "ix_executions_error",
        "created_at",
        "id",
        "error",
        sqlite_where=text("error IS NOT NULL"),
        postgresql_where=text("error IS NOT NULL"),
    ),
)

LABELS = Table(
    "labels",
    EXECUTION_TABLES,
    Column("execution", NAME, primary_key=True),
    Column("name", NAME, primary_key=True),
    Column("value", NAME, nullable=False),
    Column("created_at", UtcTime, nullable=False, comment="that of the execution"),
    Index("ix_labels_value", "name", "value", "created_at", "execution"),
)

RUNS = Table(
    "task_runs",
    EXECUTION_TABLES,
    Column("execution", NAME, primary_key=True),
    Column("id", NAME, primary_key=True),
    Column("body", Text, nullable=False),
)

GATES = Table(
    "gates",
    EXECUTION_TABLES,
    Column("name", NAME, primary_key=True),
    Column("body", Text, nullable=False),
)

CALLS = Table(
    "calls",
    EXECUTION_TABLES,
    Column(
        "number",
        BigInteger().with_variant(Integer, "sqlite"),
        primary_key=True,
        autoincrement=True,
    ),
    Column("execution", NAME, nullable=False),
    Column("run", NAME, nullable=False),
    Column("attempt", BigInteger, nullable=False),
    Column("look", BigInteger, nullable=False, comment="0: the call itself"),
    Column("body", Text, nullable=False),
    Index("ix_calls_place", "run", "attempt", "look", unique=True),
    Index("ix_calls_execution", "execution"),
)

CLAIMS = Table(
    "claims",
    EXECUTION_TABLES,
    Column("run", NAME, primary_key=True),
    Column("execution", NAME, nullable=False),
    Column("attempt", BigInteger, nullable=False),
    Column("runner", NAME, nullable=False),
    Column("incarnation", NAME, nullable=False),
    Column("cancelled", Boolean, nullable=False),
    Index("ix_claims_runner", "runner", "incarnation"),
    Index("ix_claims_execution", "execution"),
)

EVENTS = Table(
    "events",
    EXECUTION_TABLES,
    Column("execution", NAME, primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("body", Text, nullable=False),
)

FLOWS = Table(
    "flows",
    EXECUTION_TABLES,
    Column("name", NAME, primary_key=True),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("document", Text, comment="null: this version deletes the flow"),
    Column("digest", String, nullable=False),
    Column("author", String, nullable=False),
    Column("reason", Text),
    Column("at", UtcTime, nullable=False),
)

TRIGGERS = Table(
    "triggers",
    EXECUTION_TABLES,
    Column("flow", NAME, primary_key=True),
    Column("name", NAME, primary_key=True),
    Column("kind", String, nullable=False),
    Column("definition", Text, nullable=False, comment="as the flow has it, JSON"),
    Column("version", BigInteger, nullable=False, comment="of the flow that has defined it"),
    Column("paused", Boolean, nullable=False),
    Column("paused_by", String),
    Column("watches", Boolean, nullable=False),
    Column("position", UtcTime, comment="up to here all slots are done with"),
    Column("next_at", UtcTime),
    Column("waiting", BigInteger, nullable=False, comment="publishes without an execution"),
    Column("numbered", BigInteger, nullable=False),
    Column("fired", BigInteger, nullable=False),
    Column("passed", BigInteger, nullable=False),
    Column("last_at", UtcTime),
    Column("last_execution", NAME),
    Column("problem", Text, nullable=False),
    Column("problem_at", UtcTime),
    Index("ix_triggers_next", "next_at"),
)

FIRINGS = Table(
    "firings",
    EXECUTION_TABLES,
    Column("flow", NAME, primary_key=True),
    Column("trigger", NAME, primary_key=True),
    Column("slot", NAME, primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("execution", NAME, comment="null: it waits for the execution before to end"),
    Column("about", Text, nullable=False),
    Index("ix_firings_number", "flow", "trigger", "number"),
)

WRITER = Table(
    "writer",
    EXECUTION_TABLES,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("term", BigInteger, nullable=False),
)

LOG_TOPICS = Table(
    "log_topics",
    EXECUTION_TABLES,
    Column("topic", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("partitions", Integer, nullable=False),
    Column("id", String, nullable=False, comment="Kafka's own: one made anew has another"),
    Column(
        "settings",
        Text,
        comment="what is asked of it, as it was when it was kept, JSON; null: not known",
    ),
)

ENGINE = Table(
    "engine",
    EXECUTION_TABLES,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("kind", String, nullable=False, comment="sql or kafka"),
    Column("since", UtcTime, nullable=False),
)

OUTBOX = Table(
    "outbox",
    EXECUTION_TABLES,
    Column(
        "number",
        BigInteger().with_variant(Integer, "sqlite"),
        primary_key=True,
        autoincrement=True,
    ),
    Column("entity", NAME, nullable=False, comment="the id of the execution"),
    Column("body", Text, nullable=False, comment="a letter of the history, JSON"),
    Column("at", UtcTime, nullable=False),
    sqlite_autoincrement=True,
)

PROJECTED = Table(
    "projected",
    EXECUTION_TABLES,
    Column("topic", String, primary_key=True, comment="state or results"),
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("next", BigInteger, nullable=False, comment="the offset that is read next"),
)

EXECUTORS = Table(
    "executors",
    EXECUTION_TABLES,
    Column("name", NAME, primary_key=True),
    Column("incarnation", NAME, nullable=False),
    Column("url", String, nullable=False),
    Column("started_at", UtcTime, nullable=False),
    Column("renewed_at", UtcTime, nullable=False, comment="by the clock of the database"),
    Column("partitions", Text, nullable=False, comment="those that it works, JSON"),
    Column(
        "doing",
        Text,
        nullable=False,
        server_default="{}",
        comment="its calls, why it is not well, lives whose results it has; JSON",
    ),
)

LETTER_MARKS = Table(
    "letter_marks",
    EXECUTION_TABLES,
    Column("source", NAME, primary_key=True),
    Column("partition", BigInteger, primary_key=True, autoincrement=False),
    Column("offset", BigInteger, primary_key=True, autoincrement=False),
    Column("digest", LargeBinary, nullable=False, comment="of the letter: 16 bytes"),
    Column("verb", String, nullable=False),
    Column("outcome", String, comment="of a replay"),
    Column("detail", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", UtcTime, nullable=False),
)

ARTIFACTS = Table(
    "artifacts",
    EXECUTION_TABLES,
    Column("id", NAME, primary_key=True),
    Column("execution", NAME, nullable=False, comment="whose step gave it"),
    Column("at", UtcTime, nullable=False, comment="by the clock of who stored it"),
    Column("size", BigInteger, nullable=False, comment="bytes"),
    Column("sha256", String, nullable=False),
    Column("form", String, nullable=False, comment="text or json"),
    Column("body", LargeBinary, nullable=False),
    Index("ix_artifacts_execution", "execution"),
    Index("ix_artifacts_at", "at"),
)

ARTIFACT_USES = Table(
    "artifact_uses",
    EXECUTION_TABLES,
    Column("execution", NAME, primary_key=True),
    Column("artifact", NAME, primary_key=True),
    Index("ix_artifact_uses_artifact", "artifact"),
)
