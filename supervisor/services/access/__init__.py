"""Who calls, what belongs to whom, which request was carried out already."""
