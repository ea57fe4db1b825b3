import { TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { type RefObject, useEffect, useState } from "react";

const TYPING_MS = 250;

type Props = {
  label: string;
  /** What the empty field shows, where the label is too long for it. */
  placeholder?: string;
  width: number;
  value: string | undefined;
  field?: RefObject<HTMLInputElement | null>;
  onChange: (value: string | undefined) => void;
};

/** A text that filters once nothing was typed for a moment. */
export function TextFilter({
  label,
  placeholder = label,
  width,
  value = "",
  field,
  onChange,
}: Props) {
  const [typed, setTyped] = useState(value);
  const later = useDebouncedCallback((text: string) => onChange(text || undefined), TYPING_MS);
  useEffect(() => setTyped(value), [value]);
  return (
    <TextInput
      ref={field}
      w={width}
      aria-label={label}
      placeholder={placeholder}
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        later(currentTarget.value);
      }}
      onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
    />
  );
}
