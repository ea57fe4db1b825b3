"""Parts of an executor, without a broker."""
