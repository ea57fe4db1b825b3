import { useSyncExternalStore } from "react";
import type { Got } from "./client";
import { contact } from "./contact";
import { Problem } from "./problem";

/**
 * Whether the overlord can answer for what it does: it needs its database, and a leader.
 *
 *     a GET is refused for want of either ──► suspected: panels keep still, the overview is asked
 *     the overview says so, or is refused ──► sure: one band says what, and since when
 *     the overview is whole again         ──► all is asked anew, then the band goes
 */
export type OutageKind = "leader" | "database";
export type Outage = {
  kind: OutageKind;
  /** Time in ms, by the overlord's clock: its own word, else when this page first heard of it. */
  since: number;
};

const KINDS: Readonly<Record<string, OutageKind>> = {
  "not-the-leader": "leader",
  "metadata-unavailable": "database",
};

/** What a refused GET lacks; null: it was refused for another reason. */
export function lackOf(problem: unknown): OutageKind | null {
  const isLater = problem instanceof Problem && problem.status === 503;
  return isLater ? (KINDS[problem.kind] ?? null) : null;
}

/** What an overview says of an outage; `since` null: it does not know. */
export function outageIn(
  overview: Got<"/api/v1/overview">,
): { kind: OutageKind; since: number | null } | null {
  const { database, leader, attention } = overview;
  const kind = !database.ok ? "database" : leader === null ? "leader" : null;
  if (kind === null) {
    return null;
  }
  const item = attention.find(({ about }) => about.kind === "cluster");
  const since = item?.since ? Date.parse(item.since) : null;
  return { kind, since };
}

type Listener = () => void;

/** The outage of this page's overlord, as a store for React. */
export class OutageStore {
  private suspected = false;
  private shown: Outage | null = null;
  private readonly listeners = new Set<Listener>();

  constructor(private readonly now: () => number) {}

  readonly subscribe = (listener: Listener): Listener => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** The outage that is sure. */
  readonly outage = (): Outage | null => this.shown;

  /** Whether there is an outage, or may be one. */
  readonly isOn = (): boolean => this.suspected || this.shown !== null;

  /** A GET lacks a leader or the database; the overview has to tell. */
  suspect(): void {
    this.suspected = true;
    this.tell();
  }

  /** The overview lacks them; `since` null: it is not known. */
  begin(kind: OutageKind, since: number | null): void {
    const before = this.shown?.kind === kind ? this.shown.since : this.now();
    this.suspected = false;
    if (this.shown?.kind !== kind || (since !== null && since !== before)) {
      this.shown = { kind, since: since ?? before };
    }
    this.tell();
  }

  end(): void {
    this.suspected = false;
    this.shown = null;
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) {
      listener();
    }
  }
}

export const outages = new OutageStore(() => contact.now());

/** Returns the outage that is sure; null: there is none. */
export function useOutage(): Outage | null {
  return useSyncExternalStore(outages.subscribe, outages.outage);
}

/** Whether a refusal is that of an outage, which the band above all panels shows. */
export function useIsOfOutage(problem: Problem | null): boolean {
  const isOn = useSyncExternalStore(outages.subscribe, outages.isOn);
  return isOn && lackOf(problem) !== null;
}
