"""A broker that asks who one is: passwords and certificates, on listeners of their own."""

from pathlib import Path

import trustme
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # in no __all__ of its stubs
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from supervisor.dev.broker import Broker
from supervisor.dev.ports import LOOPBACK, free_port
from tasks.runtime.jars import KAFKA
from tests.environment.brokers import shared_jars, shared_java

__all__ = ["PASSWORD", "USER", "Resource", "SecuredBroker", "StrictBroker", "key_of"]

USER = "ann"
PASSWORD = 'canary-7c1f "quoted\\ back'
"""With what a line of JAAS would have to quote."""
_LISTENERS = {"AUTH": "SASL_PLAINTEXT", "AUTHTLS": "SASL_SSL", "TLS": "SSL"}
_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_JAAS = "org.apache.kafka.common.security"
_ASK_TIMEOUT_S = 30.0
Resource = tuple[ResourceType, str, ResourcePatternType]


class SecuredBroker(Broker):
    """Beside its open listener: one for passwords, one for passwords over TLS, one for mutual TLS.

    Its certificate is of a CA that no machine trusts, for the name of loopback.
    """

    def __init__(self, folder: Path) -> None:
        """Start nothing yet."""
        super().__init__(folder, shared_java(), shared_jars(KAFKA))
        self.ca = trustme.CA()
        self.other_ca = trustme.CA()
        self._certificate = self.ca.issue_cert(LOOPBACK)
        self._ports = {name: free_port() for name in _LISTENERS}

    def address(self, listener: str) -> str:
        """Return where a listener takes clients."""
        return f"{LOOPBACK}:{self._ports[listener]}"

    @property
    def ca_pem(self) -> str:
        """What clients have to trust."""
        return self.ca.cert_pem.bytes().decode()

    def settings(self, controller: int) -> dict[str, str]:
        """Return the plain broker's, and the listeners beside it."""
        plain = super().settings(controller)
        beside = ",".join(f"{name}://{self.address(name)}" for name in _LISTENERS)
        names = ",".join(f"{name}:{protocol}" for name, protocol in _LISTENERS.items())
        properties = plain | {
            "listeners": f"{plain['listeners']},{beside}",
            "advertised.listeners": f"{plain['advertised.listeners']},{beside}",
            "listener.security.protocol.map": f"{plain['listener.security.protocol.map']},{names}",
            "listener.name.tls.ssl.client.auth": "required",
        }
        for name in ("auth", "authtls"):
            properties |= _password_settings(f"listener.name.{name}")
        for name in ("authtls", "tls"):
            properties |= self._tls_settings(f"listener.name.{name}")
        return properties

    def _tls_settings(self, listener: str) -> dict[str, str]:
        chain = "".join(pem.bytes().decode() for pem in self._certificate.cert_chain_pems)
        return {
            f"{listener}.ssl.keystore.type": "PEM",
            f"{listener}.ssl.keystore.certificate.chain": _one_line(chain),
            f"{listener}.ssl.keystore.key": _one_line(key_of(self._certificate)),
            f"{listener}.ssl.truststore.type": "PEM",
            f"{listener}.ssl.truststore.certificates": _one_line(self.ca_pem),
        }

    def set_password(self, password: str) -> None:
        """Let `USER` in by SCRAM with this password, and with no other; the broker runs."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
            info = ScramCredentialInfo(mechanism, 4096)
            wanted = UserScramCredentialUpsertion(USER, info, password.encode())
            for done in admin.alter_user_scram_credentials([wanted]).values():
                done.result(_ASK_TIMEOUT_S)


class StrictBroker(SecuredBroker):
    """Who logs in by password may do what is written; who comes by the open listener, all."""

    def settings(self, controller: int) -> dict[str, str]:
        """Return the secured broker's, and that nobody else may do anything."""
        return super().settings(controller) | {
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS",
        }

    def allow(self, on: Resource, *operations: AclOperation) -> None:
        """Let `USER` do this."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        wanted = [
            AclBinding(*on, f"User:{USER}", "*", operation, AclPermissionType.ALLOW)
            for operation in operations
        ]
        for done in admin.create_acls(wanted).values():
            done.result(_ASK_TIMEOUT_S)

    def revoke(self, on: Resource, operation: AclOperation = AclOperation.ANY) -> int:
        """Take away what `USER` may do there; return how many rights those were."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        every = AclBindingFilter(*on, f"User:{USER}", "*", operation, AclPermissionType.ANY)
        return sum(len(done.result(_ASK_TIMEOUT_S)) for done in admin.delete_acls([every]).values())


def _password_settings(listener: str) -> dict[str, str]:
    quoted = PASSWORD.replace("\\", "\\\\").replace('"', '\\"')
    plain = f'{_JAAS}.plain.PlainLoginModule required user_{USER}="{quoted}";'
    scram = f"{_JAAS}.scram.ScramLoginModule required;"
    properties = {f"{listener}.sasl.enabled.mechanisms": ",".join(_MECHANISMS)}
    for mechanism in _MECHANISMS:
        line = plain if mechanism == "PLAIN" else scram
        properties[f"{listener}.{mechanism.lower()}.sasl.jaas.config"] = line.replace("\\", "\\\\")
    return properties


def key_of(certificate: trustme.LeafCert, password: str = "") -> str:
    """Return the key of a certificate as PKCS#8, which the Java client wants; PEM."""
    key = load_pem_private_key(certificate.private_key_pem.bytes(), None)
    hidden = BestAvailableEncryption(password.encode()) if password else NoEncryption()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, hidden).decode()


def _one_line(pem: str) -> str:
    """Return a PEM as a file of properties takes it."""
    return pem.strip().replace("\n", "\\n")
