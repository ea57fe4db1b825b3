"""The control plane: it decides what should run, and publishes what was read.

Read first: `core/planning/plan.py` (what is decided), `control/reconcile.py` (how it is done), then
`app/server.py`.
"""
