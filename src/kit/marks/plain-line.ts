/** The last line of what a program writes to a terminal, as a person may read it anywhere: no colours, no controls, nothing that turns the direction of writing. */

/** Colours, cursor moves, titles and links of terminals (ECMA-48: CSI, OSC and two-character sequences). */
// oxlint-disable-next-line no-control-regex -- controls are what this is about
const TERMINAL = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|[ -/]*[0-~])/g;
/** A carriage return begins the line anew, as progress bars do. */
const LINE_END = /[\n\r\u0085\u2028\u2029]/;

export function lastPlainLine(text: string): string {
  const lines = text.replace(TERMINAL, "").split(LINE_END).map(plain);
  return lines.findLast((line) => line !== "") ?? "";
}

function plain(line: string): string {
  return line
    .toWellFormed()
    .replace(/[\p{Cf}]+/gu, "")
    .replace(/[\p{Cc}\p{Z}\s]+/gu, " ")
    .trim();
}
