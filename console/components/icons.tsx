/** The web console's own small icons: 24 units square, drawn with the colour of the text around them. */
const PATHS = {
  menu: "M5 12h.1M12 12h.1M19 12h.1",
  list: "M4 7h16M4 12h16M4 17h16",
  pin: "M9 4h6l-1 6 3.5 3.5H6.5L10 10zM12 13.5V20",
  plus: "M12 5v14M5 12h14",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM20 20l-4-4",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M8 8h8v8H8z",
  image: "M5 5h14v14H5zM5 16l4.5-4.5L14 16l2.5-2.5L19 16M15 9.2v.1",
  file: "M7 3h7l4 4v14H7zM14 3v4h4",
  close: "M6 6l12 12M18 6L6 18",
  copy: "M9 9h10v10H9zM5 15V5h10",
  good: "M7 11v9H4v-9zM7 11l4-7c1.4 0 2 1 2 2v4h5.4a1.6 1.6 0 0 1 1.6 1.9l-1.2 6.5a1.9 1.9 0 0 1-1.9 1.6H7",
  bad: "M7 13V4H4v9zM7 13l4 7c1.4 0 2-1 2-2v-4h5.4a1.6 1.6 0 0 0 1.6-1.9l-1.2-6.5A1.9 1.9 0 0 0 16.9 4H7",
  check: "M5 12.5l4.5 4.5L19 7.5",
  alert: "M12 8v5M12 16.4v.1M12 3.5l9 16H3z",
  blocked: "M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16ZM6.5 6.5l11 11",
  unknown: "M9.5 9.5a2.6 2.6 0 1 1 3.6 2.5c-.8.4-1.1.9-1.1 1.8M12 17v.1M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 7v5l3.2 2",
  pause: "M9 6v12M15 6v12",
  tools: "M14.5 6.5a4 4 0 0 1 5.2 5.2L17 9.5l-2-2zM14.6 10.4L6 19l-2-2 8.6-8.6",
  chevron: "M9 6l6 6-6 6",
  back: "M15 6l-6 6 6 6",
  attach: "M19 11.5l-7.6 7.6a4.6 4.6 0 0 1-6.5-6.5L13 4.5a3 3 0 0 1 4.3 4.3L9.2 17a1.5 1.5 0 0 1-2.1-2.1l7.4-7.5",
  microphone:
    "M12 15a3.2 3.2 0 0 0 3.2-3.2V7.2a3.2 3.2 0 0 0-6.4 0v4.6A3.2 3.2 0 0 0 12 15ZM6 11.5a6 6 0 0 0 12 0M12 17.5V21",
  steer: "M4 12h10M10 6l6 6-6 6M20 5v14",
  branch: "M7 4v16M7 14c6 0 10-2 10-7M17 7V4M14 7l3-3 3 3",
  down: "M12 5v14M6 13l6 6 6-6",
  reply: "M10 8L5 13l5 5M5 13h8a6 6 0 0 0 6-6V5",
  retry: "M19 12a7 7 0 1 1-2.2-5.1M19 4v4h-4",
  edit: "M5 19h3.5L18.5 9 15 5.5 5 15.5zM13 7.5l3.5 3.5",
  auto: "M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16ZM12 4v16M12 8h4M12 12h5M12 16h4",
  light:
    "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6L7 7M17 17l1.4 1.4M5.6 18.4L7 17M17 7l1.4-1.4",
  dark: "M19.5 14A8 8 0 0 1 10 4.5 8 8 0 1 0 19.5 14Z",
  key: "M14.5 13.5a5 5 0 1 0-4-4L4 16v4h4v-2.5h2.5V15h2.2zM16 8v.1",
  chat: "M5 5h14v10.5H11L7 19v-3.5H5z",
  inbox: "M4 13l2.5-8h11L20 13v6H4zM4 13h4.5l1.5 2.5h4l1.5-2.5H20",
  activity: "M3 12h4l2.5-7 5 14 2.5-7h4",
  people:
    "M9 11.5a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4ZM3.5 19c.4-3 2.6-5 5.5-5s5.1 2 5.5 5M15.5 11.3a2.8 2.8 0 1 0-.6-5.4M16 14.2c2.4.2 4.1 2 4.5 4.8",
  model: "M9 4v2M15 4v2M9 18v2M15 18v2M4 9h2M4 15h2M18 9h2M18 15h2M6 6h12v12H6zM10 10h4v4h-4z",
  agent: "M12 4v3M6 8h12v10H6zM3.5 12v3M20.5 12v3M9.5 12v.1M14.5 12v.1M9.5 15.5h5",
  chart: "M4 20h16M7 16v-5M12 16V6M17 16v-8",
  leave: "M14 5H6v14h8M10 12h10M16.5 8.5L20 12l-3.5 3.5",
  spinner: "M12 4a8 8 0 0 1 8 8",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 20 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg class={`icon icon-${name}`} width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.8"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}

export function Logo() {
  return (
    <svg class="logo" width="28" height="28" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="9" />
      <path d="M8.5 12h15M12.5 12v10M19.5 12v7.2c0 1.9 1 2.8 2.8 2.8" />
    </svg>
  );
}
