/** The gateways on one database: which live, since when, what each has to do and holds, and what differs. One is drained before it is stopped. */
import { useEffect, useRef } from "preact/hooks";
import type { ListedNode, NodeList } from "../../../src/contracts/store/nodes.ts";
import { canDrain, drainGateway, gateways, inOrder, readGateways, workText } from "../../state/gateways-state.ts";
import { dateText } from "../../text/dates.ts";
import { AskFirst } from "../parts/ask-first.tsx";
import { ViewFrame } from "../parts/view-frame.tsx";
import { SYSTEM_TABS } from "./system-tabs.ts";

const READ_EVERY_MS = 3_000;
const STATES = { live: "lives", draining: "drains", gone: "has ended" } as const;

export function GatewaysView() {
  const region = useRef<HTMLDivElement>(null);
  useEffect(() => {
    void readGateways();
    const timer = setInterval(() => void readGateways(), READ_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  const now = gateways.value;
  return (
    <ViewFrame name="System" testId="gateways-view" tabs={SYSTEM_TABS} region={region}>
      <section class="part">
        <h2>Gateways on this database</h2>
        {now === null && <p class="about">Reading…</p>}
        {now === "failed" && <p class="about">They could not be read. Is the gateway connected?</p>}
        {now !== null && now !== "failed" && <List all={now} onDone={() => region.current?.focus()} />}
      </section>
    </ViewFrame>
  );
}

function List({ all, onDone }: { readonly all: NodeList; readonly onDone: () => void }) {
  const live = all.items.filter(({ state }) => state !== "gone").length;
  return (
    <>
      <p class="about">
        {live < 2
          ? "This gateway is alone with its database. Several share one on Postgres, and go on with the work of one that ends."
          : `${live} gateways share the work. People are served by whichever they reach.`}
      </p>
      <ul class="tool-list" aria-label="Gateways">
        {inOrder(all).map((node) => (
          <li key={node.id}>
            <OneGateway all={all} node={node} onDone={onDone} />
          </li>
        ))}
      </ul>
    </>
  );
}

interface OneProps {
  readonly all: NodeList;
  readonly node: ListedNode;
  readonly onDone: () => void;
}

function OneGateway({ all, node, onDone }: OneProps) {
  const { id, name, version, state, startedAt, renewedAt, differs } = node;
  const isHere = id === all.self;
  const work = workText(node);
  return (
    <div class="tool card" data-testid="gateway" data-state={state}>
      <h3>
        {isHere ? `${name} (this gateway)` : name}
        <small>
          version {version}, {STATES[state]}
        </small>
      </h3>
      <p class="about">
        Since {dateText(startedAt, "whole")}, last heard of {dateText(renewedAt, "whole")}.
        {work !== "" && ` ${work[0]?.toUpperCase()}${work.slice(1)}.`}
        {takenOver(all, node)}
      </p>
      {differs.length > 0 && (
        <p class="tool-reason" role="note">
          Other {differs.join(" and ")} than this gateway.
        </p>
      )}
      {canDrain(all, node) && (
        <AskFirst
          verb="Drain"
          to={isHere ? "this gateway" : name}
          question="Leave its sessions to the others? Running turns end, new sessions begin elsewhere, and it does not take any again until it is started anew."
          act={() => drainGateway(id)}
          onDone={onDone}
        />
      )}
    </div>
  );
}

function takenOver({ items }: NodeList, { takenOverBy }: ListedNode): string {
  if (takenOverBy === null) return "";
  return ` ${items.find(({ id }) => id === takenOverBy)?.name ?? takenOverBy} has taken over from it.`;
}
