import { Button, type ButtonProps, Tooltip } from "@mantine/core";
import type { ReactNode } from "react";
import { useContact } from "@/app/contact";

type Props = ButtonProps & {
  /** Why it cannot be used now; null: it can. */
  why: string | null;
  onClick: () => void;
  children: ReactNode;
};

/** A button that, where it may not be used, stays in its place and says what is missing. */
export function Barred({ why, onClick, children, ...rest }: Props) {
  const { state } = useContact();
  const reason = state === "stale" ? "The overlord does not answer: nothing can be changed." : why;
  const button = (
    <Button
      {...rest}
      aria-disabled={reason !== null}
      {...(reason === null ? {} : { "data-disabled": true })}
      onClick={reason === null ? onClick : (event) => event.preventDefault()}
    >
      {children}
    </Button>
  );
  return reason === null ? (
    button
  ) : (
    <Tooltip label={reason} events={{ hover: true, focus: true, touch: true }}>
      {button}
    </Tooltip>
  );
}
