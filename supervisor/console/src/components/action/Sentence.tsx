import { visible } from "@/text/visible";

/** A sentence of the overlord: what stands in back quotes is for a shell. */
export function Sentence({ text }: { text: string }) {
  const parts = text.split("`");
  return (
    <span>
      {parts.map((part, at) =>
        at % 2 === 1 ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts stay where they are
          <code key={at}>{visible(part)}</code>
        ) : (
          visible(part)
        ),
      )}
    </span>
  );
}

/** Has a text that begins with no name begin with a capital, and end with a full stop. */
export function whole(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?:]$/.test(begun) ? begun : `${begun}.`;
}
