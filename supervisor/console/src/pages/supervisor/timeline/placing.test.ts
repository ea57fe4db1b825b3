import { expect, test } from "vitest";
import type { ChangeMark } from "./marks";
import { placed } from "./placing";

function mark(at: number, version: string | null, text = `v${version} alice`): ChangeMark {
  return { id: at, at, text, title: text, version, icon: "spec", tone: "note" };
}

function words(marks: ChangeMark[], width = 1_000): [number, string, boolean][] {
  return placed(marks, (at) => at, width).map(({ x, word, isBefore }) => [x, word, isBefore]);
}

test("each version has its number, also where its author has no room", () => {
  expect(words([mark(100, "1"), mark(200, "2"), mark(270, "3")])).toEqual([
    [270, "v3 alice", false],
    [200, "v2", false],
    [100, "v1 alice", false],
  ]);
});

test("versions at one place are one mark with all their numbers", () => {
  const shown = placed([mark(100, "1"), mark(110, "2"), mark(120, "3")], (at) => at, 1_000);

  expect(shown.map(({ word, marks }) => [word, marks.length])).toEqual([["v1–v3", 3]]);
});

test("a version that was stored just now has its number before it", () => {
  expect(words([mark(820, "4"), mark(998, "5")])).toEqual([
    [993, "v5", true],
    [820, "v4 alice", false],
  ]);
});

test("other changes at one place are the newest one, and a word needs its room", () => {
  const state = (at: number) => mark(at, null, "RUNNING");

  expect(words([state(100), state(105), state(140)])).toEqual([
    [140, "RUNNING", false],
    [105, "", false],
  ]);
});
