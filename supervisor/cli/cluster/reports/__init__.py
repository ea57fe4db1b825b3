"""`tidegate reports ...`: persisters, and the records that they could not store."""
