"""The proof that a table holds each record exactly once, made from the topic and the files alone.

Read first: `judge.py` (what is proven, and what a violation is called), then `topic.py` and
`files.py`, which read the two sides and share no code with what wrote them.
"""
