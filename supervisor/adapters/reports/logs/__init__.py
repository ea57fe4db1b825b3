"""Stores of logs: segment files with an index, SQL alone, and memory.

Read `indexed_logs.py` first, which both kept stores share.
"""
