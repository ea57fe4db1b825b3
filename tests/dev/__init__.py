"""What `tidegate dev` runs: real child processes and a real broker.  Read first: `test_broker.py`."""
