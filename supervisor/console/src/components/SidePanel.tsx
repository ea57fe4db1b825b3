import { ActionIcon } from "@mantine/core";
import { type ReactNode, useEffect, useId, useRef } from "react";
import { useKeys } from "@/app/keys";
import { Boundary } from "./Boundary";
import { Icon } from "./Icon";
import classes from "./SidePanel.module.css";

type Props = { title: ReactNode; onClose: () => void; children: ReactNode };

/** What one thing of a list is, beside the list: it can be read while the list goes on. */
export function SidePanel({ title, onClose, children }: Props) {
  const id = useId();
  const panel = useRef<HTMLElement>(null);
  useKeys([{ keys: "Escape", label: "Close the panel", run: onClose }]);
  useReturnedFocus(panel);
  return (
    <aside className={classes.panel} aria-labelledby={id} ref={panel}>
      <header className={classes.head}>
        <h2 id={id}>{title}</h2>
        <ActionIcon variant="subtle" color="gray" aria-label="Close the panel" onClick={onClose}>
          <Icon name="close" />
        </ActionIcon>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys */}
      <section className={classes.body} tabIndex={0} aria-labelledby={id}>
        <Boundary>{children}</Boundary>
      </section>
    </aside>
  );
}

/** Gives the focus back to what had it before, if it is in the panel when that closes. */
function useReturnedFocus(panel: React.RefObject<HTMLElement | null>) {
  useEffect(() => {
    const before = document.activeElement;
    const element = panel.current;
    return () => {
      if (element?.contains(document.activeElement) && before instanceof HTMLElement) {
        before.focus();
      }
    };
  }, [panel]);
}
