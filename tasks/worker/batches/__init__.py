"""Batches of a worker: whose turn it is, notes of those that run, and their bad records."""
