import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const CONTENT = { fontFamily: "var(--mono)", fontSize: "12px", lineHeight: "1.5" };
const POPUP = {
  border: "1px solid var(--line-strong)",
  borderRadius: "4px",
  backgroundColor: "var(--raised)",
  color: "var(--ink)",
  boxShadow: "var(--shadow)",
};

/** The editor in the console's colours, which change with the scheme by themselves. */
const look = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--surface)", color: "var(--ink)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": CONTENT,
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { backgroundColor: "var(--selected)" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "var(--hover)" },
  ".cm-gutters": {
    borderRight: "1px solid var(--line)",
    backgroundColor: "var(--surface)",
    color: "var(--ink-dim)",
  },
  ".cm-activeLineGutter": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-ground)", color: "inherit" },
  ".cm-foldPlaceholder": {
    border: "1px solid var(--line)",
    backgroundColor: "var(--sunken)",
    color: "var(--ink-dim)",
  },
  ".cm-tooltip": POPUP,
  ".cm-tooltip-autocomplete > ul > li": { padding: "2px 8px", fontFamily: "var(--mono)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--selected)",
    color: "var(--ink)",
  },
  ".cm-completionDetail": { color: "var(--ink-dim)", fontStyle: "normal" },
  ".cm-completionInfo": { maxWidth: "320px", padding: "6px 10px", fontSize: "12px" },
  ".cm-diagnostic": { padding: "6px 10px", borderLeft: "3px solid var(--broken)" },
  ".cm-diagnosticAction": {
    border: "1px solid var(--line-strong)",
    borderRadius: "3px",
    backgroundColor: "var(--surface)",
    color: "var(--accent)",
    font: "inherit",
  },
  ".cm-panels": {
    backgroundColor: "var(--sunken)",
    borderColor: "var(--line)",
    color: "var(--ink)",
  },
  ".cm-textfield": {
    border: "1px solid var(--line-strong)",
    backgroundColor: "var(--surface)",
    color: "var(--ink)",
  },
  ".cm-button": {
    border: "1px solid var(--line)",
    backgroundColor: "var(--surface)",
    backgroundImage: "none",
    color: "var(--ink)",
  },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--broken)",
    textUnderlineOffset: "3px",
  },
  "&.cm-merge-a .cm-changedLine, .cm-deletedChunk": { backgroundColor: "var(--broken-ground)" },
  "&.cm-merge-b .cm-changedLine": { backgroundColor: "var(--accent-ground)" },
  "&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText": {
    background: "none",
    color: "var(--broken)",
    fontWeight: "600",
  },
  "&.cm-merge-b .cm-changedText": {
    background: "none",
    color: "var(--accent)",
    fontWeight: "600",
  },
  ".cm-changeGutter": { width: "3px", paddingLeft: "1px" },
  ".cm-collapsedLines": {
    padding: "3px 10px",
    backgroundImage: "none",
    backgroundColor: "var(--sunken)",
    color: "var(--ink-dim)",
    // The package's own sign is in few fonts.
    "&:before": { content: '"…"' },
    "&:after": { content: '"…"' },
  },
});

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.string, color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--risk)" },
  { tag: tags.invalid, color: "var(--broken)" },
]);

/** The look of all editors; their style sheets carry the nonce of the page. */
export function codeTheme(): Extension {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
  return [EditorView.cspNonce.of(nonce), look, syntaxHighlighting(colours)];
}
