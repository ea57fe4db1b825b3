import { TextInput } from "@mantine/core";
import { lackOfReason, REASON_MAX } from "./reason";

type Props = { reason: string; isFixed: boolean; onChange: (text: string) => void };

/** A field for why: history, audit log, events and operations keep it. */
export function ReasonField({ reason, isFixed, onChange }: Props) {
  return (
    <TextInput
      label="Reason (optional; kept in history, audit log and events)"
      placeholder="why, for those who look later"
      value={reason}
      maxLength={REASON_MAX}
      error={lackOfReason(reason)}
      readOnly={isFixed}
      autoComplete="off"
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
