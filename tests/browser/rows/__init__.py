"""Pages of what was read: one overlord and one Spark worker that have published rows."""
