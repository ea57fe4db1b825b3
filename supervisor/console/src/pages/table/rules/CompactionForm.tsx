import { TextInput } from "@mantine/core";
import { modals } from "@mantine/modals";
import { useState } from "react";
import type { Got } from "@/api/client";
import { compactByItselfOf, type WantedRule } from "@/changes/tableRules";
import { ActionForm } from "@/components/action/ActionDialog";
import { DialogHead } from "@/components/action/DialogHead";
import { durationMs, durationWords } from "@/text/durations";
import { exact } from "@/text/numbers";
import { bytes } from "@/text/sizes";
import { visible } from "@/text/visible";
import classes from "./Rules.module.css";

type Rule = Got<"/api/v1/datasources/{data_source}/compaction">;
type Fields = { skip: string; rows: string; size: string; files: string };

/** The bounds of the overlord; it refuses what lies outside of them. */
const BOUNDS = { rows: [2, 1_000_000_000], size: [1_024, 1e12], files: [2, 500] } as const;

/** Opens the dialog in which a table's compaction rule is set. */
export function openCompaction(name: string, rule: Rule): void {
  modals.open({
    withCloseButton: false,
    size: "lg",
    children: (
      <>
        <DialogHead>{`Compact ${visible(name)} by itself`}</DialogHead>
        <CompactionForm name={name} rule={rule} />
      </>
    ),
  });
}

function CompactionForm({ name, rule }: { name: string; rule: Rule }) {
  const [fields, setFields] = useState<Fields>({
    skip: rule.skipOffsetFromLatest ?? "P1D",
    rows: String(rule.targetRows ?? ""),
    size: String(rule.targetBytes ?? ""),
    files: String(rule.filesMin ?? 2),
  });
  const field = (key: keyof Fields, label: string, description: string) => (
    <TextInput
      label={label}
      description={description}
      value={fields[key]}
      error={wrongIn(key, fields[key])}
      onChange={({ currentTarget: { value } }) => setFields((all) => ({ ...all, [key]: value }))}
    />
  );
  const wanted = wantedOf(fields);
  return (
    <>
      <div className={classes.fields}>
        {field("skip", "Leave the latest alone for", "ISO 8601: P1D, PT6H")}
        {field("files", "Small files to join", "fewer in one chunk of time are left alone")}
        {field("rows", "Rows of a file", "empty: as the spec says")}
        {field("size", "Bytes of a file", "empty: as the spec says")}
      </div>
      {wanted !== null && (
        // Another rule is another request: it has a key of its own.
        <ActionForm
          key={JSON.stringify(wanted)}
          action={compactByItselfOf(name, wanted, effectOf(wanted))}
          onClose={modals.closeAll}
        />
      )}
    </>
  );
}

function wrongIn(key: keyof Fields, text: string): string | undefined {
  if (key === "skip") {
    return durationMs(text) === null ? "No such length: write P1D or PT6H." : undefined;
  }
  if (text.trim() === "" && key !== "files") {
    return undefined;
  }
  const [least, most] = BOUNDS[key];
  const isGood = /^\d{1,13}$/.test(text.trim()) && Number(text) >= least && Number(text) <= most;
  return isGood ? undefined : `A whole number from ${exact(least)} to ${exact(most)}.`;
}

/** The rule that fields describe; null: one of them is wrong. */
export function wantedOf(fields: Fields): WantedRule | null {
  const keys = Object.keys(fields) as (keyof Fields)[];
  if (keys.some((key) => wrongIn(key, fields[key]) !== undefined)) {
    return null;
  }
  const { skip, rows, size, files } = fields;
  return {
    skipOffsetFromLatest: skip.trim().toUpperCase(),
    filesMin: Number(files),
    ...(rows.trim() === "" ? {} : { targetRows: Number(rows) }),
    ...(size.trim() === "" ? {} : { targetBytes: Number(size) }),
  };
}

function effectOf({ skipOffsetFromLatest, filesMin, targetRows, targetBytes }: WantedRule): string {
  const target = [
    ...(targetRows ? [`${exact(targetRows)} rows`] : []),
    ...(targetBytes ? [bytes(targetBytes)] : []),
  ];
  const wanted = target.length === 0 ? "what the spec wants" : target.join(" and ");
  return `From now on, ${exact(filesMin ?? 2)} or more small files of one chunk of time are joined by a worker. A file is small with less than half of ${wanted}. Chunks that end less than ${durationWords(skipOffsetFromLatest ?? "P1D")} before the latest one are left alone. Readers see the same rows.`;
}
