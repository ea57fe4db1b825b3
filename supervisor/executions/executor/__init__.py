"""An executor at work: its row in the registry, the losses of others, the parts it starts and ends.

Read `service.py` first.
"""
