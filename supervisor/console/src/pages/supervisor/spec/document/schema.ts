import { type JsonNode, memberIn } from "./tree";

/** The part of JSON Schema in which the overlord describes a spec. */
export type Schema = {
  $ref?: string;
  $defs?: Readonly<Record<string, Schema>>;
  properties?: Readonly<Record<string, Schema>>;
  items?: Schema;
  anyOf?: readonly Schema[];
  allOf?: readonly { if?: Schema; then?: Schema }[];
  enum?: readonly unknown[];
  const?: unknown;
  type?: string | readonly string[];
  title?: string;
  description?: string;
  default?: unknown;
  "x-tidegate-effect"?: Effect;
  "x-tidegate-unit"?: string;
  "x-tidegate-doc"?: string;
};

/** How much a change of a field disturbs. */
export type Effect = "hot" | "restart-supervisor" | "restart-tasks";

/** A field that may stand in an object, as the schema has it. */
export type SchemaField = { name: string; schema: Schema };

/** Returns the fields of the object at the end of a way; `root` says which types are written. */
export function fieldsAt(
  whole: Schema,
  root: JsonNode | null,
  parts: readonly string[],
  text: string,
): SchemaField[] {
  const at = walk(whole, root, parts, text);
  const fields = at.schemas
    .flatMap((schema) => objectsOf(whole, schema, at.node, text))
    .flatMap(({ properties = {} }) => Object.entries(properties))
    .map(([name, schema]) => ({ name, schema }));
  return [...new Map(fields.map((field) => [field.name, field])).values()];
}

/** Returns what the schema has of the value at the end of a way; null: nothing. */
export function describe(
  whole: Schema,
  root: JsonNode | null,
  parts: readonly string[],
  text: string,
): Schema | null {
  const name = parts.at(-1);
  if (name === undefined) {
    return null;
  }
  const fields = fieldsAt(whole, root, parts.slice(0, -1), text);
  return fields.find((field) => field.name === name)?.schema ?? null;
}

/** Returns the words that a field may have; none: it is free. */
export function wordsOf(whole: Schema, schema: Schema): string[] {
  const options = flatten(whole, schema);
  const words = options.flatMap((each) => each.enum ?? []);
  const isFlag = options.some(
    ({ type }) => type !== undefined && [type].flat().includes("boolean"),
  );
  return [...(isFlag ? [true, false] : []), ...words]
    .filter((word) => word !== null)
    .map((word) => JSON.stringify(word));
}

type At = { schemas: Schema[]; node: JsonNode | null };

function walk(whole: Schema, root: JsonNode | null, parts: readonly string[], text: string): At {
  let at: At = { schemas: [whole], node: root };
  for (const part of parts) {
    const options = at.schemas.flatMap((schema) => objectsOf(whole, schema, at.node, text));
    const schemas = options.flatMap(({ properties, items }) => {
      const found = properties?.[part] ?? (/^\d+$/.test(part) ? items : undefined);
      return found === undefined ? [] : [found];
    });
    const node = at.node;
    const next =
      node === null ? null : (memberIn(node, part)?.value ?? node.items[Number(part)] ?? null);
    at = { schemas, node: next };
  }
  return at;
}

/** Returns the schemas that hold for a value: references followed, of unions all that may be meant. */
function objectsOf(whole: Schema, schema: Schema, node: JsonNode | null, text: string): Schema[] {
  return flatten(whole, schema).flatMap((each) => [
    each,
    ...(each.allOf ?? []).flatMap(({ if: condition, then }) =>
      then !== undefined && holds(condition, node, text) ? objectsOf(whole, then, node, text) : [],
    ),
  ]);
}

function flatten(whole: Schema, schema: Schema): Schema[] {
  const { $ref, anyOf } = schema;
  const target = $ref === undefined ? undefined : whole.$defs?.[$ref.replace("#/$defs/", "")];
  return [
    schema,
    ...(target === undefined ? [] : flatten(whole, target)),
    ...(anyOf ?? []).flatMap((each) => flatten(whole, each)),
  ];
}

/** Whether the `type` that is written is the one of a condition. */
function holds(condition: Schema | undefined, node: JsonNode | null, text: string): boolean {
  const wanted = condition?.properties?.type?.const;
  const type = node === null ? undefined : memberIn(node, "type")?.value;
  return type != null && text.slice(type.from, type.to) === JSON.stringify(wanted);
}
