"""`python -m supervisor.settings`: the table of settings, as the reference page has it."""

import sys

from supervisor.settings.settings import as_markdown, settings_table

if __name__ == "__main__":
    sys.stdout.write(as_markdown(settings_table()))
