"""HTTP clients of the overlord for workers; only composition roots import this package."""
