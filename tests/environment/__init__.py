"""What tests run on: brokers, PostgreSQL, Spark, schema registries, small disks."""
