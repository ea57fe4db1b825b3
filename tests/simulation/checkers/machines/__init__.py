"""What holds of workers and their disks: journals, slots, rejects, processes that leave."""
