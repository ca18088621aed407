/** Resources of the MCP door: what each caller is shown of notes, transcripts and media, and what of plugins. */
import { describe, expect, test } from "bun:test";
import { type ApiKey, keyRole } from "../../contracts/api-keys.ts";
import type { SessionSummary, TranscriptItem } from "../../contracts/chat.ts";
import type { MediaId, Principal, SessionKey } from "../../contracts/ids.ts";
import type { McpAsking } from "../../contracts/mcp-door.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { PROGRAM } from "../../testing/tools/tool-world.ts";
import { fill, match } from "./addresses.ts";
import { listResources, readResource, type ResourceDeps, resourceTemplates } from "./resources.ts";
import { createMcpSurface } from "./surface.ts";
import { NO_MASK } from "../../kit/secret.ts";

const ADA = "key:user:ada" as Principal;
const OWN = "agent:default:api:dm:ada" as SessionKey;
const OTHERS = "agent:default:telegram:dm:7" as SessionKey;
const SECRET = "s3cret";
const never = new AbortController().signal;

const session = (key: SessionKey): SessionSummary => ({ key, title: `About ${key}` }) as SessionSummary;
const item = (more: Partial<TranscriptItem>): TranscriptItem =>
  ({ id: "1", role: "user", text: "", at: 0, turnId: null, ...more }) as TranscriptItem;

function deps(): ResourceDeps {
  const notes = [{ id: "n1", title: "Wi-Fi", content: `the word is ${SECRET}`, tags: ["home"], createdAt: 1 }];
  const file = {
    mediaId: "m1" as MediaId,
    name: "cat.png",
    mimeType: "image/png",
    bytes: 3,
    owner: "operator" as Principal,
  };
  const items = [
    item({ text: "hello", sender: { principal: ADA, name: "Ada", role: "member" } }),
    item({ role: "tool", tool: "add_task", text: "" }),
    item({ role: "assistant", text: `it is ${SECRET}` }),
    item({ text: "gone", deleted: true }),
  ];
  return {
    clock: createFakeClock(),
    notes: {
      list: async (owner) => (owner === ADA ? notes : []),
      get: async (owner, id) => (owner === ADA ? (notes.find((note) => note.id === id) ?? null) : null),
    },
    sessions: {
      list: async () => ({ items: [OWN, OTHERS].map(session) }),
      get: async (key) => ([OWN, OTHERS].includes(key) ? session(key) : null),
      transcript: async () => ({ items, next: "older" }),
    },
    media: {
      list: async (owner) => (owner === file.owner ? [file] : []),
      find: async (id) => (id === file.mediaId ? file : null),
      read: async () => new Uint8Array([1, 2, 3]),
    },
    surface: createMcpSurface(),
    mask: { ...NO_MASK, text: (text: string) => text.replaceAll(SECRET, "[redacted]") },
  };
}

const asking = (principal: Principal, key: Partial<ApiKey> | null, seen: readonly SessionKey[]): McpAsking => ({
  caller: { ...PROGRAM, principal, role: key === null ? "owner" : keyRole({ scopes: [], agents: ["*"], ...key }) },
  key: key as ApiKey | null,
  ending: never,
  sees: (sessionKey) => seen.includes(sessionKey),
  reach: null,
});
const ada = asking(ADA, { scopes: ["chat"] }, [OWN]);
const operator = asking("operator" as Principal, null, [OWN, OTHERS]);
const read = (who: McpAsking, uri: string, from = deps()) => readResource(from, who, uri, never);

describe("the list of resources", () => {
  test("has what this caller may see, and nothing of anybody else", async () => {
    expect((await listResources(deps(), ada)).map(({ uri }) => uri)).toEqual([
      `pi-gateway://sessions/${encodeURIComponent(OWN)}`,
      "pi-gateway://notes/n1",
    ]);
    expect((await listResources(deps(), operator)).map(({ name }) => name)).toEqual([OWN, OTHERS, "cat.png"]);
  });

  test("has resources of plugins, and their templates apart", async () => {
    const world = deps();
    const surface = createMcpSurface();
    surface.add({
      resources: [
        { uri: "tide://now", name: "Tide", read: () => ({ text: `high, ${SECRET}` }) },
        {
          uri: "tide://{harbour}/at/{hour}",
          name: "Tides",
          read: ({ variables }) => ({ text: JSON.stringify(variables) }),
        },
        { uri: "tide://chart", name: "Chart", mimeType: "image/png", read: () => ({ base64: "AQID" }) },
      ],
    });
    const shown = { ...world, surface };
    expect((await listResources(shown, ada)).slice(0, 2).map(({ uri }) => uri)).toEqual(["tide://now", "tide://chart"]);
    expect(resourceTemplates(shown).map(({ uri }) => uri)).toContain("tide://{harbour}/at/{hour}");
    expect(await read(ada, "tide://now", shown)).toMatchObject({ mimeType: "text/plain", text: "high, [redacted]" });
    expect(await read(ada, "tide://Bergen%20S/at/9", shown)).toMatchObject({
      text: '{"harbour":"Bergen S","hour":"9"}',
    });
    expect(await read(ada, "tide://chart", shown)).toEqual({
      uri: "tide://chart",
      mimeType: "image/png",
      blob: "AQID",
    });
    expect(await read(ada, "tide://now/more", shown)).toBeNull();
  });
});

