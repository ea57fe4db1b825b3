"""Druid's expressions: how they are read, what is refused, and what Spark makes of them.

Read first: `test_meaning.py` (the table of answers), `test_random.py` (against an oracle).
"""
