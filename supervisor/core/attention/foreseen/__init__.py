"""What each verb would do, worked out before it is carried out; the act compares itself with it."""
