import { Link } from "@tanstack/react-router";
import { Page } from "@/components/Page";

export function NoSuchPage() {
  return (
    <Page title="There is no such page">
      <p>
        The address names no page of this console. <Link to="/">Go home</Link>
      </p>
    </Page>
  );
}
