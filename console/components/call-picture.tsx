/** What a call would do, as it is: the command, the changed lines, or its input as JSON. */
import type { CallText } from "../text/call-text.ts";
import type { DiffLine } from "../text/diff.ts";

const MARKS = { same: " ", removed: "-", added: "+" } as const;

export function CallPicture({ call }: { readonly call: CallText }) {
  if (call.kind === "json") return <Text name="What it would run with" text={call.text} />;
  return (
    <>
      {call.kind === "command" ? <Text name="Command" text={call.command} /> : <Change {...call} />}
      {call.rest !== null && <Text name="With" text={call.rest} />}
    </>
  );
}

function Text({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <pre tabindex={0} aria-label={name}>
      {text}
    </pre>
  );
}

function Change({ path, changes }: Extract<CallText, { kind: "change" }>) {
  return (
    <>
      <p class="approval-path">
        <code>{path}</code>
      </p>
      {changes.map((lines, at) => (
        <pre key={at} class="diff" tabindex={0} aria-label={`Change of ${path}`}>
          {lines.map((line, number) => (
            <Line key={number} {...line} />
          ))}
        </pre>
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
