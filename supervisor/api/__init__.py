"""The overlord's HTTP edge: routes that decide nothing.

Read `server.py` (what is served), `http/problems.py` (what is answered when it is refused) and
`http/edge.py` (what is refused before a route sees it).
"""
