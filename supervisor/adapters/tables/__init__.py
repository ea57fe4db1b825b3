"""The warehouse and exported tables (Delta, Iceberg); composition roots alone import it."""
