import { type RawSearch, textIn } from "@/app/search";

/** The state of one execution's page: the task run that is open, and the row of the keys. */
export type ExecutionSearch = { run?: string | undefined; sel?: string | undefined };

const RUN = /^[0-9a-f]{1,64}$/;

export function executionSearch(search: RawSearch): ExecutionSearch {
  const runOf = (name: string) => {
    const id = textIn(search, name);
    return id !== undefined && RUN.test(id) ? id : undefined;
  };
  return { run: runOf("run"), sel: runOf("sel") };
}
