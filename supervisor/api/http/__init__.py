"""Middleware of the API: limits, callers, preconditions, problems; the routes import it."""
