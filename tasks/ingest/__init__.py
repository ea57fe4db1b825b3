"""The data plane's engine: Kafka ranges to Parquet by PySpark.

Read first: `engine.py` (one batch, one merge), `decode/decode.py` (what becomes of each record).
"""
