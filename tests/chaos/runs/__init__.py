"""Runs: the walk through all points, the soak, and how each ends."""
