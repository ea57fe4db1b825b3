import { Tooltip } from "@mantine/core";
import type { Exact } from "@/api/json";
import { exact, short } from "@/text/numbers";
import classes from "./Count.module.css";
import { Unknown } from "./Unknown";

type Props = { value: Exact | null | undefined; unknown: string; unit?: string };

/** A number that can be read at a glance, with each digit in its title. */
export function Count({ value, unknown, unit }: Props) {
  if (value === null || value === undefined) {
    return <Unknown why={unknown} />;
  }
  const text = short(value);
  const whole = exact(value);
  const suffix = unit === undefined ? "" : ` ${unit}`;
  if (text === whole) {
    return <span className={whole === "0" ? classes.zero : undefined}>{`${text}${suffix}`}</span>;
  }
  return (
    <Tooltip label={`${whole}${suffix}`}>
      <span>{`${text}${suffix}`}</span>
    </Tooltip>
  );
}
