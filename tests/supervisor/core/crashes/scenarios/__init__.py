"""The scenarios K2 to K11 and E1 to E18 that concern the core, for every engine there is.

An engine is put into `ENGINES` of `engines.py`; all scenarios then run on it.
"""
