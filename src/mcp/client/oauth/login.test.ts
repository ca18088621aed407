/** Signing in to an MCP server: against an authorization server on loopback that misbehaves as real ones do. */
import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import { checkConfigText, type McpServerSettings } from "../../../config/index.ts";
import { systemClock } from "../../../kit/clock.ts";
import { systemIds } from "../../../kit/ids.ts";
import { silentLog } from "../../../kit/log.ts";
import { type TempHome, tempHome } from "../../../testing/temp-home.ts";
import { createOpenConnection, openAddress } from "../open-connection.ts";
import { credentialsPath } from "../state-file.ts";
import { credentialsFile } from "./credentials-file.ts";
import { withLogin } from "./login.ts";

const NEVER = new AbortController().signal;
const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

interface Service {
  readonly url: string;
  /** Requests by path, the newest last. */
  readonly asked: string[];
  /** Paths that were sent the header of the settings. */
  readonly shown: Set<string>;
  /** Paths that were sent a token. */
  readonly authorized: string[];
  /** What the token page was sent. */
  readonly grants: Record<string, string>[];
  /** The access token that the server takes now. */
  valid: string;
  /** What it does wrong. */
  fault: Fault;
}

type Fault =
  | "none"
  /** The browser comes back with an error. */
  | "refuses"
  /** The browser comes back with another state. */
  | "wrong state"
  /** The token page answers with HTML. */
  | "html"
  /** Refresh tokens are used up. */
  | "no refresh"
  /** It takes no clients that register themselves. */
  | "no registration";

