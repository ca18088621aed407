/** Replies that did not simply arrive, for the owner: the list of them, and sending one again. Nothing is sent again unless somebody asks for it. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import type { ReplyRetries } from "../../contracts/delivery.ts";
import { checkedObject } from "../checked.ts";
import { PAGE_FIELDS, pageOf, queryValues } from "../paging.ts";
import { OPERATOR_GET, OPERATOR_POST, param, principalOf, type Route, jsonOf } from "../route.ts";
import { ADMIN, READ } from "../access/key-reach.ts";
import type { HttpDeps } from "../types.ts";

export function outboxRoutes({ store, operations }: Pick<HttpDeps, "store" | "operations">): readonly Route[] {
  const Query = checkedObject({ ...PAGE_FIELDS, state: Type.Union([Type.Literal("dead"), Type.Literal("ambiguous")]) });
  const Retry = checkedObject({ mayRepeat: Type.Optional(Type.Literal("true")) });
  return [
    {
      ...OPERATOR_GET,
      path: "/api/outbox",
      scope: READ,
      async handle({ query }) {
        const { state, ...page } = await Query.parse({ state: "dead", ...queryValues(query) });
        return jsonOf<"GET /api/outbox">(await store.outbox.list(state, pageOf(page)));
      },
    },
    {
      ...OPERATOR_POST,
      path: "/api/outbox/:id/retry",
      scope: ADMIN,
      async handle(call) {
        const { mayRepeat } = await Retry.parse(queryValues(call.query));
        const request = { by: principalOf(call), mayRepeat: mayRepeat === "true" };
        const result = await operations.replyRetries.retry(param(call, "id"), request);
        if (result.kind !== "retried") throw refusal(result);
        return jsonOf<"POST /api/outbox/:id/retry">({ retried: true, from: result.from });
      },
    },
  ];
}

type Refused = Exclude<Awaited<ReturnType<ReplyRetries["retry"]>>, { kind: "retried" }>;

function refusal(refused: Refused): GatewayError {
  switch (refused.kind) {
    case "unknown":
      return new GatewayError("not_found", "no such reply", {
        say: "There is no such reply. It may have been deleted with its conversation.",
      });
    case "in_doubt":
      return new GatewayError("reply_in_doubt", "the reply may have arrived");
    case "not_lost":
      return new GatewayError("reply_not_lost", `the reply is ${refused.state}`, { say: NOT_LOST[refused.state] });
    case "deleted":
      return undeliverable("This reply was deleted since, so it cannot be sent again.");
    case "no_channel":
      return undeliverable(`There is no channel ${refused.channel} any more, so this reply cannot be sent again.`);
    case "no_access":
      return undeliverable("The person in this chat has no access any more, so this reply cannot be sent again.");
  }
}

const WAITS = "This reply waits for its delivery already. Nothing was done twice.";
const NOT_LOST = {
  pending: WAITS,
  sending: WAITS,
  sent: "This reply has arrived. Only one that was given up, or that may not have arrived, can be sent again.",
};

function undeliverable(say: string): GatewayError {
  return new GatewayError("reply_undeliverable", "the chat cannot get the reply", { say });
}
