"""The command line, `tidegate`: typer commands over the overlord's own HTTP API.

Read first: `main.py` (the commands, and what an error becomes), then `shell/client.py`, the one
helper that talks HTTP, and `shell/output.py`.  A command's docstring is its help.
"""
