/** Opens a session in a process: file made or cut back, switched to, and the switch verified. Nothing is sent behind a switch before its answer. */
import type { LeaseRequest } from "../../contracts/agent.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import { type Fields, modelName, text } from "./protocol.ts";
import { ensureSessionFile, moveSession, rewindSessionFile, sessionPath, sizeOf } from "./session-file.ts";
import type { ReadyAgent } from "../setup/start.ts";

const SWITCH_MS = 10_000;

/** The session a process has in memory, and how long its file was when that was last true. */
export interface OpenSession {
  readonly path: string;
  readonly bytes: number;
  readonly model: string;
}

interface SessionDeps {
  readonly clock: Clock;
  readonly ids: Ids;
}

interface SessionPlace {
  readonly sessions: string;
  readonly workspace: string;
}

export interface Opened {
  readonly session: OpenSession;
  readonly switched: boolean;
}

export async function openSession(
  deps: SessionDeps,
  agent: ReadyAgent,
  now: OpenSession | null,
  request: LeaseRequest & { readonly place: SessionPlace },
): Promise<Opened> {
  const path = sessionPath(request.place.sessions, request.sessionFile);
  const header = { id: deps.ids.next("ses"), at: deps.clock.now(), cwd: request.place.workspace };
  const before = sizeOf(path);
  // What the process has in memory is the truth only while nobody else has touched the file.
  if (before > 0 && now?.path === path && now.bytes === before) return { session: now, switched: false };
  if (before > request.settledBytes) await rewindSessionFile(path, request.settledBytes, header);
  else await ensureSessionFile(path, header);
  await moveSession(path, request.place.workspace);
  await switchTo(deps.clock, agent, path);
  return { session: { path, bytes: sizeOf(path), model: agent.model }, switched: true };
}

async function switchTo(clock: Clock, agent: ReadyAgent, path: string): Promise<void> {
  const { process } = agent;
  const late = () => new GatewayError("agent_unavailable", "pi did not switch sessions in time");
  using limit = clock.deadline(SWITCH_MS, late);
  const answer = await process.request({ type: "switch_session", sessionPath: path }, limit.signal);
  if (!answer.ok) throw new GatewayError("agent_unavailable", `pi refused the session: ${answer.error}`);
  const state = await process.request({ type: "get_state" }, limit.signal);
  if (!state.ok || text(state.data.sessionFile) !== path) {
    throw new GatewayError("agent_unavailable", "pi has another session open than it was told to");
  }
  for (const command of corrections(agent, state.data)) {
    const done = await process.request(command, limit.signal);
    if (!done.ok) throw new GatewayError("model_missing", `pi did not change the model of the session: ${done.error}`);
  }
}

/** A session remembers the model it was begun with. The configuration decides: after a change of it, old conversations change too. */
function corrections(agent: ReadyAgent, state: Fields): readonly Fields[] {
  const slash = agent.model.indexOf("/");
  const [provider, modelId] = [agent.model.slice(0, slash), agent.model.slice(slash + 1)];
  const model = modelName(state.model) === agent.model ? [] : [{ type: "set_model", provider, modelId }];
  const sameThinking = model.length === 0 && text(state.thinkingLevel) === agent.thinking;
  return sameThinking ? model : [...model, { type: "set_thinking_level", level: agent.thinking || "off" }];
}
