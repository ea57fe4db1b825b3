import { Lasting, Span } from "@/components/Time";

type Props = { from: string | null | undefined; to: string | null | undefined; unknown: string };

/** How long something took, or has lasted until now. */
export function Took({ from, to, unknown }: Props) {
  return from && to ? (
    <Span millis={Date.parse(to) - Date.parse(from)} unknown={unknown} />
  ) : (
    <Lasting at={from} unknown={unknown} />
  );
}
