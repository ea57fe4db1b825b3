import { json } from "@codemirror/lang-json";
import { MergeView, unifiedMergeView } from "@codemirror/merge";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { codeTheme } from "./codeTheme";
import classes from "./TextDiff.module.css";

export type DiffProps = {
  left: string;
  right: string;
  leftLabel: string;
  rightLabel: string;
  isUnified: boolean;
  onlyChanges: boolean;
};

const COLLAPSED = { margin: 2, minSize: 5 };

/** Two JSON texts with their differences: one below the other, or side by side. */
export function TextDiff({
  left,
  right,
  leftLabel,
  rightLabel,
  isUnified,
  onlyChanges,
}: DiffProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const parent = box.current;
    if (parent === null) {
      return undefined;
    }
    const collapsed = onlyChanges ? { collapseUnchanged: COLLAPSED } : {};
    const view = isUnified
      ? new EditorView({
          parent,
          doc: right,
          extensions: [
            shown(rightLabel),
            unifiedMergeView({ original: left, mergeControls: false, ...collapsed }),
          ],
        })
      : new MergeView({
          parent,
          a: { doc: left, extensions: shown(leftLabel) },
          b: { doc: right, extensions: shown(rightLabel) },
          ...collapsed,
        });
    return () => view.destroy();
  }, [left, right, leftLabel, rightLabel, isUnified, onlyChanges]);
  return <div ref={box} className={classes.diff} data-unified={isUnified} />;
}

function shown(label: string): Extension {
  return [
    codeTheme(),
    EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
    EditorState.readOnly.of(true),
    json(),
    lineNumbers(),
  ];
}
