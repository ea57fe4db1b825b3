"""The data plane: workers that read Kafka ranges with PySpark and write segments.

Read first: `contract/messages.py` (what is said), `machine/machine.py` (what a task does), then
`worker/worker.py`.
"""
