import { Modal } from "@mantine/core";
import classes from "./DialogHead.module.css";

/** Title and close button of a dialog.  A <header> of Mantine's would be a second banner of the page. */
export function DialogHead({ children }: { children: string }) {
  return (
    <div className={classes.head}>
      <Modal.Title>{children}</Modal.Title>
      <Modal.CloseButton aria-label="Close" />
    </div>
  );
}
