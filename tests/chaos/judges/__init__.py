"""What must hold of a run's records and rows, and what is counted in it."""
