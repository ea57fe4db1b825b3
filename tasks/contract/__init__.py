"""The seam: every message between the planes, pure; both planes import it."""
