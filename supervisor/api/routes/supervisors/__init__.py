"""Routes of supervisors and their specs: apply, explain, reset, sample, status."""
