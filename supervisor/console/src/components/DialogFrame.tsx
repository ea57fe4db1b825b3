import { Modal } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./DialogFrame.module.css";

type Props = {
  title: string;
  isOpen: boolean;
  isWide?: boolean;
  onClose: () => void;
  children: ReactNode;
};

/** A dialog with a title; a <header> of Mantine's would be a second banner of the page. */
export function DialogFrame({ title, isOpen, isWide = false, onClose, children }: Props) {
  return (
    <Modal.Root
      opened={isOpen}
      onClose={onClose}
      size={isWide ? "min(1040px, 94vw)" : "lg"}
      centered
      lockScroll={false}
    >
      <Modal.Overlay backgroundOpacity={0.45} />
      <Modal.Content>
        <div className={classes.head}>
          <Modal.Title>{title}</Modal.Title>
          <Modal.CloseButton aria-label="Close" />
        </div>
        <Modal.Body>{children}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
