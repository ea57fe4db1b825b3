"""Text that would like to be more than text, in every place where a page takes it from others."""
