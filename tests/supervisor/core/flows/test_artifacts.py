"""References to artifacts: the same content has one id, and only a whole reference is one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from supervisor.core.flows.artifacts import artifact_of, reference_of, references_in

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda each: st.lists(each) | st.dictionaries(st.text(), each),
)


@given(JSON)
def test_the_content_comes_back_as_it_was(value: JsonValue) -> None:
    artifact = artifact_of("ab12", 3, value)

    assert artifact.value == value
    assert artifact.ref.bytes == len(artifact.body)
    assert reference_of(artifact.ref.value) == artifact.ref
    assert artifact_of("ab12", 3, value) == artifact
    assert artifact_of("ab12", 4, value).ref.id != artifact.ref.id


def test_half_a_pair_of_letters_is_stored_as_a_question_mark() -> None:
    assert artifact_of("ab12", 1, "a\ud800").value == "a?"
    assert artifact_of("ab12", 1, {"x": "a\ud800"}).value == {"x": "a?"}


def test_references_are_found_however_deep_they_lie() -> None:
    one, two = artifact_of("ab", 1, "one").ref, artifact_of("cd", 2, [2]).ref
    value: JsonValue = {"a": [1, {"b": one.value}], "c": two.value, "d": "text"}

    assert list(references_in(value)) == [one, two]


@pytest.mark.parametrize(
    "change",
    [
        {"artifact": "../../etc/passwd"},
        {"artifact": 7},
        {"bytes": "7"},
        {"bytes": True},
        {"bytes": -1},
        {"sha256": None},
        {"more": 1},
    ],
)
def test_what_only_looks_like_a_reference_is_a_value(change: dict[str, JsonValue]) -> None:
    value = artifact_of("ab", 1, "one").ref.value

    assert reference_of({**value, **change}) is None
    assert reference_of("text") is None
    assert reference_of({"artifact": value["artifact"]}) is None
