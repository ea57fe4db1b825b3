"""The processes of a run and the faulty wires between them."""
