"""The command line, `tidegate`: typer commands over the overlord's own HTTP API.

Read first: `main.py` (the commands, and what an error becomes), then `client.py`, the one helper
that talks HTTP, and `output.py`.  A command's docstring is its help.
"""
