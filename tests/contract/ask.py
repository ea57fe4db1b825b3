"""One run of schemathesis against a site, and what it found."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
from pydantic import BaseModel, ConfigDict, Field

from supervisor.api.http.access import api_routes
from supervisor.api.server import build_routes
from tests.contract.hooks import BROKER
from tests.contract.rules import (
    POSITIVE,
    REPORTING,
    REPORTS,
    UNASKED,
    UNPROVED,
    WORKS,
    of_walks,
    statuses,
)
from tests.contract.site import ADMIN, WORKER, Site

PHASES = ("examples", "coverage", "fuzzing", "stateful")
STREAM_S, ANSWER_S = 2, 20
STEPS_DRAWN = 2
"""Types of steps whose fields are varied."""
_STREAM = "/api/v1/events/stream"
_HOOKS = Path(__file__).with_name("hooks.py")
_ROOT = Path(__file__).parents[2]


class _Cases(BaseModel):
    generated: int
    with_failures: int


class _Operations(BaseModel):
    total: int
    tested: int


class _Report(BaseModel):
    """What is read of schemathesis' own report."""

    model_config = ConfigDict(extra="ignore")

    running_time: float
    operations: _Operations
    test_cases: _Cases
    failures: list[dict[str, object]] = Field(default_factory=list)
    errors: list[dict[str, object]] = Field(default_factory=list)


@dataclass(frozen=True)
class PhaseReport:
    """What came of one phase."""

    phase: str
    cases: int
    operations: int
    seconds: float
    failures: tuple[str, ...]
    """Kinds, with the operations."""
    output: str
    """What schemathesis printed: each failure with its reason and a curl that repeats it."""
    exit_code: int


@dataclass(frozen=True)
class Wish:
    """What to ask."""

    phase: str
    seed: int
    examples: int = 1
    """Cases of one operation; coverage decides by itself."""
    mode: str = "all"
    """`positive`: only what fits the description."""
    timeout_s: float = 3_600.0


def served(site: Site, folder: Path) -> Path:
    """Write the description as the overlord serves it into a file, with a few types of steps.

    Cases are drawn for each field of each type in three bodies: all types would take ten minutes,
    and what is wrong with each is tried in `tests/supervisor/core/flows`.
    """
    with httpx.Client(base_url=site.url, headers=site.headers(), timeout=ANSWER_S) as client:
        answer = client.get("/openapi.json").raise_for_status()
    file = folder / "openapi.json"
    description = answer.json()
    step = description["components"]["schemas"]["FlowStep"]
    assert len(step["anyOf"]) > STEPS_DRAWN
    step["anyOf"] = step["anyOf"][:STEPS_DRAWN]
    file.write_text(json.dumps(description), encoding="utf-8")
    return file


def ask(site: Site, folder: Path, wish: Wish) -> PhaseReport:
    """Run one phase to its end."""
    folder.mkdir(parents=True, exist_ok=True)
    config, report = folder / "schemathesis.toml", folder / "report.json"
    config.write_text("\n".join(_config(site, report, wish.phase)) + "\n", encoding="utf-8")
    done = subprocess.run(
        _argv(config, served(site, folder), wish, authenticated=bool(site.tokens)),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(_ROOT), "NO_COLOR": "1", BROKER: site.bootstrap},
        capture_output=True,
        text=True,
        timeout=wish.timeout_s,
        check=False,
    )
    output = done.stdout + done.stderr
    (folder / "told.txt").write_text(output, encoding="utf-8")
    assert report.exists(), output[-4_000:]
    summary = _Report.model_validate_json(report.read_text(encoding="utf-8"))
    return PhaseReport(
        phase=wish.phase,
        cases=summary.test_cases.generated,
        operations=summary.operations.tested,
        seconds=summary.running_time,
        failures=tuple(_lines(summary)),
        output=output,
        exit_code=done.returncode,
    )


def _lines(report: _Report) -> Iterator[str]:
    for each in report.failures:
        operations = each.get("operations")
        where = ", ".join(map(str, operations)) if isinstance(operations, list) else "?"
        yield f"{each.get('title')} ({each.get('count')}): {where}"
    for each in report.errors:
        yield f"error: {each}"


def _argv(config: Path, description: Path, wish: Wish, *, authenticated: bool) -> Sequence[str]:
    checks = () if authenticated else ("--exclude-checks", ",".join(UNASKED))
    return (
        *(str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(config)),
        *("run", str(description), "--phases", wish.phase, "--seed", str(wish.seed)),
        *("--max-examples", str(wish.examples), "--no-color", "--checks", "all", *checks),
        *("--mode", wish.mode),
    )


def _config(site: Site, report: Path, phase: str) -> Iterator[str]:
    """Yield schemathesis.toml: every check is on; `rules.py` says where more is an answer."""
    yield from _pairs(
        {
            "base-url": site.url,
            "request-timeout": ANSWER_S,
            "max-stream-events": 1,
            "continue-on-failure": True,
            "hooks": str(_HOOKS),
        }
    )
    yield "[generation]"
    yield 'database = "none"'  # nothing of an earlier run
    yield "[output.sanitization]"  # the tokens die with the site, and a curl has to work
    yield "enabled = false"
    yield "[reports.json]"
    yield from _pairs({"enabled": True, "path": str(report)})
    if site.tokens:
        yield "[auth.openapi]"
        yield f"bearer = {{ bearer = {json.dumps(site.tokens[ADMIN])} }}"
        yield f"worker = {{ api_key = {json.dumps(site.tokens[WORKER])} }}"
    if phase == "stateful":
        fits, works = of_walks()
        yield "[[operations]]"
        yield from _pairs({"include-path": _STREAM, "request-timeout": STREAM_S})
        yield "[checks]"
        yield from _pairs(
            {
                "positive_data_acceptance.expected-statuses": fits,
                "not_a_server_error.expected-statuses": works,
            }
        )
        return
    for method, path in routes():
        yield from _rules(method, path, authenticated=bool(site.tokens))


def routes() -> list[tuple[str, str]]:
    """Return method and path of every operation."""
    found = api_routes(build_routes().routes)
    return sorted((method, route.path_format) for route in found for method in route.methods or ())


def _rules(method: str, path: str, *, authenticated: bool) -> Iterator[str]:
    fits, works = statuses(f"{method} {path}")
    streams = path == _STREAM
    takes = (*REPORTS.routes, *(() if authenticated else UNPROVED.routes))
    reports = f"{method} {path}" in takes
    if not (streams or reports) and (fits, works) == ([*POSITIVE], [*WORKS]):
        return
    yield "[[operations]]"
    yield from _pairs(
        {"include-name": f"{method} {path}"}
    )  # several filters would be one OR the other
    if streams:
        yield from _pairs({"request-timeout": STREAM_S})
    yield f"checks.positive_data_acceptance.expected-statuses = {json.dumps(fits)}"
    if reports:
        yield f"checks.negative_data_rejection.expected-statuses = {json.dumps(REPORTING)}"
    yield f"checks.not_a_server_error.expected-statuses = {json.dumps(works)}"


def _pairs(values: Mapping[str, object]) -> Iterator[str]:
    for name, value in values.items():
        yield f"{name} = {json.dumps(value)}"
