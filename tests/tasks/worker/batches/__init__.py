"""Tests of the batches of a worker: turns, notes, and what follows from a sudden end."""
