import { visible } from "@/text/visible";

/** Text of others: ids, messages, names.  Signs that cannot be seen are written out. */
export function Foreign({ children }: { children: string }) {
  return <bdi>{visible(children)}</bdi>;
}
