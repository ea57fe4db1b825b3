"""The named scenarios that concern the core, for every engine there is.

An engine is put into `ENGINES` of `engines.py`; all scenarios then run on it.
"""
