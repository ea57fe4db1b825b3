import { Button, Menu } from "@mantine/core";
import { missing, useMe } from "@/api/me";
import { Barred } from "@/components/Barred";
import { Icon } from "@/components/Icon";
import type { ListedRow } from "../data";
import type { DialogName } from "../search";
import { saveBundle } from "./bundle";
import classes from "./Verbs.module.css";
import { neededForVerb, verbsFor } from "./verbs";

type Props = { row: ListedRow; onOpen: (name: DialogName) => void };

/** What can be done with a supervisor; each opens a dialog that shows its effect first. */
export function Verbs({ row, onOpen }: Props) {
  const me = useMe();
  const verbs = verbsFor(row.suspended).map((verb) => ({
    ...verb,
    why: missing(me, neededForVerb(verb), row.dataSource),
  }));
  const others = verbs.filter(({ ofSuspended }) => ofSuspended === undefined);
  return (
    <>
      {verbs
        .filter((verb) => !others.includes(verb))
        .map(({ name, label, why }) => (
          <Barred key={name} why={why} onClick={() => onOpen(name)}>
            {label}…
          </Barred>
        ))}
      <Menu withinPortal={false}>
        <Menu.Target>
          <Button rightSection={<Icon name="down" size={11} />}>More</Button>
        </Menu.Target>
        <Menu.Dropdown>
          {others.map(({ name, label, why }) => (
            <Menu.Item
              key={name}
              aria-disabled={why !== null}
              {...(why === null ? {} : { "data-disabled": true })}
              closeMenuOnClick={why === null}
              onClick={() => why === null && onOpen(name)}
            >
              {label}…{why !== null && <span className={classes.why}>{why}</span>}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item onClick={() => void saveBundle(row.id)}>Incident bundle</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}
