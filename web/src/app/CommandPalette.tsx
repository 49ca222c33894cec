import { Kbd, Modal, ScrollArea, Text, TextInput, UnstyledButton } from '@mantine/core';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import classes from './CommandPalette.module.css';
import { type Command, matching, useCommands } from './commands.ts';

/** Finds pages, open markets and actions by a few letters. */
export function CommandPalette({
  fieldId,
  text,
  setText,
  close,
}: {
  fieldId: string;
  text: string;
  setText: (text: string) => void;
  close: () => void;
}): ReactNode {
  const [chosen, setChosen] = useState(0);
  const shown = matching(useCommands(), text);
  const at = Math.min(chosen, Math.max(0, shown.length - 1));
  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    close();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setChosen((at + 1) % Math.max(1, shown.length));
    else if (event.key === 'ArrowUp') setChosen((at - 1 + shown.length) % Math.max(1, shown.length));
    else if (event.key === 'Enter') run(shown[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Modal
      opened
      onClose={close}
      withCloseButton={false}
      padding={0}
      size="lg"
      yOffset="12vh"
      aria-label="Command palette"
    >
      <TextInput
        id={fieldId}
        data-autofocus
        size="md"
        variant="unstyled"
        px="md"
        py={4}
        role="combobox"
        aria-label="Find a page, a market or an action"
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={shown.length === 0 ? undefined : `command-${at}`}
        placeholder="Find a page, a market or an action"
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
        rightSection={<Kbd size="xs">Esc</Kbd>}
      />
      <ScrollArea.Autosize mah="50vh" className={classes.list}>
        <div id="commands" role="listbox" aria-label="Commands">
          {shown.map((command, place) => (
            <Choice
              key={command.id}
              {...{ command, place }}
              isChosen={place === at}
              run={() => run(command)}
            />
          ))}
        </div>
        {shown.length === 0 && (
          <Text p="md" c="dimmed">
            Nothing matches “{text}”.
          </Text>
        )}
      </ScrollArea.Autosize>
    </Modal>
  );
}

function Choice({
  command,
  place,
  isChosen,
  run,
}: {
  command: Command;
  place: number;
  isChosen: boolean;
  run: () => void;
}): ReactNode {
  const element = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isChosen) element.current?.scrollIntoView({ block: 'nearest' });
  }, [isChosen]);
  return (
    <UnstyledButton
      ref={element}
      id={`command-${place}`}
      role="option"
      aria-selected={isChosen}
      tabIndex={-1}
      className={classes.choice}
      onClick={run}
    >
      <span>{command.label}</span>
      <span className={classes.kind}>{command.kind}</span>
    </UnstyledButton>
  );
}
