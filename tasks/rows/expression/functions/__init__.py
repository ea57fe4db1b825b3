"""The functions of the language, a module per heading of Druid's documentation.

Read `given.py` first (what a function is), then `general.py` for how one is written.
Source: Druid's documentation of expressions and `Function.java`.
"""
