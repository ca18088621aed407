/** Colours for code, loaded only when the first code block is shown. Languages not listed stay plain. */
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const LANGUAGES = { bash, css, diff, go, json, python, rust, sql, typescript, xml, yaml };

export function highlight(code: string, language: string): string | null {
  for (const [name, grammar] of Object.entries(LANGUAGES)) {
    if (!hljs.getLanguage(name)) hljs.registerLanguage(name, grammar);
  }
  hljs.registerAliases(["js", "jsx", "javascript", "ts", "tsx"], { languageName: "typescript" });
  hljs.registerAliases(["jsonc"], { languageName: "json" });
  hljs.registerAliases(["console", "shell"], { languageName: "bash" });
  if (!hljs.getLanguage(language)) return null;
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}
