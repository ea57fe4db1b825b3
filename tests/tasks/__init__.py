"""The ingestion task and its worker.  Read first: `memory.py` (a world without a JVM), then
`test_machine.py` (what a task does) and `test_worker.py` (what a worker does)."""
