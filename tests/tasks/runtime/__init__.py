"""Java and jars, with the real ones.  Read first: `test_jars.py`."""
