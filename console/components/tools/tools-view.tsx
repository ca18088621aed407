/** The view that is not a conversation: which tools there are, and what was called. */
import { status, view } from "../../state/console-state.ts";
import { CallList } from "./call-list.tsx";
import { ToolList } from "./tool-list.tsx";

/** What keeps the shell and the files of agents inside their folders. */
function SandboxLine() {
  const sandbox = status.value?.sandbox;
  if (!sandbox) return null; // not known yet, or a gateway that does not say
  const { setting, tier, because, leaks, advice } = sandbox;
  const words = setting === "off" ? "switched off (agent.sandbox)" : tier;
  return (
    <p class="hint" data-testid="sandbox" title={[because, ...leaks, advice ?? ""].join("\n")}>
      Sandbox of the agents: {words}
    </p>
  );
}

export function ToolsView() {
  const now = view.value;
  const link = (to: typeof now, href: string, words: string) => (
    <a href={href} aria-current={now === to ? "page" : undefined}>
      {words}
    </a>
  );
  return (
    <div class="chat-frame">
      <div class="chat" tabindex={0} role="region" aria-label="Tools" data-testid="tools-view">
        <div class="column">
          <nav class="views" aria-label="Tools">
            {link("tools", "#/tools", "What there is")}
            {link("calls", "#/tools/calls", "What was called")}
          </nav>
          <h2 class="hidden">{now === "calls" ? "What was called" : "What there is"}</h2>
          <SandboxLine />
          {now === "calls" ? <CallList /> : <ToolList />}
        </div>
      </div>
    </div>
  );
}
