/** Every tool the gateway has: who brought it, what it may do, and why it is not offered when it is not. */
import { useState } from "preact/hooks";
import type { ListedTool, PiToolListing, ToolAccess, ToolFlags } from "../../../src/contracts/tools/tool.ts";
import { duration } from "../../net/error-text.ts";
import { readTools, tools } from "../../state/tools-state.ts";
import { pretty } from "../../text/pretty.ts";
import { Icon } from "../icons.tsx";
import { FactList } from "../parts/fact-list.tsx";
import { Verbatim } from "../parts/verbatim.tsx";
import { PagedList } from "../parts/paged-list.tsx";
import { useReading } from "../parts/use-reading.ts";

const FLAG_WORDS: Readonly<Record<keyof ToolFlags, string>> = {
  idempotent: "safe to retry",
  ownerOnly: "owners only",
  optional: "only where named",
  sequential: "one at a time",
  background: "in the background",
  workspaceOnly: "workspace files",
  inConversation: "in conversations",
  pty: "terminal",
  elevated: "may do anything",
  long: "may take long",
};

export function ToolList() {
  useReading(readTools);
  const { phase, items, ofPi } = tools.value;
  return (
    <PagedList<Shown>
      name="Tools"
      list={{ phase, items: [...items, ...ofPi], next: null }}
      failed="The tools could not be read. Is the gateway connected?"
      empty="There are no tools."
      keyOf={(tool) => `${originOf(tool)} ${tool.name}`}
    >
      {(tool) => <OneTool tool={tool} />}
    </PagedList>
  );
}

type Shown = ListedTool | PiToolListing;

/** A tool of pi has nothing to be judged by the gateway: whether it is offered depends on who asks alone. */
function originOf(tool: Shown): string {
  return "plugin" in tool ? tool.plugin : "pi";
}

function OneTool({ tool }: { readonly tool: Shown }) {
  const [open, setOpen] = useState(false);
  const ok = "status" in tool ? tool.status === "ok" : tool.usableBy.length > 0;
  return (
    <div class="tool" data-testid="tool" data-status={ok ? "success" : "blocked"}>
      <button type="button" class="tool-line" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span class="tool-status">
          <Icon name={ok ? "check" : "blocked"} size={16} />
        </span>
        <code class="tool-name">{tool.name}</code>
        <span class="tool-word">{wordOf(tool)}</span>
        <span class="tool-flags">{flagsOf(tool)}</span>
        <Icon name="chevron" size={16} />
      </button>
      {open && <About tool={tool} />}
    </div>
  );
}

function wordOf(tool: Shown): string {
  if ("status" in tool && tool.status === "quarantined") return "quarantined";
  if (tool.usableBy.length === 0) return `${originOf(tool)}, for nobody`;
  return isSearchedFor(tool) ? `${originOf(tool)}, behind tool_search` : originOf(tool);
}

/** Some agent is not told of it before it was searched for. */
function isSearchedFor(tool: Shown): boolean {
  return "behindSearch" in tool && tool.behindSearch.length > 0;
}

/** "owner, member; agent papers: owner" */
function accessText(access: readonly ToolAccess[]): string {
  return access
    .map(({ agent, roles }) => `${agent === "default" ? "" : `agent ${agent}: `}${roles.join(", ")}`)
    .join("; ");
}

function usersOf({ usableBy, asks }: Shown): string {
  return `${accessText(usableBy) || "nobody"}${asks === null ? "" : `, after approval: ${asks}`}`;
}

function flagsOf({ flags }: Shown): string {
  const set = (Object.keys(FLAG_WORDS) as (keyof ToolFlags)[]).filter((flag) => flags[flag]);
  return set.map((flag) => FLAG_WORDS[flag]).join(", ");
}

function About({ tool }: { readonly tool: Shown }) {
  return (
    <div class="tool-body">
      {"reason" in tool && tool.reason !== undefined && <p class="tool-reason">Not offered: {tool.reason}</p>}
      {"notices" in tool &&
        tool.notices?.map((notice) => (
          <p class="tool-reason" key={notice}>
            {notice}
          </p>
        ))}
      <p class="tool-about">{tool.description}</p>
      <FactList
        facts={[
          ["From", originOf(tool)],
          ["For", usersOf(tool)],
          [
            "Behind tool_search",
            "behindSearch" in tool && isSearchedFor(tool) ? `for ${accessText(tool.behindSearch)}` : null,
          ],
          ["Flags", flagsOf(tool) || "none"],
          ["Limit", "limit" in tool ? limitText(tool) : null],
        ]}
      />
      {"parameters" in tool && (
        <section>
          <h3 class="label">Parameters</h3>
          <Verbatim name="Parameters">{pretty(tool.parameters)}</Verbatim>
        </section>
      )}
    </div>
  );
}

function limitText({ limit }: Pick<ListedTool, "limit">): string {
  return limit ? `${limit.calls} calls in ${duration(limit.perMs)}` : "the gateway's own";
}
