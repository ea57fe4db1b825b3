"""Rules from record to row, pure; both planes import it."""
