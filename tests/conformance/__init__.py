"""One story per rule of the metadata ports, told to SQLite and to PostgreSQL.

Read first: `conftest.py` (who listens), then `metadata/test_transactions.py`.
"""
