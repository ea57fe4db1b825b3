import { Button, Menu } from "@mantine/core";
import { missing, useMe } from "@/api/me";
import { ALL_FILES, COMPACT, compactOf, dropOf, putBackOf } from "@/changes/tables";
import { END_TASKS, endTasksOf } from "@/changes/tasks";
import { openAction } from "@/components/action/ActionDialog";
import { type Action, neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import { Icon } from "@/components/Icon";
import type { TableStats } from "../tables/rows";
import classes from "./Verbs.module.css";

/** What can be done with a whole table; each opens a dialog that shows its effect first. */
export function Verbs({ stats: { name, files, unusedFiles } }: { stats: TableStats }) {
  const me = useMe();
  const others: [string, string | null, () => Action][] = [
    [
      "Put everything back…",
      unusedFiles === 0
        ? "Nothing of it was taken out, or it is deleted already."
        : missing(me, neededFor("post", ALL_FILES), name),
      () => putBackOf(name),
    ],
    [
      "Take everything out…",
      files === 0 ? "It has no file in use." : missing(me, neededFor("delete", ALL_FILES), name),
      () => dropOf(name),
    ],
    ["End all tasks…", missing(me, neededFor("post", END_TASKS), name), () => endTasksOf(name)],
  ];
  return (
    <>
      <Barred
        why={files === 0 ? "It has no file in use." : missing(me, neededFor("post", COMPACT), name)}
        onClick={() => openAction(compactOf(name, {}))}
      >
        Compact…
      </Barred>
      <Menu>
        <Menu.Target>
          <Button rightSection={<Icon name="down" size={11} />}>More</Button>
        </Menu.Target>
        <Menu.Dropdown>
          {others.map(([label, why, actionOf]) => (
            <Menu.Item
              key={label}
              aria-disabled={why !== null}
              {...(why === null ? {} : { "data-disabled": true })}
              closeMenuOnClick={why === null}
              onClick={() => why === null && openAction(actionOf())}
            >
              {label}
              {why !== null && <span className={classes.why}>{why}</span>}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </>
  );
}
