import { Button } from "@mantine/core";
import { Component, type ReactNode } from "react";
import { visible } from "@/text/visible";
import classes from "./ProblemNote.module.css";

type Props = { children: ReactNode };
type State = { error: Error | null };

/** Keeps a fault of one panel to that panel. */
export class Boundary extends Component<Props, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) {
      return this.props.children;
    }
    return (
      <div className={classes.note} role="alert">
        <div className={classes.words}>
          <p className={classes.title}>This part of the page failed</p>
          <p>{visible(error.message)}</p>
        </div>
        <Button onClick={() => this.setState({ error: null })}>Show it again</Button>
      </div>
    );
  }
}
