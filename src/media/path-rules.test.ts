/** Paths as an attacker would write them. Nothing is opened here: the words alone decide. */
import { describe, expect, test } from "bun:test";
import { judgePath } from "./path-rules.ts";

const roots = { base: "/home/pi/space", roots: ["/home/pi/space", "/srv/share"] };

describe("a path", () => {
  test.each([
    ["chart.png", "/home/pi/space", ["chart.png"]],
    ["./out/chart.png", "/home/pi/space", ["out", "chart.png"]],
    ["out//chart 100%.png", "/home/pi/space", ["out", "chart 100%.png"]],
    ["/srv/share/a/b.pdf", "/srv/share", ["a", "b.pdf"]],
    ["/home/pi/space/x", "/home/pi/space", ["x"]],
    ["日本語.txt", "/home/pi/space", ["日本語.txt"]],
    ["...", "/home/pi/space", ["..."]],
    ["%2e%2e/secret", "/home/pi/space", ["%2e%2e", "secret"]], // never decoded: a strange name, not a way up
  ])("of %j leads below %s", (path, root, parts) => {
    expect(judgePath(path, roots)).toEqual({ ok: true, root, parts });
  });

  test.each([
    ["", "is empty"],
    ["x".repeat(4_097), "longer than"],
    ["a\0.png", "invisible"],
    ["a\n.png", "invisible"],
    ["gpj.\u202egnp", "invisible"],
    ["zero\u200bwidth.png", "invisible"],
    ["\ud800.png", "not valid text"],
    ["file:///etc/passwd", "not an address"],
    ["https://example.org/x.png", "not an address"],
    ["data:text/html,x", "not an address"],
    ["C:/Windows/win.ini", "not an address"],
    ["..\\..\\secret", "not one of this system"],
    ["\\\\server\\share\\x", "not one of this system"],
    ["//server/share/x", "not one of this system"],
    ["notes.txt:stream", "not an address"],
    ["a b:stream", "colon"],
    ["~/.ssh/id_rsa", "~"],
    ["~root/x", "~"],
    ["../secret", ".."],
    ["a/../../secret", ".."],
    ["/home/pi/space/../secret", ".."],
    ["a/..", ".."],
    ["/etc/passwd", "Only files in"],
    ["/home/pi/spacecraft/x", "Only files in"],
    ["/home/pi/space", "Only files in"],
    ["/home/pi/space/", "Only files in"],
    [".", "Only files in"],
    ["/proc/self/environ", "Only files in"],
  ])("of %j is refused: %s", (path, because) => {
    const verdict = judgePath(path, roots);
    expect(verdict.ok ? verdict.parts : verdict.because).toContain(because);
  });

  test("that is no text is refused", () => {
    for (const path of [undefined, null, 5, {}, ["a"]]) expect(judgePath(path, roots).ok).toBe(false);
  });

  test("leads nowhere when no folder is open, and a relative one needs a workspace", () => {
    expect(judgePath("x", { base: null, roots: [] })).toMatchObject({ ok: false });
    const closed = { ok: false, because: "No folder is open for sending files." } as const;
    expect(judgePath("/etc/passwd", { base: null, roots: [] })).toEqual(closed);
    const long = (chars: number) => judgePath(`a/${"x".repeat(chars - 2)}`, roots).ok;
    expect([long(4_096), long(4_097)]).toEqual([true, false]);
    expect(judgePath("/etc/passwd", { base: null, roots: [] })).toMatchObject({ ok: false });
    expect(judgePath("/srv/share/x", { base: null, roots: ["/srv/share"] })).toMatchObject({ ok: true });
  });
});
