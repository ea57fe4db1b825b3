"""Composition roots: modules that wire and start a process; only the command line imports them."""
