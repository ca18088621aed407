/** Stands in for the web console in markdown.test.ts: shows one text and lets the test change it. No part of the built console. */
import { render } from "preact";
import { sanitize, Markdown } from "./markdown.tsx";

Object.assign(globalThis, {
  sanitize,
  show(text: string) {
    render(<Markdown text={text} />, document.body);
  },
});
