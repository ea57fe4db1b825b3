import { counted } from "./numbers";
import { span } from "./times";

/**
 * Says how many events wait in queues, in the same words wherever they are counted.  `due`: for how
 * many ms the first of them could have been handled; null: none is due.  Events of dead queues are not
 * among them.
 */
export function waitWords(events: number, due: number | null, dead = 0): string {
  if (events === 0) {
    return dead > 0 ? "nothing else waits" : "nothing waits";
  }
  const wait = `${counted(events, "event")} ${events === 1 ? "waits" : "wait"}`;
  return due === null
    ? `${wait}, ${events === 1 ? "not due yet" : "none is due yet"}`
    : `${wait}, the first has been due for ${span(due)}`;
}
