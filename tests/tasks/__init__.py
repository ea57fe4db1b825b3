"""The ingestion task and its worker.  Read first: `memory.py` (a world without a JVM), then
`machine/test_machine.py` (what a task does) and `worker/test_worker.py` (what a worker does)."""
