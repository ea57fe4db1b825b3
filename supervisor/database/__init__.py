"""How a database is opened, of any schema: engines, bounded waits, drivers' errors as ours."""
