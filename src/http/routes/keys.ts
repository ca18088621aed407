/** Keys of programs over HTTP: make one, list them, revoke one. The secret is in the answer to its making, and nowhere else. */
import { Type } from "typebox";
import { EVERYTHING, KEY_SCOPES, type KeyScope, type NewApiKey } from "../../contracts/api-keys.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { WireKeyInput } from "../../contracts/wire.ts";
import type { Clock } from "../../kit/clock.ts";
import { parseDuration } from "../../kit/duration.ts";
import { ADMIN } from "../access/key-reach.ts";
import { bodyOf, checked } from "../checked.ts";
import {
  identityOf,
  OPERATOR_GET,
  OPERATOR_POST,
  param,
  principalOf,
  type Route,
  SMALL_JSON,
  jsonOf,
} from "../route.ts";
import type { HttpDeps } from "../types.ts";

const MAX_NAME_CHARS = 80;
const MAX_LIST = 100;
const MAX_USD = 1_000_000;
const MAX_TOKENS = 1_000_000_000_000;
const MAX_REQUESTS_PER_MINUTE = 1_000_000;
const MAX_EXPIRES_MS = 10 * 366 * 86_400_000;
/** One agent or tool, `*`, or `notes_*`. */
const NAME_OR_PATTERN = "^[A-Za-z0-9_.:-]{0,128}\\*?$";

const FIELDS = {
  name: Type.String({ minLength: 1, maxLength: MAX_NAME_CHARS }),
  scopes: Type.Array(Type.Unsafe<KeyScope>({ enum: KEY_SCOPES }), { minItems: 1, maxItems: KEY_SCOPES.length }),
  agents: Type.Optional(Type.Array(Type.String({ pattern: "^([a-z0-9-]{1,64}|\\*)$" }), { maxItems: MAX_LIST })),
  tools: Type.Optional(Type.Array(Type.String({ minLength: 1, pattern: NAME_OR_PATTERN }), { maxItems: MAX_LIST })),
  dailyUsd: Type.Optional(Type.Number({ minimum: 0, maximum: MAX_USD })),
  dailyTokens: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_TOKENS })),
  requestsPerMinute: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_REQUESTS_PER_MINUTE })),
  expiresIn: Type.Optional(Type.String({ maxLength: 20 })),
};

export function keyRoutes({ clock, people: { keys } }: Pick<HttpDeps, "clock" | "people">): readonly Route[] {
  const Body = bodyOf<"POST /api/keys">()(
    checked(Type.Unsafe<WireKeyInput>(Type.Object(FIELDS, { additionalProperties: false }))),
  );
  return [
    { ...OPERATOR_GET, path: "/api/keys", scope: ADMIN, handle: () => jsonOf<"GET /api/keys">({ items: keys.list() }) },
    {
      ...OPERATOR_POST,
      path: "/api/keys",
      scope: ADMIN,
      body: SMALL_JSON,
      async handle(call) {
        const asked = newKey(clock, await Body.parse(call.json));
        const made = await keys.make(asked, identityOf(call));
        if (made.kind === "made") return jsonOf<"POST /api/keys">({ key: made.key, secret: made.secret }, 201);
        throw new GatewayError("invalid_params", made.say, { say: made.say });
      },
    },
    {
      ...OPERATOR_POST,
      method: "DELETE",
      path: "/api/keys/:id",
      scope: ADMIN,
      async handle(call) {
        if (await keys.revoke(param(call, "id"), principalOf(call)))
          return jsonOf<"DELETE /api/keys/:id">({ revoked: true });
        throw new GatewayError("not_found", "no such key", { say: "There is no such key. It may have been revoked." });
      },
    },
  ];
}

function newKey(clock: Clock, { expiresIn, ...asked }: WireKeyInput): NewApiKey {
  return {
    name: asked.name,
    scopes: KEY_SCOPES.filter((scope) => asked.scopes.includes(scope)),
    agents: asked.agents ?? [EVERYTHING],
    tools: asked.tools ?? [EVERYTHING],
    dailyUsd: asked.dailyUsd ?? null,
    dailyTokens: asked.dailyTokens ?? null,
    requestsPerMinute: asked.requestsPerMinute ?? null,
    expiresAt: expiresIn === undefined ? null : clock.now() + expiryMs(expiresIn),
  };
}

function expiryMs(text: string): number {
  const ms = parseDuration(text);
  if (ms !== null && ms > 0 && ms <= MAX_EXPIRES_MS) return ms;
  const say = "`expiresIn` is how long the key is valid, such as 12h or 90d; at most ten years.";
  throw new GatewayError("invalid_params", say, { say });
}
