"""Password hashing by argon2id: slow and memory-hard, so that a stolen hash is hard to guess."""

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError


class Argon2Passwords:
    """See `ports.access.Passwords`; safe from many threads."""

    def __init__(self, memory_kib: int, passes: int) -> None:
        """Set the parameters of new hashes; a stored hash holds its own parameters."""
        self._hasher = PasswordHasher(time_cost=passes, memory_cost=memory_kib, parallelism=1)

    def hash(self, password: str) -> str:
        """Return a text that holds parameters, salt and hash."""
        return self._hasher.hash(password)

    def verify(self, secret: str, password: str) -> bool:
        """Return whether `secret`, a result of `hash`, belongs to this password."""
        try:
            return self._hasher.verify(secret, password)
        except (VerificationError, InvalidHashError):
            return False
