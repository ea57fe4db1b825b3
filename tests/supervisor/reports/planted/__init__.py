"""Faults of reports, planted on purpose: `python -m` this package hunts each by its test.

`persister.py`, `stores.py` and `sender.py` name the faults; what a fault is, and how it is put in
place, is in `tests/simulation/planted`.
"""
