"""The embedded default: a real broker, overlord and worker as child processes on loopback.

Read first: `processes.py` (how children are kept running), `broker.py`, `sample.py` (its records).
"""
