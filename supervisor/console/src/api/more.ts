import { useCallback } from "react";

type Pages = {
  fetchNextPage: () => Promise<unknown>;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
};

/** Fetches the page behind those that are there, if there is one and it is not on its way. */
export function useMore({ fetchNextPage, hasNextPage, isFetchingNextPage }: Pages): () => void {
  return useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) {
      void fetchNextPage();
    }
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
}
