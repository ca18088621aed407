/** Adds an MCP server or changes one: a program or an address, its secrets, and which of its tools are taken. Can be tried before it is saved. */
import { type Signal, useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { McpServerStatus } from "../../../../src/contracts/mcp.ts";
import { checkServer, saveServer, serverSettings, tryServer } from "../../../state/servers-state.ts";
import {
  type FieldProblems,
  problemsOf,
  serverEdits,
  type ServerSettings,
  type TypedServer,
  typedOf,
} from "../../../text/server-edits.ts";
import { CheckField, SelectField, TextArea, TextField } from "../../parts/fields.tsx";
import { Problem, useAction } from "../../parts/use-action.tsx";
import { NamedSecrets } from "./named-secrets.tsx";
import { ServerTools } from "./server-tools.tsx";

interface Props {
  /** Null: a new one. */
  readonly name: string | null;
  readonly before: ServerSettings | null;
  /** `saved`: the name it has; null: nothing was changed. */
  readonly onDone: (saved: string | null) => void;
}

const MAX_NAME = 32;
const MAX_TEXT = 4_096;
const LIST_ROWS = 3;
const KINDS = [
  ["program", "a program on this machine"],
  ["address", "an address"],
] as const;
const NETWORKS = [
  ["none", "no host"],
  ["hosts", "these hosts"],
  ["all", "every public host"],
  ["machine", "all that this machine reaches, unseen by the gateway"],
] as const;
const KEPT_NETWORK = ["kept", "the hosts in the settings"] as const;

export function ServerForm({ name, before, onDone }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const fields = useFields(typedOf(name ?? "", before));
  const problems = useSignal<FieldProblems>({});
  const tried = useSignal<McpServerStatus | null>(null);
  const { busy, problem, run } = useAction();
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>("input, select, textarea")?.focus(), []);

  /** Null when nothing is wrong; otherwise a sentence about the form, and the focus is where it is. */
  const found = (next: FieldProblems): string | null => {
    problems.value = next;
    if (Object.keys(next).length === 0) return null;
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
    return next.form ?? "Look at the fields that are marked.";
  };
  const check = (typed: TypedServer): string | null =>
    found(problemsOf(typed, name === null ? Object.keys(serverSettings.value ?? {}) : []));
  const test = async (): Promise<string | null> => {
    tried.value = null;
    const typed = typedNow(fields);
    const wrong = check(typed);
    if (wrong !== null) return wrong;
    const edits = editsToTry(typed, before);
    const refused = found(await checkServer(typed.name, edits));
    if (refused !== null) return refused;
    const answer = await tryServer(typed.name, edits);
    if (!answer.ok) return answer.error.message;
    tried.value = answer.value;
    return null;
  };
  const save = async (): Promise<string | null> => {
    const typed = typedNow(fields);
    const wrong = check(typed);
    if (wrong !== null) return wrong;
    const edits = serverEdits(typed, before);
    const refused = edits.length === 0 ? null : found(await saveServer(typed.name, edits));
    if (refused === null) onDone(typed.name);
    return refused;
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    tried.value = null;
    void run(save);
  };
  return (
    <form
      ref={form}
      class="form job-form"
      noValidate
      aria-label={name === null ? "New MCP server" : `Change ${name}`}
      data-testid="server-form"
      onSubmit={submit}
    >
      {name === null && (
        <TextField
          label="Name"
          value={fields.name}
          maxLength={MAX_NAME}
          placeholder="shop"
          exact
          problem={problems.value.name}
        />
      )}
      <SelectField label="It is" value={fields.kind} choices={KINDS} />
      {fields.kind.value === "program" ? (
        <ProgramFields
          fields={fields}
          problems={problems.value}
          isKept={before !== null && before.network === undefined}
        />
      ) : (
        <AddressFields fields={fields} problems={problems.value} />
      )}
      <ToolFields fields={fields} problems={problems.value} />
      <div class="approval-buttons">
        <button type="button" class="quiet edged" disabled={busy} onClick={() => void run(test)}>
          Test
        </button>
        <button type="submit" class="primary" disabled={busy}>
          {name === null ? "Save server" : "Save changes"}
        </button>
        <button type="button" class="quiet edged" onClick={() => onDone(null)}>
          Cancel
        </button>
      </div>
      <div class="whole" role="status" data-testid="tried">
        {busy && <p class="about">Asking the gateway. A program is started for this, which can take a minute…</p>}
        {!busy && tried.value && <ServerTools server={tried.value} />}
      </div>
      {!busy && <Problem text={problem} />}
    </form>
  );
}

