import { useEffect, useId, useRef } from 'react';
import { EVENT_TITLES } from '../../app/contract/glance.ts';
import type { LiveRow } from '../../app/contract/values.ts';
import { Badge } from '../parts/badge.tsx';
import { Button, IconButton } from '../parts/button.tsx';
import { CodeBox, CopyButton } from '../parts/code-box.tsx';
import { Address, PersonName } from '../parts/person-name.tsx';
import { hourMinuteSecond } from '../../app/contract/time-words.ts';
import { openAddSender, useView } from '../stores/view-store.ts';
import { hiddenSender, SHOWS_SENDER, statusWords, verdictSentences, whyWords } from './words.ts';
import './live-detail.css';

/** Left the fields in plain words, right exactly what was sent. Esc closes it and goes back to the row. */
export function LiveDetail({ row, onClose }: { readonly row: LiveRow; readonly onClose: () => void }) {
  const hidden = useView((view) => view.hideDetails);
  const heading = useId();
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  const { text, kind, icon } = statusWords(row.status);
  const json = row.json === null ? null : JSON.stringify(row.json, null, 2);
  return (
    // Esc pressed in a control of the detail is heard here on its way up.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <section
      className="live-detail" aria-labelledby={heading}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onClose();
      }}
    >
      <div className="live-detail-head">
        <h2 ref={title} id={heading} tabIndex={-1}>{EVENT_TITLES[row.type]} at <span className="numbers">{hourMinuteSecond(row.at)}</span></h2>
        <IconButton icon="close" label="Close details" onClick={onClose} />
      </div>
      <div className="live-detail-halves">
        <div className="live-detail-half">
          <Badge kind={kind} text={text} icon={icon} />
          <Verdicts row={row} />
          {row.reason === 'no-allowed-sender' && row.sender !== '' && <div><Button title={hidden ? SHOWS_SENDER : undefined} onClick={() => openAddSender(row.sender)}>Allow sender</Button></div>}
          <dl className="live-facts"><Facts row={row} hidden={hidden} /></dl>
        </div>
        <div className="live-detail-half">
          {json === null && <p className="muted">Nothing was sent.</p>}
          {json !== null && hidden && <p className="muted">Details are hidden.</p>}
          {json !== null && !hidden && (
            <>
              <div className="live-detail-head">
                <h3>Exactly what is sent</h3>
                <CopyButton text={json} name="what is sent" label="Copy JSON" />
              </div>
              <CodeBox text={json} name="What is sent, as JSON" copy={false} />
            </>
          )}
        </div>
      </div>
    </section>
  );
}

function Verdicts({ row }: { readonly row: LiveRow }) {
  const why = whyWords(row);
  const sentences = [
    ...(why === null ? [] : [`${why}.`]),
    ...(row.status === 'waiting' && row.number === null ? ['It is handed over once earlier events are.'] : []),
    ...(row.test ? ['A test that you asked for: nobody wrote.'] : []),
    ...verdictSentences(row, hourMinuteSecond(row.at)),
  ];
  return <>{sentences.map((sentence) => <p key={sentence}><PersonName text={sentence} whole /></p>)}</>;
}

function Facts({ row, hidden }: { readonly row: LiveRow; readonly hidden: boolean }) {
  const isMail = row.type === 'mail.received';
  const fact = (name: string, value: string | null) => value !== null && value !== '' && (
    <div key={name} className="live-fact">
      <dt>{name}</dt>
      <dd><PersonName text={value} whole /></dd>
    </div>
  );
  return (
    <>
      {hidden ? fact('From', hiddenSender(row)) : (
        <>
          {fact('Name', row.name)}
          {row.sender !== '' && (
            <div className="live-fact">
              <dt>{isMail ? 'Address' : 'Sender'}</dt>
              <dd><Address text={row.sender} whole /></dd>
            </div>
          )}
          {fact('Subject', row.subject)}
          {fact(isMail ? 'Mailbox' : 'Chat', row.place)}
        </>
      )}
      {fact('Service', row.service)}
      {fact('Attachments', String(row.attachments))}
      <div className="live-fact">
        <dt>Event</dt>
        <dd><code>{row.type}</code></dd>
      </div>
      <div className="live-fact">
        <dt>Event id</dt>
        <dd><code>{row.eventId}</code></dd>
      </div>
    </>
  );
}
