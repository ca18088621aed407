/** Starts the web console: theme first, so that nothing is painted in the wrong one. */
import { render } from "preact";
import { App } from "./app.tsx";
import { startConsole } from "./state/console-state.ts";
import { loadTheme } from "./state/theme.ts";

loadTheme();
const root = document.getElementById("root");
if (root) render(<App />, root);
void startConsole();
