"""The names of the frames' inner columns."""

ERROR_COLUMN = "bad"
"""True where a value did not fit its column."""

UNFIT_COLUMN = "unfit"
"""Where a value did not fit, in words; null: nowhere.  Only where such a record is no row."""

REASON_COLUMN = "reason"
"""0 for a row, else the number of a `RejectReason`."""

ASKED_COLUMN = "asked"
"""Numbers of schemas that a record names and nobody has fetched yet; not in every frame."""

KIND_COLUMN = "q"
"""`q0`, `q1`, …: the kind of each value whose column's type is not settled; not in every frame."""
