"""Which message a Protobuf record is read as: the `protoBytesDecoder` of a format.

Descriptors stand in the spec, where they are read when the spec is, or in a registry.  Nothing
here asks a network or opens a file.
"""

from types import MappingProxyType
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from supervisor.core.spec.section import Kinds, Section
from supervisor.core.spec.sections.decoders import NO_WAY, RegistryDecoder
from supervisor.core.values.field_types import Text, wrong
from tasks.contract.ingest_spec import OneMessage, RegistrySchemas
from tasks.rows.schemas.protobuf import SET_HINT, TEXT_MAX, ProtobufSchemaError, read_descriptors

NO_FILES = "file is not built: no file or URL that a spec names is ever opened"
FILE_IN_SPEC = (
    'write what it holds into the spec: {"type": "inline", "descriptorString": "..."}, '
    "the text that base64 -w0 FILE prints"
)
_MESSAGE_MAX = 1_000


class InlineDescriptorDecoder(Section):
    """Records are the bytes of one message, whose descriptors stand in the spec."""

    part, title = "oneMessage", "protoBytesDecoder of type inline"

    type: Literal["inline"]
    descriptor_string: Annotated[Text, Field(min_length=1, max_length=TEXT_MAX)]
    """A FileDescriptorSet in base64."""
    proto_message_type: Annotated[Text, Field(min_length=1, max_length=_MESSAGE_MAX)] | None = None
    """None: the only one."""

    @model_validator(mode="after")
    def _has_the_message(self) -> Self:
        try:
            read_descriptors(self.descriptor_string, self.proto_message_type)
        except ProtobufSchemaError as error:
            problem = str(error)
            hint = (
                f"give what base64 -w0 FILE prints after {SET_HINT}" if "base64" in problem else ""
            )
            raise wrong(f"the descriptor: {problem}", hint) from None
        return self

    def contract(self) -> OneMessage:
        """Return it as tasks are told it."""
        found = read_descriptors(self.descriptor_string, self.proto_message_type)
        return OneMessage(text=self.descriptor_string, message=found.message)


class MessageRegistryDecoder(RegistryDecoder):
    """Records begin with a byte 0, the number of a schema in a registry and a message's place."""

    def contract(self) -> RegistrySchemas:
        """Return it as tasks are told it."""
        registry = super().contract().registry
        return RegistrySchemas(registry=registry.model_copy(update={"binary": True}))


MessageDecoder = Annotated[
    InlineDescriptorDecoder | MessageRegistryDecoder,
    Field(discriminator="type"),
    Kinds("protoBytesDecoder", NO_WAY, MappingProxyType({"file": (NO_FILES, FILE_IN_SPEC)})),
]
