/**
 * When the overlord was heard last, from any answer of its own or any sign on the stream.
 *
 *     heard within 9 s ──► live        (reconnecting, if the newest try failed)
 *     not heard for 9 s ─► stale       all numbers turn grey, and actions are barred
 *
 * With the look at the clock, every half a second, a lost contact is said within 10 s.
 */
export const STALE_MS = 9_000;
/** How often the clock is looked at. */
export const TICK_MS = 500;
/** Longer than pages wait between two looks, so that their answers are signs enough. */
export const QUIET_MS = 7_000;
/** A reconnection of the stream shorter than this is not shown: streams end every 10 minutes. */
export const UNSAID_MS = 3_000;

export type Contact =
  | { state: "live" }
  | { state: "reconnecting"; forMs: number }
  | { state: "stale"; since: number };

export type Heard = {
  /** Time of the last sign, by this browser's clock. */
  at: number;
  /** Since when this page is looked at: a hidden page asks for nothing. */
  visibleSince: number;
  /** When the newest tries began to fail; null: the newest one went through. */
  failingSince: number | null;
  /** When the stream was lost; null: it is open, or another tab has it. */
  streamLostAt: number | null;
};

/** Returns what the header shows. */
export function contactAt(now: number, heard: Heard): Contact {
  const since = Math.max(heard.at, heard.visibleSince);
  if (now - since >= STALE_MS) {
    return { state: "stale", since: heard.at };
  }
  if (heard.failingSince !== null) {
    return { state: "reconnecting", forMs: now - heard.failingSince };
  }
  if (heard.streamLostAt !== null && now - heard.streamLostAt >= UNSAID_MS) {
    return { state: "reconnecting", forMs: now - heard.streamLostAt };
  }
  return { state: "live" };
}

/** How far the overlord's clock is ahead, in ms; small differences are those of whole seconds. */
export function skewOf(dateHeader: string | null, now: number): number | null {
  const there = dateHeader === null ? Number.NaN : Date.parse(dateHeader);
  if (Number.isNaN(there)) {
    return null;
  }
  const skew = there - now;
  return Math.abs(skew) < 2_000 ? 0 : skew;
}

type Listener = () => void;

/** The contact of this page, as a store for React. */
class ContactStore {
  private heard: Heard = {
    at: Date.now(),
    visibleSince: Date.now(),
    failingSince: null,
    streamLostAt: null,
  };
  private skew = 0;
  private shown: Contact = { state: "live" };
  private readonly listeners = new Set<Listener>();

  readonly subscribe = (listener: Listener): Listener => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly snapshot = (): Contact => this.shown;

  /** The overlord has answered, or the stream has given a sign. */
  hear(dateHeader: string | null = null): void {
    const now = Date.now();
    this.skew = skewOf(dateHeader, now) ?? this.skew;
    this.heard = { ...this.heard, at: now, failingSince: null };
    this.update();
  }

  /** A request had no answer of the overlord. */
  miss(): void {
    this.heard = { ...this.heard, failingSince: this.heard.failingSince ?? Date.now() };
    this.update();
  }

  setStream(isOpen: boolean): void {
    const lostAt = this.heard.streamLostAt ?? Date.now();
    this.heard = { ...this.heard, streamLostAt: isOpen ? null : lostAt };
    this.update();
  }

  setVisible(): void {
    this.heard = { ...this.heard, visibleSince: Date.now() };
    this.update();
  }

  /** Milliseconds since the last sign. */
  quietFor(): number {
    return Date.now() - this.heard.at;
  }

  /** Now, by the overlord's clock: ages are differences of its times. */
  now(): number {
    return Date.now() + this.skew;
  }

  /** Looks at the clock again. */
  update(): void {
    const next = contactAt(Date.now(), this.heard);
    if (JSON.stringify(next) !== JSON.stringify(this.shown)) {
      this.shown = next;
      for (const listener of this.listeners) {
        listener();
      }
    }
  }
}

export const contact = new ContactStore();
