import { Mark } from "@/components/Mark";
import { Span } from "@/components/Time";
import { exact } from "@/text/numbers";
import { standOf, type Worker } from "./workers";
import classes from "./workers.module.css";

/** How a worker is doing: icon, word, colour. */
export function StandMark({ worker }: { worker: Worker }) {
  const { tone, icon, word } = standOf(worker);
  return (
    <Mark tone={tone} icon={icon}>
      {word}
    </Mark>
  );
}

/** Slots in use, as a bar and in numbers. */
export function SlotBar({ slots: { used, total } }: { slots: Worker["slots"] }) {
  const share = total === 0 ? 0 : Math.min(1, Number(used) / Number(total));
  return (
    <span className={classes.slots}>
      <svg className={classes.bar} aria-hidden="true" focusable="false">
        <rect width={`${(share * 100).toFixed(1)}%`} height="100%" rx="4" />
      </svg>
      <span>{`${exact(used)} of ${exact(total)}`}</span>
    </span>
  );
}

/** The time since its last sync. */
export function Silence({ worker: { silentFor } }: { worker: Worker }) {
  return (
    <Span
      millis={silentFor === null ? null : Math.round(silentFor * 1_000)}
      unknown="This leader has not heard of it yet."
    />
  );
}
