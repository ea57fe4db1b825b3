"""What is wrong with an expression, and where."""


class ExpressionError(Exception):
    """A text that is no expression, or one that cannot be worked out here."""

    def __init__(self, message: str, at: int, fix: str = "") -> None:
        """`at` is the number of characters before the place; `fix` says what to write instead."""
        super().__init__(f"{message} at character {at + 1}")
        self.message = message
        self.at = at
        self.fix = fix
