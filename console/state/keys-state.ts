/** Keys of programs, read when somebody looks and again whenever the gateway says that they changed; and the secret of a new one, until it is put away. */
import { effect, signal } from "@preact/signals";
import type { ApiKey } from "../../src/contracts/api-keys.ts";
import type { WireKeyInput } from "../../src/contracts/wire.ts";
import { makeKey, readKeys, revokeKey } from "../net/api.ts";
import { line, view } from "./console-state.ts";
import { announced, keyNews } from "./news.ts";
import { FAILED, firstPage, LOADING, type Paged } from "./paged.ts";

export const keys = signal<Paged<ApiKey>>(LOADING);
/** Shown once: nobody can read it again. */
export const madeKey = signal<{ readonly name: string; readonly secret: string } | null>(null);

/** Follows the gateway until it is called; for as long as somebody looks. */
export function followKeys(): () => void {
  const stop = effect(() => {
    void keyNews.value;
    if (line.value === "open" && view.value === "keys") void refreshKeys();
  });
  return () => {
    stop();
    madeKey.value = null;
  };
}

async function refreshKeys(): Promise<void> {
  const answer = await readKeys();
  if (answer.ok) keys.value = firstPage({ items: answer.value });
  else if (keys.value.phase === "loading") keys.value = FAILED;
}

/** Null when there is a new key; otherwise why not. */
export async function addKey(asked: WireKeyInput): Promise<string | null> {
  const answer = await makeKey(asked);
  if (!answer.ok) return answer.error.message;
  madeKey.value = { name: asked.name, secret: answer.value };
  announced.value = `The key of ${asked.name} is made. It is shown only now.`;
  await refreshKeys();
  return null;
}

/** Null when the key is revoked; otherwise why not. */
export async function endKey({ id, name }: ApiKey): Promise<string | null> {
  const answer = await revokeKey(id);
  if (!answer.ok) return answer.error.message;
  announced.value = `The key of ${name} is revoked.`;
  await refreshKeys();
  return null;
}
