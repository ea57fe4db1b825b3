"""Parts of a publish: its files, what other replicas read, who hears of it."""
