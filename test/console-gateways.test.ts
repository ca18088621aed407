/** System → Gateways in a real browser, of two gateways on one Postgres database: who lives, what differs, and draining one. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { createTestDatabase, testPostgres } from "../src/testing/postgres/database.ts";
import { STORE_TABLES } from "../src/testing/postgres/store-tables.ts";
import { startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { accessibilityProblems } from "./console-axe.ts";
import { openBrowser, visit } from "./console-stage.ts";
import { WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const SECRET = "kX8tQm2vRz7LpW4nYb9sDf6hJc3gTa5e";

describe.skipIf((await testPostgres()) === null)("two gateways on one Postgres database", () => {
  test("the view of gateways shows both, says that one has other settings, and drains it after a question", async () => {
    await using database = await createTestDatabase(STORE_TABLES);
    const config = { agent: { pool: { min: 0, max: 1 } }, store: { url: database.url, secret: SECRET } };
    await using first = await startGatewayProcess({ config });
    await using second = await startGatewayProcess({ config: { ...config, queue: { maxTotal: 77 } } });
    await using browser = await openBrowser();
    await using on = await visit(browser, first, { path: "/#/system/gateways" });
    const cards = on.page.getByTestId("gateway");
    await on.page.getByText("2 gateways share the work.").waitFor();
    expect(await cards.first().innerText()).toContain("(this gateway)");
    const other = cards.filter({ hasText: "Other settings than this gateway." });
    await other.waitFor();
    expect(await other.innerText()).toMatch(/version \S+, lives/);
    expect(await accessibilityProblems(on.page)).toEqual([]);

    await other.getByRole("button", { name: /^Drain / }).click();
    expect(await accessibilityProblems(on.page)).toEqual([]);
    await other.getByRole("button", { name: "Drain", exact: true }).click();
    await on.page.locator("[data-testid=gateway][data-state=draining]").waitFor();
    expect(await cards.getByRole("button", { name: /^Drain / }).count()).toBe(0); // nobody else could go on
    expect((await second.fetch("/ready")).status).toBe(503);
    expect([on.problems, on.foreign, (await on.seen()).violations]).toEqual([[], [], []]);
  });
});
