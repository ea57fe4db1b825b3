"""Benchmarks: what the budgets of the product are measured with, as ratios in one run.

Read `result.py` (what one figure is), then any file of `figures/`, then the run it looks at:
`batch_runs.py` (Spark), `live_run.py` (real processes), `control_run.py` (metadata database),
`year/runs.py` (a metadata database with a year of history, and a large fleet).
"""
