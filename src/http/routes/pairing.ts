/** Pairing over HTTP: the list, an approval by code alone, and decisions about one entry. No approval without its code. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import { bodyOf, checked, checkedObject } from "../checked.ts";
import { lockedOut } from "../problem.ts";
import { OPERATOR_GET, OPERATOR_POST, param, principalOf, type Route, SMALL_JSON, jsonOf } from "../route.ts";
import { ADMIN } from "../access/key-reach.ts";
import type { Approval } from "../../contracts/channels/pairing.ts";
import type { HttpDeps } from "../types.ts";

const NOT_THERE = "There is no such entry or code, or its hour is over. A new message of theirs brings a new code.";
const WRONG_CODE = "This is not the code this person was given. Ask them to read it to you once more.";
const MAX_CODE_CHARS = 64;

export function pairingRoutes({ people: { pairing } }: Pick<HttpDeps, "people">): readonly Route[] {
  const code = Type.String({ minLength: 1, maxLength: MAX_CODE_CHARS });
  const role = Type.Union([Type.Literal("owner"), Type.Literal("member"), Type.Literal("guest")]);
  const ByCode = bodyOf<"POST /api/pairing">()(checkedObject({ code, role }));
  const Decision = checked(
    Type.Object({ decision: Type.Union([Type.Literal("approve"), Type.Literal("revoke"), Type.Literal("undo")]) }),
  );
  const Approve = checkedObject({ decision: Type.Literal("approve"), code, role });
  return [
    {
      ...OPERATOR_GET,
      path: "/api/pairing",
      scope: ADMIN,
      handle: () => jsonOf<"GET /api/pairing">({ items: pairing.list() }),
    },
    {
      ...OPERATOR_POST,
      path: "/api/pairing",
      scope: ADMIN,
      body: SMALL_JSON,
      handle: async (call) => approved(await pairing.approve(await ByCode.parse(call.json), principalOf(call))),
    },
    {
      ...OPERATOR_POST,
      path: "/api/pairing/:id",
      scope: ADMIN,
      body: SMALL_JSON,
      async handle(call) {
        const { decision } = await Decision.parse(call.json);
        const by = principalOf(call);
        const id = param(call, "id");
        if (decision === "approve") {
          const { code: given, role: chosen } = await Approve.parse(call.json);
          return approved(await pairing.approve({ id, code: given, role: chosen }, by));
        }
        const done = decision === "revoke" ? await pairing.revoke(id, by) : await pairing.undo(id, by);
        if (!done) throw unknown();
        return jsonOf<"POST /api/pairing/:id">(decision === "revoke" ? { revoked: true } : { undone: true });
      },
    },
  ];
}

function approved(approval: Approval): Response {
  if (approval.kind === "approved")
    return jsonOf<"POST /api/pairing">({ person: approval.person, role: approval.role });
  if (approval.kind === "locked") throw lockedOut(approval.retryAfterMs);
  if (approval.kind === "wrong_code") throw new GatewayError("forbidden", "wrong pairing code", { say: WRONG_CODE });
  throw unknown();
}

function unknown(): GatewayError {
  return new GatewayError("not_found", "no such pairing", { say: NOT_THERE });
}
