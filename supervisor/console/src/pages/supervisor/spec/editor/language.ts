import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { jsonLanguage } from "@codemirror/lang-json";
import type { Extension } from "@codemirror/state";
import { type EditorView, hoverTooltip, type Tooltip } from "@codemirror/view";
import { pointerOf } from "../document/pointer";
import { describe, fieldsAt, type Schema, type SchemaField, wordsOf } from "../document/schema";
import { follow, type Spot, spotOf, treeOf } from "../document/tree";
import { factsOf } from "../facts";

/** Completion of names and words, and what a name means, from the overlord's schema of a spec. */
export function specLanguage(schema: Schema): Extension {
  return [
    jsonLanguage.data.of({
      autocomplete: (context: CompletionContext) => complete(schema, context),
    }),
    hoverTooltip((view, offset) => hover(schema, view, offset)),
  ];
}

function complete(schema: Schema, context: CompletionContext): CompletionResult | null {
  const text = context.state.doc.toString();
  const word = context.matchBefore(/"?[\w.<>-]*/);
  const root = treeOf(text);
  if (root === null || word === null || (word.from === word.to && !context.explicit)) {
    return null;
  }
  const spot = spotOf(root, context.pos);
  const isValue = spot.member !== null ? !spot.isName : /[:[]\s*$/.test(text.slice(0, word.from));
  const options = isValue
    ? words(schema, text, spot)
    : names(schema, text, spot).map((field) => nameOption(field, text, spot));
  return options.length === 0 ? null : { from: word.from, options, validFor: /^"?[\w.<>-]*$/ };
}

function names(schema: Schema, text: string, spot: Spot): SchemaField[] {
  const root = treeOf(text);
  const present = root === null ? [] : follow(root, pointerOf(spot.parts)).node.members;
  const taken = new Set(present.filter((each) => each !== spot.member).map(({ name }) => name));
  return fieldsAt(schema, root, spot.parts, text).filter(
    ({ name }) => !taken.has(name) || name === spot.member?.name,
  );
}

function nameOption({ name, schema }: SchemaField, text: string, spot: Spot): Completion {
  const effect = schema["x-tidegate-effect"];
  return {
    label: `"${name}"`,
    ...(effect === undefined ? {} : { detail: effect }),
    info: () => note(schema),
    apply: (view, _, from, to) => {
      const quote = text[to] === '"' ? 1 : 0;
      const hasValue = /^"?\s*:/.test(text.slice(to));
      const insert = `"${name}"${hasValue && spot.member !== null ? "" : ": "}`;
      view.dispatch({
        changes: { from, to: to + quote, insert },
        selection: { anchor: from + insert.length },
      });
    },
  };
}

function words(schema: Schema, text: string, spot: Spot): Completion[] {
  const name = spot.member?.name;
  const parts = name === undefined ? spot.parts : [...spot.parts, name];
  const found = describe(schema, treeOf(text), parts, text);
  return found === null ? [] : wordsOf(schema, found).map((label) => ({ label }));
}

function hover(schema: Schema, view: EditorView, offset: number): Tooltip | null {
  const text = view.state.doc.toString();
  const root = treeOf(text);
  const spot = root === null ? null : spotOf(root, offset);
  if (!spot?.member || !spot.isName) {
    return null;
  }
  const { member } = spot;
  const found = describe(schema, root, [...spot.parts, member.name], text);
  if (found === null) {
    return null;
  }
  const create = () => ({ dom: note(found) });
  return { pos: member.from, end: member.to, above: true, create };
}

/** What the schema says of a field, as lines of plain text. */
function note(schema: Schema): HTMLElement {
  const box = document.createElement("div");
  box.className = "cm-completionInfo";
  for (const [index, line] of factsOf(schema).entries()) {
    const element = document.createElement(index === 0 ? "strong" : "div");
    element.textContent = line;
    box.append(element);
  }
  return box;
}
