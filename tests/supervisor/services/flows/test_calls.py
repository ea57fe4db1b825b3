"""Hosts and secrets of `http` steps, where the overlords make the calls."""

import pytest

from supervisor.adapters.expressions import CelExpressions
from supervisor.core.flows.reading import read_flow
from supervisor.core.values.errors import SecretMissing
from supervisor.services.flows.calls import OutgoingRules, call_errors, trigger_errors
from tasks.contract.connection_policy import SecretBinding
from tasks.contract.kafka_client import SecretRef

_KEPT = "TIDEGATE_SECRET_HERE"
_BOUND = "TIDEGATE_SECRET_BOUND"
RULES = OutgoingRules(
    ["hooks.example", "*.partner.example", "localhost"],
    {_BOUND: SecretBinding(hosts=("hooks.example",))},
)


def _secret(reference: SecretRef) -> str:
    if reference.environment not in {_KEPT, _BOUND}:
        raise SecretMissing(f"{reference.environment} is not set")
    return "s"


def refusals(url: str, **headers: object) -> list[tuple[str, str]]:
    """Return pointer and text of each error of a flow with one call."""
    call = {"name": "tell", "type": "http", "url": url, "headers": headers}
    around = {"name": "all", "type": "parallel", "steps": [call]}
    flow = read_flow({"flow": "f", "steps": [around]}, CelExpressions())
    return [
        (each.pointer, f"{each.message} {each.hint}") for each in call_errors(flow, RULES, _secret)
    ]


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example/x",
        "https://HOOKS.example:8443/${ trigger.x }",
        "https://a.partner.example/",
        "https://${ trigger.host }/x",
        "${ trigger.url }",
        "http://localhost:8000/",
    ],
)
def test_a_host_that_is_allowed_or_not_known_yet_is_taken(url: str) -> None:
    assert refusals(url, A={"secret": _KEPT}, B="x", C={"secret": "${ trigger.name }"}) == []


def test_a_host_that_is_not_allowed_names_the_setting() -> None:
    [(pointer, text)] = refusals("https://other.example/${ trigger.x }")

    assert pointer == "/steps/0/steps/0/url"
    assert "other.example is not allowed" in text
    assert "TIDEGATE_HTTP_ALLOW" in text


def test_a_secret_that_is_not_there_is_named_and_one_of_another_host() -> None:
    refused = refusals(
        "http://localhost/", A={"secret": "TIDEGATE_SECRET_GONE"}, B={"secret": _BOUND}
    )

    assert [pointer for pointer, _ in refused] == [
        "/steps/0/steps/0/headers/A/secret",
        "/steps/0/steps/0/headers/B/secret",
    ]
    assert "start them anew" in refused[0][1]
    assert "may not be sent to localhost" in refused[1][1]


def test_a_secret_of_a_webhook_that_is_not_there_is_named() -> None:
    hook = {"name": "door", "type": "webhook", "secret": "TIDEGATE_SECRET_GONE"}
    steps = [{"name": "a", "type": "noop"}]
    flow = read_flow({"flow": "f", "steps": steps, "triggers": [hook]}, CelExpressions())

    assert [each.pointer for each in trigger_errors(flow, _secret)] == ["/triggers/0/secret"]
