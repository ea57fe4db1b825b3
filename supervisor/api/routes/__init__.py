"""The routes, by resource; `server.py` alone imports them."""
