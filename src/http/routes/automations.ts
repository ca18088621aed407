/** Heartbeats and webhooks for their operator: checklists read and written, webhooks tried, keys of senders made and removed. */
import { Type } from "typebox";
import type { WebhookKeyAnswer } from "../../contracts/automation/webhook.ts";
import { GatewayError } from "../../contracts/errors.ts";
import { ADMIN, READ } from "../access/key-reach.ts";
import { bodyOf, checkedObject } from "../checked.ts";
import { jsonOf, OPERATOR_GET, OPERATOR_POST, param, type Route, SMALL_JSON } from "../route.ts";
import type { HttpDeps } from "../types.ts";
import { MAX_HOOK_BYTES } from "./incoming-webhooks.ts";

const MAX_CHECKLIST_CHARS = 16_000;

export function automationRoutes({ automation }: Pick<HttpDeps, "automation">): readonly Route[] {
  return [...heartbeatRoutes(automation), ...webhookAdminRoutes(automation)];
}

function heartbeatRoutes({ heartbeats }: HttpDeps["automation"]): readonly Route[] {
  const text = Type.String({ maxLength: MAX_CHECKLIST_CHARS });
  const Checklist = bodyOf<"POST /api/heartbeats/:agent/checklist">()(
    checkedObject({ text, before: Type.Union([Type.String(), Type.Null()]) }),
  );
  return [
    {
      ...OPERATOR_GET,
      path: "/api/heartbeats",
      scope: READ,
      handle: async () => jsonOf<"GET /api/heartbeats">({ items: await heartbeats.list() }),
    },
    {
      ...OPERATOR_POST,
      path: "/api/heartbeats/:agent/checklist",
      scope: ADMIN,
      body: SMALL_JSON,
      async handle(call) {
        const { text: wanted, before } = await Checklist.parse(call.json);
        const answer = await heartbeats.write(param(call, "agent"), wanted, before);
        if (answer.kind === "written") return jsonOf<"POST /api/heartbeats/:agent/checklist">({ written: true });
        const say =
          answer.kind === "refused"
            ? answer.say
            : "The checklist has changed since it was shown here. Look at it again, then change it.";
        throw new GatewayError(answer.kind === "refused" ? "not_found" : "conflict", "checklist not written", { say });
      },
    },
  ];
}

function webhookAdminRoutes({ webhookAdmin }: HttpDeps["automation"]): readonly Route[] {
  const Test = bodyOf<"POST /api/webhooks/:name/test">()(
    checkedObject({ body: Type.String({ maxLength: MAX_HOOK_BYTES }) }),
  );
  return [
    {
      ...OPERATOR_GET,
      path: "/api/webhooks",
      scope: READ,
      handle: () => jsonOf<"GET /api/webhooks">(webhookAdmin.list()),
    },
    {
      ...OPERATOR_POST,
      path: "/api/webhooks/:name/test",
      scope: ADMIN,
      body: SMALL_JSON,
      async handle(call) {
        const { body } = await Test.parse(call.json);
        const answer = await webhookAdmin.test(param(call, "name"), body, call.signal);
        if (!answer) throw unknown("webhook", param(call, "name"));
        if (answer.kind === "refused") throw refused(answer.say);
        return jsonOf<"POST /api/webhooks/:name/test">({ id: answer.id, text: answer.text });
      },
    },
    {
      ...OPERATOR_POST,
      path: "/api/webhook-targets/:name/test",
      scope: ADMIN,
      async handle(call) {
        const answer = await webhookAdmin.testTarget(param(call, "name"), call.signal);
        if (!answer) throw unknown("webhook target", param(call, "name"));
        return jsonOf<"POST /api/webhook-targets/:name/test">(answer);
      },
    },
    {
      ...OPERATOR_POST,
      path: "/api/webhooks/:name/keys",
      scope: ADMIN,
      async handle(call) {
        const answer = keyAnswer(await webhookAdmin.addKey(param(call, "name")), param(call, "name"));
        if (answer.kind !== "added") throw refused("No key was made.");
        return jsonOf<"POST /api/webhooks/:name/keys">({ key: answer.key, secret: answer.secret }, 201);
      },
    },
    {
      ...OPERATOR_POST,
      method: "DELETE",
      path: "/api/webhooks/:name/keys/:key",
      scope: ADMIN,
      async handle(call) {
        keyAnswer(await webhookAdmin.removeKey(param(call, "name"), param(call, "key")), param(call, "name"));
        return jsonOf<"DELETE /api/webhooks/:name/keys/:key">({ removed: true });
      },
    },
  ];
}

/** Throws what is refused. */
function keyAnswer(answer: WebhookKeyAnswer, name: string): WebhookKeyAnswer {
  if (answer.kind === "unknown") throw unknown("webhook, or no such key of one,", name);
  if (answer.kind === "refused") throw refused(answer.say);
  return answer;
}

function unknown(what: string, name: string): GatewayError {
  return new GatewayError("not_found", `no such ${what}`, { say: `There is no ${what} called ${name}.` });
}

function refused(say: string): GatewayError {
  return new GatewayError("conflict", "not done", { say });
}
