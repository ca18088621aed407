/** Pairing over HTTP: the list, an approval by code alone, and decisions about one entry. No approval without its code. */
import { OPERATOR } from "../../contracts/ids.ts";
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import { checked } from "../checked.ts";
import { lockedOut } from "../problem.ts";
import { json, NO_BODY, type Route, SMALL_JSON } from "../route.ts";
import type { Approval } from "../../contracts/channels/pairing.ts";
import type { HttpDeps } from "../types.ts";

const NOT_THERE = "There is no such entry or code, or its hour is over. A new message of theirs brings a new code.";
const WRONG_CODE = "This is not the code this person was given. Ask them to read it to you once more.";
const MAX_CODE_CHARS = 64;

export function pairingRoutes({ pairing }: Pick<HttpDeps, "pairing">): readonly Route[] {
  const code = Type.String({ minLength: 1, maxLength: MAX_CODE_CHARS });
  const role = Type.Union([Type.Literal("owner"), Type.Literal("member"), Type.Literal("guest")]);
  const ByCode = checked(Type.Object({ code, role }, { additionalProperties: false }));
  const Decision = checked(
    Type.Object({ decision: Type.Union([Type.Literal("approve"), Type.Literal("revoke"), Type.Literal("undo")]) }),
  );
  const Approve = checked(
    Type.Object({ decision: Type.Literal("approve"), code, role }, { additionalProperties: false }),
  );
  return [
    {
      method: "GET",
      path: "/api/pairing",
      auth: "operator",
      body: NO_BODY,
      handle: () => json({ items: pairing.list() }),
    },
    {
      method: "POST",
      path: "/api/pairing",
      auth: "operator",
      body: SMALL_JSON,
      async handle({ identity, json: body }) {
        return approved(await pairing.approve(await ByCode.parse(body), identity?.principal ?? OPERATOR));
      },
    },
    {
      method: "POST",
      path: "/api/pairing/:id",
      auth: "operator",
      body: SMALL_JSON,
      async handle({ params, identity, json: body }) {
        const { decision } = await Decision.parse(body);
        const by = identity?.principal ?? OPERATOR;
        const id = params["id"] ?? "";
        if (decision === "approve") {
          const { code: given, role: chosen } = await Approve.parse(body);
          return approved(await pairing.approve({ id, code: given, role: chosen }, by));
        }
        const done = decision === "revoke" ? await pairing.revoke(id, by) : await pairing.undo(id, by);
        if (!done) throw unknown();
        return json(decision === "revoke" ? { revoked: true } : { undone: true });
      },
    },
  ];
}

function approved(approval: Approval): Response {
  if (approval.kind === "approved") return json({ person: approval.person, role: approval.role });
  if (approval.kind === "locked") throw lockedOut(approval.retryAfterMs);
  if (approval.kind === "wrong_code") throw new GatewayError("forbidden", "wrong pairing code", { say: WRONG_CODE });
  throw unknown();
}

function unknown(): GatewayError {
  return new GatewayError("not_found", "no such pairing", { say: NOT_THERE });
}
