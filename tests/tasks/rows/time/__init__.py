"""Times in texts and on calendars: what our SQL says against tables and against `zoneinfo`.

Read first: `joda/test_parse.py` (the table), `test_period.py` (the calendar again, in Python).
"""
