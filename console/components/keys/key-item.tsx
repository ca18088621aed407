/** One key: its name, what it may do, when it was used last and when it ends. Revoking asks first. */
import type { ApiKey } from "../../../src/contracts/api-keys.ts";
import { ago } from "../../net/error-text.ts";
import { endKey } from "../../state/keys-state.ts";
import { until } from "../../text/schedule.ts";
import { minute } from "../../state/screen.ts";
import { Icon } from "../icons.tsx";
import { AskFirst } from "../parts/ask-first.tsx";

interface Props {
  readonly apiKey: ApiKey;
  /** The focus has to go somewhere. */
  readonly onRevoked: () => void;
}

const ALL = "*";

export function KeyItem({ apiKey, onRevoked }: Props) {
  const { name, scopes, expiresAt } = apiKey;
  const now = minute.value;
  const expired = expiresAt !== null && expiresAt <= now;
  return (
    <div class="tool key" data-testid="key" data-status={expired ? "paused" : "planned"}>
      <div class="key-line">
        <span class="tool-status">
          <Icon name={expired ? "blocked" : "key"} size={16} />
        </span>
        <span class="job-words">
          <span class="job-first">
            <strong class="key-name">{name}</strong>
            {expired && <span class="job-state">expired</span>}
          </span>
          <span class="job-second">
            {scopes.join(", ")} · {agentsOf(apiKey)}
            {toolsOf(apiKey)}
            {limitsOf(apiKey)}
          </span>
          <span class="job-second">
            {usedText(apiKey, now)}
            {expiresAt !== null && !expired && ` · expires ${until(expiresAt, now)}`}
          </span>
        </span>
        <AskFirst
          verb="Revoke"
          to={`the key of ${name}`}
          question="Revoke it? What the program is doing ends at once, and this cannot be undone."
          act={() => endKey(apiKey)}
          onDone={onRevoked}
        />
      </div>
    </div>
  );
}

function usedText({ lastUsedAt }: ApiKey, now: number): string {
  if (lastUsedAt === null) return "never used";
  const since = ago(lastUsedAt, now);
  return since === "now" ? "used just now" : /\d$/.test(since) ? `used on ${since}` : `used ${since} ago`;
}

function agentsOf({ agents }: ApiKey): string {
  if (agents.includes(ALL)) return "all agents";
  return `${agents.length === 1 ? "agent" : "agents"} ${agents.join(", ")}`;
}

function toolsOf({ tools }: ApiKey): string {
  if (tools.includes(ALL)) return "";
  return tools.length === 0 ? " · no tools" : ` · tools ${tools.join(", ")}`;
}

function limitsOf({ dailyUsd, dailyTokens, requestsPerMinute }: ApiKey): string {
  const limits = [
    dailyUsd === null ? "" : `$${dailyUsd.toFixed(2)} a day`,
    dailyTokens === null ? "" : `${dailyTokens.toLocaleString()} tokens a day`,
    requestsPerMinute === null ? "" : `${requestsPerMinute} requests a minute`,
  ].filter((limit) => limit !== "");
  return limits.map((limit) => ` · ${limit}`).join("");
}
