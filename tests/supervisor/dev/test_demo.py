"""The last lines of the demo: where what is stored of its tasks is to be seen."""

from supervisor.dev.demo import stored_words

_TASK = "index_kafka_clicks_0123456789abcde_abcdefgh"


def test_commands_find_the_overlord_of_the_usual_port_by_themselves() -> None:
    assert stored_words("http://127.0.0.1:8090", _TASK, once=False).splitlines() == [
        "Logs and reports of its tasks are stored, and outlive their worker. See them:",
        f"  tidegate task logs {_TASK}",
        f"  tidegate task reports {_TASK}",
        "  http://127.0.0.1:8090/ui/logs/reports",
    ]


def test_another_address_is_named_and_an_ended_demo_is_started_again_first() -> None:
    words = stored_words("http://127.0.0.1:15001", _TASK, once=True)

    assert f"tidegate task logs {_TASK} --server http://127.0.0.1:15001" in words
    assert "See them, once the demo is started again:" in words
