import { missing, useMe } from "@/api/me";
import {
  DISABLE,
  disableOf,
  ENABLE,
  enableOf,
  FORGET_WORKER,
  forgetWorkerOf,
} from "@/changes/workers";
import { openAction } from "@/components/action/ActionDialog";
import { neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import type { Worker } from "./workers";

type Props = { worker: Worker; isSmall?: boolean };

/** What can be done with a worker; each opens a dialog that shows its effect first. */
export function Verbs({ worker: { id, disabled, liveness }, isSmall = false }: Props) {
  const me = useMe();
  const size = isSmall ? { size: "compact-xs" as const } : {};
  const lack = (path: typeof ENABLE | typeof DISABLE | typeof FORGET_WORKER) =>
    missing(me, neededFor("post", path), null);
  return (
    <>
      {disabled ? (
        <Barred {...size} why={lack(ENABLE)} onClick={() => openAction(enableOf(id))}>
          Bring back…
        </Barred>
      ) : (
        <Barred {...size} why={lack(DISABLE)} onClick={() => openAction(disableOf(id))}>
          Take out…
        </Barred>
      )}
      {!isSmall && liveness === "LOST" && (
        <Barred why={lack(FORGET_WORKER)} onClick={() => openAction(forgetWorkerOf(id))}>
          Forget…
        </Barred>
      )}
    </>
  );
}
