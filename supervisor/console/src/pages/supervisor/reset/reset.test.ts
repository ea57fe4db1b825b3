import { expect, test } from "vitest";
import { commandWith } from "@/components/action/action";
import { isConfirmed } from "@/components/action/effect";
import { accept, type Reading, receive, UNREAD } from "@/components/action/reading";
import {
  changedBetween,
  commandOf,
  confirmOf,
  idleOf,
  type MovedPartition,
  type Preview,
  totalsOf,
  undoOf,
} from "./effect";
import { type Form, formOf, judge, searchOf } from "./target";

const EMPTY: Form = { place: undefined, at: "", shift: "", offsets: {}, json: "" };

function moved(partition: number, parts: Partial<MovedPartition> = {}): MovedPartition {
  const still = { skipped: 0, lost: 0, repeated: 0, from: 100, to: 100, recreated: false };
  return { topic: "orders", partition, ...still, ...parts };
}

function preview(digest: string, ...partitions: MovedPartition[]): Preview {
  return { id: "orders", dryRun: true, digest, partitions, discarded: [], operationId: null };
}

test("a preview that would do something else waits to be read", () => {
  const first = preview("a", moved(0, { to: 0, repeated: 100 }), moved(1));
  const second = preview("b", moved(0, { from: 150, to: 0, repeated: 150 }), moved(1));
  const reading: Reading<Preview> = receive(receive(UNREAD, first), second);

  expect(reading).toEqual({ read: first, newer: second });
  expect(changedBetween(reading.read, reading.newer)).toEqual(new Set(["orders:0"]));
  expect(accept(reading)).toEqual({ read: second, newer: null });
  expect(receive(reading, first)).toEqual({ read: first, newer: null });
});

test("a preview of the same effect needs no second reading", () => {
  const first = preview("a", moved(0));

  expect(receive(receive(UNREAD, first), preview("a", moved(0)))).toEqual({
    read: first,
    newer: null,
  });
});

test("records that are not read, or are read again, are counted beyond 2^53 and typed", () => {
  const most = 9_223_372_036_854_775_807n as unknown as number;
  const totals = totalsOf(preview("a", moved(0, { lost: most }), moved(1, { skipped: 2 })));

  expect(totals).toEqual({ skipped: 2n, lost: 9_223_372_036_854_775_807n, repeated: 0n });
  const wanted = confirmOf(totals)?.number ?? null;
  expect(wanted).toBe("9223372036854775809");
  expect(isConfirmed("9,223,372,036,854,775,809", wanted)).toBe(true);
  expect(isConfirmed("9223372036854775808", wanted)).toBe(false);
  expect(confirmOf(totalsOf(preview("a", moved(0))))).toBeNull();
});

test("offsets that are committed already change nothing", () => {
  const given = { kind: "offsets", offsets: { "0": 100 } } as const;

  expect(idleOf(given, preview("a", moved(0)))).toMatch(/^Nothing changes/);
  expect(idleOf(given, preview("a", moved(0), moved(1, { to: 7 })))).toBeNull();
  expect(idleOf(given, preview("a", moved(0, { recreated: true })))).toBeNull();
  expect(idleOf({ kind: "beside" }, preview("a", moved(0)))).toBeNull();
});

test("the undo sets back what was moved, and says what stays", () => {
  const back = undoOf(
    "orders",
    "orders",
    preview("a", moved(3, { to: 0, repeated: 100 }), moved(4)),
  );
  const pattern = undoOf("all", "orders.*", preview("a", moved(3, { to: 120, lost: 20 })));
  const fresh = undoOf("orders", "orders", preview("a", moved(3, { from: null, to: 5 })));

  expect(back.command).toBe("tidegate supervisor reset orders --offset '3=100'");
  expect(back.words).toContain("published a second time");
  expect(pattern.command).toBe("tidegate supervisor reset all --offset 'orders:3=100'");
  expect(pattern.words).toContain("stays lost");
  expect(fresh.command).toBeNull();
});

test("the command line names the place, the preview and the reason", () => {
  const command = commandOf("orders", { kind: "end", to: "earliest" });
  expect(commandWith(command, { expect: "ab", reason: "it's late" })).toBe(
    "tidegate supervisor reset orders --begin earliest --expect ab --reason 'it'\\''s late'",
  );
  expect(commandOf("orders", { kind: "shift", by: -5n })).toBe(
    "tidegate supervisor reset orders --shift=-5",
  );
});

test.each<[Partial<Form>, string]>([
  [{}, "Choose where"],
  [{ place: "time" }, "Choose a time"],
  [{ place: "shift", shift: "0" }, "number of records"],
  [{ place: "shift", shift: "9223372036854775808" }, "at most 9,223,372,036,854,775,807"],
  [{ place: "offsets", offsets: { 0: "" } }, "at least one partition"],
  [{ place: "offsets", offsets: { 0: "-1" } }, "is no offset"],
  [{ place: "json", json: "{" }, "no JSON"],
  [{ place: "json", json: "[1]" }, "no object"],
  [{ place: "json", json: '{"0": 1.5}' }, "is no offset"],
])("a form without a place says what it lacks", (part, lack) => {
  expect(judge({ ...EMPTY, ...part })).toEqual({ lack: expect.stringContaining(lack) });
});

test("offsets keep their digits, from fields, from JSON and from Druid's form", () => {
  const most = 9_223_372_036_854_775_807n;
  const wanted = { target: { kind: "offsets", offsets: { 0: most, "clicks:1": 5 } } };
  const pasted = '{"0": 9223372036854775807, "clicks:1": 5}';
  const druid = `{"type":"kafka","partitions":{"type":"end","stream":"x","partitionOffsetMap":${pasted}}}`;

  expect(judge({ ...EMPTY, place: "json", json: pasted })).toEqual(wanted);
  expect(judge({ ...EMPTY, place: "json", json: druid })).toEqual(wanted);
  expect(
    judge({
      ...EMPTY,
      place: "offsets",
      offsets: { 0: "9,223,372,036,854,775,807", "clicks:1": "5" },
    }),
  ).toEqual(wanted);
});

test("a form survives its address", () => {
  const form = formOf({ do: "reset", offset: ["clicks:1=5", "0=9223372036854775807"] });

  expect(form.place).toBe("offsets");
  expect(form.offsets).toEqual({ "clicks:1": "5", 0: "9223372036854775807" });
  expect(formOf(searchOf(form))).toEqual(form);
  expect(formOf({ do: "reset", to: "time", at: "yesterday" }).at).toBe("");
});
