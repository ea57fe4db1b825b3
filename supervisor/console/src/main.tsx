import "@mantine/core/styles.css";
import { MantineProvider, Title } from "@mantine/core";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
const root = document.getElementById("root");
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <MantineProvider getStyleNonce={() => nonce}>
        <Title>Tidegate</Title>
      </MantineProvider>
    </StrictMode>,
  );
}
