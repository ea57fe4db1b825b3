"""Bindings of secrets, from the environment: `TIDEGATE_SECRET_X_FOR` binds `TIDEGATE_SECRET_X`."""

from collections.abc import Mapping

from supervisor.settings.problems import SetupProblem
from tasks.contract.connection_policy import SecretBinding, read_binding
from tasks.contract.kafka_client import BINDING

SECRET = "TIDEGATE_SECRET_"  # noqa: S105 -- the start of names of variables, no secret


def secret_bindings(environment: Mapping[str, str]) -> dict[str, SecretBinding]:
    """Return variable of a secret -> its binding.

    Raises:
        SetupProblem: a binding cannot be read; the text names its variable.
    """
    return {
        name.removesuffix(BINDING): _read(name, value)
        for name, value in environment.items()
        if name.startswith(SECRET) and name.endswith(BINDING)
    }


def _read(name: str, value: str) -> SecretBinding:
    try:
        return read_binding(value)
    except ValueError as error:
        raise SetupProblem(
            f"{name} does not say where {name.removesuffix(BINDING)} may be sent",
            f"{error}; a secret's own name cannot end with {BINDING}",
        ) from error
