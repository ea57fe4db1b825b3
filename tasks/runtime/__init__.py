"""What a worker and a broker run on: a Java, pinned jars, and processes tied to their parent.

Read first: `java.py` (which Java), `jars.py` (fetched once, checked always), `tied.py`.
"""
