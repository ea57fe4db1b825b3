import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import type { EditorView } from "@codemirror/view";
import { useEffect, useMemo, useState } from "react";
import { JsonEditor } from "@/components/code/JsonEditor";
import { visible } from "@/text/visible";
import type { Schema } from "../document/schema";
import { specLanguage } from "./language";
import { fixOf, type Trouble } from "./problems";

type Props = {
  text: string;
  schema: Schema | undefined;
  troubles: readonly Trouble[];
  isReadOnly: boolean;
  /** The place that somebody wants to see; another object each time. */
  target: { offset: number } | null;
  onChange: (text: string) => void;
};

/** The spec as JSON, with the overlord's problems at their places. */
export function SpecEditor({ text, schema, troubles, isReadOnly, target, onChange }: Props) {
  const [view, setView] = useState<EditorView | null>(null);
  const extension = useMemo(
    () => [lintGutter(), schema === undefined ? [] : specLanguage(schema)],
    [schema],
  );
  useEffect(() => {
    if (view !== null) {
      view.dispatch(setDiagnostics(view.state, diagnosticsIn(view, troubles)));
    }
  }, [view, troubles]);
  useEffect(() => {
    if (view !== null && target !== null) {
      const anchor = Math.min(target.offset, view.state.doc.length);
      view.dispatch({ selection: { anchor }, scrollIntoView: true });
      view.focus();
    }
  }, [view, target]);
  return (
    <JsonEditor
      label="The spec as JSON"
      text={text}
      onChange={onChange}
      isReadOnly={isReadOnly}
      extension={extension}
      onView={setView}
    />
  );
}

function diagnosticsIn(view: EditorView, troubles: readonly Trouble[]): Diagnostic[] {
  const most = view.state.doc.length;
  return troubles.map((trouble) => {
    const { range, fix, message, hint } = trouble;
    return {
      from: Math.min(range.from, most),
      to: Math.min(range.to, most),
      severity: "error",
      message: visible(hint === "" ? message : `${message}: ${hint}`),
      actions:
        fix === null
          ? []
          : [
              {
                name: fix.label,
                apply: (editor) => {
                  const now = fixOf(editor.state.doc.toString(), trouble);
                  if (now !== null) {
                    editor.dispatch({ changes: now.edit });
                  }
                },
              },
            ],
    };
  });
}
