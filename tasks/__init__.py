"""The data plane: workers that read Kafka ranges with PySpark and write segments.

Read first: `contract.py` (what is said), `machine.py` (what a task does), then `worker.py`.
"""
