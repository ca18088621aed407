/** Starts the page: theme first, so that nothing is painted in the wrong one. */
import { render } from "preact";
import { App } from "./app.tsx";
import { startPage } from "./state/session-page.ts";
import { loadTheme } from "./state/theme.ts";

loadTheme();
const root = document.getElementById("root");
if (root) render(<App />, root);
void startPage();
