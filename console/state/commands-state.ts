/** The slash commands that can be used in the open conversation, read from the gateway when somebody begins to write one. */
import { computed, signal } from "@preact/signals";
import type { SlashCommand } from "../text/slash.ts";
import { openKey, request } from "./console-state.ts";

/** Plugins bring commands and roles change; a list this old is read again. */
const OLD_AFTER_MS = 30_000;

const listed = signal<{ readonly session: string; readonly at: number; readonly items: readonly SlashCommand[] }>({
  session: "",
  at: 0,
  items: [],
});

/** Null: not known yet. */
export const commands = computed<readonly SlashCommand[] | null>(() =>
  listed.value.session === openKey.value ? listed.value.items : null,
);

let asking = false;

export function needCommands(): void {
  const session = openKey.value;
  const { session: known, at } = listed.value;
  if (asking || (known === session && Date.now() - at < OLD_AFTER_MS)) return;
  asking = true;
  request("commands.list", { session })
    .then(
      ({ items }) => (listed.value = { session, at: Date.now(), items }),
      () => undefined, // without the list commands work just the same
    )
    .finally(() => {
      asking = false;
    });
}
