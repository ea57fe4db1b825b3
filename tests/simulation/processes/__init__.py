"""Overlords, workers and users of a run: the product's own parts on the run's clock."""
