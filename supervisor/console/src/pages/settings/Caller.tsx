import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type Me, meQuery } from "@/api/me";
import { usePreferences } from "@/app/preferences";
import { useLogout } from "@/app/session";
import { Foreign } from "@/components/Foreign";
import { QueryView } from "@/components/QueryView";
import { moment } from "@/text/times";
import { visible } from "@/text/visible";
import classes from "./SettingsPage.module.css";

/** Who calls, by which grants, and what it may do where. */
export function Caller() {
  return <QueryView query={useQuery(meQuery)}>{(me) => <Known me={me} />}</QueryView>;
}

function Known({ me }: { me: Me }) {
  const { zone } = usePreferences();
  const logout = useLogout();
  if (!me.asked) {
    return (
      <p>This overlord asks nobody who they are: everyone who reaches it may do everything.</p>
    );
  }
  return (
    <div className={classes.caller}>
      <p>
        <strong>
          <Foreign>{me.name}</Foreign>
        </strong>
        {me.kind !== null && `, by a ${me.kind === "user" ? "password" : me.kind}`}
        {me.until !== null && `, until ${moment(new Date(me.until), zone)}`}
      </p>
      {me.grants.length > 0 && (
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col">Role</th>
              <th scope="col">Tables</th>
              <th scope="col">Topics</th>
            </tr>
          </thead>
          <tbody>
            {me.grants.map(({ role, tables, topics }) => (
              <tr key={`${role} ${tables} ${topics}`}>
                <td>{role}</td>
                <td>{visible(tables)}</td>
                <td>{visible(topics)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">Permission</th>
            <th scope="col">On tables</th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(me.permissions).map(([permission, tables]) => (
            <tr key={permission}>
              <td>{permission}</td>
              <td>{visible((tables ?? []).join(", "))}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {me.session && (
        <div>
          <Button onClick={logout}>Log out</Button>
        </div>
      )}
    </div>
  );
}
