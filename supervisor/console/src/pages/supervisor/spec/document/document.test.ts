import { describe, expect, it } from "vitest";
import { readJson } from "@/api/json";
import { applied, removeValue, renameMember, setValue } from "./edit";
import { mergedText, threeWay } from "./merge";
import { partsOf, pointerOf } from "./pointer";
import { baseOf, tidied } from "./tidy";
import { markOf, spotOf, treeOf } from "./tree";

const TEXT = `{
  "id": "orders",
  "spec": {
    "ioConfig": { "topic": "orders", "taskCoun": 9007199254740993 },
    "a/b": [1, {"x~y": true}]
  }
}`;

function marked(text: string, pointer: string, isName = false): string {
  const root = treeOf(text);
  if (root === null) {
    throw new Error("no tree");
  }
  const { from, to } = markOf(root, pointer, isName);
  return text.slice(from, to);
}

describe("a pointer (RFC 6901)", () => {
  it("escapes the signs that it is made of", () => {
    expect(partsOf("/a~1b/0/x~0y")).toEqual(["a/b", "0", "x~y"]);
    expect(pointerOf(["a/b", "0", "x~y"])).toBe("/a~1b/0/x~0y");
    expect(partsOf("")).toEqual([]);
  });

  it("leads to the value, or to the name, or to where something is missing", () => {
    expect(marked(TEXT, "/spec/ioConfig/taskCoun")).toBe("9007199254740993");
    expect(marked(TEXT, "/spec/ioConfig/taskCoun", true)).toBe('"taskCoun"');
    expect(marked(TEXT, "/spec/a~1b/1/x~0y")).toBe("true");
    expect(marked(TEXT, "/spec/ioConfig/inputFormat")).toBe('"ioConfig"');
    expect(marked(TEXT, "")).toBe("{");
  });

  it("leads as far as a text with errors goes", () => {
    expect(marked(`{"a": {"b": 1, "c": }}`, "/a/b")).toBe("1");
    expect(treeOf("")).toBeNull();
  });
});

describe("a place of the text", () => {
  it("has its way, and the member there", () => {
    const root = treeOf(TEXT);
    const spot = root && spotOf(root, TEXT.indexOf("taskCoun") + 3);
    expect(spot).toMatchObject({ parts: ["spec", "ioConfig"], isName: true });
    expect(spot?.member?.name).toBe("taskCoun");
    expect(root && spotOf(root, TEXT.indexOf("9007") + 2)).toMatchObject({ isName: false });
    expect(root && spotOf(root, TEXT.indexOf("true"))?.parts).toEqual(["spec", "a/b", "1"]);
  });
});

describe("a change of one field", () => {
  it("leaves all else as it is written, each digit of it", () => {
    const edit = setValue(TEXT, "/spec/ioConfig/topic", '"clicks"');
    expect(applied(TEXT, edit)).toBe(TEXT.replace('"orders", "taskCoun', '"clicks", "taskCoun'));
  });

  it("adds a member in the way of its object", () => {
    const text = applied(TEXT, setValue(TEXT, "/spec/ioConfig/replicas", "2"));
    expect(text).toContain('"taskCoun": 9007199254740993, "replicas": 2 }');
    expect(applied(TEXT, setValue(TEXT, "/suspended", "true"))).toContain(
      '  },\n  "suspended": true\n}',
    );
  });

  it("makes the objects on its way", () => {
    const text = applied(TEXT, setValue(TEXT, "/spec/tuningConfig/indexSpec/zstdLevel", "4"));
    expect(readJson(text)).toMatchObject({
      spec: { tuningConfig: { indexSpec: { zstdLevel: 4 } } },
    });
    expect(text).toContain('    "tuningConfig": {\n      "indexSpec": {\n        "zstdLevel": 4');
    const idle = applied(
      '{"idleConfig": null}',
      setValue('{"idleConfig": null}', "/idleConfig/enabled", "true"),
    );
    expect(readJson(idle)).toEqual({ idleConfig: { enabled: true } });
  });

  it("takes a member out with its comma, wherever it is", () => {
    const text = '{"a": 1, "b": 2, "c": 3}';
    expect(applied(text, removeValue(text, "/a"))).toBe('{"b": 2, "c": 3}');
    expect(applied(text, removeValue(text, "/c"))).toBe('{"a": 1, "b": 2}');
    expect(applied('{ "a": 1 }', removeValue('{ "a": 1 }', "/a"))).toBe("{}");
    expect(removeValue(text, "/d")).toBeNull();
  });

  it("gives a member another name unless it is taken", () => {
    expect(applied(TEXT, renameMember(TEXT, "/spec/ioConfig/taskCoun", "taskCount"))).toBe(
      TEXT.replace("taskCoun", "taskCount"),
    );
    expect(renameMember(TEXT, "/spec/ioConfig/taskCoun", "topic")).toBeNull();
  });
});

describe("the text of an answer", () => {
  it("has each section once, and no second names", () => {
    const io = {
      topic: "t",
      stream: "t",
      useEarliestOffset: true,
      useEarliestSequenceNumber: true,
    };
    const big = 9_223_372_036_854_775_807n;
    const answer = { id: "t", spec: { ioConfig: io }, ioConfig: io, context: { big } };

    const text = tidied(answer);

    expect(readJson(text)).toEqual({
      id: "t",
      spec: { ioConfig: { topic: "t", useEarliestOffset: true } },
      context: { big },
    });
    expect(text).toContain("9223372036854775807");
  });

  it("may be nested or flat", () => {
    expect(baseOf({ spec: { ioConfig: {} } })).toBe("/spec");
    expect(baseOf({ ioConfig: {} })).toBe("");
  });
});

describe("three versions", () => {
  const base = { a: 1, b: 1, c: 1, gone: 1, list: [1] };
  const mine = { a: 2, b: 1, c: 2, gone: 1, list: [1, 2] };
  const newest = { a: 1, b: 2, c: 3, list: [1, 2], more: { x: 1n } };

  it("say who has changed which field", () => {
    const rows = threeWay(base, mine, newest);
    expect(rows.map(({ pointer, by }) => [pointer, by])).toEqual([
      ["/a", "me"],
      ["/b", "others"],
      ["/c", "both"],
      ["/gone", "others"],
      ["/list", "same"],
      ["/more", "others"],
    ]);
  });

  it("become one: mine, theirs, and what was chosen where both have changed it", () => {
    const rows = threeWay(base, mine, newest);
    const text = JSON.stringify(mine, null, 2);
    const merged = { a: 2, b: 2, list: [1, 2], more: { x: 1 } };

    expect(readJson(mergedText(text, rows, new Map()))).toEqual({ ...merged, c: 2 });
    expect(readJson(mergedText(text, rows, new Map([["/c", "newest"]])))).toEqual({
      ...merged,
      c: 3,
    });
  });
});
