"""The control plane: it decides what should run, and publishes what was read.

Read first: `core/plan.py` (what is decided), `reconcile.py` (how it is done), then `app.py`.
"""
