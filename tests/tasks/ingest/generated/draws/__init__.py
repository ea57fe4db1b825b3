"""What a seed draws: specs, records, bytes, keys, filters, times."""
