/** Every route of the gateway has a command that asks it, or a reason why none does. A route that is added without either turns this red. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as commander from "commander";
import { join } from "node:path";
import { cliFixture, fakeGateway, input } from "../testing/cli-fixture.ts";
import { startHttpWorld } from "../testing/http/http-fixture.ts";
import { tableOf } from "../testing/http/table-of.ts";
import { allNodes, commandTree } from "./completion/command-tree.ts";
import { buildProgram } from "./program.ts";
import type { CliWorld } from "./world.ts";

/** What is typed after `pi-gw`. FILE is a file that is there. */
const COMMANDS: Readonly<Record<string, string>> = {
  "POST /api/sign-in-links": "sign-in-link",
  "GET /api/sign-ins": "sign-ins",
  "DELETE /api/sign-ins/:id": "sign-ins end one",
  "GET /api/status": "status",
  "GET /api/metrics": "metrics --json",
  "GET /metrics": "metrics",
  "GET /api/nodes": "nodes",
  "POST /api/nodes/:id/drain": "nodes drain one",
  "GET /api/storage": "storage",
  "GET /api/config": "config get",
  "POST /api/config/reload": "config set logging.level debug",
  "POST /api/token/rotate": "token rotate",
  "POST /api/restart": "restart",
  "POST /api/chat": "chat hello",
  "POST /api/messages/:id/cancel": "messages cancel one",
  "PATCH /api/messages/:id": "messages edit one other words",
  "GET /api/sessions": "sessions list",
  "GET /api/sessions/:key": "sessions show main",
  "GET /api/sessions/:key/transcript": "sessions show main",
  "POST /api/sessions/:key/abort": "sessions abort main",
  "POST /api/sessions/:key/reset": "sessions reset main",
  "POST /api/sessions/:key/model": "sessions set main --thinking high",
  "PATCH /api/sessions/:key": "sessions rename main another name",
  "GET /api/search": "sessions search words",
  "GET /api/sessions/:key/export": "sessions export main",
  "POST /api/sessions/:key/branch": "sessions branch main",
  "POST /api/sessions/:key/resend": "sessions resend main one",
  "DELETE /api/sessions/:key": "sessions delete main --yes",
  "GET /api/turns": "turns",
  "GET /api/turns/:id": "turns show one",
  "GET /api/activity": "activity",
  "GET /api/agents": "agents",
  "GET /api/agents/:id": "agents show default",
  "GET /api/channels": "channels",
  "GET /api/doctor": "doctor",
  "POST /api/config/revert": "config revert",
  "GET /api/setup": "init --check",
  "GET /api/update": "update --status",
  "GET /api/tools": "tools list",
  "POST /api/tools/call": "tools call notes_search {}",
  "GET /api/tool-calls": "tool-calls",
  "GET /api/audit": "audit list",
  "POST /api/media": "chat --file FILE hello",
  "GET /api/outbox": "outbox",
  "POST /api/outbox/:id/retry": "outbox retry one",
  "GET /api/approvals": "approvals list",
  "POST /api/approvals/:id": "approvals decide one once",
  "GET /api/approval-rules": "approvals rules",
  "DELETE /api/approval-rules/:id": "approvals forget one",
  "GET /api/notifications": "notifications",
  "POST /api/notifications/:id/test": "notifications test one",
  "DELETE /api/notifications/:id": "notifications remove one",
  "GET /api/questions": "questions list",
  "POST /api/questions/:id": "questions answer one --yes",
  "GET /api/plugins": "plugins list",
  "POST /api/plugins/:id/reload": "plugins reload one",
  "GET /api/mcp": "mcp list",
  "POST /api/mcp/:name/test": "mcp test one",
  "POST /api/mcp/:name/try": "mcp test one --url http://127.0.0.1:1/mcp",
  "POST /api/mcp/:name/accept": "mcp test one --accept",
  "GET /api/cron/jobs": "cron list",
  "POST /api/cron/jobs": "cron add --every 1h words",
  "GET /api/cron/jobs/:id": "cron show one",
  "PATCH /api/cron/jobs/:id": "cron update one other words",
  "DELETE /api/cron/jobs/:id": "cron remove one",
  "POST /api/cron/jobs/:id/pause": "cron pause one",
  "POST /api/cron/jobs/:id/resume": "cron resume one",
  "POST /api/cron/jobs/:id/run": "cron run one",
  "GET /api/cron/jobs/:id/runs": "cron runs one",
  "POST /api/cron/wake": "cron wake words",
  "GET /api/cron/status": "cron status",
  "GET /api/cron/preview": "cron next every day at 9",
  "GET /api/cron/calendar": "cron calendar",
  "GET /api/heartbeats": "heartbeat list",
  "POST /api/heartbeats/:agent/checklist": "heartbeat write default",
  "GET /api/webhooks": "webhooks list",
  "POST /api/webhooks/:name/test": "webhooks test one --body {}",
  "POST /api/webhook-targets/:name/test": "webhooks test-target one",
  "POST /api/webhooks/:name/keys": "webhooks add-key one",
  "DELETE /api/webhooks/:name/keys/:key": "webhooks remove-key one secret",
  "GET /api/pairing": "pairing list",
  "POST /api/pairing": "pairing approve 4K7PQX",
  "POST /api/pairing/:id": "pairing undo one",
  "POST /api/route": "route",
  "GET /api/people": "people list",
  "POST /api/people": "people role telegram:user:1 member",
  "GET /api/models": "models",
  "GET /api/models/providers": "models providers",
  "POST /api/models/test": "models test openai",
  "GET /api/usage": "usage",
  "GET /api/keys": "keys list",
  "POST /api/keys": "keys add one --scope chat",
  "DELETE /api/keys/:id": "keys revoke one",
};

