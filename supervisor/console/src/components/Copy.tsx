import { ActionIcon, Tooltip } from "@mantine/core";
import { useState } from "react";
import { copyText } from "@/app/clipboard";
import { Icon } from "./Icon";

const SHOWN_MS = 1_500;

/** A button that copies a text exactly. */
export function Copy({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    setCopied(await copyText(text));
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  const label = copied ? "Copied" : `Copy ${what}`;
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" size="xs" aria-label={label} onClick={copy}>
        <Icon name={copied ? "done" : "copy"} size={12} />
      </ActionIcon>
    </Tooltip>
  );
}
