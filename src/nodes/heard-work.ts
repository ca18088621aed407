/**
 * The work of other gateways, as far as people see it from here: running turns, open approvals, open questions. Made of what each of them tells, and
 * of what it has in the making when this one hears of it first, or has missed something. It ends with its gateway.
 */
import type { OpenQuestion } from "../contracts/channels/question.ts";
import type { Events, GatewayEvents } from "../contracts/events.ts";
import type { LiveTool, LiveTurn } from "../contracts/flow.ts";
import type { InstanceId, SessionKey } from "../contracts/ids.ts";
import type { NodeNews, OtherNodes, PresentWork } from "../contracts/nodes.ts";
import type { PendingApproval } from "../contracts/tools/approval.ts";
import { background } from "../kit/background.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";

interface HeardDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly nodes: Pick<OtherNodes, "hear" | "ask" | "onCame" | "onGone" | "onMissed">;
  /** Where it is told on. */
  readonly heard: Pick<Events, "emit">;
}

export interface HeardWork {
  turn(sessionKey: SessionKey): LiveTurn | null;
  approvals(): readonly PendingApproval[];
  questions(): readonly OpenQuestion[];
  /** The gateway whose turn asks this; null: none that is known. */
  askerOf(id: string): InstanceId | null;
}

interface Work {
  readonly turns: Map<SessionKey, LiveTurn>;
  readonly approvals: Map<string, PendingApproval>;
  readonly questions: Map<string, OpenQuestion>;
}

export function followOtherNodes({ clock, log, nodes, heard }: HeardDeps): HeardWork {
  const known = new Map<InstanceId, Work>();
  const workOf = (node: InstanceId): Work => {
    const work = known.get(node) ?? { turns: new Map(), approvals: new Map(), questions: new Map() };
    known.set(node, work);
    return work;
  };

  nodes.hear("event", (news, from) => {
    note(workOf(from), news, clock.now());
    heard.emit(news.event, news.data as never); // the two belong together
  });

  /** What it tells from then on comes after this, because letters keep their order. */
  const askPresent = (node: InstanceId): void =>
    background(log, "another gateway did not say what it is doing", async () => {
      known.set(node, toWork(await nodes.ask(node, "present", null)));
    });
  nodes.onCame(askPresent);
  nodes.onMissed(askPresent);

  nodes.onGone((node) => {
    const work = known.get(node);
    known.delete(node);
    for (const approval of work?.approvals.values() ?? []) heard.emit("approval", expired(approval));
    for (const question of work?.questions.values() ?? []) heard.emit("question", { ...question, end: GONE });
    heard.emit("status", { what: "sessions" });
  });

  const all = (): readonly Work[] => [...known.values()];
  return {
    turn: (sessionKey) =>
      all()
        .find(({ turns }) => turns.has(sessionKey))
        ?.turns.get(sessionKey) ?? null,
    approvals: () => all().flatMap(({ approvals }) => [...approvals.values()]),
    questions: () => all().flatMap(({ questions }) => [...questions.values()]),
    askerOf: (id) =>
      [...known].find(([, { approvals, questions }]) => approvals.has(id) || questions.has(id))?.[0] ?? null,
  };
}

const GONE_WORDS =
  "The gateway that asked has ended; what it did goes on elsewhere, and asks again if it still has to.";
const GONE = { how: "cancelled", by: null, because: GONE_WORDS } as const;

function expired({ input: _input, shown: _shown, ...about }: PendingApproval): GatewayEvents["approval"] {
  return { ...about, decision: "expired", by: null, say: GONE_WORDS };
}

function toWork({ turns, approvals, questions }: PresentWork): Work {
  return {
    turns: new Map(turns.map(({ sessionKey, ...turn }) => [sessionKey, turn])),
    approvals: new Map(approvals.map((one) => [one.id, one])),
    questions: new Map(questions.map((one) => [one.id, one])),
  };
}

function note({ turns, approvals, questions }: Work, news: NodeNews["event"], now: number): void {
  if (news.event === "approval") {
    if (news.data.decision === null) approvals.set(news.data.id, withoutDecision(news.data));
    else approvals.delete(news.data.id);
  } else if (news.event === "question") {
    const { end, ...question } = news.data;
    if (end === null) questions.set(question.id, question);
    else questions.delete(question.id);
  } else if (news.event === "turn.started") {
    const { sessionKey, turnId, inboxIds } = news.data;
    turns.set(sessionKey, { turnId, inboxIds, startedAt: now, text: "", tools: [] });
  } else if (news.event === "turn.ended") {
    turns.delete(news.data.sessionKey);
  } else {
    const turn = "turnId" in news.data ? turns.get(news.data.sessionKey) : undefined;
    const changed = turn && changedTurn(turn, news);
    if (changed && "turnId" in news.data) turns.set(news.data.sessionKey, changed);
  }
}

/** Null: nothing of it is shown. */
function changedTurn(turn: LiveTurn, news: NodeNews["event"]): LiveTurn | null {
  const { waiting: _waiting, ...going } = turn;
  if (news.event === "turn.delta") return { ...going, text: turn.text + news.data.text };
  if (news.event === "turn.thought") return { ...going, reasoning: (turn.reasoning ?? "") + news.data.text };
  if (news.event === "turn.joined") return { ...turn, inboxIds: [...turn.inboxIds, ...news.data.inboxIds] };
  if (news.event === "turn.waiting") return { ...turn, waiting: { until: news.data.until, text: news.data.text } };
  if (news.event !== "turn.tool") return null;
  const { sessionKey: _sessionKey, turnId: _turnId, ...call } = news.data;
  return { ...going, tools: withCall(turn.tools, call) };
}

function withCall(tools: readonly LiveTool[], call: LiveTool): readonly LiveTool[] {
  const before = tools.find(({ callId }) => callId === call.callId);
  if (!before) return [...tools, call];
  const { input = before.input, ...now } = call; // said once, when the call begins
  return tools.map((one) => (one === before ? { ...now, ...(input === undefined ? {} : { input }) } : one));
}

function withoutDecision({
  decision: _decision,
  ...asked
}: PendingApproval & { readonly decision: null }): PendingApproval {
  return asked;
}
