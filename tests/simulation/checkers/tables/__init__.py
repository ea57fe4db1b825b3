"""What must hold of the life of tables: their rows, their files, their exports."""
