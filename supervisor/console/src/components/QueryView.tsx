import { type ReactNode, useRef } from "react";
import { useIsOfOutage } from "@/api/outage";
import type { Problem } from "@/api/problem";
import { Boundary } from "./Boundary";
import { ProblemNote } from "./ProblemNote";
import { Shape } from "./Shape";

/** The parts of a query that a view needs, of TanStack's results. */
export type Queried<T> = {
  data: T | undefined;
  error: Problem | null;
  refetch: () => unknown;
};

type Props<T> = {
  query: Queried<T>;
  /** The number of grey lines while nothing is known; `shape` takes their place. */
  lines?: number;
  shape?: ReactNode;
  children: (data: T) => ReactNode;
};

/**
 * Shows what a query answered: a skeleton from 150 ms on, old data while new comes, old data below
 * a strip where the new one failed, or the problem.  Of an outage the band of the frame speaks once.
 */
export function QueryView<T>({ query, lines = 3, shape, children }: Props<T>) {
  const retry = () => void query.refetch();
  // A query that has no data forgets its problem while it is asked again: the note stays until then.
  const last = useRef<Problem | null>(null);
  last.current = query.data === undefined ? (query.error ?? last.current) : null;
  const isOfOutage = useIsOfOutage(query.error ?? last.current);
  if (query.data === undefined) {
    return last.current === null || isOfOutage ? (
      (shape ?? <Shape lines={lines} />)
    ) : (
      <ProblemNote problem={last.current} onRetry={retry} />
    );
  }
  return (
    <Boundary>
      {query.error !== null && !isOfOutage && (
        <ProblemNote problem={query.error} onRetry={retry} isStrip />
      )}
      {children(query.data)}
    </Boundary>
  );
}
