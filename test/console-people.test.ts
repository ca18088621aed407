/** Pairing in the web console: a real browser, a real gateway, strangers on a channel. Nobody gets access without their code, and no row moves under the pointer. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import type { PairedPerson } from "../src/contracts/channels/pairing.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { accessibilityProblems } from "./console-axe.ts";
import { openBrowser, type Visit, visit } from "./console-stage.ts";
import { parrotChannel, putPlugin } from "./plugins-fixture.ts";
import { eventually, statusOf } from "./whole-fixture.ts";

setDefaultTimeout(120_000);

let browser: Browser;
let home: TempHome;
let gateway: GatewayProcess;
let codes: Record<string, string>;

beforeAll(async () => {
  home = await tempHome();
  await putPlugin(home.path, { id: "parrot", body: parrotChannel() });
  const roles = { owners: ["parrot:user:olga"] };
  const config = { agent: { pool: { min: 0, max: 1 } }, plugins: { enabled: ["parrot"] }, roles };
  [browser, gateway] = await Promise.all([openBrowser(), startGatewayProcess({ home: home.path, config })]);
  await eventually(
    "the channel parrot is open",
    async () => (await statusOf(gateway)).channels.find(({ id }) => id === "parrot")?.ok,
    (ok) => ok === true,
  );
  codes = { mallory: await codeFor("mallory"), ada: await codeFor("ada") };
});
afterAll(async () => {
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

async function codeFor(by: string): Promise<string> {
  const body = JSON.stringify({ by, text: "let me in", id: `event-${by}` });
  const answer = await fetch(`${gateway.url}/parrot/main`, { method: "POST", body });
  return /[A-Z2-9]{8}$/.exec(((await answer.json()) as { say: string }).say)?.[0] ?? "";
}

async function roles(): Promise<Readonly<Record<string, string | null>>> {
  const { items } = (await (await gateway.fetch("/api/pairing")).json()) as { items: readonly PairedPerson[] };
  return Object.fromEntries(items.map(({ name, role }) => [name, role]));
}

const rowOf = ({ page }: Visit, name: string) => page.getByTestId("person").filter({ hasText: name });
const openPeople = async (on: Visit) => {
  await on.page.getByRole("link", { name: "Channels" }).click();
  await rowOf(on, "ada").waitFor();
};

test("a stranger is let in with their own code and the chosen role, and with nothing else", async () => {
  await using on = await visit(browser, gateway);
  await openPeople(on);
  expect(await accessibilityProblems(on.page)).toEqual([]);
  const ada = rowOf(on, "ada");
  const letIn = ada.getByRole("button", { name: /^Give access as/ });
  expect([await letIn.innerText(), await letIn.isDisabled()]).toEqual(["Give access as member", true]);
  const code = ada.getByLabel("Their code");
  await code.fill(codes["mallory"] ?? "");
  await code.press("Enter");
  await ada.getByRole("alert").getByText("not the code this person was given").waitFor();
  expect(await roles()).toEqual({ ada: null, mallory: null });

  await code.fill(` ${codes["ada"]?.toLowerCase().replace(/(.{4})/, "$1-")}`);
  await code.press("Enter");
  await ada.getByRole("status").getByText("Has access as member").waitFor();
  expect(await roles()).toEqual({ ada: "member", mallory: null });

  await ada.getByRole("button", { name: "Undo" }).and(on.page.locator(":focus")).waitFor();
  await on.page.keyboard.press("Enter");
  await code.waitFor();
  expect(await roles()).toEqual({ ada: null, mallory: null });
  await code.fill(codes["ada"] ?? "");
  await ada.getByLabel("Role").selectOption("owner");
  await ada.getByRole("button", { name: "Give access as owner" }).click();
  await ada.getByRole("status").getByText("Has access as owner").waitFor();
  expect(await roles()).toEqual({ ada: "owner", mallory: null });
  expect(on.problems.filter((problem) => !problem.includes("403"))).toEqual([]);
});

test("rows of people stand still while people come and are decided about elsewhere", async () => {
  await using on = await visit(browser, gateway);
  await openPeople(on);
  const names = () => on.page.getByTestId("person").locator("strong").allInnerTexts();
  const before = await names();
  const placeOf = async (name: string) => {
    const { x, y } = (await rowOf(on, name).boundingBox()) ?? { x: 0, y: 0 };
    return { x, y };
  };
  const place = await placeOf("mallory");
  await codeFor("trudy");
  await rowOf(on, "trudy").waitFor();
  expect(await names()).toEqual([...before, "trudy"]);
  expect(await placeOf("mallory")).toEqual(place);
  const below = await placeOf("trudy");
  const { items } = (await (await gateway.fetch("/api/pairing")).json()) as { items: readonly PairedPerson[] };
  const mallory = items.find(({ name }) => name === "mallory");
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: '{"decision":"revoke"}' };
  expect((await gateway.fetch(`/api/pairing/${mallory?.id}`, init)).status).toBe(200);
  await rowOf(on, "mallory").and(on.page.locator("[data-state=gone]")).waitFor();
  expect(await names()).toEqual([...before, "trudy"]);
  expect([await placeOf("mallory"), await placeOf("trudy")]).toEqual([place, below]);
  expect(await rowOf(on, "mallory").getByRole("button").count()).toBe(0);
});

test("a removed person comes back with their role when that is undone, also when nobody else is left", async () => {
  await using on = await visit(browser, gateway);
  await openPeople(on);
  for (const name of ["trudy", "ada"]) {
    await rowOf(on, name)
      .getByRole("button", { name: /^(Refuse|Remove)/ })
      .click();
    await rowOf(on, name).getByRole("button", { name: "Undo" }).waitFor();
  }
  expect(await roles()).toEqual({});
  await rowOf(on, "ada").getByRole("button", { name: "Undo" }).click();
  await rowOf(on, "ada").getByRole("button", { name: "Remove" }).waitFor();
  expect(await roles()).toEqual({ ada: "owner" });
});

test("a role is changed where the person is listed, and people who are named in the settings are listed with it", async () => {
  await using on = await visit(browser, gateway);
  await openPeople(on);
  const ada = rowOf(on, "ada");
  await ada.getByText("· owner").waitFor();
  await ada.getByText("Change the role").click();
  const give = ada.getByRole("button", { name: /^Make / });
  expect(await give.isDisabled()).toBe(true);
  await ada.getByRole("combobox", { name: "Role" }).selectOption("guest");
  await give.click();
  await ada.getByText("· guest").waitFor();
  expect(await roles()).toEqual({ ada: "guest" });
  await ada.getByText("What may they do?").click();
  await ada.getByText("As guest, in a chat with the default agent.").waitFor();
  const others = on.page.getByTestId("other-roles");
  await others.getByRole("row", { name: "parrot:user:olga owner the settings (roles)" }).waitFor();
  expect(await others.getByText("ada").count()).toBe(0);
  expect(await accessibilityProblems(on.page)).toEqual([]);
  expect(on.problems).toEqual([]);
});
