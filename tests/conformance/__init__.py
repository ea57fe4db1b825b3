"""One story per rule of the metadata ports, told to every implementation.

Read first: `conftest.py` (who listens), then `test_transactions.py`.
"""
