"""Pure decisions of the stream supervisor: no I/O, no clock, no randomness.

Read first: `model/rows.py` (what is), `planning/actions.py` (what may be done), `planning/plan.py`
(what is decided).
"""