function startService(): Service {
  let issued = 0;
  let challenge = "";
  const service: Service = {
    url: "",
    asked: [],
    shown: new Set(),
    authorized: [],
    grants: [],
    valid: "",
    fault: "none",
  };
  const handler = createMcpHandler(
    () => {
      const server = new Server({ name: "shop", version: "1" }, { capabilities: { tools: {} } });
      server.setRequestHandler("tools/list", async () => ({
        tools: [{ name: "look", inputSchema: { type: "object" as const } }],
        ttlMs: 0,
        cacheScope: "private" as const,
      }));
      return server;
    },
    { legacy: "stateless" },
  );
  const tokens = () => {
    service.valid = `access-${++issued}`;
    return Response.json({
      access_token: service.valid,
      token_type: "Bearer",
      expires_in: 3_600,
      refresh_token: `refresh-${issued}`,
    });
  };
  const answer = async (request: Request): Promise<Response> => {
    const { pathname, searchParams, origin } = new URL(request.url);
    service.asked.push(pathname);
    if (request.headers.has("x-shop-key")) service.shown.add(pathname);
    if (request.headers.has("authorization")) service.authorized.push(pathname);
    switch (pathname) {
      case "/mcp": {
        if (service.valid !== "" && request.headers.get("authorization") === `Bearer ${service.valid}`)
          return handler.fetch(request);
        const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
        return new Response("", {
          status: 401,
          headers: { "www-authenticate": `Bearer resource_metadata="${metadata}"` },
        });
      }
      case "/.well-known/oauth-protected-resource/mcp":
        return Response.json({ resource: `${origin}/mcp`, authorization_servers: [`http://127.0.0.1:${login.port}`] });
      case "/.well-known/oauth-authorization-server":
        return Response.json({
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          ...(service.fault === "no registration" ? {} : { registration_endpoint: `${origin}/register` }),
          response_types_supported: ["code"],
          grant_types_supported: ["authorization_code", "refresh_token"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none", "client_secret_post"],
        });
      case "/register":
        return Response.json({ ...((await request.json()) as object), client_id: "registered-1" }, { status: 201 });
      case "/authorize": {
        challenge = searchParams.get("code_challenge") ?? "";
        const back = new URL(searchParams.get("redirect_uri") ?? "");
        back.searchParams.set("state", service.fault === "wrong state" ? "another" : (searchParams.get("state") ?? ""));
        if (service.fault === "refuses") back.searchParams.set("error", "access_denied");
        else back.searchParams.set("code", "the-code");
        return Response.redirect(back.href, 302);
      }
      case "/token": {
        const form = Object.fromEntries(new URLSearchParams(await request.text()));
        service.grants.push(form);
        if (service.fault === "html")
          return new Response("<h1>It works!</h1>", { headers: { "content-type": "text/html" } });
        if (form["grant_type"] === "refresh_token")
          return service.fault === "no refresh" ? Response.json({ error: "invalid_grant" }, { status: 400 }) : tokens();
        const verified = new Bun.CryptoHasher("sha256").update(form["code_verifier"] ?? "").digest("base64url");
        return verified === challenge ? tokens() : Response.json({ error: "invalid_grant" }, { status: 400 });
      }
      default:
        return new Response("not here", { status: 404 });
    }
  };
  // the server and its authorization server are two origins, as they are in the world
  const http = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
  const login = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
  open.push({
    async [Symbol.asyncDispose]() {
      await handler.close();
      await http.stop(true);
      await login.stop(true);
    },
  });
  return Object.assign(service, { url: `http://127.0.0.1:${http.port}/mcp` });
}

function settingsOf(url: string, oauth: object = {}): McpServerSettings {
  const shop = { url, oauth, headers: { "X-Shop-Key": "for-the-shop-alone" } };
  const checked = checkConfigText(JSON.stringify({ mcp: { servers: { shop } } }), () => undefined);
  const settings = checked.config?.mcp.servers["shop"];
  if (!settings) throw new Error(JSON.stringify(checked.problems));
  return settings;
}

/** A browser whose person agrees: it follows where it is sent. */
async function browse(to: URL): Promise<void> {
  const back = (await fetch(to, { redirect: "manual" })).headers.get("location") ?? "";
  await fetch(back);
}

async function world(settings: McpServerSettings) {
  const home: TempHome = await tempHome();
  open.push(home);
  const file = credentialsFile(home.path, "shop");
  const deps = { clock: systemClock, ids: systemIds, log: silentLog, version: "1", resolve: async () => [] };
  const quiet = { legacy: false, listChanged: () => undefined, closed: () => undefined, heard: () => undefined };
  const signIn = (show = browse, signal = NEVER) =>
    withLogin(
      { ...deps, file, show },
      settings,
      async (login) => {
        const connection = await openAddress(deps, { name: "shop", settings, login: () => login }, quiet, NEVER);
        await connection.close();
      },
      signal,
    );
  const programs = { start: () => Promise.reject(new Error("no programs here")) };
  /** As the gateway connects: with nobody there. */
  const connect = async (to = settings) => {
    const connection = await createOpenConnection({ ...deps, programs, credentials: file }, "shop")(to, quiet, NEVER);
    open.push({ [Symbol.asyncDispose]: () => connection.close() });
    return (await connection.list(NEVER)).length;
  };
  return { home, file, signIn, connect };
}

describe("a login", () => {
  test("registers, proves itself by PKCE, and leaves tokens that only their owner can read and the gateway uses", async () => {
    const service = startService();
    const { home, signIn, connect } = await world(settingsOf(service.url));
    await signIn();
    expect(service.grants).toMatchObject([
      { grant_type: "authorization_code", code: "the-code", client_id: "registered-1" },
    ]);
    expect(service.grants[0]?.["resource"]).toBe(service.url);
    expect(statSync(credentialsPath(home.path, "shop")).mode & 0o777).toBe(0o600);
    expect(await connect()).toBe(1);
    expect([...service.shown].toSorted()).toEqual(["/.well-known/oauth-protected-resource/mcp", "/mcp"]);
  });

  test("with a client of the settings registers nothing", async () => {
    const service = startService();
    service.fault = "no registration";
    const { signIn } = await world(settingsOf(service.url, { clientId: "mine", clientSecret: "its-secret" }));
    await signIn();
    expect([
      service.grants[0]?.["client_id"],
      service.grants[0]?.["client_secret"],
      service.asked.includes("/register"),
    ]).toEqual(["mine", "its-secret", false]);
  });

  test("shows the secret of a client of the settings to no other authorization server than the first", async () => {
    const service = startService();
    const settings = settingsOf(service.url, { clientId: "mine", clientSecret: "its-secret" });
    const { file, signIn, connect } = await world(settings);
    await signIn();
    file.change({ issuer: "https://another.example" });
    service.valid = "revoked";
    const before = service.grants.length;
    await connect().catch(() => undefined); // by another client, or not at all
    expect(service.grants.slice(before).map((grant) => grant["client_secret"])).not.toContain("its-secret");
  });

  test.each([
    ["refuses", "the service refused the login"],
    ["html", ""],
    ["no registration", ""],
  ] as const)("at a service that %s fails, and leaves no tokens", async (fault, words) => {
    const service = startService();
    service.fault = fault;
    const { file, signIn } = await world(settingsOf(service.url));
    await expect(signIn()).rejects.toThrow(words);
    expect(file.read().login).toBeNull();
  });

  test("does not end by an answer with another state, which is not its own", async () => {
    const service = startService();
    service.fault = "wrong state";
    const { file, signIn } = await world(settingsOf(service.url));
    const stop = new AbortController();
    let page = 0;
    const signing = signIn(async (to) => {
      const back = (await fetch(to, { redirect: "manual" })).headers.get("location") ?? "";
      page = (await fetch(back)).status;
      stop.abort(new Error("nothing came"));
    }, stop.signal);
    await expect(signing).rejects.toThrow("nothing came");
    expect([page, file.read().login, service.grants]).toEqual([404, null, []]);
  });
});

describe("the gateway, with nobody there", () => {
  test("refreshes a token that is not taken any more, and keeps the new one", async () => {
    const service = startService();
    const { file, signIn, connect } = await world(settingsOf(service.url));
    await signIn();
    service.valid = "revoked";
    expect(await connect()).toBe(1);
    expect([service.grants.at(-1)?.["grant_type"], file.read().login]).toMatchObject([
      "refresh_token",
      { tokens: { access_token: "access-2", refresh_token: "refresh-2" } },
    ]);
  });

  test("shows the tokens of one address to no other, also under the same name", async () => {
    const service = startService();
    const { file, signIn, connect } = await world(settingsOf(service.url));
    await signIn();
    const seen: (string | null)[] = [];
    using other = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        seen.push(request.headers.get("authorization"));
        return new Response("who are you", { status: 401 });
      },
    });
    const addresses = [`${other.url.href}mcp`, `${service.url}/of-another-tenant`];
    for (const url of addresses) {
      const asked = service.authorized.length;
      await expect(connect(settingsOf(url))).rejects.toThrow();
      expect(service.authorized.length).toBe(asked);
    }
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.filter((header) => header !== null)).toEqual([]);
    expect(file.read().login).not.toBeNull();
    expect(await connect()).toBe(1); // where they belong
  });

  test("does not use tokens of which nobody knows where they belong", async () => {
    const service = startService();
    const { home, signIn, connect } = await world(settingsOf(service.url));
    await signIn();
    const path = credentialsPath(home.path, "shop");
    const { address: _address, ...stored } = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify(stored));
    await expect(connect()).rejects.toThrow("pi-gw mcp login shop");
  });

  test("says what to do when refreshing does not help, and registers nobody", async () => {
    const service = startService();
    const { signIn, connect } = await world(settingsOf(service.url));
    await signIn();
    service.valid = "revoked";
    service.fault = "no refresh";
    const before = service.asked.filter((path) => path === "/register").length;
    await expect(connect()).rejects.toThrow("it wants a login. Run: pi-gw mcp login shop");
    expect(service.asked.filter((path) => path === "/register").length).toBe(before);
  });

  test("asks no authorization server anything before somebody has signed in", async () => {
    const service = startService();
    const { connect } = await world(settingsOf(service.url));
    await expect(connect()).rejects.toThrow("pi-gw mcp login shop");
    expect(new Set(service.asked)).toEqual(new Set(["/mcp"]));
  });
});
