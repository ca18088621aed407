/** Restarts the gateway where the settings allow it, after a question; says how to allow it where they do not. */
import { useEffect } from "preact/hooks";
import { beginRestart, canRestart, followRestart, restartSaid } from "../../state/restart-state.ts";
import { ADDRESSES } from "../../state/route.ts";
import { AskFirst } from "../parts/ask-first.tsx";

export function Restart() {
  useEffect(followRestart, []);
  if (canRestart.value === null) return null;
  return (
    <section class="part" data-testid="restart">
      <h2 tabindex={-1}>Restart</h2>
      {canRestart.value ? (
        <AskFirst
          verb="Restart"
          to="the gateway"
          question="Restart now? Turns that run may finish, messages that wait are answered afterwards, and this page reconnects by itself."
          act={beginRestart}
          onDone={() => document.querySelector<HTMLElement>("[data-testid=restart] h2")?.focus()}
        />
      ) : (
        <p class="about">
          Restarting from here is switched off. <code>gateway.commands.restart</code> in the{" "}
          <a href={ADDRESSES.settings}>settings</a> allows it.
        </p>
      )}
      <p class="about" role="status" data-testid="restart-said">
        {restartSaid.value}
      </p>
    </section>
  );
}
