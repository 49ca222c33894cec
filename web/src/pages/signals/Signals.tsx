import { Tabs } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Page } from '../../ui/Page.tsx';
import { Audit } from './Audit.tsx';
import { History } from './History.tsx';
import { LiveBoard } from './LiveBoard.tsx';

const route = getRouteApi('/shell/signals');
type SignalView = 'live' | 'history' | 'audit';

/** Open opportunities, their history, and expected beside realised P&L. */
export function Signals(): ReactNode {
  const { view } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Page
      title="Signals"
      about="Arbitrage, end-game and model signals. Every signal is logged before it is sent."
    >
      <Tabs
        value={view}
        onChange={(value) => void navigate({ search: { view: (value ?? 'live') as SignalView } })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="live">Now</Tabs.Tab>
          <Tabs.Tab value="history">History</Tabs.Tab>
          <Tabs.Tab value="audit">Audit</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="live">
          <LiveBoard />
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <History />
        </Tabs.Panel>
        <Tabs.Panel value="audit">
          <Audit />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
