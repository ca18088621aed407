/** The names this gateway answers to. A browser page of another name cannot reach it, even when DNS points that name here. */
import { networkInterfaces } from "node:os";

export interface Hosts {
  /** `header` is the Host header as it came. */
  allowsHost(header: string | null): boolean;
  /** `header` is an Origin header that is present; `null` (the text browsers send) is refused. */
  allowsOrigin(header: string): boolean;
}

const HOST = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9](?:[a-z0-9._-]{0,253}))(?::(\d{1,5}))?$/;
const USUAL_PORTS = new Set(["80", "443"]);
const ANY_ADDRESS = new Set(["0.0.0.0", "::"]);

export function createHosts(bound: { hostname: string; port: number }, allowed: readonly string[]): Hosts {
  const own = ["127.0.0.1", "localhost", "[::1]"];
  if (!ANY_ADDRESS.has(bound.hostname)) own.push(bracketed(bound.hostname));
  const names = new Set<string>();
  for (const name of [...own.map((host) => `${host}:${bound.port}`), ...allowed]) {
    const normal = normalHost(name);
    if (normal !== null) names.add(normal);
  }

  const known = (name: string): boolean => {
    const normal = normalHost(name);
    if (normal === null) return false;
    if (names.has(normal)) return true;
    // Asked for at the time of need: a machine on a network changes its addresses while it runs. A literal address cannot be rebound by DNS.
    return ANY_ADDRESS.has(bound.hostname) && interfaceHosts(bound.port).includes(normal);
  };

  return {
    allowsHost: (header) => header !== null && known(header),
    allowsOrigin(header) {
      const parts = /^https?:\/\/([^/?#@\s]+)$/i.exec(header);
      return parts !== null && known(parts[1] ?? "");
    },
  };
}

export function isSameHost(name: string, header: string | null): boolean {
  const normal = header === null ? null : normalHost(header);
  return normal !== null && normal === normalHost(name);
}

/** Lower case, no dot at the end, no port when it is a usual one; null when it is not a host at all. */
function normalHost(text: string): string | null {
  const parts = HOST.exec(text.trim().toLowerCase());
  if (parts === null) return null;
  const name = (parts[1] ?? "").replace(/\.$/, "");
  const port = parts[2];
  return port === undefined || USUAL_PORTS.has(port) ? name : `${name}:${Number(port)}`;
}

function interfaceHosts(port: number): (string | null)[] {
  const addresses = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return addresses.map(({ address }) => normalHost(`${bracketed(address.split("%")[0] ?? "")}:${port}`));
}

function bracketed(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}
