import { describe, expect, test } from "vitest";
import { minutesOf } from "./density";
import { lanesOf, nearest, neighbour } from "./lanes";
import { isFailed, type Range, stepsOf, waitingSince, wordOf } from "./phases";
import { merged } from "./ranges";
import { busyOf, placeOf, stretchesOf, ticksOf } from "./scale";
import { percentile, summaryOf } from "./summary";

const T0 = Date.parse("2026-11-28T10:00:00Z");
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NONE = { reading: null, pausing: null, finishing: null, publishing: null, total: null };

/** Times in ms after T0. */
type Times = [opened: number, pausing?: number, fixed?: number, finished?: number, ended?: number];

function range(ordinal: number, times: Times, part: Partial<Range> = {}): Range {
  const iso = (at: number | undefined) =>
    at === undefined ? null : new Date(T0 + at).toISOString();
  const [opened, pausing, fixed, finished, ended] = times;
  return {
    id: `g_${ordinal}`,
    ordinal,
    group: 0,
    state: ended === undefined ? "READING" : "PUBLISHED",
    specVersion: 1,
    taskCount: 1,
    start: {},
    end: null,
    records: null,
    rows: null,
    rejected: null,
    publishedBy: null,
    digest: null,
    diverged: [],
    handoffWhy: "",
    openedAt: iso(opened) ?? "",
    pausingAt: iso(pausing),
    endFixedAt: iso(fixed),
    firstFinishedAt: iso(finished),
    endedAt: iso(ended),
    durations: NONE,
    attempts: [attempt("RUNNING", opened)],
    ...part,
  };
}

function attempt(status: string, started: number, ended?: number): Range["attempts"][number] {
  return {
    status,
    startedAt: new Date(T0 + started).toISOString(),
    endedAt: ended === undefined ? null : new Date(T0 + ended).toISOString(),
  } as Range["attempts"][number];
}

describe("steps", () => {
  test("follow each other without gaps, the last one up to now", () => {
    const at = (...times: Times) =>
      stepsOf(range(1, times), T0 + 100).map(({ phase, from, to }) => [phase, from - T0, to - T0]);

    expect(at(0, 60, 65, 80, 90)).toEqual([
      ["reading", 0, 60],
      ["pausing", 60, 65],
      ["finishing", 65, 80],
      ["publishing", 80, 90],
    ]);
    expect(at(0, 60)).toEqual([
      ["reading", 0, 60],
      ["pausing", 60, 100],
    ]);
    expect(at(0)).toEqual([["reading", 0, 100]]);
  });

  test("of clocks that differ are never of negative length", () => {
    const steps = stepsOf(range(1, [50, 40, 60, 55, 70]), T0 + 100);

    expect(steps.map(({ phase, from, to }) => [phase, from - T0, to - T0])).toEqual([
      ["reading", 50, 50],
      ["pausing", 50, 60],
      ["publishing", 60, 70],
    ]);
  });

  test("begin with a wait where no task reads, and end with one", () => {
    const at = (each: Range) =>
      stepsOf(each, T0 + MINUTE).map(({ phase, from, to }) => [phase, from - T0, to - T0]);
    const unread = range(1, [0], { attempts: [] });
    const late = range(1, [0], { attempts: [attempt("RUNNING", 9_000)] });
    const left = range(1, [0], { attempts: [attempt("FAILED", 10, 20_000)] });
    const old = range(1, [0, 60, 65, 80, 90], { attempts: [] });

    expect(at(unread)).toEqual([["waiting", 0, MINUTE]]);
    expect(at(late)).toEqual([
      ["waiting", 0, 9_000],
      ["reading", 9_000, MINUTE],
    ]);
    expect(at(left)).toEqual([
      ["reading", 0, 20_000],
      ["waiting", 20_000, MINUTE],
    ]);
    expect(at(old)[0]).toEqual(["reading", 0, 60]);
    expect([unread, late, left, old].map(wordOf)).toEqual([
      "waits for a slot",
      "reading",
      "waits for a task",
      "published",
    ]);
    expect([unread, late, left, old].map(waitingSince)).toEqual([T0, null, T0 + 20_000, null]);
  });

  test("have a word each, and a failure is seen whatever a range came to", () => {
    const publishing = range(1, [0, 1, 2], { state: "PUBLISHING" });
    const failed = { status: "FAILED" } as Range["attempts"][number];

    expect(wordOf(publishing)).toBe("finishing");
    expect(wordOf({ ...publishing, firstFinishedAt: publishing.openedAt })).toBe("publishing");
    expect(isFailed(publishing)).toBe(false);
    expect(isFailed({ ...publishing, attempts: [failed] })).toBe(true);
    expect(isFailed({ ...publishing, state: "DISCARDED" })).toBe(true);
  });
});

