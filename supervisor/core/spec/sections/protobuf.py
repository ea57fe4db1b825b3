"""The `protoBytesDecoder` of a format: the source of the message type of Protobuf records.

The descriptors are in the spec, and read together with it, or in a schema registry.  This module
uses no network and opens no file.
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
    """Decoder of records of one message type, whose descriptors are in the spec."""

    part, title = "oneMessage", "protoBytesDecoder of type inline"

    type: Literal["inline"]
    descriptor_string: Annotated[Text, Field(min_length=1, max_length=TEXT_MAX)]
    """A FileDescriptorSet in base64."""
    proto_message_type: Annotated[Text, Field(min_length=1, max_length=_MESSAGE_MAX)] | None = None
    """Full name of the message; None: the only one of the descriptor."""

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
        """Return the decoder in the form of the contract."""
        found = read_descriptors(self.descriptor_string, self.proto_message_type)
        return OneMessage(text=self.descriptor_string, message=found.message)


class MessageRegistryDecoder(RegistryDecoder):
    """Decoder of records that begin with byte 0, a schema's id in a registry and a message's place.

    The place is the message's index path in the schema.
    """

    def contract(self) -> RegistrySchemas:
        """Return the decoder in the form of the contract."""
        registry = super().contract().registry
        return RegistrySchemas(registry=registry.model_copy(update={"binary": True}))


MessageDecoder = Annotated[
    InlineDescriptorDecoder | MessageRegistryDecoder,
    Field(discriminator="type"),
    Kinds("protoBytesDecoder", NO_WAY, MappingProxyType({"file": (NO_FILES, FILE_IN_SPEC)})),
]
