import { View } from '../parts/view.tsx';
import { useEngine } from '../stores/engine-store.ts';
import { useInApp } from '../stores/shell-store.ts';
import { AdvancedGroup } from './advanced-group.tsx';
import { AlertsGroup, GeneralGroup, UpdatesGroup } from './app-groups.tsx';
import { HttpGroup } from './http-group.tsx';
import { PrivacyGroup } from './privacy-group.tsx';
import { ReadingGroup } from './reading-group.tsx';
import { SealReview } from './seal-review.tsx';
import { SearchGroup } from './search-group.tsx';
import { WebhooksGroup } from './webhooks-group.tsx';
import { SettingsGroup } from './settings-group.tsx';

export function SettingsView() {
  const inApp = useInApp();
  const slices = useEngine((store) => store.slices);
  return (
    <View title="Settings">
      {slices?.status.seal === 'broken' && <SealReview />}
      {inApp
        ? <GeneralGroup />
        : <SettingsGroup title="General"><p className="muted">Opening at login, the menu bar icon, alerts and updates belong to the Belfry app on a Mac. This page runs in a browser.</p></SettingsGroup>}
      {slices && <PrivacyGroup settings={slices.settings} />}
      {slices && <ReadingGroup settings={slices.settings} />}
      {slices && <SearchGroup search={slices.search} settings={slices.settings} />}
      {slices && <HttpGroup http={slices.http} settings={slices.settings} tokens={slices.tokens} />}
      {slices && <WebhooksGroup hosts={slices.hosts} />}
      {inApp && <AlertsGroup />}
      {inApp && <UpdatesGroup />}
      <AdvancedGroup />
    </View>
  );
}
