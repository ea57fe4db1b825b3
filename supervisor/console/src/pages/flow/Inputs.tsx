import { Foreign } from "@/components/Foreign";
import { Panel } from "@/components/Panel";
import { Unknown } from "@/components/Unknown";
import { visible } from "@/text/visible";
import classes from "./flow.module.css";
import { inputsOf } from "./inputs";

/** What a start may give. */
export function Inputs({ document }: { document: unknown }) {
  const inputs = inputsOf(document);
  return (
    <Panel title="Inputs">
      {inputs.length === 0 ? (
        <p className={classes.dim}>It takes none.</p>
      ) : (
        <table className={classes.inputs} aria-label="Inputs">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Type</th>
              <th scope="col">Default</th>
              <th scope="col">What it is</th>
            </tr>
          </thead>
          <tbody>
            {inputs.map(({ name, type, fallback, isRequired, description }) => (
              <tr key={name}>
                <td>
                  <Foreign>{name}</Foreign>
                </td>
                <td>{visible(type)}</td>
                <td>
                  {fallback === undefined ? (
                    isRequired ? (
                      "required"
                    ) : (
                      "may be empty"
                    )
                  ) : (
                    <code>{visible(fallback)}</code>
                  )}
                </td>
                <td>
                  {description === "" ? (
                    <Unknown why="Its document does not say." />
                  ) : (
                    <Foreign>{description}</Foreign>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}
