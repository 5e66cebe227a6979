import { useEffect, useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { many } from '../../app/contract/glance.ts';
import { Button } from '../parts/button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Field } from '../parts/field.tsx';
import { Subject } from '../parts/subject.tsx';
import { Toggle } from '../parts/toggle.tsx';
import { useFind } from '../parts/use-find.ts';
import { View } from '../parts/view.tsx';
import { useEngine } from '../stores/engine-store.ts';
import { setHideDetails } from '../stores/shell-store.ts';
import { openSection, useView } from '../stores/view-store.ts';
import { LiveDetail } from './live-detail.tsx';
import { filterRows, isOpen, openFilter } from './live-filter.ts';
import { LiveList, type LiveListHandle } from './live-list.tsx';
import { indexOfId } from './live-rows.ts';
import { lookOn, setFilter, setPaused, showPending, useLive } from './live-store.ts';
import './live-view.css';

export function LiveView() {
  useEffect(lookOn, []);
  const shown = useLive((live) => live.shown);
  const filter = useLive((live) => live.filter);
  const rows = useMemo(() => filterRows(shown, filter), [shown, filter]);
  const [opened, setOpened] = useState<number | null>(null);
  const list = useRef<LiveListHandle>(null);
  const [focused, setFocused] = useState(false);
  const openIndex = opened === null ? -1 : indexOfId(shown, opened);
  const open = openIndex < 0 ? null : shown[openIndex]!;

  return (
    <View title="Live" tools={<Tools />} fixed>
      {/* The way from the list to the button of new events is part of the list: on it nothing may move. */}
      <div className="live-area" onFocus={(event) => setFocused(isAtList(event.target))} onBlur={(event) => setFocused(isAtList(event.relatedTarget))}>
        <div className="live-bar">
          <NewEvents
            shown={rows.length}
            onShow={(byKeyboard) => {
              // Drawn at once, so that the list goes to what is the newest row now.
              flushSync(showPending);
              list.current?.toTop(byKeyboard);
            }}
          />
          <HideDetails />
        </div>
        {rows.length === 0
          ? <Nothing isEmpty={shown.length === 0} />
          : <LiveList ref={list} rows={rows} openId={open?.id ?? null} onOpen={(id) => setOpened(id)} held={focused} />}
      </div>
      {open && (
        <Subject gone="The event that was open is no longer in the list." onClose={() => setOpened(null)}>
          {(close) => (
            <LiveDetail
              key={open.id} row={open}
              onClose={() => {
                close();
                list.current?.focusRow(open.id);
              }}
            />
          )}
        </Subject>
      )}
    </View>
  );
}

const isAtList = (target: EventTarget | null): boolean => target instanceof Element && target.closest('.live-rows, .live-new') !== null;

function Tools() {
  const filter = useLive((live) => live.filter);
  const paused = useLive((live) => live.paused);
  const find = useFind();
  return (
    <>
      <Toggle pressed={paused} onChange={setPaused}>Pause list</Toggle>
      <span role="group" aria-label="Shown events" className="live-chips">
        <Toggle pressed={filter.mail} onChange={(mail) => setFilter({ mail })}>Mail</Toggle>
        <Toggle pressed={filter.messages} onChange={(messages) => setFilter({ messages })}>Messages</Toggle>
        <Toggle
          pressed={filter.notMatched} title="Events of senders that aren't allowed. They never leave this Mac."
          onChange={(notMatched) => setFilter({ notMatched })}
        >
          Not matched
        </Toggle>
      </span>
      <Field ref={find} label="Filter events" hideLabel placeholder="Filter" type="search" value={filter.text} onChange={(event) => setFilter({ text: event.target.value })} />
    </>
  );
}

/** What came while the list stood still: nothing moves until the owner asks. Else how many are shown. */
function NewEvents({ shown, onShow }: { readonly shown: number; readonly onShow: (byKeyboard: boolean) => void }) {
  const pending = useLive((live) => live.pending);
  const filter = useLive((live) => live.filter);
  const paused = useLive((live) => live.paused);
  const count = useMemo(() => filterRows(pending, filter).length, [pending, filter]);
  if (count === 0) return <span className="muted">{paused ? 'The list is paused. Events are delivered all the same.' : shown > 0 && `${many(shown, 'event')}, kept until Belfry quits`}</span>;
  // A click by a key has no clicks to count.
  return <Button className="live-new" onClick={(event) => onShow(event.detail === 0)}>{many(count, 'new event')}</Button>;
}

function HideDetails() {
  const hidden = useView((view) => view.hideDetails);
  return <Toggle pressed={hidden} title="Command-Shift-H" onChange={setHideDetails}>Hide details</Toggle>;
}

function Nothing({ isEmpty }: { readonly isEmpty: boolean }) {
  const filter = useLive((live) => live.filter);
  const anyOn = useEngine(({ slices }) => slices?.events.some(({ on }) => on) ?? true);
  if (!isEmpty && !isOpen(filter)) {
    return <EmptyState action={<Button onClick={() => setFilter({ ...openFilter, notMatched: filter.notMatched })}>Clear</Button>}>Nothing matches.</EmptyState>;
  }
  if (!anyOn) return <EmptyState action={<Button onClick={() => openSection('events')}>Choose Events</Button>}>Turn on an event to see it here.</EmptyState>;
  return <EmptyState>Nothing yet. Events show up here as they arrive.</EmptyState>;
}
