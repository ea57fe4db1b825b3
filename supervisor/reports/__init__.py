"""The persister: reads records, stores them at the pace of the stores, commits what is done.

Read `core/reports/` (what it decides), then `ports/reports/` (the stores).
"""
