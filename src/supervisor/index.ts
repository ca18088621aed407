/** The supervisor that started the gateway, such as systemd: it is told when the gateway is ready, alive and stopping. Starts and stops nothing. */
export { openSupervisor, type Supervisor } from "./supervisor.ts";
