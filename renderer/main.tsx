// Does its work by being loaded, and before anything else.
// oxlint-disable-next-line import/no-unassigned-import
import './no-eval.ts';
import { createRoot } from 'react-dom/client';
import './tokens.css';
import './base.css';
import { App } from './app.tsx';
import { chooseSession } from './bridge/choose.ts';
import { setClock } from './stores/clock.ts';
import { connectEngine } from './stores/engine-store.ts';
import { connectShell } from './stores/shell-store.ts';

const query = new URLSearchParams(window.location.search);
const theme = query.get('theme');
if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;

const { bridge, now } = await chooseSession(query);
setClock(now);
connectShell(bridge);
connectEngine(bridge);
createRoot(document.querySelector('#root')!).render(<App view={query.get('view')} screen={query.get('screen')} />);
