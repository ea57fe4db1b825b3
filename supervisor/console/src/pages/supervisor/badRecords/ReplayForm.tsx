import { Checkbox, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { modals } from "@mantine/modals";
import { useState } from "react";
import { replayOf, type WantedReplay } from "@/changes/badRecords";
import { ActionForm } from "@/components/action/ActionDialog";
import { DialogHead } from "@/components/action/DialogHead";
import filters from "@/components/filters/Filters.module.css";
import { visible } from "@/text/visible";
import classes from "./BadRecords.module.css";
import { MOST, MOST_MAX, topicTrouble, wantedOf } from "./replays";

const TYPING_MS = 400;

type Begin = {
  id: string;
  reasons: readonly string[];
  partitions: readonly number[];
  /** What the page is filtered by. */
  reason: string | null;
  partition: number | null;
};

/** Opens the dialog in which bad records are sent to another topic. */
export function openReplay(begin: Begin): void {
  modals.open({
    withCloseButton: false,
    size: "xl",
    children: (
      <>
        <DialogHead>{`Replay bad records of ${visible(begin.id)}`}</DialogHead>
        <ReplayForm {...begin} />
      </>
    ),
  });
}

function ReplayForm({ id, reasons, partitions, reason, partition }: Begin) {
  const [fields, setFields] = useState({
    topic: `${id}-again`,
    reason: reason ?? "",
    partition: partition === null ? "" : String(partition),
    most: String(MOST),
    keepTime: false,
  });
  const [settled] = useDebouncedValue(fields, TYPING_MS);
  const change = (part: Partial<typeof fields>) => setFields((before) => ({ ...before, ...part }));
  const wanted = wantedOf(settled);
  const names = reason === null || reasons.includes(reason) ? reasons : [...reasons, reason];
  return (
    <>
      <div className={classes.fields}>
        <TextInput
          label="To the topic"
          description="Of the same brokers. It has to exist, and to keep its records (retention.ms=-1)."
          value={fields.topic}
          error={topicTrouble(fields.topic)}
          onChange={({ currentTarget }) => change({ topic: currentTarget.value })}
        />
        <div className={classes.choices}>
          <Choice
            label="Of the reason"
            all="all reasons"
            value={fields.reason}
            values={names}
            onChange={(value) => change({ reason: value })}
          />
          <Choice
            label="Of the partition"
            all="all partitions"
            value={fields.partition}
            values={partitions.map(String)}
            onChange={(value) => change({ partition: value })}
          />
          <TextInput
            label="At most"
            inputMode="numeric"
            value={fields.most}
            error={wanted === null && settled.most === fields.most ? `1 to ${MOST_MAX}` : undefined}
            onChange={({ currentTarget }) => change({ most: currentTarget.value })}
          />
        </div>
        <Checkbox
          label="With the time that they had in Kafka, not the present"
          checked={fields.keepTime}
          onChange={({ currentTarget }) => change({ keepTime: currentTarget.checked })}
        />
      </div>
      {wanted !== null && topicTrouble(wanted.topic) === undefined && (
        // Another choice is another request: it has a key of its own.
        <Send key={JSON.stringify(wanted)} id={id} wanted={wanted} />
      )}
    </>
  );
}

function Send({ id, wanted }: { id: string; wanted: WantedReplay }) {
  return <ActionForm action={replayOf(id, wanted)} onClose={modals.closeAll} />;
}

type ChoiceProps = {
  label: string;
  all: string;
  value: string;
  values: readonly string[];
  onChange: (value: string) => void;
};

function Choice({ label, all, value, values, onChange }: ChoiceProps) {
  return (
    <label className={classes.choice}>
      {label}
      <select
        className={filters.chip}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      >
        <option value="">{all}</option>
        {values.map((each) => (
          <option key={each} value={each}>
            {visible(each)}
          </option>
        ))}
      </select>
    </label>
  );
}
