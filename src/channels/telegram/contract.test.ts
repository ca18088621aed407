/** Telegram keeps what every channel promises. */
import { channelContract } from "../../testing/contracts/channel-contract.ts";
import { telegramWorld } from "../../testing/telegram/telegram-world.ts";

channelContract("telegram", () => telegramWorld());
