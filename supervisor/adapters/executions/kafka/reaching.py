"""A way to the brokers, made before somebody waits for it.

librdkafka connects at the first request, and gives its first connection up as soon as it knows the
brokers by name.  A transaction that begins in that moment waits for a timer of 0.5 s, and a topic
that is read without its leader being known for one of a second.  A request for metadata waits for a
connection and no longer.
"""

from contextlib import suppress

from confluent_kafka import Consumer, KafkaException, Producer

__all__ = ["reach"]

_NO_TOPIC = "?"
"""A name that no topic can have: at a producer's question a broker may make the topic."""
_ANSWER_S = 1.0


def reach(client: Consumer | Producer, topic: str = _NO_TOPIC) -> None:
    """Wait until a client has a broker; `topic`: of a consumer, what it reads next.

    A client that gets no answer says why at its next request.
    """
    with suppress(KafkaException):
        for _ in ("the first connection", "one to a broker by its name"):
            client.list_topics(topic, timeout=_ANSWER_S)
