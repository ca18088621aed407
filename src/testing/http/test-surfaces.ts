/** What a person sees and says over HTTP in tests: the files of a small console, and messages as the web console and the API make them. */
import type { Notifications } from "../../contracts/notifications.ts";
import type { ConfigEditor } from "../../contracts/config-api.ts";
import type { InboundMessage } from "../../contracts/chat.ts";
import type { HttpDeps, InboundInput } from "../../http/index.ts";

export function inboundOf(channel: string, input: InboundInput): InboundMessage {
  const { eventId, fingerprint, text, attachments, receivedAt } = input;
  return {
    eventId,
    fingerprint,
    text,
    quoted: [],
    attachments,
    receivedAt,
    address: { channel, account: "default", chat: input.chat },
    scope: "dm",
    sender: { principal: input.principal, name: "Owner" },
    mentioned: true,
    agentId: input.agentId,
    ...(input.steer ? { steer: true } : {}),
  };
}

const PROPOSAL = { text: "{}", problems: [], warnings: [], changes: [], weakensAuth: false };

/** A configuration file that takes every change and keeps none. */
export const noConfigFile: ConfigEditor = {
  file: async () => ({ path: "/home/pi-gateway.jsonc", text: "{}", version: "none" }),
  propose: async () => PROPOSAL,
  save: async () => ({ ...PROPOSAL, written: true, backup: null, notInForce: [] }),
};

/** Browsers that nothing is sent to. */
export const noNotifications: Notifications = {
  isEnabled: () => true,
  publicKey: "a-public-key",
  list: async () => [],
  subscribe: async (asked, by) => ({ ...asked, ...by, id: "push_1", createdAt: 1, sentAt: null, problem: null }),
  remove: async (id) => id === "push_1",
  test: async () => ({ kind: "sent" }),
  decide: async () => "unknown",
};

export function testConsole(): HttpDeps["console"] {
  const script = new TextEncoder().encode("console.log(1)");
  const html = new TextEncoder().encode("<!doctype html><title>pi-gateway</title>");
  return {
    build: "build-1",
    docs: new Map([["/docs", { body: html, type: "text/html; charset=utf-8", immutable: false }]]),
    files: new Map([
      ["/", { body: html, type: "text/html; charset=utf-8", immutable: false }],
      [
        "/diagram.html",
        {
          body: null,
          gzip: Bun.gzipSync("<p>"),
          type: "text/html",
          immutable: false,
          policy: "default-src 'none'; sandbox",
        },
      ],
      ["/app-1a2b.js", { body: script, gzip: Bun.gzipSync(script), type: "text/javascript", immutable: true }],
      ["/favicon.svg", { body: new Blob(["<svg/>"]), type: "image/svg+xml", immutable: false }],
    ]),
  };
}