/** A server that is unchanged can be tried, too. */
function editsToTry(typed: TypedServer, before: ServerSettings | null) {
  const edits = serverEdits(typed, before);
  return edits.length > 0 ? edits : [{ path: ["mcp", "servers", typed.name, "enabled"], value: typed.enabled }];
}

type Fields = { readonly [Key in keyof TypedServer]: Signal<TypedServer[Key]> };

function useFields(first: TypedServer): Fields {
  return {
    name: useSignal(first.name),
    kind: useSignal(first.kind),
    command: useSignal(first.command),
    args: useSignal(first.args),
    env: useSignal(first.env),
    network: useSignal(first.network),
    hosts: useSignal(first.hosts),
    url: useSignal(first.url),
    headers: useSignal(first.headers),
    allow: useSignal(first.allow),
    deny: useSignal(first.deny),
    ownerOnly: useSignal(first.ownerOnly),
    enabled: useSignal(first.enabled),
  };
}

function typedNow(fields: Fields): TypedServer {
  const values = Object.entries(fields).map(([key, field]) => [key, field.value] as const);
  return { ...(Object.fromEntries(values) as unknown as TypedServer), name: fields.name.value.trim() };
}

interface PartProps {
  readonly fields: Fields;
  readonly problems: FieldProblems;
}

/** `isKept`: hosts of the settings, which are not shown. */
function ProgramFields({ fields, problems, isKept }: PartProps & { readonly isKept: boolean }) {
  return (
    <>
      <TextField
        label="Program"
        value={fields.command}
        maxLength={MAX_TEXT}
        placeholder="npx"
        exact
        wide
        problem={problems.command}
      />
      <TextArea
        label="Arguments, one a line"
        value={fields.args}
        rows={LIST_ROWS}
        placeholder={"-y\n@modelcontextprotocol/server-everything"}
        code
        problem={problems.args}
      />
      <NamedSecrets legend="Environment variables" one="variable" secrets={fields.env} problem={problems.env} />
      <SelectField
        label="It may reach"
        value={fields.network}
        choices={isKept ? [KEPT_NETWORK, ...NETWORKS] : NETWORKS}
        problem={fields.network.value === "hosts" ? undefined : problems.network}
      />
      {fields.network.value === "hosts" && (
        <TextArea
          label="Hosts, one a line"
          value={fields.hosts}
          rows={2}
          placeholder="registry.npmjs.org"
          code
          problem={problems.network}
        />
      )}
      <p class="about whole">
        It runs in the sandbox, and gets these variables and nothing else of the gateway's environment. A program that
        npx downloads needs the host registry.npmjs.org.
      </p>
    </>
  );
}

function AddressFields({ fields, problems }: PartProps) {
  return (
    <>
      <TextField
        label="Address"
        value={fields.url}
        maxLength={MAX_TEXT}
        placeholder="https://shop.example/mcp"
        exact
        wide
        problem={problems.url}
      />
      <NamedSecrets legend="Headers" one="header" secrets={fields.headers} problem={problems.headers} />
      <p class="about whole">
        Headers are sent to this address alone. A server that wants a login is saved first; then{" "}
        <code>pi-gw mcp login NAME</code> signs in.
      </p>
    </>
  );
}

function ToolFields({ fields, problems }: PartProps) {
  return (
    <>
      <TextArea
        label="Tools to take, one a line; * is any text"
        value={fields.allow}
        rows={2}
        code
        problem={problems.allow}
      />
      <TextArea label="Tools to leave out, one a line" value={fields.deny} rows={2} code problem={problems.deny} />
      <CheckField label="Only owners use its tools" value={fields.ownerOnly} />
      <CheckField label="Switched on" value={fields.enabled} />
      <p class="about whole">
        Values of variables and headers are written to the settings and never shown again; <code>{"${NAME}"}</code>{" "}
        takes one from the gateway's environment.
      </p>
    </>
  );
}
