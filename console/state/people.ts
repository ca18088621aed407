/** Who asks to be let in by a channel, and who was. Read when the page opens and whenever the gateway says that it changed. */
import { signal } from "@preact/signals";
import type { PairedPerson } from "../../src/contracts/channels/pairing.ts";
import { decidePairing, readPairing } from "../net/api.ts";

export const people = signal<readonly PairedPerson[]>([]);
export const peopleProblem = signal("");

export async function refreshPeople(): Promise<void> {
  const answer = await readPairing();
  if (answer.ok) people.value = answer.value;
}

export async function decide(person: PairedPerson, decision: "approve" | "revoke"): Promise<void> {
  const answer = await decidePairing(person.id, decision);
  peopleProblem.value = answer.ok ? "" : answer.error.message;
  await refreshPeople();
}
