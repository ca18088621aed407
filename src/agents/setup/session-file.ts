/** Takes away the file in which an agent kept a session that is gone. Names come from the store, which made them; nothing else is touched. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { removeKept } from "./damaged-session.ts";

const NAME = /^[a-z0-9-]{8,80}\.jsonl$/;

export async function removeSessionFile(home: string, name: string): Promise<void> {
  if (!NAME.test(name)) return;
  const path = join(home, "sessions", name);
  await rm(path, { force: true });
  await removeKept(path);
}
