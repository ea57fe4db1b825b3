"""The reducer of executions.

Read `world.py` first, then `test_steps.py`; `test_any_order.py` lets chance at it.
"""
