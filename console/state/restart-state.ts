/** A restart of the gateway as System offers it: whether the settings allow it, and how one that was begun here goes on. */
import { effect, signal } from "@preact/signals";
import { readJson, sendJson } from "../net/api.ts";
import { line, refreshStatus, status } from "./console-state.ts";
import { announced } from "./news.ts";
import { soon } from "./soon.ts";

const AGAIN_MS = 1_000;

/** Null: not read yet. */
export const canRestart = signal<boolean | null>(null);
/** How long the gateway had run when a restart was begun here; null: none was, or it is over. */
const ranBefore = signal<number | null>(null);
/** How the restart goes on; empty: none was begun here. */
export const restartSaid = signal("");

/** Follows the settings and the restart until it is called. */
export function followRestart(): () => void {
  return effect(() => {
    const now = status.value;
    if (line.value === "open") void readAllowed();
    if (ranBefore.value !== null && now !== null && now.uptimeMs < ranBefore.value) {
      ranBefore.value = null;
      restartSaid.value = "The gateway has restarted.";
      announced.value = restartSaid.value;
    }
  });
}

async function readAllowed(): Promise<void> {
  const answer = await readJson<{ readonly gateway?: { readonly commands?: { readonly restart?: boolean } } }>(
    "/api/config",
  );
  if (answer.ok) canRestart.value = answer.value.gateway?.commands?.restart === true;
}

/** Null when it has begun, otherwise why not. */
export async function beginRestart(): Promise<string | null> {
  await refreshStatus();
  const before = status.value?.uptimeMs ?? 0;
  const answer = await sendJson("POST", "/api/restart", {});
  if (!answer.ok) return answer.error.message;
  ranBefore.value = before;
  restartSaid.value = "Restarting: turns that run may finish. This page reconnects by itself.";
  lookAgain();
  return null;
}

/** Until another process answers. */
function lookAgain(): void {
  if (ranBefore.value !== null) soon("restart", AGAIN_MS, () => void refreshStatus().finally(lookAgain));
}
