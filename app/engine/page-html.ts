import { createHash } from 'node:crypto';

const style = `
:root { color-scheme: light dark; --bg: #F5F5F7; --surface: #FFFFFF; --text: #1D1D1F; --text-2: #515156; --line: #D2D2D7; --ok: #1B7430; --warn: #8A5300; --accent: #0B63CE; }
@media (prefers-color-scheme: dark) { :root { --bg: #1C1C1E; --surface: #2A2A2D; --text: #F5F5F7; --text-2: #C7C7CC; --line: #3E3E42; --ok: #5FD07A; --warn: #FFB84D; --accent: #5AA9FF; } }
body { margin: 0; background: var(--bg); color: var(--text); font: 13px/18px -apple-system, BlinkMacSystemFont, system-ui, sans-serif; }
main { max-width: 760px; margin: 0 auto; padding: 24px 16px; }
h1 { font-size: 17px; line-height: 22px; margin: 0 0 4px; }
#status { color: var(--text-2); margin: 0 0 16px; }
#rows { list-style: none; margin: 0; padding: 0; }
#rows li { background: var(--surface); border: 1px solid var(--line); border-radius: 8px; padding: 8px 12px; margin-bottom: 8px; display: grid; grid-template-columns: 72px 1fr auto; gap: 4px 12px; }
time { color: var(--text-2); font-variant-numeric: tabular-nums; }
.what { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.subject { grid-column: 2; color: var(--text-2); }
.sent { color: var(--ok); } .held { color: var(--warn); }
details { grid-column: 2 / -1; } summary { color: var(--accent); cursor: pointer; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: 11px/16px ui-monospace, Menlo, monospace; margin: 4px 0 0; }
`;

/** Text goes in by textContent only: names and subjects are hostile (ui.md 1.10). */
const script = `
const WHY = { paused: 'paused', 'no-allowed-sender': 'no allowed sender matches', 'client-not-allowed': 'client not allowed', rate: 'ceiling reached', 'no-listener': 'nobody listens for it', waiting: 'waiting in a watch', sent: 'your own message', backfill: 'old message synced late', moved: 'moved, not new', junk: 'junk', draft: 'a draft', trash: 'in the trash', outbox: 'in the outbox', tapback: 'a reaction', twin: 'the second of a pair', spam: 'filtered as spam' };
const rows = document.getElementById('rows'), status = document.getElementById('status'), empty = document.getElementById('empty');
const add = (parent, tag, cls, text) => { const e = document.createElement(tag); e.className = cls; e.textContent = text; e.dir = 'auto'; parent.append(e); return e; };
const source = new EventSource('/live');
source.addEventListener('status', (e) => {
  const s = JSON.parse(e.data);
  status.textContent = s.trouble.length ? 'Can\\'t read ' + s.trouble.map((t) => t.type).join(' and ') + ' (' + s.trouble[0].reason + ').'
    : s.on.length === 0 ? 'Everything is off.' : s.paused !== null ? 'Paused.' : 'Watching ' + s.on.join(' and ') + '. ' + s.streams + ' open stream' + (s.streams === 1 ? '' : 's') + '.';
});
source.addEventListener('row', (e) => {
  const row = JSON.parse(e.data), p = row.payload;
  empty.hidden = true;
  const li = document.createElement('li');
  add(li, 'time', '', new Date(row.at).toTimeString().slice(0, 8));
  const address = p.from.address ?? p.from.handle ?? 'unknown';
  add(li, 'span', 'what', (row.type === 'mail.received' ? 'Mail  ' : 'Msg  ') + (p.from.name ? p.from.name + ' <' + address + '>' : address));
  add(li, 'span', row.reason === null ? 'sent' : 'held', row.reason === null ? '\\u2713 Sent to ' + row.sentTo.join(', ') : '\\u25CB Not sent: ' + (WHY[row.reason] ?? row.reason));
  if (p.subject) add(li, 'span', 'subject', p.subject);
  if (row.json) { const d = document.createElement('details'); add(d, 'summary', '', 'What was sent'); add(d, 'pre', '', JSON.stringify(JSON.parse(row.json), null, 2)); li.append(d); }
  rows.prepend(li);
  while (rows.children.length > 200) rows.lastChild.remove();
});
source.onerror = () => { status.textContent = 'The engine does not answer. This page goes on by itself.'; };
`;

/** A plain page until the window's page is served here: status line, and each arrival with its verdict. */
export const pageHtml = {
  scriptHash: createHash('sha256').update(script).digest('base64'),
  text: `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Belfry</title><style>${style}</style></head><body><main><h1>Belfry: live</h1><p id="status" role="status">Checking...</p><p id="empty">Nothing yet. Events show up here as they arrive.</p><ul id="rows"></ul></main><script>${script}</script></body></html>`,
};
