/** What running turns want to know from people, and answering it. Not for agents: nobody answers what they ask themselves. */
import { OPERATOR } from "../../contracts/ids.ts";
import { Type } from "typebox";
import { checked } from "../checked.ts";
import { json, NO_BODY, type Route, SMALL_JSON } from "../route.ts";
import { ANSWER, answerQuestion } from "../tools/questions.ts";
import type { HttpDeps } from "../types.ts";

export function questionRoutes(deps: Pick<HttpDeps, "questions">): readonly Route[] {
  const Body = checked(Type.Object({ answer: ANSWER }, { additionalProperties: false }));
  return [
    {
      method: "GET",
      path: "/api/questions",
      auth: "operator",
      body: NO_BODY,
      handle: async () => json({ items: deps.questions.pending() }),
    },
    {
      method: "POST",
      path: "/api/questions/:id",
      auth: "operator",
      body: SMALL_JSON,
      async handle({ params, identity, json: body }) {
        const { answer } = await Body.parse(body);
        return json(answerQuestion(deps, { id: params["id"] ?? "", answer }, identity?.principal ?? OPERATOR));
      },
    },
  ];
}
