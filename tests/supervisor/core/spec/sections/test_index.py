"""`indexSpec`: what of it Parquet follows, what warns, what is refused."""

import json

import pytest

from supervisor.core.spec.reader import read_spec
from tasks.contract.ingest_spec import FileFormat
from tests.supervisor.core.spec.spec_documents import changed, created, errors_of, flat

INDEX = "/spec/tuningConfig/indexSpec"
DRUIDS = {
    "bitmap": {"type": "roaring"},
    "dimensionCompression": "lz4",
    "stringDictionaryEncoding": {"type": "utf8"},
    "metricCompression": "lz4",
    "longEncoding": "longs",
}
"""What Druid 33.0.0 writes out where nothing is asked for."""


def file_format(written: object) -> FileFormat:
    """What those who write files are told of an indexSpec without a warning."""
    read = read_spec(changed(INDEX, written))
    assert read.warnings == ()
    return read.spec.tuning_config.contract().files


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ({}, FileFormat()),
        (None, FileFormat()),
        (DRUIDS, FileFormat()),
        ({"dimensionCompression": "LZ4"}, FileFormat()),
        ({"dimensionCompression": "zstd"}, FileFormat()),
        ({"dimensionCompression": "zstd", "zstdLevel": 19}, FileFormat(zstd_level=19)),
        ({"zstdLevel": 1, "jsonCompression": "lz4"}, FileFormat(zstd_level=1)),
        ({"dimensionCompression": "uncompressed"}, FileFormat(compressed=False)),
        ({"dimensionCompression": "none"}, FileFormat(compressed=False)),
        ({"dictionaryEncoding": False}, FileFormat(dictionary=False)),
        ({"dictionaryEncoding": True}, FileFormat()),
        ({"dictionaryEncoding": []}, FileFormat()),
        ({"dictionaryEncoding": ["page", "__offset"]}, FileFormat(plain=("page", "__offset"))),
        ({"complexMetricCompression": "uncompressed", "segmentLoader": None}, FileFormat()),
    ],
)
def test_what_means_something_for_parquet_is_followed(written: object, form: FileFormat) -> None:
    """Goal: what every GET of Druid writes out makes no file larger: lz4 is zstd here."""
    assert file_format(written) == form


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bitmap", {"type": "concise"}),
        ("metricCompression", "none"),
        ("longEncoding", "auto"),
        ("stringDictionaryEncoding", {"type": "frontCoded", "bucketSize": 4}),
        ("jsonCompression", "zstd"),
        ("complexMetricCompression", "lz4"),
        ("segmentLoader", {"type": "mMapSegmentFactory"}),
    ],
)
def test_what_parquet_does_not_have_is_ignored_with_a_warning(name: str, value: object) -> None:
    read = read_spec(changed(f"{INDEX}/{name}", value))

    assert read.warnings == (f"{INDEX}/{name} has no effect here: it is accepted and ignored",)
    assert read.spec == read_spec(created()).spec


def test_lzf_is_zstd_with_a_warning() -> None:
    read = read_spec(flat(changed(INDEX, {"dimensionCompression": "lzf"})))

    place = "/tuningConfig/indexSpec/dimensionCompression"
    assert read.warnings == (f"{place}: no lzf here, files are zstd",)
    assert read.spec.tuning_config.contract().files == FileFormat()


@pytest.mark.parametrize(
    ("name", "value", "message", "hint"),
    [
        ("dimensionCompression", "zst", "zst is no compression", "did you mean zstd?"),
        ("dimensionCompression", "x", "x is no compression", "lz4, lzf, zstd, uncompressed, none"),
        ("dimensionCompression", 4, "must be a text", "lz4, lzf, zstd, uncompressed, none"),
        ("zstdLevel", 0, "must be at least 1", ""),
        ("zstdLevel", 20, "must be at most 19", ""),
        ("zstdLevel", "3.5", "must be a whole number", ""),
        ("dictionaryEncoding", "no", "must be true, false or a list", "columns without"),
        ("dictionaryEncoding", ["a", 1], "must be true, false or a list", "each a text"),
        ("dictionaryEncoding", ["a.b"], "a.b: Parquet takes a dot", "leave it out"),
        ("dictionaryEncoding", ["a", "A"], "a and A differ in case only", "keep one"),
        ("dictionaryEncoding", [""], "must not be empty", ""),
        ("dictionaryEncoding", ["a"] * 1001, "names 1001 columns", "at most 1000"),
        ("zstdLvl", 3, "unknown field zstdLvl", "did you mean zstdLevel?"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    name: str, value: object, message: str, hint: str
) -> None:
    [error] = errors_of(changed(f"{INDEX}/{name}", value))

    assert error.pointer == f"{INDEX}/{name}"
    assert message in error.message
    assert hint in error.hint


def test_an_index_spec_that_is_no_object_is_refused() -> None:
    [error] = errors_of(changed(INDEX, "zstd"))

    assert (error.pointer, error.message) == (INDEX, "must be an object")


def test_get_writes_it_out_and_takes_it_back() -> None:
    index_spec = {"dimensionCompression": "none", "zstdLevel": 7, "dictionaryEncoding": ["user"]}
    spec = read_spec(changed(INDEX, index_spec)).spec

    answer = json.loads(json.dumps(spec.normalised()))

    assert answer["tuningConfig"]["indexSpec"] == index_spec
    assert read_spec(answer).spec == spec
