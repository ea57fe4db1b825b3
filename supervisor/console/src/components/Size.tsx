import { Tooltip } from "@mantine/core";
import type { Exact } from "@/api/json";
import { exact } from "@/text/numbers";
import { bytes } from "@/text/sizes";
import { Unknown } from "./Unknown";

/** A number of bytes at a glance, with each digit in its title. */
export function Size({ value, unknown }: { value: Exact | null | undefined; unknown: string }) {
  if (value === null || value === undefined) {
    return <Unknown why={unknown} />;
  }
  return (
    <Tooltip label={`${exact(value)} bytes`}>
      <span>{bytes(value)}</span>
    </Tooltip>
  );
}
