/** What running turns want to know from people, and answering it. Not for agents: nobody answers what they ask themselves. */
import { checkedObject } from "../checked.ts";
import { identityOf, json, OPERATOR_GET, OPERATOR_POST, param, type Route, SMALL_JSON } from "../route.ts";
import { CHAT, CHAT_OR_READ } from "../access/key-reach.ts";
import { ANSWER, answerQuestion, openQuestions } from "../tools/questions.ts";
import type { HttpDeps } from "../types.ts";

export function questionRoutes(deps: Pick<HttpDeps, "tools">): readonly Route[] {
  const Body = checkedObject({ answer: ANSWER });
  return [
    {
      ...OPERATOR_GET,
      path: "/api/questions",
      scope: CHAT_OR_READ,
      handle: (call) => json({ items: openQuestions(deps, identityOf(call)) }),
    },
    {
      ...OPERATOR_POST,
      path: "/api/questions/:id",
      scope: CHAT,
      body: SMALL_JSON,
      async handle(call) {
        const { answer } = await Body.parse(call.json);
        return json(answerQuestion(deps, { id: param(call, "id"), answer }, identityOf(call)));
      },
    },
  ];
}