describe("lanes", () => {
  const first = range(1, [0, 60, 61, 70, 90]);
  const second = range(2, [61, 120, 121, 130, 140]);
  const third = range(3, [121]);
  const other = range(4, [0], { group: 1 });

  test("are of one group each, and ranges that overlap are in different rows", () => {
    const lanes = lanesOf([third, other, second, first], T0 + 200);

    expect(lanes.map(({ group, rows }) => [group, rows])).toEqual([
      [0, 2],
      [1, 1],
    ]);
    expect(lanes[0]?.placed.map(({ range: { id }, row }) => [id, row])).toEqual([
      ["g_1", 0],
      ["g_2", 1],
      ["g_3", 0],
    ]);
  });

  test("give the range that is nearest to a place, or next to the open one", () => {
    const [lane] = lanesOf([first, second, third], T0 + 200);
    const at = (row: number, x: number) =>
      lane && nearest(lane, row, x, (each) => [each.ordinal * 10, each.ordinal * 10 + 5])?.id;

    expect([at(0, 12), at(0, 19), at(0, 26), at(1, 500)]).toEqual(["g_1", "g_1", "g_3", "g_2"]);
    expect(lane && neighbour(lane, "g_2", -1).id).toBe("g_1");
    expect(lane && neighbour(lane, "g_1", -1).id).toBe("g_1");
    expect(lane && neighbour(lane, undefined, 1).id).toBe("g_3");
  });
});

describe("the scale", () => {
  test("folds long idle times, and keeps short ones", () => {
    const busy = busyOf(
      [
        [T0, T0 + 10 * MINUTE],
        [T0 + 9 * MINUTE, T0 + 20 * MINUTE],
        [T0 + 20.5 * MINUTE, T0 + 30 * MINUTE],
        [T0 + 2 * HOUR, T0 + 2 * HOUR + 10 * MINUTE],
      ],
      [T0 - HOUR, T0 + 3 * HOUR],
    );
    expect(busy.length).toBe(3);

    const stretches = stretchesOf(busy, [T0 - HOUR, T0 + 3 * HOUR], 1_000);

    expect(stretches.map(({ isFolded }) => isFolded)).toEqual([true, false, true, false, true]);
    expect(stretches[1]).toMatchObject({ from: T0, to: T0 + 30 * MINUTE });
    const last = stretches.at(-1);
    expect(last && Math.round(last.x + last.width)).toBe(1_000);
  });

  test("places moments in order, whatever is folded", () => {
    const window = [T0, T0 + 6 * HOUR] as const;
    const stretches = stretchesOf([[T0 + 5 * HOUR, T0 + 6 * HOUR]], window, 900);
    const places = [0, 1, 4, 5, 5.5, 6].map((hour) => placeOf(stretches, T0 + hour * HOUR));

    expect(places).toEqual([...places].sort((one, other) => one - other));
    expect(places[0]).toBe(0);
    expect(places[5]).toBe(900);
    expect(placeOf(stretches, T0 - HOUR)).toBe(0);
    expect(placeOf(stretches, T0 + 9 * HOUR)).toBe(900);
  });

  test("has round ticks with room between them, none in idle times", () => {
    const stretches = stretchesOf([[T0 + 5 * HOUR, T0 + 6 * HOUR]], [T0, T0 + 6 * HOUR], 900);
    const ticks = ticksOf(stretches);

    expect(ticks.length).toBeGreaterThan(1);
    expect(ticks.every((at) => at >= T0 + 5 * HOUR && at % (10 * MINUTE) === 0)).toBe(true);
  });

  test("is whole where nothing ran", () => {
    expect(stretchesOf([], [T0, T0 + HOUR], 500)).toEqual([
      { from: T0, to: T0 + HOUR, x: 0, width: 500, isFolded: false },
    ]);
  });
});

test("many ranges are numbers per minute of their end", () => {
  const ranges = [
    range(1, [0, 1, 2, 3, 10]),
    range(2, [0, 1, 2, 3, MINUTE - 1], { state: "DISCARDED" }),
    range(3, [0, 1, 2, 3, MINUTE]),
    range(4, [0]),
  ];

  expect(minutesOf(ranges, T0 + 90_000)).toEqual([
    { at: T0, ranges: 2, failed: 1 },
    { at: T0 + MINUTE, ranges: 2, failed: 0 },
  ]);
});

test("the summary counts causes, and takes the 95th of 100", () => {
  const hundred = Array.from({ length: 100 }, (_, n) => n + 1);
  expect(percentile(hundred, 0.95)).toBe(95);
  expect(percentile([7], 0.95)).toBe(7);
  expect(percentile([], 0.95)).toBeNull();

  const summary = summaryOf([
    range(1, [0, 1, 2, 3, 4], {
      handoffWhy: "taskDuration of 60 s is over",
      durations: { ...NONE, pausing: 310, finishing: 2_000, publishing: 400 },
    }),
    range(2, [0, 1, 2, 3, 4], { handoffWhy: "maxTotalRows of 10 is reached: 12 rows are read" }),
    range(3, [0, 1, 2, 3, 4], { handoffWhy: "asked for by alice", state: "DISCARDED" }),
    range(4, [0]),
  ]);
  expect(summary).toEqual({
    live: 1,
    ended: 3,
    failed: 1,
    gapP95: 310,
    publishP95: 2_400,
    causes: { time: 1, rows: 1, other: 1 },
  });
});

test("a later look takes the place of an earlier one, and what ended before is left out", () => {
  const old = range(1, [0, 1, 2, 3, 10]);
  const live = range(2, [5]);
  const ended = range(2, [5, 20, 21, 22, 30]);

  expect(merged([live, old], [range(3, [21]), ended], T0 + 15)).toEqual([range(3, [21]), ended]);
});
