/** The little of a service worker's world that is used here: the types of the web console know only windows. */
export interface WorkerScope {
  readonly registration: WorkerRegistration;
  readonly clients: {
    claim(): Promise<void>;
    matchAll(options: {
      readonly type: "window";
      readonly includeUncontrolled: boolean;
    }): Promise<readonly WorkerClient[]>;
    openWindow(url: string): Promise<unknown>;
  };
  skipWaiting(): Promise<void>;
  addEventListener(type: "install" | "activate", listener: (event: WorkerEvent) => void): void;
  addEventListener(type: "push", listener: (event: PushMessage) => void): void;
  addEventListener(type: "notificationclick", listener: (event: NotificationClick) => void): void;
  addEventListener(type: "pushsubscriptionchange", listener: (event: SubscriptionChange) => void): void;
  addEventListener(type: "fetch", listener: (event: WorkerFetch) => void): void;
}

interface WorkerRegistration {
  showNotification(title: string, options: ShownOptions): Promise<void>;
}

/** `actions` and `renotify` are missing from the types of windows. */
export interface ShownOptions {
  readonly body: string;
  readonly tag: string;
  readonly icon: string;
  readonly badge: string;
  readonly requireInteraction?: boolean;
  readonly renotify?: boolean;
  readonly silent?: boolean;
  readonly actions?: readonly { readonly action: string; readonly title: string }[];
  readonly data: unknown;
}

interface WorkerEvent {
  /** The worker lives at least until then. */
  waitUntil(work: Promise<unknown>): void;
}

interface PushMessage extends WorkerEvent {
  readonly data: { json(): unknown } | null;
}

interface NotificationClick extends WorkerEvent {
  /** Empty: the notification itself. */
  readonly action: string;
  readonly notification: { readonly title: string; readonly data: unknown; close(): void };
}

interface SubscriptionChange extends WorkerEvent {
  readonly oldSubscription: PushSubscription | null;
  readonly newSubscription: PushSubscription | null;
}

interface WorkerFetch extends WorkerEvent {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}

interface WorkerClient {
  readonly url: string;
  focus(): Promise<WorkerClient>;
  navigate(url: string): Promise<unknown>;
}
