import { describe, expect, test } from "bun:test";
import { startHttpWorld } from "../testing/http/http-fixture.ts";
import { tableOf } from "../testing/http/table-of.ts";

const concrete = (path: string) => path.replaceAll(/:\w+/g, "some-name");

describe("the route table", () => {
  test("answers strangers at these paths and at no others", async () => {
    await using world = startHttpWorld();
    const open = tableOf(world).filter((row) => row.auth === "public");
    expect(open.map((row) => `${row.method} ${row.path}`).sort()).toEqual([
      "GET /",
      "GET /app-1a2b.js",
      "GET /diagram.html",
      "GET /favicon.svg",
      "GET /health",
      "GET /ready",
      "POST /api/sign-in",
    ]);
  });

  test("has these rows besides, each with who may call it: a new route is added here too", async () => {
    await using world = startHttpWorld();
    const rows = tableOf(world).filter((row) => row.auth !== "public");
    expect(rows.map((row) => `${row.auth} ${row.method} ${row.path}`).sort()).toEqual([
      "agent GET /api/tools",
      "agent POST /api/tools/call",
      "hook POST /hooks/:name",
      "operator DELETE /api/approval-rules/:id",
      "operator DELETE /api/cron/jobs/:id",
      "operator DELETE /api/keys/:id",
      "operator DELETE /api/notifications/:id",
      "operator DELETE /api/sessions/:key",
      "operator DELETE /api/sign-ins/:id",
      "operator DELETE /api/webhooks/:name/keys/:key",
      "operator DELETE /mcp",
      "operator DELETE /v1/responses/:id",
      "operator GET /api/activity",
      "operator GET /api/agents",
      "operator GET /api/agents/:id",
      "operator GET /api/approval-rules",
      "operator GET /api/approvals",
      "operator GET /api/audit",
      "operator GET /api/audit/verification",
      "operator GET /api/channels",
      "operator GET /api/config",
      "operator GET /api/config/file",
      "operator GET /api/config/settings",
      "operator GET /api/cron/calendar",
      "operator GET /api/cron/jobs",
      "operator GET /api/cron/jobs/:id",
      "operator GET /api/cron/jobs/:id/runs",
      "operator GET /api/cron/preview",
      "operator GET /api/cron/status",
      "operator GET /api/doctor",
      "operator GET /api/heartbeats",
      "operator GET /api/keys",
      "operator GET /api/logs",
      "operator GET /api/mcp",
      "operator GET /api/metrics",
      "operator GET /api/models",
      "operator GET /api/models/providers",
      "operator GET /api/nodes",
      "operator GET /api/notifications",
      "operator GET /api/outbox",
      "operator GET /api/pairing",
      "operator GET /api/people",
      "operator GET /api/plugins",
      "operator GET /api/questions",
      "operator GET /api/search",
      "operator GET /api/sessions",
      "operator GET /api/sessions/:key",
      "operator GET /api/sessions/:key/export",
      "operator GET /api/sessions/:key/transcript",
      "operator GET /api/setup",
      "operator GET /api/sign-ins",
      "operator GET /api/status",
      "operator GET /api/storage",
      "operator GET /api/tool-calls",
      "operator GET /api/turns",
      "operator GET /api/turns/:id",
      "operator GET /api/update",
      "operator GET /api/usage",
      "operator GET /api/webhooks",
      "operator GET /docs",
      "operator GET /docs/:folder/:page",
      "operator GET /docs/:page",
      "operator GET /mcp",
      "operator GET /metrics",
      "operator GET /v1/models",
      "operator GET /v1/models/:id",
      "operator GET /v1/models/:owner/:agent",
      "operator GET /v1/responses",
      "operator GET /v1/responses/:id",
      "operator GET /ws",
      "operator PATCH /api/cron/jobs/:id",
      "operator PATCH /api/messages/:id",
      "operator PATCH /api/sessions/:key",
      "operator POST /api/approvals/:id",
      "operator POST /api/audit/verification",
      "operator POST /api/chat",
      "operator POST /api/config/propose",
      "operator POST /api/config/reload",
      "operator POST /api/config/revert",
      "operator POST /api/config/save",
      "operator POST /api/cron/jobs",
      "operator POST /api/cron/jobs/:id/pause",
      "operator POST /api/cron/jobs/:id/resume",
      "operator POST /api/cron/jobs/:id/run",
      "operator POST /api/cron/wake",
      "operator POST /api/doctor/fix",
      "operator POST /api/heartbeats/:agent/checklist",
      "operator POST /api/keys",
      "operator POST /api/mcp/:name/accept",
      "operator POST /api/mcp/:name/test",
      "operator POST /api/mcp/:name/try",
      "operator POST /api/media",
      "operator POST /api/messages/:id/cancel",
      "operator POST /api/models/test",
      "operator POST /api/nodes/:id/drain",
      "operator POST /api/notifications",
      "operator POST /api/notifications/:id/test",
      "operator POST /api/notifications/decision",
      "operator POST /api/outbox/:id/retry",
      "operator POST /api/pairing",
      "operator POST /api/pairing/:id",
      "operator POST /api/people",
      "operator POST /api/plugins/:id/reload",
      "operator POST /api/questions/:id",
      "operator POST /api/restart",
      "operator POST /api/route",
      "operator POST /api/sessions/:key/abort",
      "operator POST /api/sessions/:key/branch",
      "operator POST /api/sessions/:key/model",
      "operator POST /api/sessions/:key/resend",
      "operator POST /api/sessions/:key/reset",
      "operator POST /api/setup",
      "operator POST /api/setup/test",
      "operator POST /api/sign-in-links",
      "operator POST /api/sign-out",
      "operator POST /api/token/rotate",
      "operator POST /api/update",
      "operator POST /api/update/check",
      "operator POST /api/webhook-targets/:name/test",
      "operator POST /api/webhooks/:name/keys",
      "operator POST /api/webhooks/:name/test",
      "operator POST /mcp",
      "operator POST /v1/chat/completions",
      "operator POST /v1/responses",
      "operator POST /v1/responses/:id/cancel",
      "operator POST /v1/responses/compact",
      "signed GET /media/:id",
    ]);
  });

  test("answers 401 at every other row without a credential, with the same words everywhere", async () => {
    await using world = startHttpWorld();
    for (const row of tableOf(world).filter(({ auth }) => auth !== "public")) {
      const response = await fetch(world.url(concrete(row.path)), { method: row.method });
      expect([row.path, response.status]).toEqual([row.path, 401]);
    }
    expect(world.received).toEqual([]);
  });

  test("does not tell strangers which paths exist, and tells the operator", async () => {
    await using world = startHttpWorld();
    const unknown = [
      "/api/nothing",
      "/api/sessions/a/b/c",
      "/app.js.map",
      "/../etc/passwd",
      "/%2e%2e/",
      "/api/sessions/%zz",
    ];
    for (const path of unknown) {
      expect([path, (await fetch(world.url(path))).status]).toEqual([path, path === "/%2e%2e/" ? 200 : 401]);
    }
    expect((await world.call("/api/nothing")).status).toBe(404);
    expect((await world.call("/api/sessions/%zz")).status).toBe(404);
  });

  test("answers 405 to the operator and 401 to strangers when only the method is wrong", async () => {
    await using world = startHttpWorld();
    for (const row of tableOf(world)) {
      const path = concrete(row.path);
      const method = "PUT"; // no row takes it
      expect([path, (await world.call(path, { method })).status]).toEqual([path, 405]);
      expect([path, (await fetch(world.url(path), { method })).status]).toEqual([path, 401]);
    }
  });

  test("answers HEAD like GET, without a body", async () => {
    await using world = startHttpWorld();
    const response = await fetch(world.url("/health"), { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });
});

describe("public answers", () => {
  test("say no more than they have to", async () => {
    await using world = startHttpWorld();
    const bodies = async () => ({
      health: await (await fetch(world.url("/health"))).json(),
      ready: await (await fetch(world.url("/ready"))).json(),
    });
    expect(await bodies()).toEqual({ health: { ok: true }, ready: { ok: false } });
    world.http.setReady(true);
    expect(await bodies()).toEqual({ health: { ok: true }, ready: { ok: true } });
    expect((await fetch(world.url("/ready"))).status).toBe(200);
    world.writable.now = false;
    expect(await bodies()).toEqual({ health: { ok: true }, ready: { ok: false } });
    expect((await fetch(world.url("/ready"))).status).toBe(503);
  });
});
