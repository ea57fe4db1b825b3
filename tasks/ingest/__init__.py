"""The engine of the data plane: writes Kafka ranges as Parquet, by PySpark.

Read first: `engine.py` (one batch, one merge), `decode/decode.py` (what each record becomes).
"""
