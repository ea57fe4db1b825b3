"""Stories of the databases themselves: transactions, locks, silence, plans of queries."""
