"""Style, layers and files, checked.

Read first: `exceptions.py` (what is let off, and why), then `rules.py` (what is asked).
"""
