import { SegmentedControl, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Copyable } from '../../ui/Secret.tsx';
import { SNIPPETS } from './snippets.ts';

type Language = keyof typeof SNIPPETS;
const LANGUAGES = Object.keys(SNIPPETS) as Language[];

/** How a receiver checks that a request is from this service. */
export function VerifySnippets(): ReactNode {
  const [language, setLanguage] = useState<Language>('Node');
  return (
    <Stack className="card" p="md" gap="sm" component="section" aria-label="Verify requests">
      <Text component="h2" fw={600}>
        Verify requests
      </Text>
      <Text size="sm" c="dimmed">
        Anyone can post to your URL. Check the signature of the raw body with the webhook’s secret before you
        use it.
      </Text>
      <div>
        <SegmentedControl
          size="xs"
          aria-label="Language"
          data={LANGUAGES}
          value={language}
          onChange={(value) => setLanguage(value as Language)}
        />
      </div>
      <Copyable text={SNIPPETS[language]} label={`verification in ${language}`} />
    </Stack>
  );
}
