import { Code, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApi } from '../../api/hooks.ts';
import { moment, number } from '../../ui/format.ts';
import { Failure, Loading } from '../../ui/states.tsx';

const REFETCH_MS = 30_000;
/** Most findings listed; the command prints all. */
const SHOWN = 20;

/** Where the venues differ from the formats that this version knows. */
export function VenueDrift(): ReactNode {
  const { data, error, isError, refetch } = useApi('GET /app/drift', {}, { refetchMs: REFETCH_MS });
  if (data === undefined)
    return isError ? <Failure error={error} retry={() => void refetch()} /> : <Loading rows={2} />;
  const { findings } = data;
  if (findings.length === 0)
    return <Text size="sm">No drift seen: every message has a known kind and known fields.</Text>;
  return (
    <>
      <Text size="sm">
        {number(findings.length)} differences from the known formats. <Code>underround doctor</Code> prints
        them all, and the frames that were set aside.
      </Text>
      <Table.ScrollContainer minWidth={760}>
        <Table verticalSpacing={4} aria-label="Venue drift">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Feed</Table.Th>
              <Table.Th>Difference</Table.Th>
              <Table.Th>First seen</Table.Th>
              <Table.Th>Last seen</Table.Th>
              <Table.Th ta="right">Count</Table.Th>
              <Table.Th>Sample</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {findings.slice(0, SHOWN).map((one) => (
              <Table.Tr key={`${one.category} ${one.feed} ${one.kind} ${one.key}`}>
                <Table.Td className="nowrap">{one.feed}</Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>
                  {one.category.replaceAll('_', ' ')}: {one.kind} {one.key}
                </Table.Td>
                <Table.Td className="nowrap">{moment(one.first_seen)}</Table.Td>
                <Table.Td className="nowrap">{moment(one.last_seen)}</Table.Td>
                <Table.Td ta="right">{number(one.count)}</Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{one.sample ?? '–'}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </>
  );
}
