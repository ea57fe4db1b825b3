"""What a run consists of: time, network, disk, Kafka and the metadata database."""
