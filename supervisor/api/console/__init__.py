"""The console's built files below /ui, as a middleware; API routes of the console are not here."""
