import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SERVICE_VARIABLES } from '../support/serviceVariables.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';

const read = (path: string) => readFileSync(join(PROJECT_ROOT, path), 'utf8');

interface Instruction {
  readonly name: string;
  readonly text: string;
}
interface Stage {
  readonly name: string;
  readonly instructions: Instruction[];
}

/** Instructions without comments, with continued lines joined. */
const instructions: readonly Instruction[] = read('Dockerfile')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter(Boolean)
  .map((line) => {
    const [, name = '', text = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    return { name, text };
  });
const stages: Stage[] = [];
for (const instruction of instructions) {
  if (instruction.name === 'FROM') {
    const [, name = 'image'] = / AS (\w+)$/.exec(instruction.text) ?? [];
    stages.push({ name, instructions: [] });
  } else {
    stages.at(-1)?.instructions.push(instruction);
  }
}
const image = stages.at(-1) as Stage;
const texts = (name: string, { instructions: own }: Stage = image) =>
  own.filter((instruction) => instruction.name === name).map(({ text }) => text);

/** Files of the build context: those that `.dockerignore` does not exclude. */
const ignored = read('.dockerignore')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));
const letIn = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));

describe('Dockerfile', () => {
  it('uses only these instructions', () => {
    const known = ['ARG', 'FROM', 'WORKDIR', 'COPY', 'RUN', 'LABEL', 'ENV', 'USER', 'VOLUME', 'EXPOSE'];
    const names = new Set([...known, 'HEALTHCHECK', 'ENTRYPOINT', 'CMD']);
    expect(instructions.filter(({ name }) => !names.has(name))).toEqual([]);
  });

  it('builds three stages on one pinned Node that the package accepts', () => {
    expect(stages.map(({ name }) => name)).toEqual(['build', 'dependencies', 'image']);
    const bases = instructions.filter(({ name }) => name === 'FROM').map(({ text }) => text.split(' AS ')[0]);
    const base = '${' + 'NODE_IMAGE}';
    expect(bases).toEqual([`--platform=$BUILDPLATFORM ${base}`, base, base]);
    const [{ text = '' } = {}] = instructions.filter(({ name }) => name === 'ARG');
    expect(text).toMatch(/^NODE_IMAGE=node:26\.\d+\.\d+-bookworm-slim$/);
  });

  it('installs by the lock file, without install scripts, and for the image without development dependencies', () => {
    const installs = stages.flatMap((stage) => texts('RUN', stage).filter((text) => text.includes('npm ci')));
    expect(installs.map((text) => text.split(' && ')[0])).toEqual([
      'npm ci --ignore-scripts',
      'npm ci --ignore-scripts --omit=dev',
    ]);
  });

  it('installs with the description of every workspace, as the lock file has them', () => {
    const { workspaces } = JSON.parse(read('package.json')) as { workspaces: string[] };
    const expected = workspaces.map((workspace) => `${workspace}/package.json ${workspace}/`);
    for (const stage of stages.slice(0, 2))
      expect(texts('COPY', stage).filter((text) => /^\w+\/package\.json/.test(text))).toEqual(expected);
  });

  it.each(stages)('$name copies files that exist in the build context', (stage) => {
    const copied = texts('COPY', stage).filter((text) => !text.startsWith('--from='));
    const sources = copied.flatMap((text) => text.split(' ').slice(0, -1));
    expect(sources.length).toBeGreaterThan(0);
    const isLetIn = (source: string) =>
      letIn.some((path) => source === path || source.startsWith(`${path}/`));
    expect(sources.filter((source) => !existsSync(join(PROJECT_ROOT, source)) || !isLetIn(source))).toEqual(
      [],
    );
  });

  it('copies files from existing stages that create them', () => {
    const made = texts('COPY').filter((text) => text.startsWith('--from='));
    expect(made).toEqual([
      '--from=dependencies /app/node_modules node_modules',
      '--from=build /build/dist dist',
    ]);
  });

  it('sets variables that the service reads', () => {
    const set = texts('ENV').flatMap((text) => text.split(' '));
    const names = set.map((assignment) => assignment.split('=')[0] as string);
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !SERVICE_VARIABLES.includes(name))).toEqual([]);
  });

  it('runs as a user that is not root, with one volume for the data directory', () => {
    expect([texts('USER'), texts('VOLUME')]).toEqual([['1000:1000'], ['/data']]);
    expect(texts('ENV').join()).toContain('UNDERROUND_DATA_DIR=/data/');
    expect(texts('RUN')).toEqual(['install -d -o 1000 -g 1000 -m 0700 /data']);
  });

  it('starts the command and checks its health with Node itself, using files of the image', () => {
    expect([texts('ENTRYPOINT'), texts('CMD')]).toEqual([['["node", "bin/underround.mjs"]'], ['["serve"]']]);
    const [check = ''] = texts('HEALTHCHECK');
    expect(check.replace(/^.* CMD /, '')).toBe('["node", "deploy/healthCheck.mjs"]');
    expect(texts('COPY')).toEqual(
      expect.arrayContaining([
        'bin bin',
        'deploy/healthCheck.mjs deploy/',
        'package.json LICENSE README.md ./',
      ]),
    );
  });
});

describe('.dockerignore', () => {
  it('includes only files that the Dockerfile copies, without tests and installed packages', () => {
    expect(ignored[0]).toBe('*');
    expect(ignored.filter((line) => !line.startsWith('!'))).toEqual(['*', '**/*.test.ts', '**/node_modules']);
    const copied = stages.flatMap((stage) => texts('COPY', stage)).flatMap((text) => text.split(' '));
    expect(letIn.filter((path) => !copied.some((source) => source === path))).toEqual([]);
  });
});
