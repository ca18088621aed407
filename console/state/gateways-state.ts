/** The gateways on the database of this one, and what is done with them. Read while somebody looks. */
import { signal } from "@preact/signals";
import type { HttpApi } from "../../src/contracts/http-api.ts";
import type { ListedNode, NodeList } from "../../src/contracts/store/nodes.ts";
import { readJson, sendJson } from "../net/api.ts";

/** Null: not read yet. */
export const gateways = signal<NodeList | null | "failed">(null);

export async function readGateways(): Promise<void> {
  const answer = await readJson<HttpApi["GET /api/nodes"]["result"]>("/api/nodes");
  if (answer.ok) gateways.value = answer.value;
  else if (gateways.value === null) gateways.value = "failed";
}

/** Null when it has begun, otherwise why not. */
export async function drainGateway(id: string): Promise<string | null> {
  const answer = await sendJson("POST", `/api/nodes/${encodeURIComponent(id)}/drain`, {});
  await readGateways();
  return answer.ok ? null : answer.error.message;
}

/** Those that live, this one first; then those that ended, the latest first. */
export function inOrder({ items, self }: NodeList): readonly ListedNode[] {
  const rank = ({ id, state }: ListedNode): number => (id === self ? 0 : state === "gone" ? 2 : 1);
  return items.toSorted((one, other) => rank(one) - rank(other) || other.startedAt - one.startedAt);
}

/** Somebody else has to be there to go on with its work. */
export function canDrain({ items }: NodeList, { id, state }: ListedNode): boolean {
  return state === "live" && items.some((other) => other.id !== id && other.state === "live");
}

/** What one gateway does for all, and what waits there; empty: nothing. */
export function workText({ waiting, running, sessions, platforms, heartbeat }: ListedNode): string {
  const counted = (count: number, one: string, many: string): readonly string[] =>
    count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  return [
    ...counted(running, "running turn", "running turns"),
    ...counted(waiting - running, "message waits", "messages wait"),
    ...counted(sessions, "session", "sessions"),
    ...platforms.map((name) => `receives for ${name}`),
    ...(heartbeat ? ["begins heartbeats"] : []),
  ].join(", ");
}
