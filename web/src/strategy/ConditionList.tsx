import { Button, Fieldset, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { ConditionLine, LineButton } from './ConditionLine.tsx';
import { type Condition, type EntryCondition, singleConditions } from './strategies.ts';

const FIRST_CONDITION: Condition = { metric: 'token_price', operator: 'below', value: 0.5 };

interface ListProps<T> {
  readonly title: string;
  readonly list: readonly T[];
  readonly change: (list: T[]) => void;
  /** The service's error at a place in the list, e.g. `.0.value`; without a place, at the list itself. */
  readonly errorOf: (place: string) => string | undefined;
}

/** The conditions of one list, one a line. @param legend As displayed; absent: the title, which labels the fields. */
export function ConditionList({
  title,
  list,
  change,
  errorOf,
  legend = title,
}: ListProps<Condition> & { legend?: string }): ReactNode {
  return (
    <Fieldset legend={legend} aria-label={title} mb="xs" w="100%">
      {list.map((condition, index) => (
        <ConditionLine
          // biome-ignore lint/suspicious/noArrayIndexKey: a condition has no other key than its place
          key={index}
          title={title}
          condition={condition}
          change={(changed) => change(list.map((one, at) => (at === index ? changed : one)))}
          errorOf={(member) => errorOf(`.${index}.${member}`)}
        >
          <Remove title={title} index={index} press={() => change(list.filter((_, at) => at !== index))} />
        </ConditionLine>
      ))}
      <ListProblem text={errorOf('')} />
      <Add text="Add a condition" press={() => change([...list, FIRST_CONDITION])} />
    </Fieldset>
  );
}

/** The conditions of an entry, some of them in groups of alternatives. */
export function EntryList({ title, list, change, errorOf }: ListProps<EntryCondition>): ReactNode {
  const set = (index: number, changed: EntryCondition) =>
    change(list.map((one, at) => (at === index ? changed : one)));
  const remove = (index: number) => change(list.filter((_, at) => at !== index));
  return (
    <Fieldset legend={title} w="100%">
      {list.map((item, index) =>
        'any' in item ? (
          <ConditionList
            // biome-ignore lint/suspicious/noArrayIndexKey: a group has no other key than its place
            key={index}
            legend="Any of"
            title={`${title}, any of ${index + 1}`}
            list={item.any}
            change={(any) => (any.length === 0 ? remove(index) : set(index, { any }))}
            errorOf={(place) => errorOf(`.${index}.any${place}`)}
          />
        ) : (
          <ConditionLine
            // biome-ignore lint/suspicious/noArrayIndexKey: a condition has no other key than its place
            key={index}
            title={title}
            condition={item}
            change={(changed) => set(index, changed)}
            errorOf={(member) => errorOf(`.${index}.${member}`)}
          >
            <LineButton
              text="Or"
              about={`${title}: add an alternative to condition ${index + 1}`}
              press={() => set(index, { any: [...singleConditions(item), FIRST_CONDITION] })}
            />
            <Remove title={title} index={index} press={() => remove(index)} />
          </ConditionLine>
        ),
      )}
      <ListProblem text={errorOf('')} />
      <Add text="Add a condition" press={() => change([...list, FIRST_CONDITION])} />
    </Fieldset>
  );
}

function Remove({ title, index, press }: { title: string; index: number; press: () => void }): ReactNode {
  return <LineButton text="Remove" about={`${title}: remove condition ${index + 1}`} press={press} />;
}

function ListProblem({ text }: { text: string | undefined }): ReactNode {
  if (text === undefined) return null;
  return (
    <Text size="sm" c="var(--mantine-color-error)" role="alert">
      {text}
    </Text>
  );
}

function Add({ text, press }: { text: string; press: () => void }): ReactNode {
  return (
    <Button size="xs" variant="default" onClick={press}>
      {text}
    </Button>
  );
}
