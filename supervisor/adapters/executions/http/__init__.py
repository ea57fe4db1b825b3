"""The `http` verb: where it may connect, and the call itself."""
