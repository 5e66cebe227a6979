import { useRef } from 'react';
import type { WebhookRow } from '../../app/contract/values.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { PersonName } from '../parts/person-name.tsx';
import { Time } from '../parts/time.tsx';
import { engine, useEngine } from '../stores/engine-store.ts';
import { run } from '../stores/notice-store.ts';
import { watchTitle } from './watch-words.ts';
import { webhookCounts, webhookState } from './webhook-words.ts';

const NO_WEBHOOKS: readonly WebhookRow[] = [];

/** Where a client has events sent to; nothing while it has none. */
export function WebhooksPart({ client }: { readonly client: string }) {
  const webhooks = (useEngine(({ slices }) => slices?.webhooks) ?? NO_WEBHOOKS).filter((webhook) => webhook.client === client);
  const heading = useRef<HTMLHeadingElement>(null);

  // It only takes away, so nothing is asked before.
  async function stop(id: string) {
    if (await run(engine.webhooks.stop({ id }))) heading.current?.focus();
  }

  return webhooks.length === 0 ? null : (
    <section aria-labelledby="client-webhooks" className="clients-group">
      <h2 ref={heading} id="client-webhooks" tabIndex={-1}>Webhooks</h2>
      <ul role="list" aria-label="Webhooks" className="clients-list">
        {webhooks.map((webhook) => {
          const { text, kind, sentence } = webhookState(webhook);
          const title = watchTitle(webhook);
          return (
            <li key={webhook.id} className="watch">
              <div className="watch-words">
                <p className="watch-first"><span className="watch-title">{title}</span> <Badge kind={kind} text={text} /></p>
                <p>To <PersonName text={webhook.host} whole /></p>
                <p className="muted">{webhookCounts(webhook)}</p>
                {sentence !== null && <p className="muted">{sentence}</p>}
                <p className="hint">Made <Time at={webhook.createdAt} />{webhook.expiresAt !== null && <>, until <Time at={webhook.expiresAt} /> unless its client asks again</>}</p>
              </div>
              <div className="watch-actions"><Button dense aria-label={`Stop: ${title}`} onClick={() => void stop(webhook.id)}>Stop</Button></div>
            </li>
          );
        })}
      </ul>
      <p className="hint">Stop takes effect at once. The client can ask for a new one; it gets only what you allow, and only to hosts that you list in Settings.</p>
    </section>
  );
}
