import { Outlet, useLocation, useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { POLL_MS, SAFETY_MS } from "@/api/query";
import { Page } from "@/components/Page";
import { Shape } from "@/components/Shape";
import { visible } from "@/text/visible";
import { useEnded, useRow, useSupervisorId } from "./data";
import { EndedHead } from "./ended/EndedHead";
import { EndedTab } from "./ended/EndedTab";
import { EndedVerbs } from "./ended/EndedVerbs";
import { Head } from "./Head";
import { Dialogs } from "./life/Dialogs";
import { Verbs } from "./life/Verbs";
import { type DialogName, NO_DIALOG } from "./search";
import { Tabs } from "./Tabs";

/** Tabs whose list takes the height that there is. */
const FILLING = new Set(["partitions", "spec", "history", "bad-records", "tasks", "events"]);

/** One supervisor: the answer in words, then the tab that the address names. */
export function SupervisorPage() {
  const id = useSupervisorId();
  const row = useRow(id);
  const ended = useEnded(id, row);
  // What is not in the list may be terminated: its tabs would only say that it is not there.
  const isOpen = row === null && ended === undefined;
  const search = useSearch({ from: "/shell/supervisors/$id" });
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const show = useCallback(
    (name: DialogName | undefined) =>
      void navigate({ to: ".", search: (before) => ({ ...before, ...NO_DIALOG, do: name }) }),
    [navigate],
  );
  const tab = pathname.slice(pathname.lastIndexOf("/") + 1);
  const fills = FILLING.has(tab);
  return (
    <Page
      title={visible(id)}
      fills={fills}
      actions={
        ended ? <EndedVerbs id={id} ended={ended} /> : row && <Verbs row={row} onOpen={show} />
      }
      sentence={
        ended ? (
          <EndedHead ended={ended} />
        ) : isOpen ? (
          <Shape lines={2} />
        ) : (
          <Head id={id} row={row} pollMs={fills ? SAFETY_MS : POLL_MS} />
        )
      }
    >
      <Tabs id={id} isEnded={Boolean(ended)} />
      {ended ? (
        <EndedTab id={id} ended={ended} tab={tab}>
          <Outlet />
        </EndedTab>
      ) : isOpen ? (
        <Shape lines={8} />
      ) : (
        <Outlet />
      )}
      <Dialogs id={id} row={row} search={search} onClose={() => show(undefined)} />
    </Page>
  );
}
