"""Response models about tables; the API, the command line and `verify/` import them."""
