/** The menu behind "/": which commands it lists, for whom, and how often it is set. */
import { describe, expect, test } from "bun:test";
import type { Role } from "../../contracts/ids.ts";
import type { BotApi } from "./api/bot-api.ts";
import { Fault } from "./api/faults.ts";
import { createCommandMenu } from "./command-menu.ts";
import type { Arrived } from "./inbound/arrived.ts";

const NEVER = new AbortController().signal;

interface Menu {
  readonly commands: readonly { readonly command: string; readonly description: string }[];
  readonly scope?: { readonly chat_id: number };
}

function world(commands: readonly { name: string; help: string }[] = [], failure: Error | null = null) {
  const set: Menu[] = [];
  const call = async (_method: string, menu: Menu): Promise<true> => {
    set.push(menu);
    if (failure) throw failure;
    return true;
  };
  const asked: Role[] = [];
  const listed = (role: Role) => (asked.push(role), commands);
  const menu = createCommandMenu({ api: { call } as unknown as BotApi, commands: listed }, NEVER);
  const offer = (chat: string, role: Role = "owner", scope = "dm") =>
    menu.offer({ address: { channel: "telegram", account: "a", chat }, scope } as unknown as Arrived, role);
  return { set, asked, menu, offer };
}

describe("the menu of an owner", () => {
  test("is set once in their own chat, and in no group and for nobody else", async () => {
    const at = world();
    for (const chat of ["1", "1", "2"]) await at.offer(chat);
    await at.offer("3", "member");
    await at.offer("-4", "owner", "group");
    expect([at.set.map(({ scope }) => scope?.chat_id), at.asked]).toEqual([
      [1, 2],
      ["owner", "owner"],
    ]);
  });

  test("is set in a thousand chats, and then in no further one", async () => {
    const at = world();
    for (let chat = 1; chat <= 1_001; chat++) await at.offer(`${chat}`);
    expect(at.set).toHaveLength(1_000);
  });
});

describe("the menu of everybody", () => {
  test("lists commands that Telegram takes and that have a help, in short", async () => {
    const at = world([
      { name: "status", help: "x".repeat(300) },
      { name: "with-a-dash", help: "no" },
      { name: "n".repeat(33), help: "no" },
      { name: "silent", help: " " },
    ]);
    await at.menu.publish();
    expect([at.set, at.asked]).toEqual([
      [{ commands: [{ command: "status", description: "x".repeat(256) }] }],
      ["member"],
    ]);
  });

  test("lists a hundred commands at most", async () => {
    const at = world(Array.from({ length: 101 }, (_, n) => ({ name: `c${n}`, help: "help" })));
    await at.menu.publish();
    expect(at.set[0]?.commands).toHaveLength(100);
  });

  test("is left out when Telegram does not take it; a mistake of our own is told", async () => {
    await world([], new Fault({ kind: "down", detail: "503" })).menu.publish();
    await expect(world([], new Error("a mistake")).menu.publish()).rejects.toThrow("a mistake");
  });
});
