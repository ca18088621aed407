/** The view that is not a conversation: which tools there are, and what was called. */
import { view } from "../../state/console-state.ts";
import { CallList } from "./call-list.tsx";
import { ToolList } from "./tool-list.tsx";

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
          {now === "calls" ? <CallList /> : <ToolList />}
        </div>
      </div>
    </div>
  );
}
