"""The `idleConfig` of a spec: a supervisor becomes idle while no records arrive.

Source: Druid's docs, "Idle configuration"; IdleConfig: the period is positive, and ten minutes
unless the operator or the spec says otherwise.
"""

from datetime import timedelta
from typing import Annotated

from pydantic import Field

from supervisor.core.spec.section import Section, Unit
from supervisor.core.values.field_types import DURATION_MAX, Flag, Whole

_MILLIS_MAX = DURATION_MAX // timedelta(milliseconds=1)


class IdleConfig(Section):
    """Whether tasks end while no records arrive, and after how long."""

    part = "idleConfig"

    enabled: Flag = False
    inactive_after_millis: Annotated[Whole, Field(ge=1, le=_MILLIS_MAX), Unit.MILLIS] = 600_000

    @property
    def after(self) -> timedelta | None:
        """Time without records after which tasks end; None: idling is off."""
        return timedelta(milliseconds=self.inactive_after_millis) if self.enabled else None
