import { Button, Menu } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { missing, useMe } from "@/api/me";
import {
  KILL,
  killAtOnceOf,
  killOf,
  PAUSE,
  pauseOf,
  RERUN,
  RESUME,
  resumeOf,
} from "@/changes/executions";
import { START } from "@/changes/flows";
import { openAction } from "@/components/action/ActionDialog";
import { neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import { hasEnded } from "@/components/flow/looks";
import { Icon } from "@/components/Icon";
import type { Execution } from "./data";
import classes from "./execution.module.css";
import { openRerun } from "./Rerun";

/** What can be done with a whole execution; each button opens a dialog. */
export function Verbs({ execution: { id, flow, state } }: { execution: Execution }) {
  const me = useMe();
  const navigate = useNavigate();
  const lack = (path: typeof KILL | typeof PAUSE | typeof RERUN | typeof RESUME) =>
    missing(me, neededFor("post", path), null);
  if (hasEnded(state)) {
    const show = (execution: string) =>
      void navigate({ to: "/executions/$execution", params: { execution } });
    return (
      <>
        <Barred why={lack(RERUN)} onClick={() => openRerun(id, show)}>
          Rerun…
        </Barred>
        <Barred
          why={missing(me, neededFor("post", START), null)}
          onClick={() =>
            void navigate({
              to: "/flows/$flow",
              params: { flow },
              search: { start: true, from: id },
            })
          }
        >
          Start anew…
        </Barred>
      </>
    );
  }
  const why = lack(KILL);
  return (
    <>
      {state === "PAUSED" && (
        <Barred why={lack(RESUME)} onClick={() => openAction(resumeOf(id))}>
          Resume…
        </Barred>
      )}
      {state === "RUNNING" && (
        <Barred why={lack(PAUSE)} onClick={() => openAction(pauseOf(id))}>
          Pause…
        </Barred>
      )}
      {state !== "KILLING" && (
        <Barred why={why} onClick={() => openAction(killOf(id))}>
          Kill…
        </Barred>
      )}
      <Menu>
        <Menu.Target>
          <Button rightSection={<Icon name="down" size={11} />}>More</Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            aria-disabled={why !== null}
            {...(why === null ? {} : { "data-disabled": true })}
            closeMenuOnClick={why === null}
            onClick={() => why === null && openAction(killAtOnceOf(id))}
          >
            Kill at once…
            {why !== null && <span className={classes.lack}>{why}</span>}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}
