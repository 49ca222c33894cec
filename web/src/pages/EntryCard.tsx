import { Container, Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { Brand } from '../app/Brand.tsx';
import { DataSourceBadge } from '../app/DataSourceBadge.tsx';

/** The frame of the pages for signed-out users. */
export function EntryCard({
  title,
  about,
  children,
}: {
  title: string;
  about: string;
  children: ReactNode;
}): ReactNode {
  useEffect(() => {
    document.title = `${title} · Underround`;
  }, [title]);
  return (
    <Container component="main" id="main" size={420} py={60}>
      <Stack gap="lg">
        <Group justify="center" gap="sm">
          <Brand />
          <DataSourceBadge />
        </Group>
        <Stack className="card" p="lg" gap="md">
          <div>
            <Title order={1} size="h3">
              {title}
            </Title>
            <Text c="dimmed" size="sm">
              {about}
            </Text>
          </div>
          {children}
        </Stack>
      </Stack>
    </Container>
  );
}
