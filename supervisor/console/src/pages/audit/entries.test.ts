import { describe, expect, it } from "vitest";
import {
  addressOf,
  changesOf,
  type Denied,
  grouped,
  lineOf,
  named,
  pageOf,
  queueOf,
  supervisorOf,
  tableOf,
  versionOf,
} from "./entries";
import { auditSearch } from "./search";

const ENTRY = {
  at: "2026-11-28T10:00:00Z",
  actor: "alice",
  action: "apply",
  subject: "orders",
  detail: { version: "8", address: "10.0.0.7", comment: "" },
  reason: null,
};

describe("an entry", () => {
  it("shows from what to what", () => {
    expect(lineOf(changesOf(ENTRY))).toBe("version 7 to 8");
    expect(lineOf(changesOf({ ...ENTRY, detail: { version: "1" } }))).toBe("version 1");
    const grants = { grants: "viewer on *", before: "admin on *", comment: "late" };
    expect(lineOf(changesOf({ ...ENTRY, detail: grants }))).toBe(
      "grants admin on * to viewer on * · comment late",
    );
  });

  it("knows where it came from and what it is about", () => {
    expect(addressOf(ENTRY)).toBe("10.0.0.7");
    expect(supervisorOf(ENTRY)).toBe("orders");
    const discard = { ...ENTRY, action: "discard", subject: "g_8", detail: { supervisor: "o" } };
    expect(supervisorOf(discard)).toBe("o");
    expect(supervisorOf({ ...ENTRY, action: "set-retention" })).toBeNull();
    const repair = { ...ENTRY, action: "queue-repair", subject: "supervisor:a/b/task-output" };
    expect(queueOf(repair)).toEqual({ container: "supervisor:a/b", name: "task-output" });
  });

  it("names its table and its version, where it is about one", () => {
    expect([versionOf(ENTRY), tableOf(ENTRY)]).toEqual([8, null]);
    const publish = { ...ENTRY, action: "publish", detail: { supervisor: "o" } };
    expect([versionOf(publish), tableOf(publish)]).toEqual([null, "orders"]);
    expect(versionOf({ ...ENTRY, action: "apply-flow" })).toBeNull();
    const pages = [
      "apply-flow",
      "start-execution",
      "answer-step",
      "disable-worker",
      "stop-task",
    ].map((action) => pageOf({ ...ENTRY, action }));
    expect(pages).toEqual(["flow", "execution", "execution", "worker", "task"]);
    expect(["apply", "forget-worker"].map((action) => pageOf({ ...ENTRY, action }))).toEqual([
      null,
      null,
    ]);
  });

  it("keeps its name when a newer one comes", () => {
    const before = named([ENTRY, ENTRY]).map(({ key }) => key);

    expect(new Set(before).size).toBe(2);
    expect(
      named([ENTRY, ENTRY, ENTRY])
        .map(({ key }) => key)
        .slice(1),
    ).toEqual(before);
  });

  it("is filtered by words of any URL", () => {
    expect(auditSearch({ actor: ["a", "b"], other: "x" })).toStrictEqual({
      supervisor: undefined,
      action: undefined,
      actor: "a",
      by: undefined,
      sel: undefined,
    });
  });
});

it("puts tries together that were refused alike", () => {
  const one: Denied = {
    firstAt: "2026-11-28T10:00:00Z",
    lastAt: "2026-11-28T10:00:05Z",
    times: 3,
    name: "",
    address: "10.0.0.9",
    what: "token",
    why: "no such token",
  };
  const later = {
    ...one,
    firstAt: "2026-11-28T11:00:00Z",
    lastAt: "2026-11-28T11:00:00Z",
    times: 2,
  };
  const other = { ...one, name: "bob" };

  expect(grouped([other, later, one])).toEqual([{ ...one, times: 5, lastAt: later.lastAt }, other]);
});
