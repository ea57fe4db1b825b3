"""Settings of reports and logs that outlive their worker: where they go, and at what pace."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic.config import JsonDict
from pydantic_settings import BaseSettings

from supervisor.core.values.field_types import LongDuration, wrong
from supervisor.settings.credentials import File, credential
from supervisor.settings.types import Addresses, http_urls
from tasks.reporting.levels import read_levels

REPORTS_KEY = "TIDEGATE_REPORTS_KEY"
"""The name of a variable."""

_PER_SECOND: JsonDict = {"unit": "per second"}


def _level(value: str) -> str:
    try:
        read_levels(value)
    except ValueError as error:
        raise wrong(str(error), "write failures, or stream=always,compaction=failures") from error
    return value


class ReportSettings(BaseSettings):
    """Operator settings of what workers send, and of the persister that stores it."""

    reports: Literal["auto", "kafka", "direct", "off"] = Field(
        default="auto",
        description="How workers and overlords send reports and logs: `auto` is `kafka` where "
        "`TIDEGATE_REPORTS_KAFKA` is set, else `direct`, by HTTP to a persister, once an address "
        "is known.",
    )
    reports_level: Annotated[str, AfterValidator(_level)] = Field(
        default="always",
        description="Which tasks workers report, and what the leader reports of supervisors and "
        "executions: `always`, `failures` or `failures-not-user-errors`; or one for each origin, "
        "as in `stream=always,compaction=failures`.",
    )
    reports_persister: Annotated[Addresses, AfterValidator(http_urls)] = Field(
        default=(),
        description="Addresses of the persisters, as processes reach them: overlords ask how they "
        "are, `tidegate reports` talks to them. Workers without one have them from their overlord.",
        json_schema_extra={"default": "none", "unit": "URLs, separated by commas"},
    )
    reports_key_file: File | None = Field(
        default=None,
        description="File with the key that opens the door of persisters for records, and nothing "
        "else: the same for persisters, workers and overlords. The variable TIDEGATE_REPORTS_KEY, "
        "which is no setting, wins.",
        json_schema_extra={"default": "none", "unit": "file"},
    )
    reports_topic: str = Field(
        default="default",
        pattern=r"^[a-z0-9-]{1,100}$",
        description="The topic of a worker's reports: `completed.` and this name.",
    )

    reports_mode: Literal["chunked", "inline"] = Field(
        default="chunked",
        description="Whether a log goes in chunks while its task runs, or with the result of the "
        "task, as one record of up to 10 MiB to the topic `activations`. The same for workers and "
        "persisters.",
    )

    reports_url: str | None = Field(
        default=None,
        description="Database of reports: `sqlite:///file`, or `postgresql://user@host/database`, "
        "where they have the schema `reports`.",
        json_schema_extra={"default": "reports.db beside the metadata, or its PostgreSQL"},
    )
    reports_logs: Literal["segments", "sql"] = Field(
        default="segments",
        description="Where logs are stored: in files below the warehouse, or in the database.",
    )
    reports_kafka: str | None = Field(
        default=None,
        description="Brokers of the topics of reports, as `host:port`, separated by commas; or a "
        "file of client properties with a login. Without it a persister takes reports by HTTP "
        "alone.",
    )
    reports_store_in_primary: bool = Field(
        default=False,
        description="Whether the leader also writes its reports of supervisors, compactions and "
        "executions into the database of reports itself, once they are sent: for trials.",
    )
    reports_oversize: Literal["truncate", "spill"] = Field(
        default="truncate",
        description="What becomes of a payload of an execution that is too large for its record: "
        "it is cut, or cut and stored whole beside the logs.",
    )
    reports_prefix: str = Field(
        default="",
        pattern=r"^[a-z0-9.-]{0,100}$",
        description="Before the names of all topics of reports, and of their group.",
    )
    reports_instance: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9.-]{1,100}$",
        description="Name of a persister, which no other one has: it keeps its partitions when it "
        "is back in time.",
        json_schema_extra={"default": "of its host and port"},
    )
    reports_retention: LongDuration = Field(
        default=timedelta(days=30),
        ge=timedelta(hours=1),
        description="The age at which stored reports and logs are deleted.",
        json_schema_extra={"unit": "ISO 8601 duration"},
    )
    reports_bytes: int | None = Field(
        default=None,
        ge=10_000_000,
        description="The most that stored reports and logs take together: beyond it the oldest go "
        "before their age.",
        json_schema_extra={"default": "no bound", "unit": "bytes"},
    )
    reports_archive_retention: LongDuration = Field(
        default=timedelta(days=1_095),
        ge=timedelta(hours=1),
        description="The age at which archived events and audit entries are deleted.",
        json_schema_extra={"unit": "ISO 8601 duration"},
    )
    reports_writers: int = Field(
        default=4, ge=1, le=64, description="Batches that a persister stores at once."
    )
    reports_rate: float | None = Field(
        default=None,
        gt=0,
        description="The most records that a persister stores; with n of them a share each.",
        json_schema_extra=_PER_SECOND,
    )
    reports_rate_bytes: float | None = Field(
        default=None,
        gt=0,
        description="The most bytes of records that a persister stores.",
        json_schema_extra=_PER_SECOND,
    )

    def reports_key(self) -> str | None:
        """Return the key of the persisters' door; None: none is set.

        Raises:
            SetupProblem: its file cannot be read, or the text is no key.
        """
        return credential(REPORTS_KEY, self.reports_key_file)
