import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Page } from "@/components/Page";

/** What an address shows that names no page: it lies outside the frame of the others. */
export function NoSuchPage() {
  return (
    <main>
      <Page
        title="There is no such page"
        actions={
          <Button component={Link} to="/">
            Go home
          </Button>
        }
      >
        <p>The address names no page of this console.</p>
      </Page>
    </main>
  );
}
