/** The inbox in a real browser: approvals as what they are, questions, people, failing jobs, lost replies, configuration; and rows that stand still. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { ASKING_EXTENSION, ASKING_TOOLS } from "./asking-extension.ts";
import { accessibilityProblems } from "./console-axe.ts";
import { openBrowser, type Visit, visit } from "./console-stage.ts";
import { parrotChannel, putPlugin } from "./plugins-fixture.ts";
import { asked, endpoint, eventually, statusOf } from "./whole-fixture.ts";

setDefaultTimeout(120_000);

const SLOW_MS = 30_000;

let browser: Browser;
let home: TempHome;
let provider: FakeProvider;
let gateway: GatewayProcess;
let config: object;

beforeAll(async () => {
  provider = await startFakeProvider((request) => {
    const words = asked(request);
    const last = request.messages.at(-1);
    if (words.startsWith("late")) return says("a late answer");
    if (words.includes("break")) return { kind: "status", status: 401, message: "bad key" };
    if (last?.role !== "user") return says("that is all");
    const [, tool, input] = /^call (\w+) (.*)$/s.exec(words) ?? [];
    return tool ? { kind: "tools", calls: [{ name: tool, input: JSON.parse(input ?? "{}") }] } : says("fine");
  });
  home = await tempHome();
  await putPlugin(home.path, { id: "parrot", body: moodyParrot() });
  await writeFile(join(home.path, "asking.ts"), ASKING_EXTENSION);
  const base = endpoint(provider);
  const tools = ["bash", "edit", "write", ...ASKING_TOOLS];
  const extensions = [join(home.path, "asking.ts")];
  const agent = { ...base.agent, tools, extensions, pool: { min: 0, max: 2 } };
  const ask = { approvals: { ask: ["bash", "edit", "write"], never: ASKING_TOOLS } };
  config = { ...base, agent, tools: ask, plugins: { enabled: ["parrot"] } };
  [browser, gateway] = await Promise.all([openBrowser(), startGatewayProcess({ home: home.path, config })]);
  await eventually(
    "the channel parrot is open",
    async () => (await statusOf(gateway)).channels.find(({ id }) => id === "parrot")?.ok,
    (ok) => ok === true,
  );
});
afterAll(async () => {
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

/** Its platform refuses some answers, loses them or takes them, as somebody called mood says. */
function moodyParrot(): string {
  const fail = 'throw Object.assign(new Error("the chat is gone"), { name: "SendError", kind: mood })';
  const fails = `if (mood && ["fine", "a late answer"].includes(message.text)) ${fail};`;
  const heard = 'if (by === "mood") { mood = text; return { status: 200, json: {} }; }';
  return parrotChannel('let mood = "permanent";')
    .replace("said.push(", `${fails} said.push(`)
    .replace("const about =", `${heard} const about =`);
}

const inbox = () => visit(browser, gateway, { path: "/#/inbox" });
const itemsOf = ({ page }: Visit, kind: string) => page.locator(`[data-testid=inbox-item][data-kind=${kind}]`);
const counted = ({ page }: Visit, count: number) =>
  eventually(
    `the badge says ${count}`,
    async () => Number.parseInt((await page.getByTestId("inbox-count").allInnerTexts())[0] ?? "0", 10),
    (seen) => seen === count,
  );
const post = (path: string, body: object) =>
  gateway.fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
/** Said by a program in a conversation of the web console, so that nobody has to look at it. */
const saySoon = async (session: string, text: string) => {
  await using speaker = await visit(browser, gateway, { path: `/#/chat/${session}` });
  await speaker.send(text);
  await speaker.page.locator("[data-testid=message][data-kind=message]").waitFor();
};
const adaSays = async (text: string) => {
  const body = JSON.stringify({ by: "ada", text, id: text });
  const answer = await fetch(`${gateway.url}/parrot/main`, { method: "POST", body });
  return (await answer.json()) as { readonly say?: string };
};
/** What becomes of answers to ada: "" takes them. */
const parrotIs = async (mood: "permanent" | "lost" | "") => {
  await fetch(`${gateway.url}/parrot/main`, { method: "POST", body: JSON.stringify({ by: "mood", text: mood }) });
};
const toldAda = async () =>
  ((await (await gateway.fetch("/plugins/parrot/said")).json()) as readonly string[]).filter((said) =>
    said.endsWith("a late answer"),
  ).length;
