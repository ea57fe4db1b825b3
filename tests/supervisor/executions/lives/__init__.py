"""Leaders over a database of executions, from one seed: all of it is the product's own code.

Start with `run.py` (one seed), then `processes/leader.py`; `checkers/judge.py` says what must hold.
"""
