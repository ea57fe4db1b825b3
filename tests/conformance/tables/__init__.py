"""Stories of segments, exports, compactions and the warehouse."""
