"""Faults of the protocol, planted on purpose: each is one replaced function of the product.

`patches.py` says what a fault is and puts it in place; the other files name the faults, by layer.
"""
