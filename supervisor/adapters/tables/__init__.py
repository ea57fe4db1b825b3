"""Adapters of the warehouse and of table exports (Delta, Iceberg), for composition roots only."""
