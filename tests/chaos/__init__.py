"""Chaos with real processes: read `points.py` (where they die), `run.py` (a run), `oracle.py`."""
