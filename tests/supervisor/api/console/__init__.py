"""How the console is served, from builds that the tests write."""
