import { QueryObserver } from "@tanstack/react-query";
import { afterEach, expect, test } from "vitest";
import { isDueSoon } from "./along";
import { POLL_MS, queryClient, SAFETY_MS } from "./query";

const KEY = ["/api/v1/overview", {}];
const DUE_MS = SAFETY_MS - POLL_MS;

afterEach(() => queryClient.clear());

function shown(): () => void {
  const options = { queryKey: KEY, queryFn: () => 1, staleTime: Number.POSITIVE_INFINITY };
  return new QueryObserver(queryClient, options).subscribe(() => undefined);
}

test("what is shown comes along with the last poll before it would be asked for by itself", () => {
  queryClient.setQueryData(KEY, 1, { updatedAt: 1_000 });
  const leave = shown();

  expect(isDueSoon(KEY, 1_000 + DUE_MS)).toBe(true);
  expect(isDueSoon(KEY, 1_000 + DUE_MS - POLL_MS)).toBe(false);
  expect(isDueSoon(["/api/v1/other", {}], 1_000 + DUE_MS)).toBe(false);
  leave();
});

test("what nobody shows, or what was never answered, does not come along", () => {
  queryClient.setQueryData(KEY, 1, { updatedAt: 1_000 });
  expect(isDueSoon(KEY, 1_000 + DUE_MS)).toBe(false);

  queryClient.clear();
  const leave = shown();
  expect(isDueSoon(KEY, 1_000 + DUE_MS)).toBe(false);
  leave();
});
