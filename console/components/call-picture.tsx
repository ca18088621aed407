/** What a call would do, as it is: the command, the changed lines, or its input as JSON. */
import type { CallText } from "../text/call-text.ts";
import type { DiffLine } from "../text/diff.ts";
import { Verbatim } from "./parts/verbatim.tsx";

const MARKS = { same: " ", removed: "-", added: "+" } as const;

export function CallPicture({ call }: { readonly call: CallText }) {
  if (call.kind === "json") return <Verbatim name="What it would run with">{call.text}</Verbatim>;
  return (
    <>
      {call.kind === "command" ? <Verbatim name="Command">{call.command}</Verbatim> : <Change {...call} />}
      {call.rest !== null && <Verbatim name="With">{call.rest}</Verbatim>}
    </>
  );
}

function Change({ path, changes }: Extract<CallText, { kind: "change" }>) {
  return (
    <>
      <p class="approval-path">
        <code>{path}</code>
      </p>
      {changes.map((lines, at) => (
        <Verbatim key={at} isDiff name={`Change of ${path}`}>
          {lines.map((line, number) => (
            <Line key={number} {...line} />
          ))}
        </Verbatim>
      ))}
    </>
  );
}

function Line({ how, text }: DiffLine) {
  return (
    <span class={how}>
      {MARKS[how]} {text}
    </span>
  );
}
