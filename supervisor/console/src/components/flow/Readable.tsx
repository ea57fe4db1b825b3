import type { ReactNode } from "react";
import { missing, useMe } from "@/api/me";
import { Page } from "@/components/Page";

type Props = { title: string; children: ReactNode };

/** A page of flows; who may not read them sees what is missing in its place. */
export function Readable({ title, children }: Props) {
  const lack = missing(useMe(), "read", null);
  return lack === null ? (
    children
  ) : (
    <Page title={title}>
      <p role="status">{`You may not read flows and their executions. ${lack}`}</p>
    </Page>
  );
}
