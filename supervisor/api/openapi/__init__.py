"""The OpenAPI document beyond FastAPI's own part; `server.py` imports it."""
