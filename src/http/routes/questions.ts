/** What running turns want to know from people, and answering it. Not for agents: nobody answers what they ask themselves. */
import { bodyOf, checkedObject } from "../checked.ts";
import { identityOf, OPERATOR_GET, OPERATOR_POST, param, type Route, SMALL_JSON, jsonOf } from "../route.ts";
import { CHAT, CHAT_OR_READ } from "../access/key-reach.ts";
import { ANSWER, answerQuestion, openQuestions } from "../tools/questions.ts";
import type { HttpDeps } from "../types.ts";

export function questionRoutes(deps: Pick<HttpDeps, "tools">): readonly Route[] {
  const Body = bodyOf<"POST /api/questions/:id">()(checkedObject({ answer: ANSWER }));
  return [
    {
      ...OPERATOR_GET,
      path: "/api/questions",
      scope: CHAT_OR_READ,
      handle: (call) => jsonOf<"GET /api/questions">({ items: openQuestions(deps, identityOf(call)) }),
    },
    {
      ...OPERATOR_POST,
      path: "/api/questions/:id",
      scope: CHAT,
      body: SMALL_JSON,
      async handle(call) {
        const { answer } = await Body.parse(call.json);
        return jsonOf<"POST /api/questions/:id">(
          await answerQuestion(deps, { id: param(call, "id"), answer }, identityOf(call)),
        );
      },
    },
  ];
}
