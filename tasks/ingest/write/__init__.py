"""Writing of decoded rows to Parquet files; `merge/` and the engine import it."""