const inWorkspace = (name: string) => join(gateway.home, "workspace", name);

test("a command and a change of a file wait in the inbox as what they are, and are denied as easily as allowed", async () => {
  await using on = await inbox();
  await saySoon("one", `call bash ${JSON.stringify({ command: "touch made.txt\necho done", timeout: 9 })}`);
  await saySoon("two", `call write ${JSON.stringify({ path: "new.txt", content: "first line\nsecond" })}`);
  await itemsOf(on, "approval").nth(1).waitFor();
  await counted(on, 2);
  const command = itemsOf(on, "approval").filter({ hasText: "bash" });
  const change = itemsOf(on, "approval").filter({ hasText: "write" });
  expect(await command.locator("pre[aria-label=Command]").innerText()).toBe("touch made.txt\necho done");
  expect(await command.locator("pre[aria-label=With]").innerText()).toContain('"timeout": 9');
  expect(await change.locator(".diff").innerText()).toBe("+ first line\n+ second");
  expect(await change.innerText()).toContain("new.txt");
  const boxes = await Promise.all(
    ["Allow once", "Deny"].map((name) => command.getByRole("button", { name, exact: true }).boundingBox()),
  );
  expect(boxes[0]?.height).toBe(boxes[1]?.height as number);
  expect(await accessibilityProblems(on.page)).toEqual([]);

  const place = await change.boundingBox();
  await command.getByRole("button", { name: "Allow once" }).click();
  await command.and(on.page.locator("[data-over=true]")).getByText("Allowed once").waitFor();
  expect(await change.boundingBox()).toEqual(place);
  await change.getByRole("button", { name: "Deny" }).press("Enter");
  await change.getByText("Denied").waitFor();
  await counted(on, 0);
  await eventually(
    "the command has run",
    async () => existsSync(inWorkspace("made.txt")),
    (made) => made,
  );
  expect(existsSync(inWorkspace("new.txt"))).toBe(false);
  expect(on.problems).toEqual([]);
});

test("a yes for always makes a rule in plain words, which is listed with its use and can be removed", async () => {
  await using on = await inbox();
  await on.page.getByText("There are no rules.").waitFor();
  await saySoon("ruled", `call bash ${JSON.stringify({ command: "date -u" })}`);
  const command = itemsOf(on, "approval").filter({ hasText: "date -u" });
  await command.getByRole("button", { name: "Always…" }).click();
  const choices = command.getByRole("group", { name: "Always allow" });
  expect(await choices.innerText()).toContain("do not ask again for operator with the agent default");
  expect(await choices.getByRole("button").allInnerTexts()).toEqual(["Exactly this command", "Every date command"]);
  expect(await on.page.evaluate("document.activeElement.textContent")).toBe("Exactly this command");
  expect(await command.getByRole("button", { name: "Deny", exact: true }).isVisible()).toBe(true);
  expect(await accessibilityProblems(on.page)).toEqual([]);
  await choices.getByRole("button", { name: "Every date command" }).click();
  await command.getByText("Allowed, with a rule").waitFor();

  const rule = on.page.getByTestId("rule");
  await rule.getByText("every date command").waitFor();
  expect(await rule.innerText()).toMatch(
    /for operator with the agent default · made by operator just now[\s\S]*never used/,
  );
  await saySoon("ruled-again", `call bash ${JSON.stringify({ command: "date +%s" })}`);
  await rule.getByText("used once, last just now").waitFor({ timeout: SLOW_MS });
  await counted(on, 0);
  expect(await accessibilityProblems(on.page)).toEqual([]);
  await rule.getByRole("button", { name: "Remove the rule: every date command…" }).click();
  await rule.getByRole("button", { name: "Remove", exact: true }).press("Enter");
  await on.page.getByText("There are no rules.").waitFor();
  const focused = () => on.page.evaluate<string>("document.activeElement.textContent");
  await eventually("the focus on the head of the rules", focused, (text) => text === "Rules"); // the list may be empty before the answer is there

  await saySoon("ruled-last", `call bash ${JSON.stringify({ command: "date -u" })}`);
  const again = itemsOf(on, "approval").filter({ hasText: "date -u" }).and(on.page.locator("[data-over=false]"));
  await again.getByRole("button", { name: "Deny", exact: true }).click();
  await counted(on, 0);
  expect(on.problems).toEqual([]);
});

