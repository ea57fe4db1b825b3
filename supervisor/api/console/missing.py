"""The page of an overlord without a built console: what is missing, and what to do instead."""

from html import escape

COMMANDS = (
    ("supervisors, the worst first", "tidegate supervisor top"),
    ("what one does, and why", "tidegate supervisor explain ID"),
    ("its lag by partitions, and what is at risk", "tidegate supervisor partitions ID"),
    ("what happened", "tidegate supervisor events"),
    ("the tasks that run", "tidegate task list"),
    ("each part of the installation", "tidegate doctor"),
    ("everything else", "tidegate --help"),
)
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Tidegate: the console is not built</title>
<style nonce="{nonce}">
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 4rem auto }}
code {{ font-family: ui-monospace, monospace }}
th, td {{ text-align: left; font-weight: normal; padding: .15rem 2rem .15rem 0 }}
</style>
</head>
<body>
<h1>The console is not built</h1>
<p>This overlord runs, and its API and its commands work. Only the console's files are missing: they
are built with packages from npm, which could not be reached when this was set up.</p>
<h2>Build it</h2>
<p>In a checkout: <code>scripts/setup</code>, then <code>python -m scripts.console</code>, which
says what keeps it from building. This overlord serves the console as soon as it is built.</p>
<h2>The same by commands</h2>
<table>
{rows}
</table>
</body>
</html>
"""


def page_without_build(nonce: str) -> str:
    """Return the page; `nonce` lets its style sheet in."""
    rows = "\n".join(
        f'<tr><th scope="row">{escape(what)}</th><td><code>{escape(command)}</code></td></tr>'
        for what, command in COMMANDS
    )
    return _PAGE.format(nonce=nonce, rows=rows)
