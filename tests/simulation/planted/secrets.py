"""Faults of secrets: a password that is told, or stored, where anybody can read it."""

from dataclasses import replace
from typing import Any

from supervisor.core.spec.sections import kafka_properties
from supervisor.core.spec.sections.kafka_property_names import FIELDS, SECRET_FIELDS
from tasks.contract.kafka_client import SecretRef, java_properties
from tasks.kafka.stream import environment_secret
from tasks.machine.events import Broke
from tasks.worker.runner import TaskRunner
from tests.simulation.planted.patches import Function, Mutant, Patches
from tests.simulation.world.secret import VARIABLE


def failure_tells_the_properties(patches: Patches) -> None:
    def make(broke: Function) -> object:
        def helpful(self: TaskRunner, error: Exception) -> Broke:
            found: Broke = broke(self, error)
            used = java_properties(self._desired.spec.kafka, environment_secret)
            return replace(found, detail=f"{found.detail} (the client had {used})")

        return helpful

    patches.method(TaskRunner, "_broke", make)


def password_in_a_spec(patches: Patches) -> None:
    def make(take: Function) -> object:
        def lenient(self: Any, given: str, name: str, value: Any) -> None:  # noqa: ANN401
            if FIELDS[name] in SECRET_FIELDS:
                self.set_field(given, name, SecretRef(environment=VARIABLE))
            else:
                take(self, given, name, value)

        return lenient

    patches.method(kafka_properties._Reading, "_take_field", make)


def refusal_repeats_the_value(patches: Patches) -> None:
    def make(take: Function) -> object:
        def precise(self: Any, given: str, name: str, value: Any) -> None:  # noqa: ANN401
            before = len(self.errors)
            take(self, given, name, value)
            errors = [replace(e, message=f"{e.message}: {value}") for e in self.errors[before:]]
            self.errors[before:] = errors

        return precise

    patches.method(kafka_properties._Reading, "_take_field", make)


MUTANTS = (
    Mutant(
        "failure-tells-the-properties",
        "I12, S16",
        "the reason of a task's failure shows the client's properties, secrets resolved",
        failure_tells_the_properties,
        covered_by="rare: the message to the overlord masks what has a name, and few failed tasks "
        "are held to the end of a run",
        direct="tests/tasks/worker/reporting/test_failure_reasons.py"
        "::test_a_failure_shows_nothing_of_the_clients_properties",
    ),
    Mutant(
        "password-in-a-spec",
        "I12, S16",
        "a spec may hold the password itself, and is stored as it is",
        password_in_a_spec,
    ),
    Mutant(
        "refusal-repeats-the-value",
        "I12, S16",
        "the refusal of a spec with a password repeats the password",
        refusal_repeats_the_value,
    ),
)