test("a plugin that never answers ends the read of its resource after its time, and hears that it is over", async () => {
  const clock = createFakeClock();
  const surface = createMcpSurface();
  let until: AbortSignal | null = null;
  surface.add({
    resources: [
      {
        uri: "tide://never",
        name: "Never",
        read({ signal }) {
          until = signal;
          return new Promise(() => undefined);
        },
      },
    ],
  });
  const reading = read(ada, "tide://never", { ...deps(), clock, surface }).catch((error: unknown) => error);
  await clock.advance(30_000);
  expect(await reading).toMatchObject({
    code: "tool_timeout",
    say: expect.stringMatching(/^The plugin did not answer within 30/),
  });
  expect([(until as AbortSignal | null)?.aborted, clock.pending()]).toEqual([true, 0]);
});

describe("reading", () => {
  test("a note gives it whole, masked, to its owner alone", async () => {
    const uri = "pi-gateway://notes/n1";
    expect(await read(ada, uri)).toMatchObject({ text: "# Wi-Fi\n\nthe word is [redacted]\n\nTags: home" });
    expect(await read(operator, uri)).toBeNull();
  });

  test("a transcript gives what was said, masked, to whoever may see the session", async () => {
    const uri = fill("pi-gateway://sessions/{key}", { key: OWN });
    const text = (await read(ada, uri))?.text ?? "";
    expect(text).toContain("**Ada** (1970-01-01T00:00:00.000Z):\nhello");
    expect(text).toContain("it is [redacted]");
    expect(text).toContain("Earlier messages are left out");
    expect(text).not.toContain("gone");
    expect(await read(ada, fill("pi-gateway://sessions/{key}", { key: OTHERS }))).toBeNull();
    expect(await read(ada, fill("pi-gateway://sessions/{key}", { key: "agent:default:api:dm:none" }))).toBeNull();
  });

  test("a file gives its bytes to its owner, and to administrators of all agents", async () => {
    const uri = "pi-gateway://media/m1";
    expect(await read(operator, uri)).toEqual({ uri, mimeType: "image/png", blob: "AQID" });
    expect(await read(ada, uri)).toBeNull();
    expect(await read(asking(ADA, { scopes: ["admin"] }, []), uri)).toMatchObject({ blob: "AQID" });
    expect(await read(asking(ADA, { scopes: ["admin"], agents: ["default"] }, []), uri)).toBeNull();
  });

  test.each(["pi-gateway://notes/", "pi-gateway://notes/n1/x", "pi-gateway://notes/%", "nothing", ""])(
    "%p, which is no address, gives nothing",
    async (uri) => expect(await read(ada, uri)).toBeNull(),
  );
});

test("an address of a template is matched as a whole, and its dots are dots", () => {
  expect(match("a://{x}.txt", "a://1.txt")).toEqual({ x: "1" });
  expect(match("a://{x}.txt", "a://1xtxt")).toBeNull();
  expect(match("a://{x}", "a://1/2")).toBeNull();
});

describe("the surface of plugins", () => {
  const tide = { uri: "tide://now", name: "Tide", read: () => ({ text: "" }) };
  const sail = { name: "sail", description: "Sail", get: () => [] };
  test("is told when it comes and goes", () => {
    const surface = createMcpSurface();
    let changes = 0;
    surface.onChange(() => void changes++);
    const added = surface.add({ resources: [tide], prompts: [sail] });
    expect([surface.resources().length, surface.prompts().length, changes]).toEqual([1, 1, 1]);
    added[Symbol.dispose]();
    expect([surface.resources().length, surface.prompts().length, changes]).toEqual([0, 0, 2]);
  });

  test.each([
    [{ resources: [tide] }, "tide://now already"],
    [{ prompts: [sail] }, "sail already"],
    [{ resources: [{ ...tide, uri: "pi-gateway://notes/{id}" }] }, "an address of the gateway's own"],
  ])("is refused when it takes what is taken: %j", (shown, because) => {
    const surface = createMcpSurface();
    surface.add({ resources: [tide], prompts: [sail] });
    expect(() => surface.add(shown)).toThrow(because);
  });
});
