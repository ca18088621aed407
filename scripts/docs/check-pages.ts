/** `npm run docs-check`: runs the commands of README.md and the pages in docs/ as they are written, page by page, and says which do not work. */
import { MAIN_PAGES, pages } from "./blocks.ts";
import { runPage } from "./run-page.ts";

const HELP = `npm run docs-check [-- PAGE ...]

Runs every shell block of README.md and docs/*.md against a real gateway in a temporary home folder.
PAGE   only these, such as docs/http.md
A block after <!-- not run: reason --> is left out; the block after <!-- settings --> is the page's configuration file.
A block after <!-- starts --> starts a gateway: it must say that it is ready, take its sign-in link, and end with Ctrl-C.
On the main pages (${MAIN_PAGES.join(", ")}) a block that prints something must be followed by its output.
A block after <!-- output --> is what the commands before it print; … stands for any text, alone on a line for any lines.
`;

async function main(argv: readonly string[]): Promise<number> {
  if (argv.includes("--help") || argv.includes("-h")) {
    process.stdout.write(HELP);
    return 0;
  }
  const known = pages();
  const unknown = argv.find((page) => !known.includes(page));
  if (unknown !== undefined) {
    process.stderr.write(`There is no page ${unknown}. The pages are: ${known.join(", ")}\n`);
    return 1;
  }
  let failed = 0;
  for (const page of argv.length > 0 ? argv : known) {
    const { blocks, outputs, notRun, ok, output } = await runPage(page);
    if (blocks + notRun.length === 0) continue;
    const compared = outputs > 0 ? `, ${outputs} of them with their output` : "";
    process.stdout.write(
      `${ok ? "ok    " : "FAILED"}  ${page}: ${blocks} run${compared}${notRun.length > 0 ? "," : ""}`,
    );
    process.stdout.write(notRun.length > 0 ? ` ${notRun.length} not run\n` : "\n");
    for (const { line, notRun: reason } of notRun) process.stdout.write(`        line ${line} not run: ${reason}\n`);
    if (!ok) process.stdout.write(output);
    if (!ok) failed++;
  }
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
