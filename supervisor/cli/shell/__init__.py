"""What all commands share: client, options, output, profiles; every command imports it."""
