"""Commands for flows, which need no server."""