test("a question, a person who asks for access and a lost reply wait in the inbox; refusing and dismissing can be undone", async () => {
  await using on = await inbox();
  await saySoon("three", "call ask_choice {}");
  await itemsOf(on, "question").getByRole("button", { name: "coffee" }).waitFor();
  await using calls = await visit(browser, gateway, { path: "/#/activity/calls" });
  const call = calls.page.getByTestId("call").filter({ hasText: "ask_choice" }).first();
  await call.getByText("running").waitFor(); // it asks something, and waits for no approval
  await itemsOf(on, "question").getByRole("button", { name: "coffee" }).click();
  await call.getByText("done").waitFor();
  await itemsOf(on, "question").getByText("coffee").first().waitFor();
  const code = /[A-Z2-9]{8}$/.exec((await adaSays("let me in")).say ?? "")?.[0] ?? "";
  const ada = itemsOf(on, "person").filter({ hasText: "ada" });
  await ada.getByLabel("Their code").waitFor();
  await counted(on, 1);
  await ada.getByRole("button", { name: "Refuse ada" }).click();
  await ada.getByRole("button", { name: "Undo" }).waitFor();
  await counted(on, 0);
  await ada.getByRole("button", { name: "Undo" }).click();
  await ada.getByLabel("Their code").waitFor();
  await counted(on, 1);
  await ada.getByLabel("Their code").fill(code);
  await ada.getByRole("button", { name: "Give access as member" }).click();
  await counted(on, 0);

  await adaSays("hello");
  const lost = itemsOf(on, "reply");
  await lost.getByText("A reply was not delivered").waitFor();
  expect(await lost.innerText()).toMatch(/To parrot[\s\S]*the chat is gone[\s\S]*fine/);
  await counted(on, 1);
  expect(await accessibilityProblems(on.page)).toEqual([]);
  await lost.getByRole("button", { name: "Dismiss" }).click();
  await counted(on, 0);
  await lost.getByRole("button", { name: "Undo" }).click();
  await counted(on, 1);
  await lost.getByRole("button", { name: "Dismiss" }).click();
  expect(on.problems).toEqual([]);
});

test("a lost reply is sent again with one key, says so when that did not help, and is gone when it did", async () => {
  await using on = await inbox();
  await adaSays("late");
  const lost = itemsOf(on, "reply").filter({ hasText: "a late answer" });
  await lost.getByText("A reply was not delivered").waitFor();
  await lost.getByRole("button", { name: "Send again" }).press("Enter");
  await lost.getByText("(sent again before)").waitFor(); // the chat is gone still
  expect(await lost.getAttribute("data-over")).toBe("false");
  expect(await toldAda()).toBe(0);
  await parrotIs("");
  await lost.getByRole("button", { name: "Send again" }).press("Enter");
  await lost.and(on.page.locator("[data-over=true]")).getByText("It is being sent again.").waitFor();
  await eventually("ada has it", toldAda, (times) => times === 1);
  expect(await lost.getByRole("button", { name: "Send again" }).count()).toBe(0);
  expect(await on.page.evaluate("document.activeElement.textContent")).toContain("A reply was not delivered");
  expect(await accessibilityProblems(on.page)).toEqual([]);
  await on.reload();
  await on.page.getByTestId("inbox-view").waitFor();
  expect(await lost.count()).toBe(0);
  expect(on.problems).toEqual([]);
});

