import { Button, Checkbox, Popover } from "@mantine/core";
import { setPreferences, usePreferences } from "@/app/preferences";
import { Icon } from "../Icon";
import classes from "./ColumnMenu.module.css";
import { type Column, hiddenIn } from "./DataTable";

/** Chooses the columns of a table, and how close its rows are. */
export function ColumnMenu<T>({ name, columns }: { name: string; columns: readonly Column<T>[] }) {
  const { hidden, density } = usePreferences();
  const off = hiddenIn(columns, hidden[name]);
  const toggle = (id: string) => {
    const next = off.includes(id) ? off.filter((each) => each !== id) : [...off, id];
    setPreferences({ hidden: { ...hidden, [name]: next } });
  };
  return (
    <Popover position="bottom-end" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Button rightSection={<Icon name="down" size={11} />}>Columns</Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Columns">
        <div className={classes.list}>
          {columns
            .filter(({ id, meta }) => id !== undefined && meta?.isFixed !== true)
            .map(({ id = "", header }) => (
              <Checkbox
                key={id}
                label={typeof header === "string" ? header : id}
                checked={!off.includes(id)}
                onChange={() => toggle(id)}
              />
            ))}
          <hr className={classes.rule} />
          <Checkbox
            label="More room between rows"
            checked={density === "roomy"}
            onChange={() => setPreferences({ density: density === "roomy" ? "dense" : "roomy" })}
          />
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}
