import { missing, useMe } from "@/api/me";
import { bringBackOf, FORGET, forgetOf, ROLLBACK } from "@/changes/supervisors";
import { openAction } from "@/components/action/ActionDialog";
import { neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import type { Ended } from "../data";

type Props = { id: string; ended: Ended };

/** What can be done with a supervisor that is terminated; each button opens a dialog. */
export function EndedVerbs({ id, ended: { version, table } }: Props) {
  const me = useMe();
  return (
    <>
      <Barred
        variant="filled"
        why={missing(me, neededFor("post", ROLLBACK), table)}
        onClick={() => openAction(bringBackOf(id, version))}
      >
        {`Bring back version ${version}…`}
      </Barred>
      <Barred
        why={missing(me, neededFor("post", FORGET), table)}
        onClick={() => openAction(forgetOf(id))}
      >
        Forget…
      </Barred>
    </>
  );
}
