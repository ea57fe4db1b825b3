import { Button, PasswordInput, SegmentedControl, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useEffect, useState } from "react";
import { meQuery } from "@/api/me";
import { inConsole } from "@/app/inConsole";
import { type Credentials, useLogin } from "@/app/session";
import { ProblemNote } from "@/components/ProblemNote";
import classes from "./LoginPage.module.css";

type By = "token" | "password";

/** Logs a person in by a token, or by a name and a password; skipped where nobody is asked. */
export function LoginPage() {
  const { next } = useSearch({ from: "/login" });
  const me = useQuery({ ...meQuery, retry: false });
  const login = useLogin(next);
  useEffect(() => {
    document.title = "Log in · Tidegate";
  }, []);
  if (me.data !== undefined && me.error === null && !login.isPending) {
    return <Onward href={inConsole(next)} />;
  }
  return (
    <main className={classes.page}>
      <h1>Log in to Tidegate</h1>
      <p className={classes.host}>{location.host}</p>
      <Form isPending={login.isPending} onSend={(credentials) => login.mutate(credentials)} />
      {login.error !== null && <ProblemNote problem={login.error} />}
      <p className={classes.hint}>
        An administrator makes tokens:
        <br />
        <code>tidegate access token create NAME --role viewer --on TABLES</code>
      </p>
    </main>
  );
}

/** Goes on to the page that the login was for. */
function Onward({ href }: { href: string }) {
  const navigate = useNavigate();
  useEffect(() => void navigate({ href, replace: true }), [navigate, href]);
  return null;
}

type Props = { isPending: boolean; onSend: (credentials: Credentials) => void };

function Form({ isPending, onSend }: Props) {
  const [by, setBy] = useState<By>("token");
  const [name, setName] = useState("");
  const [secret, setSecret] = useState("");
  const isWhole = secret !== "" && (by === "token" || name !== "");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isWhole) {
      onSend(by === "token" ? { token: secret.trim() } : { name, password: secret });
    }
  };
  return (
    <form className={classes.form} onSubmit={submit}>
      <SegmentedControl
        fullWidth
        aria-label="Log in by"
        value={by}
        onChange={(value) => {
          setBy(value as By);
          setSecret("");
        }}
        data={[
          { value: "token", label: "Token" },
          { value: "password", label: "Name and password" },
        ]}
      />
      {by === "password" && (
        <TextInput
          label="Name"
          name="username"
          autoComplete="username"
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
      )}
      <PasswordInput
        key={by}
        label={by === "token" ? "Token" : "Password"}
        name="secret"
        autoComplete={by === "token" ? "off" : "current-password"}
        autoFocus
        value={secret}
        onChange={({ currentTarget }) => setSecret(currentTarget.value)}
        visibilityToggleButtonProps={{ "aria-label": "Show or hide what is typed" }}
      />
      <Button type="submit" variant="filled" size="sm" loading={isPending} disabled={!isWhole}>
        Log in
      </Button>
    </form>
  );
}
