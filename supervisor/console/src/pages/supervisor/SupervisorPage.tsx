import { Outlet, useLocation, useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { POLL_MS, SAFETY_MS } from "@/api/query";
import { Page } from "@/components/Page";
import { visible } from "@/text/visible";
import { useRow, useSupervisorId } from "./data";
import { Head } from "./Head";
import { Dialogs } from "./life/Dialogs";
import { Verbs } from "./life/Verbs";
import { type DialogName, NO_DIALOG } from "./search";
import { Tabs } from "./Tabs";

/** One supervisor: the answer in words, then the tab that the address names. */
export function SupervisorPage() {
  const id = useSupervisorId();
  const row = useRow(id);
  const search = useSearch({ from: "/shell/supervisors/$id" });
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const show = useCallback(
    (name: DialogName | undefined) =>
      void navigate({ to: ".", search: (before) => ({ ...before, ...NO_DIALOG, do: name }) }),
    [navigate],
  );
  const fills = /\/(partitions|spec|history|bad-records|tasks|events)$/.test(pathname);
  return (
    <Page
      title={visible(id)}
      fills={fills}
      actions={row ? <Verbs row={row} onOpen={show} /> : undefined}
      sentence={<Head id={id} row={row} pollMs={fills ? SAFETY_MS : POLL_MS} />}
    >
      <Tabs id={id} />
      <Outlet />
      <Dialogs id={id} row={row} search={search} onClose={() => show(undefined)} />
    </Page>
  );
}
