"""Response models in pydantic; the API, the command line and `verify/` import them."""
