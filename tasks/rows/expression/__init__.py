"""Druid's expression language: parsing and translation to SQL.  Pure; Spark columns are elsewhere.

Read `tree.py` (the parts), then `parse.py` (the grammar), then the package `functions`.
"""
