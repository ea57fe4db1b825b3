"""What became of each offset of a supervisor; read `partitions.py` first."""
