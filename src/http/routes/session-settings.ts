/** What programs and the page change about a session: its name, its model, how much the model thinks. Checked like the same wish in a chat. */
import { Type } from "typebox";
import { levelText, notFoundText } from "../../commands/index.ts";
import type { Caller } from "../../contracts/agent.ts";
import type { SessionSettings, ThinkingLevel } from "../../contracts/session-settings.ts";
import { GatewayError } from "../../contracts/errors.ts";
import { DEFAULT_AGENT, OPERATOR, type TurnId } from "../../contracts/ids.ts";
import { sessionOf } from "../chat/accept-message.ts";
import { keyToRead } from "../chat/session-actions.ts";
import { checked } from "../checked.ts";
import { type Call, json, type Route, SMALL_JSON } from "../route.ts";
import type { HttpDeps, SessionTarget } from "../types.ts";

/** Asking which models there are belongs to no turn. */
const NO_TURN = "none" as TurnId;
const CLEAR = "default";

export function sessionSettingRoutes(deps: HttpDeps): readonly Route[] {
  const words = Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength: 200 }), Type.Null()]));
  const Model = checked(Type.Object({ model: words, thinking: words }, { additionalProperties: false }));
  const Name = checked(
    Type.Object({ name: Type.Union([Type.String({ maxLength: 200 }), Type.Null()]) }, { additionalProperties: false }),
  );
  const act = { auth: "operator", body: SMALL_JSON } as const;
  return [
    {
      ...act,
      method: "POST",
      path: "/api/sessions/:key/model",
      async handle(call) {
        const place = sessionOf(deps, call.params["key"] ?? "");
        const before = await existing(deps, place);
        const wish = await Model.parse(call.json);
        const model = await modelOf(deps, place, wish.model, call);
        const asked = { words: wish.thinking, model: inForce(deps, place, model === undefined ? before.model : model) };
        const thinking = await levelOf(deps, place, asked, call);
        const changes: Partial<SessionSettings> = {
          ...(model === undefined ? {} : { model }),
          ...(thinking === undefined ? {} : { thinking }),
        };
        await deps.store.sessions.configure(place.sessionKey, changes);
        deps.events.emit("status", { what: "sessions" });
        const after = await existing(deps, place);
        return json({ model: after.model ?? null, thinking: after.thinking ?? null });
      },
    },
    {
      ...act,
      method: "PATCH",
      path: "/api/sessions/:key",
      async handle(call) {
        const place = { sessionKey: await keyToRead(deps, call.params["key"] ?? "") };
        await existing(deps, place);
        const { name } = await Name.parse(call.json);
        await deps.store.sessions.rename(place.sessionKey, name);
        deps.events.emit("status", { what: "sessions" });
        return json({ session: await existing(deps, place) });
      },
    },
  ];
}

async function existing(deps: HttpDeps, { sessionKey }: Pick<SessionTarget, "sessionKey">) {
  const session = await deps.store.sessions.get(sessionKey);
  if (session) return session;
  throw new GatewayError("not_found", "no such session", { say: "There is no such session." });
}

/** The model the session will have, as far as it is known here; other agents have their own. */
function inForce(deps: HttpDeps, { agentId }: SessionTarget, chosen: string | null | undefined): string | null {
  return chosen ?? (agentId === DEFAULT_AGENT ? deps.status().model.name : null);
}

/** Undefined: not asked for. Null: back to the agent's own. */
async function modelOf(
  deps: HttpDeps,
  place: SessionTarget,
  words: string | null | undefined,
  { signal }: Call,
): Promise<string | null | undefined> {
  if (words === undefined || words === null) return words;
  if (words === CLEAR) return null;
  const found = await deps.models.find(callerOf(place), words, signal);
  if (found.kind === "found") return found.model.name;
  throw refused(notFoundText(words, found));
}

async function levelOf(
  deps: HttpDeps,
  place: SessionTarget,
  { words, model }: { readonly words: string | null | undefined; readonly model: string | null },
  { signal }: Call,
): Promise<ThinkingLevel | null | undefined> {
  if (words === undefined || words === null) return words;
  if (words === CLEAR) return null;
  const found = await deps.models.findLevel(callerOf(place), { words, model }, signal);
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
