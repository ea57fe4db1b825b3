import { TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { modals } from "@mantine/modals";
import { useMemo, useState } from "react";
import { contact } from "@/api/contact";
import { SAFETY_MS } from "@/api/query";
import { useApi } from "@/api/use";
import { keepForOf } from "@/changes/tableRules";
import { ActionForm } from "@/components/action/ActionDialog";
import { DialogHead } from "@/components/action/DialogHead";
import { Shape } from "@/components/Shape";
import { durationMs, durationWords } from "@/text/durations";
import { counted, exact } from "@/text/numbers";
import { visible } from "@/text/visible";
import classes from "./Rules.module.css";

const COUNTED_MAX = 1_000;
const TYPING_MS = 300;

/** Opens the dialog in which a table's retention is set. */
export function openRetention(name: string, keepFor: string): void {
  modals.open({
    withCloseButton: false,
    size: "lg",
    children: (
      <>
        <DialogHead>{`How long ${visible(name)} keeps its rows`}</DialogHead>
        <RetentionForm name={name} before={keepFor} />
      </>
    ),
  });
}

function RetentionForm({ name, before }: { name: string; before: string }) {
  const [typed, setTyped] = useState(before);
  const [settled] = useDebouncedValue(typed.trim().toUpperCase(), TYPING_MS);
  const length = durationMs(settled);
  const isGood = length !== null && length > 0;
  return (
    <>
      <div className={classes.fields}>
        <TextInput
          label="Keep rows for"
          description="ISO 8601: P90D, P2W or PT12H. Months and years have no fixed length."
          placeholder="P90D"
          value={typed}
          error={
            settled !== "" && !isGood ? "No such length: write P90D, P2W or PT12H." : undefined
          }
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </div>
      {isGood && (
        // Another period is another request: it has a key of its own.
        <Effect key={settled} name={name} keepFor={settled} millis={length} />
      )}
    </>
  );
}

/** What the rule would take out now, counted by the same files that it looks at. */
function Effect({ name, keepFor, millis }: { name: string; keepFor: string; millis: number }) {
  const to = useMemo(() => timeBefore(millis), [millis]);
  const { data, error } = useApi(
    "/api/v1/datasources/{data_source}/segments",
    { path: { data_source: name }, query: { used: true, to, limit: COUNTED_MAX } },
    SAFETY_MS,
  );
  if (data === undefined && error === null) {
    return <Shape lines={4} />;
  }
  const words = `Files whose whole interval is older than ${durationWords(keepFor)} are taken out, now and from now on.`;
  const now =
    data === undefined
      ? "How many these are now is not known."
      : goneWords(data.segments, data.next !== null);
  const action = keepForOf(
    name,
    keepFor,
    `${words} ${now} They can be put back within the time of grace, then they are deleted. The records of it that could not be read go by the same rule.`,
    rowsOf(data?.segments ?? []),
  );
  return <ActionForm action={action} onClose={modals.closeAll} />;
}

/** Begin of the time that is kept; a period longer than all time keeps everything. */
function timeBefore(millis: number): string {
  const first = Date.UTC(1, 0, 1);
  const at = new Date(Math.max(contact.now() - millis, first));
  return at.toISOString().replace(/\.\d+Z$/, "Z");
}

export function goneWords(gone: readonly { rows: number }[], hasMore: boolean): string {
  if (gone.length === 0) {
    return "Now that is none.";
  }
  const rows = rowsOf(gone);
  const least = hasMore ? "more than " : "";
  return `Now that is ${least}${counted(gone.length, "file")} with ${least}${exact(rows)} rows.`;
}

function rowsOf(segments: readonly { rows: number }[]): bigint {
  return segments.reduce((sum, each) => sum + BigInt(each.rows), 0n);
}
