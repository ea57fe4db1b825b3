"""The schema's way up and down, on both databases.

Read first: `test_schema.py`.
"""
