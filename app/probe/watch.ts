import { fits, listAll, violation } from './events.ts';
import { isLoss, ProbeFailure } from './failure.ts';
import { isObject, SUBSCRIPTION_ID, subscriptionOf, type Exchange, type Json, type JsonObject, type Notification } from './link.ts';
import { refusalOf } from './refusal.ts';
import type { Draft } from './report.ts';
import type { Action, Until } from './request.ts';
import type { Session } from './session.ts';

type Watch = Extract<Action, { do: 'watch' }>;
interface Options {
  readonly skipList: boolean;
  note(line: string): void;
}

const UPDATED = 'notifications/resources/updated';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
/** Notifications that are kept; a server may send any number. */
const MAX_KEPT = 100;
/** What a resource says when there is more to come: the same subscription goes on. */
const POLL_LATER = 'POLL_AFTER';

/**
 * Reads a resource, subscribes to it, reads it once more so that no change falls between, and waits for an update
 * after which it is as it was asked for. The same subscription stays open until then.
 */
export async function watch(session: Session, action: Watch, options: Options, draft: Draft<'watch'>): Promise<void> {
  const { uri } = action;
  draft.resourceUri = uri;
  if (!session.declares('resources')) throw new ProbeFailure('EXTENSION_NOT_DECLARED', 'The server does not declare resources.');
  if (!options.skipList) await findResource(session, uri, draft);
  draft.initialText = await read(session, uri, draft);
  draft.resourceFound = true;
  const updates = new Updates(session, action, options, draft);
  const subscription = session.isModern ? listen(session, updates, draft) : subscribe(session, updates, draft);
  try {
    await session.deadline.within(Promise.race([updates.acknowledged, updates.broken, subscription.ended]), () => updates.late());
    if (!draft.honoredUris.includes(uri)) throw new ProbeFailure('SUBSCRIPTION_NOT_HONORED', 'The server acknowledged the subscription without this resource.');
    await follow(session, action, updates, subscription, draft);
    draft.closeReason = 'local';
  } catch (error) {
    if (isLoss(error) && draft.listenAcknowledged) {
      draft.closeReason = 'remote';
      throw new ProbeFailure('SUBSCRIPTION_DISCONNECTED', `The subscription broke off. ${error.message}`);
    }
    draft.closeReason ??= 'local';
    throw error;
  } finally {
    subscription.close();
  }
}

async function findResource(session: Session, uri: string, draft: Draft<'watch'>): Promise<void> {
  const all = await listAll(session, 'resources/list', 'resources');
  draft.resourceFound = all.some((resource) => resource['uri'] === uri);
  if (!draft.resourceFound) throw new ProbeFailure('RESOURCE_NOT_FOUND', 'The server does not list this resource.');
}

async function follow(session: Session, action: Watch, updates: Updates, subscription: Subscription, draft: Draft<'watch'>): Promise<void> {
  const { uri, until, count } = action;
  let seen = draft.notificationCount;
  draft.finalText = await read(session, uri, draft);
  // A change before the subscription sends no notice, and what is there already need not come.
  const isNew = seen > 0 || until !== null || draft.finalText !== draft.initialText;
  let good = isNew && isWanted(draft.finalText, until) ? 1 : 0;
  draft.route = seen > 0 ? 'subscription' : 'pre-completion';
  while (good < count) {
    await session.deadline.within(Promise.race([updates.after(seen), updates.broken, subscription.ended]), () => updates.late());
    seen = draft.notificationCount;
    draft.finalText = await read(session, uri, draft);
    draft.route = 'subscription';
    if (isWanted(draft.finalText, until)) good += 1;
  }
}

const isWanted = (text: string, until: Until | null): boolean => nextAction(text) !== POLL_LATER && textFits(text, until);

interface Subscription {
  /** Rejects when the server ends it. */
  readonly ended: Promise<never>;
  close(): void;
}

function listen(session: Session, updates: Updates, draft: Draft<'watch'>): Subscription {
  const { link } = session;
  link.onnotification = (notification) => updates.stray(notification);
  const exchange = session.start('subscriptions/listen', { notifications: { resourceSubscriptions: [draft.resourceUri!] } }, (notification, id) => updates.take(notification, id));
  return { ended: guarded(endOfListen(session, exchange, draft)), close: () => exchange.cancel() };
}

async function endOfListen(session: Session, exchange: Exchange, draft: Draft<'watch'>): Promise<never> {
  let answer;
  try {
    answer = await exchange.answer;
  } catch (error) {
    // Unless it was withdrawn: then it fails too, and nobody waits for it.
    draft.closeReason ??= 'remote';
    throw error;
  }
  if ('error' in answer) {
    const { code } = refusalOf(answer.error, { isBelfry: session.options.isBelfry, method: 'subscriptions/listen' });
    throw new ProbeFailure(code === 'EXTENSION_NOT_DECLARED' || code === 'INVALID_ARGS' ? 'SUBSCRIPTION_FAILED' : code, `The server refused subscriptions/listen with ${answer.error.code}: ${answer.error.message}`);
  }
  draft.closeReason ??= 'graceful';
  throw new ProbeFailure('STREAM_TERMINATED', 'The server ended the subscription.');
}

/** The older revisions: a request for each resource, updates by themselves. */
function subscribe(session: Session, updates: Updates, draft: Draft<'watch'>): Subscription {
  const { link } = session;
  const uri = draft.resourceUri!;
  if (!session.declares('resources', 'subscribe')) throw new ProbeFailure('SUBSCRIPTION_FAILED', 'The server does not declare subscriptions to resources.');
  link.onnotification = (notification) => updates.take(notification, undefined);
  const opened = (async () => {
    if (!(await link.listen())) throw new ProbeFailure('SUBSCRIPTION_FAILED', 'The server has no stream for updates.');
    const answer = await session.answer('resources/subscribe', { uri });
    if ('error' in answer) throw new ProbeFailure('SUBSCRIPTION_FAILED', `The server refused resources/subscribe with ${answer.error.code}: ${answer.error.message}`);
    updates.subscribed();
    return link.gone;
  })();
  return { ended: guarded(opened), close: () => void session.start('resources/unsubscribe', { uri }) };
}

