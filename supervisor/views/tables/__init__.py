"""Answers about tables, as pydantic models; the API, the command line and `verify/` import them."""
