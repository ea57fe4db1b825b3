"""Parsing and translation of Avro and Protobuf schemas, pure."""
