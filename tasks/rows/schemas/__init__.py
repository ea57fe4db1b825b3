"""Avro and Protobuf schemas as rules for rows, pure."""
