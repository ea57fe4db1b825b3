"""Pure decisions of the stream supervisor: no I/O, no clock, no randomness.

Read first: `model.py` (what is), `actions.py` (what may be done), `plan.py` (what is decided).
"""
