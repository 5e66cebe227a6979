import type { Database } from 'better-sqlite3';
import type { ContractOutcome, DiagnosticRow, WebhookRow } from '../contract/values.ts';
import { Webhooks } from '../delivery/webhook/webhooks.ts';
import type { Hub } from '../events/hub.ts';
import type { EventType } from '../events/occurrence.ts';
import { namesFor } from './client-names.ts';
import type { Engine } from './engine.ts';
import { describeFault } from './log.ts';

/** Webhooks with the engine's edges. What comes to a receiver counts once it was accepted: a 2xx is its receipt. */
export function webhooksOf(engine: Engine, db: Database, hubs: ReadonlyMap<EventType, Hub>): Webhooks {
  const { policy, clock, options } = engine;
  return new Webhooks({
    db, hubs, policy, clock,
    hostKey: options.sealKey ?? null,
    loopback: options.kind === 'serve' ? options.loopbackReceivers ?? null : null,
    names: (type, principal) => namesFor(engine, type, principal),
    listener: {
      delivered: (type, { eventId, storeRow }, client) => {
        engine.live.told('delivered', eventId, client);
        engine.seen.delivered(client, clock.now());
        engine.activity.record({ kind: 'delivered', type, client, eventId, rowid: storeRow });
        engine.changes.stirred();
      },
      gaveUp: (type, { eventId, storeRow }, client) => engine.activity.record({ kind: 'not_sent', type, client, eventId, rowid: storeRow, reason: 'webhook' }),
      happened: (what, type, client) => engine.activity.record(what === 'suspended' ? { kind: 'changed', type, client, reason: 'A webhook is suspended: its receiver failed' } : { kind: what, type, client }),
      changed: () => engine.changes.stirred(),
      fault: (error) => options.log(`webhooks: ${describeFault(error)}`),
    },
  });
}

export const webhookRows = (engine: Engine): WebhookRow[] => engine.webhooks.list().map((view) => ({ ...view }));

export function stopWebhook(engine: Engine, id: string): ContractOutcome {
  if (!engine.webhooks.stop(id)) return { ok: false, code: 'unknown', message: 'No webhook has this id.' };
  engine.activity.record({ kind: 'changed', reason: 'A webhook was stopped' });
  return { ok: true, changed: true, sentence: 'The webhook is stopped.' };
}

export function webhooksRow(engine: Engine): DiagnosticRow {
  const row = { id: 'webhooks', title: 'Webhooks' };
  const { hosts } = engine.policy.settings;
  if (hosts.length === 0) return { ...row, state: 'cant-check', evidence: 'off: no host is listed', fix: null };
  const rows = engine.webhooks.list();
  const evidence = `${hosts.length} ${hosts.length === 1 ? 'host' : 'hosts'}, ${rows.length} set`;
  const failing = rows.filter(({ state }) => state === 'retrying' || state === 'suspended').length;
  return failing === 0 ? { ...row, state: 'ok', evidence, fix: null } : { ...row, state: 'warning', evidence: `${evidence}, ${failing} whose receiver fails`, fix: 'belfry webhooks list' };
}
