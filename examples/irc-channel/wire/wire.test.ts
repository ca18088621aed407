/** The protocol alone: lines, names, pieces, signing in and pace. No server is needed for these. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { wholeCharacters } from "../../../src/channels/kit/index.ts";
import { secret } from "../../../src/kit/secret.ts";
import { createFakeClock } from "../../../src/testing/fake-clock.ts";
import { formatLine, type Line, MAX_LINE_BYTES, parseLine } from "./line.ts";
import { createSigning, type Signing } from "./login.ts";
import { addressed, encode, fold, isTarget, partsOf, personOf } from "./names.ts";
import { createPace } from "./pace.ts";
import { isCtcp, linesOf, plainText, roomFor } from "./text.ts";

const line = (text: string): Line => {
  const parsed = parseLine(text);
  if (!parsed) throw new Error(`not a line: ${text}`);
  return parsed;
};

describe("a line that is read", () => {
  test("has tags, a prefix, a command and parameters, the last of which may hold spaces", () => {
    const read = line(
      "@account=ann;msgid=x\\:1\\s2\\\\;draft/a :ann!~a@host.example PRIVMSG #pi :hello there: you\r\n",
    );
    expect([...read.tags]).toEqual([
      ["account", "ann"],
      ["msgid", "x;1 2\\"],
      ["draft/a", ""],
    ]);
    expect(read.prefix).toEqual({ nick: "ann", user: "~a", host: "host.example" });
    expect([read.command, ...read.params]).toEqual(["PRIVMSG", "#pi", "hello there: you"]);
  });

  test.each([
    ["PING", "PING", []],
    ["ping  :a  b ", "PING", ["a  b "]],
    [":srv 433 * ann :Nickname already in use", "433", ["*", "ann", "Nickname already in use"]],
    [":a!b@c JOIN #x", "JOIN", ["#x"]],
    [
      "X 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16",
      "X",
      ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15 16"],
    ],
  ] as const)("%p", (text, command, params) => {
    expect(line(text)).toMatchObject({ command, params: [...params] });
  });

  test.each(["", ":", "@a=b", ":only.prefix", "12 x", "PRIV\u0001MSG x"])("%p is none", (text) =>
    expect(parseLine(text)).toBeNull(),
  );

  test("never throws, whatever a server sends", () => {
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => void parseLine(text)));
  });
});

describe("a line that is written", () => {
  test("is one line with the parameters it was given, or none at all", () => {
    const word = fc.string({ unit: "binary", maxLength: 80 });
    fc.assert(
      fc.property(word, word, (target, text) => {
        let written: string;
        try {
          written = formatLine("PRIVMSG", target, text);
        } catch {
          return; // refused, which is the other way to be safe
        }
        expect(written).not.toMatch(/[\r\n\0]/);
        expect(Buffer.byteLength(written) + 2).toBeLessThanOrEqual(MAX_LINE_BYTES);
        expect(parseLine(written)?.params).toEqual([target, text]);
      }),
    );
  });

  test.each([
    ["bob\r\nQUIT", "x"],
    ["bob", "x\nQUIT"],
    ["bob", "x\rQUIT"],
    ["bob", "x\0y"],
    ["bob x", "y"],
    [":bob", "y"],
    ["", "y"],
  ])("is refused for %p %p", (target, text) => expect(() => formatLine("PRIVMSG", target, text)).toThrow());

  test("goes to one target: no list, no mask, no server", () => {
    for (const name of ["bob", "#pi", "&local", "[x]^"]) expect(isTarget(name)).toBe(true);
    for (const name of ["a,b", "a b", "a!b@c", ":a", ""]) expect(isTarget(name)).toBe(false);
  });
});

describe("words", () => {
  test("are divided at spaces and never inside a character, and nothing is lost", () => {
    const room = roomFor("PRIVMSG", "#pi");
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme", maxLength: 300 }), { maxLength: 12 }), (words) => {
        const text = words.join(" ");
        const pieces = linesOf(text, room, wholeCharacters);
        for (const piece of pieces) {
          expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(room);
          expect(piece.isWellFormed()).toBe(true);
          expect(() => formatLine("PRIVMSG", "#pi", piece)).not.toThrow();
        }
        const letters = (of: string): string => of.replace(/[\s\u0000-\u001f\u007f\u2028\u2029]/g, "");
        expect(letters(pieces.join(""))).toBe(letters(text));
      }),
    );
  });

  test("keep a family of emoji together", () => {
    const family = "👩‍👩‍👧";
    const pieces = linesOf(family.repeat(20), 100, wholeCharacters);
    expect(pieces.every((piece) => piece.replaceAll(family, "") === "")).toBe(true);
    expect(pieces.join("")).toBe(family.repeat(20));
  });

  test("fit with the longest name that a server can put before them", () => {
    const prefix = `:${"n".repeat(30)}!~${"u".repeat(10)}@${"h".repeat(63)} `;
    const [first = ""] = linesOf("é".repeat(600), roomFor("PRIVMSG", "#den"), wholeCharacters);
    const relayed = `${prefix}PRIVMSG #den :${first}\r\n`;
    expect(Buffer.byteLength(relayed)).toBeLessThanOrEqual(MAX_LINE_BYTES);
    expect(Buffer.byteLength(relayed)).toBeGreaterThan(MAX_LINE_BYTES - 4);
  });

  test("of a model cannot become a CTCP request, and those of people lose their colours", () => {
    expect(linesOf("\u0001VERSION\u0001\nnext\u0002", 100, wholeCharacters)).toEqual(["VERSION", "next"]);
    expect(plainText("\u000304,01red\u0003 \u0002bold\u0002\u001f \u000fplain")).toBe("red bold plain");
    expect(isCtcp("\u0001ACTION waves\u0001")).toBe(true);
  });
});

describe("somebody", () => {
  const who = (text: string) => personOf(line(text), true)?.id;

  test("is their account where the server names one, and nick, user and host otherwise", () => {
    expect(who("@account=Ann :ann!~a@Host.Example PRIVMSG x :y")).toBe("Ann");
    expect(who(":Ann!~a@Host.Example PRIVMSG x :y")).toBe("ann!~a@host.example");
    expect(who("@account=* :ann!~a@h PRIVMSG x :y")).toBe("ann!~a@h");
    expect(who(":ann!~a@2001:db8::1 PRIVMSG x :y")).toBe("ann!~a@2001%3Adb8%3A%3A1");
    expect(who(":irc.example NOTICE x :y")).toBeUndefined();
  });

  test("with an account is never taken for somebody without one, whatever it is called", () => {
    const letter = fc.oneof(
      fc.constantFrom("!", "@", "%", ":", "*", "'", "/", " "),
      fc.string({ unit: "grapheme", maxLength: 1 }),
    );
    const text = fc.array(letter, { minLength: 1, maxLength: 20 }).map((letters) => `x${letters.join("")}`);
    fc.assert(
      fc.property(text, (account) => {
        expect(partsOf(encode(account))).toBeNull();
        expect(`irc:user:irc.example/${encode(account)}`).toMatch(/^[a-z][a-z0-9-]*:user:[^\s:]+$/);
      }),
    );
    fc.assert(fc.property(text, text, (one, two) => expect(encode(one) === encode(two)).toBe(one === two)));
    expect(who("@account=ann!~a@h :x!y@z PRIVMSG x :y")).toBe("ann%21~a%40h");
  });

  test("says something to us by our name and a colon or a comma, and not by a name that begins like ours", () => {
    expect(addressed("pibot: hello", "pibot")).toBe("hello");
    expect(addressed("PiBot, hello", "pibot")).toBe("hello");
    expect(addressed("pibot hello", "pibot")).toBeNull();
    expect(addressed("pibot2: hello", "pibot")).toBeNull();
    expect(addressed("I like pibot: it works", "pibot")).toBeNull();
    expect(fold("[Ann]")).toBe("[ann]");
  });
});

describe("signing in", () => {
  const login = (by: "sasl" | "nickserv" | "server") => ({ by, account: "pi", password: secret("s3cret pass") });
  const answers = (signing: Signing, text: string) => {
    const step = signing.take(line(text));
    return step.kind === "say" ? step.lines : step;
  };

  test("asks for what helps, and for nothing the server does not have", () => {
    const signing = createSigning("pibot", null);
    expect(signing.begin()).toEqual(["CAP LS 302", "NICK pibot", "USER pibot 0 * pi-gateway"]);
    expect(answers(signing, "CAP * LS * :account-tag sasl=PLAIN")).toEqual([]);
    expect(answers(signing, "CAP * LS :message-tags multi-prefix")).toEqual(["CAP REQ :message-tags account-tag"]);
    expect(answers(signing, "CAP * ACK :message-tags account-tag")).toEqual(["CAP END"]);
    expect([...signing.caps]).toEqual(["message-tags", "account-tag"]);
    expect(answers(signing, ":s 376 pibot :End")).toEqual({ kind: "in" });
  });

  test("takes another nick when it is taken, and gives up when all are", () => {
    const signing = createSigning("pibot", null);
    expect(answers(signing, ":s 433 * pibot :in use")).toEqual(["NICK pibot_"]);
    expect(answers(signing, ":s 433 * pibot_ :in use")).toEqual(["NICK pibot__"]);
    answers(signing, ":s 001 pibot__ :Welcome");
    expect(signing.nick).toBe("pibot__");
    for (let count = 0; count < 3; count++) answers(signing, ":s 433 * x :in use");
    expect(answers(signing, ":s 433 * x :in use")).toMatchObject({ kind: "refused" });
  });

  test("with SASL sends the password in pieces of 400, and never goes on without having been let in", () => {
    const long = { by: "sasl" as const, account: "pi", password: secret("p".repeat(296)) };
    const signing = createSigning("pibot", long);
    expect(answers(signing, "CAP * LS :sasl")).toEqual(["CAP REQ sasl"]);
    expect(answers(signing, "CAP * ACK :sasl")).toEqual(["AUTHENTICATE PLAIN"]);
    const lines = answers(signing, "AUTHENTICATE +") as readonly string[];
    expect(lines.map((one) => one.length - "AUTHENTICATE ".length)).toEqual([400, 1]);
    expect(Buffer.from(lines[0]?.split(" ")[1] ?? "", "base64").toString()).toBe(`\0pi\0${"p".repeat(296)}`);
    expect(answers(signing, ":s 903 pibot :ok")).toEqual(["CAP END"]);
    expect(answers(createSigning("pibot", login("sasl")), ":s 904 pibot :no")).toMatchObject({ kind: "refused" });
    const without = createSigning("pibot", login("sasl"));
    expect(answers(without, "CAP * LS :multi-prefix")).toEqual(["CAP END"]);
    expect(answers(without, ":s 001 pibot :Welcome")).toMatchObject({ kind: "refused" });
  });

  test("shows a password to the server alone", () => {
    const signing = createSigning("pibot", login("server"));
    expect(signing.begin()[0]).toBe("PASS :s3cret pass");
    expect(JSON.stringify(login("server"))).not.toContain("s3cret");
  });
});

test("lines go at the speed that was set: some at once, the rest one after each pause", async () => {
  const clock = createFakeClock();
  const pace = createPace(clock, { burst: 3, lineMs: 2_000 });
  const went: number[] = [];
  const never = new AbortController().signal;
  const all = Promise.all(
    [1, 2, 3, 4, 5].map(async () => {
      await pace.turn(never);
      went.push(clock.elapsed());
    }),
  );
  await clock.advance(10_000);
  await all;
  expect(went).toEqual([0, 0, 0, 2_000, 4_000]);
});
