/** What programs and the console change about a session: its name, whether it is pinned or archived, its model, how much the model thinks. Checked like the same wish in a chat. */
import { Type } from "typebox";
import { levelText, notFoundText } from "../../commands/index.ts";
import type { Caller } from "../../contracts/agent.ts";
import type { SessionSettings, ThinkingLevel } from "../../contracts/session-settings.ts";
import { GatewayError } from "../../contracts/errors.ts";
import { DEFAULT_AGENT, OPERATOR, type Principal, type TurnId } from "../../contracts/ids.ts";
import { ownSession } from "../chat/accept-message.ts";
import { keyToChange } from "../chat/session-actions.ts";
import { bodyOf, checkedObject } from "../checked.ts";
import { type Call, identityOf, param, principalOf, type Route, SMALL_JSON, jsonOf } from "../route.ts";
import { CHAT } from "../access/key-reach.ts";
import type { HttpDeps, SessionTarget } from "../types.ts";

type SettingDeps = Pick<HttpDeps, "clock" | "events" | "store" | "messages" | "operations">;

/** Asking which models there are belongs to no turn. */
const NO_TURN = "none" as TurnId;
const CLEAR = "default";

export function sessionSettingRoutes(deps: SettingDeps): readonly Route[] {
  const choice = Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength: 200 }), Type.Null()]));
  const Model = bodyOf<"POST /api/sessions/:key/model">()(checkedObject({ model: choice, thinking: choice }));
  const Changes = bodyOf<"PATCH /api/sessions/:key">()(
    checkedObject({
      name: Type.Optional(Type.Union([Type.String({ maxLength: 200 }), Type.Null()])),
      pinned: Type.Optional(Type.Boolean()),
      archived: Type.Optional(Type.Boolean()),
    }),
  );
  const act = { auth: "operator", body: SMALL_JSON } as const;
  return [
    {
      ...act,
      method: "POST",
      path: "/api/sessions/:key/model",
      scope: CHAT,
      async handle(call) {
        const target = ownSession(deps, { session: param(call, "key") }, identityOf(call));
        const before = await deps.store.sessions.get(target.sessionKey);
        const wish = await Model.parse(call.json);
        const model = await modelOf(deps, target, wish.model, call);
        const asked = {
          words: wish.thinking,
          model: inForce(deps, target, model === undefined ? before?.model : model),
        };
        const thinking = await levelOf(deps, target, asked, call);
        const changes: Partial<SessionSettings> = {
          ...(model === undefined ? {} : { model }),
          ...(thinking === undefined ? {} : { thinking }),
        };
        if (!before) await openUnused(deps, target, principalOf(call));
        await deps.store.sessions.configure(target.sessionKey, changes);
        deps.events.emit("status", { what: "sessions" });
        const after = await existing(deps, target);
        return jsonOf<"POST /api/sessions/:key/model">({
          model: after.model ?? null,
          thinking: after.thinking ?? null,
        });
      },
    },
    {
      ...act,
      method: "PATCH",
      path: "/api/sessions/:key",
      scope: CHAT,
      async handle(call) {
        const target = { sessionKey: await keyToChange(deps, param(call, "key"), identityOf(call)) };
        await existing(deps, target);
        const { name, ...marks } = await Changes.parse(call.json);
        if (name !== undefined) await deps.store.sessions.rename(target.sessionKey, name);
        await deps.store.sessions.mark(target.sessionKey, marks, deps.clock.now());
        deps.events.emit("status", { what: "sessions" });
        return jsonOf<"PATCH /api/sessions/:key">({ session: await existing(deps, target) });
      },
    },
  ];
}

/** A model may be chosen before the first message. */
function openUnused({ store, clock }: SettingDeps, target: SessionTarget, person: Principal): Promise<void> {
  const { sessionKey: key, channel, agentId } = target;
  return store.sessions.open({ key, channel, agentId, person, at: clock.now() });
}

async function existing(deps: SettingDeps, { sessionKey }: Pick<SessionTarget, "sessionKey">) {
  const session = await deps.store.sessions.get(sessionKey);
  if (session) return session;
  throw new GatewayError("not_found", "no such session", { say: "There is no such session." });
}

/** The model the session will have, as far as it is known here; other agents have their own. */
function inForce(deps: SettingDeps, { agentId }: SessionTarget, chosen: string | null | undefined): string | null {
  return chosen ?? (agentId === DEFAULT_AGENT ? deps.operations.status().model.name : null);
}

/** Undefined: not asked for. Null: back to the agent's own. */
async function modelOf(
  deps: SettingDeps,
  target: SessionTarget,
  name: string | null | undefined,
  { signal }: Call,
): Promise<string | null | undefined> {
  if (name === undefined || name === null) return name;
  if (name === CLEAR) return null;
  const found = await deps.messages.models.find(callerOf(target), name, signal);
  if (found.kind === "found") return found.model.name;
  throw refused(notFoundText(name, found));
}

async function levelOf(
  deps: SettingDeps,
  target: SessionTarget,
  { words, model }: { readonly words: string | null | undefined; readonly model: string | null },
  { signal }: Call,
): Promise<ThinkingLevel | null | undefined> {
  if (words === undefined || words === null) return words;
  if (words === CLEAR) return null;
  const found = await deps.messages.models.findLevel(callerOf(target), { words, model }, signal);
  if (found.kind === "found") return found.level;
  throw refused(levelText(words, found));
}

function refused(say: string): GatewayError {
  return new GatewayError("invalid_params", say, { say });
}

function callerOf({ sessionKey, agentId, channel, chat }: SessionTarget): Caller {
  const origin = { channel, account: "default", chat };
  return { sessionKey, agentId, origin, principal: OPERATOR, role: "owner", turnId: NO_TURN };
}
