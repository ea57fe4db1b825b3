"""The console over large fleets and long histories: counts of requests, bytes and elements."""
