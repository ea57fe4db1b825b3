"""What the control plane needs of the world, as Protocols; all above `core/` import them."""
