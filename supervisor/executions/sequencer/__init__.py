"""The engine over Kafka's topics: one writer per partition, who holds its entities in memory.

Read `loop.py` first: it is the whole path of an input.
"""
