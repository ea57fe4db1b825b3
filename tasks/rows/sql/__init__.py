"""SQL texts and Java's regular expressions, pure."""
