import { Modal } from "@mantine/core";
import type { ReactNode } from "react";
import { DialogHead } from "@/components/action/DialogHead";

type Props = {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  children: ReactNode;
};

/** The dialog about one row of a list. */
export function RecordDialog({ title, isOpen, onClose, children }: Props) {
  return (
    <Modal.Root opened={isOpen} onClose={onClose} size="lg" centered lockScroll={false}>
      <Modal.Overlay backgroundOpacity={0.45} />
      <Modal.Content>
        <Modal.Body>
          <DialogHead>{title}</DialogHead>
          {children}
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
