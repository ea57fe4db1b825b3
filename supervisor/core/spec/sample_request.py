"""What a sampler is asked: a spec, perhaps not whole yet, and how much of its topic to look at.

    {"type": "kafka", "spec": {"type": "kafka", ...}, "samplerConfig": {...}}

What the spec leaves out is filled in, so that a topic can be looked at before its table is known.
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
"""What Druid's console writes while the time is not chosen yet."""

_NEEDED: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {
        "dataSchema": {"dataSource": "sample", "timestampSpec": _NO_TIME},
        "ioConfig": {"inputFormat": {"type": "json"}},
    }
)
"""What stands in for fields that a sample can do without."""

_Bytes = Annotated[int, Field(strict=True, ge=-1, le=2**53)]


class SamplerConfig(Section):
    """How much to look at.  Source: Druid's SamplerConfig."""

    part = "samplerConfig"
    num_rows: Annotated[int, Field(strict=True, ge=1, le=ROWS_MAX)] = 200
    timeout_ms: Annotated[int, Field(strict=True, ge=1, le=TIMEOUT_MS_MAX)] = 10_000
    max_bytes_in_memory: _Bytes = 0
    max_client_response_bytes: _Bytes = 0
    """Of both bounds the lower counts; 0 and -1 ask for none of their own."""

    @property
    def within(self) -> timedelta:
        """How long somebody waits."""
        return timedelta(milliseconds=self.timeout_ms)

    @property
    def size_bytes(self) -> int:
        """The bytes of records and rows, as text, that are asked for."""
        limits = (self.max_bytes_in_memory, self.max_client_response_bytes)
        return min([BYTES_MAX, *(number for number in limits if number > 0)])


class _Body(Section):
    """The names of a request; what they hold is read by `read_sample`."""

    part = "request"
    type: object
    spec: object
    sampler_config: object


@dataclass(frozen=True)
class SampleRequest:
    """A sample that somebody wants."""

    spec: SupervisorSpec
    rows: int
    within: timedelta
    size_bytes: int = BYTES_MAX
    raw: bool = False
    """The spec does not say how records are written: they are shown as they are."""
    timeless: bool = False
    """It does not say where their time is: no row has one."""


def read_sample(document: Mapping[str, object]) -> SampleRequest:
    """Read the body of a request to the sampler.

    Raises:
        InvalidSpec: with one error per problem, as `read_spec` has it.

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
    """Return a section where it stands, nested or not; empty if it does not."""
    nested = document.get("spec")
    holder = nested if isinstance(nested, Mapping) else document
    found = holder.get(name)
    return found if isinstance(found, Mapping) else {}


def _completed(document: Mapping[str, object]) -> dict[str, object]:
    """Return a spec with what a sample can do without filled in; what is wrong stays as it is."""
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
