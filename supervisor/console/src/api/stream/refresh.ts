import type { Query, QueryClient, QueryKey } from "@tanstack/react-query";

/** What has changed since the last refresh. */
export type Changes = {
  /** Everything may have changed: events were missed. */
  all: boolean;
  supervisors: ReadonlySet<string>;
};

/** Answers of this age are known to be of now: polling finds what they have missed. */
const RECENT_MS = 3_000;

/** Answers that any event may change, whichever supervisor it is of. */
const OF_ALL: ReadonlySet<unknown> = new Set([
  "/api/v1/overview",
  "/api/v1/supervisors",
  "/api/v1/operations",
  "/api/v1/events",
]);

/** Whether a query may show something else after changes. */
export function concerns(key: QueryKey, changes: Changes): boolean {
  const [path, params] = key as [unknown, { path?: Record<string, unknown> } | undefined];
  if (changes.all || OF_ALL.has(path)) {
    return path !== "/api/v1/me";
  }
  const id = params?.path?.supervisor_id;
  return typeof id === "string" && changes.supervisors.has(id);
}

/** Collects changes, and hands them on at most once in `everyMs`. */
export class Coalescer {
  private supervisors = new Set<string>();
  private all = false;
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(
    private readonly handOn: (changes: Changes) => void,
    private readonly everyMs = 1_000,
  ) {}

  add(supervisor: string | null): void {
    if (supervisor === null) {
      this.all = true;
    } else {
      this.supervisors.add(supervisor);
    }
    this.timer ??= setTimeout(() => this.flush(), this.everyMs);
  }

  private flush(): void {
    const changes = { all: this.all, supervisors: this.supervisors };
    this.supervisors = new Set();
    this.all = false;
    this.timer = null;
    this.handOn(changes);
  }
}

/**
 * Has the queries that changes concern ask again, if they are shown.  One that is being answered is
 * not cut off, or events would keep a slow answer away for ever: it asks again afterwards, unless it
 * is the first answer after a missed event.
 */
export function refresh(client: QueryClient, changes: Changes): void {
  const isConcerned = (query: Query) =>
    concerns(query.queryKey, changes) && !(changes.all && isRecent(query));
  const waited = client
    .getQueryCache()
    .findAll({ fetchStatus: "fetching", predicate: isConcerned });
  const invalidate = (filter: { predicate: (query: Query) => boolean }) =>
    client.invalidateQueries(filter, { cancelRefetch: false });
  void invalidate({ predicate: isConcerned });
  for (const query of waited) {
    const again = () => invalidate({ predicate: (each) => each === query });
    void query.promise?.then(again, again);
  }
}

/** Whether a query has asked for the first time, or so shortly before that little can be missed. */
function isRecent({ state: { dataUpdatedAt, fetchStatus } }: Query): boolean {
  return dataUpdatedAt === 0 ? fetchStatus === "fetching" : Date.now() - dataUpdatedAt < RECENT_MS;
}
