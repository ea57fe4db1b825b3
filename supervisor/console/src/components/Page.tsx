import { type ReactNode, useEffect } from "react";
import classes from "./Page.module.css";

type Props = {
  /** The name of the page, and its heading unless another one is given. */
  title: string;
  heading?: string | undefined;
  /** The sentence below the title: what it is, why, since when. */
  sentence?: ReactNode;
  actions?: ReactNode;
  /** Whether the content fills the window and scrolls by itself, as a long table does. */
  fills?: boolean;
  children: ReactNode;
};

/** The frame of a page: title, sentence, actions, content. */
export function Page({
  title,
  heading = title,
  sentence,
  actions,
  fills = false,
  children,
}: Props) {
  useEffect(() => {
    document.title = `${title} · Tidegate`;
  }, [title]);
  return (
    <div className={classes.page} data-fills={fills}>
      <header className={classes.head}>
        <div className={classes.words}>
          <h1>{heading}</h1>
          {sentence !== undefined && <div className={classes.sentence}>{sentence}</div>}
        </div>
        {actions !== undefined && <div className={classes.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}
