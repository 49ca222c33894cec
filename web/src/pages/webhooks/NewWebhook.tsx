import { Alert, Button, Checkbox, Group, Stack, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useAction } from '../../api/hooks.ts';
import { ApiProblem } from '../../api/problem.ts';
import { Copyable } from '../../ui/Secret.tsx';

const TIERS = ['logical', 'endgame'] as const;
const TICKERS = ['BTC', 'ETH', 'SOL'] as const;

/** Registers an address; its secret is shown this once. */
export function NewWebhook(): ReactNode {
  const [url, setUrl] = useState('');
  const [label, setLabel] = useState('');
  const [tiers, setTiers] = useState<string[]>([...TIERS]);
  const [tickers, setTickers] = useState<string[]>([...TICKERS]);
  const create = useAction('POST /app/webhooks', ['GET /app/webhooks']);
  const fields = create.error instanceof ApiProblem ? create.error.fields : null;
  const send = (event: FormEvent) => {
    event.preventDefault();
    const chosen = TICKERS.filter((ticker) => tickers.includes(ticker));
    const body = {
      ...{ url, label, tiers: TIERS.filter((tier) => tiers.includes(tier)) },
      tickers: chosen.length === TICKERS.length ? null : chosen,
    };
    create.mutate({ body });
  };
  return (
    <form onSubmit={send}>
      <Stack gap="sm">
        <Group align="flex-start" grow preventGrowOverflow={false}>
          <TextInput
            label="Address"
            type="url"
            placeholder="https://example.com/hook"
            required
            value={url}
            onChange={(event) => setUrl(event.currentTarget.value)}
            error={fields?.get('url')}
          />
          <TextInput
            label="Label"
            required
            value={label}
            onChange={(event) => setLabel(event.currentTarget.value)}
            error={fields?.get('label')}
          />
        </Group>
        <Group gap="xl">
          <Choices label="Kinds" all={TIERS} chosen={tiers} choose={setTiers} />
          <Choices label="Underlyings" all={TICKERS} chosen={tickers} choose={setTickers} />
        </Group>
        {create.error !== null && fields?.size === 0 && (
          <Alert color="red" role="alert" title={create.error.message} />
        )}
        <Group>
          <Button
            type="submit"
            loading={create.isPending}
            disabled={tiers.length === 0 || tickers.length === 0}
          >
            Register webhook
          </Button>
        </Group>
        {create.data !== undefined && (
          <Alert color="teal" title="Its secret: copy it now, it is not shown again">
            <Copyable text={create.data.secret} label="webhook secret" />
          </Alert>
        )}
      </Stack>
    </form>
  );
}

function Choices({
  label,
  all,
  chosen,
  choose,
}: {
  label: string;
  all: readonly string[];
  chosen: string[];
  choose: (chosen: string[]) => void;
}): ReactNode {
  return (
    <Checkbox.Group label={label} value={chosen} onChange={choose}>
      <Group gap="md" mt={4}>
        {all.map((value) => (
          <Checkbox key={value} value={value} label={value} />
        ))}
      </Group>
    </Checkbox.Group>
  );
}
