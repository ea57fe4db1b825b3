import { useNavigate } from "@tanstack/react-router";
import { missing, useMe } from "@/api/me";
import { neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import { useEnded, useRow, useSupervisorId } from "../data";
import { ROLLBACK } from "../spec/save/requests";
import type { VersionLine } from "./versions";

/** Opens the dialog that makes a version the newest again. */
export function RollBackButton({ line }: { line: VersionLine }) {
  const me = useMe();
  const id = useSupervisorId();
  const row = useRow(id);
  const ended = useEnded(id, row);
  const navigate = useNavigate({ from: "/supervisors/$id/history" });
  const rollback = line.versionNumber;
  if (line.kind === "terminated" || row?.version === rollback) {
    return null;
  }
  return (
    <Barred
      size="compact-xs"
      why={missing(me, neededFor("post", ROLLBACK), row?.dataSource ?? ended?.table ?? null)}
      onClick={() => void navigate({ search: (before) => ({ ...before, rollback }) })}
    >
      {`Roll back to v${rollback}…`}
    </Barred>
  );
}
