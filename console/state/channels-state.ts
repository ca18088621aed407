/** The accounts of channels, who would answer whom, and what a role may do: read when somebody looks or asks. */
import { effect, signal } from "@preact/signals";
import type { ToolPermissions } from "../../src/contracts/agents-api.ts";
import type { ChannelCard } from "../../src/contracts/channels/channel-cards.ts";
import type { HttpApi } from "../../src/contracts/http-api.ts";
import type { Role } from "../../src/contracts/ids.ts";
import type { Verdict } from "../../src/contracts/routing.ts";
import { type Answer, readJson, sendJson } from "../net/api.ts";
import { line, status } from "./console-state.ts";
import { activityNews } from "./news.ts";
import { soon } from "./soon.ts";

const AGAIN_MS = 500;

export const cards = signal<readonly ChannelCard[] | null | "failed">(null);

/** Follows the gateway until it is called; for as long as somebody looks. */
export function followChannels(): () => void {
  let first = true;
  return effect(() => {
    void activityNews.value;
    void status.value; // a channel that comes or goes is told with it
    if (line.value !== "open") return;
    soon("channels", first ? 0 : AGAIN_MS, () => void readCards());
    first = false;
  });
}

async function readCards(): Promise<void> {
  const answer = await readJson<HttpApi["GET /api/channels"]["result"]>("/api/channels");
  if (answer.ok) cards.value = answer.value.items;
  else if (cards.value === null) cards.value = "failed";
}

export interface Explained {
  readonly verdict: Verdict;
  readonly considered: readonly {
    readonly index: number;
    readonly agent: string;
    readonly wins: boolean;
    readonly because: string;
  }[];
}

export function whoAnswers(asked: HttpApi["POST /api/route"]["body"]): Promise<Answer<Explained>> {
  return sendJson<Explained>("POST", "/api/route", asked);
}

/** What the default agent may do for this role; null: it could not be read. */
export async function permissionsOf(role: Role): Promise<readonly ToolPermissions[] | null> {
  const answer = await readJson<HttpApi["GET /api/agents/:id"]["result"]>(`/api/agents/default?role=${role}`);
  return answer.ok ? answer.value.agent.permissions : null;
}
