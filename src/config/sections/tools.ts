/** What the gateway's own tools need to know. */
import { Type } from "typebox";
import { closed, secretText } from "./kinds.ts";

const WebSearch = Type.Object(
  {
    provider: Type.Optional(
      Type.Union(
        (["brave", "serpapi", "tavily", "searxng"] as const).map((name) => Type.Literal(name)),
        { description: "Who searches. Without it there is no tool `web_search`." },
      ),
    ),
    apiKey: secretText("The provider's key. SearXNG needs none."),
    baseUrl: Type.Optional(
      Type.String({
        pattern: "^https?://",
        expects: "an address that begins with http:// or https://",
        maxLength: 2048,
        description:
          "Where the provider answers, when it is not its usual address; required for SearXNG. May be on a private network: you chose it.",
      }),
    ),
  },
  { ...closed, description: "The tool `web_search`." },
);

export const ToolsSection = Type.Object(
  { webSearch: WebSearch },
  { ...closed, description: "The gateway's own tools." },
);
