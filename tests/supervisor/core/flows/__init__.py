"""Flows as documents: `test_reading.py` has what is refused, and how."""
