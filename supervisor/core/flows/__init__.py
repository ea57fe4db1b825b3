"""Flows as documents: what a user writes, and the plan that it is compiled to.

Read `document.py` first, then `reading.py` and `compiling.py`.
"""
