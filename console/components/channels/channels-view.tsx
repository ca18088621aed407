/** Channels and the people on them: which are connected, and who may write. */
import { status } from "../../state/console-state.ts";
import type { GatewayStatus } from "../../../src/contracts/wire.ts";
import { Icon } from "../icons.tsx";
import { ViewFrame } from "../parts/view-frame.tsx";
import { People } from "./people.tsx";

export function ChannelsView() {
  return (
    <ViewFrame name="Channels" testId="channels-view">
      <h2 class="hidden">Channels</h2>
      <ul class="tool-list" aria-label="Channels">
        {(status.value?.channels ?? []).map((channel) => (
          <li key={channel.id}>
            <OneChannel {...channel} />
          </li>
        ))}
      </ul>
      <People />
    </ViewFrame>
  );
}

function OneChannel({ id, ok, detail }: GatewayStatus["channels"][number]) {
  return (
    <div class="tool" data-testid="channel" data-status={ok ? "success" : "error"}>
      <div class="row-line">
        <span class="tool-status">
          <Icon name={ok ? "check" : "alert"} size={16} />
        </span>
        <strong class="row-name">{id}</strong>
        <span>{detail || (ok ? "connected" : "not connected")}</span>
      </div>
    </div>
  );
}
