"""The proof that a table holds each record exactly once, made from the topic and the files alone.

Read first: `judge.py` (the proof and its violations), then `topic.py` and `files.py`, which read
the two sides and share no code with their writers.
"""
