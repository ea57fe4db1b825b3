import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { type Got, get } from "@/api/client";
import { useMore } from "@/api/more";
import type { Problem } from "@/api/problem";
import { POLL_MS, pacedBy } from "@/api/query";

const PATH = "/api/v1/supervisors/{supervisor_id}/plans";
const PAGE = 50;

type Page = Got<typeof PATH>;

/** The passes of a supervisor that are kept, newest first, page by page. */
export function usePlans(id: string) {
  const query = useInfiniteQuery<Page, Problem, { pages: Page[] }>({
    queryKey: [PATH, { path: { supervisor_id: id }, query: { limit: PAGE } }],
    queryFn: ({ pageParam, signal }) =>
      get(
        PATH,
        {
          path: { supervisor_id: id },
          query: { limit: PAGE, ...(typeof pageParam === "string" ? { cursor: pageParam } : {}) },
        },
        signal,
      ),
    initialPageParam: null,
    getNextPageParam: (page) => page.next,
    refetchInterval: pacedBy(POLL_MS),
    placeholderData: keepPreviousData,
  });
  const more = useMore(query);
  const data = query.data?.pages.flatMap(({ plans }) => plans);
  return { data, error: query.error, refetch: query.refetch, more, isWhole: !query.hasNextPage };
}
