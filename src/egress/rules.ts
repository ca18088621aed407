/** Which hosts an agent may reach: decided from the setting and the name alone, with the reason. Addresses are judged after the name is resolved. Pure. */
import type { NetworkSetting } from "../contracts/egress.ts";
import { isAddress, isGlobalAddress } from "../kit/outside/addresses.ts";

export interface Target {
  readonly host: string;
  readonly port: number;
}

type Permission =
  | { readonly may: true }
  /** `advice`: what the owner can set. */
  | {
      readonly may: false;
      readonly because: string;
      readonly advice: string;
      /** Unless the owner, who may be asked, allows it. */
      readonly ask: boolean;
    };

const USUAL_PORTS: readonly number[] = [80, 443];

/** `setting`: where the rules are written. */
export function mayReach(target: Target, network: NetworkSetting, setting = "agent.network"): Permission {
  if (isPrivate(target.host))
    return {
      may: false,
      because: `${target.host} is on a private network`,
      advice: privateAdvice(setting),
      ask: false,
    };
  const allowed = JSON.stringify({ allow: [ruleFor(target)] });
  if (network === "none")
    return {
      may: false,
      because: `${setting} is none, so ${setting === "agent.network" ? "agents reach" : "it reaches"} no host`,
      advice: `The owner can set ${setting} to ${allowed}.`,
      ask: false,
    };
  if (network === "all") return { may: true };
  const host = target.host.toLowerCase();
  const listed = network.allow.map(parseRule).filter((rule) => covers(rule.host, host));
  const no = (because: string): Permission => ({
    may: false,
    because,
    advice: `The owner can add "${ruleFor(target)}" there.`,
    ask: network.ask ?? false,
  });
  if (listed.length === 0) return no(`${target.host} is not listed in ${setting}.allow`);
  const ports = listed.flatMap(({ port }) => (port === null ? USUAL_PORTS : [port]));
  if (ports.includes(target.port)) return { may: true };
  return no(`port ${target.port} of ${target.host} is not listed in ${setting}.allow (${ports.join(", ")} are)`);
}

function isPrivate(host: string): boolean {
  return isAddress(host) && !isGlobalAddress(host);
}

/** A host on a private network stays closed although it is listed, so that a name cannot lead into it. */
export function privateAdvice(setting = "agent.network"): string {
  const other = setting.startsWith("mcp.servers.")
    ? `set ${setting} to "machine", which opens everything that this machine reaches`
    : "let agents open pages of it with the tool web_fetch, by tools.webFetch.privateOrigins";
  return `Listing it in ${setting} does not help. The owner can ${other}.`;
}

interface Rule {
  readonly host: string;
  /** Null: the ports of http and https. */
  readonly port: number | null;
}

/** `example.org`, `*.example.org`, `example.org:8443`. */
function parseRule(text: string): Rule {
  const [, host = "", port] = /^(.*?)(?::(\d{1,5}))?$/.exec(text.toLowerCase()) ?? [];
  return { host, port: port === undefined ? null : Number(port) };
}

/** A star stands for one name or more before the dot, never for the host itself, and never for an address. */
function covers(rule: string, host: string): boolean {
  if (!rule.startsWith("*.")) return rule === host;
  return !isAddress(host) && host.endsWith(rule.slice(1)) && host.length > rule.length - 1;
}

/** The narrowest entry of `agent.network.allow` that this target needs. */
function ruleFor({ host, port }: Target): string {
  return USUAL_PORTS.includes(port) ? host : `${host}:${port}`;
}
