"""Commands on the installation: access, audit, config, doctor, queues, tasks, workers."""
