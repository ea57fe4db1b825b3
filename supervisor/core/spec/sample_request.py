"""Requests to the sampler: a spec, perhaps incomplete, and how much of its topic to read.

    {"type": "kafka", "spec": {"type": "kafka", ...}, "samplerConfig": {...}}

Missing parts of the spec are filled in, so that a topic can be sampled before its table is known.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Annotated

from pydantic import Field

from supervisor.core.spec.problems import SpecProblems
from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.section import Section
from supervisor.core.spec.sift import sift_names
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import FieldError, InvalidSpec
from supervisor.core.values.field_types import shown
from tasks.contract.sample import BYTES_MAX, ROWS_MAX

TIMEOUT_MS_MAX = 60_000
_NO_TIME = {"column": "!!!_no_such_column_!!!", "missingValue": "1970-01-01T00:00:00Z"}
"""The timestampSpec that Druid's console writes before a time column is chosen."""

_NEEDED: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {
        "dataSchema": {"dataSource": "sample", "timestampSpec": _NO_TIME},
        "ioConfig": {"inputFormat": {"type": "json"}},
    }
)
"""Section -> fields that a sample does not need, with the values that are filled in."""

_Bytes = Annotated[int, Field(strict=True, ge=-1, le=2**53)]


class SamplerConfig(Section):
    """How much to look at.  Source: Druid's SamplerConfig."""

    part = "samplerConfig"
    num_rows: Annotated[int, Field(strict=True, ge=1, le=ROWS_MAX)] = 200
    timeout_ms: Annotated[int, Field(strict=True, ge=1, le=TIMEOUT_MS_MAX)] = 10_000
    max_bytes_in_memory: _Bytes = 0
    max_client_response_bytes: _Bytes = 0
    """The lower of both byte bounds counts; 0 and -1 set no bound."""

    @property
    def within(self) -> timedelta:
        """The timeout of the request."""
        return timedelta(milliseconds=self.timeout_ms)

    @property
    def size_bytes(self) -> int:
        """The maximum of bytes of records and rows, as text."""
        limits = (self.max_bytes_in_memory, self.max_client_response_bytes)
        return min([BYTES_MAX, *(number for number in limits if number > 0)])


class _Body(Section):
    """The top-level names of a request; `read_sample` reads their values."""

    part = "request"
    type: object
    spec: object
    sampler_config: object


@dataclass(frozen=True)
class SampleRequest:
    """A checked request for a sample of a topic."""

    spec: SupervisorSpec
    rows: int
    within: timedelta
    size_bytes: int = BYTES_MAX
    raw: bool = False
    """Whether the spec has no input format, so that records are shown unparsed."""
    timeless: bool = False
    """Whether the spec has no time column, so that no row has a time."""


def read_sample(document: Mapping[str, object]) -> SampleRequest:
    """Read the body of a request to the sampler.

    Raises:
        InvalidSpec: the body has errors, in the form of `read_spec`.

    Source: Druid 33.0.0, which needs the inner type as well.
    """
    notes = SpecProblems(document)
    kept = sift_names(notes, _Body, document, "")
    if kept.get("type") != "kafka":
        message = "type is required" if "type" not in kept else f"no sampler {shown(kept['type'])}"
        notes.refuse("/type", message, 'give "type": "kafka"')
    config = _read_config(notes, kept.get("samplerConfig", {}))
    inner = kept.get("spec")
    if not isinstance(inner, Mapping):
        message = "spec must be an object" if "spec" in kept else "spec is required"
        notes.refuse("/spec", message, 'give {"type": "kafka", "ioConfig": ...}')
        raise InvalidSpec(notes.errors)
    schema, source = _section(inner, "dataSchema"), _section(inner, "ioConfig")
    try:
        spec = read_spec(_completed(inner)).spec
    except InvalidSpec as error:
        wrong = [FieldError(f"/spec{e.pointer}", e.message, e.hint) for e in error.errors]
        raise InvalidSpec([*notes.errors, *wrong]) from error
    if notes.errors or config is None:
        raise InvalidSpec(notes.errors)
    return SampleRequest(
        spec=spec,
        rows=config.num_rows,
        within=config.within,
        size_bytes=config.size_bytes,
        raw=source.get("inputFormat") is None,
        timeless=schema.get("timestampSpec") is None,
    )


def _read_config(notes: SpecProblems, section: object) -> SamplerConfig | None:
    if not isinstance(section, Mapping):
        notes.refuse("/samplerConfig", "must be an object", '{"numRows": 200}')
        return None
    kept = sift_names(notes, SamplerConfig, section, "/samplerConfig")
    return notes.validate(SamplerConfig, kept, "/samplerConfig")


def _section(document: Mapping[str, object], name: str) -> Mapping[str, object]:
    """Return a section of the document, nested or flat; empty if it is absent."""
    nested = document.get("spec")
    holder = nested if isinstance(nested, Mapping) else document
    found = holder.get(name)
    return found if isinstance(found, Mapping) else {}


def _completed(document: Mapping[str, object]) -> dict[str, object]:
    """Return a spec with the fields that a sample does not need filled in; wrong values stay."""
    nested = document.get("spec")
    if not isinstance(nested, Mapping):
        return _filled({"dataSchema": {}, **document})
    # GET answers both forms at once, and they have to agree.
    return {**_filled(document), "spec": _filled({"dataSchema": {}, **nested})}


def _filled(holder: Mapping[str, object]) -> dict[str, object]:
    filled = dict(holder)
    for name, needed in _NEEDED.items():
        section = filled.get(name)
        if name == "dataSchema" and name in filled and section is None:
            section = {}
        if isinstance(section, Mapping):
            missing = {key: value for key, value in needed.items() if section.get(key) is None}
            filled[name] = {**section, **missing}
    return filled
