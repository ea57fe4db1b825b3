import { TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { modals } from "@mantine/modals";
import { useState } from "react";
import { keepForOf } from "@/changes/tableRules";
import { ActionForm } from "@/components/action/ActionDialog";
import { DialogHead } from "@/components/action/DialogHead";
import { durationMs } from "@/text/durations";
import { visible } from "@/text/visible";
import classes from "./Rules.module.css";

const TYPING_MS = 300;

/** Opens the dialog in which a table's retention is set. */
export function openRetention(name: string, keepFor: string): void {
  modals.open({
    withCloseButton: false,
    size: "xl",
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
          description="ISO 8601: P90D, P2W or PT12H. Months and years have no fixed length. Records of the table that could not be read go by the same rule."
          placeholder="P90D"
          value={typed}
          error={
            settled !== "" && !isGood ? "No such length: write P90D, P2W or PT12H." : undefined
          }
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </div>
      {isGood && (
        // Another period is another request, with a preview and a key of its own.
        <ActionForm key={settled} action={keepForOf(name, settled)} onClose={modals.closeAll} />
      )}
    </>
  );
}
