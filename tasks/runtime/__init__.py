"""Programs below a worker and a broker: a Java, pinned jars, processes tied to their parent.

Read first: `java.py` (which Java), `jars.py` (fetched once, checked at every start), `tied.py`.
"""
