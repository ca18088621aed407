/** The tools that an MCP server brings, as it says, with those that are left out. Words of the server, never markup. */
import type { McpServerStatus, McpToolStatus } from "../../../../src/contracts/mcp.ts";

const MAX_DESCRIPTION = 200;
const REVIEWS: Readonly<Record<McpToolStatus["review"], string>> = {
  accepted: "",
  new: "new: the next call asks you",
  changed: "changed: the next call asks you",
  left_out: "left out",
};

export function ServerTools({ server }: { readonly server: McpServerStatus }) {
  const { tools, server: says, notices } = server;
  const taken = tools.filter(({ review }) => review !== "left_out").length;
  const out = tools.length - taken;
  return (
    <>
      <p class="server-said" dir="auto">
        {says === "" ? "The server" : says} brings {taken === 1 ? "1 tool" : `${taken} tools`}
        {out === 0 ? "" : `, and ${out} ${out === 1 ? "is" : "are"} left out`}.
      </p>
      {notices.map((text) => (
        <p class="tool-reason" key={text} dir="auto">
          {text}
        </p>
      ))}
      {tools.length > 0 && (
        <ul class="server-tools" aria-label={`Tools of ${server.name}`} tabindex={0}>
          {tools.map((tool) => (
            <li key={tool.name} data-review={tool.review}>
              <code>{tool.name}</code> <small>{marksOf(tool)}</small>
              <span dir="auto">{shortened(tool.description)}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function marksOf({ readOnly, review }: McpToolStatus): string {
  return [readOnly ? "read-only" : "", REVIEWS[review]].filter((mark) => mark !== "").join(", ");
}

function shortened(text: string): string {
  return text.length > MAX_DESCRIPTION ? `${text.slice(0, MAX_DESCRIPTION)}…` : text;
}
