"""The command line, `tidegate`: typer commands over the overlord's own HTTP API.

Read first: `main.py` (the commands, and the exit code of an error), then `shell/client.py`, the
only HTTP client, and `shell/output.py`.  A command's docstring is its help.
"""
