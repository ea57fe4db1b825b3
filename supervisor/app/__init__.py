"""Composition roots: what wires and starts a process; only the command line imports them."""
