import { Button, Code, CopyButton, Group } from '@mantine/core';
import type { ReactNode } from 'react';

/** A text with a button that copies it. */
export function Copyable({ text, label }: { text: string; label: string }): ReactNode {
  return (
    <Group gap="xs" align="stretch" wrap="nowrap">
      <Code
        block
        className="scroll-x"
        tabIndex={0}
        aria-label={label}
        style={{ flex: 1, minWidth: 0, whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
      >
        {text}
      </Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button variant="default" onClick={copy} aria-label={`Copy ${label}`} style={{ flex: 'none' }}>
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
    </Group>
  );
}
