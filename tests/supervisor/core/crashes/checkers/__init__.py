"""What must hold of records, events, effects and slots; nothing of the reducer is in it."""
