"""Texts of libraries that show what they were given, with canaries where the secrets are."""

from tasks.contract.kafka_client import SecretRef

__all__ = ["BY_NAME", "BY_VALUE", "CANARY", "REFERENCE", "SECRET", "VARIABLE"]

CANARY = "canary-3e9d"
SECRET = f'{CANARY} "quoted\\ back'
VARIABLE = "TIDEGATE_SECRET_LEAKED"
REFERENCE = SecretRef(environment=VARIABLE)

BY_NAME = (
    "assertion failed: Kafka parameters for same cache key should be equal. old parameters: "
    "{key.deserializer=x.Y, sasl.jaas.config=org.apache.kafka.common.security.scram."
    f'ScramLoginModule required username="ann" password="{CANARY};\\" and";, group.id=t1}} '
    f"new parameters: {{ssl.key.password={CANARY} a}}b, ssl.keystore.key=-----BEGIN PRIVATE KEY"
    f"-----\n{CANARY}\n-----END PRIVATE KEY-----, group.id=t1}}"
)
"""As Spark's connector fails where properties differ: a process may know none of these secrets."""

BY_VALUE = f"the broker did not like [{SECRET}] of ann"
"""Nothing beside the value says what it is."""
