"""The engine against a real broker and a real Spark; one of each for the whole folder.

Read first: `decode/test_decode.py` (the table of what becomes of each record), `test_batches.py`.
"""
