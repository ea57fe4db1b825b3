"""The error of an expression, with its place."""


class ExpressionError(Exception):
    """A text is no valid expression, or an expression that is not supported here."""

    def __init__(self, message: str, at: int, fix: str = "") -> None:
        """`at`: the number of characters before the error; `fix`: the text to write instead."""
        super().__init__(f"{message} at character {at + 1}")
        self.message = message
        self.at = at
        self.fix = fix
