import { useMemo } from "react";
import { Panel } from "@/components/Panel";
import { applied } from "../document/edit";
import type { Schema } from "../document/schema";
import { baseOf } from "../document/tidy";
import { follow, type JsonNode, treeOf } from "../document/tree";
import type { Trouble } from "../editor/problems";
import { read } from "../judge";
import { isLedTo } from "../led";
import { FieldRow } from "./FieldRow";
import { GROUPS, PATHS } from "./fields";
import classes from "./SpecForm.module.css";
import { editOf, kindOf, schemaOf, stateOf } from "./values";

type Props = {
  text: string;
  /** The version that the draft began from. */
  base: string;
  /** The field that a step led to, as a JSON pointer. */
  led: string | undefined;
  schema: Schema | undefined;
  troubles: readonly Trouble[];
  isReadOnly: boolean;
  onChange: (text: string) => void;
  /** Shows a place of the JSON. */
  onJson: (offset: number) => void;
};

/** The fields that people change most; all else of the document stays as it is. */
export function SpecForm(props: Props) {
  const { text, base, led, schema, troubles, isReadOnly, onChange, onJson } = props;
  const root = useMemo(() => treeOf(text), [text]);
  const before = useMemo(() => treeOf(base), [base]);
  const parsed = read(text);
  if (root === null || "error" in parsed) {
    return (
      <p className={classes.empty}>
        The draft is no JSON yet, so that its fields cannot be shown.{" "}
        <button type="button" className={classes.link} onClick={() => onJson(0)}>
          Mend it in the JSON
        </button>
      </p>
    );
  }
  const at = baseOf(parsed.document);
  const first = PATHS.find((path) => isLedTo(path, led));
  return (
    <div className={classes.groups}>
      {GROUPS.map(({ title, fields }) => (
        <Panel key={title} title={title}>
          <div className={classes.fields}>
            {fields.map((field) => {
              const pointer = at + field.path;
              const about = schemaOf(schema, root, pointer, text);
              const kind = kindOf(about);
              return (
                <FieldRow
                  key={field.path}
                  field={field}
                  about={about}
                  kind={kind}
                  state={stateOf(text, root, pointer)}
                  was={wasOf(text, root, base, before, pointer)}
                  errors={troubles.filter((each) => each.pointer === pointer)}
                  isLedTo={isLedTo(field.path, led)}
                  isFirst={field.path === first}
                  isReadOnly={isReadOnly}
                  onInput={(input) =>
                    onChange(applied(text, editOf(text, pointer, kind, input, about)))
                  }
                  onJson={() => onJson(follow(root, pointer).node.from)}
                />
              );
            })}
          </div>
        </Panel>
      ))}
      <p className={classes.rest}>
        All other fields are in the{" "}
        <button type="button" className={classes.link} onClick={() => onJson(0)}>
          JSON
        </button>
        ; the form leaves them as they are.
      </p>
    </div>
  );
}

/** What a field was in the version that the draft began from; null: it is the same. */
function wasOf(
  text: string,
  root: JsonNode,
  base: string,
  before: JsonNode | null,
  pointer: string,
): string | null {
  if (before === null) {
    return null;
  }
  const [now, then] = [stateOf(text, root, pointer), stateOf(base, before, pointer)];
  if (now.is === "nested" || then.is === "nested" || now.value === then.value) {
    return null;
  }
  return then.is === "absent" ? "the default" : then.value;
}
