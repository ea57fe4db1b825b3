"""Executions under crashes, from one seed: the real reducer, all around it simulated.

Start with `run.py` (one seed), then `world/world.py` and `processes/sequencer.py`;
`checkers/judge.py` says what must hold.
"""
