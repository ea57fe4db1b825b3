import { Textarea, TextInput } from "@mantine/core";
import { usePreferences } from "@/app/preferences";
import { localZone } from "@/text/times";
import { inputOf, isoOf } from "./moments";
import { OffsetFields } from "./OffsetFields";
import classes from "./ResetForm.module.css";
import type { Form } from "./target";

type Props = { id: string; form: Form; onChange: (part: Partial<Form>) => void };

/** What a kind of place needs to be known. */
export function PlaceFields({ id, form, onChange }: Props) {
  const { zone } = usePreferences();
  switch (form.place) {
    case "time":
      return (
        <TextInput
          className={classes.fields}
          type="datetime-local"
          step={1}
          label={`The first record of this time or later (${zone === "utc" ? "UTC" : localZone()})`}
          defaultValue={inputOf(form.at, zone)}
          onChange={({ currentTarget }) => onChange({ at: isoOf(currentTarget.value, zone) })}
        />
      );
    case "shift":
      return (
        <TextInput
          className={classes.fields}
          label="So many records on from the committed offset; below 0: back"
          placeholder="-1000"
          autoComplete="off"
          value={form.shift}
          onChange={({ currentTarget }) => onChange({ shift: currentTarget.value })}
        />
      );
    case "offsets":
      return (
        <OffsetFields
          id={id}
          offsets={form.offsets}
          onChange={(offsets) => onChange({ offsets })}
        />
      );
    case "json":
      return (
        <Textarea
          label='{"partition": next offset}, or the body of a resetOffsets of Druid'
          placeholder='{"3": 89324, "7": 60000}'
          spellCheck={false}
          rows={4}
          value={form.json}
          onChange={({ currentTarget }) => onChange({ json: currentTarget.value })}
        />
      );
    default:
      return null;
  }
}
