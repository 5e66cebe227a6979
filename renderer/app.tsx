import { Component, lazy, Suspense, useEffect, type ComponentType, type ReactNode } from 'react';
import { Button } from './parts/button.tsx';
import { Notices } from './parts/notices.tsx';
import { useShell } from './stores/shell-store.ts';
import { closeSheets, useView } from './stores/view-store.ts';
import { useShortcuts } from './window/use-shortcuts.ts';
import './app.css';

const viewOf = (load: () => Promise<ComponentType<{ readonly screen: string | null }>>) => lazy(async () => ({ default: await load() }));

// A window draws one view, so it loads one.
const VIEWS = {
  window: viewOf(async () => (await import('./window/window.tsx')).MainWindow),
  panel: viewOf(async () => (await import('./panel/panel.tsx')).Panel),
  onboarding: viewOf(async () => (await import('./onboarding/onboarding.tsx')).Onboarding),
};
const AddSheet = lazy(async () => ({ default: (await import('./senders/add-sheet.tsx')).AddSheet }));
const ConnectSheet = lazy(async () => ({ default: (await import('./clients/connect-sheet.tsx')).ConnectSheet }));

export type ViewName = keyof typeof VIEWS;

interface AppProps {
  /** `window`, `panel` or `onboarding`; anything else is the window. */
  readonly view: string | null;
  /** A section of the window, or a step of the onboarding. */
  readonly screen: string | null;
}

export function App({ view, screen }: AppProps) {
  const name: ViewName = view === 'panel' || view === 'onboarding' ? view : 'window';
  const View = VIEWS[name];
  useShortcuts(name);
  useEffect(() => {
    document.documentElement.dataset.view = name;
    document.title = name === 'onboarding' ? 'Set up Belfry' : 'Belfry';
  }, [name]);
  const known = useShell(({ state }) => state !== null);
  return (
    <Guard>
      <div className="app">
        <div className="app-view">
          <Suspense fallback={null}>{known && <View screen={screen} />}</Suspense>
        </div>
        <Notices />
      </div>
      <Suspense fallback={null}><Sheets /></Suspense>
    </Guard>
  );
}

/** Sheets that several places open. */
function Sheets() {
  const addSender = useView((state) => state.addSender);
  const connect = useView((state) => state.connect);
  if (addSender) return <AddSheet initialText={addSender.text} onClose={closeSheets} />;
  return connect && <ConnectSheet id={connect.id} onClose={closeSheets} />;
}

/** A fault while drawing leaves a sentence, not an empty window. Watching is the engine's work and goes on. */
class Guard extends Component<{ readonly children: ReactNode }, { readonly broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError() {
    return { broken: true };
  }

  override render() {
    if (!this.state.broken) return this.props.children;
    return (
      <main className="app-broken">
        <h1>This window couldn't be drawn.</h1>
        <p>Belfry goes on watching. Draw the window again to go on here.</p>
        <Button look="main" onClick={() => window.location.reload()}>Draw Again</Button>
      </main>
    );
  }
}
