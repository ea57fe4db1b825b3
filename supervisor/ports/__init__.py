"""The ports of the control plane, as Protocols; all layers above `core/` import them."""
