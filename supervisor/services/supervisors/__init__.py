"""Verbs on supervisors: apply, reset, roll back, backfill, sample."""
