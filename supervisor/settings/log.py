"""Settings of the log; `settings.py` includes and reads them."""

from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings

LogFormat = Literal["auto", "json", "console"]


class LogSettings(BaseSettings):
    """Operator settings of the log of a process."""

    log_format: LogFormat = Field(
        default="auto",
        description="Form of the log on stderr: json (an object per line, for programs), console "
        "(for people), or auto: console on a terminal, json elsewhere.",
    )
