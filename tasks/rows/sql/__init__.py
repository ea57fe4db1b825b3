"""Quoting of SQL texts, and parsing of Java's regular expressions, pure."""
