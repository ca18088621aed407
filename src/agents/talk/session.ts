/** Opens a session in a process: file made or cut back, switched to, the switch verified, its own model and thinking level set. Nothing is sent behind a switch before its answer. */
import { dirname } from "node:path";
import type { LeaseRequest, StartedOver } from "../../contracts/agent.ts";
import type { ThinkingLevel } from "../../contracts/session-settings.ts";
import type { Usage } from "../../contracts/chat.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { StoredFile } from "../../contracts/store/session-files.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import { NO_USAGE } from "./entry-usage.ts";
import { historyEntries } from "./history.ts";
import { type Fields, modelName, text } from "./protocol.ts";
import { isStartedOver, startOver } from "../setup/damaged-session.ts";
import type { InspectSession } from "../setup/session-inspector.ts";
import {
  ensureSessionFile,
  moveSession,
  rewindSessionFile,
  type SessionHeader,
  sessionPath,
  sizeOf,
} from "./session-file.ts";
import type { Restored, StoredSessions } from "./stored-session.ts";
import { beginVisit, endVisit, findVisit, type Visit } from "./session-visit.ts";
import type { PlayedAgents } from "../process/played.ts";
import type { AgentFolders } from "../setup/agent-folder.ts";
import type { ReadyAgent } from "../setup/start.ts";

const SWITCH_MS = 10_000;
/** What pi lets a model think when nothing was said about it. It lowers that for a model that cannot. */
const USUAL_THINKING = "medium";

/** The session a process has in memory, and how long its file was when that was last true. */
export interface OpenSession extends ModelSettings {
  /** Its name among all sessions. */
  readonly file: string;
  /** Where it is kept between turns. */
  readonly kept: string;
  /** Where the process works on it. */
  readonly path: string;
  readonly bytes: number;
}

/** The model and the thinking level a session is to have. */
interface ModelSettings {
  readonly model: string;
  readonly thinking: string;
}

interface SessionDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly played?: PlayedAgents;
  readonly storedSessions?: StoredSessions | undefined;
}

/** What follows it on the pipe is read with these tools. Whoever waits for one of both hears of a failure. */
export interface PushedTools {
  readonly sent: Promise<void>;
  readonly taken: Promise<void>;
}

export interface Opened {
  readonly session: OpenSession;
  readonly switched: boolean;
  /** What an attempt had cost whose traces were cut off. */
  readonly lost: Usage;
  readonly startedOver?: StartedOver;
  /** The file as it is in the database; null: it is not there. */
  readonly stored?: StoredFile | null;
}

type SessionRequest = LeaseRequest & {
  /** Of the caller. The process is told to switch behind them, and has the session open when it has taken them; its file is prepared meanwhile. */
  readonly tools: PushedTools;
  readonly inspect: InspectSession;
  readonly folders: Pick<AgentFolders, "sessions" | "workspace">;
  /** Of the agent, when it is configured. */
  readonly defaultThinking: ThinkingLevel | undefined;
};

export async function openSession(
  deps: SessionDeps,
  agent: ReadyAgent,
  now: OpenSession | null,
  request: SessionRequest,
): Promise<Opened> {
  if (deps.played) {
    await request.tools.taken;
    return deps.played.open(agent, now, request);
  }
  const { folders, sessionFile } = request;
  const kept = sessionPath(folders.sessions, sessionFile);
  const path = sessionPath(agent.visits, sessionFile);
  const visit = { log: deps.log, kept, visiting: path };
  const header = { id: deps.ids.next("ses"), at: deps.clock.now(), cwd: folders.workspace };
  const found = sizeOf(kept);
  const wasStray = found === 0 && endStrayVisit(visit, request);
  const { stored, isReplaced } = await restored(deps, kept, request);
  const before = wasStray || deps.storedSessions ? sizeOf(kept) : found;
  const wanted = modelSettings(agent, request);
  const opened = (bytes = sizeOf(path)) => ({ file: sessionFile, kept, path, bytes, ...wanted });
  // What the process has in memory is the truth only while nobody else has touched the file.
  if (!isReplaced && before > 0 && now?.path === path && now.bytes === before) {
    const isSet = now.model === wanted.model && now.thinking === wanted.thinking;
    await request.tools.taken;
    await duringVisit(visit, async () => {
      if (!isSet) await setModel(deps.clock, agent, wanted, await stateOf(deps.clock, agent, path));
    });
    return { session: opened(isSet ? before : undefined), switched: false, lost: NO_USAGE, stored };
  }
  const entries = historyEntries(deps, request.history ?? [], wanted.model);
  if (entries !== "") await ensureSessionFile(kept, header, entries);
  const prepared = entries === "" ? await prepareFile(kept, before, request, header) : { lost: NO_USAGE };
  await moveSession(kept, folders.workspace);
  await request.tools.sent;
  await duringVisit(visit, async () => {
    const [state] = await Promise.all([switchTo(deps.clock, agent, path), request.tools.taken]);
    await setModel(deps.clock, agent, wanted, state);
  });
  return { session: opened(), switched: true, stored, ...prepared };
}

/** Where session files are in the database, the local one has to begin with what is there. */
async function restored({ storedSessions }: SessionDeps, path: string, request: SessionRequest): Promise<Restored> {
  const { sessionFile: name, settledBytes } = request;
  return storedSessions ? storedSessions.restore({ name, path, settledBytes }) : { stored: null, isReplaced: false };
}

