import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import {
  bracketMatching,
  codeFolding,
  foldGutter,
  foldKeymap,
  indentOnInput,
} from "@codemirror/language";
import { lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension, Transaction } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { useEffect, useRef } from "react";
import { codeTheme } from "./codeTheme";
import classes from "./JsonEditor.module.css";

type Props = {
  label: string;
  text: string;
  onChange: (text: string) => void;
  isReadOnly?: boolean;
  /** What the language knows beyond JSON: completion, hover, diagnostics. */
  extension: Extension;
  /** Hands the view out, for what moves the cursor. */
  onView?: (view: EditorView | null) => void;
};

/** JSON to be written, with what the page knows about it. */
export function JsonEditor({
  label,
  text,
  onChange,
  isReadOnly = false,
  extension,
  onView,
}: Props) {
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const changed = useRef(onChange);
  changed.current = onChange;
  const own = useRef(new Compartment());
  const handOut = useRef(onView);
  handOut.current = onView;
  const first = useRef({ text, extension });

  useEffect(() => {
    if (box.current === null) {
      return undefined;
    }
    const editor = new EditorView({
      parent: box.current,
      state: EditorState.create({
        doc: first.current.text,
        extensions: [
          basics(label, isReadOnly),
          own.current.of(first.current.extension),
          EditorView.updateListener.of(({ docChanged, transactions, state }) => {
            const isOurs = transactions.some(
              (each) => each.annotation(Transaction.remote) === true,
            );
            if (docChanged && !isOurs) {
              changed.current(state.doc.toString());
            }
          }),
        ],
      }),
    });
    view.current = editor;
    handOut.current?.(editor);
    return () => {
      view.current = null;
      handOut.current?.(null);
      editor.destroy();
    };
  }, [label, isReadOnly]);

  useEffect(() => {
    first.current = { text, extension };
    view.current?.dispatch({ effects: own.current.reconfigure(extension) });
  }, [extension, text]);

  useEffect(() => {
    const editor = view.current;
    const before = editor?.state.doc.toString();
    if (editor !== null && before !== undefined && before !== text) {
      const annotations = Transaction.remote.of(true);
      editor.dispatch({ changes: changeBetween(before, text), annotations });
    }
  }, [text]);

  return <div ref={box} className={classes.editor} />;
}

function basics(label: string, isReadOnly: boolean): Extension {
  return [
    codeTheme(),
    EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
    EditorState.readOnly.of(isReadOnly),
    EditorState.tabSize.of(2),
    json(),
    lineNumbers(),
    foldGutter(),
    codeFolding(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    autocompletion({ icons: false }),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSelectionMatches(),
    search({ top: true }),
    keymap.of([
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...foldKeymap,
      ...completionKeymap,
      ...lintKeymap,
    ]),
  ];
}

/** The one piece in which a text differs from another: cursor and undo keep to it. */
function changeBetween(before: string, after: string) {
  const most = Math.min(before.length, after.length);
  let from = 0;
  while (from < most && before[from] === after[from]) {
    from++;
  }
  let rest = 0;
  while (rest < most - from && before.at(-1 - rest) === after.at(-1 - rest)) {
    rest++;
  }
  return { from, to: before.length - rest, insert: after.slice(from, after.length - rest) };
}
