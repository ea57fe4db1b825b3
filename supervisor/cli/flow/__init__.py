"""Commands for flows: they check what is written, and try it without a server.

`flows.py` first; `outcomes.py` reads what a try is given.
"""
