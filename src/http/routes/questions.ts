/** What running turns want to know from people, and answering it. Not for agents: nobody answers what they ask themselves. */
import { checkedObject } from "../checked.ts";
import { json, OPERATOR_GET, OPERATOR_POST, param, principalOf, type Route, SMALL_JSON } from "../route.ts";
import { ANSWER, answerQuestion } from "../tools/questions.ts";
import type { HttpDeps } from "../types.ts";

export function questionRoutes(deps: Pick<HttpDeps, "tools">): readonly Route[] {
  const Body = checkedObject({ answer: ANSWER });
  return [
    { ...OPERATOR_GET, path: "/api/questions", handle: () => json({ items: deps.tools.questions.pending() }) },
    {
      ...OPERATOR_POST,
      path: "/api/questions/:id",
      body: SMALL_JSON,
      async handle(call) {
        const { answer } = await Body.parse(call.json);
        return json(answerQuestion(deps, { id: param(call, "id"), answer }, principalOf(call)));
      },
    },
  ];
}
