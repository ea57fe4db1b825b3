"""Named profiles of the command line: which overlords to talk to, and how to print.

default = "local"

[profiles.local]
overlords = ["http://127.0.0.1:8090"]

[profiles.prod]
overlords = ["https://overlord-1.example:8090", "https://overlord-2.example:8090"]
output = "wide"
token_file = "~/.config/tidegate/prod.token"
"""

import os
import tomllib
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from supervisor.cli.shell.problems import CommandFailed
from supervisor.core.values.field_types import nearest
from supervisor.settings.settings import Settings, load_settings
from supervisor.settings.types import http_urls

VARIABLE = "TIDEGATE_PROFILE"
OVERLORDS = "TIDEGATE_OVERLORDS"
FLAG = "--profile"
_OF_PROFILE = "profile "
_WHO = ("TIDEGATE_TOKEN", "TIDEGATE_TOKEN_FILE", "TIDEGATE_USER")

_flag: ContextVar[str | None] = ContextVar("profile", default=None)


class Profile(BaseModel):
    """One profile; None: the profile does not set the value."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    overlords: Annotated[tuple[str, ...], AfterValidator(http_urls)] | None = Field(
        default=None, min_length=1
    )
    output: Literal["table", "wide", "json", "yaml", "name"] | None = None
    token_file: Path | None = None
    """A file with the caller's token."""


class Profiles(BaseModel):
    """The content of the profiles file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    default: str | None = None
    profiles: Mapping[str, Profile] = Field(default_factory=dict)


@dataclass(frozen=True)
class Chosen:
    """A value, and the name of its source."""

    value: str
    source: str


def config_file(environment: Mapping[str, str]) -> Path:
    """Return the path of the profiles file, which may not exist.  Source: XDG base directories."""
    base = environment.get("XDG_CONFIG_HOME", "")
    folder = Path(base) if Path(base).is_absolute() else Path.home() / ".config"
    return folder / "tidegate" / "config.toml"


def load_profiles(path: Path) -> Profiles:
    """Read the profiles file; without a file there are no profiles.

    Raises:
        CommandFailed: the file cannot be read, or has an unknown key.
    """
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
        return Profiles.model_validate(read)
    except FileNotFoundError:
        return Profiles()
    except ValidationError as error:
        raise _refused(path, error) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CommandFailed(f"{path} cannot be read: {error}", "it must be a TOML file") from None


def use_profile(name: str | None) -> None:
    """Use this profile for the rest of the command, before that of the environment."""
    _flag.set(name)


def profile_name() -> Chosen | None:
    """Return the name of the profile in force, from flag, environment or file; None: no profile."""
    if (named := _flag.get()) is not None:
        return Chosen(named, FLAG)
    if named := os.environ.get(VARIABLE):
        return Chosen(named, VARIABLE)
    path = config_file(os.environ)
    default = load_profiles(path).default
    return None if default is None else Chosen(default, f"default of {path}")


def profile_in_force() -> Profile:
    """Return the profile in force; an empty profile if there is none.

    Raises:
        CommandFailed: the file has no profile of that name.
    """
    chosen = profile_name()
    if chosen is None:
        return Profile()
    path = config_file(os.environ)
    known = load_profiles(path).profiles
    if chosen.value not in known:
        meant = nearest(chosen.value, known)
        hint = f"did you mean {meant}?" if meant else f"known are: {', '.join(known) or 'none'}"
        raise CommandFailed(f"{path} has no profile {chosen.value} ({chosen.source})", hint)
    return known[chosen.value]


def overlords_in_force(flag: str | None) -> tuple[Chosen, ...]:
    """Return the overlords' URLs from the first source that has some.

    The order is --server, environment, profile, settings.
    """
    if flag is not None:
        return (Chosen(flag, "--server"),)
    if os.environ.get(OVERLORDS):
        return tuple(Chosen(url, OVERLORDS) for url in load_settings().overlords)
    if (named := profile_in_force().overlords) is not None:
        chosen = profile_name()
        assert chosen is not None
        return tuple(Chosen(url, f"{_OF_PROFILE}{chosen.value}") for url in named)
    settings = load_settings()
    source = "tidegate.toml" if "overlords" in settings.model_fields_set else "default"
    return tuple(Chosen(url, source) for url in settings.overlords)


def settings_for(chosen: Sequence[Chosen]) -> Settings:
    """Return the settings, with the profile's token if `chosen` are the profile's overlords.

    A token or a user of the environment takes precedence.
    """
    settings, own = load_settings(), profile_in_force().token_file
    ours = chosen[0].source.startswith(_OF_PROFILE) and own is not None
    if not ours or own is None or any(os.environ.get(name) for name in _WHO):
        return settings
    return settings.model_copy(update={"token_file": own.expanduser()})


def _refused(path: Path, error: ValidationError) -> CommandFailed:
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    context = first.get("ctx", {})
    if first["type"] != "extra_forbidden":
        message = str(context.get("message") or first["msg"])
        return CommandFailed(f"{path}: {where}: {message}", str(context.get("hint") or ""))
    known = (Profile if len(first["loc"]) > 1 else Profiles).model_fields
    meant = nearest(str(first["loc"][-1]), known)
    hint = f"did you mean {meant}?" if meant else f"known are: {', '.join(known)}"
    return CommandFailed(f"{path}: {where} is not known", hint)
