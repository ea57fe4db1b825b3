import { describe, expect, it } from "vitest";
import { layersOf, pictureOf } from "./layout";
import { everyStep, graphsOf, type Step } from "./plan";

function step(name: string, ...after: string[]): Step {
  return { name, type: "noop", after, inner: [] };
}

const DOCUMENT = {
  flow: "day",
  steps: [
    { name: "pack", type: "noop" },
    { name: "each", type: "forEach", items: [1], steps: [{ name: "one", type: "noop" }] },
    {
      name: "way",
      type: "switch",
      value: "1",
      after: ["pack", "each"],
      cases: { a: [{ name: "left", type: "noop" }] },
      default: [{ name: "right", type: "noop" }],
    },
  ],
  finally: [{ name: "tidy", type: "noop" }],
};

describe("the graphs of a document", () => {
  it("have every step, those within others too", () => {
    const graphs = graphsOf(DOCUMENT);

    expect(graphs.map(({ title }) => title)).toEqual(["Steps", "At the end"]);
    const names = everyStep(graphs).map(({ name }) => name);
    expect(names).toEqual(["pack", "each", "one", "way", "left", "right", "tidy"]);
    expect(graphs[0]?.steps[2]?.inner.map(({ title }) => title)).toEqual(["a", "otherwise"]);
  });

  it.each([null, "text", [], { steps: "x" }, { steps: [null] }])("bear %j", (document) => {
    expect(() => pictureOf(graphsOf(document))).not.toThrow();
  });
});

describe("the layout of steps", () => {
  it("puts each one behind those that it comes after", () => {
    const steps = [step("d", "b", "c"), step("a"), step("b", "a"), step("c", "b"), step("e")];

    const names = layersOf(steps).map((layer) => layer.map(({ name }) => name));

    expect(names).toEqual([["a", "e"], ["b"], ["c"], ["d"]]);
  });

  it("ends in the face of a cycle", () => {
    expect(layersOf([step("a", "b"), step("b", "a")]).flat()).toHaveLength(2);
  });

  it("draws boxes that do not meet, and what is inside within its box", () => {
    const { boxes, lines, width, height } = pictureOf(graphsOf(DOCUMENT));
    const by = Object.fromEntries(boxes.map((box) => [box.step.name, box]));
    const { each, one, way, left, right, pack, tidy } = by;

    const parts = [
      [each, one],
      [way, left],
      [way, right],
    ];
    for (const [outer, inner] of parts) {
      expect(inner?.x).toBeGreaterThan(outer?.x ?? Number.NaN);
      expect(rightOf(inner)).toBeLessThan(rightOf(outer));
      expect(bottomOf(inner)).toBeLessThan(bottomOf(outer));
    }
    expect(bottomOf(left)).toBeLessThan(right?.y ?? Number.NaN);
    expect(bottomOf(pack)).toBeLessThan(each?.y ?? Number.NaN);
    expect(rightOf(each)).toBeLessThan(way?.x ?? Number.NaN);
    expect(bottomOf(way)).toBeLessThan(tidy?.y ?? Number.NaN);
    expect(lines.map(({ points }) => points.length)).toEqual([2, 2]);
    expect(Math.max(...boxes.map(rightOf))).toBe(width);
    expect(Math.max(...boxes.map(bottomOf))).toBe(height);
  });
});

describe("a line that goes beyond the next column", () => {
  it("passes below the steps between", () => {
    const steps = [step("a"), step("b", "a"), step("c", "a", "b")];

    const { boxes, lines } = pictureOf([{ title: "", steps }]);

    const b = boxes.find((box) => box.step.name === "b");
    const [, first, second] = lines.find(({ key }) => key === "a c")?.points ?? [];
    expect(first).toEqual([b?.x, second?.[1]]);
    expect(second?.[0]).toBe(rightOf(b));
    expect(second?.[1]).toBeGreaterThan(bottomOf(b));
    expect(lines.find(({ key }) => key === "b c")?.points).toHaveLength(2);
  });
});

type Place = { x: number; y: number; width: number; height: number } | undefined;

function rightOf(box: Place): number {
  return box === undefined ? Number.NaN : box.x + box.width;
}

function bottomOf(box: Place): number {
  return box === undefined ? Number.NaN : box.y + box.height;
}
