"""Records and specs made from a seed, against models of what becomes of them."""
