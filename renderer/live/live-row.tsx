import { memo } from 'react';
import type { LiveRow } from '../../app/contract/values.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { addressLabel, cleanName } from '../parts/clean-name.ts';
import { Icon } from '../parts/icon.tsx';
import { Address, PersonName } from '../parts/person-name.tsx';
import { hourMinuteSecond } from '../../app/contract/time-words.ts';
import { useView } from '../stores/view-store.ts';
import { aboutWords, hiddenSender, kindWord, nobodyWords, SHOWS_SENDER, statusWords, whoWords, whyWords } from './words.ts';

/** In the document kind, sender, state and time follow each other, as they are read (ui.md, section 5); the grid places them. */
export const RowContent = memo(function RowContent({ row }: { readonly row: LiveRow }) {
  const hidden = useView((view) => view.hideDetails);
  const { text, kind, icon } = statusWords(row.status);
  const about = whyWords(row) ?? aboutWords(hidden ? { ...row, subject: null, place: null } : row);
  const who = whoWords(row);
  return (
    <>
      <span className="live-kind muted"><Icon id={row.type === 'mail.received' ? 'mail' : 'message'} size={14} /><span className="live-kind-word">{kindWord(row)}</span></span>
      <span className="live-sender"><Sender row={row} hidden={hidden} /></span>
      <span className="live-state"><Badge kind={kind} text={text} icon={icon} /></span>
      <span className="live-time numbers muted">{hourMinuteSecond(row.at)}</span>
      <span className="live-about muted">{row.test && <span className="live-test">Test </span>}<PersonName text={about} /></span>
      <span className="live-who muted">{who !== null && <PersonName text={who} />}</span>
    </>
  );
});

function Sender({ row, hidden }: { readonly row: LiveRow; readonly hidden: boolean }) {
  if (row.sender === '') return <span className="live-alone">{nobodyWords(row)}</span>;
  if (hidden) return <span className="live-alone">{hiddenSender(row)}</span>;
  const name = row.name === null ? '' : cleanName(row.name);
  if (name === '') return <span className="live-alone"><Address text={row.sender} /></span>;
  return (
    <>
      <span className="live-name"><PersonName text={name} /></span>
      <span className="live-address">&lt;<Address text={row.sender} />&gt;</span>
    </>
  );
}

/** Beside the row's own button, since a button can't hold another. */
export function AllowSender({ row, tabIndex, onAllow }: { readonly row: LiveRow; readonly tabIndex: number; readonly onAllow: () => void }) {
  const hidden = useView((view) => view.hideDetails);
  if (row.status !== 'not-sent' || row.reason !== 'no-allowed-sender' || row.sender === '') return null;
  const label = hidden ? `Allow sender: ${kindWord(row)} at ${hourMinuteSecond(row.at)}` : `Allow sender ${addressLabel(row.sender)}`;
  return <Button dense className="live-allow" tabIndex={tabIndex} aria-label={label} title={hidden ? SHOWS_SENDER : undefined} onClick={onAllow}>Allow sender</Button>;
}

/** One line for the clipboard, cleaned like what is on screen. */
export function rowText(row: LiveRow, hidden: boolean): string {
  const name = row.name === null ? '' : cleanName(row.name);
  const sender = row.sender === '' ? nobodyWords(row) : hidden ? hiddenSender(row) : name === '' ? cleanName(row.sender) : `${name} <${cleanName(row.sender)}>`;
  const about = cleanName(whyWords(row) ?? aboutWords(hidden ? { ...row, subject: null, place: null } : row));
  return [hourMinuteSecond(row.at), kindWord(row), sender, statusWords(row.status).text, row.test ? 'Test' : '', about, cleanName(whoWords(row) ?? '')].filter((part) => part !== '').join('  ');
}
