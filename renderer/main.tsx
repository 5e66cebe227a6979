// Does its work by being loaded, and before anything else.
// oxlint-disable-next-line import/no-unassigned-import
import './no-eval.ts';
import { createRoot } from 'react-dom/client';
import './tokens.css';
import './base.css';
import { section } from '../app/contract/shell.ts';
import { App, loadView, viewNameOf } from './app.tsx';
import { chooseSession } from './bridge/choose.ts';
import { setClock } from './stores/clock.ts';
import { connectEngine } from './stores/engine-store.ts';
import { connectShell } from './stores/shell-store.ts';
import { openSection } from './stores/view-store.ts';

const query = new URLSearchParams(window.location.search);
const theme = query.get('theme');
if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;

const name = viewNameOf(query.get('view'));
const [view, { bridge, now }] = await Promise.all([loadView(name), chooseSession(query)]);
setClock(now);
connectShell(bridge);
connectEngine(bridge);
const screen = query.get('screen');
const opened = section.safeParse(screen);
if (name === 'window' && opened.success) openSection(opened.data);
createRoot(document.querySelector('#root')!).render(<App name={name} view={view} screen={screen} />);
