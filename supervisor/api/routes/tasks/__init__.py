"""Routes of tasks and workers, and the calls between the planes."""
