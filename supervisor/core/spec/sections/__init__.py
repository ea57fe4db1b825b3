"""The parts of a spec, a file each, pure; `core/spec/` puts them together."""