/** It may be lost before anybody waits for it. */
function guarded<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  return work;
}

class Updates {
  readonly acknowledged: Promise<void>;
  readonly broken: Promise<never>;
  readonly #session: Session;
  readonly #uri: string;
  readonly #options: Options;
  readonly #draft: Draft<'watch'>;
  #acknowledge: () => void = () => undefined;
  #break: (failure: ProbeFailure) => void = () => undefined;
  #wake: () => void = () => undefined;

  constructor(session: Session, action: Watch, options: Options, draft: Draft<'watch'>) {
    this.#session = session;
    this.#uri = action.uri;
    this.#options = options;
    this.#draft = draft;
    this.acknowledged = new Promise((resolve) => {
      this.#acknowledge = resolve;
    });
    this.broken = guarded(new Promise<never>((_, reject) => {
      this.#break = reject;
    }));
  }

  /** Resolves once more than `seen` updates came. */
  async after(seen: number): Promise<void> {
    while (this.#draft.notificationCount <= seen) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  subscribed(): void {
    this.#draft.listenAcknowledged = true;
    this.#draft.honoredUris = [this.#uri];
    this.#acknowledge();
  }

  /** @param id of the listen request; undefined on the older revisions, which know none */
  take(notification: Notification, id: number | undefined): void {
    const { method, params } = notification;
    const draft = this.#draft;
    if (method === ACKNOWLEDGED && this.#session.isModern) {
      if (subscriptionOf(notification) !== id) return this.#break(violation(`The acknowledgement has another ${SUBSCRIPTION_ID} than the request.`));
      const honoured = isObject(params['notifications']) ? params['notifications']['resourceSubscriptions'] : undefined;
      draft.listenAcknowledged = true;
      draft.honoredUris = Array.isArray(honoured) ? honoured.filter((uri: Json): uri is string => typeof uri === 'string') : [];
      return this.#acknowledge();
    }
    if (!draft.listenAcknowledged && this.#session.isModern) return this.#break(violation(`The acknowledgement must come first; the server sent ${method}.`));
    if (this.#session.isModern && subscriptionOf(notification) !== id) return this.#break(violation(`${method} has another ${SUBSCRIPTION_ID} than the request.`));
    if (method !== UPDATED) {
      if (this.#session.isModern) this.#options.note(`The server sent ${method}, which was not asked for.`);
      return;
    }
    const uri = params['uri'];
    // What changed may be a part of the resource.
    if (uri !== this.#uri && !(typeof uri === 'string' && uri.startsWith(`${this.#uri}/`))) return;
    draft.notificationReceived = true;
    draft.notificationCount += 1;
    if (draft.notifications.length < MAX_KEPT) draft.notifications = [...draft.notifications, { method, uri }];
    this.#wake();
  }

  stray({ method }: Notification): void {
    if (method === UPDATED || method === ACKNOWLEDGED) this.#break(violation(`The server sent ${method} without the id of the subscription.`));
    else this.#options.note(`The server sent ${method}, which was not asked for.`);
  }

  late(): ProbeFailure {
    if (!this.#draft.listenAcknowledged) return new ProbeFailure('SERVER_TIMEOUT', 'The server did not acknowledge the subscription in time.');
    this.#draft.route = 'timeout';
    const { notificationCount } = this.#draft;
    return new ProbeFailure('NOTIFICATION_TIMEOUT', notificationCount === 0 ? 'No update came in time.' : `${notificationCount} ${notificationCount === 1 ? 'update' : 'updates'} came, and not what was asked for.`);
  }
}

async function read(session: Session, uri: string, draft: Draft<'watch'>): Promise<string> {
  const answer = await session.answer('resources/read', { uri });
  // -32002 on the older revisions, -32602 on the newer.
  if ('error' in answer && (answer.error.code === -32002 || answer.error.code === -32602)) throw new ProbeFailure('RESOURCE_NOT_FOUND', `The server has no such resource for this client: ${answer.error.message}`);
  const { contents } = session.resultOf(answer, 'resources/read');
  if (!Array.isArray(contents)) throw violation('The result of resources/read has no contents.');
  const text = contents.filter(isObject).map(textOf).join('\n');
  draft.recommendedNextAction = nextAction(text);
  return text;
}

const textOf = (content: JsonObject): string => {
  const { text, blob } = content;
  if (typeof text === 'string') return text;
  return typeof blob === 'string' ? `(${blob.length} characters of base64)` : '';
};

/** What the resource itself recommends, as a member of its JSON or on a line of its own. */
function nextAction(text: string): string | null {
  const json = objectOf(text);
  const member = json?.['recommended_next_action'] ?? json?.['recommendedNextAction'];
  if (typeof member === 'string') return member;
  return /^\s*recommended_next_action\s*[:=]\s*(\S+)\s*$/m.exec(text)?.[1] ?? null;
}

/** JSON by its members, other text by lines of `field: value` or `field=value`. */
function textFits(text: string, until: Until | null): boolean {
  if (until === null) return true;
  const json = objectOf(text);
  if (json !== null) return fits(json, until);
  const field = until.path.join('.');
  return text.split('\n').some((line) => {
    const split = /^\s*([^:=]+?)\s*[:=]\s*(.*?)\s*$/.exec(line);
    return split !== null && split[1] === field && split[2] === until.value;
  });
}

function objectOf(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
