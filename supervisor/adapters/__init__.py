"""One file per outside thing; each implements a port and turns its library's errors into ours."""
