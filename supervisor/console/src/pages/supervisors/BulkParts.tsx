import { Button } from "@mantine/core";
import type { VerbPreview } from "@/components/action/action";
import { outdatedBy } from "@/components/action/reading";
import { Sentence } from "@/components/action/Sentence";
import { Foreign } from "@/components/Foreign";
import { Mark } from "@/components/Mark";
import { ProblemBrief } from "@/components/ProblemNote";
import { exact } from "@/text/numbers";
import classes from "./BulkDialog.module.css";
import { type Looked, type Outcome, worstFirst } from "./bulk";

type EffectsProps = { looks: readonly Looked[]; onAgain: () => void };

/** What would become of each: those that it leaves alone first. */
export function Effects({ looks, onAgain }: EffectsProps) {
  const left = looks.filter(({ problem }) => problem !== null);
  const changed = looks.length - left.length;
  return (
    <div>
      <p role="status">
        {`${exact(changed)} would change, ${exact(left.length)} would be left as they are`}
      </p>
      {left.some(({ problem }) => problem?.passes) && <Button onClick={onAgain}>Look again</Button>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys */}
      <section className={classes.outcomes} tabIndex={0} aria-label="What would become of each">
        <ul>
          {worstFirst(looks).map((look) => (
            <Effect key={look.id} look={look} />
          ))}
        </ul>
      </section>
    </div>
  );
}

function Effect({ look: { id, preview, problem } }: { look: Looked }) {
  const warnings = preview?.warnings ?? [];
  return (
    <li>
      {problem !== null && (
        <Mark tone="dim" icon="note">
          left
        </Mark>
      )}
      {problem === null && warnings.length > 0 && (
        <Mark tone="risk" icon="risk">
          risk
        </Mark>
      )}
      {problem === null && warnings.length === 0 && (
        <Mark tone="good" icon="good">
          changes
        </Mark>
      )}
      <span>
        <strong>
          <Foreign>{id}</Foreign>
        </strong>{" "}
        {preview === null ? (
          problem !== null && <ProblemBrief problem={problem} />
        ) : (
          <Sentence text={preview.text} />
        )}
        {warnings.map((warning) => (
          <div key={warning}>
            <Sentence text={warning} />
          </div>
        ))}
      </span>
    </li>
  );
}

type OutcomesProps = { outcomes: ReadonlyMap<string, Outcome>; wanted: number };

/** What became of each, the failures first. */
export function Outcomes({ outcomes, wanted }: OutcomesProps) {
  const all = worstFirst([...outcomes.values()]);
  const failed = all.filter(({ problem }) => problem !== null).length;
  return (
    <div>
      <p role="status">
        {`${exact(all.length - failed)} done, ${exact(failed)} failed, ${exact(wanted - all.length)} to go`}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys */}
      <section className={classes.outcomes} tabIndex={0} aria-label="What became of each">
        <ul>
          {all.map(({ id, problem }) => (
            <li key={id}>
              {problem === null ? (
                <Mark tone="good" icon="done">
                  done
                </Mark>
              ) : (
                <Mark tone="broken" icon="broken">
                  failed
                </Mark>
              )}
              <span>
                <strong>
                  <Foreign>{id}</Foreign>
                </strong>{" "}
                {problem !== null && <ProblemBrief problem={problem} />}
                {problem !== null && <Now problem={problem} />}
              </span>
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

/** What it would do now, where that is not what was shown: another try does it. */
function Now({ problem }: { problem: NonNullable<Outcome["problem"]> }) {
  const newer = outdatedBy<VerbPreview>(problem);
  return newer === null ? null : (
    <div>
      Now: <Sentence text={newer.text} />
    </div>
  );
}
