import { Button, Popover } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { missing, useMe } from "@/api/me";
import type { Remedy } from "@/api/overview";
import { visible } from "@/text/visible";
import { openAction } from "../action/ActionDialog";
import { Barred } from "../Barred";
import { Command } from "../Command";
import { Icon } from "../Icon";
import { actionOf } from "./actionOf";
import { dialogOf } from "./dialogOf";
import { placeOf } from "./placeOf";
import classes from "./Remedies.module.css";

type Place = {
  /** The table that the permissions are for; null: the whole cluster. */
  table: string | null;
  /** The supervisor that the steps are for, if they are for one. */
  supervisor: string | null;
};

/** Steps that may help, as buttons: the first one, and the others behind a number. */
export function Remedies({ remedies, ...place }: Place & { remedies: readonly Remedy[] }) {
  const [first, ...others] = remedies;
  if (first === undefined) {
    return null;
  }
  return (
    <span className={classes.remedies}>
      <RemedyButton remedy={first} {...place} />
      {others.length > 0 && (
        <Popover position="bottom-end" shadow="md" trapFocus returnFocus>
          <Popover.Target>
            <Button size="compact-xs">{`${others.length} more`}</Button>
          </Popover.Target>
          <Popover.Dropdown aria-label="Other steps">
            <ul className={classes.list}>
              {others.map((remedy) => (
                <li key={`${remedy.action} ${remedy.label}`}>
                  <Explained remedy={remedy} {...place} />
                </li>
              ))}
            </ul>
          </Popover.Dropdown>
        </Popover>
      )}
    </span>
  );
}

/**
 * Opens the dialog of a step, here or on the page of its supervisor, or the page that it is about;
 * null: it has none.
 */
function useOpening(remedy: Remedy, supervisor: string | null): (() => void) | null {
  const navigate = useNavigate();
  const search = supervisor === null ? null : dialogOf(remedy);
  if (search !== null && supervisor !== null) {
    const to = "/supervisors/$id/overview";
    return () => void navigate({ to, params: { id: supervisor }, search });
  }
  const place = placeOf(remedy, supervisor);
  if (place !== null) {
    return () => void navigate(place);
  }
  const action = actionOf(remedy, supervisor);
  return action === null ? null : () => openAction(action);
}

/** A step with a dialog of its own is a button; any other one shows its command. */
function RemedyButton({ remedy, table, supervisor }: Place & { remedy: Remedy }) {
  const me = useMe();
  const open = useOpening(remedy, supervisor);
  if (open !== null) {
    const asks = placeOf(remedy, supervisor) === null;
    return (
      <Barred size="compact-xs" why={missing(me, remedy.permission, table)} onClick={open}>
        {asks ? `${visible(remedy.label)}…` : visible(remedy.label)}
      </Barred>
    );
  }
  return (
    <Popover position="bottom-end" shadow="md" width={460} trapFocus returnFocus>
      <Popover.Target>
        <Button size="compact-xs" rightSection={<Icon name="down" size={11} />}>
          {visible(remedy.label)}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={remedy.label}>
        <Explained remedy={remedy} table={table} supervisor={supervisor} />
      </Popover.Dropdown>
    </Popover>
  );
}

function Explained({ remedy, table, supervisor }: Place & { remedy: Remedy }) {
  const me = useMe();
  const lack = missing(me, remedy.permission, table);
  const open = useOpening(remedy, supervisor);
  return (
    <div className={classes.explained}>
      <p className={classes.label}>{visible(remedy.label)}</p>
      {remedy.command !== null && <Command text={remedy.command} />}
      {lack !== null && <p className={classes.lack}>{lack}</p>}
      {open !== null && (
        <Barred why={lack} onClick={open}>
          Open…
        </Barred>
      )}
    </div>
  );
}
