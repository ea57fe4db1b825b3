"""Questions about tables: their warehouse, their quarantine."""
