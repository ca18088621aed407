/** A restart of the gateway from the web console: refused by the settings, then allowed, asked about, and over with the page connected again. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { tempHome } from "../src/testing/temp-home.ts";
import { startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { saveSettings } from "../src/testing/whole/save-settings.ts";
import { accessibilityProblems } from "./console-axe.ts";
import { openBrowser, visit } from "./console-stage.ts";

setDefaultTimeout(120_000);

test("System restarts the gateway where the settings allow it, after a question, and the page connects again", async () => {
  await using home = await tempHome();
  const config = { agent: { pool: { min: 0, max: 1 } } };
  await using gateway = await startGatewayProcess({ home: home.path, config });
  await using browser = await openBrowser();
  await using on = await visit(browser, gateway, { path: "/#/system" });
  const { page } = on;
  const part = page.getByTestId("restart");
  await part.getByText("Restarting from here is switched off.").waitFor();
  expect(await part.getByRole("button").count()).toBe(0);
  expect(await accessibilityProblems(page)).toEqual([]);

  await saveSettings(home.path, { ...config, gateway: { commands: { restart: true } } });
  await gateway.fetch("/api/config/reload", { method: "POST" });
  await part.getByRole("button", { name: "Restart the gateway…" }).press("Enter");
  await part.getByText("Restart now?").waitFor();
  await part.getByRole("button", { name: "Keep" }).press("Enter");
  const startedAt = async () =>
    ((await Bun.file(join(home.path, "gateway.json")).json()) as { startedAt: number }).startedAt;
  const before = await startedAt();
  await part.getByRole("button", { name: "Restart the gateway…" }).press("Enter");
  expect(await accessibilityProblems(page)).toEqual([]);
  await part.getByRole("button", { name: "Restart", exact: true }).press("Enter");
  await part.getByText("The gateway has restarted.").waitFor();
  await page.locator("[data-testid=connection][data-state=open]").waitFor();
  expect([(await startedAt()) > before, await page.evaluate("document.activeElement?.innerText")]).toEqual([
    true,
    "Restart",
  ]);
});
