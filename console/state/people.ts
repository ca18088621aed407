/** Pairing in the web console: people who wait or were approved. While somebody looks, rows keep their places, so that no press lands on another person. */
import { signal } from "@preact/signals";
import type { PairedPerson } from "../../src/contracts/channels/pairing.ts";
import type { HttpApi } from "../../src/contracts/http-api.ts";
import type { Role } from "../../src/contracts/ids.ts";
import { type Answer, approvePairing, decidePairing, readJson, readPairing, sendJson } from "../net/api.ts";

export interface PersonRow {
  readonly person: PairedPerson;
  /** The gateway does not list them any more: revoked, or their hour is over. */
  readonly gone: boolean;
  /** What was decided here, in words; it can be undone. */
  readonly decided: string | null;
}

export const people = signal<readonly PairedPerson[]>([]);
/** Who has a role and did not ask for access by a code; read while somebody looks. */
export const otherRoles = signal<HttpApi["GET /api/people"]["result"]["items"]>([]);
/** The rows that are shown; null while nobody looks. */
export const peopleRows = signal<readonly PersonRow[] | null>(null);

export async function refreshPeople(): Promise<void> {
  const answer = await readPairing();
  if (!answer.ok) return;
  people.value = answer.value;
  if (peopleRows.value === null) return;
  peopleRows.value = keepPlaces(peopleRows.value, answer.value);
  await readRoles();
}

export function openPeople(): void {
  peopleRows.value = keepPlaces([], people.value);
  void readRoles();
}

async function readRoles(): Promise<void> {
  const answer = await readJson<HttpApi["GET /api/people"]["result"]>("/api/people");
  if (!answer.ok) return; // those that were read before stay
  const paired = new Set<string>(people.value.map(({ principal }) => principal));
  otherRoles.value = answer.value.items.filter(({ principal }) => !paired.has(principal));
}

/** Null, or why not: the gateway keeps what the settings say, and the last owner. */
export async function changeRole(principal: string, role: Role): Promise<string | null> {
  const answer = await sendJson<HttpApi["POST /api/people"]["result"]>("POST", "/api/people", { principal, role });
  await refreshPeople();
  return answer.ok ? null : answer.error.message;
}

export function closePeople(): void {
  peopleRows.value = null;
}

/** No row moves and none disappears; new people come last. */
export function keepPlaces(rows: readonly PersonRow[], latest: readonly PairedPerson[]): readonly PersonRow[] {
  const byId = new Map(latest.map((person) => [person.id, person]));
  const kept = rows.map((row) => {
    const person = byId.get(row.person.id);
    return person ? { ...row, person, gone: false } : { ...row, gone: true };
  });
  const shown = new Set(rows.map(({ person }) => person.id));
  const added = latest.filter(({ id }) => !shown.has(id)).map((person) => ({ person, gone: false, decided: null }));
  return [...kept, ...added];
}

/** Null, or what went wrong. */
export async function approve(person: PairedPerson, code: string, role: Role): Promise<string | null> {
  return decided(person, await approvePairing(person.id, code, role), (given) => `Has access as ${given}`);
}

export async function revoke(person: PairedPerson): Promise<string | null> {
  const words = person.state === "pending" ? "Refused" : "Removed";
  return decided(person, await decidePairing(person.id, "revoke"), () => words);
}

export async function undo(person: PairedPerson): Promise<string | null> {
  return decided(person, await decidePairing(person.id, "undo"), () => null);
}

async function decided<T>(
  { id }: PairedPerson,
  answer: Answer<T>,
  words: (value: T) => string | null,
): Promise<string | null> {
  const rows = peopleRows.value; // null: nobody looks any more
  if (answer.ok && rows) {
    const said = words(answer.value);
    peopleRows.value = rows.map((row) => (row.person.id === id ? { ...row, decided: said } : row));
  }
  await refreshPeople();
  return answer.ok ? null : answer.error.message;
}
