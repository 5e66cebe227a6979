import { ProbeFailure } from './failure.ts';
import type { Notification } from './link.ts';
import type { Draft } from './report.ts';
import type { Action } from './request.ts';
import type { Session } from './session.ts';

const CHANNEL = 'claude/channel';
const MAX_KEPT = 100;

/**
 * Listens as a client of the older handshake does that knows channels: says whether one is declared, and shows every
 * notification that comes, declared or not. A client would throw away in silence what is not declared.
 */
export async function channel(session: Session, action: Extract<Action, { do: 'channel' }>, note: (line: string) => void, draft: Draft<'channel'>): Promise<void> {
  draft.channelDeclared = session.declares('experimental', CHANNEL);
  draft.hasInstructions = session.instructions !== null;
  if (draft.channelDeclared && !draft.hasInstructions) note('The channel is declared without instructions: a model gets its messages and does not know what they are.');
  let left = action.count;
  let finish = () => {};
  const enough = new Promise<void>((resolve) => {
    finish = resolve;
  });
  session.link.onnotification = ({ method, params }: Notification) => {
    draft.notificationCount += 1;
    draft.notificationReceived = true;
    if (draft.notifications.length < MAX_KEPT) draft.notifications = [...draft.notifications, { method, params }];
    if (!draft.channelDeclared || method !== `notifications/${CHANNEL}`) return;
    left -= 1;
    if (left === 0) finish();
  };
  await session.link.listen();
  const gone = session.link.gone.catch((error: unknown) => {
    draft.closeReason = 'remote';
    throw new ProbeFailure('STREAM_DISCONNECTED', `The connection broke off. ${(error as Error).message}`);
  });
  await session.deadline.within(Promise.race([enough, gone]), () => {
    draft.closeReason = 'local';
    return late(draft);
  });
  draft.closeReason = 'local';
  draft.route = 'event';
}

function late(draft: Draft<'channel'>): ProbeFailure {
  draft.route = 'timeout';
  const pushed = draft.notifications.some(({ method }) => method === `notifications/${CHANNEL}`);
  if (draft.channelDeclared) return new ProbeFailure('NOTIFICATION_TIMEOUT', 'The channel is declared, and nothing came on it in time.');
  if (pushed) return new ProbeFailure('PROTOCOL_VIOLATION', 'The server pushes to a channel that it does not declare: clients throw that away.');
  return new ProbeFailure('EXTENSION_NOT_DECLARED', `The server does not declare experimental["${CHANNEL}"].`);
}
