"""The whole protocol from one seed: real planner, shell, repositories and task machine.

Start with `run.py` (one seed), then `world/world.py`; `checkers/invariants.py` says what must hold.
"""
