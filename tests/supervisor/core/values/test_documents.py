"""Bodies of requests: JSON objects, or a plain word about why they are none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.values.errors import InvalidSpec
from supervisor.core.values.json_bodies import DEPTH_MAX, SIZE_BYTES_MAX, parse_document


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "body is not JSON: line 1 column 1: Expecting value"),
        (b"{oops", "body is not JSON: line 1 column 2: Expecting property name"),
        (b'{"a": 1,\n "b": }', "body is not JSON: line 2 column 7: Expecting value"),
        (b'{"a": 1} {"b": 2}', "body is not JSON: line 1 column 10: Extra data"),
        (b'{"a": "x\ny"}', "body is not JSON: line 1 column 9: Invalid control character"),
        (b'\xef\xbb\xbf{"a": 1}', "body is not JSON: line 1 column 1"),
        (b"[1]", "body must be an object"),
        (b'"text"', "body must be an object"),
        (b"null", "body must be an object"),
        (b"5", "body must be an object"),
        (b'{"a": "\xff"}', "body is not UTF-8: byte 7"),
        ('{"a": 1}'.encode("utf-16"), "body is not UTF-8"),
        (b'{"a": 1, "a": 1}', "body has the key 'a' twice in one object"),
        (b'{"x": [{"a": 1, "\\u0061": 2}]}', "body has the key 'a' twice in one object"),
        (b'{"": {}}', "body has an empty key"),
        (b'{"a": {"": true}}', "body has an empty key"),
        (b'{"a": NaN}', "NaN is no number"),
        (b'{"a": -Infinity}', "-Infinity is no number"),
        (b'{"a": 1e999}', "a number that is too large"),
        (b'{"a": ' + b"1" * 5000 + b"}", "a number of more than 100 digits"),
        (b'{"a": "\\ud800"}', "a text with a NUL or half a character"),
        (b'{"a": ["\\u0000"]}', "a text with a NUL or half a character"),
        (b'{"\\udfff": 1}', "a text with a NUL or half a character"),
        (b'{"a": "' + b"x" * SIZE_BYTES_MAX + b'"}', "at most 1048576 (1 MiB) are allowed"),
        (b"[" * 10_000, "at most 64 levels"),
        (b'{"a":' * 100_000, "at most 64 levels"),
        (b'{"a":' * 65 + b"1" + b"}" * 65, "at most 64 levels"),
    ],
    ids=range(27),
)
def test_a_body_that_is_no_plain_object_is_refused_with_the_reason(
    body: bytes, message: str
) -> None:
    with pytest.raises(InvalidSpec) as refused:
        parse_document(body)
    (error,) = refused.value.errors
    assert error.pointer == ""
    assert message in error.message


def test_brackets_in_texts_and_64_levels_are_fine() -> None:
    brackets = "[{" * 1000
    body = b'{"a":' * DEPTH_MAX + json.dumps(brackets + '"\\').encode() + b"}" * DEPTH_MAX
    inner: object = parse_document(body)
    while isinstance(inner, dict):
        inner = inner["a"]
    assert inner == brackets + '"\\'


@pytest.mark.parametrize(
    "body",
    [
        b'{"' + b'\\"' * 500_000,
        b'{"' + b'\\"' * 500_000 + b"\\",
        b'"' * 1_000_000,
        b"\\" * 1_000_000,
    ],
)
@pytest.mark.timeout(10)
def test_a_body_made_to_be_slow_is_not(body: bytes) -> None:
    with pytest.raises(InvalidSpec):
        parse_document(body)


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**90), 10**90)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1),
            inner,
            max_size=3,
        )
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.from_regex(r"[a-z]{1,5}", fullmatch=True), _json, max_size=4))
def test_an_object_is_read_as_it_was_written(document: dict[str, object]) -> None:
    assert parse_document(json.dumps(document).encode()) == document
    assert parse_document(json.dumps(document, ensure_ascii=False).encode()) == document


@given(st.binary() | st.text(alphabet='{}[]":,\\ 1ae-.').map(str.encode))
def test_any_body_is_an_object_or_is_refused(body: bytes) -> None:
    try:
        document = parse_document(body)
    except InvalidSpec:
        return
    assert isinstance(document, dict)
