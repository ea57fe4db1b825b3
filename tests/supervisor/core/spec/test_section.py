"""What one declaration does: a section with a field or a name of each kind, read and shown."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal

import pytest
from pydantic import Field

from supervisor.core.spec.problems import SpecProblems
from supervisor.core.spec.section import (
    HOT,
    OURS,
    Alias,
    Fixed,
    Ignored,
    Kinds,
    Section,
    Switched,
    Translate,
    Unsupported,
    all_parts,
    known_names,
    read_fields,
)
from supervisor.core.spec.sift import sift
from supervisor.core.values.field_types import Flag, Whole


class Wheel(Section):
    part = "wheel"
    bare = True

    name: str
    spokes: Whole = 36


class Bell(Section):
    part = "bell"

    type: Literal["bell"]
    loud: Flag = False


class Lamp(Section):
    part = "lamp"
    others = MappingProxyType({"dynamo": Ignored((True,))})

    type: Literal["lamp"]
    lumens: Whole


Extra = Annotated[
    Bell | Lamp,
    Field(discriminator="type"),
    Kinds("extra", "is no extra", {"horn": ("horn is not built", "take a bell")}),
]


def _halved(notes: SpecProblems, value: object, pointer: str) -> object:
    if not isinstance(value, int):
        notes.refuse(pointer, "must be a number")
        notes.drop(pointer)
        return value
    return value // 2


class Bicycle(Section):
    part = "bicycle"
    others = MappingProxyType(
        {
            "frameHeight": Alias("height"),
            "kind": Fixed("road", answers=("road",)),
            "motor": Unsupported("pedal", (0,), answers=(None,)),
            "trailer": Switched("hitched", "carry it"),
            "colour": Ignored(("red",)),
        }
    )
    stored_only = frozenset({"serial"})

    height: Annotated[Whole, HOT] = 58
    gears: Annotated[Whole, Translate(_halved), OURS] = 1
    front: Wheel | None = None
    wheels: tuple[Wheel, ...] = ()
    extra: Extra | None = None
    extras: tuple[Extra, ...] = ()
    serial: str = ""

    @classmethod
    def check(
        cls,
        notes: SpecProblems,
        written: Mapping[str, object],
        kept: dict[str, object],
        pointer: str,
    ) -> None:
        del written
        if "front" in kept and "wheels" in kept:
            notes.refuse(f"{pointer}/front", "is one of the wheels")


def read(**written: object) -> tuple[dict[str, object], list[tuple[str, str]], list[str]]:
    notes = SpecProblems(written)
    kept = sift(notes, Bicycle, written, "")
    return kept, [(e.pointer, e.message) for e in notes.errors], notes.warnings


def test_a_field_of_a_model_needs_no_other_list() -> None:
    fields = {"height", "gears", "front", "wheels", "extra", "extras"}
    assert read_fields(Bicycle).keys() == fields
    assert set(known_names(Bicycle)) == read_fields(Bicycle).keys() | Bicycle.others.keys()
    assert list(all_parts(Bicycle)) == ["bicycle", "wheel", "bell", "lamp"]


def test_what_is_left_is_what_the_model_takes() -> None:
    kept, errors, warnings = read(
        frameHeight=60,
        gears=6,
        kind="road",
        motor=0,
        colour="red",
        trailer=None,
        front=None,
        wheels=["front", {"name": "rear", "spokes": None}],
        extra={"type": "lamp", "lumens": 70, "dynamo": True},
    )
    assert (errors, warnings) == ([], [])
    bicycle = Bicycle.model_validate(kept)
    assert bicycle.normalised() == {
        "height": 60,
        "frameHeight": 60,
        "gears": 3,
        "kind": "road",
        "motor": None,
        "front": None,
        "extras": [],
        "wheels": [{"name": "front", "spokes": 36}, {"name": "rear", "spokes": 36}],
        "extra": {"type": "lamp", "lumens": 70},
    }


@pytest.mark.parametrize(
    ("written", "error"),
    [
        ({"heihgt": 1}, ("/heihgt", "unknown field heihgt")),
        ({"serial": "x"}, ("/serial", "unknown field serial")),
        ({"height": 1, "frameHeight": 2}, ("/frameHeight", "different things")),
        ({"kind": "race"}, ("/kind", "must be road, not race")),
        ({"motor": 250}, ("/motor", "motor 250 is not built yet")),
        ({"trailer": {"hitched": True}}, ("/trailer", "trailer is not built yet")),
        ({"gears": "many"}, ("/gears", "must be a number")),
        ({"front": {"spkes": 1}}, ("/front/spkes", "unknown field spkes")),
        ({"wheels": [{}, {"spkes": 1}]}, ("/wheels/1/spkes", "unknown field spkes")),
        ({"front": "a", "wheels": []}, ("/front", "is one of the wheels")),
        ({"extra": {}}, ("/extra/type", "type is required")),
        ({"extra": {"type": "flag"}}, ("/extra/type", "flag is no extra")),
        ({"extras": [{"type": "horn"}]}, ("/extras/0/type", "horn is not built")),
    ],
)
def test_what_is_refused_is_named_where_it_lies(
    written: dict[str, object], error: tuple[str, str]
) -> None:
    [(pointer, message)] = read(**written)[1]
    assert pointer == error[0]
    assert error[1] in message


def test_what_cannot_be_read_is_dropped_and_the_rest_is_kept() -> None:
    """Goal: one error each; nobody reads that a field is missing which is there and wrong."""
    kept, _, _ = read(gears="many", extra={"type": "flag"}, extras=[{"type": "horn"}], height=1)
    assert kept == {"height": 1}


@pytest.mark.parametrize(
    ("written", "warning"),
    [
        ({"colour": "blue"}, "/colour has no effect here: it is accepted and ignored"),
        ({"trailer": {"hitched": False}}, "/trailer is switched off, so it has no effect"),
        (
            {"extra": {"type": "lamp", "dynamo": False}},
            "/extra/dynamo has no effect here: it is accepted and ignored",
        ),
    ],
)
def test_what_has_no_effect_warns(written: dict[str, object], warning: str) -> None:
    _, errors, [message] = read(**written)
    assert errors == []
    assert message.startswith(warning)
