"""Druid's types of metrics and filters that Tidegate does not support, and what to use instead."""

from collections.abc import Mapping
from types import MappingProxyType

_HLL = "use HLLSketchBuild of the field itself"
_THETA = "use thetaSketch of the field itself"
_ROWS = "make the field a dimension and leave rollup false: queries then work it out of all values"
_BUCKETS = f"count ranges of the field with filtered counts, or {_ROWS}"
_EXPRESSION = "use a transform, and a sum, min or max of it"
_DECIMAL = "use longSum, longMin or longMax of the smallest unit, or those of double"
_QUANTILES = (
    *("quantilesDoublesSketch", "quantilesDoublesSketchMerge"),
    *("KllDoublesSketch", "KllDoublesSketchMerge", "KllFloatsSketch", "KllFloatsSketchMerge"),
    *("tDigestSketch", "momentSketch", "momentSketchMerge", "ddSketch"),
)
_HISTOGRAMS = (
    *("histogram", "approxHistogram", "approxHistogramFold", "fixedBucketsHistogram"),
    *("spectatorHistogram", "spectatorHistogramTimer", "spectatorHistogramDistribution"),
)
_SETS = ("thetaSketchBuild", "thetaSketchMerge", "sketchBuild", "sketchMerge")
_DISTINCT = (
    *("hyperUnique", "cardinality", "distinctCount", "HLLSketchMerge"),
    *("Bitmap64ExactCountBuild", "Bitmap64ExactCountMerge"),
)

OTHER_METRICS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(_DISTINCT, _HLL),
        **dict.fromkeys(_SETS, _THETA),
        **dict.fromkeys(_QUANTILES, _ROWS),
        **dict.fromkeys(_HISTOGRAMS, _BUCKETS),
        "arrayOfDoublesSketch": f"{_HLL}, and sums of its values; or {_ROWS}",
        "bloom": "make the field a dimension: queries then look for the value itself",
        "bloomMerge": "make the field a dimension: queries then look for the value itself",
        "variance": "sum the field and its square",
        "varianceFold": "sum the field itself and its square",
        "doubleMean": "take a sum and a count",
        "expression": _EXPRESSION,
        "javascript": _EXPRESSION,
        "grouping": "it says something of a query's groups: leave it out",
        "stringFirstFold": "use stringFirst of the text itself",
        "stringLastFold": "use stringLast of the text itself",
        "singleValueLong": "use longAny",
        "singleValueFloat": "use floatAny",
        "singleValueDouble": "use doubleAny",
        "timeMin": "use longMin of a transform that makes milliseconds, or of __time",
        "timeMax": "use longMax of a transform that makes milliseconds, or of __time",
        "compressedBigDecimalSum": _DECIMAL,
        "compressedBigDecimalMin": _DECIMAL,
        "compressedBigDecimalMax": _DECIMAL,
    }
)
"""Type of an unsupported aggregator, including Druid's extensions -> what to use instead."""

OTHER_FILTERS: Mapping[str, str] = MappingProxyType(
    {
        "javascript": "use a filter of type expression",
        "extraction": "use a transform, and a selector of what it makes",
        "spatial": "compare the coordinates in a filter of type expression",
        "arrayContainsElement": "use selector: of several values one is enough",
        "inType": "use in, or an or of equals",
        "bloom": "use in with the values themselves",
    }
)
"""Type of an unsupported filter -> what to use instead."""
