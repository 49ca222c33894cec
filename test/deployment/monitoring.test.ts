/** The alert rules and the dashboard of deploy/ ask only for metrics that exist, and alert as their tests say. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Metrics } from '../../src/runtime/metrics.ts';
import { PROJECT_ROOT, sourceFiles } from '../support/sourceFiles.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const ALERTS = join(PROJECT_ROOT, 'deploy/alerts.yml');
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
/** Without it, tests are skipped; in CI they fail. */
const lacksPromtool = !hasPromtool && process.env.CI === undefined;

interface Rule {
  readonly alert: string;
  readonly expr: string;
}
interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}

const rules = (parse(readFileSync(ALERTS, 'utf8')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const { panels } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'deploy/grafana-dashboard.json'), 'utf8')) as {
  panels: Panel[];
};
const queries = [
  ...rules.map(({ alert, expr }) => ({ of: alert, expr })),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ of: title, expr }))),
];

/** Names in the sources, and those of the process itself. */
const declared = new Set([
  ...sourceFiles('src')
    .filter(({ path }) => !path.endsWith('.test.ts'))
    .flatMap(({ text }) => [...text.matchAll(/'(underround_[a-z_]+)'/g)].map(([, name]) => name)),
  ...(() => {
    const metrics = new Metrics();
    metrics.addProcess();
    return metrics.registry.getMetricsAsArray().map(({ name }) => name);
  })(),
  'up',
]);

function metricsOf(expr: string): string[] {
  return [...expr.matchAll(/\b(?:underround|nodejs|process)_[a-z0-9_]+\b|\bup\b(?=\{)/g)].map(([name]) =>
    name.replace(/_(?:bucket|sum|count)$/, ''),
  );
}

describe('monitoring', () => {
  it('asks for metrics that the service has', () => {
    expect(queries.length).toBeGreaterThan(50);
    const asked = queries.flatMap(({ of, expr }) => metricsOf(expr).map((name) => ({ of, name })));
    expect(asked.filter(({ name }) => !declared.has(name))).toEqual([]);
    expect(queries.filter(({ expr }) => metricsOf(expr).length === 0)).toEqual([]);
  });

  it.each([
    'underround_store_lag_seconds',
    'underround_journal_failures_total',
    'underround_store_rejected_rows_total',
    'underround_feed_lag_seconds',
    'underround_gaps_open',
    'underround_webhook_held',
    'underround_system_incidents_open',
    'underround_backup_proven_timestamp_seconds',
    'underround_disk_full_timestamp_seconds',
    'nodejs_eventloop_lag_p99_seconds',
  ])('has a panel of %s', (name) => {
    const exprs = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(exprs.filter((expr) => metricsOf(expr).includes(name)).length).toBeGreaterThan(0);
  });

  it('describes each alert on the page for operators', () => {
    const page = readFileSync(join(PROJECT_ROOT, 'docs/MONITORING.md'), 'utf8');
    expect(rules.map(({ alert }) => alert).filter((alert) => !page.includes(`| \`${alert}\` |`))).toEqual([]);
  });

  it('has panels that do not overlap, each with its own id', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.every(({ gridPos: { x, w } }) => x >= 0 && x + w <= 24)).toBe(true);
  });

  it.skipIf(lacksPromtool)('has alert rules that fire when they should', () => {
    const directory = temporaryDirectory();
    const tests = readFileSync(join(PROJECT_ROOT, 'test/fixtures/alerts.yml'), 'utf8');
    const file = join(directory, 'alerts.test.yml');
    writeFileSync(file, tests.replace('[RULES]', `[${ALERTS}]`));
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
    expect(`${stdout}${stderr}`).toMatch(/SUCCESS/);
    expect(status).toBe(0);
  });

  it.skipIf(lacksPromtool)('has panels whose queries Prometheus can parse', () => {
    const directory = temporaryDirectory();
    const file = join(directory, 'panels.json');
    const asRules = queries.map(({ expr }, at) => ({
      record: `panel:${at}`,
      expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
    }));
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules: asRules }] }));
    const said = execFileSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
    expect(said).toContain(`SUCCESS: ${queries.length} rules found`);
  });
});
