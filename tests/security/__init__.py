"""What a spec, a record or a caller may not do, tried on real parts."""
