/** Asks axe what is wrong with a page in every look it has. Reports rule and place, nothing that a test could not act on. */
import type { Page } from "playwright-core";

const WIDE = { width: 1_280, height: 800 } as const;
const PHONE = { width: 375, height: 720 } as const;
/** In the dark a page differs in its colours alone, so only the rules about those are asked again. */
const COLOURS = ["color-contrast", "link-in-text-block"];
/** Where everything is and how large it is differs between a wide window and a phone, and is mirrored right to left: one of each is enough for the rules. */
const LOOKS = [
  { name: "light", dir: "ltr", colorScheme: "light", viewport: WIDE, rules: "all" },
  { name: "dark", dir: "ltr", colorScheme: "dark", viewport: WIDE, rules: COLOURS },
  { name: "right to left", dir: "rtl", colorScheme: "light", viewport: WIDE, rules: [] },
  { name: "phone, right to left", dir: "rtl", colorScheme: "light", viewport: PHONE, rules: "all" },
  { name: "dark phone", dir: "ltr", colorScheme: "dark", viewport: PHONE, rules: COLOURS },
] as const;

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}

/** Every rule in a wide window from right to left alone, where `accessibilityProblems` looks at the width: for a test that goes through all views. */
export async function rightToLeftProblems(page: Page): Promise<readonly string[]> {
  await loadAxe(page);
  await page.evaluate(`document.documentElement.dir = "rtl"`);
  const found = await brokenRules(page, "all");
  await page.evaluate(`document.documentElement.dir = "ltr"`);
  return found;
}

export async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  await loadAxe(page);
  const found: string[] = [];
  const before = page.viewportSize() ?? WIDE;
  for (const { name, dir, colorScheme, viewport, rules } of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    await page.evaluate(`document.documentElement.dir = "${dir}"`);
    if (rules.length > 0) found.push(...(await brokenRules(page, rules)).map((problem) => `${name}: ${problem}`));
    if (await page.evaluate<boolean>("document.documentElement.scrollWidth > innerWidth"))
      found.push(`${name}: wider than the window`);
  }
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize(before);
  return found;
}

async function loadAxe(page: Page): Promise<void> {
  if (!(await page.evaluate<boolean>("'axe' in window")))
    await page.evaluate(await Bun.file(new URL(import.meta.resolve("axe-core/axe.min.js"))).text());
}

async function brokenRules(page: Page, rules: "all" | readonly string[]): Promise<readonly string[]> {
  const options = { resultTypes: ["violations"], preload: false, ...(rules === "all" ? {} : { runOnly: rules }) };
  const violations = await page.evaluate<readonly Violation[]>(
    `axe.run(${JSON.stringify(options)}).then((result) => result.violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ target }) => ({ target })) })))`,
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id} at ${target.join(" ")}`));
}
