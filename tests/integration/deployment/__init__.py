"""How the product is started: `tidegate dev`, the compose file, TLS and access."""
