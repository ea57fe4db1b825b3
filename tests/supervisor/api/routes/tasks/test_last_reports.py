"""A report that repeats the one before is the same report, whatever its worker wrote into it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.services.tasks.last_reports import LastReports
from tasks.contract.messages import SyncRequest, TaskPhase, TaskReport
from tasks.contract.offsets import TopicPartition
from tests.supervisor.api.world import World

TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=8),
    st.sampled_from(['"sequence":7', '{"sequence":7}', "[{", "}"]),
)


def _task(number: int, offset: int, detail: str) -> TaskReport:
    return TaskReport(
        task_id=f"task-{number}",
        phase=TaskPhase.READING,
        order_term=1,
        order_sequence=0,
        position={TopicPartition("clicks", 0): offset},
        detail=detail,
    )


@st.composite
def _reports(draw: st.DrawFn) -> SyncRequest:
    return SyncRequest(
        worker_id=draw(st.sampled_from(["w-1", "w-2"])),
        incarnation=draw(st.integers(0, 1)),
        previous_end=draw(TEXTS),
        sequence=draw(st.integers(0, 10**18 - 1)),
        url="http://w-1.example:8091",
        slots=4,
        tasks=tuple(
            _task(number, draw(st.integers(0, 1)), draw(TEXTS))
            for number in range(draw(st.integers(0, 2)))
        ),
        known=draw(st.none() | TEXTS),
    )


@given(st.lists(_reports(), max_size=6))
def test_a_repeated_report_is_what_its_text_says(reports: list[SyncRequest]) -> None:
    last = LastReports()
    for report in reports:
        body = report.to_json().encode()
        repeated = last.repeated(report.worker_id, body)
        assert repeated is None or repeated == report
        last.keep(body, report)


@given(_reports(), st.integers(0, 10**18 - 1))
def test_of_a_report_of_which_only_the_sequence_differs_nothing_is_read(
    report: SyncRequest, sequence: int
) -> None:
    last = LastReports()
    last.keep(report.to_json().encode(), report)
    again = report.model_copy(update={"sequence": sequence})

    repeated = last.repeated(report.worker_id, again.to_json().encode())

    assert repeated == again
    assert all(one is other for one, other in zip(repeated.tasks, report.tasks, strict=True))


REST = '"workerId":"w-1","incarnation":1,"url":"http://w-1.example:8091","slots":4'
ODD = [
    '{"sequence":%d,' + REST + "}",
    "{" + REST + ',"sequence":%d}',
    '{"sequence":%d,' + REST + ',"sequence":9}',
    '{"sequence":9,' + REST + ',"sequence":%d}',
    '{"previousEnd":"{\\"sequence\\":%d}",' + REST + ',"sequence":9}',
    '{ "sequence" : %d, ' + REST + "}",
    '{"\\u0073equence":%d,' + REST + ',"sequence":9}',
    '{"sequence":%d,' + REST + ',"\\u0073equence":9}',
]


@pytest.mark.parametrize("form", ODD)
def test_a_body_that_no_worker_writes_is_read_as_what_it_says(form: str) -> None:
    last = LastReports()
    for sequence in (9, 5, 9, 12, 12):
        body = (form % sequence).encode()
        repeated = last.repeated("w-1", body)
        report = SyncRequest.from_json(body)
        assert repeated is None or repeated == report
        last.keep(body, report)


def test_what_is_kept_is_bounded_and_the_longest_silent_goes_first() -> None:
    reports = [
        SyncRequest(
            worker_id=f"w-{n}", incarnation=1, sequence=1, url="http://w.example:1", slots=n
        )
        for n in range(3)
    ]
    bodies = [each.to_json().encode() for each in reports]
    last = LastReports(bytes_max=2 * len(bodies[0]))
    last.keep(bodies[0], reports[0])
    last.keep(bodies[1], reports[1])
    assert last.repeated("w-0", bodies[0]) is not None

    last.keep(bodies[2], reports[2])

    known = [last.repeated(f"w-{n}", body) is not None for n, body in enumerate(bodies)]
    assert known == [True, False, True]


def test_a_worker_is_heard_by_repeated_reports_as_by_others(world: World) -> None:
    agent, _ = world.start()
    agent.sync()
    agent.sync()
    task_id = next(iter(agent.held))
    first = world.parts.workers.registry.report(agent.id, task_id)
    agent.sync()
    repeated = world.parts.workers.registry.report(agent.id, task_id)
    agent.read(task_id, 3)
    agent.sync()
    news = world.parts.workers.registry.report(agent.id, task_id)

    assert repeated is first is not None
    assert news is not None
    assert news.position != first.position


def test_a_repeated_body_of_another_worker_is_refused(world: World) -> None:
    agent, _ = world.start()
    agent.sync()
    body = agent.request().to_json()
    last = world.parts.last_reports
    last.keep(body.encode(), SyncRequest.from_json(body))
    headers = {"Content-Type": "application/json"}

    answer = agent.client.post("/internal/v1/workers/other/sync", content=body, headers=headers)

    assert answer.status_code == 400
