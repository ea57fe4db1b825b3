"""The tables of the metadata database; repositories and migrations import them."""
