"""The middle layer over SQLite, on disk and in memory, a manual clock, and workers in memory.

Read first: `world.py` (who plays what), then `scenarios/test_crashes.py`: a story that ends the
same way wherever it is cut off.
"""
