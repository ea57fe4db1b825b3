"""Commands of Kafka's own tools, as product and pages name them, carried out on a broker."""

import re
import shlex

from confluent_kafka.admin import (  # type: ignore[attr-defined]  # in no __all__ of its stubs
    AclOperation,
    ResourcePatternType,
    ResourceType,
)

from tests.security.brokers import StrictBroker

__all__ = ["commands_in", "grant"]

_COMMAND = re.compile(r"kafka-acls --add [^;\n'\"]+?(?=\.  |[;\n'\"]|$)")
_RESOURCES = {
    "--topic": ResourceType.TOPIC,
    "--group": ResourceType.GROUP,
    "--transactional-id": ResourceType.TRANSACTIONAL_ID,
}


def commands_in(text: str) -> list[str]:
    """Return the commands that give rights in a text; a backslash at an end goes on."""
    return _COMMAND.findall(re.sub(r"\\\n\s*", " ", text))


def grant(broker: StrictBroker, command: str) -> None:
    """Do what a command of `kafka-acls` does, for the user of the broker."""
    words = shlex.split(command)
    assert words[:2] == ["kafka-acls", "--add"], command
    given = list(zip(words[2::2], words[3::2], strict=True))
    options = dict(given)
    assert options.pop("--allow-principal").startswith("User:"), command
    operations = [value for option, value in given if option == "--operation"]
    del options["--operation"]
    pattern = ResourcePatternType[options.pop("--resource-pattern-type", "literal").upper()]
    [(option, name)] = options.items()
    on = (_RESOURCES[option], name, pattern)
    broker.allow(on, *(AclOperation[_word(each)] for each in operations))


def _word(operation: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", operation).upper()
