"""Routes of tasks and workers, those between the planes among them."""
