import { Button, Menu } from "@mantine/core";
import { missing, useMe } from "@/api/me";
import { HANDOFF, TERMINATE } from "@/changes/lifecycle";
import { RESUME, SUSPEND } from "@/changes/supervisors";
import { neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import { Icon } from "@/components/Icon";
import type { ListedRow } from "../data";
import type { DialogName } from "../search";
import { saveBundle } from "./bundle";
import classes from "./Verbs.module.css";

type Props = { row: ListedRow; onOpen: (name: DialogName) => void };

export const RESET = "/druid/indexer/v1/supervisor/{supervisor_id}/reset";

/** What can be done with a supervisor; each opens a dialog that shows its effect first. */
export function Verbs({ row, onOpen }: Props) {
  const me = useMe();
  const lack = (path: typeof RESET | typeof SUSPEND | typeof TERMINATE | typeof HANDOFF) =>
    missing(me, neededFor("post", path), row.dataSource);
  const others: [DialogName, string, string | null][] = [
    ["reset", "Begin elsewhere…", lack(RESET)],
    ["terminate", "Terminate…", lack(TERMINATE)],
  ];
  return (
    <>
      {row.suspended ? (
        <Barred
          why={missing(me, neededFor("post", RESUME), row.dataSource)}
          onClick={() => onOpen("resume")}
        >
          Resume…
        </Barred>
      ) : (
        <>
          <Barred why={lack(HANDOFF)} onClick={() => onOpen("handoff")}>
            Hand off…
          </Barred>
          <Barred why={lack(SUSPEND)} onClick={() => onOpen("suspend")}>
            Suspend…
          </Barred>
        </>
      )}
      <Menu>
        <Menu.Target>
          <Button rightSection={<Icon name="down" size={11} />}>More</Button>
        </Menu.Target>
        <Menu.Dropdown>
          {others.map(([name, label, why]) => (
            <Menu.Item
              key={name}
              aria-disabled={why !== null}
              {...(why === null ? {} : { "data-disabled": true })}
              closeMenuOnClick={why === null}
              onClick={() => why === null && onOpen(name)}
            >
              {label}
              {why !== null && <span className={classes.why}>{why}</span>}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item onClick={() => void saveBundle(row.id)}>Incident bundle</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}
