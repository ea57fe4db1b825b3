"""The overlord's HTTP edge over a real metadata database, a manual clock and topics in memory.

Read `test_story.py` first: a handoff from the first sync to the successor, told through HTTP.
"""
