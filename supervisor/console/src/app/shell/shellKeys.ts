import { modals } from "@mantine/modals";
import { notifications } from "@mantine/notifications";
import { useNavigate } from "@tanstack/react-router";
import { createElement } from "react";
import { copyText } from "../clipboard";
import { useKeys } from "../keys";
import { KeyList } from "./KeyList";
import { PLACES } from "./places";

/** Copies the address of the page as it is: filters, order, row. */
export async function copyLink(): Promise<void> {
  const copied = await copyText(location.href);
  notifications.show({
    message: copied ? "The link is copied." : `Copy it here: ${location.href}`,
  });
}

/** Shows what each key does on this page. */
export function showKeys(): void {
  modals.open({ withCloseButton: false, children: createElement(KeyList) });
}

/** Binds the keys that hold on every page. */
export function useShellKeys(): void {
  const navigate = useNavigate();
  useKeys([
    ...PLACES.map(({ to, label, key }) => ({
      keys: `g ${key}`,
      label: `Go to ${label.toLowerCase()}`,
      run: () => void navigate({ to }),
    })),
    { keys: "y", label: "Copy a link to this view", run: () => void copyLink() },
    { keys: "?", label: "Show the keys", run: showKeys },
  ]);
}
