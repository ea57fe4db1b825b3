import { Button, SegmentedControl, TextInput } from "@mantine/core";
import { useEffect, useState } from "react";
import { Icon } from "@/components/Icon";
import { type FilesSearch, USED, type Used, utcOf } from "../search";
import classes from "./Filters.module.css";

const WORDS: Record<Used, string> = { yes: "In use", no: "Taken out", all: "All" };

type Props = {
  search: FilesSearch;
  onChange: (part: Partial<FilesSearch>) => void;
};

/** Filters of the files; each is in the URL. */
export function Filters({ search, onChange }: Props) {
  const { used = "yes", from, to, supervisor } = search;
  const isFiltered = [from, to, supervisor].some((each) => each !== undefined);
  return (
    <search className={classes.filters}>
      <SegmentedControl
        aria-label="Which files"
        size="xs"
        data={USED.map((value) => ({ value, label: WORDS[value] }))}
        value={used}
        onChange={(value) => onChange({ used: value === "yes" ? undefined : (value as Used) })}
      />
      <TimeField label="From (UTC)" value={from} onChange={(at) => onChange({ from: at })} />
      <TimeField label="To (UTC)" value={to} onChange={(at) => onChange({ to: at })} />
      <TextField
        label="Published by"
        width={170}
        value={supervisor ?? ""}
        onCommit={(text) => onChange({ supervisor: text === "" ? undefined : text })}
      />
      {isFiltered && (
        <Button
          variant="subtle"
          leftSection={<Icon name="close" size={11} />}
          onClick={() => onChange({ from: undefined, to: undefined, supervisor: undefined })}
        >
          Clear
        </Button>
      )}
    </search>
  );
}

type TimeProps = {
  label: string;
  value: string | undefined;
  onChange: (at: string | undefined) => void;
};

function TimeField({ label, value = "", onChange }: TimeProps) {
  const [isWrong, setWrong] = useState(false);
  return (
    <TextField
      label={label}
      width={190}
      value={value.replace("T00:00:00Z", "")}
      error={isWrong ? "2026-01-31 or 2026-01-31T06:00Z" : undefined}
      onCommit={(text) => {
        const at = utcOf(text);
        setWrong(text !== "" && at === undefined);
        if (text === "" || at !== undefined) {
          onChange(at);
        }
      }}
    />
  );
}

type TextProps = {
  label: string;
  width: number;
  value: string;
  error?: string | undefined;
  onCommit: (text: string) => void;
};

/** A text that filters once it is left, or by Enter: half of a name or time finds nothing. */
function TextField({ label, width, value, error, onCommit }: TextProps) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const commit = () => typed !== value && onCommit(typed.trim());
  return (
    <TextInput
      w={width}
      aria-label={label}
      placeholder={label}
      value={typed}
      error={error}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      onBlur={commit}
      onKeyDown={(event) => {
        if (event.key === "Enter") {
          commit();
        } else if (event.key === "Escape") {
          event.currentTarget.blur();
        }
      }}
    />
  );
}