/** The command does the same without the route, because it must work while no gateway runs. */
const BY_ITSELF: Readonly<Record<string, string>> = {
  "GET /api/audit/verification": "audit verify",
  "POST /api/audit/verification": "audit verify",
  "POST /api/doctor/fix": "doctor --fix",
  "GET /api/config/settings": "config schema",
  "GET /api/config/file": "config edit",
  "POST /api/config/propose": "config check",
  "POST /api/config/save": "config edit",
  "GET /api/logs": "logs",
  "POST /api/setup/test": "init",
  "POST /api/setup": "init",
  "POST /api/update": "update",
  "POST /api/update/check": "update --check",
  "POST /mcp": "mcp serve",
};

const BROWSER = "belongs to a browser: its cookie, its push subscription, its files";
const PROBE = "is for supervisors and load balancers, which ask by HTTP";
const PROTOCOL = "is a protocol of other programs, which bring their own client";
const NO_COMMAND: Readonly<Record<string, string>> = {
  "GET /health": PROBE,
  "GET /ready": PROBE,
  "GET /": BROWSER,
  "GET /docs": BROWSER,
  "GET /docs/:page": BROWSER,
  "GET /docs/:folder/:page": BROWSER,
  "POST /api/sign-in": BROWSER,
  "POST /api/sign-out": BROWSER,
  "POST /api/notifications": BROWSER,
  "POST /api/notifications/decision": BROWSER,
  "GET /media/:id": BROWSER,
  "GET /ws": PROTOCOL,
  "POST /hooks/:name": PROTOCOL,
  "GET /mcp": PROTOCOL,
  "DELETE /mcp": PROTOCOL,
  "GET /v1/models": PROTOCOL,
  "GET /v1/models/:id": PROTOCOL,
  "GET /v1/models/:owner/:agent": PROTOCOL,
  "POST /v1/chat/completions": PROTOCOL,
  "POST /v1/responses": PROTOCOL,
  "GET /v1/responses": PROTOCOL,
  "POST /v1/responses/compact": PROTOCOL,
  "GET /v1/responses/:id": PROTOCOL,
  "DELETE /v1/responses/:id": PROTOCOL,
  "POST /v1/responses/:id/cancel": PROTOCOL,
};

const WORLD = { version: "1", stdout: () => undefined, stderr: () => undefined } as unknown as CliWorld; // only its commands are read
const commands = new Set(
  allNodes(commandTree(buildProgram(commander, WORLD, () => undefined))).map(({ path }) => path),
);

let routes: readonly string[] = [];
beforeAll(async () => {
  await using world = await startHttpWorld();
  routes = tableOf(world).map(({ method, path }) => `${method} ${path}`);
});

test("every route has a command, or a reason why it has none", () => {
  const named = [COMMANDS, BY_ITSELF, NO_COMMAND].flatMap((table) => Object.keys(table));
  expect(named.toSorted()).toEqual(routes.filter((route) => !isConsoleFile(route)).toSorted());
  expect(Object.keys(NO_COMMAND).length).toBeLessThanOrEqual(25);
});

/** The files of the web console are routes too. */
function isConsoleFile(route: string): boolean {
  return /^GET \/[\w-]+\.(?:html|js|svg|css|json)$/.test(route);
}

test.each(Object.entries(BY_ITSELF))("%s is done by pi-gw %s itself", (_route, line) => {
  expect(commands.has(line.replace(/ --.*/, ""))).toBe(true);
});

describe("a command asks its route:", () => {
  const open: AsyncDisposable[] = [];
  afterAll(async () => {
    for (const one of open.toReversed()) await one[Symbol.asyncDispose]();
  });

  test.each(Object.entries(COMMANDS))("%s by pi-gw %s", async (route, line) => {
    const fx = await cliFixture({ stdin: input("- mail\n") });
    open.push(fx);
    const [method = "", path = ""] = route.split(" ");
    const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`);
    const asked = Promise.withResolvers<"asked">();
    open.push(
      await fakeGateway(fx.home, (request, url) => {
        if (request.method === method && pattern.test(url.pathname)) asked.resolve("asked");
        return Response.json({ items: [{ agentId: "default" }], tools: [], mediaId: "m1" });
      }),
    );
    await Bun.write(join(fx.home, "file.txt"), "words");
    const argv = line.split(" ").map((word) => (word === "FILE" ? join(fx.home, "file.txt") : word));
    // some go on after the request, such as restart, which waits until the gateway is back
    const ended = fx.run(...argv).then((code) => `ended with ${code}: ${fx.err()}`);
    expect(await Promise.race([asked.promise, ended])).toBe("asked");
  });
});
