"""The ports to what outlives a worker: the store of reports, and the store of logs."""
