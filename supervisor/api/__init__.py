"""The overlord's HTTP edge: routes that decide nothing.

Read `server.py` (the application), `http/problems.py` (the answers to errors) and `http/edge.py`
(the checks before a route).
"""
