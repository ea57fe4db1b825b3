"""Settings of what is cleaned up, and of how long history is kept."""

from datetime import timedelta

from pydantic import Field
from pydantic.config import JsonDict
from pydantic_settings import BaseSettings

from supervisor.core.values.field_types import Duration, LongDuration

_DURATION: JsonDict = {"unit": "ISO 8601 duration"}


class UpkeepSettings(BaseSettings):
    """Operator settings of an overlord's upkeep of files and rows."""

    gc_delay: Duration = Field(
        default=timedelta(seconds=60),
        description="Between the end of a task and the first deletion of files that it left, and "
        "between two looks at its folder.",
        json_schema_extra=_DURATION,
    )
    sweep_period: LongDuration = Field(
        default=timedelta(minutes=10),
        description="How often the warehouse is searched for folders that no event cleans up.",
        json_schema_extra=_DURATION,
    )
    segment_grace: Duration = Field(
        default=timedelta(days=30),
        description="Between taking a segment out of its table and deleting its file; so long it "
        "can be put back.",
        json_schema_extra=_DURATION,
    )
    history_retention: LongDuration = Field(
        default=timedelta(days=90),
        ge=timedelta(hours=1),
        description="The age at which history becomes compact, or goes: ranges, tasks, deleted "
        "files, compactions.",
        json_schema_extra=_DURATION,
    )
    audit_retention: LongDuration = Field(
        default=timedelta(days=365),
        description="The age at which audit entries are deleted.",
        json_schema_extra=_DURATION,
    )
    event_retention: LongDuration = Field(
        default=timedelta(days=90),
        ge=timedelta(hours=1),
        description="The age at which events of states, specs and offsets are deleted, once the "
        "newest 100,000 events of all kinds have pushed them out.",
        json_schema_extra=_DURATION,
    )
    retention_period: LongDuration = Field(
        default=timedelta(hours=1),
        description="How often retention rules are applied, and history is ended.",
        json_schema_extra=_DURATION,
    )
    task_retention: Duration = Field(
        default=timedelta(days=7),
        description="How long after its end a submitted task is still listed as a supervisor.",
        json_schema_extra=_DURATION,
    )
