"""The description of the API beyond what FastAPI derives; `server.py` imports it."""
