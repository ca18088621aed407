/** The first lines that a program sends to a proxy: `CONNECT host:port`, or a whole http address. Strict, because what follows is passed on unread. Pure. */
import type { Target } from "./rules.ts";

export interface ProxyRequest extends Target {
  /** What the host gets before everything else; empty for a tunnel. */
  readonly first: string;
}

/** Null: this is no request to a proxy. */
export function parseProxyRequest(head: string): ProxyRequest | null {
  const [start = "", ...headers] = head.split("\r\n");
  const [, method = "", target = "", version = ""] = /^([A-Z]{1,16}) (\S{1,2048}) HTTP\/1\.([01])$/.exec(start) ?? [];
  if (method === "CONNECT") return tunnelTo(target);
  const url = target.startsWith("http://") ? URL.parse(target) : null;
  if (!url || url.username !== "" || url.password !== "") return null;
  const kept = headers.filter((line) => !/^(proxy-[a-z-]+|connection|keep-alive|host)\s*:/i.test(line));
  // one request on each connection: a second one could be for another host
  const lines = [`${method} ${url.pathname}${url.search} HTTP/1.${version}`, `Host: ${url.host}`, "Connection: close"];
  return {
    host: bare(url.hostname),
    port: url.port === "" ? 80 : Number(url.port),
    first: `${[...lines, ...kept.filter((line) => line !== "")].join("\r\n")}\r\n\r\n`,
  };
}

function tunnelTo(target: string): ProxyRequest | null {
  const [, host = "", port = ""] = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]{1,253}):(\d{1,5})$/.exec(target) ?? [];
  const number = Number(port);
  return host === "" || number < 1 || number > 65_535 ? null : { host: bare(host), port: number, first: "" };
}

function bare(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}