test("a doubtful reply is sent again after a question, which can be answered with no; and a reply to nobody says why it stays", async () => {
  await parrotIs("lost");
  await using on = await inbox();
  await using watching = await inbox();
  await adaSays("late again");
  const doubtful = itemsOf(on, "reply").filter({ hasText: "a late answer" });
  await doubtful.getByText("A reply may have arrived twice, or not at all").waitFor({ timeout: SLOW_MS });
  await parrotIs("");
  const again = doubtful.getByRole("button", { name: "Send again the reply…" });
  await again.press("Enter");
  await doubtful.getByText("the chat shows it twice").waitFor();
  expect(await on.page.evaluate("document.activeElement.textContent")).toBe("Send again");
  expect(await accessibilityProblems(on.page)).toEqual([]);
  await doubtful.getByRole("button", { name: "Do not send" }).click();
  expect(await toldAda()).toBe(1);
  await again.click();
  await doubtful.getByRole("button", { name: "Send again", exact: true }).press("Enter");
  await doubtful.getByText("It is being sent again.").waitFor();
  await eventually("ada has it", toldAda, (times) => times === 2);
  const elsewhere = itemsOf(watching, "reply").filter({ hasText: "a late answer" });
  await elsewhere.and(watching.page.locator("[data-over=true]")).waitFor(); // without a reload

  await parrotIs("permanent");
  await adaSays("late once more");
  const lost = itemsOf(on, "reply")
    .filter({ hasText: "A reply was not delivered" })
    .filter({ hasText: "a late answer" });
  await lost.waitFor();
  const { items } = (await (await gateway.fetch("/api/pairing")).json()) as { items: readonly { id: string }[] };
  await post(`/api/pairing/${encodeURIComponent(items[0]?.id ?? "")}`, { decision: "revoke" });
  await lost.getByRole("button", { name: "Send again" }).click();
  await lost.getByRole("alert").getByText("has no access any more").waitFor();
  expect(await lost.getAttribute("data-over")).toBe("false");
  await lost.getByRole("button", { name: "Dismiss" }).click();
  expect(on.problems.filter((problem) => !problem.includes("409"))).toEqual([]);
});

test("a failing job and a broken configuration wait in the inbox until they are seen or mended", async () => {
  await using on = await inbox();
  await post("/api/cron/jobs", {
    id: "broken",
    schedule: { kind: "every", expr: "6h" },
    task: "break, please",
    delivery: "silent",
  });
  await post("/api/cron/jobs/broken/run", {});
  const job = itemsOf(on, "job");
  await job.getByText("refused the API key").waitFor({ timeout: SLOW_MS });
  await job.getByRole("button", { name: "Dismiss" }).click();
  await job.and(on.page.locator("[data-over=true]")).getByText("Dismissed").waitFor();
  await on.reload();
  const file = join(home.path, "pi-gateway.jsonc");
  await writeFile(file, '{ "agent": { "pool": { "max": "many" } } }');
  await post("/api/config/reload", {});
  await itemsOf(on, "config").getByText("agent.pool.max").first().waitFor();
  const settings = itemsOf(on, "config").getByRole("link", { name: "Open the settings" });
  expect(await settings.getAttribute("href")).toBe("#/system/settings");
  expect(await job.count()).toBe(0);
  await writeFile(file, JSON.stringify(config));
  await post("/api/config/reload", {});
  await itemsOf(on, "config").getByText("This is over.").waitFor();
  expect(on.problems).toEqual([]);
});
