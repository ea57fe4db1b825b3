import type { QueryClient, QueryKey } from "@tanstack/react-query";

/** What has changed since the last refresh. */
export type Changes = {
  /** Everything may have changed: events were missed. */
  all: boolean;
  supervisors: ReadonlySet<string>;
};

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

/** Has the queries that changes concern ask again, if they are shown. */
export function refresh(client: QueryClient, changes: Changes): void {
  void client.invalidateQueries({ predicate: ({ queryKey }) => concerns(queryKey, changes) });
}
