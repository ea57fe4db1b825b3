import { Link } from "@tanstack/react-router";
import { Foreign } from "@/components/Foreign";
import { Panel } from "@/components/Panel";
import { Prose } from "@/components/Prose";
import { QueryView } from "@/components/QueryView";
import { TaskLink } from "@/components/TaskLink";
import { Clock } from "@/components/Time";
import { WorkerLink } from "@/components/WorkerLink";
import { type Explanation, useExplanation } from "../data";
import { type Plan, queueOf } from "./decisions";
import classes from "./Why.module.css";

type Sentence = Explanation["sentences"][number];

/** What each sentence answers; the state, and what would change it, are in the head of the page. */
const QUESTIONS = [
  ["waits", "Waits for"],
  ["next", "Comes next"],
  ["failure", "Went wrong"],
] as const;

/** What the supervisor waits for now, and what comes next. */
export function Now({ id, newest }: { id: string; newest: Plan | undefined }) {
  const query = useExplanation(id);
  return (
    <Panel
      title="Now"
      aside={
        newest !== undefined && (
          <span className={classes.dim}>
            decided <Clock at={newest.at} unknown="" /> · term {newest.term}
          </span>
        )
      }
    >
      <QueryView query={query} lines={4}>
        {({ sentences }) => (
          <dl className={classes.now}>
            {QUESTIONS.map(([topic, question]) => (
              <Answer
                key={topic}
                question={question}
                sentences={sentences.filter(({ about }) => about === topic)}
                none={topic === "waits" ? "Nothing: it goes on by itself." : null}
                supervisor={id}
              />
            ))}
          </dl>
        )}
      </QueryView>
    </Panel>
  );
}

type AnswerProps = {
  question: string;
  sentences: readonly Sentence[];
  /** What is shown where there is no sentence; null: nothing. */
  none: string | null;
  supervisor: string;
};

function Answer({ question, sentences, none, supervisor }: AnswerProps) {
  if (sentences.length === 0 && none === null) {
    return null;
  }
  return (
    <>
      <dt>{question}</dt>
      <dd>
        {sentences.length === 0 && <p className={classes.dim}>{none}</p>}
        {sentences.map(({ text, links = [] }) => (
          <p key={text}>
            <Prose>{text}</Prose>
            {links.map((link) => (
              <LinkOf key={`${link.kind} ${link.id}`} link={link} supervisor={supervisor} />
            ))}
          </p>
        ))}
      </dd>
    </>
  );
}

type Linked = NonNullable<Sentence["links"]>[number];

/** Leads to what a sentence names. */
function LinkOf({ link, supervisor }: { link: Linked; supervisor: string }) {
  return (
    <span className={classes.link}>
      <Place link={link} supervisor={supervisor} />
    </span>
  );
}

function Place({ link: { kind, id }, supervisor }: { link: Linked; supervisor: string }) {
  switch (kind) {
    case "generation":
      return (
        <Link to="/supervisors/$id/timeline" params={{ id: supervisor }} search={{ range: id }}>
          range <Foreign>{id}</Foreign>
        </Link>
      );
    case "task":
      return <TaskLink id={id} />;
    case "worker":
      return <WorkerLink id={id} />;
    case "queue":
      return (
        <Link to="/queues/$container/$name" params={queueOf(id)}>
          queue <Foreign>{id}</Foreign>
        </Link>
      );
  }
}
