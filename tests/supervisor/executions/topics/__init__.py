"""The owners of partitions over topics in memory, from one seed: they die between any two steps.

Start with `run.py` (one seed), then `executor.py`; `judge.py` says what must hold.
"""
