import { useEffect, useMemo, useSyncExternalStore } from "react";
import { get } from "@/api/client";
import type { components } from "@/api/schema";
import type { Sample } from "@/components/spark";

export type Lags = Readonly<Record<string, components["schemas"]["LagSeries"]>>;

/** A list that is left open asks for the lag of its rows once in this time. */
export const EVERY_MS = 60_000;
export const STEP_MS = 1_800_000;
const STEP = "PT30M";
/** Rows that come by scrolling, or at first, are asked for together. */
const SETTLE_MS = 300;
const SCROLLED_MS = 1_000;
const MOST = 200;

/**
 * The lag of the rows that are drawn: one request for all of them, each minute.  Beyond that it asks
 * only for rows that somebody has scrolled to.
 */
export class DrawnLags {
  private readonly drawn = new Map<string, number>();
  private readonly listeners = new Set<() => void>();
  private known: Lags = {};
  private timer: ReturnType<typeof setTimeout> | null = null;
  private dueAt = 0;
  private scrolledAt = Number.NEGATIVE_INFINITY;
  private isAsking = false;

  constructor(
    private readonly load: (ids: string[]) => Promise<Lags>,
    private readonly now: () => number = Date.now,
  ) {}

  get = (): Lags => this.known;

  listen = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  draw(id: string): () => void {
    this.drawn.set(id, (this.drawn.get(id) ?? 0) + 1);
    this.plan();
    return () => {
      const left = (this.drawn.get(id) ?? 1) - 1;
      if (left > 0) {
        this.drawn.set(id, left);
      } else {
        this.drawn.delete(id);
      }
    };
  }

  scrolled = (): void => {
    this.scrolledAt = this.now();
    this.plan();
  };

  private plan(): void {
    if (this.isAsking || this.drawn.size === 0) {
      return;
    }
    const isNew = this.now() - this.scrolledAt < SCROLLED_MS && this.unknown().length > 0;
    const wait = isNew ? SETTLE_MS : Math.max(SETTLE_MS, this.dueAt - this.now());
    if (this.timer !== null) {
      clearTimeout(this.timer);
    }
    this.timer = setTimeout(() => void this.ask(), wait);
  }

  private unknown(): string[] {
    return [...this.drawn.keys()].filter((id) => !Object.hasOwn(this.known, id));
  }

  private async ask(): Promise<void> {
    this.timer = null;
    const isDue = this.now() >= this.dueAt;
    const ids = (isDue ? [...this.drawn.keys()] : this.unknown()).slice(0, MOST);
    if (isDue) {
      this.dueAt = this.now() + EVERY_MS;
    }
    if (ids.length > 0) {
      this.isAsking = true;
      try {
        const none = Object.fromEntries(ids.map((id) => [id, { at: [], records: [], millis: [] }]));
        this.known = { ...this.known, ...none, ...(await this.load(ids)) };
        for (const listener of this.listeners) {
          listener();
        }
      } catch {
        // The lag itself is in the row: its course comes with the next answer.
        this.dueAt = this.now() + EVERY_MS;
      } finally {
        this.isAsking = false;
      }
    }
    this.plan();
  }
}

const lags = new DrawnLags(async (ids) => {
  if (document.hidden) {
    throw new Error("nobody looks at it");
  }
  return (await get("/api/v1/lag", { query: { id: ids, step: STEP } })).lag;
});

/** The lag of a drawn row over the last 24 hours; none: it is not known yet. */
export function useLagOf(id: string): readonly Sample[] {
  const all = useSyncExternalStore(lags.listen, lags.get);
  useEffect(() => lags.draw(id), [id]);
  const series = Object.hasOwn(all, id) ? all[id] : undefined;
  return useMemo(() => (series === undefined ? [] : samplesOf(series)), [series]);
}

/** Has rows that come by scrolling asked for soon. */
export function useScrolling(): void {
  useEffect(() => {
    window.addEventListener("scroll", lags.scrolled, { capture: true, passive: true });
    return () => window.removeEventListener("scroll", lags.scrolled, { capture: true });
  }, []);
}

export function samplesOf({ at, records }: Lags[string]): Sample[] {
  return at.map((moment, index) => {
    const value = records[index] ?? null;
    return { at: Date.parse(moment), value: value === null ? null : Number(value) };
  });
}