/** A session that cannot be opened in this process goes back at once: another one may be asked next. */
async function duringVisit(visit: Visit, open: () => Promise<void>): Promise<void> {
  beginVisit(visit);
  try {
    await open();
  } catch (error) {
    endVisit(visit);
    throw error;
  }
}

/** The file is not where it belongs: a visit before this one could not be ended then, and is now. False: there was none. */
function endStrayVisit(visit: Visit, { folders, sessionFile, settledBytes }: SessionRequest): boolean {
  const stray = settledBytes === 0 ? null : findVisit(dirname(folders.sessions), sessionFile);
  if (stray !== null) endVisit({ ...visit, visiting: stray });
  return stray !== null;
}

/** Makes the file what the last finished turn left: cuts off the rest, or begins anew when what was left cannot be read. */
async function prepareFile(
  path: string,
  size: number,
  { settledBytes, inspect }: Pick<SessionRequest, "settledBytes" | "inspect">,
  header: SessionHeader,
): Promise<Pick<Opened, "lost" | "startedOver">> {
  if (settledBytes > 0) {
    const found = await inspect(path, settledBytes);
    if (isStartedOver(found.header, settledBytes)) {
      const lost = await rewindSessionFile(path, found.headerBytes, header);
      return { lost, startedOver: { because: "was replaced, and no turn has ended since", kept: null } };
    }
    if (found.flaw !== null) {
      const kept = await startOver(path, header, { settledBytes, at: header.at });
      return { lost: NO_USAGE, startedOver: { because: found.flaw, kept } };
    }
  }
  if (size > settledBytes) return { lost: await rewindSessionFile(path, settledBytes, header) };
  await ensureSessionFile(path, header);
  return { lost: NO_USAGE };
}

/** A name that ends with its slash (`openai/`) is no model: such a request only lists the models of a provider. */
export function modelSettings(
  agent: Pick<ReadyAgent, "model" | "thinking">,
  request: Pick<SessionRequest, "model" | "thinking" | "defaultThinking">,
): ModelSettings {
  const model = request.model === undefined || request.model.endsWith("/") ? agent.model : request.model;
  const usual = model === agent.model ? agent.thinking : (request.defaultThinking ?? USUAL_THINKING);
  return { model, thinking: request.thinking ?? (usual || "off") };
}

/** Returns what pi says of itself then, as it answers `get_state`. `withinMs`: how long it may take. */
export async function switchTo(clock: Clock, agent: ReadyAgent, path: string, withinMs = SWITCH_MS): Promise<Fields> {
  const { process } = agent;
  let told: Fields | null = null;
  using _listening = process.onEvent((event) => {
    if (event.type === "session_opened") told = event.state;
  });
  const late = () => new GatewayError("agent_unavailable", "pi did not switch sessions in time");
  using limit = clock.deadline(withinMs, late);
  const answer = await process.request({ type: "switch_session", sessionPath: path }, limit.signal);
  if (!answer.ok) throw new GatewayError("agent_unavailable", `pi refused the session: ${answer.error}`);
  return told === null ? stateOf(clock, agent, path, withinMs) : checkedState(told, path);
}

/** Asks pi. Where the bridge is off, or pi is an older one, it does not say that by itself. */
async function stateOf(clock: Clock, { process }: ReadyAgent, path: string, withinMs = SWITCH_MS): Promise<Fields> {
  const late = () => new GatewayError("agent_unavailable", "pi did not say which session it has open");
  using limit = clock.deadline(withinMs, late);
  const state = await process.request({ type: "get_state" }, limit.signal);
  return checkedState(state.ok ? state.data : {}, path);
}

function checkedState(state: Fields, path: string): Fields {
  if (text(state.sessionFile) === path) return state;
  throw new GatewayError("agent_unavailable", "pi has another session open than it was told to");
}

/** A session remembers the model it was last used with. What was chosen for it decides, else the configuration. */
async function setModel(clock: Clock, { process }: ReadyAgent, wanted: ModelSettings, state: Fields): Promise<void> {
  const late = () => new GatewayError("agent_unavailable", "pi did not change the model in time");
  using limit = clock.deadline(SWITCH_MS, late);
  for (const command of changesTo(wanted, state)) {
    const done = await process.request(command, limit.signal);
    if (!done.ok) throw notOffered(wanted.model, done.error);
  }
}

/** The commands that make pi's state what is wanted. Changing the model resets the thinking level. */
function changesTo(wanted: ModelSettings, state: Fields): readonly Fields[] {
  const slash = wanted.model.indexOf("/");
  const [provider, modelId] = [wanted.model.slice(0, slash), wanted.model.slice(slash + 1)];
  const model = modelName(state.model) === wanted.model ? [] : [{ type: "set_model", provider, modelId }];
  const sameThinking = model.length === 0 && text(state.thinkingLevel) === wanted.thinking;
  return sameThinking ? model : [...model, { type: "set_thinking_level", level: wanted.thinking }];
}

function notOffered(model: string, error: string): GatewayError {
  return new GatewayError("model_missing", `pi did not change the model of the session: ${error}`, {
    say: `pi does not offer the model ${model} of this conversation, or has no key for it. /model shows what there is; /model default goes back to the agent's own.`,
  });
}
