"""Look and act: passes, publishing, leadership, workers; chores and services import it."""
