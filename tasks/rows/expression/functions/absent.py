"""Functions that Druid has and Tidegate lacks, each with a replacement."""

ABSENT = {
    "lookup": "workers have no lookups: join with a table when you query",
    "bloom_filter_test": "an extension of Druid's: filter when you query",
    "hyper_unique": "count distinct values when you query",
    "decode_base64_utf8": "decode it before the record is sent",
    "decode_base64_complex": "sketches are not kept here; keep the values",
    "complex_decode_base64": "sketches are not kept here; keep the values",
    "json_query_array": (
        "arrays have scalars alone here: use json_query for the list as it is, "
        "json_value(data, path, 'ARRAY<STRING>') for scalars"
    ),
    "mv_harmonize_nulls": "use nvl",
    "mv_filter_only": "use filter",
    "mv_filter_none": "use filter",
    "mv_filter_regex": "use filter with regexp_like",
    "mv_filter_prefix": "use filter with like",
    "subtract_months": "use timestamp_shift(time, 'P1M', -n)",
}
"""Name in small letters -> advice."""
