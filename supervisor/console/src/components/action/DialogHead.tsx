import { Modal } from "@mantine/core";
import classes from "./DialogHead.module.css";

/**
 * Title and close button of a dialog.  A <header> of Mantine's would be a second banner of the page.
 * The title takes the focus: it is read first, and Enter on it neither closes nor does anything.
 */
export function DialogHead({ children }: { children: string }) {
  return (
    <div className={classes.head}>
      <Modal.Title tabIndex={-1} data-autofocus>
        {children}
      </Modal.Title>
      <Modal.CloseButton aria-label="Close" />
    </div>
  );
}
