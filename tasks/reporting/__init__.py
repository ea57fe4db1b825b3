"""Records of what tasks report, pure: their form, their ids, their sizes, what is dropped first."""
