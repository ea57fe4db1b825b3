import { Menu, UnstyledButton } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useMe } from "@/api/me";
import { Icon } from "@/components/Icon";
import { UNKNOWN } from "@/text/numbers";
import { visible } from "@/text/visible";
import { useLogout } from "../session";
import classes from "./OperationsChip.module.css";

/** Who calls, with the way to the settings and out. */
export function CallerMenu() {
  const me = useMe();
  const navigate = useNavigate();
  const logout = useLogout();
  const name = me === undefined ? UNKNOWN : me.asked ? visible(me.name) : "anyone";
  return (
    <Menu withinPortal={false}>
      <Menu.Target>
        <UnstyledButton className={classes.chip}>
          <Icon name="person" />
          {name}
          <Icon name="down" size={11} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<Icon name="gear" />}
          onClick={() => void navigate({ to: "/settings" })}
        >
          Settings and permissions
        </Menu.Item>
        {me?.session === true && (
          <Menu.Item leftSection={<Icon name="leave" />} onClick={logout}>
            Log out
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
