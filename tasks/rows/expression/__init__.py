"""Druid's expression language: what a text says.  Pure; Spark's columns are made elsewhere.

Read `tree.py` (what there is), then `parse.py` (how it is written), then the package `functions`.
"""
