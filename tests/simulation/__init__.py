"""The whole protocol from one seed: real planner, shell, repositories and task machine.

Start with `run.py` (one seed), then `world.py`; `checkers.py` says what must hold.
"""
