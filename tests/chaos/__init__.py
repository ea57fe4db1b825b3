"""Chaos with real processes: read `points.py` (where they die), `runs/run.py` (a run),
`judges/oracle.py`.
"""
