/** What is particular to IRC: who somebody is, whom a reply goes to, and how much of it has arrived. */
import { describe, expect, test } from "bun:test";
import { createPlatforms } from "../../src/channels/index.ts";
import type { Config } from "../../src/config/index.ts";
import type { Channel } from "../../src/contracts/channel.ts";
import type { OutboxRow } from "../../src/contracts/delivery.ts";
import type { PendingApproval } from "../../src/contracts/tools/approval.ts";
import { type ChannelBench, channelBench } from "../../src/testing/channels/channel-bench.ts";
import { eventually, passing } from "../../src/testing/contracts/channel-contract.ts";
import { joinIrc } from "../../src/testing/irc/irc-client.ts";
import { BOT, DEN, ircConfig, ircWorld } from "../../src/testing/irc/irc-world.ts";
import { findNgircd, HOW_TO_GET_NGIRCD } from "../../src/testing/irc/ngircd.ts";
import { type Script, scriptedServer } from "../../src/testing/irc/scripted-server.ts";
import { readSettings } from "./config.ts";
import { asCommand } from "./inbound.ts";
import plugin from "./plugin.json";
import { createIrc } from "./plugin.ts";

const NEVER = new AbortController().signal;
const TEST_MS = 60_000;
const CAPS = "message-tags account-tag echo-message sasl";

