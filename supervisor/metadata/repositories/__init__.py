"""One repository per noun; the store of `metadata/` alone imports them."""
