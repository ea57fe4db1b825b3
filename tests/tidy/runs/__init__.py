"""How a run of the tests ends: in time, with all its processes, and with what failed named."""
