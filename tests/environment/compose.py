"""The compose file and the Dockerfile as typed values: what tests need, and nothing unknown."""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import SplitResult, urlsplit

import yaml
from pydantic import BaseModel, ConfigDict, Field

from tests.tidy.sources import ROOT

__all__ = ["Compose", "Health", "Image", "Service", "read_compose", "read_image"]

_DEFAULTED = re.compile(r"\$\{\w+:-([^}]*)\}")
_REQUIRED = re.compile(r"\$\{(\w+):\?[^}]+\}")
_URL = re.compile(r"https?://[^\s'\"]+")


class _Part(BaseModel):
    # Without Docker nobody else tells a misspelt key, or a number that compose would want quoted.
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Health(_Part):
    """A health check; its times are texts such as 10s."""

    test: list[str]
    interval: str
    timeout: str
    retries: int
    start_period: str

    @property
    def argv(self) -> list[str]:
        """The command that is run in the container."""
        assert self.test[0] == "CMD", "a shell may be absent"
        return self.test[1:]

    @property
    def url(self) -> SplitResult:
        """The address that it asks."""
        found = [match.group() for match in _URL.finditer(" ".join(self.argv))]
        assert len(found) == 1, f"{self.argv} asks {len(found)} addresses"
        return urlsplit(found[0])


class Dependency(_Part):
    """What must be so before a service is started."""

    condition: Literal["service_started", "service_healthy", "service_completed_successfully"]


class Service(_Part):
    """One service; every key that the file may use."""

    image: str
    build: str | None = None
    command: list[str] = Field(default_factory=list)
    hostname: str | None = None
    init: bool = False
    read_only: bool = False
    cap_drop: list[str] = Field(default_factory=list)
    cap_add: list[str] = Field(default_factory=list)
    security_opt: list[str] = Field(default_factory=list)
    restart: str | None = None
    pids_limit: int | None = None
    mem_limit: str | None = None
    shm_size: str | None = None
    stop_grace_period: str | None = None
    logging: dict[str, str | dict[str, str]] = Field(default_factory=dict)
    ports: list[str] = Field(default_factory=list)
    volumes: list[str] = Field(default_factory=list)
    tmpfs: list[str] = Field(default_factory=list)
    environment: dict[str, str] = Field(default_factory=dict)
    depends_on: dict[str, Dependency] = Field(default_factory=dict)
    check: Health | None = Field(default=None, alias="healthcheck")

    @property
    def role(self) -> str | None:
        """The command of ours that it runs for good; None for a foreign image, and what ends."""
        return self.command[0] if self.build is not None and self.check is not None else None

    @property
    def sees_tables(self) -> bool:
        """Whether it reads or writes the warehouse: an executor calls who does."""
        return self.role != "executor"

    @property
    def healthcheck(self) -> Health:
        """How it tells that it is healthy."""
        assert self.check is not None
        return self.check

    def mounts(self) -> dict[str, str]:
        """Return path in the container -> name of the volume."""
        return {path: name for name, path, *_ in (each.split(":") for each in self.volumes)}

    def written(self) -> set[str]:
        """Return the paths of volumes that it may write to."""
        return {path for path, *rest in (v.split(":")[1:] for v in self.volumes) if rest != ["ro"]}

    def in_memory(self) -> set[str]:
        """Return the paths that are gone when the container is."""
        return {each.partition(":")[0] for each in self.tmpfs}


class Compose(_Part):
    """The whole file, merge keys resolved and variables at their defaults."""

    name: str
    services: dict[str, Service]
    volumes: dict[str, None]

    def ours(self, role: str) -> dict[str, Service]:
        """Return the services that run a role."""
        return {name: each for name, each in self.services.items() if each.role == role}

    @property
    def roles(self) -> dict[str, Service]:
        """The services that run our image."""
        return {name: each for name, each in self.services.items() if each.role is not None}


@dataclass(frozen=True)
class Image:
    """What the Dockerfile says, instruction by instruction."""

    steps: tuple[tuple[str, str], ...]

    @property
    def final(self) -> tuple[tuple[str, str], ...]:
        """The steps of the last stage: the others leave only what is copied from them."""
        last = max(n for n, (name, _) in enumerate(self.steps) if name == "FROM")
        return self.steps[last:]

    def values(self, instruction: str) -> list[str]:
        """Return the arguments of each such step of the last stage."""
        return [value for name, value in self.final if name == instruction]

    def environment(self) -> dict[str, str]:
        """Return the variables that every container is given."""
        pairs = (pair for value in self.values("ENV") for pair in shlex.split(value))
        return {name: value for name, _, value in (pair.partition("=") for pair in pairs)}

    def listed(self, instruction: str) -> list[str]:
        """Return the one such step of the last stage, which is a JSON list."""
        [value] = self.values(instruction)
        found = json.loads(value)
        assert isinstance(found, list), f"{instruction} would start a shell"
        return [str(each) for each in found]

    def copied(self) -> set[str]:
        """Return what the stages take from the repository."""
        taken = [shlex.split(value) for name, value in self.steps if name == "COPY"]
        return {path for words in taken if not words[0].startswith("--") for path in words[:-1]}


def read_compose(path: Path = ROOT / "docker-compose.yml") -> Compose:
    """Read the file as compose does when required variables, and no others, are set.

    The value of a required variable is its name in lower case.
    """
    text = _DEFAULTED.sub(r"\1", path.read_text())
    text = _REQUIRED.sub(lambda found: found[1].lower().replace("_", ""), text)
    assert "$" not in text, "a variable that is not required is empty for whoever forgets it"
    whole = yaml.safe_load(text)
    assert isinstance(whole, Mapping)
    return Compose.model_validate({k: v for k, v in whole.items() if not str(k).startswith("x-")})


def read_image(path: Path = ROOT / "Dockerfile") -> Image:
    """Read the Dockerfile; comments are dropped, continued lines joined."""
    lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    steps = (line.split(maxsplit=1) for line in joined.splitlines() if line.strip())
    return Image(tuple((name.upper(), " ".join(value.split())) for name, value in steps))
