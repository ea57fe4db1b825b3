"""Real child processes and a real broker, as `tidegate dev` runs them.

Read first: `test_broker.py`.
"""