async function scripted(more: Readonly<Record<string, unknown>> = {}, script?: Script, caps = CAPS) {
  const bench = await channelBench();
  const server = await scriptedServer(caps, script);
  const platforms = createPlatforms(bench.deps, []);
  platforms.add(createIrc(readSettings(ircConfig(server.port, more))));
  await platforms.apply({} as Config);
  const to = (chat: string) => ({ channel: "irc", account: "main", chat });
  await eventually("it is connected", () => platforms.channel("irc")?.ready(to(DEN)) === true);
  const channel = platforms.channel("irc") as Channel;
  const send = async (chat: string, text: string) => {
    const [part] = await bench.reply(to(chat), [text]);
    return channel.send(part as OutboxRow, NEVER).catch((error: unknown) => error);
  };
  const messages = () => server.got.filter((line) => line.startsWith("PRIVMSG"));
  return {
    ...{ bench, server, platforms, channel, send, messages },
    async [Symbol.asyncDispose]() {
      await platforms[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      await bench[Symbol.asyncDispose]();
    },
  };
}

/** The server knows everybody, and echoes. */
const echoing: Script = (line) => {
  const [command, target] = line.split(" ");
  if (command === "USERHOST") return [`:s 302 pibot :${target}=+~a@h.example`];
  return command === "PRIVMSG" ? [`:pibot!~p@h ${line}`] : null;
};

describe("on a network with accounts", () => {
  test(
    "somebody is their account, and is answered under the nick they have now",
    async () => {
      await using w = await scripted({}, echoing);
      w.server.tell("@account=ann :ann!~a@h.example PRIVMSG pibot :hello");
      await eventually("it is stored", () => w.bench.stored.length === 1);
      expect(w.bench.stored[0]).toMatchObject({
        ...{ scope: "dm", text: "hello", address: { chat: "ann" }, mentioned: true },
        sender: { principal: "irc:user:127.0.0.1/ann", name: "ann" },
      });
      expect(await w.send("ann", "hi")).toEqual({});
      w.server.tell("@account=ann :away_ann!~a@h.example PRIVMSG pibot :it is me");
      await eventually("it is stored", () => w.bench.stored.length === 2);
      expect(await w.send("ann", "welcome back")).toEqual({});
      expect(w.messages()).toEqual(["PRIVMSG ann hi", "PRIVMSG away_ann :welcome back"]);
      expect(w.bench.stored).toHaveLength(2); // our own words came back to us, and were nobody's
    },
    TEST_MS,
  );

  test(
    "an account of the same name as somebody else's nick gets none of their words, and the other way round",
    async () => {
      await using w = await scripted({}, echoing);
      w.bench.strangers.set("irc:user:127.0.0.1/ann!~x@h.example" as never, "Your code is ABCD2345.");
      w.server.tell("@account=ann :annie!~a@h.example PRIVMSG pibot :hello");
      w.server.tell(":ann!~x@h.example PRIVMSG pibot :let me in");
      await eventually("the stranger is told", () => w.server.got.some((line) => line.includes("ABCD2345")));
      expect(w.server.got.find((line) => line.includes("ABCD2345"))).toBe("NOTICE ann :Your code is ABCD2345.");
    },
    TEST_MS,
  );

  test(
    "with requireAccount nobody else exists",
    async () => {
      await using w = await scripted({ requireAccount: true }, echoing);
      w.server.tell(":eve!~e@h.example PRIVMSG pibot :hello");
      w.server.tell("@account=ann :ann!~a@h.example PRIVMSG pibot :hello");
      await eventually("it is stored", () => w.bench.stored.length === 1);
      expect(w.bench.arrivals.map(({ sender }) => sender.name)).toEqual(["ann"]);
    },
    TEST_MS,
  );

  test(
    "a message with the server's own id is taken in once; notices and CTCP never",
    async () => {
      await using w = await scripted({}, echoing);
      const from = "account=ann :ann!~a@h.example";
      w.server.tell(`@msgid=7;${from} PRIVMSG pibot :once`);
      w.server.tell(`@msgid=7;${from} PRIVMSG pibot :once`);
      w.server.tell(`@${from} NOTICE pibot :I am a program`);
      w.server.tell(`@${from} PRIVMSG pibot :\u0001VERSION\u0001`);
      w.server.tell(`@msgid=8;${from} PRIVMSG pibot :last`);
      await eventually("the last is stored", () => w.bench.stored.some(({ text }) => text === "last"));
      expect(w.bench.stored.map(({ text }) => text)).toEqual(["once", "last"]);
      expect(w.messages()).toEqual([]);
    },
    TEST_MS,
  );

  test(
    "signs in with SASL and stays out when the server says no",
    async () => {
      const password = { reveal: () => "s3cret", toString: () => "", toJSON: () => "" };
      const script: Script = (line) => {
        if (line === "AUTHENTICATE PLAIN") return ["AUTHENTICATE +"];
        return line.startsWith("AUTHENTICATE ") ? [":s 903 pibot :ok"] : null;
      };
      await using w = await scripted({ password, account: "pi" }, script);
      expect(w.server.got).toContain(`AUTHENTICATE ${Buffer.from("\0pi\0s3cret").toString("base64")}`);
      expect(() => readSettings({ ...ircConfig(1), server: "irc.example", password })).toThrow("over TLS only");
    },
    TEST_MS,
  );
});

describe("on a network that tells no accounts", () => {
  const NO_ACCOUNTS = "message-tags echo-message";
  const schema = plugin.config.properties.requireAccount;
  const warnings = ({ log }: ChannelBench) =>
    log.lines.filter(({ level }) => level === "warn").map(({ words }) => words);

  test(
    "nobody exists unless the owner says otherwise, whatever a line claims, and the status says what to do",
    async () => {
      await using w = await scripted({ requireAccount: schema.default }, echoing, NO_ACCOUNTS);
      w.server.tell(":ann!~a@h.example PRIVMSG pibot :hello");
      w.server.tell("@account=ann :ann!~a@h.example PRIVMSG pibot :I am ann");
      w.server.tell("PING :after");
      await eventually("all of it was read", () => w.server.got.includes("PONG after"));
      expect([w.bench.arrivals, w.bench.stored, w.messages()]).toEqual([[], [], []]);
      expect(w.channel.health()).toMatchObject({ ok: false, detail: expect.stringContaining("so nobody is answered") });
      expect(w.channel.health().detail).toContain("Set requireAccount to false");
      expect(warnings(w.bench)).toEqual(["irc server tells no accounts: nobody is answered"]);
    },
    TEST_MS,
  );

  test(
    "with requireAccount off people are nick, user and host, also those who claim an account, and that is said",
    async () => {
      await using w = await scripted({ requireAccount: false }, echoing, NO_ACCOUNTS);
      w.server.tell("@account=ann :ann!~a@h.example PRIVMSG pibot :I am ann");
      await eventually("it is stored", () => w.bench.stored.length === 1);
      expect(w.bench.stored[0]?.sender.principal as string).toBe("irc:user:127.0.0.1/ann!~a@h.example");
      expect(w.channel.health()).toMatchObject({
        ok: true,
        detail: "127.0.0.1 as pibot, people known by nick, user and host only, in #den",
      });
      expect(warnings(w.bench)).toEqual(["irc server tells no accounts: people are known by nick, user and host only"]);
    },
    TEST_MS,
  );
});

test(
  "a call that needs the owner's word is asked about in the query it began in, and answered there by an owner alone",
  async () => {
    await using w = await scripted({}, echoing);
    const { bench, server } = w;
    const say = (text: string) => server.tell(`@account=ann :ann!~a@h.example PRIVMSG pibot :${text}`);
    say("delete everything");
    await eventually("it is stored", () => bench.stored.length === 1);
    const question: PendingApproval = {
      ...{
        id: "q1",
        tool: "bash",
        callId: "c1",
        because: "the tool always asks",
        input: { command: "rm" },
        shown: '{\n  "command": "rm"\n}',
      },
      ...{ sessionKey: "agent:default:irc:dm:ann" as never, turnId: "t1" as never, principal: "irc:user:x" as never },
      origin: { channel: "irc", account: "main", chat: "ann" },
      askedAt: 0,
      expiresAt: 1,
    };
    bench.questions.push(question);
    bench.deps.events.emit("approval", { ...question, decision: null });
    await eventually("it is asked", () => w.messages().some((line) => line.includes("!yes 1")));
    expect(w.messages()[0]).toBe("PRIVMSG ann :May bash run? (the tool always asks)");
    bench.role = "member";
    say("!yes 1");
    await eventually("it is only words", () => bench.stored.length === 2);
    bench.role = "owner";
    say("!yes 1");
    await eventually("it is decided", () => bench.decided.length === 1);
    expect(bench.decided).toEqual(["q1 once irc:user:127.0.0.1/ann"]);
    expect(bench.stored).toHaveLength(2);
  },
  TEST_MS,
);

test(
  "with TLS not a word is said to a server that has none",
  async () => {
    await using bench = await channelBench();
    await using server = await scriptedServer("");
    await using platforms = createPlatforms(bench.deps, []);
    platforms.add(createIrc(readSettings({ ...ircConfig(server.port), tls: true })));
    await platforms.apply({} as Config);
    const detail = () => platforms.health().at(0)?.detail ?? "";
    await passing(bench, "it says that there is no connection", () =>
      detail().startsWith("No connection to 127.0.0.1"),
    );
    expect(server.got.filter((line) => /NICK|USER|PASS/.test(line))).toEqual([]);
  },
  TEST_MS,
);

test(
  "a call of a turn that nobody has begun in this process is asked about in the query that it says it is for",
  async () => {
    await using w = await scripted({}, echoing);
    w.server.tell("@account=ann :ann!~a@h.example PRIVMSG pibot :hello");
    await eventually("it is stored", () => w.bench.stored.length === 1);
    const asked: PendingApproval = {
      ...{
        id: "q9",
        tool: "bash",
        callId: "c9",
        because: "the tool always asks",
        input: {},
        shown: "{}",
        askedAt: 0,
        expiresAt: 1,
      },
      ...{ sessionKey: "agent:default:main" as never, turnId: "t9" as never, principal: "irc:user:x" as never },
      origin: { channel: "irc", account: "main", chat: "ann" },
    };
    w.bench.deps.events.emit("approval", {
      ...asked,
      id: "q8",
      origin: { ...asked.origin, chat: DEN },
      decision: null,
    } as never);
    w.bench.questions.push(asked);
    w.bench.deps.events.emit("approval", { ...asked, decision: null });
    await eventually("it is asked", () => w.messages().some((line) => line.includes("!yes 1")));
    expect(w.messages()[0]).toBe("PRIVMSG ann :May bash run? (the tool always asks)");
    expect(w.messages().some((line) => line.includes(DEN))).toBe(false);
  },
  TEST_MS,
);

describe("a reply", () => {
  test(
    "that the server swallowed is not called sent, and one it wants later says when",
    async () => {
      let answer: readonly string[] = [];
      await using w = await scripted({}, (line) => (line.startsWith("PRIVMSG") ? answer : echoing(line)));
      w.server.tell("@account=ann :ann!~a@h.example PRIVMSG pibot :hello");
      await eventually("it is stored", () => w.bench.stored.length === 1);
      expect(await w.send("ann", "hi")).toMatchObject({ kind: "permanent" });
      answer = [":s 439 pibot ann :Target change too fast. Please wait 42 seconds"];
      expect(await w.send("ann", "hi")).toMatchObject({ kind: "limited", retryAfterMs: 42_000 });
      answer = [":s 401 pibot ann :No such nick"];
      expect(await w.send("ann", "hi")).toMatchObject({ kind: "retry" });
      expect(await w.send("nobody", "hi")).toMatchObject({ kind: "permanent" });
    },
    TEST_MS,
  );

  test(
    "of many lines keeps to the server's pace, and goes on where it was after a break",
    async () => {
      await using w = await scripted({ burst: 3, lineMs: 2_000 }, undefined, "");
      const lines = Array.from({ length: 40 }, (_, at) => `line ${at}`);
      const [part] = await w.bench.reply({ channel: "irc", account: "main", chat: DEN }, [lines.join("\n")]);
      const began = w.bench.clock.elapsed();
      let breaks = 0;
      for (;;) {
        const sending = w.channel.send(part as OutboxRow, NEVER).catch((error: unknown) => error);
        let ended: unknown = null;
        void sending.then((end) => {
          ended = end;
        });
        while (ended === null) {
          await new Promise((resolve) => setImmediate(resolve));
          await w.bench.clock.advance(500);
        }
        if (!(ended instanceof Error)) break;
        expect(ended).toMatchObject({ kind: "limited", retryAfterMs: 0 });
        breaks++;
      }
      expect(w.messages().map((line) => line.slice("PRIVMSG #den :".length))).toEqual(lines);
      expect(breaks).toBeGreaterThan(0);
      expect(w.bench.clock.elapsed() - began).toBeGreaterThanOrEqual((lines.length - 3) * 2_000);
    },
    TEST_MS,
  );

  test(
    "cannot smuggle in a line of its own",
    async () => {
      await using w = await scripted({}, undefined, "");
      await w.send(DEN, "hello\r\nQUIT :bye\n\u0001DCC SEND x\u0001\0");
      expect(w.messages()).toEqual(["PRIVMSG #den hello", "PRIVMSG #den :QUIT :bye", "PRIVMSG #den :DCC SEND x"]);
      expect(w.server.got.some((line) => line.startsWith("QUIT"))).toBe(false);
    },
    TEST_MS,
  );
});

test("a command is written with an exclamation mark, because clients keep the slash to themselves", () => {
  const commands = [{ name: "status" }];
  expect(asCommand("!status now", commands)).toBe("/status now");
  expect(asCommand("!stat", commands)).toBe("!stat");
  expect(asCommand("wow! status", commands)).toBe("wow! status");
});

const besideServer = (): void => {
  test(
    "a nick that is taken becomes another, which is what it is addressed by, until the wanted one is free",
    async () => {
      await using w = await ircWorld();
      const { bench, channel, server } = w;
      await server.kill();
      await eventually("the end is noticed", () => !channel.health().ok);
      await server.start();
      await using squatter = await joinIrc(server.port, BOT, [DEN]);
      await using friend = await joinIrc(server.port, "friend", [DEN]);
      await passing(bench, "it is back", () => channel.health().ok);
      expect(channel.health().detail).toContain(`as ${BOT}_`);
      friend.say(DEN, `${BOT}: not you`);
      friend.say(DEN, `${BOT}_: you`);
      await eventually("both are decided about", () => bench.arrivals.length === 2);
      expect(bench.arrivals.map(({ mentioned }) => mentioned)).toEqual([false, true]);
      squatter.write("NICK somebody");
      await squatter.settled();
      await passing(bench, "the nick is its own again", () => channel.health().detail.includes(`as ${BOT},`));
    },
    TEST_MS,
  );

  test(
    "that knows no accounts nobody is taken in, and the health says what to do",
    async () => {
      await using w = await ircWorld({ requireAccount: plugin.config.properties.requireAccount.default });
      const { bench, crowd, channel, here } = w;
      crowd.friend.say(BOT, "hello");
      crowd.friend.say(DEN, `${BOT}: hello`);
      await crowd.friend.settled();
      const [part] = await bench.reply({ ...here, chat: DEN }, ["still there"]);
      await channel.send(part as OutboxRow, NEVER); // confirmed by the server, so what it said before has been read
      expect([bench.arrivals, bench.stored]).toEqual([[], []]);
      expect(channel.health()).toMatchObject({
        ok: false,
        detail: expect.stringContaining("Set requireAccount to false"),
      });
    },
    TEST_MS,
  );

  test(
    "whoever takes the nick of somebody else gets none of their answers",
    async () => {
      await using w = await ircWorld();
      const { bench, crowd, channel, here } = w;
      crowd.friend.say(BOT, "my secret question");
      await eventually("it is stored", () => bench.stored.length === 1);
      crowd.friend.write("NICK gone_fishing");
      await crowd.friend.settled();
      crowd.stranger.write("NICK friend");
      await crowd.stranger.settled();
      const [part] = await bench.reply(here, ["the secret answer"]);
      const failed = await channel.send(part as OutboxRow, NEVER).catch((error: unknown) => error);
      expect(failed).toMatchObject({ kind: "retry", message: "somebody else has their nick now" });
      await crowd.stranger.settled();
      expect(crowd.stranger.heard.filter(({ by }) => by === BOT)).toEqual([]);
      crowd.stranger.write("NICK stranger");
      await crowd.stranger.settled();
      crowd.friend.write("NICK friend");
      await crowd.friend.settled();
      expect(await channel.send(part as OutboxRow, NEVER)).toEqual({});
      await eventually("it is shown", () => crowd.friend.heard.some(({ text }) => text === "the secret answer"));
    },
    TEST_MS,
  );
};

if (findNgircd()) describe("beside a real server", besideServer);
else test.skip(`nicks that are taken. ${HOW_TO_GET_NGIRCD}`, () => undefined);
