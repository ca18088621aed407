/** What somebody types into the form of a setting, as the value that the file gets; and the other way round. Pure. */
import type { SettingForm } from "../../src/contracts/config-api.ts";

import { spanText } from "./schedule.ts";

type Typed = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

/** A name of an environment variable stands for any value. */
const VARIABLE = /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/;

export function valueOf(form: SettingForm, text: string): Typed {
  if (VARIABLE.test(text.trim())) return { ok: true, value: text.trim() };
  switch (form.kind) {
    case "flag":
      return { ok: true, value: text === "true" };
    case "number": {
      const number = Number(text);
      const isNumber = text.trim() !== "" && Number.isFinite(number);
      return isNumber ? { ok: true, value: number } : { ok: false, problem: "This is not a number." };
    }
    case "json":
      return jsonOf(text);
    case "duration":
      return { ok: true, value: text.trim() };
    case "choice":
    case "text":
    case "secret":
      return { ok: true, value: text };
  }
}

function jsonOf(text: string): Typed {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false, problem: 'This is not JSON. A list is written as ["one", "two"].' };
  }
}

/** What a field begins with. A secret is never shown, so its field is empty. */
export function textOf(form: SettingForm, value: unknown): string {
  if (form.kind === "secret" || value === null || value === undefined) return form.kind === "json" ? "null" : "";
  if (form.kind === "duration") return form.text;
  return form.kind === "json" ? JSON.stringify(value, null, 2) : String(value);
}

/** For people. `kind` is that of its form: lengths of time are written as somebody would write them into the file. */
export function shownValue(value: unknown, kind?: SettingForm["kind"]): string {
  if (value === null || value === undefined) return "not set";
  if (kind === "duration" && typeof value === "number") return spanText(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}
