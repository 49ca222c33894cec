import { Alert, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi, useSession } from '../../api/hooks.ts';
import { ServiceNotices } from '../../live/ServiceNotices.tsx';
import { Page } from '../../ui/Page.tsx';
import { Empty } from '../../ui/states.tsx';
import { AccountEvents } from './AccountEvents.tsx';
import { FeedStatus } from './FeedStatus.tsx';
import { MaintenanceForm } from './MaintenanceForm.tsx';
import { SummaryLine } from './SummaryLine.tsx';
import { Users } from './Users.tsx';
import { VenueDrift } from './VenueDrift.tsx';

/** The operator's page: users and their tiers, maintenance, feeds and account events. */
export function Operator(): ReactNode {
  const { data: user } = useSession();
  if (!user?.operator) {
    return (
      <Page title="Operator">
        <Empty title="Only the operator sees this page">
          This service has one operator. Ask them for a tier or for help.
        </Empty>
      </Page>
    );
  }
  return (
    <Page title="Operator" about="Users, maintenance, feeds and account events">
      <ServiceNotices meanwhile="this page is current" />
      <SecondFactorHint />
      <SummaryLine />
      <Block title="Users">
        <Users />
      </Block>
      <Block title="Recording">
        <FeedStatus />
      </Block>
      <Block title="Venue formats">
        <VenueDrift />
      </Block>
      <Block title="Maintenance">
        <MaintenanceForm />
      </Block>
      <Block title="Account events">
        <AccountEvents />
      </Block>
    </Page>
  );
}

/** A reminder to protect the operator's account, which can reach all users' data. */
function SecondFactorHint(): ReactNode {
  const { data } = useApi('GET /app/second-factor', {});
  if (data === undefined || data.enabled) return null;
  return (
    <Alert title="Protect the operator’s account">
      <Link to="/account">Enable one-time codes</Link>, so that the password alone does not open this page.
    </Alert>
  );
}

function Block({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <Stack className="card" p="md" gap="sm" component="section" aria-label={title}>
      <Text component="h2" fw={600}>
        {title}
      </Text>
      {children}
    </Stack>
  );
}
