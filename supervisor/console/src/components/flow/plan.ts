/** A step of a flow's document, with the steps inside of it. */
export type Step = {
  name: string;
  type: string;
  after: readonly string[];
  inner: readonly Branch[];
};

/** Steps that stand side by side; `title`: of a switch its case, else empty. */
export type Branch = { title: string; steps: readonly Step[] };

const GRAPHS = [
  ["steps", "Steps"],
  ["onFailure", "When a step has failed"],
  ["finally", "At the end"],
] as const;
/** Steps within steps, as the overlord bounds them. */
const DEPTH_MAX = 5;

/** Returns the graphs of a flow's document, without those that are empty. */
export function graphsOf(document: unknown): Branch[] {
  const fields = objectOf(document);
  return GRAPHS.map(([name, title]) => ({ title, steps: stepsOf(fields[name], 1) })).filter(
    ({ steps }) => steps.length > 0,
  );
}

/** All steps of graphs, those within others too. */
export function everyStep(graphs: readonly Branch[]): Step[] {
  return graphs.flatMap(({ steps }) => steps.flatMap((step) => [step, ...everyStep(step.inner)]));
}

function stepsOf(value: unknown, depth: number): Step[] {
  if (!Array.isArray(value) || depth > DEPTH_MAX) {
    return [];
  }
  return value.map((each) => {
    const fields = objectOf(each);
    return {
      name: textOf(fields.name),
      type: textOf(fields.type),
      after: Array.isArray(fields.after) ? fields.after.map(textOf) : [],
      inner: innerOf(fields, depth + 1),
    };
  });
}

function innerOf(fields: Record<string, unknown>, depth: number): Branch[] {
  const cases = Object.entries(objectOf(fields.cases)).map(([title, steps]) => ({
    title,
    steps: stepsOf(steps, depth),
  }));
  const others = [
    { title: "", steps: stepsOf(fields.steps, depth) },
    { title: "otherwise", steps: stepsOf(fields.default, depth) },
  ];
  return [...cases, ...others].filter(({ steps }) => steps.length > 0);
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
