import { useSyncExternalStore } from "react";
import type { Overview } from "./overview";

/** The figures of one moment; null: not known then. */
export type Moment = {
  at: number;
  supervisors: number | null;
  rows: number | null;
  lag: number | null;
  oldest: number | null;
  slots: number | null;
};

/** As often as a moment is kept, and for how long. */
export const STEP_MS = 15_000;
export const KEPT_MS = 3_600_000;

/** The figures of the overviews that this tab has seen in the last hour: the API keeps none of them. */
export class Trail {
  private moments: readonly Moment[] = [];
  private readonly listeners = new Set<() => void>();

  get = (): readonly Moment[] => this.moments;

  listen = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  note(overview: Overview): void {
    const moment = momentOf(overview);
    const last = this.moments.at(-1);
    if (last !== undefined && moment.at - last.at < STEP_MS) {
      return;
    }
    this.moments = [...this.moments.filter(({ at }) => at > moment.at - KEPT_MS), moment];
    for (const listener of this.listeners) {
      listener();
    }
  }
}

function momentOf({ at, supervisors, rowsPerSecond, lag, slots }: Overview): Moment {
  return {
    at: Date.parse(at),
    supervisors: supervisors?.total ?? null,
    rows: rowsPerSecond,
    lag: numberOf(lag?.records),
    oldest: numberOf(lag?.oldestMillis),
    slots: slots?.used ?? null,
  };
}

function numberOf(value: number | bigint | null | undefined): number | null {
  return value === null || value === undefined ? null : Number(value);
}

export const trail = new Trail();

/** The figures that this tab has seen in the last hour, oldest first. */
export function useTrail(): readonly Moment[] {
  return useSyncExternalStore(trail.listen, trail.get);
}
