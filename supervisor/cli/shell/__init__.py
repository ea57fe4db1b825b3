"""Shared parts of all commands: client, options, output, profiles."""
