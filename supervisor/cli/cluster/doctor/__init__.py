"""`tidegate doctor`: checks of an installation, each with its fix; the command may import it."""
